//! `agent-shctl run`: any client with agent-sh in its path, nothing persistent.
//!
//! In: a client's command line. Out: the client. Never: starts it with another shell.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::{Arg, Command};

use crate::cli::context::policy_in_force;
use crate::pipeline::terms;
use crate::setup::{agents, start};

pub fn command() -> Command {
    Command::new("run")
        .about("Start a client with agent-sh in the place of its shells; nothing outlasts it")
        .arg(
            Arg::new("as")
                .long("as")
                .value_name("AGENT")
                .value_parser(agents::AGENTS.iter().map(|agent| agent.name).collect::<Vec<_>>())
                .help("the agent that it is, where its program's name doesn't say so"),
        )
        .arg(
            Arg::new("client")
                .value_name("CLIENT")
                .required(true)
                .num_args(1..)
                .trailing_var_arg(true)
                .allow_hyphen_values(true)
                .value_parser(clap::value_parser!(OsString))
                .help("the client and its arguments"),
        )
}

pub fn run(options: &clap::ArgMatches, _out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let command: Vec<OsString> =
        options.get_many::<OsString>("client").unwrap_or_default().cloned().collect();
    let agent = options.get_one::<String>("as").and_then(|name| agents::named(name));
    let policy = policy_in_force()?;
    let order = start::Order { command: &command, agent };
    match start::start(&order, &terms::candidates(policy.temper())) {
        Ok(never) => match never {},
        Err(error) => Err(error.into()),
    }
}
