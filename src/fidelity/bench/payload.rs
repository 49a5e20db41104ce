//! The texts that are sent, and where the probe's path goes into them.
//!
//! In: lines `{"name","tags","text_b64"}` (or `"bytes"` for a text of a size). Out: [`Payload`]s. Never: a shell.

use std::fmt;

use serde::Deserialize;

use crate::fidelity::bench::wrap::replaced;

/// Stands in a text for the probe's path.
const PROBE: &[u8] = b"PROBE";

/// One text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    pub name: String,
    pub tags: Vec<String>,
    /// With `PROBE` where the probe's path belongs.
    pub text: Vec<u8>,
}

/// A line that is no payload.
#[derive(Debug, PartialEq, Eq)]
pub struct PayloadError {
    pub line: usize,
    pub why: String,
}

impl fmt::Display for PayloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}; a line is {{\"name\",\"tags\",\"text_b64\"}}", self.line, self.why)
    }
}

impl std::error::Error for PayloadError {}

#[derive(Deserialize)]
struct Line {
    name: String,
    #[serde(default)]
    tags: Vec<String>,
    text_b64: Option<String>,
    bytes: Option<usize>,
}

/// Reads lines; empty ones don't count.
pub fn read(text: &str) -> Result<Vec<Payload>, PayloadError> {
    let mut out = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
        let wrong = |why: String| PayloadError { line: at + 1, why };
        let line: Line = serde_json::from_str(line).map_err(|e| wrong(e.to_string()))?;
        let text = match (line.text_b64, line.bytes) {
            (Some(text), _) => data_encoding::BASE64
                .decode(text.as_bytes())
                .map_err(|_| wrong("text_b64 is no base64".to_owned()))?,
            (None, Some(bytes)) => sized(bytes),
            (None, None) => return Err(wrong("no text_b64".to_owned())),
        };
        out.push(Payload { name: line.name, tags: line.tags, text });
    }
    Ok(out)
}

/// A harmless text of a size: the probe reads a here-document.
fn sized(bytes: usize) -> Vec<u8> {
    let (head, tail) = (b"PROBE -in <<'EOF'\n", b"\nEOF\n");
    let body = bytes.saturating_sub(head.len() + tail.len());
    let line = b"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n";
    let filled: Vec<u8> = line.iter().copied().cycle().take(body).collect();
    [&head[..], &filled, tail].concat()
}

impl Payload {
    /// The text with the probe's path in it.
    pub fn with(&self, probe: &str) -> Vec<u8> {
        replaced(&self.text, PROBE, probe.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_payloads() {
        let read = read("{\"name\":\"a\",\"tags\":[\"x\"],\"text_b64\":\"UFJPQkUgYQ==\"}\n\n{\"name\":\"b\",\"bytes\":100}\n").unwrap();
        assert_eq!(read[0].with("/tmp/p"), b"/tmp/p a");
        assert_eq!(read[1].text.len(), 100);
        assert_eq!(
            super::read("{\"name\":\"a\"}").unwrap_err().to_string(),
            "line 1: no text_b64; a line is {\"name\",\"tags\",\"text_b64\"}"
        );
    }
}
