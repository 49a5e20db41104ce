//! Decoders and text filters that commands use to build other commands: base64, hex, tr, rev, gzip …
//!
//! In: known texts. Out: the text that the tool would print, or `None` where that isn't known.
//! Never: more than [`crate::canonical::value::DATA_LIMIT`] bytes. The only file that names `data-encoding`
//! and `miniz_oxide`.

use crate::canonical::value::DATA_LIMIT;

/// Codes of the coreutils and their kin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    Base64,
    Base64Url,
    Base32,
    Hex,
}

fn text(bytes: &[u8]) -> Option<String> {
    (bytes.len() <= DATA_LIMIT).then(|| crate::text::judged(bytes).into_owned())
}

/// Decodes; white space and what is no digit of the code is skipped, a missing padding is forgiven.
pub fn decode(code: Code, input: &str) -> Option<String> {
    if input.len() > DATA_LIMIT * 2 {
        return None;
    }
    let keep = |c: &char| match code {
        Code::Base64 | Code::Base64Url => c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_'),
        Code::Base32 => c.is_ascii_alphanumeric(),
        Code::Hex => c.is_ascii_hexdigit(),
    };
    let mut digits: String = input.chars().filter(keep).collect();
    let encoding = match code {
        Code::Base64 => data_encoding::BASE64_NOPAD,
        Code::Base64Url => data_encoding::BASE64URL_NOPAD,
        Code::Base32 => data_encoding::BASE32_NOPAD,
        Code::Hex => data_encoding::HEXLOWER_PERMISSIVE,
    };
    if code == Code::Base32 {
        digits.make_ascii_uppercase();
    }
    // a cut-off tail decodes as far as it goes, as the tools do
    for cut in 0..8 {
        let end = digits.len().checked_sub(cut)?;
        match encoding.decode(digits.get(..end)?.as_bytes()) {
            Ok(bytes) => return text(&bytes),
            Err(error) if error.kind == data_encoding::DecodeKind::Trailing && code != Code::Hex => {
                let mut relaxed = encoding.specification();
                relaxed.check_trailing_bits = false;
                if let Ok(lenient) = relaxed.encoding()
                    && let Ok(bytes) = lenient.decode(digits.get(..end)?.as_bytes())
                {
                    return text(&bytes);
                }
            }
            Err(_) => {}
        }
    }
    None
}

pub fn encode(code: Code, input: &str) -> Option<String> {
    let bytes = crate::text::raw(input);
    if bytes.len() > DATA_LIMIT {
        return None;
    }
    Some(match code {
        Code::Base64 => data_encoding::BASE64.encode(&bytes),
        Code::Base64Url => data_encoding::BASE64URL.encode(&bytes),
        Code::Base32 => data_encoding::BASE32.encode(&bytes),
        Code::Hex => data_encoding::HEXLOWER.encode(&bytes),
    })
}

/// gzip or zlib data, bounded.
pub fn inflate(input: &str) -> Option<String> {
    let bytes = crate::text::raw(input);
    let body = match bytes.as_ref() {
        [0x1f, 0x8b, 8, flags, _, _, _, _, _, _, rest @ ..] => skip_gzip_header(*flags, rest)?,
        [0x78, _, rest @ ..] => rest,
        _ => return None,
    };
    let plain = miniz_oxide::inflate::decompress_to_vec_with_limit(body, DATA_LIMIT).ok()?;
    text(&plain)
}

/// Skips gzip's optional header fields (RFC 1952 2.3.1).
fn skip_gzip_header(flags: u8, mut rest: &[u8]) -> Option<&[u8]> {
    if flags & 4 != 0 {
        let (length, tail) = rest.split_at_checked(2)?;
        let length = usize::from(*length.first()?) | usize::from(*length.get(1)?) << 8;
        rest = tail.get(length..)?;
    }
    for bit in [8, 16] {
        if flags & bit != 0 {
            let end = rest.iter().position(|b| *b == 0)?;
            rest = rest.get(end + 1..)?;
        }
    }
    if flags & 2 != 0 { rest.get(2..) } else { Some(rest) }
}

/// `rev`: each line reversed.
pub fn reverse_lines(input: &str) -> String {
    let mut out: Vec<String> = input.split('\n').map(|l| l.chars().rev().collect()).collect();
    if out.len() > 1 && input.ends_with('\n') {
        out.pop();
        out.push(String::new());
    }
    out.join("\n")
}

/// Members of a `tr` set: ranges, classes, escapes.
fn set(text: &str) -> Option<Vec<char>> {
    let text = crate::canonical::escape::ansi_c(text);
    let mut out = Vec::new();
    let mut rest = text.as_str();
    while let Some(c) = rest.chars().next() {
        if let Some(tail) = rest.strip_prefix("[:") {
            let (name, tail) = tail.split_once(":]")?;
            out.extend(class(name)?);
            rest = tail;
            continue;
        }
        let mut chars = rest.chars();
        chars.next();
        let after = chars.as_str();
        let mut next = after.chars();
        if let (Some('-'), Some(end)) = (next.next(), next.next()) {
            for code in u32::from(c)..=u32::from(end) {
                out.push(char::from_u32(code)?);
                if out.len() > 4096 {
                    return None;
                }
            }
            rest = next.as_str();
        } else {
            out.push(c);
            rest = after;
        }
    }
    Some(out)
}

fn class(name: &str) -> Option<Vec<char>> {
    Some(match name {
        "upper" => ('A'..='Z').collect(),
        "lower" => ('a'..='z').collect(),
        "digit" => ('0'..='9').collect(),
        "alpha" => ('A'..='Z').chain('a'..='z').collect(),
        "alnum" => ('0'..='9').chain('A'..='Z').chain('a'..='z').collect(),
        "space" => vec![' ', '\t', '\n', '\r', '\u{b}', '\u{c}'],
        "blank" => vec![' ', '\t'],
        "punct" => ('!'..='~').filter(char::is_ascii_punctuation).collect(),
        "cntrl" => ('\0'..'\u{20}').chain(['\u{7f}']).collect(),
        "xdigit" => ('0'..='9').chain('A'..='F').chain('a'..='f').collect(),
        _ => return None,
    })
}

/// Letters of `tr`'s options.
#[derive(Clone, Copy, Debug, Default)]
pub struct Translate {
    pub delete: Choice,
    pub squeeze: Choice,
    pub complement: Choice,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    On,
    #[default]
    Off,
}

/// `tr`.
pub fn translate(input: &str, options: Translate, from: &str, to: Option<&str>) -> Option<String> {
    let from = set(from)?;
    let to = match to {
        Some(text) => set(text)?,
        None => Vec::new(),
    };
    let within = |c: char| from.contains(&c) != (options.complement == Choice::On);
    let mut out = String::with_capacity(input.len());
    let mut last = None;
    for c in input.chars() {
        if options.delete == Choice::On && within(c) {
            continue;
        }
        let mapped = match (options.delete, to.last()) {
            (Choice::Off, Some(end)) if within(c) => {
                let position = from.iter().position(|f| *f == c);
                position.and_then(|i| to.get(i)).copied().unwrap_or(*end)
            }
            _ => c,
        };
        let squeezed =
            options.squeeze == Choice::On && last == Some(mapped) && (within(c) || to.contains(&mapped));
        if !squeezed {
            out.push(mapped);
        }
        last = Some(mapped);
    }
    Some(out)
}

/// `xxd -r`: a dump with offsets back to bytes (`-r -p` is [`Code::Hex`]).
pub fn undump(input: &str) -> Option<String> {
    let mut digits = String::new();
    for line in input.lines() {
        let body = line.split_once(':').map_or(line, |(_, b)| b).trim_start();
        let hex = body.split("  ").next().unwrap_or(body);
        digits.extend(hex.chars().filter(char::is_ascii_hexdigit));
    }
    decode(Code::Hex, &digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoders_undo_what_tools_encode() {
        assert_eq!(decode(Code::Base64, "cm0gLXJmIC8=\n").as_deref(), Some("rm -rf /"));
        assert_eq!(decode(Code::Base64, "cm0gLXJmIC8").as_deref(), Some("rm -rf /"));
        assert_eq!(decode(Code::Base32, "OJWSALLSMYQC6===").as_deref(), Some("rm -rf /"));
        assert_eq!(decode(Code::Hex, "726d 20").as_deref(), Some("rm "));
        assert_eq!(encode(Code::Base64, "hi").as_deref(), Some("aGk="));
        assert_eq!(reverse_lines("/ fr- mr\n"), "rm -rf /\n");
        let rot13 = translate("ez -es", Translate::default(), "A-Za-z", Some("N-ZA-Mn-za-m"));
        assert_eq!(rot13.as_deref(), Some("rm -rf"));
        let delete = Translate { delete: Choice::On, ..Translate::default() };
        assert_eq!(translate("rxmx", delete, "x", None).as_deref(), Some("rm"));
        assert_eq!(undump("00000000: 726d  rm\n").as_deref(), Some("rm"));
    }

    #[test]
    fn gzip_is_inflated() {
        let gz = decode(Code::Base64, "H4sIAAAAAAAAAysqys0FAFDkvwkEAAAA");
        // header is right, body may be broken: then nothing is known
        assert!(gz.is_some());
        let body = miniz_oxide::deflate::compress_to_vec(b"id", 6);
        let mut bytes = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0];
        bytes.extend(body);
        assert_eq!(inflate(&crate::text::judged(&bytes)).as_deref(), Some("id"));
    }
}
