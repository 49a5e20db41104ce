//! Templates of transformations: text with marked places «…» that stand for the subject in some spelling.
//!
//! In: a template, a subject. Out: shell text. Never: runs anything. `«f»` is the subject spelled by `f`,
//! `«f:text»` the inner text (itself a template) spelled by `f`.

use std::fmt::Write as _;

/// What a template is filled with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subject {
    /// The word or text that is transformed.
    pub(crate) text: String,
    /// A name that nothing else uses.
    pub(crate) fresh: String,
    /// The folder of the program.
    pub(crate) folder: String,
    pub(crate) home: String,
    /// Words of the command as written, and as meant.
    pub(crate) sources: Vec<String>,
    pub(crate) meant: Vec<String>,
}

pub(crate) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Fills a template; `None` where a spelling isn't possible for this subject.
pub(crate) fn fill(template: &str, subject: &Subject) -> Option<String> {
    let mut out = String::new();
    let mut rest = template;
    while let Some(at) = rest.find('«') {
        out.push_str(&rest[..at]);
        let body = &rest[at + '«'.len_utf8()..];
        let end = closing(body)?;
        out.push_str(&place(&body[..end], subject)?);
        rest = &body[end + '»'.len_utf8()..];
    }
    out.push_str(rest);
    Some(out)
}

fn closing(body: &str) -> Option<usize> {
    let mut depth = 1;
    for (i, c) in body.char_indices() {
        match c {
            '«' => depth += 1,
            '»' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(i);
        }
    }
    None
}

fn place(body: &str, subject: &Subject) -> Option<String> {
    let (name, text) = match body.split_once(':') {
        Some((name, inner)) => (name, fill(inner, subject)?),
        None => (body, subject.text.clone()),
    };
    match name {
        "n" => return Some(subject.fresh.clone()),
        "under" => return subject.text.strip_prefix(&subject.home).map(str::to_owned),
        "dir" => return Some(subject.folder.clone()),
        "argv" => return Some(subject.sources.join(" ")),
        "rest" => return Some(subject.sources[1..].join(" ")),
        "head" => return subject.sources.first().cloned(),
        "line" => return Some(subject.meant.join(" ")),
        "lines" => return Some(subject.meant.join("\n")),
        "ifs" => return Some(subject.sources.join("${IFS}")),
        "csv" => return Some(subject.meant.join(",")),
        "backward" => return Some(subject.sources.iter().rev().cloned().collect::<Vec<_>>().join(" ")),
        "numbers" => {
            return Some(
                (1..=subject.meant.len()).rev().map(|i| format!("\"${i}\"")).collect::<Vec<_>>().join(" "),
            );
        }
        "pylist" => return Some(subject.meant.iter().map(|w| double(w)).collect::<Vec<_>>().join(", ")),
        _ => {}
    }
    spell(name, &text)
}

/// A double-quoted literal that python, JavaScript, perl (after `perl`) and awk read alike.
fn double(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

fn halves(text: &str) -> Option<(&str, &str)> {
    let middle = text.len().div_ceil(2);
    text.is_char_boundary(middle).then(|| text.split_at(middle)).filter(|(_, b)| !b.is_empty())
}

fn bytes(text: &str, f: impl Fn(u8) -> String) -> String {
    text.bytes().map(f).collect()
}

fn listed(text: &str) -> String {
    text.bytes().map(|b| b.to_string()).collect::<Vec<_>>().join(",")
}

fn spell(name: &str, text: &str) -> Option<String> {
    let one_line = !text.contains('\n');
    Some(match name {
        "t" => text.to_owned(),
        "q" => quote(text),
        "qq" => quote(&quote(text)),
        "d" => {
            let mut out = String::new();
            for c in text.chars() {
                if matches!(c, '\\' | '"' | '$' | '`') {
                    out.push('\\');
                }
                out.push(c);
            }
            out
        }
        "1" => halves(text)?.0.to_owned(),
        "2" => halves(text)?.1.to_owned(),
        "c0" => text.get(..1)?.to_owned(),
        "tail" => text.get(1..)?.to_owned(),
        "butlast" => text.get(..text.len().checked_sub(1)?)?.to_owned(),
        "last" => text.get(text.len().checked_sub(1)?..)?.to_owned(),
        "len" => text.len().to_string(),
        "b64" => data_encoding::BASE64.encode(text.as_bytes()),
        "b32" => data_encoding::BASE32.encode(text.as_bytes()),
        "hex" => data_encoding::HEXLOWER.encode(text.as_bytes()),
        "rev" if one_line => text.chars().rev().collect(),
        "rot47" => text
            .chars()
            .map(|c| match c {
                '!'..='~' => char::from((u8::try_from(c).unwrap_or(b'!') - b'!' + 47) % 94 + b'!'),
                other => other,
            })
            .collect(),
        "xored" => text.bytes().map(|b| (b ^ 7).to_string()).collect::<Vec<_>>().join(","),
        "pct" => bytes(text, |b| format!("%{b:02x}")),
        "rot" => text.chars().map(rotated).collect(),
        "oct" => bytes(text, |b| format!("\\{b:03o}")),
        "zoct" => bytes(text, |b| format!("\\0{b:03o}")),
        "esc" => bytes(text, |b| format!("\\x{b:02x}")),
        "uni" => bytes(text, |b| format!("\\u{b:04x}")),
        "back" if text.bytes().all(|b| b.is_ascii_alphanumeric() || b"/.-_+@:,=".contains(&b)) => {
            bytes(text, |b| format!("\\{}", char::from(b)))
        }
        "up" if text.bytes().any(|b| b.is_ascii_lowercase())
            && !text.bytes().any(|b| b.is_ascii_uppercase()) =>
        {
            text.to_uppercase()
        }
        "spaced" if !text.contains(' ') => {
            text.chars().map(|c| format!("{c} ")).collect::<String>().trim_end().to_owned()
        }
        "junk" => text.chars().map(|c| format!("{c}%")).collect(),
        "gz" => data_encoding::BASE64.encode(&gzip(text.as_bytes())),
        "str" => double(text),
        "ords" => listed(text),
        "slash" if text.contains('/') => text.replace('/', "${PATH:0:1}"),
        "parent" => text.rsplit_once('/').filter(|(a, _)| !a.is_empty())?.0.to_owned(),
        "base" => text.rsplit_once('/').filter(|(a, _)| !a.is_empty())?.1.to_owned(),
        "sums" => {
            let mut out = String::new();
            for b in text.bytes() {
                write!(out, "$(printf \"\\\\$(printf %o $(({b}-7+7)))\")").ok()?;
            }
            out
        }
        _ => return None,
    })
}

fn rotated(c: char) -> char {
    let turn = |base: u8| char::from((u8::try_from(c).unwrap_or(base) - base + 13) % 26 + base);
    match c {
        'a'..='z' => turn(b'a'),
        'A'..='Z' => turn(b'A'),
        _ => c,
    }
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    out.extend(miniz_oxide::deflate::compress_to_vec(plain, 6));
    out.extend(crc(plain).to_le_bytes());
    out.extend(u32::try_from(plain.len()).unwrap_or(0).to_le_bytes());
    out
}

fn crc(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
        }
    }
    !sum
}
