//! A person accepts proposed exceptions, one after the other, and has them written to a file.
//!
//! In: proposals, a person at a terminal. Out: a policy file. Never: writes without having asked; replaces a file
//! without having said so; takes the end of the input for a yes.

use std::io::{BufRead as _, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;

use crate::cli::person::decides;
use crate::cli::policy::past::verify;
use crate::cli::policy::promotion::{Gathered, Group, Promotion};
use crate::cli::policy::proposal::table;
use crate::cli::policy::shown::{described, observing, switch, told};
use crate::invocation::startup;
use crate::log::when;
use crate::resolution::evidence;
use crate::text::{escape, prefix, tame};
use crate::verify::Judge;

/// Where root's files lie.
const DROP_INS: &str = "/etc/agent-sh/policy.d/";
/// Commands whose evidence is shown.
const SHOWN: usize = 20;

/// What a person answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    Evidence,
    Quit,
}

/// Asks about each exception, then whether to write.
pub fn ask(
    promotion: &Promotion,
    gathered: &Gathered,
    path: &str,
    out: &mut dyn Write,
) -> anyhow::Result<ExitCode> {
    decides()?;
    let mut accepted = Vec::new();
    for (number, group) in promotion.groups.iter().enumerate() {
        writeln!(out)?;
        for line in described(promotion, number, group) {
            writeln!(out, "{line}")?;
        }
        write!(out, "{}", table(&group.exception, &reason(group, gathered)))?;
        let answer = loop {
            match answer(out, "accept? y, n, e for evidence, q to end [y/n/e/q] ")? {
                Answer::Evidence => show(promotion, group, out)?,
                answer @ (Answer::Yes | Answer::No | Answer::Quit) => break answer,
            }
        };
        match answer {
            Answer::Yes => accepted.push(number),
            Answer::No | Answer::Evidence => {}
            Answer::Quit => {
                writeln!(out, "ended; nothing is written")?;
                return Ok(ExitCode::from(1));
            }
        }
    }
    let (running, refused) = promotion.with_groups(&accepted);
    writeln!(
        out,
        "\n{} of {} exceptions accepted: of the commands in the log {running} would run and {refused} be refused",
        accepted.len(),
        promotion.groups.len()
    )?;
    confirm(promotion, gathered, &accepted, path, out)
}

/// Asks whether to write, and does it.
fn confirm(
    promotion: &Promotion,
    gathered: &Gathered,
    accepted: &[usize],
    path: &str,
    out: &mut dyn Write,
) -> anyhow::Result<ExitCode> {
    let shown = escape(path);
    let text = text(promotion, gathered, accepted);
    let question = if Path::new(path).symlink_metadata().is_ok() {
        format!("{shown} is there already: replace it? [y/n] ")
    } else {
        format!("write {shown}? [y/n] ")
    };
    if answer(out, &question)? != Answer::Yes {
        writeln!(out, "nothing is written")?;
        return Ok(ExitCode::from(1));
    }
    write(Path::new(path), &text).with_context(|| format!("cannot write {shown}"))?;
    writeln!(out, "wrote {shown}: {} exceptions, enforcement = \"enforce\"", accepted.len())?;
    let here = observing(&promotion.policy);
    if path.starts_with(DROP_INS) {
        writeln!(out, "it is in force from now on, unless a file behind it says otherwise ({here})")?;
    } else {
        writeln!(
            out,
            "it is in force when root has put it into {DROP_INS} under a name behind the file that says observe ({here}): install -o root -m 644 {shown} {DROP_INS}60-promoted.toml"
        )?;
    }
    writeln!(out, "then: agent-shctl policy check")?;
    Ok(ExitCode::SUCCESS)
}

/// One line of the person's; what is none of the letters is asked for again.
fn answer(out: &mut dyn Write, question: &str) -> anyhow::Result<Answer> {
    loop {
        write!(out, "{question}")?;
        out.flush()?;
        let mut line = String::new();
        if std::io::stdin().lock().read_line(&mut line)? == 0 {
            writeln!(out)?;
            return Ok(Answer::Quit);
        }
        match line.trim() {
            "y" | "Y" | "yes" => return Ok(Answer::Yes),
            "n" | "N" | "no" => return Ok(Answer::No),
            "e" | "E" => return Ok(Answer::Evidence),
            "q" | "Q" => return Ok(Answer::Quit),
            _ => {}
        }
    }
}

/// The commands of a group with what speaks against each.
fn show(promotion: &Promotion, group: &Group, out: &mut dyn Write) -> anyhow::Result<()> {
    let judge = Judge::new(promotion.policy);
    for held in group.needed.iter().take(SHOWN).filter_map(|at| promotion.held.get(*at)) {
        for line in told(held) {
            writeln!(out, "{line}")?;
        }
        for line in evidence::lines(&verify(&judge, &held.past)) {
            writeln!(out, "            - {}", tame(&line))?;
        }
    }
    if group.needed.len() > SHOWN {
        writeln!(out, "          and {} more", group.needed.len() - SHOWN)?;
    }
    Ok(())
}

fn span(gathered: &Gathered) -> String {
    let day = |time: &str| tame(prefix(time, 10));
    format!("{} to {}", day(&gathered.tally.first), day(&gathered.tally.last))
}

fn reason(group: &Group, gathered: &Gathered) -> String {
    format!("{} observed records, {}", group.records, span(gathered))
}

/// The file.
fn text(promotion: &Promotion, gathered: &Gathered, accepted: &[usize]) -> String {
    let uid = nix::unistd::getuid().as_raw();
    let (user, _) = startup::user(uid);
    let day = when::from_seconds(when::now().unix_timestamp()).unwrap_or_default();
    let mut out = format!(
        "# Accepted by user {} ({uid}) on {}: agent-shctl policy promote, {} records observed, {}.\nschema      = 1\n{}\n",
        escape(&user),
        prefix(&day, 10),
        gathered.tally.counts.observed,
        span(gathered),
        switch(&promotion.policy),
    );
    for group in accepted.iter().filter_map(|at| promotion.groups.get(*at)) {
        out.push_str(&table(&group.exception, &reason(group, gathered)));
    }
    out
}

/// Beside it first: a policy is there whole or not at all.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o644).open(&part)?;
    let done = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    let done = done.and_then(|()| std::fs::rename(&part, path));
    if done.is_err() {
        drop(std::fs::remove_file(&part));
    }
    done
}
