//! Backslash escapes of string literals.
//!
//! In: the inside of a literal. Out: its value. Bytes above 0x7f become the characters U+0080 to U+00FF.
//! Never: fails; an escape that a language does not know stays as written.

/// Which escapes a literal knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escapes {
    /// none: raw strings
    None,
    /// the backslash hides only itself and the quote (single quotes of perl, ruby, php)
    Quotes,
    /// C's, with \x, \u, octal
    Full,
}

/// Appends the character(s) of the escape that begins after a backslash; returns the bytes it took.
pub(crate) fn escape(rest: &str, out: &mut String) -> usize {
    let Some(c) = rest.chars().next() else {
        out.push('\\');
        return 0;
    };
    let simple = match c {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'v' => '\x0b',
        'e' | 'E' => '\x1b',
        '\\' | '\'' | '"' | '`' | '/' | '$' | '@' | '#' => c,
        '\n' => return 1,
        'z' => {
            let after = rest.get(1..).unwrap_or("");
            return 1_usize.saturating_add(after.len().saturating_sub(after.trim_start().len()));
        }
        'x' => return numbered(rest, 1, 2, 16, out),
        'u' => return numbered(rest, 1, 4, 16, out),
        'U' => return numbered(rest, 1, 8, 16, out),
        'N' => return named(rest, out),
        '0'..='7' => return numbered(rest, 0, 3, 8, out),
        _ => {
            out.push('\\');
            c
        }
    };
    out.push(simple);
    c.len_utf8()
}

/// `\x41`, `\x{41}`, `\101`.
fn numbered(rest: &str, skip: usize, most: usize, base: u32, out: &mut String) -> usize {
    let digits = rest.get(skip..).unwrap_or("");
    let (digits, extra, most) = match digits.strip_prefix('{') {
        Some(inner) => (inner, 1, 8),
        None => (digits, 0, most),
    };
    let len = digits.chars().take(most).take_while(|c| c.is_digit(base)).count();
    let value = u32::from_str_radix(digits.get(..len).unwrap_or(""), base).ok().and_then(char::from_u32);
    match value {
        Some(c) => out.push(c),
        None => out.push_str(rest.get(..skip).unwrap_or("")),
    }
    let closed = usize::from(extra == 1 && digits.get(len..).is_some_and(|r| r.starts_with('}')));
    skip.saturating_add(len).saturating_add(extra).saturating_add(closed)
}

/// `\N{LATIN SMALL LETTER A}`: the names of ASCII letters are enough to read what is hidden so.
fn named(rest: &str, out: &mut String) -> usize {
    let Some(name) = rest.strip_prefix("N{").and_then(|r| r.split_once('}')).map(|(n, _)| n) else {
        out.push_str("\\N");
        return 1;
    };
    let letter = name.rsplit(' ').next().unwrap_or("");
    if letter.len() == 1 && name.contains("SMALL") {
        out.push_str(&letter.to_ascii_lowercase());
    } else if letter.len() == 1 {
        out.push_str(letter);
    } else {
        out.push('\u{fffd}');
    }
    name.len().saturating_add(3)
}

/// The value of a literal's inside.
pub(crate) fn unescape(inside: &str, escapes: Escapes, quote: char) -> String {
    let mut out = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        if escapes == Escapes::None {
            break;
        }
        out.push_str(rest.get(..at).unwrap_or(""));
        rest = rest.get(at.saturating_add(1)..).unwrap_or("");
        let taken = match escapes {
            Escapes::Full => escape(rest, &mut out),
            Escapes::None | Escapes::Quotes => {
                if !rest.starts_with(['\\', quote]) {
                    out.push('\\');
                }
                0
            }
        };
        if escapes == Escapes::Quotes {
            if let Some(c) = rest.chars().next() {
                out.push(c);
                rest = rest.get(c.len_utf8()..).unwrap_or("");
            }
        } else {
            rest = rest.get(taken..).unwrap_or("");
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read_as_the_languages_do() {
        for (inside, value) in [
            ("a\\x41\\u0042\\103", "aABC"),
            ("\\u{6d}\\x{70}", "mp"),
            ("\\q", "\\q"),
            ("\\N{LATIN SMALL LETTER S}h", "sh"),
            ("a\\\nb", "ab"),
            ("\\", "\\"),
        ] {
            assert_eq!(unescape(inside, Escapes::Full, '"'), value);
        }
        assert_eq!(unescape("a\\n\\'\\\\", Escapes::Quotes, '\''), "a\\n'\\");
        assert_eq!(unescape("a\\n", Escapes::None, '\''), "a\\n");
    }
}
