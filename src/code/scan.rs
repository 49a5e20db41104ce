//! A place in source text and the steps that all lexers take: names, numbers, quotes, operators.
//!
//! In: source text. Out: slices of it.
//! Never: steps back, except over one character; so lexing is linear.

use super::token::{Bit, Gap, Quote, Tok, Token};

pub(crate) struct Scan<'a> {
    pub(crate) text: &'a str,
    pub(crate) pos: usize,
    pub(crate) out: Vec<Token<'a>>,
    pub(crate) gap: Gap,
    start: usize,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, pos: 0, out: Vec::with_capacity(text.len() / 4 + 8), gap: Gap::Line, start: 0 }
    }

    pub(crate) fn byte(&self) -> Option<u8> {
        self.ahead(0)
    }

    pub(crate) fn ahead(&self, by: usize) -> Option<u8> {
        self.text.as_bytes().get(self.pos.saturating_add(by)).copied()
    }

    pub(crate) fn rest(&self) -> &'a str {
        self.text.get(self.pos..).unwrap_or("")
    }

    pub(crate) fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or("")
    }

    pub(crate) fn at(&self, word: &str) -> bool {
        self.text.as_bytes().get(self.pos..).is_some_and(|r| r.starts_with(word.as_bytes()))
    }

    /// Takes one character, of whatever length.
    pub(crate) fn step(&mut self) {
        self.pos = self.pos.saturating_add(1);
        while !self.text.is_char_boundary(self.pos) && self.pos < self.text.len() {
            self.pos = self.pos.saturating_add(1);
        }
    }

    pub(crate) fn skip(&mut self, bytes: usize) {
        self.pos = self.pos.saturating_add(bytes).min(self.text.len());
    }

    pub(crate) fn past_line(&mut self) {
        self.pos = memchr::memchr(b'\n', self.text.as_bytes().get(self.pos..).unwrap_or(b""))
            .map_or(self.text.len(), |n| self.pos.saturating_add(n));
    }

    /// Steps past the next `mark`, or to the end.
    pub(crate) fn past(&mut self, mark: &str) {
        match memchr::memmem::find(self.rest().as_bytes(), mark.as_bytes()) {
            Some(n) => self.skip(n.saturating_add(mark.len())),
            None => self.pos = self.text.len(),
        }
    }

    /// A token starts here.
    pub(crate) fn begin(&mut self) {
        self.start = self.pos;
    }

    /// The token that began ends here.
    pub(crate) fn push(&mut self, tok: Tok<'a>) {
        self.out.push(Token { tok, start: self.start, end: self.pos, gap: self.gap });
        self.gap = Gap::Nothing;
    }

    pub(crate) fn push_text(&mut self, quote: Quote, bits: Vec<Bit<'a>>) {
        self.push(Tok::Text(quote, bits));
    }

    /// Whether what was read so far ends with something that can be divided, called, indexed.
    pub(crate) fn after_operand(&self) -> bool {
        self.out.last().is_some_and(Token::ends_operand)
    }

    pub(crate) fn last_name(&self) -> Option<&'a str> {
        self.out.last().and_then(Token::name)
    }

    /// Blanks; line breaks only if `lines`.
    pub(crate) fn blanks(&mut self) {
        while let Some(b) = self.byte() {
            match b {
                b' ' | b'\t' | b'\r' | 0x0c => self.pos = self.pos.saturating_add(1),
                b'\\' if self.ahead(1) == Some(b'\n') => self.skip(2),
                _ => return,
            }
            self.gap = self.gap.max(Gap::Blank);
        }
    }

    pub(crate) fn is_name_byte(b: u8) -> bool {
        b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80
    }

    /// Takes name characters.
    pub(crate) fn word(&mut self) -> &'a str {
        let from = self.pos;
        while self.byte().is_some_and(Self::is_name_byte) {
            self.pos = self.pos.saturating_add(1);
        }
        self.slice(from, self.pos)
    }

    pub(crate) fn number(&mut self) {
        let from = self.pos;
        while self.byte().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_')
            || (self.byte() == Some(b'.') && self.ahead(1).is_some_and(|b| b.is_ascii_digit()))
            || (matches!(self.byte(), Some(b'+' | b'-'))
                && self.slice(from, self.pos).ends_with(['e', 'E'])
                && !self.slice(from, self.pos).starts_with("0x"))
        {
            self.pos = self.pos.saturating_add(1);
        }
        let value = whole(self.slice(from, self.pos));
        self.push(Tok::Number(value));
    }

    /// What stands before the next `close` that no backslash hides; steps past it.
    pub(crate) fn delimited(&mut self, close: u8) -> &'a str {
        let from = self.pos;
        let bytes = self.text.as_bytes();
        let mut at = from;
        while let Some(b) = bytes.get(at).copied() {
            if b == close {
                break;
            }
            at = at.saturating_add(if b == b'\\' { 2 } else { 1 });
        }
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at = at.saturating_add(1);
        }
        self.pos = at.saturating_add(1).min(self.text.len());
        self.slice(from, at)
    }

    /// An operator: the longest of `long` that fits, else one character.
    pub(crate) fn operator(&mut self, long: &[&str]) {
        let from = self.pos;
        // most operators stand alone: what follows tells
        let second = self.ahead(1).unwrap_or(b' ');
        let alone = self.byte() != Some(b'%')
            && !matches!(
                second,
                b'=' | b'<'
                    | b'>'
                    | b'*'
                    | b'/'
                    | b'&'
                    | b'|'
                    | b'+'
                    | b'-'
                    | b'.'
                    | b':'
                    | b'?'
                    | b'~'
                    | b'!'
                    | b'%'
            );
        let long = if alone { &[] } else { long };
        match long.iter().find(|o| self.at(o)) {
            Some(o) => self.skip(o.len()),
            None => self.step(),
        }
        let op = self.slice(from, self.pos);
        self.push(Tok::Op(op));
    }

    pub(crate) fn closing(&self, from: usize, limit: usize, pair: (u8, u8)) -> usize {
        closing(self.text, from, limit, pair)
    }
}

/// The end of the bracket that is open here (the place of its closing character, or `limit`), strings skipped.
pub(crate) fn closing(text: &str, from: usize, limit: usize, (open, close): (u8, u8)) -> usize {
    let bytes = text.as_bytes().get(..limit.min(text.len())).unwrap_or(b"");
    let (mut depth, mut at) = (1_u32, from);
    while let Some(b) = bytes.get(at).copied() {
        if b == b'\\' {
            at = at.saturating_add(1);
        } else if b == close {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return at;
            }
        } else if b == open {
            depth = depth.saturating_add(1);
        } else if matches!(b, b'"' | b'\'' | b'`') && open != close {
            // a quote that does not close is just a character (an apostrophe)
            at = quote_end(bytes, at, b).unwrap_or(at);
        }
        at = at.saturating_add(1);
    }
    bytes.len()
}

/// Where the quote that opens at `at` closes, on the same line.
fn quote_end(bytes: &[u8], at: usize, quote: u8) -> Option<usize> {
    let mut i = at.saturating_add(1);
    while let Some(b) = bytes.get(i).copied() {
        match b {
            b'\\' => i = i.saturating_add(1),
            b'\n' => return None,
            b if b == quote => return Some(i),
            _ => {}
        }
        i = i.saturating_add(1);
    }
    None
}

/// The value of a whole number as C-like languages write it; `None` for others.
pub(crate) fn whole(text: &str) -> Option<i64> {
    let clean: String = text.chars().filter(|c| *c != '_').collect();
    let clean = clean.trim_end_matches(['n', 'L', 'u', 'U', 'l']);
    let lower = clean.to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0x") {
        return i64::from_str_radix(hex, 16).ok();
    }
    if let Some(octal) = lower.strip_prefix("0o") {
        return i64::from_str_radix(octal, 8).ok();
    }
    if let Some(binary) = lower.strip_prefix("0b") {
        return i64::from_str_radix(binary, 2).ok();
    }
    if clean.len() > 1 && clean.starts_with('0') && clean.bytes().all(|b| matches!(b, b'0'..=b'7')) {
        return i64::from_str_radix(clean, 8).ok();
    }
    clean.parse().ok()
}
