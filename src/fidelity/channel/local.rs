//! Channels to a bash on this machine: argument, file, stub, memory file, standard input, environment, base64.
//!
//! In: an [`Order`]. Out: a [`Rendering`]; and the way back. Never: starts anything.

use crate::fidelity::channel::capsule::{self, Capsule};
use crate::fidelity::channel::domain::Refusal;
use crate::fidelity::channel::name::Channel;
use crate::fidelity::channel::rendering::{Form, Input, Mode, Order, Rendering, Staged};

/// How a shell takes a text from standard input as a file, so that what the text runs can't eat it.
pub const FROM_INPUT: &[u8] = b"exec bash /dev/fd/3 3<&0 </dev/null";
/// The variable of the environment channel; the text does not see it.
const VARIABLE: &[u8] = b"AGENT_SH_TEXT";
const FROM_VARIABLE: &[u8] = b"exec env -u AGENT_SH_TEXT bash -c -- \"$AGENT_SH_TEXT\"";
/// Stands in the words for the path of the memory file, until its descriptor has a number.
pub const MEMORY: &[u8] = b"/dev/fd/memory";

/// Words in any notation, as owned bytes.
pub fn owned(words: &[&[u8]]) -> Vec<Vec<u8>> {
    words.iter().map(|w| w.to_vec()).collect()
}

/// `bash -c -- TEXT`; the two dashes, since a text may begin with one.
pub fn bash(text: &[u8]) -> Vec<Vec<u8>> {
    owned(&[b"bash", b"-c", b"--", text])
}

/// `bash -c -- TEXT` itself.
pub fn argument(order: &Order<'_>) -> Rendering {
    Rendering::of_words(bash(order.text), Input::of(order.stdin))
}

/// A file that bash reads.
pub fn script(order: &Order<'_>) -> Rendering {
    let path = [order.place, b".data"].concat();
    let staged = Staged { path: path.clone(), bytes: order.text.to_vec(), mode: Mode::Data };
    Rendering { files: vec![staged], ..Rendering::of_words(owned(&[b"bash", &path]), Input::of(order.stdin)) }
}

/// A program that becomes a bash that reads a file: one word.
pub fn stub(order: &Order<'_>) -> Result<Rendering, Refusal> {
    let Capsule { line, files } = capsule::stub(Channel::Stub, order)?;
    Ok(Rendering { files, ..Rendering::of_words(vec![line], Input::of(order.stdin)) })
}

/// A sealed file without a name.
pub fn memory(order: &Order<'_>) -> Rendering {
    let staged = Staged { path: MEMORY.to_vec(), bytes: order.text.to_vec(), mode: Mode::Memory };
    Rendering {
        files: vec![staged],
        ..Rendering::of_words(owned(&[b"bash", MEMORY]), Input::of(order.stdin))
    }
}

/// The text on standard input, as a file.
pub fn input(order: &Order<'_>) -> Rendering {
    Rendering::of_words(bash(FROM_INPUT), Input::Bytes(order.text.to_vec()))
}

/// The text in a variable that it will not see.
pub fn environment(order: &Order<'_>) -> Rendering {
    Rendering {
        environment: vec![(VARIABLE.to_vec(), order.text.to_vec())],
        ..Rendering::of_words(bash(FROM_VARIABLE), Input::of(order.stdin))
    }
}

/// One line without a special character but `(|)`.
pub fn base64(order: &Order<'_>) -> Rendering {
    let form = Form::Text(capsule::base64_line(order.text));
    Rendering { form, ..Rendering::of_words(Vec::new(), Input::Inherit) }
}

/// The text of `bash -c TEXT`, by bash's rules for its own options.
pub fn bash_text(words: &[Vec<u8>]) -> Option<Vec<u8>> {
    let [program, rest @ ..] = words else { return None };
    if program != b"bash" {
        return None;
    }
    let mut rest = rest.iter();
    let mut wants = false;
    let text = loop {
        let word = rest.next()?;
        match word.as_slice() {
            b"--" => break rest.next()?,
            b"-c" => wants = true,
            [b'-' | b'+', ..] => return None,
            _ => break word,
        }
    };
    (wants && rest.next().is_none()).then(|| text.clone())
}

/// The text that the receiver gets.
pub fn decode(channel: Channel, rendering: &Rendering) -> Option<Vec<u8>> {
    let words = match &rendering.form {
        Form::Words(words) => words,
        Form::Text(line) if channel == Channel::Base64 => return capsule::open(line, &[]),
        Form::Text(_) | Form::Document(_) => return None,
    };
    let file = |path: &Vec<u8>| rendering.files.iter().find(|f| f.path == *path);
    match (channel, words.as_slice()) {
        (Channel::Script, [bash, path]) if bash == b"bash" => file(path).map(|f| f.bytes.clone()),
        (Channel::Memfd, [bash, path]) if bash == b"bash" => {
            file(path).filter(|f| f.mode == Mode::Memory).map(|f| f.bytes.clone())
        }
        (Channel::Stub, [path]) => capsule::open(path, &rendering.files),
        (Channel::Stdin, words) => match &rendering.input {
            Input::Bytes(bytes) if bash_text(words)? == FROM_INPUT => Some(bytes.clone()),
            Input::Bytes(_) | Input::Inherit | Input::Null => None,
        },
        (Channel::Environment, words) if bash_text(words)? == FROM_VARIABLE => {
            let variable = rendering.environment.iter().find(|(name, _)| name == VARIABLE);
            variable.map(|(_, value)| value.clone())
        }
        (Channel::Argv, words) => bash_text(words),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_begins_with_a_dash_is_no_option() {
        for text in [&b"-x"[..], b"--", b"+e", b"-c"] {
            assert_eq!(bash_text(&bash(text)).unwrap(), text);
        }
        assert_eq!(bash_text(&owned(&[b"bash", b"-c", b"-x"])), None);
        assert_eq!(bash_text(&owned(&[b"bash", b"x"])), None);
    }
}
