//! `agent-shctl install` and `uninstall`: a client's settings changed, and put back.
//!
//! In: agents, a scope. Out: what was done, a line for each file. Never: leaves one agent's half-made setup
//! unmentioned.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgGroup, Command};

use crate::setup::agents::{self, Agent};
use crate::setup::divert::{Layout, Place};
use crate::setup::ledger::{Ledger, Run};
use crate::setup::plan::{self, Part, Places, Scope};
use crate::setup::program;
use crate::text::escape;

fn common(command: Command) -> Command {
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    command
        .arg(
            Arg::new("agent")
                .value_name("AGENT")
                .num_args(0..)
                .value_parser(agents::AGENTS.iter().map(|agent| agent.name).collect::<Vec<_>>())
                .help("which agents"),
        )
        .arg(flag("all", "every agent: for install those found on PATH, for uninstall those installed"))
        .arg(flag("user", "this user's settings (the default)"))
        .arg(flag("system", "the whole system's settings; needs root"))
        .arg(flag("dry-run", "say what would be changed, and change nothing"))
        .arg(flag("divert-sh", "no agent: agent-sh in the place of /bin/sh, for everybody; needs root"))
        .group(ArgGroup::new("which").args(["agent", "all", "divert-sh"]).required(true))
        .group(ArgGroup::new("scope").args(["user", "system"]))
}

/// The option table of `install`.
pub fn install_command() -> Command {
    common(Command::new("install"))
        .about("Put agent-sh into an agent's path: its settings, hook and a launcher; everything can be put back")
        .arg(
            Arg::new("hook-only")
                .long("hook-only")
                .action(ArgAction::SetTrue)
                .help("only the client's own hook, not its shell"),
        )
}

/// The option table of `uninstall`.
pub fn uninstall_command() -> Command {
    common(Command::new("uninstall")).about("Put back what install changed")
}

/// Puts agent-sh or the real sh into the place of /bin/sh.
fn place_of_sh(wanted: Place, run: Run, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let layout = Layout::of(std::path::Path::new("/"));
    let (now, then) = (
        layout.place(),
        match wanted {
            Place::AgentSh => {
                "agent-sh stands in the place of /bin/sh; the real one: /usr/lib/agent-sh/real/sh"
            }
            Place::Real => "the real sh stands in its place",
        },
    );
    match run {
        Run::Dry if now == wanted => writeln!(out, "nothing would change: {then}")?,
        Run::Dry => writeln!(out, "would change /bin/sh, so that {then}")?,
        Run::Real => {
            match wanted {
                Place::AgentSh => layout.divert()?,
                Place::Real => layout.restore()?,
            }
            writeln!(out, "{then}")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn scope(options: &clap::ArgMatches) -> Scope {
    if options.get_flag("system") { Scope::System } else { Scope::User }
}

fn mode(options: &clap::ArgMatches) -> Run {
    if options.get_flag("dry-run") { Run::Dry } else { Run::Real }
}

fn chosen(options: &clap::ArgMatches) -> Vec<&'static Agent> {
    if options.get_flag("all") {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let there = |agent: &&Agent| {
            agent.programs.iter().any(|name| program::on_path(name.as_ref(), &path).is_some())
        };
        return agents::AGENTS.iter().filter(there).collect();
    }
    let names = options.get_many::<String>("agent").unwrap_or_default();
    names.filter_map(|name| agents::named(name)).collect()
}

/// Installs.
///
/// # Errors
/// A file can't be changed; what was changed before it stays, and `uninstall` puts it back.
pub fn install(options: &clap::ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    if options.get_flag("divert-sh") {
        return place_of_sh(Place::AgentSh, mode(options), out);
    }
    let places = Places::of(scope(options)).map_err(anyhow::Error::msg)?;
    let run = mode(options);
    let part = if options.get_flag("hook-only") { Part::Hook } else { Part::All };
    let agents = chosen(options);
    if agents.is_empty() {
        anyhow::bail!("no agent that is known is on PATH; name the one to set up");
    }
    let mut ledger = Ledger::open(&places.state())?;
    for agent in agents {
        let changes = match plan::plan(agent, &places, part) {
            Ok(changes) => changes,
            Err(why) if options.get_flag("all") => {
                writeln!(out, "{}: skipped: {why}", agent.name)?;
                continue;
            }
            Err(why) => anyhow::bail!(why),
        };
        let mut made = 0;
        for change in &changes {
            let note = ledger.make(agent.name, change, run).with_context(|| {
                format!("{} is set up in part; `agent-shctl uninstall {0}` puts it back", agent.name)
            })?;
            if let Some(note) = note {
                made += 1;
                let would = if run == Run::Dry { "would change " } else { "" };
                writeln!(out, "{}: {would}{} ({})", agent.name, escape(&note.file), escape(&note.what))?;
            }
        }
        if made == 0 {
            writeln!(out, "{}: everything is in place already", agent.name)?;
        }
        if let Some(after) = afterwards(agent, part) {
            writeln!(out, "{}: {after}", agent.name)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What only the user can do.
fn afterwards(agent: &Agent, part: Part) -> Option<String> {
    let login = match part {
        Part::All => "log in again, so that its launcher comes first on PATH; then ",
        Part::Hook => "",
    };
    match agent.name {
        "codex" => Some(format!(
            "{login}start codex and trust the new hook when it asks; until then the hook does not run"
        )),
        _ if part == Part::All => {
            Some(format!("{login}`agent-shctl doctor {}` proves that it works", agent.name))
        }
        _ => None,
    }
}

/// Uninstalls.
///
/// # Errors
/// A file can't be put back; the ledger keeps what is still to do.
pub fn uninstall(options: &clap::ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    if options.get_flag("divert-sh") {
        return place_of_sh(Place::Real, mode(options), out);
    }
    let places = Places::of(scope(options)).map_err(anyhow::Error::msg)?;
    let run = mode(options);
    let mut ledger = Ledger::open(&places.state())?;
    let names: Vec<String> = if options.get_flag("all") {
        ledger.agents().into_iter().map(str::to_owned).collect()
    } else {
        chosen(options).into_iter().map(|agent| agent.name.to_owned()).collect()
    };
    for name in names {
        let notes = ledger.take_back(&name, run)?;
        if notes.is_empty() {
            writeln!(out, "{}: nothing of it was installed here", escape(&name))?;
        }
        for note in notes {
            let would = if run == Run::Dry { "would: " } else { "" };
            writeln!(out, "{}: {} {would}{}", escape(&name), escape(&note.file), note.what)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
