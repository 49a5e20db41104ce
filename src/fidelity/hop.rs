//! Hops and paths: how a text is handed on, and what the other side receives, as functions on bytes.
//!
//! In: PATH.toml, a text. Out: [`Path`], and what each hop makes of the text ([`Received`]).
//! Never: starts anything (the witness does); says that a text arrived where the receiver's own expansion
//! decides.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;

use crate::fidelity::step::{Cargo, Step, StepError};

/// A way from the model to the shell that runs its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    pub name: String,
    pub about: String,
    /// In the order in which the text passes them.
    pub hops: Vec<Hop>,
}

/// One hand-over: `received = f(sent)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    pub name: String,
    pub via: Via,
    /// What the sender hands over, made from the text: an argument vector, or one text.
    pub send: Vec<Template>,
    /// What the receiver does with it until a text to run is left.
    pub receive: Vec<Step>,
    /// Bytes that one argument may have (one of the send templates, rendered).
    pub limit: usize,
}

/// Where the sender puts what it hands over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Via {
    /// an argument vector, whose entry 0 is the program (execve)
    #[default]
    Argv,
    /// standard input of a program that is already running or started without the text
    Stdin,
    /// a file's content: crontab, Makefile, JSON, YAML
    File,
}

/// One word or text to send: literal pieces, and places where the text stands, encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pub pieces: Vec<TemplatePiece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplatePiece {
    Literal(String),
    /// `{text}`, or `{STEP STEP …}`: the text after these steps
    Text(Vec<Step>),
}

/// What is on the other side of a hop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    Text(Vec<u8>),
    /// The receiver's own expansion (variables, substitutions, globs) made some of it, here in an empty
    /// environment: in another one it may be other bytes, but it is not what was sent.
    Expanded(Vec<u8>),
    /// Nothing starts.
    Refused(StepError),
}

impl Received {
    /// The bytes that the next hop gets; `None` where nothing starts.
    pub fn text(&self) -> Option<&[u8]> {
        match self {
            Self::Text(text) | Self::Expanded(text) => Some(text),
            Self::Refused(_) => None,
        }
    }

    /// Whether it is the text, to the byte.
    pub fn is(&self, text: &[u8]) -> bool {
        match self {
            Self::Text(received) => received == text,
            Self::Expanded(_) | Self::Refused(_) => false,
        }
    }
}

/// A file that is no path, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathError(pub String);

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PathError {}

/// Bytes of the longest argument (`MAX_ARG_STRLEN` less the end mark).
pub const ARGUMENT: usize = 131_071;

/// Clients and common hops, ready to be followed.
const READY: &str = include_str!("paths/ready.toml");

#[derive(Deserialize)]
struct Ready {
    path: Vec<PathFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PathFile {
    name: String,
    #[serde(default)]
    about: String,
    hop: Vec<HopFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HopFile {
    name: String,
    #[serde(default)]
    via: Via,
    send: Vec<String>,
    #[serde(default)]
    receive: Vec<String>,
    limit: Option<usize>,
}

impl Path {
    /// Reads PATH.toml.
    ///
    /// # Errors
    /// It isn't TOML of this shape, has no hop, or names a step that there isn't.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let file: PathFile =
            toml::from_str(text).map_err(|error| PathError(crate::text::escape(error.message())))?;
        Self::from_file(file)
    }

    /// The paths that come with the program.
    ///
    /// # Errors
    /// None, as a test shows.
    pub fn ready() -> Result<Vec<Self>, PathError> {
        let file: Ready = toml::from_str(READY).map_err(|error| PathError(error.message().to_owned()))?;
        file.path.into_iter().map(Self::from_file).collect()
    }

    fn from_file(file: PathFile) -> Result<Self, PathError> {
        if file.hop.is_empty() {
            return Err(PathError("the path has no hop; add a [[hop]] table".to_owned()));
        }
        let hops = file.hop.into_iter().map(Hop::from_file).collect::<Result<_, _>>()?;
        Ok(Self { name: file.name, about: file.about, hops })
    }

    /// What each hop receives if the first is sent this text. Ends behind the first hop that starts nothing.
    pub fn trace(&self, text: &[u8]) -> Vec<Received> {
        let mut out: Vec<Received> = Vec::with_capacity(self.hops.len());
        let mut sent = text.to_vec();
        for hop in &self.hops {
            let received = hop.deliver(&sent);
            let next = received.text().map(<[u8]>::to_vec);
            out.push(received);
            let Some(next) = next else { break };
            sent = next;
        }
        out
    }
}

impl Hop {
    fn from_file(file: HopFile) -> Result<Self, PathError> {
        let wrong =
            |error: StepError| PathError(format!("hop `{}`: {error}", crate::text::escape(&file.name)));
        let send = file
            .send
            .iter()
            .map(|word| Template::parse(word))
            .collect::<Result<Vec<_>, _>>()
            .map_err(wrong)?;
        let receive =
            file.receive.iter().map(|step| Step::parse(step)).collect::<Result<_, _>>().map_err(wrong)?;
        let limit = file.limit.unwrap_or(if file.via == Via::Argv { ARGUMENT } else { usize::MAX });
        if send.is_empty() {
            return Err(PathError(format!("hop `{}` sends nothing", crate::text::escape(&file.name))));
        }
        Ok(Self { name: file.name, via: file.via, send, receive, limit })
    }

    /// What the sender hands over.
    ///
    /// # Errors
    /// A text that can't be encoded like this, or is too long for one argument.
    pub fn sent(&self, text: &[u8]) -> Result<Vec<Vec<u8>>, StepError> {
        let words = self.send.iter().map(|word| word.render(text)).collect::<Result<Vec<_>, _>>()?;
        if words.iter().any(|word| word.len() > self.limit) {
            return Err(StepError::TooLong { limit: self.limit });
        }
        if self.via == Via::Argv && words.iter().any(|word| word.contains(&0)) {
            return Err(StepError::Outside("an argument can't hold a zero byte"));
        }
        Ok(words)
    }

    /// What the receiver is left with.
    pub fn deliver(&self, text: &[u8]) -> Received {
        let sent = match self.sent(text) {
            Ok(words) => words,
            Err(error) => return Received::Refused(error),
        };
        let mut cargo = Cargo::words(sent);
        for step in &self.receive {
            cargo = match step.apply(cargo) {
                Ok(cargo) => cargo,
                Err(error) => return Received::Refused(error),
            };
        }
        match cargo.into_text() {
            Ok((text, false)) => Received::Text(text),
            Ok((text, true)) => Received::Expanded(text),
            Err(error) => Received::Refused(error),
        }
    }
}

impl Template {
    /// Reads one word; `{{` stands for a brace.
    ///
    /// # Errors
    /// An unknown step, or a brace that isn't closed.
    pub fn parse(written: &str) -> Result<Self, StepError> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = written;
        while let Some((before, after)) = rest.split_once('{') {
            literal.push_str(before);
            if let Some(after) = after.strip_prefix('{') {
                literal.push('{');
                rest = after;
                continue;
            }
            let (steps, behind) =
                after.split_once('}').ok_or_else(|| StepError::Unknown(format!("{{{after}")))?;
            if !literal.is_empty() {
                pieces.push(TemplatePiece::Literal(std::mem::take(&mut literal)));
            }
            let steps = steps.split_whitespace().filter(|step| *step != "text");
            pieces.push(TemplatePiece::Text(steps.map(Step::parse).collect::<Result<_, _>>()?));
            rest = behind;
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            pieces.push(TemplatePiece::Literal(literal));
        }
        Ok(Self { pieces })
    }

    fn render(&self, text: &[u8]) -> Result<Vec<u8>, StepError> {
        let mut out = Vec::with_capacity(text.len() + 16);
        for piece in &self.pieces {
            match piece {
                TemplatePiece::Literal(literal) => out.extend_from_slice(literal.as_bytes()),
                TemplatePiece::Text(steps) => {
                    let mut cargo = Cargo::text(text.to_vec());
                    for step in steps {
                        cargo = step.apply(cargo)?;
                    }
                    out.extend_from_slice(&cargo.into_text()?.0);
                }
            }
        }
        Ok(out)
    }

    /// Whether the text stands in it.
    pub fn carries_text(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, TemplatePiece::Text(_)))
    }

    /// As it is written in PATH.toml.
    pub fn written(&self) -> Cow<'_, str> {
        match self.pieces.as_slice() {
            [TemplatePiece::Literal(literal)] if !literal.contains('{') => Cow::Borrowed(literal),
            pieces => Cow::Owned(pieces.iter().map(written).collect()),
        }
    }
}

fn written(piece: &TemplatePiece) -> String {
    match piece {
        TemplatePiece::Literal(literal) => literal.replace('{', "{{"),
        TemplatePiece::Text(steps) if steps.is_empty() => "{text}".to_owned(),
        TemplatePiece::Text(steps) => {
            format!("{{{}}}", steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        }
    }
}

#[cfg(test)]
#[allow(
    clippy::wildcard_enum_match_arm,
    clippy::too_many_lines,
    clippy::needless_for_each,
    clippy::large_stack_arrays,
    clippy::items_after_statements,
    clippy::format_collect
)]
mod tests {
    use super::*;

    fn path(hops: &str) -> Path {
        Path::parse(&format!("name = \"t\"\n{hops}")).unwrap()
    }

    #[test]
    fn the_ready_paths_carry_a_plain_text_and_do_what_their_hops_are_known_for() {
        let ready = Path::ready().unwrap();
        let of = |name: &str| ready.iter().find(|path| path.name == name).unwrap_or_else(|| panic!("{name}"));
        let last = |name: &str, text: &str| of(name).trace(text.as_bytes()).pop().unwrap();
        let refuses = ["sudo-login-command", "kubectl-exec-string"];
        for path in &ready {
            // one word: the text that nothing changes
            let received = last(&path.name, "ls");
            let expected = if path.name == "null-input" { "ls < /dev/null" } else { "ls" };
            assert!(
                received.is(expected.as_bytes())
                    || path.name == "yaml-literal"
                    || path.name == "yaml-folded"
                    || path.name == "json-twice",
                "{}: {received:?}",
                path.name
            );
        }
        for name in refuses {
            assert!(matches!(last(name, "ls -l"), Received::Refused(_)), "{name}");
        }
        for (name, text, expected) in [
            ("ssh-words", "echo a b", "echo"),
            ("ssh", "echo 'a b'", "echo 'a b'"),
            ("claude-code", "echo 'it'\n", "echo 'it'\n"),
            ("claude-code-shell-quote-182", "a '!'", "a '\\!'"),
            ("sudo-login", "echo 'a b'\nid", "echo 'a b'id"),
            ("null-input", "a; b", "a; b < /dev/null"),
            ("env-s-quoted", "echo a\\nb", "echo a\\nb"),
            ("make-escaped", "echo $x", "echo $x"),
            ("make-oneshell", "a $x\nb", "a $x\nb"),
            ("screen", "a\\b^C", "ab"),
            ("tmux-keys", "a;", "a"),
            ("json-ssh-su", "a 'b' \"$c\"\n", "a 'b' \"$c\"\n"),
        ] {
            assert_eq!(
                last(name, text).text().map(String::from_utf8_lossy).as_deref(),
                Some(expected),
                "{name}"
            );
        }
        assert!(matches!(last("quoted-naively", "echo $x"), Received::Expanded(_)));
        assert!(matches!(last("gemini-cli", "a # b"), Received::Refused(_)));
        assert!(last("gemini-cli", "a | b").is(b"a | b"));
    }

    #[test]
    fn templates_are_read_as_they_are_written() {
        for word in ["-c", "{text}", "echo {sq}; {json sq}", "{{a}", "a{{{text}b"] {
            assert_eq!(Template::parse(word).unwrap().written(), word);
        }
        for wrong in ["{text", "{nosuch}"] {
            assert!(Template::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_text_is_handed_from_hop_to_hop() {
        let path = path(
            "[[hop]]\nname = 'a'\nsend = ['sh', '-c', '{text}']\nreceive = ['after:-c']\n\
             [[hop]]\nname = 'b'\nsend = ['x', '{dq-naive}']\nreceive = ['argument:1', 'shell', 'argument:0']\n",
        );
        let received = path.trace(b"echo 'a'");
        assert_eq!(received, [Received::Text(b"echo 'a'".to_vec()), Received::Text(b"echo 'a'".to_vec())]);
    }

    #[test]
    fn an_argument_that_is_too_long_or_holds_zero_starts_nothing() {
        let path = path("[[hop]]\nname = 'a'\nsend = ['sh', '-c', '{text}']\nreceive = ['after:-c']\n");
        assert!(path.trace(&[b'a'; ARGUMENT])[0].is(&[b'a'; ARGUMENT]));
        assert_eq!(
            path.trace(&[b'a'; ARGUMENT + 1]),
            [Received::Refused(StepError::TooLong { limit: ARGUMENT })]
        );
        assert!(matches!(path.trace(b"a\0b")[..], [Received::Refused(StepError::Outside(_))]));
    }

    #[test]
    fn a_file_of_another_shape_is_refused_with_a_reason() {
        for (text, says) in [
            ("name = 'x'\nhop = []", "no hop"),
            ("name = 'x'\n[[hop]]\nname = 'a'\nsend = ['{nosuch}']", "hop `a`: there is no step `nosuch`"),
            ("name = 'x'\n[[hop]]\nname = 'a'\nsend = []", "sends nothing"),
            ("name = 'x'\n[[hop]]\nname = 'a'\nsned = []", "unknown field"),
        ] {
            let error = Path::parse(text).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
