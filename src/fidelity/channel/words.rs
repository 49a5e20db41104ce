//! Shell words: quoting them, and, written apart from that, reading them again as a POSIX shell would.
//!
//! In: words, or text. Out: text, or words. Never: expands anything; text that a shell would expand is no words.

/// Bytes that no shell gives a meaning in the middle of a word.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-./:,@%+".contains(&byte)
}

/// Appends one word, quoted only where it needs it.
pub fn quote(word: &[u8], out: &mut Vec<u8>) {
    if !word.is_empty() && word.iter().copied().all(is_plain) {
        out.extend_from_slice(word);
        return;
    }
    out.push(b'\'');
    for byte in word {
        if *byte == b'\'' {
            out.extend_from_slice(b"'\\''");
        } else {
            out.push(*byte);
        }
    }
    out.push(b'\'');
}

/// Words as one line.
pub fn join<'a>(words: impl IntoIterator<Item = &'a Vec<u8>>) -> Vec<u8> {
    let mut out = Vec::new();
    for (at, word) in words.into_iter().enumerate() {
        if at > 0 {
            out.push(b' ');
        }
        quote(word, &mut out);
    }
    out
}

/// A line read as the simple command or the pipeline of two that [`super::rendering`] writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    pub words: Vec<Vec<u8>>,
    /// The words of a command whose output is the input.
    pub feeder: Option<Vec<Vec<u8>>>,
    /// Whether `</dev/null` follows.
    pub null_input: bool,
}

/// Reads a line. None where it is anything but plain words, one `|` and one `</dev/null`.
pub fn read(line: &[u8]) -> Option<Line> {
    let mut out = Line::default();
    let mut rest = line;
    loop {
        rest = trim_blanks(rest);
        match rest.split_first() {
            None => break,
            Some((b'|', tail)) if out.feeder.is_none() && !out.null_input => {
                out.feeder = Some(std::mem::take(&mut out.words));
                rest = tail;
            }
            Some((b'|', _)) => return None,
            Some((b'<', _)) => {
                let tail = rest.strip_prefix(b"</dev/null")?;
                if !trim_blanks(tail).is_empty() {
                    return None;
                }
                out.null_input = true;
                rest = &[];
            }
            Some(_) => {
                let (word, tail) = read_word(rest)?;
                out.words.push(word);
                rest = tail;
            }
        }
    }
    (!out.words.is_empty()).then_some(out)
}

fn trim_blanks(mut text: &[u8]) -> &[u8] {
    while let Some((b' ' | b'\t', tail)) = text.split_first() {
        text = tail;
    }
    text
}

/// Quote removal by POSIX 2.2, for one word.
fn read_word(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut word = Vec::new();
    let mut bytes = text.iter().copied().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b' ' | b'\t' | b'|' | b'<' => return Some((word, text.get(at..)?)),
            b'\'' => loop {
                match bytes.next()?.1 {
                    b'\'' => break,
                    inner => word.push(inner),
                }
            },
            b'"' => loop {
                match bytes.next()?.1 {
                    b'"' => break,
                    b'\\' => match bytes.next()?.1 {
                        escaped @ (b'$' | b'`' | b'"' | b'\\') => word.push(escaped),
                        b'\n' => {}
                        other => word.extend_from_slice(&[b'\\', other]),
                    },
                    b'$' | b'`' => return None,
                    inner => word.push(inner),
                }
            },
            b'\\' => match bytes.next()?.1 {
                b'\n' => {}
                escaped => word.push(escaped),
            },
            b'\n' | b'$' | b'`' | b'&' | b';' | b'(' | b')' | b'>' | b'*' | b'?' | b'[' | b'{' | b'!' => {
                return None;
            }
            b'#' | b'~' if at == 0 => return None,
            plain => word.push(plain),
        }
    }
    Some((word, &[]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_are_read_as_a_shell_reads_them() {
        let line = read(b"printf %s 'a b' | \"x\\\"y\"z\\  w </dev/null").unwrap();
        assert_eq!(line.feeder.unwrap(), [&b"printf"[..], b"%s", b"a b"]);
        assert_eq!(line.words, [&b"x\"yz "[..], b"w"]);
        assert!(line.null_input);
        for no in [
            &b"a; b"[..],
            b"$x",
            b"a | b | c",
            b"a </etc/x",
            b"",
            b"a 'b",
            b"a \\",
            b"\"$(x)\"",
            b"#x",
            b"a </dev/null b",
        ] {
            assert_eq!(read(no), None, "{}", String::from_utf8_lossy(no));
        }
    }

    proptest! {
        #[test]
        fn quoted_words_are_read_again(words in prop::collection::vec(prop::collection::vec(1..=255u8, 0..40), 1..6)) {
            prop_assert_eq!(read(&join(&words)).unwrap().words, words);
        }
    }
}
