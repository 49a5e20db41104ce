//! `agent-shctl hook`: what a client's own hook calls before its shell tool runs.
//!
//! In: the client's JSON on standard input. Out: the client's answer. Never: another status than the
//! client's contract has.

use std::io::Write;
use std::process::ExitCode;

use clap::{Arg, Command};

use crate::hook::client::Client;

pub fn command() -> Command {
    Command::new("hook")
        .about("Answer a client's hook: judge the command in the JSON on standard input, in the client's own contract")
        .arg(
            Arg::new("client")
                .value_name("CLIENT")
                .required(true)
                .value_parser(Client::ALL.map(Client::name))
                .help("whose hook it is"),
        )
}

pub fn run(options: &clap::ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let name = options.get_one::<String>("client").map_or("", String::as_str);
    let client = Client::parse(name).ok_or_else(|| anyhow::anyhow!("no hook for this client"))?;
    let status = crate::hook::run(client, &mut std::io::stdin().lock(), out, &mut std::io::stderr());
    Ok(ExitCode::from(status))
}
