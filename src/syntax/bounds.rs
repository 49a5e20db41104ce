//! What one pass over a text's bytes tells before any parser sees it: bounds, and characters to beware of.
//!
//! In: judged text. Out: [`Facts`] or the [`Bound`] that it breaks.
//! Never: depends on a clock, or calls a text plain in which two grammars could see different commands.

use std::fmt;

/// A bound that a text breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// more bytes than `Limits::bytes`
    Size,
    /// constructs nested deeper than `Limits::depth`
    Depth,
    /// a here-document whose body stands behind the substitution that it belongs to
    LateDocument,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Size => "the text is too long to be judged",
            Self::Depth => "constructs are nested too deeply to be judged",
            Self::LateDocument => "a here-document's body stands outside its substitution",
        })
    }
}

/// How much of a text is read at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// bytes of one text
    pub bytes: usize,
    /// nested constructs of any kind
    pub depth: u32,
    /// bytes up to which other parsers are asked. brush costs about 800 instructions a byte and yash
    /// 3,000, our reader about 60: at 8 KiB brush takes 2 ms, which is all the time there is. Longer
    /// texts are scripts and here-documents, where a hidden command would have to stand in plain sight
    /// of a reader that is differentially tested against bash.
    pub second: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 8 << 20, depth: 80, second: 8 << 10 }
    }
}

/// What a text's bytes are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    pub bytes: usize,
    /// control bytes other than tab and newline (CR, VT, FF, ESC, NUL, DEL …)
    pub has_controls: bool,
    /// white space outside ASCII, which bash takes for ordinary characters
    pub has_foreign_space: bool,
    /// bidirectional or invisible characters: what a person sees isn't what runs
    pub has_invisible: bool,
    /// `?( *( +( @( !(`: which command this is depends on the option `extglob`
    pub has_extended_pattern: bool,
    /// There is one way to read it: only words, `'…'` and `"…"`, backslashes before printable characters,
    /// `$name`, comments, `; & && || |`, newlines, plain redirects and one here-document a line in which
    /// nothing is expanded, and none of `( ) backquote` or the words that only bash reserves. Every
    /// shell grammar agrees on these.
    pub is_plain: bool,
}

/// Looks at each byte once (twice where the text isn't ASCII).
///
/// # Errors
/// [`Bound::Size`]
pub fn scan(text: &str, limits: &Limits) -> Result<Facts, Bound> {
    if text.len() > limits.bytes {
        return Err(Bound::Size);
    }
    let mut facts = Facts { bytes: text.len(), ..Facts::default() };
    let mut ascii = true;
    let mut before = 0;
    for byte in text.bytes() {
        ascii &= byte < 0x80;
        facts.has_extended_pattern |= byte == b'(' && matches!(before, b'?' | b'*' | b'+' | b'@' | b'!');
        before = byte;
        facts.has_controls |= byte < b' ' && byte != b'\t' && byte != b'\n' || byte == 0x7f;
    }
    if !ascii {
        for c in text.chars().filter(|c| !c.is_ascii()) {
            facts.has_controls |= c.is_control();
            facts.has_foreign_space |= c.is_whitespace();
            facts.has_invisible |= is_invisible(c);
        }
    }
    let odd = facts.has_controls || facts.has_foreign_space || facts.has_invisible;
    facts.is_plain = !odd && Plain { bytes: text.as_bytes(), at: 0, document: None }.is_plain();
    Ok(facts)
}

fn is_invisible(c: char) -> bool {
    matches!(u32::from(c),
        0x00AD | 0x034F | 0x061C | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F | 0x200B..=0x200F
        | 0x202A..=0x202E | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF9..=0xFFFB
        | 0xE0000..=0xE0FFF)
}

/// The walk that decides whether a text is plain.
struct Plain<'t> {
    bytes: &'t [u8],
    at: usize,
    /// the here-document whose body begins on the next line: its delimiter, whether that was quoted
    document: Option<(&'t [u8], bool)>,
}

impl Plain<'_> {
    fn next(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(b'\n')
    }

    fn is_plain(&mut self) -> bool {
        let mut before = b'\n';
        while let Some(&byte) = self.bytes.get(self.at) {
            let starts_word = matches!(before, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|');
            if starts_word && self.at_reserved() {
                return false;
            }
            let fine = match byte {
                b'#' if starts_word => {
                    self.at += self
                        .bytes
                        .get(self.at..)
                        .and_then(|r| memchr::memchr(b'\n', r))
                        .unwrap_or(usize::MAX >> 1);
                    before = b'\n';
                    continue;
                }
                b'\'' => self.skip_single(),
                b'"' => self.skip_double(),
                b'\\' => {
                    let next = self.next(1);
                    let fine =
                        (b' '..0x7f).contains(&next) || next == b'\n' && matches!(before, b' ' | b'\t');
                    self.at += 1;
                    fine
                }
                b'$' => self.is_name_next(),
                b'>' => {
                    before != b'}'
                        && match self.next(1) {
                            b'&' => before != b'&' && (self.next(2).is_ascii_digit() || self.next(2) == b'-'),
                            next => !matches!(next, b'|' | b'<' | b'('),
                        }
                }
                b'\n' => self.skip_document(),
                b'<' if self.next(1) == b'<' && before != b'}' => self.note_document(),
                b'<' => {
                    before != b'}' && before != b'<' && !matches!(self.next(1), b'<' | b'(' | b'>' | b'&')
                }
                b'&' => !matches!(self.next(1), b'>'),
                b'|' => self.next(1) != b'&',
                b';' => !matches!(self.next(1), b';' | b'&'),
                b'(' | b')' | b'`' => false,
                byte => byte < 0x80,
            };
            if !fine {
                return false;
            }
            before = byte;
            self.at += 1;
        }
        self.document.is_none()
    }

    /// `<<WORD`, `<<'WORD'`, `<<"WORD"`; leaves the position on its last byte.
    fn note_document(&mut self) -> bool {
        self.at += 2;
        while matches!(self.next(0), b' ' | b'\t') {
            self.at += 1;
        }
        let quote = self.next(0);
        let quoted = matches!(quote, b'\'' | b'"');
        self.at += usize::from(quoted);
        let start = self.at;
        while self.next(0).is_ascii_alphanumeric() || self.next(0) == b'_' {
            self.at += 1;
        }
        let word = self.bytes.get(start..self.at).unwrap_or(&[]);
        let ends = if quoted {
            self.next(0) == quote
        } else {
            matches!(self.next(0), b' ' | b'\n' | b';' | b'|' | b'&' | b'>')
        };
        let follows = !quoted || matches!(self.next(1), b' ' | b'\n' | b';' | b'|' | b'&' | b'>');
        if !quoted {
            self.at -= 1;
        }
        let fine = !word.is_empty() && ends && follows && self.document.is_none();
        self.document = Some((word, quoted));
        fine
    }

    /// At a newline: steps over the body that begins behind it, onto the newline of its last line.
    fn skip_document(&mut self) -> bool {
        let Some((delimiter, quoted)) = self.document.take() else { return true };
        let start = self.at + 1;
        let mut line = start;
        while let Some(rest) = self.bytes.get(line..).filter(|rest| !rest.is_empty()) {
            let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            if rest.get(..length) == Some(delimiter) {
                let body = self.bytes.get(start..line).unwrap_or(&[]);
                self.at = line + length;
                return quoted || memchr::memchr3(b'$', b'`', b'\\', body).is_none();
            }
            line += length + 1;
        }
        false
    }

    /// Words that only some grammars reserve, or that bring a grammar of their own.
    fn at_reserved(&self) -> bool {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        match rest.first() {
            Some(b't') => rest.starts_with(b"time"),
            Some(b'c') => rest.starts_with(b"case") || rest.starts_with(b"coproc"),
            Some(b's') => rest.starts_with(b"select"),
            Some(b'f') => rest.starts_with(b"function") || rest.starts_with(b"for"),
            Some(b'n') => rest.starts_with(b"namespace"),
            Some(b'[') => rest.starts_with(b"[["),
            _ => false,
        }
    }

    fn is_name_next(&self) -> bool {
        match self.next(1) {
            b'{' => {
                let mut ahead = 2;
                while self.next(ahead).is_ascii_alphanumeric() || self.next(ahead) == b'_' {
                    ahead += 1;
                }
                ahead > 2 && self.next(ahead) == b'}'
            }
            b'?' | b'@' | b'*' | b'!' | b'$' => true,
            next => next.is_ascii_alphanumeric() || next == b'_',
        }
    }

    fn skip_single(&mut self) -> bool {
        let rest = self.bytes.get(self.at + 1..).unwrap_or(&[]);
        let Some(length) = memchr::memchr(b'\'', rest) else { return false };
        self.at += length + 1;
        true
    }

    fn skip_double(&mut self) -> bool {
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'"' => return true,
                b'`' => return false,
                b'\\' => {
                    if !(b' '..0x7f).contains(&self.next(1)) {
                        return false;
                    }
                    self.at += 1;
                }
                b'$' if !self.is_name_next() && self.next(1) != b' ' => return false,
                _ => {}
            }
            self.at += 1;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(text: &str) -> Facts {
        scan(text, &Limits::default()).unwrap_or_default()
    }

    #[test]
    fn plain_texts_have_one_reading() {
        for text in [
            "ls -la",
            "cd a && make 2>&1 | tail -5",
            "grep -rn 'a(b' . > out; echo \"$x ${y}\" # done",
            "echo \\; a*b ?",
            "a 2>/dev/null & b",
            "if true; then a; else b; fi",
            "echo \u{e9} '\u{e9}'",
        ] {
            assert_eq!(facts(text).is_plain, text.is_ascii(), "{text}");
        }
        for text in [
            "a $(b)",
            "a `b`",
            "(a)",
            "a <(b)",
            "cat <<E",
            "cat <<E\n$a\nE\n",
            "a <<A <<B\nA\nB\n",
            "a <<-E\nE",
            "a <<E\\\nF\nE",
            "a &> b",
            "a >& b",
            "a |& b",
            "[[ a ]]",
            "time a",
            "a\r#",
            "a\\\nb",
            "${a:-b}",
            "$'a'",
            "$\"a\"",
            "coproc a",
            "a;;",
            "{a}>b",
            "\"`a`\"",
            "\"$(a)\"",
            "echo \"a",
            "a \u{a0}#",
        ] {
            assert!(!facts(text).is_plain, "{text}");
        }
    }

    #[test]
    fn odd_characters_are_seen() {
        assert!(facts("a\rb").has_controls && facts("a\u{0}b").has_controls && facts("\u{85}").has_controls);
        assert!(facts("a\u{a0}b").has_foreign_space && facts("a\u{2028}").has_foreign_space);
        assert!(facts("a\u{202e}b").has_invisible && facts("a\u{200b}").has_invisible);
        assert!(!facts("a\tb\n\u{e9}").has_controls);
    }

    #[test]
    fn a_long_text_is_not_read() {
        assert_eq!(scan("aaaa", &Limits { bytes: 3, ..Limits::default() }), Err(Bound::Size));
    }
}
