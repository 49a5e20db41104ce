//! agent-shctl: everything that people and hooks ask for.
//!
//! In: argument vector. Out: text on standard output, exit status. Never: runs what it judges.

pub mod adjudicate;
pub mod adjudicator;
pub mod approve;
pub mod bench;
pub mod calls;
pub mod completions;
pub mod context;
pub mod deliver;
pub mod doctor;
pub mod explain;
pub mod hook;
pub mod iec;
pub mod install;
pub mod judge;
pub mod log;
pub mod options;
pub mod pending;
pub mod person;
pub mod policy;
pub mod render;
pub mod report;
pub mod ruleset;
pub mod run;
pub mod selftest;
pub mod watch;
pub mod witness;
pub mod world;

use std::io::Write;
use std::process::ExitCode;

/// Carries out one command line.
pub fn run(arguments: impl Iterator<Item = std::ffi::OsString>) -> ExitCode {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let result = match options::table().try_get_matches_from(arguments) {
        Ok(matches) => dispatch(&matches, &mut out),
        Err(error) => {
            let status = u8::try_from(error.exit_code()).unwrap_or(2);
            // the parser repeats arguments as they are: they are text of whoever wrote the command line
            let mut text = String::new();
            for line in error.to_string().lines() {
                text.push_str(&crate::text::escape(line));
                text.push('\n');
            }
            let written = if error.use_stderr() {
                std::io::stderr().write_all(text.as_bytes())
            } else {
                out.write_all(text.as_bytes()).and_then(|()| out.flush())
            };
            return if written.is_ok() { ExitCode::from(status) } else { ExitCode::FAILURE };
        }
    };
    let flushed = out.flush();
    match (result, flushed) {
        (Ok(code), Ok(())) => code,
        // the reader has gone: nothing is wrong with us
        (_, Err(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        (Err(error), _) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        (Err(error), _) => complain(&format!("{error:#}")),
        (Ok(_), Err(error)) => complain(&error.to_string()),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}

/// One line on standard error; 2 for "could not do it".
fn complain(text: &str) -> ExitCode {
    let line = format!("agent-shctl: {text}\n");
    drop(std::io::stderr().write_all(line.as_bytes()));
    ExitCode::from(2)
}

fn dispatch(matches: &clap::ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let asked = matches.subcommand();
    let of = |name: &str| options::COMMANDS.iter().find(|command| (command.options)().get_name() == name);
    match asked.and_then(|(name, sub)| Some((of(name)?, sub))) {
        Some((command, sub)) => (command.run)(sub, out),
        None => Ok(ExitCode::from(2)),
    }
}
