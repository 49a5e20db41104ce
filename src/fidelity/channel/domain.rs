//! What each channel can carry unchanged, as data, and the refusal outside of it.
//!
//! In: a channel, a text, what is wanted on standard input. Out: [`Refusal`] with hop, reason and way out.
//! Never: lets a text through in the hope that it will do.

use std::fmt;

use crate::fidelity::channel::name::Channel;
use crate::fidelity::channel::name::Reach;
use crate::fidelity::channel::name::StdinPolicy;
use crate::fidelity::channel::rendering::{Form, Order, Rendering};

/// Longest argument or environment string on Linux, without its null byte (`MAX_ARG_STRLEN`).
pub const WORD: usize = 131_071;
/// What arguments and environment may take together, with room for the receiver's own.
const VECTOR: usize = 1_900_000;
const UNBOUNDED: usize = 64 << 20;

/// The bytes that a channel can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bytes {
    /// All but NUL, which no shell can read.
    Any,
    /// UTF-8 without NUL.
    Unicode,
}

/// How many lines it can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    Any,
    One,
}

/// What it can do for standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// Both what the caller has and nothing.
    Either,
    /// The text itself, a terminal or a daemon takes its place.
    OnlyNull,
}

/// What a channel carries unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain {
    /// Most bytes of the text (the rendered form is checked again).
    pub size: usize,
    pub bytes: Bytes,
    pub lines: Lines,
    pub stdin: Stdin,
    /// Whether it works only where files laid here can be read.
    pub reach: Reach,
}

/// The domain of a channel. Where [`super::capsule`] stands in for a text that the raw form could not carry, it is
/// that of the two together.
pub fn domain(channel: Channel) -> Domain {
    let word = Domain {
        size: WORD,
        bytes: Bytes::Any,
        lines: Lines::Any,
        stdin: Stdin::Either,
        reach: Reach::OtherFiles,
    };
    let files = Domain { size: UNBOUNDED, reach: Reach::SameFiles, ..word };
    let document = Domain { bytes: Bytes::Unicode, size: UNBOUNDED, ..word };
    match channel {
        Channel::Argv => word,
        Channel::Environment => Domain { size: WORD - "AGENT_SH_TEXT=".len(), ..word },
        Channel::Script | Channel::Stub | Channel::Memfd | Channel::SudoLogin => files,
        Channel::Base64 => Domain { size: 98_000, stdin: Stdin::OnlyNull, ..word },
        // beyond one argument the body goes by standard input; others carry a capsule
        Channel::Su
        | Channel::Sudo
        | Channel::Ssh
        | Channel::Podman
        | Channel::Docker
        | Channel::Kubectl
        | Channel::Tmux
        | Channel::Screen
        | Channel::Pty
        | Channel::Make
        | Channel::Find => Domain { size: UNBOUNDED, ..word },
        Channel::Stdin | Channel::Cron | Channel::At | Channel::Parallel | Channel::Xargs => {
            Domain { size: UNBOUNDED, stdin: Stdin::OnlyNull, ..word }
        }
        Channel::Dockerfile => Domain { size: 65_000, stdin: Stdin::OnlyNull, ..word },
        Channel::Json | Channel::Yaml => document,
        Channel::PowerShell => Domain { size: 4 * 12_000, ..document },
        Channel::PowerShellNative | Channel::Msys => Domain { size: 4 * 32_766, ..document },
        Channel::Cmd => Domain { size: 4 * 8_191, lines: Lines::One, ..document },
    }
}

/// Why a channel does not carry a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    Nul,
    NotUnicode,
    /// More than one line.
    Lines,
    /// Bytes there are, bytes it can carry.
    Size(usize, usize),
    /// Standard input was to be kept.
    Stdin,
    /// What the receiver would read as something else.
    Holds(&'static str),
    /// The receiver cannot see files that are laid here.
    OtherFiles,
    /// What has to be said by `--to`.
    Target(&'static str),
    /// A descriptor of this process cannot be handed through another program.
    Descriptor,
    /// A document where a command has to stand.
    Document,
    /// The folder for staged files has a name that would have to be quoted.
    Folder,
    /// The decoder did not find the text again: a fault of ours, caught.
    Undecoded,
}

/// A text that is not handed on. Nothing was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub channel: Channel,
    /// Place of the hop on the way, from 1 for the outermost.
    pub hop: usize,
    pub why: Why,
    pub instead: &'static str,
}

impl Refusal {
    pub fn new(channel: Channel, why: Why, instead: &'static str) -> Self {
        Self { channel, hop: 1, why, instead }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hop {} ({}): ", self.hop, self.channel)?;
        match self.why {
            Why::Nul => f.write_str("the text holds a NUL byte, which no shell can read"),
            Why::NotUnicode => f.write_str("the text is not UTF-8, which this channel needs"),
            Why::Lines => f.write_str("the text has more than one line"),
            Why::Size(have, limit) => write!(f, "{have} bytes, of which it carries {limit}"),
            Why::Stdin => f.write_str("it cannot keep the command's standard input"),
            Why::Holds(what) => write!(f, "the text holds {what}, which the receiver would change"),
            Why::OtherFiles => f.write_str("the receiver cannot read files that are laid here"),
            Why::Target(what) => write!(f, "it has to be told where to go: --to {what}"),
            Why::Descriptor => f.write_str("it hands on a descriptor, which only the outermost hop can"),
            Why::Document => f.write_str("it gives a document, no command; only the outermost hop may"),
            Why::Folder => f.write_str("the folder's name has characters that would have to be quoted"),
            Why::Undecoded => f.write_str("the rendering was not read as the same text again"),
        }?;
        write!(f, "; nothing was started; {}", self.instead)
    }
}

/// Where else a text that a channel does not carry can go.
fn instead(channel: Channel, why: Why) -> &'static str {
    match (why, channel) {
        (Why::Nul, _) => "take the byte out: bash would drop it without a word",
        (Why::NotUnicode, Channel::Json) => "use --channel json,base64",
        (Why::NotUnicode, Channel::Yaml) => "use --channel yaml,base64",
        (Why::Stdin, _) => "use --stdin-policy null, or the channel script, stub, argv or ssh",
        (Why::Size(..), Channel::Argv | Channel::Environment | Channel::Base64) => {
            "use the channel script, stub, memfd or stdin"
        }
        (Why::Lines, Channel::Cmd) => "write the lines to a .cmd file",
        (Why::OtherFiles, _) => {
            "use the channel base64, argv or stdin inside the hop that leaves this machine"
        }
        _ => "put the text into a file and hand on the file",
    }
}

/// Checks a text against a channel's domain, before it is rendered.
pub fn check(channel: Channel, order: &Order<'_>) -> Result<(), Refusal> {
    let domain = domain(channel);
    let text = order.text;
    let why = if memchr::memchr(0, text).is_some() {
        Why::Nul
    } else if text.len() > domain.size {
        Why::Size(text.len(), domain.size)
    } else if domain.bytes == Bytes::Unicode && std::str::from_utf8(text).is_err() {
        Why::NotUnicode
    } else if domain.lines == Lines::One && text.iter().any(|b| matches!(b, b'\n' | b'\r')) {
        Why::Lines
    } else if domain.stdin == Stdin::OnlyNull && order.stdin == StdinPolicy::Keep {
        Why::Stdin
    } else if domain.reach == Reach::SameFiles && order.reach == Reach::OtherFiles {
        Why::OtherFiles
    } else if !channel.target().is_empty() && order.to.is_none_or(<[u8]>::is_empty) {
        return Err(Refusal::new(channel, Why::Target(channel.target()), "say it"));
    } else {
        return Ok(());
    };
    Err(Refusal::new(channel, why, instead(channel, why)))
}

/// Checks what came out: the kernel's limits hold for every rendering that is executed.
pub fn check_rendered(channel: Channel, rendering: &Rendering) -> Result<(), Refusal> {
    let assigned = rendering.environment.iter().map(|(n, v)| n.len() + v.len() + 1);
    let mut lengths: Vec<usize> = assigned.collect();
    match &rendering.form {
        Form::Words(words) => lengths.extend(words.iter().map(Vec::len)),
        Form::Text(text) => lengths.push(text.len()),
        Form::Document(_) => {}
    }
    let refuse = |have, limit| {
        let why = Why::Size(have, limit);
        Err(Refusal::new(channel, why, instead(channel, why)))
    };
    match lengths.iter().copied().max() {
        Some(longest) if longest > WORD => refuse(longest, WORD),
        _ => {
            let all = lengths.iter().map(|l| l + 9).sum();
            if all > VECTOR { refuse(all, VECTOR) } else { Ok(()) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(text: &[u8]) -> Order<'_> {
        Order { text, to: None, stdin: StdinPolicy::Null, reach: Reach::SameFiles, place: b"/tmp/x" }
    }

    #[test]
    fn refusals_name_hop_reason_and_way_out() {
        let long = vec![b'a'; 131_072];
        let cases: [(Channel, &[u8], &str); 4] = [
            (
                Channel::Argv,
                b"a\0b",
                "hop 1 (argv): the text holds a NUL byte, which no shell can read; nothing was started; take the byte out: bash would drop it without a word",
            ),
            (
                Channel::Json,
                b"\xff",
                "hop 1 (json): the text is not UTF-8, which this channel needs; nothing was started; use --channel json,base64",
            ),
            (
                Channel::Argv,
                &long,
                "hop 1 (argv): 131072 bytes, of which it carries 131071; nothing was started; use the channel script, stub, memfd or stdin",
            ),
            (
                Channel::Ssh,
                b"a",
                "hop 1 (ssh): it has to be told where to go: --to HOST; nothing was started; say it",
            ),
        ];
        for (channel, text, message) in cases {
            assert_eq!(check(channel, &order(text)).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn no_channel_takes_a_null_byte() {
        for channel in Channel::ALL {
            let order = Order { to: Some(b"x"), ..order(b"a\0") };
            assert_eq!(check(channel, &order).unwrap_err().why, Why::Nul, "{channel}");
        }
    }
}
