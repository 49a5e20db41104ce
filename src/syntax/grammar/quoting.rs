//! Quotes: single, double, ANSI-C, backslash.
//!
//! In: a [`Reader`] at the quote. Out: quoted pieces, escapes decoded.
//! Never: expands anything.

use crate::syntax::grammar::cursor::{Fault, Read, Reader};
use crate::syntax::grammar::word::{Context, Pieces};
use crate::syntax::tree::QuoteForm;
use crate::text;

impl Reader<'_> {
    pub(super) fn read_single(&mut self, out: &mut Pieces) -> Read<()> {
        let start = self.at + 1;
        let rest = self.text.as_bytes().get(start..self.end).unwrap_or(&[]);
        let Some(length) = memchr::memchr(b'\'', rest) else { return self.broken(Fault::Unclosed("'")) };
        out.quoted(self.slice(start, start + length).to_owned(), QuoteForm::Single);
        self.at = start + length + 1;
        Ok(())
    }

    pub(super) fn read_double(&mut self, out: &mut Pieces) -> Read<()> {
        let start = self.at;
        self.at += 1;
        out.flush();
        let before = out.count();
        self.deeper(|reader| reader.fill(out, Context::Double))?;
        if self.byte(0) != Some(b'"') {
            self.at = start;
            return self.broken(Fault::Unclosed("\""));
        }
        self.at += 1;
        if out.count() == before {
            out.quoted(String::new(), QuoteForm::Double);
        }
        out.flush();
        out.close_double(before);
        Ok(())
    }

    /// A backslash and what it quotes in this context.
    pub(super) fn read_escape(&mut self, out: &mut Pieces, context: Context) {
        let Some(next) = self.byte(1) else {
            // at the end of the text: itself
            self.at += 1;
            out.text("\\", Some(QuoteForm::Backslash));
            return;
        };
        let quotes = match context {
            Context::Token
            | Context::Assigned
            | Context::Regex
            | Context::Brace
            | Context::Slash
            | Context::Group => true,
            Context::Document => matches!(next, b'$' | b'`' | b'\\'),
            Context::BraceDouble => matches!(next, b'$' | b'`' | b'\\' | b'"' | b'}'),
            Context::Double | Context::Arithmetic | Context::Offset => {
                matches!(next, b'$' | b'`' | b'\\' | b'"')
            }
        };
        self.at += 1;
        if quotes {
            let form = if context.quoting() == crate::syntax::tree::Quoting::Bare {
                QuoteForm::Backslash
            } else {
                QuoteForm::Double
            };
            let character = self.character();
            out.text(character, Some(form));
        } else {
            out.text("\\", Some(QuoteForm::Double));
        }
    }

    /// `$'…'`, from the quote on.
    pub(super) fn read_ansi(&mut self, out: &mut Pieces) -> Read<()> {
        let start = self.at + 1;
        let bytes = self.text.as_bytes();
        let mut end = start;
        loop {
            match bytes.get(end) {
                Some(b'\'') if end < self.end => break,
                Some(b'\\') if end + 1 < self.end => end += 2,
                Some(_) if end < self.end => end += 1,
                _ => return self.broken(Fault::Unclosed("'")),
            }
        }
        out.quoted(decode_ansi(self.slice(start, end)), QuoteForm::AnsiC);
        self.at = end + 1;
        Ok(())
    }
}

/// What bash makes of the text within `$'…'`. A NUL ends the string.
pub fn decode_ansi(written: &str) -> String {
    let bytes = written.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        at += decode_escape(bytes, at, &mut out);
        if out.last() == Some(&0) {
            out.pop();
            break;
        }
    }
    text::judged(&out).into_owned()
}

/// Decodes the escape whose letter is at `at`; returns how many bytes it took.
fn decode_escape(bytes: &[u8], at: usize, out: &mut Vec<u8>) -> usize {
    let Some(&letter) = bytes.get(at) else {
        out.push(b'\\');
        return 0;
    };
    match letter {
        b'a' => out.push(7),
        b'b' => out.push(8),
        b'e' | b'E' => out.push(27),
        b'f' => out.push(12),
        b'n' => out.push(10),
        b'r' => out.push(13),
        b't' => out.push(9),
        b'v' => out.push(11),
        b'\\' | b'\'' | b'"' | b'?' => out.push(letter),
        b'0'..=b'7' => {
            let (value, used) = number(bytes, at, 8, 3);
            out.push(u8::try_from(value & 0xff).unwrap_or(0));
            return used;
        }
        b'x' => {
            let braced = usize::from(bytes.get(at + 1) == Some(&b'{'));
            let (value, used) = number(bytes, at + 1 + braced, 16, if braced == 1 { 8 } else { 2 });
            if used > 0 {
                out.push(u8::try_from(value & 0xff).unwrap_or(0));
                let closed = braced == 1 && bytes.get(at + 2 + used) == Some(&b'}');
                return 1 + braced + used + usize::from(closed);
            }
            out.extend_from_slice(b"\\x");
        }
        b'u' | b'U' => {
            let (value, used) = number(bytes, at + 1, 16, if letter == b'u' { 4 } else { 8 });
            if used > 0 {
                let character = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                return 1 + used;
            }
            out.extend_from_slice(&[b'\\', letter]);
        }
        b'c' => {
            if let Some(&control) = bytes.get(at + 1) {
                out.push(if control == b'?' { 127 } else { control.to_ascii_uppercase() & 0x1f });
                return 2;
            }
        }
        _ => out.extend_from_slice(&[b'\\', letter]),
    }
    1
}

/// The number of at most `most` digits at `at`, and how many digits there were.
fn number(bytes: &[u8], at: usize, radix: u32, most: usize) -> (u32, usize) {
    let mut value = 0_u32;
    let mut used = 0;
    while used < most {
        let Some(digit) = bytes.get(at + used).and_then(|b| char::from(*b).to_digit(radix)) else { break };
        value = value.wrapping_mul(radix).wrapping_add(digit);
        used += 1;
    }
    (value, used)
}
