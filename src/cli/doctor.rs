//! `agent-shctl doctor`: is agent-sh really in this agent's path?
//!
//! In: an agent or none. Out: lines for people or JSON; status 0 only if nothing fails. Never: changes anything.

use std::io::Write;
use std::process::ExitCode;

use clap::{Arg, ArgAction, Command};

use crate::cli::context::policy_in_force;
use crate::setup::agents;
use crate::setup::doctor::{self, State};
use crate::text::escape;

pub fn command() -> Command {
    Command::new("doctor")
        .about("Look whether agent-sh is really in an agent's path, and prove it with two commands")
        .arg(
            Arg::new("agent")
                .value_name("AGENT")
                .value_parser(agents::AGENTS.iter().map(|agent| agent.name).collect::<Vec<_>>())
                .help("which agent; without it, all that are installed"),
        )
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("print one JSON object a line"))
}

pub fn run(options: &clap::ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let agent = options.get_one::<String>("agent").and_then(|name| agents::named(name));
    let policy = policy_in_force().map_err(|error| format!("{error:#}"));
    let lines = doctor::examine(agent, &policy)?;
    for line in &lines {
        if options.get_flag("json") {
            let json = serde_json::json!({"about": line.about, "what": line.what, "state": line.state.name().to_lowercase(),
                "found": line.found, "advice": line.advice});
            writeln!(out, "{json}")?;
            continue;
        }
        // what was found may quote a file or another program
        let found: Vec<String> = line.found.lines().map(escape).collect();
        writeln!(
            out,
            "{:<4}  {:<14} {:<12} {}",
            line.state.name(),
            line.about,
            line.what,
            found.join(" | ")
        )?;
        if !line.advice.is_empty() {
            writeln!(out, "      {:<14} {:<12} -> {}", "", "", line.advice)?;
        }
    }
    let bad = lines.iter().filter(|line| line.state == State::Bad).count();
    if !options.get_flag("json") {
        writeln!(out, "{} looked at, {bad} failing", lines.len())?;
    }
    Ok(if bad == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
