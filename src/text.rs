//! Text as everybody here passes it: spans into the judged text, the mapping of bytes that are not
//! UTF-8, and escaping for people and logs.
//!
//! In: bytes that an untrusted caller wrote. Out: `str` that parsers can read, and escaped text.
//! Never: emits a control byte of untrusted text (INVARIANT(I10)).

use std::borrow::Cow;
use std::fmt::Write as _;

/// Half-open byte range in the judged text (the text after [`judged`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: u32::try_from(start).unwrap_or(u32::MAX), end: u32::try_from(end).unwrap_or(u32::MAX) }
    }

    /// The same range, moved by `offset` bytes.
    #[must_use]
    pub fn shifted(self, offset: u32) -> Self {
        Self { start: self.start.saturating_add(offset), end: self.end.saturating_add(offset) }
    }
}

/// First private-use code point that stands for a byte that was not UTF-8.
const BYTE_BASE: u32 = 0x0010_FF00;

/// The text as the parsers get it: every byte that is not part of valid UTF-8 becomes one private-use
/// character (U+10FF80 to U+10FFFF), so that tokens stay one to one. Borrowed when nothing changes.
pub fn judged(bytes: &[u8]) -> Cow<'_, str> {
    // such a character in the text itself is taken apart too, so that `raw` gives every text back; all begin with F4
    let has_own = bytes.contains(&0xF4);
    match std::str::from_utf8(bytes) {
        Ok(text) if !has_own || !text.chars().any(is_byte) => return Cow::Borrowed(text),
        Ok(_) | Err(_) => {}
    }
    let mut out = String::with_capacity(bytes.len() + 16);
    let byte = |b: &u8| char::from_u32(BYTE_BASE + u32::from(*b));
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if is_byte(c) {
                out.extend(c.encode_utf8(&mut [0; 4]).as_bytes().iter().filter_map(byte));
            } else {
                out.push(c);
            }
        }
        out.extend(chunk.invalid().iter().filter_map(byte));
    }
    Cow::Owned(out)
}

/// The inverse of [`judged`]: the bytes that the kernel or bash would see.
pub fn raw(text: &str) -> Cow<'_, [u8]> {
    if !text.chars().any(is_byte) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut out = Vec::with_capacity(text.len());
    for c in text.chars() {
        match u32::from(c).checked_sub(BYTE_BASE).and_then(|b| u8::try_from(b).ok()) {
            Some(byte) if is_byte(c) => out.push(byte),
            _ => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(out)
}

/// Whether a character stands for a byte that was not UTF-8.
pub fn is_byte(c: char) -> bool {
    (BYTE_BASE + 0x80..=BYTE_BASE + 0xFF).contains(&u32::from(c))
}

/// Whether a character could change how a line looks or is split on a terminal or in a log.
fn is_hostile(c: char) -> bool {
    c.is_control()
        || is_byte(c)
        || matches!(u32::from(c), 0x00AD | 0x061C | 0x180E | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x2069 | 0xFEFF | 0xFFF9..=0xFFFB | 0xE0000..=0xE0FFF)
}

/// Escapes untrusted text for one line of a terminal, a log or a prompt: control characters, bytes
/// that are not UTF-8, bidirectional and invisible characters and backslashes become `\xNN`, `\u{…}`
/// or `\\`; a newline becomes `\n`.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c if is_byte(c) => drop(write!(out, "\\x{:02x}", u32::from(c) - BYTE_BASE)),
            c if is_hostile(c) && u32::from(c) < 0x80 => drop(write!(out, "\\x{:02x}", u32::from(c))),
            c if is_hostile(c) => drop(write!(out, "\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// Text that claims to be escaped already, made harmless for a terminal or a page: as [`escape`], but
/// backslashes stay as they are.
pub fn tame(text: &str) -> String {
    text.split('\\').map(escape).collect::<Vec<_>>().join("\\")
}

/// [`escape`] of bytes.
pub fn escape_bytes(bytes: &[u8]) -> String {
    escape(&judged(bytes))
}

/// The longest prefix of `text` of at most `limit` bytes that ends at a character border.
pub fn prefix(text: &str, limit: usize) -> &str {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    text.get(..end).unwrap_or("")
}

/// The part of `text` that a span names; empty where the span does not fit.
pub fn slice(text: &str, span: Span) -> &str {
    text.get(span.start as usize..span.end as usize).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_the_mapping() {
        for bytes in [
            &b"plain"[..],
            b"\xff\xfe",
            b"a\x80b\xc3\xa9",
            b"\xed\xa0\x80",
            b"",
            "\u{10ff99}".as_bytes(),
            b"\xf4\x8f\xbe\x99\xff",
        ] {
            assert_eq!(raw(&judged(bytes)).as_ref(), bytes);
        }
    }

    #[test]
    fn hostile_text_is_escaped() {
        assert_eq!(escape("a\n\x1b[0m\u{202e}\\"), "a\\n\\x1b[0m\\u{202e}\\\\");
        assert_eq!(escape_bytes(b"\xffx"), "\\xffx");
    }

    #[test]
    fn prefix_ends_at_a_character_border() {
        assert_eq!(prefix("a\u{e9}b", 2), "a");
    }
}
