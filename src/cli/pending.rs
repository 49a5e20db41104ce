//! `agent-shctl pending`: what waits for a person, and what a person has let run.
//!
//! In: the store. Out: lines. Never: decides.

use std::io::Write;
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::cli::person::{desk, now, user_option};
use crate::policy::temper::undecided::spelled;
use crate::resolution::approval::Times;
use crate::resolution::code::Key;
use crate::text::{escape, prefix};

pub fn command() -> Command {
    Command::new("pending")
        .about("List the commands that wait for a person, and approvals in force")
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("print one JSON object a line"))
        .arg(user_option())
}

fn code(key: &str) -> String {
    Key::parse(key).map_or_else(String::new, |key| key.code().to_string())
}

/// A span of seconds in words.
pub fn since(seconds: u64) -> String {
    let rounded = match seconds {
        0 => return "0s".to_owned(),
        1..60 => seconds,
        60..3_600 => seconds / 60 * 60,
        3_600.. => seconds / 3_600 * 3_600,
    };
    u32::try_from(rounded.saturating_mul(1000)).map_or_else(|_| "long".to_owned(), spelled)
}

pub fn run(options: &ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let desk = desk(options)?;
    let now = now();
    let (questions, grants) = (desk.store.questions(now, desk.lifetime()), desk.store.grants(now));
    if options.get_flag("json") {
        for q in &questions {
            let object = serde_json::json!({
                "state": "waiting", "code": code(&q.key), "text": escape(&q.text), "directory": escape(&q.cwd),
                "caller": escape(&q.caller), "verdict": escape(&q.verdict), "asked": q.asked,
            });
            writeln!(out, "{object}")?;
        }
        for g in &grants {
            let times = match g.times {
                Times::Once => "once",
                Times::Often => "often",
            };
            let object = serde_json::json!({
                "state": "approved", "code": code(&g.key), "text": escape(&g.text), "times": times,
                "by": g.by, "made": g.made, "expires": g.expires,
            });
            writeln!(out, "{object}")?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    for q in &questions {
        let (age, text) = (since(now.saturating_sub(q.asked)), escape(prefix(&q.text, 100)));
        writeln!(out, "{}  waiting {age:>4}  {}  {text}", code(&q.key), escape(&q.cwd))?;
    }
    for g in &grants {
        let times = match g.times {
            Times::Once => "once",
            Times::Often => "open",
        };
        let (left, text) = (since(g.expires.saturating_sub(now)), escape(prefix(&g.text, 100)));
        writeln!(out, "{}  approved {times}, {left} left, by user {}  {text}", code(&g.key), g.by)?;
    }
    if questions.is_empty() && grants.is_empty() {
        writeln!(out, "nothing waits, nothing is approved")?;
    }
    Ok(ExitCode::SUCCESS)
}
