//! Decoders: base64, base32, hex, percent signs, rot13, UTF-8.
//!
//! In: text. Out: text in which U+0080 to U+00FF stand for bytes; `None` if it is not so encoded.
//! Never: decompresses or deciphers.

/// Bytes as characters U+0000 to U+00FF.
pub(crate) fn latin(bytes: &[u8]) -> String {
    bytes.iter().map(|b| char::from(*b)).collect()
}

/// The inverse of [`latin`], then read as UTF-8 where it is.
pub(crate) fn utf8(text: &str) -> String {
    let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
    bytes.and_then(|b| String::from_utf8(b).ok()).unwrap_or_else(|| text.to_owned())
}

fn bits(text: &str, per: u32, value: impl Fn(u8) -> Option<u8>) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let (mut buffer, mut have) = (0_u32, 0_u32);
    for b in text.bytes() {
        if b == b'=' || b.is_ascii_whitespace() {
            continue;
        }
        buffer = (buffer << per | u32::from(value(b)?)) & 0xFFFF;
        have = have.saturating_add(per);
        if have >= 8 {
            have = have.saturating_sub(8);
            out.push(u8::try_from(buffer >> have & 0xFF).ok()?);
        }
    }
    Some(out)
}

pub(crate) fn base64(text: &str) -> Option<Vec<u8>> {
    bits(text, 6, |b| match b {
        b'A'..=b'Z' => Some(b - b'A'),
        b'a'..=b'z' => Some(b - b'a' + 26),
        b'0'..=b'9' => Some(b - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    })
}

pub(crate) fn base32(text: &str) -> Option<Vec<u8>> {
    bits(text, 5, |b| match b {
        b'A'..=b'Z' => Some(b - b'A'),
        b'a'..=b'z' => Some(b - b'a'),
        b'2'..=b'7' => Some(b - b'2' + 26),
        _ => None,
    })
}

pub(crate) fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: String =
        text.replace("0x", "").chars().filter(|c| !c.is_whitespace() && !matches!(c, ':' | ',')).collect();
    let digits = digits.replace("\\x", "");
    if !digits.len().is_multiple_of(2) || digits.is_empty() {
        return None;
    }
    digits
        .as_bytes()
        .chunks(2)
        .map(|pair| std::str::from_utf8(pair).ok().and_then(|p| u8::from_str_radix(p, 16).ok()))
        .collect()
}

/// gzip (RFC 1952, no optional fields but a name) and zlib.
pub(crate) fn inflate(latin: &str) -> Option<Vec<u8>> {
    let bytes: Option<Vec<u8>> = latin.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
    let bytes = bytes?;
    let body = match bytes.as_slice() {
        [0x1f, 0x8b, 8, 0, _, _, _, _, _, _, rest @ ..] => rest,
        [0x1f, 0x8b, 8, 8, _, _, _, _, _, _, rest @ ..] => {
            let end = rest.iter().position(|b| *b == 0)?;
            rest.get(end.checked_add(1)?..)?
        }
        [0x78, _, rest @ ..] => rest,
        _ => return None,
    };
    miniz_oxide::inflate::decompress_to_vec_with_limit(body, 64 * 1024).ok()
}

pub(crate) fn percent(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0_usize;
    while let Some(b) = bytes.get(at).copied() {
        let code = bytes
            .get(at.saturating_add(1)..at.saturating_add(3))
            .and_then(|p| std::str::from_utf8(p).ok())
            .and_then(|p| u8::from_str_radix(p, 16).ok());
        if let (b'%', Some(code)) = (b, code) {
            out.push(code);
            at = at.saturating_add(3);
        } else {
            out.push(b);
            at = at.saturating_add(1);
        }
    }
    out
}

pub(crate) fn rot13(text: &str) -> String {
    let turn =
        |b: u8, base: u8| char::from(base.saturating_add(b.saturating_sub(base).saturating_add(13) % 26));
    text.chars()
        .map(|c| match u8::try_from(c) {
            Ok(b @ b'a'..=b'z') => turn(b, b'a'),
            Ok(b @ b'A'..=b'Z') => turn(b, b'A'),
            _ => c,
        })
        .collect()
}

/// perl's tr and its likes: each character of `from` becomes the one at its place in `to`.
pub(crate) fn translate(text: &str, from: &str, to: &str) -> String {
    let (from, to) = (spread(from), spread(to));
    text.chars()
        .map(|c| match from.iter().position(|f| *f == c) {
            Some(n) => to.get(n).or(to.last()).copied().unwrap_or(c),
            None => c,
        })
        .collect()
}

/// `a-z` written out.
fn spread(set: &str) -> Vec<char> {
    let chars: Vec<char> = set.chars().take(512).collect();
    let mut out = Vec::new();
    let mut at = 0_usize;
    while let Some(c) = chars.get(at).copied() {
        match (chars.get(at.saturating_add(1)), chars.get(at.saturating_add(2))) {
            (Some('-'), Some(end)) if u32::from(*end).saturating_sub(u32::from(c)) < 256 => {
                out.extend(c..=*end);
                at = at.saturating_add(3);
            }
            _ => {
                out.push(c);
                at = at.saturating_add(1);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_undone() {
        assert_eq!(base64("bHMgLWw=").as_deref(), Some(&b"ls -l"[..]));
        assert_eq!(base32("NRZSALLM").as_deref(), Some(&b"ls -l"[..]));
        assert_eq!(hex("6c73").as_deref(), Some(&b"ls"[..]));
        assert_eq!(percent("l%73+"), b"ls+");
        assert_eq!(rot13("yf -y"), "ls -l");
        assert_eq!(translate("hal", "a-z", "b-za"), "ibm");
    }
}
