//! `agent-shctl log`: ask the record.
//!
//! In: options; records of a file, rsyslog or journald. Out: lines, counts, flaws of the chain.
//! Never: prints a control byte of what was recorded.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::audit::chain;
use crate::cli::context::policy_in_force;
use crate::log::filter::Filter;
use crate::log::record::Record;
use crate::log::source::{Patience, Source};
use crate::log::stats::{Counts, Tally, ranked, ranked_rules};
use crate::log::verify::Check;
use crate::log::{kernel, line, when};
use crate::text::{prefix, tame};

fn word(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

/// Where records are read and which.
pub fn which(command: Command) -> Command {
    command
        .arg(word("file", "FILE", "read FILE (JSON lines or rsyslog's); - for standard input"))
        .arg(word("since", "TIME", "from TIME on: 30m, 2h, 7d, a day, RFC 3339"))
        .arg(word("until", "TIME", "before TIME"))
        .arg(word("verdict", "LIST", "allow, warn, deny; with commas").value_delimiter(','))
        .arg(word("outcome", "LIST", "run, blocked, observed, unmediated; with commas").value_delimiter(','))
        .arg(word("rule", "ID", "only where this rule, or one below this name, held"))
        .arg(word("agent", "NAME", "only this agent"))
        .arg(word("cwd", "DIR", "only in DIR and below"))
        .arg(word("uid", "UID", "only this user").value_parser(clap::value_parser!(u64)))
        .arg(word("text", "PIECE", "only where the text has PIECE"))
}

pub fn command() -> Command {
    which(Command::new("log"))
        .about("Ask the record: which commands were judged, and how")
        .args_conflicts_with_subcommands(true)
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("print records as JSON lines"))
        .arg(Arg::new("follow").long("follow").short('f').action(ArgAction::SetTrue).help("wait for more"))
        .arg(
            Arg::new("kernel")
                .long("kernel")
                .action(ArgAction::SetTrue)
                .help("what the kernel's confinement refused, from its audit log"),
        )
        .subcommand(
            which(Command::new("stats"))
                .about("Count by verdict, rule, agent, folder and cost")
                .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("print one JSON object")),
        )
        .subcommand(
            Command::new("verify")
                .about("Does the file's hash chain hold: was nothing removed, altered, moved or put in")
                .arg(
                    Arg::new("files")
                        .value_name("FILE")
                        .num_args(1..)
                        .help("the file; rotated ones before it, oldest first (default: the policy's file)"),
                )
                .arg(word("syslog", "FILE", "hold the chain against the copies that syslog has")),
        )
}

pub fn run(options: &ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    match options.subcommand() {
        Some(("stats", options)) => stats(options, out),
        Some(("verify", options)) => verify(options, out),
        _ if options.get_flag("kernel") => refused_by_kernel(options, out),
        _ => list(options, out),
    }
}

/// The filter that the options describe.
pub fn filter(options: &ArgMatches) -> anyhow::Result<Filter> {
    let one = |name: &str| options.get_one::<String>(name).cloned();
    let many = |name: &str| options.get_many::<String>(name).unwrap_or_default().cloned().collect::<Vec<_>>();
    let time = |name: &str| match one(name) {
        None => Ok(None),
        Some(text) => when::asked(&text, when::now()).map(Some).with_context(|| {
            format!(
                "--{name} {}: give an age (30m, 2h, 7d), a day (2026-11-30) or an RFC 3339 time",
                tame(&text)
            )
        }),
    };
    Ok(Filter {
        since: time("since")?,
        until: time("until")?,
        verdicts: known("verdict", many("verdict"), &["allow", "warn", "deny"])?,
        outcomes: known("outcome", many("outcome"), &["run", "blocked", "observed", "unmediated"])?,
        rule: one("rule"),
        agent: one("agent"),
        cwd: one("cwd"),
        uid: options.get_one::<u64>("uid").copied(),
        text: one("text"),
    })
}

fn known(option: &str, words: Vec<String>, known: &[&str]) -> anyhow::Result<Vec<String>> {
    match words.iter().find(|word| !known.contains(&word.as_str())) {
        Some(word) => anyhow::bail!("--{option} {}: it is one of {}", tame(word), known.join(", ")),
        None => Ok(words),
    }
}

/// The source that the options or the policy name. A broken policy stops nobody from reading what was
/// recorded.
pub fn source(options: &ArgMatches) -> anyhow::Result<Source> {
    let file = policy_in_force().map(|policy| policy.temper().audit.file).unwrap_or_default();
    Ok(Source::find(options.get_one::<String>("file").map(String::as_str), file)?)
}

fn list(options: &ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let (filter, source) = (filter(options)?, source(options)?);
    let patience = if options.get_flag("follow") { Patience::Follow } else { Patience::Once };
    let as_json = options.get_flag("json");
    source.lines(patience, &mut |text| {
        let Some(text) = line::own(text) else { return Ok(()) };
        match Record::parse(&text) {
            Some(record) if filter.takes(&record) => {
                if as_json {
                    writeln!(out, "{}", tame(&text))?;
                } else {
                    writeln!(out, "{}", shown(&record))?;
                }
                if patience == Patience::Follow { out.flush() } else { Ok(()) }
            }
            _ => Ok(()),
        }
    })??;
    Ok(ExitCode::SUCCESS)
}

/// One line for people.
fn shown(record: &Record<'_>) -> String {
    let time = prefix(&record.time, 19).replace('T', " ");
    let rules = if record.rules.is_empty() { String::new() } else { format!(" [{}]", record.rules) };
    tame(&format!(
        "{time}  {:5} {:9} {:>5}  {}  {}  {}{rules}",
        record.verdict.to_uppercase(),
        record.outcome,
        record.score,
        record.agent(),
        record.cwd,
        record.text
    ))
}

/// Feeds every record that the options ask for, and says which lines were none.
pub fn each(options: &ArgMatches, take: &mut dyn FnMut(Option<&Record<'_>>)) -> anyhow::Result<()> {
    let (filter, source) = (filter(options)?, source(options)?);
    source.lines(Patience::Once, &mut |text| {
        let own = line::own(text);
        match own.as_deref().and_then(Record::parse) {
            Some(record) if filter.takes(&record) => take(Some(&record)),
            Some(_) => {}
            None => take(None),
        }
        Ok(())
    })??;
    Ok(())
}

fn stats(options: &ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let mut tally = Tally::default();
    each(options, &mut |record| match record {
        Some(record) => tally.add(record),
        None => tally.foreign = tally.foreign.saturating_add(1),
    })?;
    tally.micros.sort_unstable();
    let quantiles = [500, 950, 990, 1000].map(|q| Tally::quantile(&tally.micros, q));
    if options.get_flag("json") {
        let counted = |(name, c): (&str, Counts)| serde_json::json!({ "name": name, "run": c.run, "blocked": c.blocked, "observed": c.observed, "unmediated": c.unmediated });
        let rules: Vec<_> =
            ranked_rules(&tally.rules).into_iter().map(|(id, rule)| counted((id, rule.counts))).collect();
        let object = serde_json::json!({
            "records": tally.counts.total(), "foreign": tally.foreign, "first": tally.first, "last": tally.last,
            "verdicts": tally.verdicts, "outcomes": counted(("all", tally.counts)), "rules": rules,
            "agents": ranked(&tally.agents).into_iter().map(counted).collect::<Vec<_>>(),
            "folders": ranked(&tally.folders).into_iter().map(counted).collect::<Vec<_>>(),
            "micros": { "p50": quantiles[0], "p95": quantiles[1], "p99": quantiles[2], "max": quantiles[3] },
        });
        writeln!(out, "{object}")?;
        return Ok(ExitCode::SUCCESS);
    }
    let c = tally.counts;
    writeln!(out, "{} records, {} to {}", c.total(), tame(&tally.first), tame(&tally.last))?;
    for (verdict, count) in &tally.verdicts {
        writeln!(out, "{count:>9}  {}", tame(verdict))?;
    }
    writeln!(out, "{:>9}  blocked, {} observed only, {} unmediated", c.blocked, c.observed, c.unmediated)?;
    if tally.foreign > 0 {
        writeln!(out, "{:>9}  lines that are no record", tally.foreign)?;
    }
    let [p50, p95, p99, max] = quantiles;
    writeln!(out, "judged in {p50} µs (median), {p95} (P95), {p99} (P99), {max} (longest)")?;
    let rules: Vec<_> = ranked_rules(&tally.rules).into_iter().map(|(id, rule)| (id, rule.counts)).collect();
    for (title, rows) in
        [("rules", rules), ("agents", ranked(&tally.agents)), ("folders", ranked(&tally.folders))]
    {
        writeln!(out, "\n{title:<12} refused       all")?;
        for (name, counts) in rows.into_iter().take(15) {
            writeln!(out, "  {:>17} {:>9}  {}", counts.refused(), counts.total(), tame(name))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn verify(options: &ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let mut files: Vec<String> = options.get_many("files").unwrap_or_default().cloned().collect();
    if files.is_empty() {
        let file = policy_in_force()?.temper().audit.file;
        anyhow::ensure!(
            !file.is_empty(),
            "the policy names no audit file; name one: agent-shctl log verify FILE"
        );
        files.push(file.to_owned());
    }
    let witness = options.get_one::<String>("syslog");
    let mut check = if witness.is_some() { Check::with_witness() } else { Check::default() };
    for file in &files {
        let text = std::fs::read(file).with_context(|| format!("cannot read {}", tame(file)))?;
        text.split_inclusive(|b| *b == b'\n').for_each(|line| check.line(line));
    }
    if let Some(witness) = witness {
        let source = Source::File(witness.into());
        source.lines(Patience::Once, &mut |text| {
            let own = line::own(text);
            let record = own.as_deref().and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok());
            let number = record.as_ref().and_then(|r| r.get("seq")?.as_u64());
            let chain = record.as_ref().and_then(|r| r.get("chain")?.as_str());
            if let (Some(number), Some(chain)) = (number, chain) {
                check.witness(number, chain);
            }
            Ok(())
        })??;
    }
    let head = files.last().and_then(|file| std::fs::read(chain::head_of(Path::new(file))).ok());
    let (lines, link, flaws) = check.end(head.as_deref());
    for flaw in &flaws {
        writeln!(out, "{flaw}")?;
    }
    let end =
        link.map_or_else(String::new, |l| format!(", last is record {} with chain {}", l.number, l.chain()));
    writeln!(
        out,
        "{lines} lines{end}: {}",
        match flaws.len() {
            0 => "the chain holds".to_owned(),
            count => format!("{count} flaws"),
        }
    )?;
    Ok(if flaws.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Landlock's denials; `--file` names another audit log.
fn refused_by_kernel(options: &ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let asked = options.get_one::<String>("file");
    let path = asked
        .map(String::as_str)
        .or_else(|| kernel::FILES.into_iter().find(|path| Path::new(path).exists()))
        .context("there is no kernel audit log here (looked for /var/log/audit/audit.log and /var/log/kern.log); name one with --file")?;
    let mut reader = kernel::Reader::default();
    let source = Source::File(path.into());
    source.lines(Patience::Once, &mut |text| {
        reader.line(text);
        Ok(())
    })??;
    for refusal in reader.end() {
        let seconds = refusal.time.split('.').next().and_then(|s| s.parse().ok()).unwrap_or(0);
        let time = when::from_seconds(seconds).unwrap_or_default();
        let pid = refusal.pid.map_or_else(|| "?".to_owned(), |pid| pid.to_string());
        let time = prefix(&time, 19).replace('T', " ");
        writeln!(
            out,
            "{}",
            tame(&format!(
                "{time}  KERNEL refused {} {} pid {pid} {}",
                refusal.blockers, refusal.object, refusal.comm
            ))
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The options of `agent-shctl report`, which asks for records as `log` does.
pub fn report_command() -> Command {
    which(Command::new("report")).about("Write what was recorded as one page of HTML").arg(
        Arg::new("html")
            .long("html")
            .value_name("PAGE")
            .required(true)
            .help("the page to write; - for standard output"),
    )
}
