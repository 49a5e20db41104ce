//! Channels to another user, machine or container: ssh, su, sudo, podman and docker exec, kubectl exec.
//!
//! In: an [`Order`]. Out: a [`Rendering`]; and the way back. Never: leaves words to be joined by a hop.

use crate::fidelity::channel::capsule::{self, Capsule};
use crate::fidelity::channel::domain::{Refusal, WORD, Why};
use crate::fidelity::channel::local::{FROM_INPUT, bash, bash_text, owned};
use crate::fidelity::channel::name::{Channel, StdinPolicy};
use crate::fidelity::channel::rendering::{Form, Input, Order, Rendering};
use crate::fidelity::channel::words;

/// `--to` as words: options of the program, then host, user, container or pod.
pub fn target(order: &Order<'_>) -> Vec<Vec<u8>> {
    let to = order.to.unwrap_or_default();
    to.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).map(<[u8]>::to_vec).collect()
}

/// A call of bash as one word, for a login shell of unknown kind.
fn exec_bash(text: &[u8]) -> Vec<u8> {
    [b"exec ", &words::join(&bash(text))[..]].concat()
}

/// Whether an argument is too long, so that the text has to go by standard input.
fn goes_by_input(channel: Channel, length: usize, stdin: StdinPolicy) -> Result<bool, Refusal> {
    match stdin {
        _ if length <= WORD => Ok(false),
        StdinPolicy::Null => Ok(true),
        StdinPolicy::Keep => {
            let why = Why::Size(length, WORD);
            Err(Refusal::new(channel, why, "use --stdin-policy null: then the text goes by standard input"))
        }
    }
}

/// Words of the program, the target, words after it.
fn around(before: &[&[u8]], order: &Order<'_>, after: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    [owned(before), target(order), after].concat()
}

/// One line for the remote login shell: the client joins its words by spaces, so it gets but one.
pub fn ssh(order: &Order<'_>) -> Rendering {
    match order.stdin {
        StdinPolicy::Null => Rendering::of_words(
            around(&[b"ssh", b"-T"], order, vec![FROM_INPUT.to_vec()]),
            Input::Bytes(order.text.to_vec()),
        ),
        StdinPolicy::Keep => {
            Rendering::of_words(around(&[b"ssh", b"-T"], order, vec![exec_bash(order.text)]), Input::Inherit)
        }
    }
}

/// One line for the user's own shell; a capsule, where it would be too long.
pub fn su(order: &Order<'_>) -> Result<Rendering, Refusal> {
    let mut line = exec_bash(order.text);
    let mut files = Vec::new();
    if line.len() > WORD {
        Capsule { line, files } = capsule::capsule(Channel::Su, order, WORD)?;
    }
    let words = around(&[b"su"], order, vec![b"-c".to_vec(), line]);
    Ok(Rendering { files, ..Rendering::of_words(words, Input::of(order.stdin)) })
}

/// A vector that sudo hands on as it is; a stub, where it would be too long.
pub fn sudo(order: &Order<'_>) -> Result<Rendering, Refusal> {
    let mut call = bash(order.text);
    let mut files = Vec::new();
    if order.text.len() > WORD {
        let line;
        Capsule { line, files } = capsule::stub(Channel::Sudo, order)?;
        call = vec![line];
    }
    let words = around(&[b"sudo", b"-u"], order, [vec![b"--".to_vec()], call].concat());
    Ok(Rendering { files, ..Rendering::of_words(words, Input::of(order.stdin)) })
}

/// `sudo -i` puts backslashes before most bytes and loses newlines: a path is all that it gets.
pub fn sudo_login(order: &Order<'_>) -> Result<Rendering, Refusal> {
    let Capsule { line, files } = capsule::stub(Channel::SudoLogin, order)?;
    let words = around(&[b"sudo", b"-i", b"-u"], order, vec![b"--".to_vec(), line]);
    Ok(Rendering { files, ..Rendering::of_words(words, Input::of(order.stdin)) })
}

/// podman, docker and kubectl: an argument vector all the way, or the text by standard input. On its way the vector is
/// JSON, in which what is not UTF-8 becomes U+FFFD without a word.
pub fn inside(channel: Channel, order: &Order<'_>) -> Result<Rendering, Refusal> {
    let is_unicode = std::str::from_utf8(order.text).is_ok();
    if !is_unicode && order.stdin == StdinPolicy::Keep {
        let instead = "use --stdin-policy null: then the text goes by standard input";
        return Err(Refusal::new(channel, Why::NotUnicode, instead));
    }
    let by_input = !is_unicode || goes_by_input(channel, order.text.len(), order.stdin)?;
    let mut words = owned(&[channel.name().as_bytes(), b"exec"]);
    if by_input || order.stdin == StdinPolicy::Keep {
        words.push(b"-i".to_vec());
    }
    words.append(&mut target(order));
    if channel == Channel::Kubectl {
        words.push(b"--".to_vec());
    }
    words.append(&mut bash(if by_input { FROM_INPUT } else { order.text }));
    let input = if by_input { Input::Bytes(order.text.to_vec()) } else { Input::of(order.stdin) };
    Ok(Rendering::of_words(words, input))
}

/// The text that the receiving bash gets.
pub fn decode(channel: Channel, rendering: &Rendering, to: &[Vec<u8>]) -> Option<Vec<u8>> {
    let Form::Words(words) = &rendering.form else { return None };
    let after = |before: &[&[u8]]| {
        let rest = words.strip_prefix(owned(before).as_slice())?;
        rest.strip_prefix(to)
    };
    if channel == Channel::Ssh {
        // the client joins its words by spaces; the remote login shell reads the line
        let line = after(&[b"ssh", b"-T"])?.join(&b' ');
        return if line == FROM_INPUT { from_input(rendering) } else { from_exec(&line) };
    }
    if channel == Channel::Su {
        return match after(&[b"su"])? {
            [c, line] if c == b"-c" => capsule::open(line, &rendering.files).or_else(|| from_exec(line)),
            _ => None,
        };
    }
    if channel == Channel::Sudo {
        return match after(&[b"sudo", b"-u"])?.strip_prefix(owned(&[b"--"]).as_slice())? {
            [path] => capsule::open(path, &rendering.files),
            words => bash_text(words),
        };
    }
    if channel == Channel::SudoLogin {
        return match after(&[b"sudo", b"-i", b"-u"])? {
            [dashes, path] if dashes == b"--" => capsule::open(path, &rendering.files),
            _ => None,
        };
    }
    let name = channel.name().as_bytes();
    let rest = after(&[name, b"exec", b"-i"]).or_else(|| after(&[name, b"exec"]))?;
    let rest = match rest {
        [dashes, rest @ ..] if channel == Channel::Kubectl && dashes == b"--" => rest,
        rest => rest,
    };
    let text = bash_text(rest)?;
    match &rendering.input {
        Input::Bytes(bytes) if text == FROM_INPUT => Some(bytes.clone()),
        Input::Bytes(_) => None,
        Input::Inherit | Input::Null => Some(text),
    }
}

fn from_input(rendering: &Rendering) -> Option<Vec<u8>> {
    match &rendering.input {
        Input::Bytes(bytes) => Some(bytes.clone()),
        Input::Inherit | Input::Null => None,
    }
}

fn from_exec(line: &[u8]) -> Option<Vec<u8>> {
    let read = words::read(line)?;
    match (read.words.as_slice(), read.feeder, read.null_input) {
        ([exec, rest @ ..], None, false) if exec == b"exec" => bash_text(rest),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fidelity::channel::name::Reach;

    #[test]
    fn a_text_too_long_for_an_argument_goes_by_standard_input_or_not_at_all() {
        let text = vec![b'x'; WORD + 1];
        let mut order = Order {
            text: &text,
            to: Some(b"box"),
            stdin: StdinPolicy::Null,
            reach: Reach::SameFiles,
            place: b"/tmp/x",
        };
        let rendering = inside(Channel::Podman, &order).unwrap();
        assert_eq!(rendering.input, Input::Bytes(text.clone()));
        assert_eq!(decode(Channel::Podman, &rendering, &[b"box".to_vec()]).unwrap(), text);
        order.stdin = StdinPolicy::Keep;
        assert_eq!(inside(Channel::Podman, &order).unwrap_err().why, Why::Size(WORD + 1, WORD));
        order.text = b"echo \xff";
        assert_eq!(inside(Channel::Docker, &order).unwrap_err().why, Why::NotUnicode);
        order.stdin = StdinPolicy::Null;
        assert_eq!(inside(Channel::Docker, &order).unwrap().input, Input::Bytes(b"echo \xff".to_vec()));
    }
}
