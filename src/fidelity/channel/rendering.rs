//! What a channel makes of a text: words to execute, shell text or a document, with the input and files that
//! belong to it.
//!
//! In: parts. Out: [`Rendering`], and the shell text by which an outer hop carries it.
//! Never: writes a file.

use crate::fidelity::channel::name::Reach;
use crate::fidelity::channel::name::StdinPolicy;
use crate::fidelity::channel::words;

/// What is handed to the receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// An argument vector, for execve(2).
    Words(Vec<Vec<u8>>),
    /// One line for any POSIX shell.
    Text(Vec<u8>),
    /// Part of a file in a format of its own: a value, a line of a crontab, a Windows command line.
    Document(Vec<u8>),
}

/// The standard input that belongs to a rendering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    Inherit,
    Null,
    Bytes(Vec<u8>),
}

impl Input {
    /// The input of a rendering that carries nothing on it.
    pub fn of(policy: StdinPolicy) -> Self {
        match policy {
            StdinPolicy::Keep => Self::Inherit,
            StdinPolicy::Null => Self::Null,
        }
    }
}

/// A file that must be there before the rendering is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staged {
    pub path: Vec<u8>,
    pub bytes: Vec<u8>,
    pub mode: Mode,
}

/// Who may do what with a staged file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// 0600
    Data,
    /// 0700
    Program,
    /// No file: an anonymous sealed one, whose descriptor's number stands in the words in the place of its path.
    Memory,
}

/// A text as one channel carries it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendering {
    pub form: Form,
    pub input: Input,
    pub environment: Vec<(Vec<u8>, Vec<u8>)>,
    pub files: Vec<Staged>,
}

impl Rendering {
    /// Words that find `input`, and nothing else.
    pub fn of_words(words: Vec<Vec<u8>>, input: Input) -> Self {
        Self { form: Form::Words(words), input, environment: Vec::new(), files: Vec::new() }
    }

    /// A document.
    pub fn of_document(bytes: Vec<u8>) -> Self {
        Self {
            form: Form::Document(bytes),
            input: Input::Inherit,
            environment: Vec::new(),
            files: Vec::new(),
        }
    }

    /// The whole as shell text, which any POSIX shell reads as the same words, input and environment; none for a
    /// document.
    pub fn shell_text(&self) -> Option<Vec<u8>> {
        let mut command = match &self.form {
            Form::Words(list) => {
                let assigned: Vec<Vec<u8>> =
                    self.environment.iter().map(|(n, v)| [n, &b"="[..], v].concat()).collect();
                let prefix = if assigned.is_empty() { Vec::new() } else { vec![b"env".to_vec()] };
                words::join(prefix.iter().chain(&assigned).chain(list))
            }
            Form::Text(text) => text.clone(),
            Form::Document(_) => return None,
        };
        match &self.input {
            Input::Inherit => {}
            Input::Null => command.extend_from_slice(b" </dev/null"),
            Input::Bytes(bytes) => {
                // an item that ends in a null byte: printf writes it, a word can't hold it
                let (mut piped, word) = match bytes.strip_suffix(b"\0") {
                    Some(item) => (b"printf '%s\\0' ".to_vec(), item),
                    None => (b"printf %s ".to_vec(), bytes.as_slice()),
                };
                words::quote(word, &mut piped);
                piped.extend_from_slice(b" | ");
                piped.append(&mut command);
                command = piped;
            }
        }
        Some(command)
    }
}

/// What one channel is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    pub text: &'a [u8],
    pub to: Option<&'a [u8]>,
    pub stdin: StdinPolicy,
    pub reach: Reach,
    /// Absolute path without special characters, to which `.data` and `.run` are added for files.
    pub place: &'a [u8],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_text_carries_words_input_and_environment() {
        let mut r =
            Rendering::of_words(vec![b"bash".to_vec(), b"-c".to_vec(), b"a 'b'".to_vec()], Input::Null);
        assert_eq!(r.shell_text().unwrap(), b"bash -c 'a '\\''b'\\''' </dev/null");
        r.environment.push((b"V".to_vec(), b"x y".to_vec()));
        r.input = Input::Bytes(b"in".to_vec());
        assert_eq!(
            String::from_utf8(r.shell_text().unwrap()).unwrap(),
            "printf %s in | env 'V=x y' bash -c 'a '\\''b'\\'''"
        );
        assert_eq!(Rendering::of_document(b"x".to_vec()).shell_text(), None);
    }
}
