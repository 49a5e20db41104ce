//! `agent-shctl policy promote`: from observing to enforcing.
//!
//! In: what observe mode recorded, the policy in force. Out: what enforcing would have refused, by rule; exceptions
//! for a person to accept. Never: accepts anything by itself.

use std::io::{IsTerminal as _, Write};
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::cli::context::policy_in_force;
use crate::cli::log;
use crate::cli::policy::accept;
use crate::cli::policy::promotion::{Gathered, Promotion};
use crate::cli::policy::proposal::table;
use crate::cli::policy::shown::{described, object, summary, switch};
use crate::text::escape;

pub fn command() -> Command {
    log::which(Command::new("promote"))
        .about("Show what enforcing would have refused of what observe mode let run, and propose exceptions")
        .mut_arg("file", |argument| argument.visible_alias("log"))
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("print one JSON object"))
        .arg(
            Arg::new("output")
                .long("output")
                .value_name("POLICY")
                .conflicts_with("json")
                .help("ask about each exception, and write the accepted ones to POLICY"),
        )
}

pub fn run(options: &ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let policy = policy_in_force()?;
    let mut gathered = Gathered::default();
    log::each(options, &mut |record| match record {
        Some(record) => gathered.add(record),
        None => gathered.foreign = gathered.foreign.saturating_add(1),
    })?;
    let promotion = Promotion::of(policy, &gathered);
    if options.get_flag("json") {
        writeln!(out, "{}", object(&promotion, &gathered))?;
        return Ok(ExitCode::SUCCESS);
    }
    for line in summary(&promotion, &gathered) {
        writeln!(out, "# {line}")?;
    }
    match options.get_one::<String>("output") {
        Some(path) if std::io::stdin().is_terminal() => accept::ask(&promotion, &gathered, path, out),
        asked => {
            writeln!(out, "schema      = 1\n{}", switch(&policy))?;
            for (number, group) in promotion.groups.iter().enumerate() {
                writeln!(out)?;
                for line in described(&promotion, number, group) {
                    writeln!(out, "# {line}")?;
                }
                write!(out, "{}", table(&group.exception, "say why"))?;
            }
            let Some(path) = asked else { return Ok(ExitCode::SUCCESS) };
            out.flush()?;
            anyhow::bail!("nothing is written to {}: a person accepts, at a terminal", escape(path))
        }
    }
}
