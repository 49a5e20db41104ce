//! `agent-shctl completions`: what a shell needs to complete the command line.
//!
//! In: the option table. Out: a script for bash, zsh or fish. Never: anything but the table's words.

use std::io::Write;
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command};
use clap_complete::Shell;

pub fn command() -> Command {
    Command::new("completions").about("Print a completion script").arg(
        Arg::new("shell")
            .value_name("SHELL")
            .required(true)
            .value_parser(["bash", "zsh", "fish"])
            .help("for this shell"),
    )
}

pub fn run(options: &ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let shell = match options.get_one::<String>("shell").map(String::as_str) {
        Some("zsh") => Shell::Zsh,
        Some("fish") => Shell::Fish,
        _ => Shell::Bash,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut super::options::table(), "agent-shctl", &mut script);
    out.write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
