//! Literals that perl, ruby and php share: delimiters of every kind, interpolation, here-documents.
//!
//! In: a place in source text. Out: what stands inside, in pieces.
//! Never: runs past the end of the text.

use crate::code::escape::{Escapes, escape};
use crate::code::scan::{Scan, closing};
use crate::code::token::{Bit, Quote, Tok};

/// From an opening delimiter: where the inside starts, and the inside; steps past the closing one.
pub(super) fn quote_end<'a>(scan: &mut Scan<'a>) -> (usize, &'a str) {
    let open = scan.byte().unwrap_or(0);
    scan.step();
    let start = scan.pos;
    let close = match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b'<' => b'>',
        other => return (start, scan.delimited(other)),
    };
    let bytes = scan.text.as_bytes();
    let (mut depth, mut at) = (1_u32, start);
    while let Some(b) = bytes.get(at).copied() {
        if b == b'\\' {
            at = at.saturating_add(1);
        } else if b == open {
            depth = depth.saturating_add(1);
        } else if b == close {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                break;
            }
        }
        at = at.saturating_add(1);
    }
    let mut at = at.min(scan.text.len());
    while !scan.text.is_char_boundary(at) {
        at = at.saturating_add(1);
    }
    scan.pos = at.saturating_add(1).min(scan.text.len());
    (start, scan.slice(start, at))
}

/// The pieces of a text in which `$x`, `@x`, `@{[…]}` are replaced (perl), `{$x}` too (php).
pub(super) fn perl_interpolated(inside: &str, offset: usize) -> Vec<Bit<'_>> {
    let mut bits = Vec::new();
    let mut lit = String::new();
    let bytes = inside.as_bytes();
    let mut at = 0_usize;
    while let Some(b) = bytes.get(at).copied() {
        let next = bytes.get(at.saturating_add(1)).copied().unwrap_or(0);
        let starts = match b {
            b'$' => {
                next.is_ascii_alphanumeric() || matches!(next, b'_' | b'{' | b'$' | b':' | b'@' | b'!' | b'&')
            }
            b'@' => next.is_ascii_alphabetic() || matches!(next, b'_' | b'{' | b'$'),
            _ => false,
        };
        if b == b'\\' {
            let rest = inside.get(at.saturating_add(1)..).unwrap_or("");
            at = at.saturating_add(1).saturating_add(escape(rest, &mut lit));
        } else if starts {
            let end = variable_end(inside, at);
            bits.push(Bit::Lit(std::mem::take(&mut lit)));
            bits.push(Bit::Code(inside.get(at..end).unwrap_or(""), offset.saturating_add(at)));
            at = end;
        } else {
            let c = inside.get(at..).and_then(|r| r.chars().next()).unwrap_or('\u{fffd}');
            lit.push(c);
            at = at.saturating_add(c.len_utf8());
        }
    }
    bits.push(Bit::Lit(lit));
    bits
}

/// Where a variable with its subscripts ends.
fn variable_end(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while matches!(bytes.get(at), Some(b'$' | b'@')) {
        at = at.saturating_add(1);
    }
    if bytes.get(at) == Some(&b'{') {
        at = closing(text, at.saturating_add(1), text.len(), (b'{', b'}')).saturating_add(1);
    } else if bytes.get(at).is_some_and(|b| Scan::is_name_byte(*b) || *b == b':') {
        while bytes.get(at).is_some_and(|b| Scan::is_name_byte(*b))
            || (text.get(at..).is_some_and(|r| r.starts_with("::"))
                && bytes.get(at.saturating_add(2)).is_some_and(|b| Scan::is_name_byte(*b)))
        {
            at = at.saturating_add(if bytes.get(at) == Some(&b':') { 2 } else { 1 });
        }
    } else {
        at = at.saturating_add(1);
    }
    for _ in 0..8 {
        let arrow = text.get(at..).is_some_and(|r| r.starts_with("->[") || r.starts_with("->{"));
        let open = at.saturating_add(if arrow { 2 } else { 0 });
        let next = bytes.get(open.saturating_add(1)).copied().unwrap_or(b' ');
        let pair = match bytes.get(open) {
            Some(b'{') => (b'{', b'}'),
            Some(b'[') if next.is_ascii_digit() || matches!(next, b'$' | b'-' | b'\'' | b'"') => (b'[', b']'),
            _ => break,
        };
        at = closing(text, open.saturating_add(1), text.len(), pair).saturating_add(1);
    }
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at = at.saturating_add(1);
    }
    at
}

/// A here-document whose text follows on the next lines.
#[derive(Clone, Debug)]
pub(super) struct Heredoc {
    word: String,
    quote: Quote,
    /// Pieces are replaced.
    replaces: Replaces,
    /// The token that waits for its text.
    token: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replaces {
    No,
    Dollar,
    Hash,
}

impl Heredoc {
    /// `<<EOT`, `<<'EOT'`, `<<~"EOT"`, `<<<EOT`: pushes a token for its text.
    pub(super) fn open(scan: &mut Scan<'_>) -> Option<Self> {
        Self::open_with(scan, Replaces::Dollar)
    }

    pub(super) fn open_with(scan: &mut Scan<'_>, replaces: Replaces) -> Option<Self> {
        let before = scan.pos;
        while scan.byte() == Some(b'<') {
            scan.skip(1);
        }
        while matches!(scan.byte(), Some(b'~' | b'-' | b' ')) {
            scan.skip(1);
        }
        let mark = scan.byte().filter(|b| matches!(b, b'"' | b'\'' | b'`'));
        let word = if let Some(mark) = mark {
            scan.skip(1);
            scan.delimited(mark).to_owned()
        } else if scan.byte().is_some_and(|b| b.is_ascii_uppercase() || b == b'_') {
            scan.word().to_owned()
        } else {
            String::new()
        };
        if word.is_empty() {
            scan.pos = before;
            return None;
        }
        let quote = if mark == Some(b'`') { Quote::Command } else { Quote::Text };
        scan.push_text(quote, Vec::new());
        Some(Self {
            word,
            quote,
            replaces: if mark == Some(b'\'') { Replaces::No } else { replaces },
            token: scan.out.len().saturating_sub(1),
        })
    }

    /// Reads the text, from the start of a line; steps past the line with the word.
    pub(super) fn read(self, scan: &mut Scan<'_>) {
        let from = scan.pos;
        let mut to = scan.text.len();
        while scan.pos < scan.text.len() {
            let line_start = scan.pos;
            scan.past_line();
            let line = scan.slice(line_start, scan.pos).trim();
            let ends = line
                .strip_prefix(self.word.as_str())
                .is_some_and(|r| !r.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
            if ends {
                to = line_start;
                // php goes on after the word
                scan.pos = line_start
                    .saturating_add(scan.slice(line_start, scan.pos).find(self.word.as_str()).unwrap_or(0))
                    .saturating_add(self.word.len());
                break;
            }
            scan.skip(1);
        }
        let inside = scan.slice(from, to);
        let bits = match self.replaces {
            Replaces::No => vec![Bit::Lit(inside.to_owned())],
            Replaces::Dollar => perl_interpolated(inside, from),
            Replaces::Hash => hash_interpolated(inside, from, Escapes::Full),
        };
        if let Some(token) = scan.out.get_mut(self.token) {
            token.tok = Tok::Text(self.quote, bits);
        }
    }
}

/// The pieces of a text in which `#{…}` is replaced (ruby).
pub(super) fn hash_interpolated(inside: &str, offset: usize, escapes: Escapes) -> Vec<Bit<'_>> {
    let mut bits = Vec::new();
    let mut lit = String::new();
    let bytes = inside.as_bytes();
    let mut at = 0_usize;
    while let Some(b) = bytes.get(at).copied() {
        if b == b'\\' && escapes == Escapes::Full {
            let rest = inside.get(at.saturating_add(1)..).unwrap_or("");
            at = at.saturating_add(1).saturating_add(escape(rest, &mut lit));
        } else if b == b'#' && bytes.get(at.saturating_add(1)) == Some(&b'{') {
            let start = at.saturating_add(2);
            let end = closing(inside, start, inside.len(), (b'{', b'}'));
            bits.push(Bit::Lit(std::mem::take(&mut lit)));
            bits.push(Bit::Code(inside.get(start..end).unwrap_or(""), offset.saturating_add(start)));
            at = end.saturating_add(1);
        } else {
            let c = inside.get(at..).and_then(|r| r.chars().next()).unwrap_or('\u{fffd}');
            lit.push(c);
            at = at.saturating_add(c.len_utf8());
        }
    }
    bits.push(Bit::Lit(lit));
    bits
}
