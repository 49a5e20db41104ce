//! `agent-shctl witness`: what a launcher's hops would have run, without running it.
//!
//! In: a launcher, the text that was meant, the hops that are expected. Out: what each hop received.
//! Never: says of a hop without a record that it got the same.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use crate::fidelity::witness::note::Network;
use crate::fidelity::witness::observe::{Canary, Manner, Observation, Order, observe};
use crate::fidelity::witness::record::Record;
use crate::text::escape_bytes;

pub fn command() -> Command {
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    let number = |name: &'static str, value: &'static str, default: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name(value)
            .default_value(default)
            .value_parser(value_parser!(u64))
            .help(help)
    };
    Command::new("witness")
        .about("Start a launcher with a probe in the place of every shell: what would have been run is shown, not run")
        .arg(flag("namespace", "replace shells by mounts in a namespace of its own (the default)"))
        .arg(flag("self", "replace shells by SHELL and PATH; needs --canary").conflicts_with_all(["namespace", "bash-env"]))
        .arg(flag("bash-env", "replace bash by BASH_ENV; needs --canary").conflicts_with("namespace"))
        .arg(flag("canary", "put a harmless text where the command has {canary}, and say whether it ran"))
        .arg(
            Arg::new("network")
                .long("network")
                .value_name("WHICH")
                .value_parser(["none", "keep"])
                .default_value("none")
                .help("keep: reach this machine's network; clients of other machines are probes then"),
        )
        .arg(
            Arg::new("program")
                .long("program")
                .value_name("NAME")
                .action(ArgAction::Append)
                .help("replace this program by a probe too"),
        )
        .arg(
            Arg::new("hop")
                .long("hop")
                .value_name("NAME")
                .action(ArgAction::Append)
                .help("a program that must have been called, itself or around a call"),
        )
        .arg(Arg::new("text").long("text").value_name("FILE").help("the text that was meant, to compare with"))
        .arg(number("status", "N", "0", "exit status of the probes"))
        .arg(number("limit", "SECONDS", "60", "stop the launcher after this time"))
        .arg(number("grace", "SECONDS", "1", "wait this long for what the launcher leaves behind"))
        .arg(flag("json", "print one JSON object"))
        .arg(
            Arg::new("command")
                .value_name("COMMAND")
                .num_args(1..)
                .required(true)
                .last(true)
                .value_parser(value_parser!(OsString))
                .help("the launcher and its arguments"),
        )
}

fn order(options: &ArgMatches) -> Order {
    let many = |name: &str| options.get_many::<String>(name).into_iter().flatten().cloned().collect();
    let seconds = |name: &str| options.get_one::<u64>(name).copied().unwrap_or(1).min(86_400) * 1000;
    Order {
        manner: match (options.get_flag("self"), options.get_flag("bash-env")) {
            (true, _) => Manner::Own,
            (false, true) => Manner::BashEnv,
            (false, false) => Manner::Namespace,
        },
        network: match options.get_one::<String>("network").map(String::as_str) {
            Some("keep") => Network::Kept,
            _ => Network::Private,
        },
        programs: many("program"),
        status: options.get_one::<u64>("status").and_then(|s| u8::try_from(*s).ok()).unwrap_or(0),
        limit: seconds("limit"),
        grace: seconds("grace"),
        launcher: options.get_many::<OsString>("command").into_iter().flatten().cloned().collect(),
        parent: std::env::temp_dir(),
    }
}

/// Whether a received text is the one that was meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Likeness {
    Same,
    Changed,
    /// Nothing to compare with, or the probe did not get it whole.
    Unknown,
}

impl Likeness {
    fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Changed => "changed",
            Self::Unknown => "unknown",
        }
    }
}

fn likeness(record: &Record, meant: Option<&[u8]>) -> Likeness {
    match (meant, record.text()) {
        (Some(meant), Some(got)) if meant == got => Likeness::Same,
        (Some(_), Some(_)) => Likeness::Changed,
        (None, _) | (_, None) => Likeness::Unknown,
    }
}

/// Whether a program of this name was called or stands around a call.
fn is_seen(name: &str, records: &[Record]) -> bool {
    records.iter().any(|r| r.name() == name.as_bytes() || r.ancestors.iter().any(|a| a.comm == name))
}

pub fn run(options: &ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let order = order(options);
    let has_place = order.launcher.iter().any(|w| w.to_string_lossy().contains("{canary}"));
    anyhow::ensure!(
        options.get_flag("canary") || (!has_place && order.manner == Manner::Namespace),
        "a {{canary}} in the command, --self and --bash-env need --canary; nothing was started"
    );
    let meant = match options.get_one::<String>("text") {
        None => None,
        Some(path) => Some(
            std::fs::read(path).with_context(|| format!("cannot read {}", escape_bytes(path.as_bytes())))?,
        ),
    };
    out.flush()?;
    let seen = observe(&order)?;
    let hops: Vec<&String> = options.get_many::<String>("hop").into_iter().flatten().collect();
    let missing: Vec<&str> = hops.iter().filter(|h| !is_seen(h, &seen.records)).map(|h| h.as_str()).collect();
    if options.get_flag("json") {
        writeln!(out, "{}", object(&seen, meant.as_deref(), &missing))?;
    } else {
        people(&seen, meant.as_deref(), &missing, out)?;
    }
    let is_good = !seen.records.is_empty()
        && missing.is_empty()
        && seen.canary != Canary::Sang
        && seen.records.iter().all(|r| likeness(r, meant.as_deref()) != Likeness::Changed);
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn object(seen: &Observation, meant: Option<&[u8]>, missing: &[&str]) -> serde_json::Value {
    let records: Vec<_> = seen
        .records
        .iter()
        .map(|r| serde_json::json!({"received": likeness(r, meant).name(), "record": r}))
        .collect();
    serde_json::json!({
        "status": seen.status,
        "canary": match seen.canary { Canary::Absent => "absent", Canary::Silent => "not run", Canary::Sang => "ran" },
        "observed": !seen.records.is_empty(),
        "unobserved": missing,
        "records": records,
    })
}

fn people(
    seen: &Observation,
    meant: Option<&[u8]>,
    missing: &[&str],
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    for (at, record) in seen.records.iter().enumerate() {
        let text = record.text();
        let size = text.as_ref().map_or_else(|| "?".to_owned(), |t| t.len().to_string());
        let around: Vec<&str> = record.ancestors.iter().map(|a| a.comm.as_str()).take(4).collect();
        writeln!(
            out,
            "{:>3}  {:<10} {:<5} {:>7} bytes  {:<8} under {}",
            at + 1,
            escape_bytes(&record.name()),
            record.source.to_string(),
            size,
            likeness(record, meant).name(),
            around.join(" < ")
        )?;
        let shown: Vec<u8> = text.unwrap_or_default().into_iter().take(200).collect();
        writeln!(out, "     {}", escape_bytes(&shown))?;
    }
    if seen.records.is_empty() {
        writeln!(out, "unobserved: no shell or declared program was called")?;
    }
    for name in missing {
        writeln!(out, "unobserved: {}", crate::text::escape(name))?;
    }
    match seen.canary {
        Canary::Absent => {}
        Canary::Silent => writeln!(out, "canary: not run")?,
        Canary::Sang => writeln!(out, "canary: RAN; this way of observing does not hold for this launcher")?,
    }
    writeln!(out, "launcher: status {}", seen.status)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fidelity::witness::record::{Ancestor, Source};

    #[test]
    fn what_left_no_record_or_no_whole_text_is_never_the_same() {
        let record = Record {
            v: 1,
            t_ns: 0,
            pid: 1,
            uid: 0,
            argv_b64: vec![data_encoding::BASE64.encode(b"/bin/sh")],
            cwd: String::new(),
            source: Source::File,
            text_b64: None,
            stdin_b64: None,
            stdin_whole: false,
            ancestors: vec![Ancestor { pid: 2, comm: "sshd".to_owned(), head: String::new() }],
        };
        assert_eq!(likeness(&record, Some(b"")), Likeness::Unknown);
        assert!(
            is_seen("sshd", std::slice::from_ref(&record)) && is_seen("sh", std::slice::from_ref(&record))
        );
        assert!(!is_seen("ssh", &[record]) && !is_seen("sh", &[]));
    }
}
