//! `agent-shctl deliver`: judges a text, hands it on through channels that cannot change it, and waits.
//!
//! In: a text, a way of channels. Out: what the command prints, and its status. 126: nothing was started.
//! Never: starts what was refused, by the judge or by a channel.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{ArgMatches, Command};

use crate::cli::context::{Asked, context, own_environment};
use crate::cli::render;
use crate::fidelity::channel::local::owned;
use crate::fidelity::channel::name::{Channel, Step};
use crate::fidelity::channel::path;
use crate::fidelity::channel::rendering::{Form, Input, Mode, Rendering};
use crate::fidelity::channel::stage;
use crate::pipeline::delivery::{Undelivered, deliver};

/// Adds a line to the crontab that is there.
const ADD: &[u8] = b"{ crontab -l 2>/dev/null; cat; } | crontab -";

pub fn command() -> Command {
    render::way(Command::new("deliver"))
        .about("Judge a text and hand it on through channels that cannot change it, or refuse")
}

pub fn run(options: &ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let (steps, stdin, text) =
        (render::steps(options)?, render::stdin_policy(options), render::text(options)?);
    out.flush()?;
    let parent = options.get_one::<String>("dir").map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = Folder(render::folder(&parent)?);
    let place = folder.0.join("text");
    let rendering =
        match path::render(&text, &steps, stdin, place.to_str().context("the folder's name is not UTF-8")?) {
            Ok(rendering) => rendering,
            Err(refusal) => return refuse(&refusal.to_string()),
        };
    let rendering = installed(rendering, &steps);
    let reader = reader(&steps, &rendering)?;
    if let Some((user, group)) = reader {
        std::os::unix::fs::chown(&folder.0, Some(user), Some(group)).context("cannot hand the folder on")?;
    }
    let laid = match stage::lay(&rendering, reader) {
        Ok(laid) => laid,
        Err(error) => return refuse(&error.to_string()),
    };
    let asked = context(Asked::default(), &own_environment());
    let status = match deliver(&text, &steps, &asked, &laid) {
        Ok(status) => status,
        Err(Undelivered::Denied(message)) => {
            std::io::stderr().write_all(message.as_bytes())?;
            return Ok(ExitCode::from(126));
        }
        Err(error @ Undelivered::Failed(_)) => return Err(error.into()),
    };
    if steps.iter().any(|s| is_later(s.channel)) && status == 0 {
        let left = laid.leave();
        if !left.is_empty() {
            folder.keep();
        }
    }
    Ok(ExitCode::from(status))
}

fn refuse(why: &str) -> anyhow::Result<ExitCode> {
    std::io::stderr().write_all(format!("agent-shctl: refused: {why}\n").as_bytes())?;
    Ok(ExitCode::from(126))
}

/// Removed at the end, unless something needs it later.
#[derive(Debug)]
struct Folder(PathBuf);

impl Folder {
    fn keep(mut self) {
        self.0 = PathBuf::new();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.0 != Path::new("") {
            drop(std::fs::remove_dir(&self.0));
        }
    }
}

/// Whether a channel starts the text after it has returned.
fn is_later(channel: Channel) -> bool {
    matches!(channel, Channel::Tmux | Channel::Screen | Channel::Cron | Channel::At)
}

/// A crontab's line is put into the crontab.
fn installed(rendering: Rendering, steps: &[Step]) -> Rendering {
    match (steps.first().map(|s| s.channel), &rendering.form) {
        (Some(Channel::Cron), Form::Document(line)) => {
            let words = Rendering::of_words(owned(&[b"sh", b"-c", ADD]), Input::Bytes(line.clone()));
            Rendering { files: rendering.files, ..words }
        }
        _ => rendering,
    }
}

/// Who has to be able to read the files, where a hop changes the user.
fn reader(steps: &[Step], rendering: &Rendering) -> anyhow::Result<Option<(u32, u32)>> {
    if !rendering.files.iter().any(|f| f.mode != Mode::Memory) {
        return Ok(None);
    }
    let changes = |s: &&Step| matches!(s.channel, Channel::Su | Channel::Sudo | Channel::SudoLogin);
    let Some(step) = steps.iter().rev().find(changes) else { return Ok(None) };
    let to = String::from_utf8_lossy(step.to.as_deref().unwrap_or_default()).into_owned();
    let name = to.split_whitespace().last().unwrap_or_default();
    let user = nix::unistd::User::from_name(name)?
        .with_context(|| format!("no user is called {}", crate::text::escape(name)))?;
    let own = nix::unistd::geteuid();
    anyhow::ensure!(
        user.uid.is_root() || user.uid == own || own.is_root(),
        "user {} could not read the files that this way needs; use a channel without files inside of {}",
        crate::text::escape(name),
        step.channel
    );
    Ok((user.uid != own).then(|| (user.uid.as_raw(), user.gid.as_raw())))
}
