//! Backslash escapes: ANSI-C quoting, `echo -e`, `printf`'s format and `%b`.
//!
//! In: texts. Out: texts with escapes decoded; bytes above 0x7f that aren't UTF-8 become the mapped
//! characters of [`crate::text`]. Never: fails; an unknown escape stays as it is.

/// Which dialect of escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escapes {
    /// `$'…'`
    AnsiC,
    /// `echo -e`, `%b`: octal needs a leading zero, `\c` ends the output
    Echo,
    /// printf's format: octal without leading zero
    Printf,
}

/// `${x@E}` and `$'…'`.
pub fn ansi_c(text: &str) -> String {
    decode(text, Escapes::AnsiC).0
}

/// The decoded text, and whether `\c` ended it.
pub fn decode(text: &str, dialect: Escapes) -> (String, Ended) {
    if !text.contains('\\') {
        return (text.to_owned(), Ended::No);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (plain, tail) = rest.split_at(at);
        out.extend_from_slice(&crate::text::raw(plain));
        let tail = tail.strip_prefix('\\').unwrap_or(tail);
        let mut chars = tail.chars();
        let Some(c) = chars.next() else {
            out.push(b'\\');
            rest = "";
            break;
        };
        rest = chars.as_str();
        match c {
            'c' if dialect != Escapes::AnsiC => return (finish(&out), Ended::Yes),
            'c' => {
                let mut chars = rest.chars();
                if let Some(control) = chars.next().and_then(|c| u8::try_from(u32::from(c)).ok()) {
                    out.push(control.to_ascii_uppercase() & 0x1f);
                    rest = chars.as_str();
                }
            }
            'x' => rest = number(rest, 16, 2, &mut out, "\\x"),
            'u' => rest = unicode(rest, 4, &mut out),
            'U' => rest = unicode(rest, 8, &mut out),
            '0'..='7' => rest = octal(c, rest, dialect, &mut out),
            c => simple(c, dialect, &mut out),
        }
    }
    out.extend_from_slice(&crate::text::raw(rest));
    (finish(&out), Ended::No)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Yes,
    No,
}

fn finish(bytes: &[u8]) -> String {
    crate::text::judged(bytes).into_owned()
}

fn simple(c: char, dialect: Escapes, out: &mut Vec<u8>) {
    let byte = match c {
        'a' => 7,
        'b' => 8,
        'e' | 'E' => 27,
        'f' => 12,
        'n' => 10,
        'r' => 13,
        't' => 9,
        'v' => 11,
        '\\' => b'\\',
        '\'' | '"' | '?' if dialect == Escapes::AnsiC => u8::try_from(u32::from(c)).unwrap_or(b'?'),
        '"' if dialect == Escapes::Printf => b'"',
        other => {
            out.push(b'\\');
            out.extend_from_slice(&crate::text::raw(other.encode_utf8(&mut [0; 4])));
            return;
        }
    };
    out.push(byte);
}

fn octal<'a>(first: char, rest: &'a str, dialect: Escapes, out: &mut Vec<u8>) -> &'a str {
    // echo's octal is `\0nnn`; a bare `\nnn` is taken too (bash's printf %b)
    let digits = if first == '0' && dialect == Escapes::Echo { 3 } else { 2 };
    let mut value = first.to_digit(8).unwrap_or(0);
    let mut used = 0;
    for c in rest.chars().take(digits) {
        let Some(digit) = c.to_digit(8) else { break };
        value = value * 8 + digit;
        used += 1;
    }
    out.push(u8::try_from(value & 0xff).unwrap_or(0));
    rest.get(used..).unwrap_or("")
}

fn number<'a>(rest: &'a str, radix: u32, digits: usize, out: &mut Vec<u8>, none: &str) -> &'a str {
    let (rest, braced) = match rest.strip_prefix('{') {
        Some(inner) if radix == 16 => (inner, true),
        Some(_) | None => (rest, false),
    };
    let used = rest.chars().take(digits).take_while(|c| c.is_digit(radix)).count();
    match rest.get(..used).and_then(|t| u32::from_str_radix(t, radix).ok()) {
        Some(value) => out.push(u8::try_from(value & 0xff).unwrap_or(0)),
        None => out.extend_from_slice(none.as_bytes()),
    }
    let rest = rest.get(used..).unwrap_or("");
    if braced { rest.strip_prefix('}').unwrap_or(rest) } else { rest }
}

fn unicode<'a>(rest: &'a str, digits: usize, out: &mut Vec<u8>) -> &'a str {
    let used = rest.chars().take(digits).take_while(char::is_ascii_hexdigit).count();
    let c = rest.get(..used).and_then(|t| u32::from_str_radix(t, 16).ok()).and_then(char::from_u32);
    match c {
        Some(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        None => out.extend_from_slice(if digits == 4 { b"\\u" } else { b"\\U" }),
    }
    rest.get(used..).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_decode_as_in_bash() {
        assert_eq!(ansi_c(r"\x72\x6d"), "rm");
        assert_eq!(ansi_c(r"\162\155"), "rm");
        assert_eq!(ansi_c(r"\u0072m\n"), "rm\n");
        assert_eq!(ansi_c(r"a\qb\"), "a\\qb\\");
        assert_eq!(decode(r"\0162\0155", Escapes::Echo).0, "rm");
        assert_eq!(decode(r"r\cm", Escapes::Echo), ("r".to_owned(), Ended::Yes));
        assert_eq!(decode(r"\162", Escapes::Printf).0, "r");
        assert_eq!(ansi_c(r"\xff"), crate::text::judged(b"\xff"));
    }
}
