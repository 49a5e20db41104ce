//! Starts a client with agent-sh in its path; nothing of it outlasts the client.
//!
//! In: a client's command line. Out: never returns but for an error. Never: starts a client whose shell
//! would not be agent-sh.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::agents::{self, Agent, Reach};
use super::program;
use super::stage::{self, SHELLS, Stage};
use crate::invocation::shell::{self, Candidates, ShellName};

/// Why a client was not started.
#[derive(Debug)]
pub struct StartError(String);

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StartError {}

/// What to start.
#[derive(Debug)]
pub struct Order<'a> {
    pub command: &'a [OsString],
    /// The agent that it is, where its program's name doesn't say it.
    pub agent: Option<&'static Agent>,
}

/// Becomes the client.
///
/// # Errors
/// It is not there, or agent-sh can't be put in its path.
pub fn start(order: &Order<'_>, candidates: &Candidates) -> Result<std::convert::Infallible, StartError> {
    let (name, arguments) =
        order.command.split_first().ok_or_else(|| StartError("no client was named".to_owned()))?;
    let path = std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/local/bin:/usr/bin:/bin"));
    let client = program::on_path(name, &path).ok_or_else(|| {
        StartError(format!("{} is not on PATH", crate::text::escape(&name.to_string_lossy())))
    })?;
    let agent = order.agent.or_else(|| agent_of(&client)).unwrap_or(&agents::UNKNOWN);
    let own = program::agent_sh().map_err(StartError)?;
    let places = match agent.reach {
        Reach::Places(places) => places,
        Reach::Path | Reach::Hook => &[],
    };
    let stage = match (stage::enter(places, &own, candidates), agent.reach) {
        (Ok(stage), _) => stage,
        (Err(_), Reach::Path | Reach::Hook) => plain(&own, candidates)?,
        (Err(error), Reach::Places(_)) => {
            return Err(StartError(format!(
                "{} has its shell's path built in, and {error}",
                client.display()
            )));
        }
    };
    let mut command = command(&client, arguments, &stage);
    command.env("PATH", prepended(&stage.shims, &path)).env("SHELL", stage.shims.join("bash"));
    for variable in agent.variables {
        command.env(variable, stage.shims.join("bash"));
    }
    let error = command.exec();
    Err(StartError(format!("cannot start {}: {error}", client.display())))
}

fn agent_of(client: &Path) -> Option<&'static Agent> {
    agents::of_program(client.file_name()?.to_str()?)
}

fn prepended(shims: &Path, path: &OsStr) -> OsString {
    let mut out = shims.as_os_str().to_owned();
    out.push(":");
    out.push(path);
    out
}

/// A client that is itself a shell script is no model's text: the real shell reads it.
fn command(client: &Path, arguments: &[OsString], stage: &Stage) -> Command {
    let mut command = match program::shell_of_script(client) {
        Some((shell, words)) => {
            let mut command = Command::new(stage.real.join(shell.name()));
            command.arg0(shell.place()).args(words).arg(client);
            command
        }
        None => Command::new(client),
    };
    command.args(arguments);
    command
}

/// Without a namespace: root's folder of shells where it is installed, else one that lasts as long as the login.
fn plain(own: &Path, candidates: &Candidates) -> Result<Stage, StartError> {
    for base in ["/usr/lib/agent-sh", "/usr/local/lib/agent-sh"] {
        let shims = Path::new(base).join("shim");
        if program::is_agent_sh(&shims.join("bash")) && program::is_agent_sh(&shims.join("sh")) {
            return real_folder(candidates).map(|real| Stage { shims, real });
        }
    }
    let uid = nix::unistd::geteuid().as_raw();
    let top = PathBuf::from(format!("/run/user/{uid}"));
    if !std::fs::symlink_metadata(&top).is_ok_and(|meta| meta.is_dir() && meta.uid() == uid) {
        let what = "there is no place for a folder of shells: no mount namespace, no /usr/lib/agent-sh/shim, \
                    no /run/user; have root make links bash, sh, dash, zsh to agent-sh in /usr/lib/agent-sh/shim";
        return Err(StartError(what.to_owned()));
    }
    let shims = top.join("agent-sh/shim");
    let fails = |error: std::io::Error| StartError(format!("cannot make {}: {error}", shims.display()));
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&shims).map_err(fails)?;
    for name in SHELLS.map(ShellName::name) {
        let place = shims.join(name);
        if std::fs::read_link(&place).is_ok_and(|target| target == own) {
            continue;
        }
        drop(std::fs::remove_file(&place));
        if shell::find(name.as_bytes(), candidates).is_ok() {
            symlink(own, &place).map_err(fails)?;
        }
    }
    real_folder(candidates).map(|real| Stage { shims, real })
}

/// Where the real bash lies when nothing covers it.
fn real_folder(candidates: &Candidates) -> Result<PathBuf, StartError> {
    let shell = shell::find(b"bash", candidates).map_err(|error| StartError(error.to_string()))?;
    let path = PathBuf::from(shell.path.to_string_lossy().into_owned());
    path.parent().map(Path::to_owned).ok_or_else(|| StartError("the real bash has no folder".to_owned()))
}
