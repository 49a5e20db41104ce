//! Channels that type into a terminal: tmux, screen, and an interactive bash on a terminal of its own.
//!
//! In: an [`Order`]. Out: a [`Rendering`] of one short printable line; and the way back.
//! Never: types the text itself: a terminal's line discipline and an editor would read it.

use crate::fidelity::channel::capsule::{self, Capsule};
use crate::fidelity::channel::domain::{Refusal, Why};
use crate::fidelity::channel::local::owned;
use crate::fidelity::channel::name::Channel;
use crate::fidelity::channel::remote::target;
use crate::fidelity::channel::rendering::{Form, Input, Order, Rendering};

/// Longest typed line: macOS takes 1023 bytes of a line in canonical mode.
const TYPED: usize = 1000;
/// Longest argument of screen's `stuff` that is not cut.
const STUFFED: usize = 700;
/// The shell that pty types into: without start-up files, and it leaves no history.
const SHELL: &[u8] = b"HISTFILE= exec bash --norc --noprofile -i";

pub fn render(channel: Channel, order: &Order<'_>) -> Result<Rendering, Refusal> {
    let limit = if channel == Channel::Screen { STUFFED } else { TYPED };
    let Capsule { line, files } = capsule::capsule(channel, order, limit)?;
    let mut to = target(order);
    let rendering = if channel == Channel::Pty {
        let typed = [&line[..], b"\nexit\n"].concat();
        Rendering::of_words(owned(&[b"script", b"-qec", SHELL, b"/dev/null"]), Input::Bytes(typed))
    } else {
        let place = to.pop().ok_or_else(|| Refusal::new(channel, Why::Target(channel.target()), "say it"))?;
        let words = if channel == Channel::Tmux {
            let keys = owned(&[b"send-keys", b"-t", &place, b"-l", b"--", &line, b";"]);
            [owned(&[b"tmux"]), to, keys, owned(&[b"send-keys", b"-t", &place, b"Enter"])].concat()
        } else {
            let typed = [&line[..], b"\n"].concat();
            [owned(&[b"screen"]), to, owned(&[b"-S", &place, b"-X", b"stuff", &typed])].concat()
        };
        Rendering::of_words(words, Input::Null)
    };
    Ok(Rendering { files, ..rendering })
}

/// The text that the line typed stands for.
pub fn decode(channel: Channel, rendering: &Rendering) -> Option<Vec<u8>> {
    let Form::Words(words) = &rendering.form else { return None };
    let typed = match (channel, &rendering.input) {
        (Channel::Pty, Input::Bytes(typed)) => typed.strip_suffix(b"exit\n")?.to_vec(),
        (Channel::Tmux, _) => keys(words)?,
        (Channel::Screen, _) => stuffed(words)?,
        _ => return None,
    };
    let line = typed.strip_suffix(b"\n")?;
    // a terminal would act on any control byte
    if !line.iter().all(|b| b.is_ascii_graphic() || *b == b' ') {
        return None;
    }
    capsule::open(line, &rendering.files)
}

/// What tmux types for a vector: commands separated by words that end in `;`, of which send-keys counts.
fn keys(words: &[Vec<u8>]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let start = words.iter().position(|w| w == b"send-keys")?;
    for command in words.get(start..)?.split(|w| w.ends_with(b";")) {
        match command {
            [send, t, _, l, dashes, literal]
                if send == b"send-keys" && t == b"-t" && l == b"-l" && dashes == b"--" =>
            {
                out.extend_from_slice(literal);
            }
            [send, t, _, enter] if send == b"send-keys" && t == b"-t" && enter == b"Enter" => out.push(b'\n'),
            _ => return None,
        }
    }
    Some(out)
}

/// What screen stuffs: `\`, `^` and `$` would be read by it.
fn stuffed(words: &[Vec<u8>]) -> Option<Vec<u8>> {
    let (typed, before) = words.split_last()?;
    if !before.ends_with(&owned(&[b"-X", b"stuff"])) || typed.iter().any(|b| matches!(b, b'\\' | b'^' | b'$'))
    {
        return None;
    }
    Some(typed.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fidelity::channel::name::{Reach, StdinPolicy};

    #[test]
    fn what_is_typed_is_one_path_and_enter() {
        let order = Order {
            text: b"echo '!x'\n\tcat",
            to: Some(b"-L sock work:0"),
            stdin: StdinPolicy::Null,
            reach: Reach::SameFiles,
            place: b"/tmp/d/1",
        };
        let rendering = render(Channel::Tmux, &order).unwrap();
        let Form::Words(words) = &rendering.form else { panic!() };
        assert_eq!(
            String::from_utf8(words.join(&b' ')).unwrap(),
            "tmux -L sock send-keys -t work:0 -l -- /tmp/d/1.run ; send-keys -t work:0 Enter"
        );
        assert_eq!(decode(Channel::Tmux, &rendering).unwrap(), order.text);
    }

    #[test]
    fn a_line_too_long_to_be_typed_is_refused() {
        let text = vec![b'x'; 800];
        let order = Order {
            text: &text,
            to: Some(b"s"),
            stdin: StdinPolicy::Null,
            reach: Reach::OtherFiles,
            place: b"/tmp/d/1",
        };
        assert!(matches!(render(Channel::Screen, &order).unwrap_err().why, Why::Size(_, 700)));
    }
}
