//! The option table of agent-shctl: parser, help, man page and completions come from it.
//!
//! In: nothing. Out: [`table`], [`COMMANDS`]. Never: does anything.

use std::io::Write;
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};

/// A command: its options, and what carries it out.
pub struct Room {
    pub options: fn() -> Command,
    pub run: fn(&ArgMatches, &mut dyn Write) -> anyhow::Result<ExitCode>,
}

/// All commands, in the order in which help lists them.
pub const COMMANDS: &[Room] = &[
    Room { options: explain, run: super::explain::run },
    Room { options: judge, run: super::judge::run },
    Room { options: policy, run: super::policy::run },
    Room { options: super::adjudicate::command, run: super::adjudicate::run },
    Room { options: super::approve::command, run: super::approve::run },
    Room { options: super::approve::revocation, run: super::approve::revoke },
    Room { options: super::completions::command, run: super::completions::run },
    Room { options: super::deliver::command, run: super::deliver::run },
    Room { options: super::doctor::command, run: super::doctor::run },
    Room { options: super::hook::command, run: super::hook::run },
    Room { options: super::iec::command, run: super::iec::run },
    Room { options: super::install::install_command, run: super::install::install },
    Room { options: super::install::uninstall_command, run: super::install::uninstall },
    Room { options: super::log::command, run: super::log::run },
    Room { options: super::log::report_command, run: super::report::run },
    Room { options: super::pending::command, run: super::pending::run },
    Room { options: super::render::command, run: super::render::run },
    Room { options: super::run::command, run: super::run::run },
    Room { options: super::selftest::command, run: super::selftest::run },
    Room { options: super::watch::command, run: super::watch::run },
    Room { options: super::witness::command, run: super::witness::run },
];

/// The whole command line.
pub fn table() -> Command {
    Command::new("agent-shctl")
        .about("Judge commands, explain verdicts and look after the policy of agent-sh")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(COMMANDS.iter().map(|room| (room.options)()))
}

pub(super) fn where_options(command: Command) -> Command {
    command
        .arg(Arg::new("cwd").long("cwd").value_name("DIR").help("judge as if started in DIR"))
        .arg(Arg::new("home").long("home").value_name("DIR").help("judge as if DIR were the caller's home"))
        .arg(Arg::new("workspace").long("workspace").value_name("DIR").help("take DIR for the workspace"))
}

fn explain() -> Command {
    where_options(Command::new("explain"))
        .about("Say what a command would do and why it would be allowed or refused; runs nothing")
        .arg(Arg::new("command").short('c').value_name("CMD").required(true).help("the command text"))
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("print one JSON object"))
        .arg(
            Arg::new("shell")
                .long("shell")
                .value_name("NAME")
                .value_parser(["bash", "sh"])
                .help("read the text as this shell would"),
        )
        .arg(
            Arg::new("agent")
                .long("agent")
                .value_name("AGENT")
                .value_parser(clap::builder::NonEmptyStringValueParser::new())
                .help("as if this agent called: a client's name, or the absolute path of its program"),
        )
}

fn judge() -> Command {
    where_options(Command::new("judge"))
        .about("Judge commands, one JSON object a line")
        .arg(
            Arg::new("jsonl")
                .long("jsonl")
                .value_name("FILE")
                .required_unless_present("argv-jsonl")
                .help("lines {\"id\",\"cmd\",\"cwd\"?,\"home\"?,\"workspace\"?,\"env\"?,\"files\"?}; - for standard input"),
        )
        .arg(
            Arg::new("argv-jsonl")
                .long("argv-jsonl")
                .value_name("FILE")
                .conflicts_with_all(["jsonl", "explain"])
                .help("whole calls of a shell, lines {\"id\",\"argv_b64\",\"cwd\"?,\"env\"?}; - for standard input"),
        )
        .arg(Arg::new("explain").long("explain").action(ArgAction::SetTrue).help("add views, coverage and evidence"))
}

fn policy() -> Command {
    Command::new("policy")
        .about("Check and show the policy")
        .subcommand_required(true)
        .subcommand(
            Command::new("check").about("Does it load, is it safe on disk, do all examples hold").arg(
                Arg::new("embedded")
                    .long("embedded")
                    .action(ArgAction::SetTrue)
                    .help("check only the policy inside the binary"),
            ),
        )
        .subcommand(Command::new("show").about("The policy in force, each value with where it came from"))
        .subcommand(super::policy::suggest::command())
        .subcommand(super::policy::promote::command())
}
