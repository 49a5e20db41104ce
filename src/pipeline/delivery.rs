//! The walk of a text that another program hands on: judged, recorded, laid, started.
//!
//! In: a text, a way of channels, its rendering. Out: the status of what was started, or why nothing was.
//! Never: starts a text that was not judged as what arrives.

use std::fmt;

use super::hearing::{Case, Hearing};
use super::{denied, joined};
use crate::decision::Decision;
use crate::envelope::Envelope;
use crate::exec::start::start;
use crate::fidelity::channel::name::{Channel, StdinPolicy, Step};
use crate::fidelity::channel::path;
use crate::fidelity::channel::stage::Laid;
use crate::invocation::context::Context;
use crate::resolution::{Course, Person};
use crate::text::judged;

/// Nothing was started, or it could not be.
#[derive(Debug)]
pub enum Undelivered {
    /// What to say, several lines.
    Denied(String),
    Failed(std::io::Error),
}

impl fmt::Display for Undelivered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied(message) => f.write_str(message.trim_end()),
            Self::Failed(error) => write!(f, "the first program on the way did not start: {error}"),
        }
    }
}

impl std::error::Error for Undelivered {}

/// Judges what arrives where it arrives, records it, and starts the way.
pub fn deliver(text: &[u8], steps: &[Step], context: &Context, laid: &Laid) -> Result<u8, Undelivered> {
    let hearing = Hearing::open().map_err(|end| Undelivered::Denied(end.to_string()))?;
    let shown = as_written(text, steps);
    let text = judged(&shown);
    let decision: Decision =
        joined::verify(&text, &Envelope::bare(&text), context, &hearing.policy, &hearing.world);
    let resolved = joined::resolve(&decision, &hearing.policy);
    let case = Case { course: Course::Resolved(resolved), ..Case::of(&shown, &decision) };
    let Some(warrant) = decision.leave(resolved, hearing.policy.temper().enforcement) else {
        return Err(Undelivered::Denied(denied(&hearing, case, &Person::NotNeeded).to_string()));
    };
    let logged = hearing.hand_on(warrant, case).map_err(|end| Undelivered::Denied(end.to_string()))?;
    start(logged, laid).map_err(Undelivered::Failed)
}

/// The whole as a person would have written it, with the text in plain sight: no capsule hides it from the judge.
fn as_written(text: &[u8], steps: &[Step]) -> Vec<u8> {
    let visible: Vec<Step> = steps.iter().filter_map(plain).collect();
    let mut shown = path::render(text, &visible, StdinPolicy::Keep, "/nowhere")
        .ok()
        .and_then(|rendering| rendering.shell_text())
        .unwrap_or_default();
    if shown.is_empty() {
        // too long as one word: the text, and the way with nothing on it
        shown = text.to_vec();
        let way = path::render(b"true", &visible, StdinPolicy::Keep, "/nowhere").ok();
        shown.push(b'\n');
        shown.extend(way.and_then(|rendering| rendering.shell_text()).unwrap_or_default());
    }
    for step in steps {
        match step.channel.name() {
            "cron" => shown.extend_from_slice(b"\ncrontab - </dev/null"),
            "at" => shown.extend_from_slice(b"\nat now </dev/null"),
            _ => {}
        }
    }
    shown
}

/// The steps that change user, machine or container, in the form of an argument.
fn plain(step: &Step) -> Option<Step> {
    let channel = match step.channel {
        Channel::SudoLogin => Channel::Sudo,
        same @ (Channel::Ssh
        | Channel::Su
        | Channel::Sudo
        | Channel::Podman
        | Channel::Docker
        | Channel::Kubectl) => same,
        Channel::Argv
        | Channel::Script
        | Channel::Stub
        | Channel::Memfd
        | Channel::Stdin
        | Channel::Environment
        | Channel::Base64
        | Channel::Tmux
        | Channel::Screen
        | Channel::Pty
        | Channel::Cron
        | Channel::At
        | Channel::Make
        | Channel::Xargs
        | Channel::Find
        | Channel::Parallel
        | Channel::Dockerfile
        | Channel::Json
        | Channel::Yaml
        | Channel::PowerShell
        | Channel::PowerShellNative
        | Channel::Msys
        | Channel::Cmd => return None,
    };
    Some(Step { channel, to: step.to.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_judge_sees_the_text_where_it_arrives() {
        let step = |channel, to: &str| Step { channel, to: Some(to.as_bytes().to_vec()) };
        let shown = |steps: &[Step]| String::from_utf8(as_written(b"rm -rf build", steps)).unwrap();
        assert_eq!(shown(&[step(Channel::Tmux, "work")]), "rm -rf build\n");
        assert_eq!(
            shown(&[step(Channel::Ssh, "box"), step(Channel::SudoLogin, "bob"), step(Channel::Base64, "")]),
            "ssh -T box 'exec bash -c -- '\\''sudo -u bob -- bash -c -- '\\''\\'\\'''\\''rm -rf build'\\''\\'\\'''\\'''\\'''"
        );
        assert_eq!(shown(&[step(Channel::At, "noon")]), "rm -rf build\n\nat now </dev/null");
    }
}
