//! Documents that carry a text as a value: a Dockerfile's RUN, a JSON string, a YAML scalar.
//!
//! In: an [`Order`]. Out: a [`Rendering`]; and the way back, by readers written apart from the writers.
//! Never: fills a template with the text.

use std::fmt::Write as _;

use crate::fidelity::channel::capsule;
use crate::fidelity::channel::domain::{Refusal, Why};
use crate::fidelity::channel::local::bash_text;
use crate::fidelity::channel::name::Channel;
use crate::fidelity::channel::rendering::{Order, Rendering};

/// Longest line that a Dockerfile's readers take.
const INSTRUCTION: usize = 65_000;

/// JSON with nothing but printable ASCII in it, which no carrier of JSON has reason to touch.
fn json_string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
    out
}

/// A double-quoted scalar, which alone can hold every character; one line.
fn yaml_scalar(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(c),
            c if u32::from(c) < 0x1_0000 => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => {
                let _ = write!(out, "\\U{:08X}", u32::from(c));
            }
        }
    }
    out.push('"');
    out
}

fn unicode<'a>(channel: Channel, order: &Order<'a>) -> Result<&'a str, Refusal> {
    std::str::from_utf8(order.text)
        .map_err(|_| Refusal::new(channel, Why::NotUnicode, "put base64 inside of it: --channel NAME,base64"))
}

pub fn json(order: &Order<'_>) -> Result<Rendering, Refusal> {
    Ok(Rendering::of_document(json_string(unicode(Channel::Json, order)?).into_bytes()))
}

pub fn yaml(order: &Order<'_>) -> Result<Rendering, Refusal> {
    Ok(Rendering::of_document(yaml_scalar(unicode(Channel::Yaml, order)?).into_bytes()))
}

/// The exec form; what JSON can't say goes as base64 in the shell form.
pub fn dockerfile(order: &Order<'_>) -> Result<Rendering, Refusal> {
    let line = match std::str::from_utf8(order.text) {
        Ok(text) => format!("RUN [\"bash\", \"-c\", \"--\", {}]\n", json_string(text)).into_bytes(),
        Err(_) => [b"RUN ", &capsule::base64_line(order.text)[..], b"\n"].concat(),
    };
    if line.len() > INSTRUCTION {
        let why = Why::Size(line.len(), INSTRUCTION);
        return Err(Refusal::new(Channel::Dockerfile, why, "COPY a script and RUN it"));
    }
    Ok(Rendering::of_document(line))
}

/// The text that a document holds.
pub fn decode(channel: Channel, document: &[u8]) -> Option<Vec<u8>> {
    if channel == Channel::Dockerfile {
        let line = document.strip_prefix(b"RUN ")?.strip_suffix(b"\n")?;
        if line.contains(&b'\n') || line.ends_with(b"\\") {
            return None;
        }
        if let Some(list) = line.strip_prefix(b"[").and_then(|l| l.strip_suffix(b"]")) {
            return bash_text(&read_list(std::str::from_utf8(list).ok()?)?);
        }
        return capsule::open(line, &[]);
    }
    let text = std::str::from_utf8(document).ok()?;
    let (value, rest) = read_string(text, if channel == Channel::Json { 'j' } else { 'y' })?;
    rest.is_empty().then(|| value.into_bytes())
}

fn read_list(text: &str) -> Option<Vec<Vec<u8>>> {
    let mut out = Vec::new();
    let mut rest = text;
    loop {
        let (value, tail) = read_string(rest, 'j')?;
        out.push(value.into_bytes());
        match tail.strip_prefix(", ") {
            Some(next) => rest = next,
            None if tail.is_empty() => return Some(out),
            None => return None,
        }
    }
}

/// A quoted string by RFC 8259 (`j`), or by YAML 1.2 section 7.3.1 with the escapes of 5.7 (`y`).
fn read_string(text: &str, language: char) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut rest = text.strip_prefix('"')?.chars();
    let mut high = None;
    loop {
        let c = rest.next()?;
        let unit = match c {
            '"' if high.is_none() => return Some((out, rest.as_str())),
            '\\' => match (rest.next()?, language) {
                ('n', _) => u32::from('\n'),
                ('t', _) => u32::from('\t'),
                ('u', _) => number(&mut rest, 4)?,
                ('U', 'y') => number(&mut rest, 8)?,
                (plain @ ('"' | '\\' | '/'), _) => u32::from(plain),
                _ => return None,
            },
            c if c < ' ' => return None,
            c => u32::from(c),
        };
        // two units of UTF-16 are one character, in JSON only
        match (high.take(), unit) {
            (None, 0xD800..=0xDBFF) if language == 'j' => high = Some(unit),
            (Some(first), 0xDC00..=0xDFFF) => {
                out.push(char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (unit - 0xDC00))?);
            }
            (None, unit) => out.push(char::from_u32(unit)?),
            (Some(_), _) => return None,
        }
    }
}

fn number(rest: &mut std::str::Chars<'_>, digits: usize) -> Option<u32> {
    let mut value = 0u32;
    for _ in 0..digits {
        value = value.checked_mul(16)?.checked_add(rest.next()?.to_digit(16)?)?;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn strings_are_written_in_ascii() {
        assert_eq!(json_string("a\"\\\n\u{e9}\u{1F680}\r"), r#""a\"\\\n\u00e9\ud83d\ude80\u000d""#);
        assert_eq!(yaml_scalar("a\"\\\n\u{e9}\u{1F680}\u{85}"), r#""a\"\\\n\u00E9\U0001F680\u0085""#);
    }

    proptest! {
        #[test]
        fn a_foreign_json_reader_agrees(text in "\\PC*|[\\x00-\\x7f]*") {
            let read: String = serde_json::from_str(&json_string(&text)).unwrap();
            prop_assert_eq!(&read, &text);
            prop_assert_eq!(decode(Channel::Json, json_string(&text).as_bytes()).unwrap(), text.as_bytes());
            prop_assert_eq!(decode(Channel::Yaml, yaml_scalar(&text).as_bytes()).unwrap(), text.as_bytes());
        }
    }
}
