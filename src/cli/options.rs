//! The option table of agent-shctl: parser, help, man page and completions come from it.
//!
//! In: nothing. Out: [`table`]. Never: does anything.

use clap::{Arg, ArgAction, Command};

/// The whole command line.
pub fn table() -> Command {
    Command::new("agent-shctl")
        .about("Judge commands, explain verdicts and look after the policy of agent-sh")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(explain())
        .subcommand(judge())
        .subcommand(policy())
        .subcommand(super::adjudicate::command())
        .subcommand(super::approve::command())
        .subcommand(super::approve::revocation())
        .subcommand(super::completions::command())
        .subcommand(super::deliver::command())
        .subcommand(super::doctor::command())
        .subcommand(super::hook::command())
        .subcommand(super::iec::command())
        .subcommand(super::install::install_command())
        .subcommand(super::install::uninstall_command())
        .subcommand(super::log::command())
        .subcommand(super::log::report_command())
        .subcommand(super::pending::command())
        .subcommand(super::render::command())
        .subcommand(super::run::command())
        .subcommand(super::selftest::command())
        .subcommand(super::watch::command())
        .subcommand(super::witness::command())
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
        .subcommand(super::suggest::command())
}
