//! Forms of a text in which no parser on the way has anything to change: one path, or one line of base64.
//!
//! In: an [`Order`]. Out: a line, with the files that belong to it; and the way back. Never: quotes.

use crate::fidelity::channel::domain::{Refusal, Why};
use crate::fidelity::channel::name::{Channel, Reach, StdinPolicy};
use crate::fidelity::channel::rendering::{Mode, Order, Staged};

/// The first line that bash reads of a text on standard input: it leaves the rest of the pipe, which is the text
/// to the byte, to a second bash as a file, so that nothing in the text can eat what follows it.
const HANDOVER: &[u8] = b"exec bash /dev/fd/3 3<&0 </dev/null\n";

/// A line and its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capsule {
    pub line: Vec<u8>,
    pub files: Vec<Staged>,
}

/// The best capsule there is where the text is received, for a line of at most `limit` bytes.
pub fn capsule(channel: Channel, order: &Order<'_>, limit: usize) -> Result<Capsule, Refusal> {
    let made = match order.reach {
        Reach::SameFiles => stub(channel, order)?,
        Reach::OtherFiles if order.stdin == StdinPolicy::Keep => {
            return Err(Refusal::new(channel, Why::Stdin, "use --stdin-policy null"));
        }
        Reach::OtherFiles => Capsule { line: base64_line(order.text), files: Vec::new() },
    };
    if made.line.len() > limit {
        let why = Why::Size(made.line.len(), limit);
        return Err(Refusal::new(channel, why, "copy the text there as a file first"));
    }
    Ok(made)
}

/// Whether no shell, terminal, crontab, makefile or command line gives a byte of `path` a meaning.
fn is_neutral(path: &[u8]) -> bool {
    path.first() == Some(&b'/') && path.iter().all(|b| b.is_ascii_alphanumeric() || b"/._-".contains(b))
}

/// One word: the path of a program whose only act is to become bash with the text's file.
pub fn stub(channel: Channel, order: &Order<'_>) -> Result<Capsule, Refusal> {
    if !is_neutral(order.place) {
        return Err(Refusal::new(channel, Why::Folder, "name another with --dir"));
    }
    let data = [order.place, b".data"].concat();
    let run = [order.place, b".run"].concat();
    let input: &[u8] = match order.stdin {
        StdinPolicy::Keep => b"",
        StdinPolicy::Null => b" </dev/null",
    };
    let program = [b"#!/bin/sh\nexec bash ", &data[..], b" \"$@\"", input, b"\n"].concat();
    let files = vec![
        Staged { path: data, bytes: order.text.to_vec(), mode: Mode::Data },
        Staged { path: run.clone(), bytes: program, mode: Mode::Program },
    ];
    Ok(Capsule { line: run, files })
}

/// One line in parentheses (a wrapper that appends a redirection would starve a bare pipeline).
pub fn base64_line(text: &[u8]) -> Vec<u8> {
    let body = data_encoding::BASE64.encode(&[HANDOVER, text].concat());
    [b"(echo ", body.as_bytes(), b"|base64 -d|bash)"].concat()
}

/// The text that a capsule's line stands for.
pub fn open(line: &[u8], files: &[Staged]) -> Option<Vec<u8>> {
    if let Some(body) = line.strip_prefix(b"(echo ").and_then(|l| l.strip_suffix(b"|base64 -d|bash)")) {
        let script = unpack(body)?;
        return script.strip_prefix(HANDOVER).map(<[u8]>::to_vec);
    }
    if !is_neutral(line) {
        return None;
    }
    let file = |path: &[u8]| files.iter().find(|f| f.path == path);
    let program = file(line).filter(|f| f.mode == Mode::Program)?;
    let call = program.bytes.strip_prefix(b"#!/bin/sh\nexec bash ")?;
    let end = call.iter().position(|b| *b == b' ')?;
    let (path, rest) = call.split_at_checked(end)?;
    if !matches!(rest, b" \"$@\"\n" | b" \"$@\" </dev/null\n") {
        return None;
    }
    file(path).map(|f| f.bytes.clone())
}

/// Base64 by RFC 4648, written apart from the encoder.
pub fn unpack(body: &[u8]) -> Option<Vec<u8>> {
    let digit = |b: u8| match b {
        b'A'..=b'Z' => Some(b - b'A'),
        b'a'..=b'z' => Some(b - b'a' + 26),
        b'0'..=b'9' => Some(b - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    if !body.len().is_multiple_of(4) {
        return None;
    }
    let padding = body.iter().rev().take_while(|b| **b == b'=').count();
    let digits = body.get(..body.len().checked_sub(padding)?)?;
    let mut out = Vec::with_capacity(digits.len());
    let (mut held, mut bits) = (0u32, 0u32);
    for byte in digits {
        held = (held << 6) | u32::from(digit(*byte)?);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push(u8::try_from((held >> bits) & 0xFF).ok()?);
            held &= (1 << bits) - 1;
        }
    }
    (padding <= 2 && held == 0).then_some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn order(text: &[u8], reach: Reach) -> Order<'_> {
        Order { text, to: None, stdin: StdinPolicy::Null, reach, place: b"/tmp/d-1/1" }
    }

    proptest! {
        #[test]
        fn capsules_give_the_text_back(text in prop::collection::vec(1..=255u8, 0..300)) {
            for reach in [Reach::SameFiles, Reach::OtherFiles] {
                let made = capsule(Channel::Cron, &order(&text, reach), 1000).unwrap();
                prop_assert_eq!(open(&made.line, &made.files).unwrap(), text.clone());
                let printable = made.line.iter().all(|b| b.is_ascii_graphic() || *b == b' ');
                prop_assert!(printable);
                let special = made.line.iter().any(|b| b"$`\\%!'\"~{}[]*?#&;<>".contains(b));
                prop_assert!(!special);
            }
        }
    }

    #[test]
    fn what_is_no_capsule_is_not_opened() {
        let stub = stub(Channel::Stub, &order(b"x", Reach::SameFiles)).unwrap();
        let mut files = stub.files.clone();
        files[1].bytes.extend_from_slice(b"more\n");
        assert_eq!(open(&stub.line, &files), None);
        assert_eq!(open(&stub.line, &[]), None);
        assert_eq!(open(b"(echo eA==|base64 -d|bash)", &[]), None);
        assert_eq!(unpack(b"eA=="), Some(b"x".to_vec()));
        assert_eq!(unpack(b"eB=="), None, "bits that stand for nothing");
        assert_eq!(unpack(b"e==="), None);
    }

    #[test]
    fn a_folder_with_a_space_is_refused() {
        let bad = Order { place: b"/tmp/a b/1", ..order(b"x", Reach::SameFiles) };
        assert_eq!(capsule(Channel::Stub, &bad, 100).unwrap_err().why, Why::Folder);
    }
}
