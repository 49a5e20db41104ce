//! Texts to send: our own, and others' of the same form, with the probe's path put in.
//!
//! In: lines `{"name","tags","text_b64"}`, in whose texts PROBE stands for the probe's path; ours have `calls_b64`
//! besides: the words that each call of the probe must get, written down when the text was made, by no shell.
//! Out: [`Payload`]s. Never: runs one.

use std::fmt;

use data_encoding::BASE64;
use serde::Deserialize;

use crate::fidelity::encode::replace;

/// One text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    pub name: String,
    pub tags: Vec<String>,
    /// With `PROBE` where the probe's path belongs.
    pub text: Vec<u8>,
    /// The words of each call, in order; empty where nobody said.
    pub calls: Vec<Vec<Vec<u8>>>,
}

/// A line that is no payload.
#[derive(Debug, PartialEq, Eq)]
pub struct PayloadError {
    /// From 1.
    pub line: usize,
    pub why: String,
}

impl fmt::Display for PayloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = crate::text::escape(&self.why);
        write!(f, "line {}: {why}; a line is {{\"name\",\"tags\",\"text_b64\"}}", self.line)
    }
}

impl std::error::Error for PayloadError {}

#[derive(Deserialize)]
struct Line {
    name: String,
    #[serde(default)]
    tags: Vec<String>,
    text_b64: Option<String>,
    /// In the place of the text: any harmless one of this size.
    bytes: Option<usize>,
    #[serde(default)]
    calls_b64: Vec<Vec<String>>,
}

/// Reads lines; empty ones don't count.
///
/// # Errors
/// The first line that is no payload.
pub fn read(text: &str) -> Result<Vec<Payload>, PayloadError> {
    let mut out = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |why: String| PayloadError { line: at + 1, why };
        let line: Line = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
        let decode = |text: &str| BASE64.decode(text.as_bytes()).map_err(|error| wrong(error.to_string()));
        let words = |call: &Vec<String>| call.iter().map(|word| decode(word)).collect::<Result<Vec<_>, _>>();
        let calls = line.calls_b64.iter().map(words).collect::<Result<_, _>>()?;
        let text = match (&line.text_b64, line.bytes) {
            (Some(text), _) => decode(text)?,
            (None, Some(bytes)) => sized(bytes.min(MOST)),
            (None, None) => return Err(wrong("no text_b64".to_owned())),
        };
        out.push(Payload { name: line.name, tags: line.tags, text, calls });
    }
    Ok(out)
}

/// Most bytes of a text that is made.
const MOST: usize = 64 << 20;

/// A text of a size: the probe reads a here-document.
fn sized(bytes: usize) -> Vec<u8> {
    let (head, tail) = (b"PROBE -in <<'EOF'\n", b"\nEOF\n");
    let line = b"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n";
    let body = bytes.saturating_sub(head.len() + tail.len());
    let filled: Vec<u8> = line.iter().copied().cycle().take(body).collect();
    [&head[..], &filled, tail].concat()
}

/// Our own texts.
///
/// # Errors
/// None, as a test shows.
pub fn own() -> Result<Vec<Payload>, PayloadError> {
    read(include_str!("payloads/own.jsonl"))
}

impl Payload {
    /// The text with the probe's path in it.
    pub fn with(&self, probe: &[u8]) -> Vec<u8> {
        replace(&self.text, b"PROBE", probe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_texts_are_many_different_and_say_what_arrives() {
        let own = own().unwrap();
        assert!(own.len() >= 250, "{}", own.len());
        let mut texts: Vec<_> = own.iter().map(|payload| &payload.text).collect();
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), own.len());
        assert!(own.iter().all(|payload| !payload.calls.is_empty()));
        assert!(own[0].with(b"/p").starts_with(b"/p "));
    }

    #[test]
    fn a_broken_line_is_named() {
        assert_eq!(read("\n{\"name\":\"a\",\"text_b64\":\"bHM=\"}\n").unwrap()[0].text, b"ls");
        assert_eq!(read("{\"name\":\"a\",\"bytes\":100}\n").unwrap()[0].text.len(), 100);
        for (text, line) in [("{}", 1), ("\n{\"name\":\"a\",\"text_b64\":\"?\"}", 2)] {
            assert_eq!(read(text).unwrap_err().line, line);
        }
    }
}
