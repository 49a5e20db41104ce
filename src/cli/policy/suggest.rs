//! `agent-shctl policy suggest`: the narrowest exception for a command of the record, and what else of the
//! record it would have let through.
//!
//! In: a record, the log, the policy in force. Out: tables for root to put into a file. Never: writes a
//! policy; suggests for a text of which the record has only a part.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Arg, ArgMatches, Command};

use crate::cli::context::policy_in_force;
use crate::cli::policy::past::{Past, verify};
use crate::cli::policy::proposal::{narrowest, table, together, why_not};
use crate::log::line;
use crate::log::record::Record;
use crate::log::source::{Patience, Source};
use crate::policy::Policy;
use crate::text::escape;
use crate::verdict::Verdict;
use crate::verify::Judge;

/// Other commands of the log that are listed.
const LISTED: usize = 20;

pub fn command() -> Command {
    Command::new("suggest")
        .about("Propose the narrowest exception for a command of the record")
        .arg(
            Arg::new("record")
                .value_name("RECORD")
                .required(true)
                .help("beginning of the record's sha256, or `last` for the last one held back"),
        )
        .arg(
            Arg::new("file")
                .long("file")
                .value_name("FILE")
                .help("read FILE (JSON lines or rsyslog's); - for standard input"),
        )
}

pub fn run(options: &ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let policy = policy_in_force()?;
    let file = options.get_one::<String>("file").map(String::as_str);
    let (all, partial) = read(&Source::find(file, policy.temper().audit.file)?)?;
    let wanted = options.get_one::<String>("record").map_or("", String::as_str);
    let judge = Judge::new(policy);
    let is_wanted = |past: &&Past| past.sha256.starts_with(wanted) && wanted.len() >= 4;
    let found = match wanted {
        "last" => all.iter().rev().find(|past| verify(&judge, past).verdict > Verdict::Allow),
        _ => all.iter().rev().find(is_wanted),
    };
    let Some(past) = found else {
        if partial.iter().any(|sha256| sha256.starts_with(wanted)) {
            bail!(
                "the record has only a part of this text, or part of it masked; judge the text itself with agent-shctl explain"
            );
        }
        bail!("no record `{}` with its text; see agent-shctl log", escape(wanted));
    };
    let before = verify(&judge, past);
    if before.verdict == Verdict::Allow {
        writeln!(out, "# the policy in force allows it: {}", escape(&past.text))?;
        return Ok(ExitCode::SUCCESS);
    }
    let exceptions = narrowest(policy, past);
    let after = Judge::new(Policy { exceptions: together(policy, &exceptions), ..policy });
    let left = verify(&after, past);
    if left.verdict > Verdict::Allow {
        writeln!(out, "# no exception lets this run: {}", escape(&past.text))?;
        for why in why_not(&left) {
            writeln!(out, "# {why}")?;
        }
        return Ok(ExitCode::from(1));
    }
    writeln!(out, "# for: {}\n# in: {}", escape(&past.text), escape(&past.cwd))?;
    let why = format!("record {} of {}: say why", past.sha256.get(..12).unwrap_or(""), past.time);
    for exception in &exceptions {
        write!(out, "{}", table(exception, &why))?;
    }
    others(&all, past, (&judge, &after), out)?;
    Ok(ExitCode::SUCCESS)
}

/// Every record whose text is there to the byte, the oldest first, and the digests of the others.
fn read(source: &Source) -> anyhow::Result<(Vec<Past>, BTreeSet<String>)> {
    let (mut all, mut partial) = (Vec::new(), BTreeSet::new());
    source
        .lines(Patience::Once, &mut |text| {
            let line = line::own(text);
            if let Some(record) = line.as_deref().and_then(Record::parse) {
                match Past::of(&record) {
                    Some(past) => all.push(past),
                    None => drop(partial.insert(record.sha256.to_string())),
                }
            }
            Ok(())
        })?
        .context("the log can't be read")?;
    Ok((all, partial))
}

/// What else of the record would have been let through.
fn others(
    all: &[Past],
    past: &Past,
    (before, after): (&Judge, &Judge),
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let mut seen = BTreeSet::from([(past.sha256.clone(), past.cwd.clone())]);
    let (mut looked, mut through) = (0, Vec::new());
    for other in all {
        if !seen.insert((other.sha256.clone(), other.cwd.clone())) {
            continue;
        }
        looked += 1;
        if verify(before, other).verdict > Verdict::Allow && verify(after, other).verdict == Verdict::Allow {
            through.push(other);
        }
    }
    writeln!(
        out,
        "\n# of {looked} other commands in the record it would have let through {}",
        through.len()
    )?;
    for other in through.iter().take(LISTED) {
        writeln!(out, "#   {}  in {}", escape(&other.text), escape(&other.cwd))?;
    }
    if through.len() > LISTED {
        writeln!(out, "#   and {} more", through.len() - LISTED)?;
    }
    Ok(())
}
