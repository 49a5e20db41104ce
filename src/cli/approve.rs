//! `agent-shctl approve`, `agent-shctl revoke`: a person lets one command run, or takes that back.
//!
//! In: a code. Out: a grant in the store. Never: gives leave without having shown the whole command, nor
//! where no person is at a terminal.

use std::io::{BufRead as _, Write};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::cli::person::{code, decides, desk, ensure_counts, now, user_option};
use crate::policy::temper::undecided::{span, spelled};
use crate::resolution::approval::{Grant, Now, Question, Times};
use crate::resolution::code::Key;
use crate::text::{escape, prefix};

/// Bytes of a command in lists of approvals.
const SHORT: usize = 200;

pub fn command() -> Command {
    Command::new("approve")
        .about("Let a command run that was held back, after it has been shown")
        .arg(
            Arg::new("code").value_name("CODE").required(true).help("the code of the refusal, as in K7QX-2M"),
        )
        .arg(
            Arg::new("once")
                .long("once")
                .action(ArgAction::SetTrue)
                .conflicts_with("for")
                .help("one time (the default)"),
        )
        .arg(Arg::new("for").long("for").value_name("TIME").help("as often as asked for this time, as in 1h"))
        .arg(
            Arg::new("same-directory")
                .long("same-directory")
                .action(ArgAction::SetTrue)
                .help("only while the directory is the very same one, not another of that name"),
        )
        .arg(
            Arg::new("across-reboots")
                .long("across-reboots")
                .action(ArgAction::SetTrue)
                .help("also after the machine was started anew"),
        )
        .arg(user_option())
}

pub fn revocation() -> Command {
    Command::new("revoke")
        .about("Take an approval back")
        .arg(Arg::new("code").value_name("CODE").required(true).help("the code, see agent-shctl pending"))
        .arg(user_option())
}

pub fn run(options: &ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let code = code(options)?;
    let time = options.get_one::<String>("for");
    let time = time
        .map(|text| {
            span(text).with_context(|| {
                format!("--for needs a span of time, as in 30m or 1h, not `{}`", escape(text))
            })
        })
        .transpose()?;
    decides()?;
    let desk = desk(options)?;
    ensure_counts(&desk)?;
    let open = desk.store.questions(now(), desk.lifetime());
    let is_meant = |question: &&Question| Key::parse(&question.key).is_some_and(|key| key.code() == code);
    let meant: Vec<&Question> = open.iter().filter(is_meant).collect();
    let question = match meant.as_slice() {
        [question] => *question,
        [] => bail!(
            "no command waits under {code}; it was answered, is older than {}, or is another user's",
            spelled(desk.policy.temper().approval.lifetime)
        ),
        _ => bail!("two commands have the code {code}; look at them with agent-shctl watch"),
    };
    for line in shown(question) {
        writeln!(out, "{line}")?;
    }
    let grant = grant(question, time, desk.lifetime(), options);
    let until = time.map_or_else(|| "once".to_owned(), |time| format!("for {}", spelled(time)));
    write!(out, "let it run, {until}? [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    if !matches!(answer.trim(), "y" | "Y" | "yes") {
        writeln!(out, "not approved")?;
        return Ok(ExitCode::from(1));
    }
    desk.store.grant(&grant).context("the approval can't be written")?;
    writeln!(out, "approved {code}; the same command may be called again")?;
    Ok(ExitCode::SUCCESS)
}

/// The grant that a person gives with these options.
fn grant(question: &Question, time: Option<u32>, lifetime: u64, options: &ArgMatches) -> Grant {
    let now = Now::here();
    Grant {
        key: question.key.clone(),
        times: if time.is_some() { Times::Often } else { Times::Once },
        made: now.time,
        expires: now.time.saturating_add(time.map_or(lifetime, |time| u64::from(time.div_ceil(1000)))),
        boot: (!options.get_flag("across-reboots")).then_some(now.boot),
        directory: question.directory.filter(|_| options.get_flag("same-directory")),
        by: nix::unistd::getuid().as_raw(),
        text: prefix(&question.text, SHORT).to_owned(),
    }
}

/// Leave for one time, as `watch` gives it.
pub fn once(question: &Question, lifetime: u64) -> Grant {
    let now = Now::here();
    Grant {
        key: question.key.clone(),
        times: Times::Once,
        made: now.time,
        expires: now.time.saturating_add(lifetime),
        boot: Some(now.boot),
        directory: None,
        by: nix::unistd::getuid().as_raw(),
        text: prefix(&question.text, SHORT).to_owned(),
    }
}

/// All of a question, escaped: the command line by line, where it would run, who asks, why it was held back.
pub fn shown(question: &Question) -> Vec<String> {
    let mut out: Vec<String> = question.text.split('\n').map(|line| format!("  {}", escape(line))).collect();
    if !question.arguments.is_empty() {
        out.push(format!(
            "with      {}",
            question.arguments.iter().map(|word| format!("`{}`", escape(word))).collect::<Vec<_>>().join(" ")
        ));
    }
    out.push(format!("in        {}", escape(&question.cwd)));
    out.push(format!("asked by  {}", escape(&question.caller)));
    out.extend(question.evidence.iter().map(|line| format!("- {}", escape_again(line))));
    out
}

/// Evidence is escaped when it is written; who could write the file could write anything into it.
fn escape_again(line: &str) -> String {
    line.chars()
        .map(|c| if c == '\\' { "\\".to_owned() } else { escape(c.encode_utf8(&mut [0; 4])) })
        .collect()
}

pub fn revoke(options: &ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let (code, desk) = (code(options)?, desk(options)?);
    match desk.store.revoke(&code, now()) {
        0 => bail!("no approval {code} that could be revoked; see agent-shctl pending"),
        _ => writeln!(out, "revoked {code}")?,
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_question_reaches_the_terminal_unescaped() {
        let hostile = "x\x1b[2J\u{202e}\\";
        let question = Question {
            key: String::new(),
            text: format!("rm a\n{hostile}"),
            arguments: vec![hostile.to_owned()],
            cwd: hostile.to_owned(),
            directory: None,
            caller: hostile.to_owned(),
            verdict: hostile.to_owned(),
            evidence: vec![hostile.to_owned(), "a\\nb".to_owned()],
            asked: 0,
        };
        let lines = shown(&question);
        assert_eq!(lines[0], "  rm a");
        assert_eq!(lines[1], "  x\\x1b[2J\\u{202e}\\\\");
        assert_eq!(lines.last().map(String::as_str), Some("- a\\nb"));
        assert!(lines.iter().all(|line| !line.contains(['\x1b', '\u{202e}'])));
    }
}
