//! `agent-shctl iec bench`: texts over the ways of this machine, and what channels bring back.
//!
//! In: payloads, names of ways. Out: a table, or one JSON object; an SVG. Never: starts a way that lacks a program
//! without saying so.

use std::io::{IsTerminal as _, Write};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::cli::context::{Asked, context, own_environment, policy_in_force};
use crate::fidelity::bench::plot;
use crate::fidelity::bench::scene::Scene;
use crate::fidelity::bench::study::{Study, study};
use crate::fidelity::bench::tally::{Fate, Loudness, Recovery, Share, Sums};
use crate::fidelity::bench::trial::Outcome;
use crate::fidelity::bench::way::{WAYS, Way};
use crate::fidelity::bench::{Tried, reference, try_pair};
use crate::fidelity::payload::{self, Payload};
use crate::text::{escape, escape_bytes, judged};
use crate::threads;
use crate::verdict::Verdict;
use crate::verify::Judge;
use crate::world::Machine;

pub fn command() -> Command {
    Command::new("bench")
        .about("Send texts over the ways of this machine: what is changed, how loudly, what a channel brings back")
        .arg(
            Arg::new("paths")
                .long("paths")
                .value_name("NAME,...")
                .value_delimiter(',')
                .help("ways or groups of ways; all, where it isn't given"),
        )
        .arg(
            Arg::new("payloads")
                .long("payloads")
                .value_name("FILE")
                .help("lines {\"name\",\"tags\",\"text_b64\"}, in which PROBE stands for the probe's path; they are run; our own, where it isn't given"),
        )
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("print one JSON object"))
        .arg(Arg::new("svg").long("svg").value_name("FILE").help("write a plot of the changed-call rate of each way"))
}

/// The ways that were asked for.
fn ways(options: &ArgMatches) -> anyhow::Result<Vec<&'static Way>> {
    let Some(names) = options.get_many::<String>("paths") else { return Ok(WAYS.iter().collect()) };
    let mut out = Vec::new();
    for name in names {
        let found: Vec<&Way> = WAYS.iter().filter(|w| w.name == name || w.group == name).collect();
        anyhow::ensure!(!found.is_empty(), "no way or group is called {}", escape(name));
        out.extend(found);
    }
    Ok(out)
}

/// Others' texts, less those that the policy denies: a file of payloads is no way round it.
fn allowed(payloads: Vec<Payload>) -> anyhow::Result<Vec<Payload>> {
    let judge = Judge::new(policy_in_force()?);
    let context = context(Asked::default(), &own_environment());
    let (mut out, mut denied) = (Vec::new(), Vec::new());
    for payload in payloads {
        let text = payload.with(b"true");
        let verdict = judge.verify(&judged(&text), &context, &Machine).verdict;
        if verdict == Verdict::Deny { denied.push(escape(&payload.name)) } else { out.push(payload) }
    }
    if !denied.is_empty() {
        let names = denied.join(", ");
        anyhow::bail!("the policy denies what these texts do: {names}; nothing was run; take them out");
    }
    Ok(out)
}

/// Everything that was counted.
#[derive(Debug, Default)]
struct Figures {
    tried: Vec<Tried>,
    skipped: Vec<(&'static str, &'static str)>,
    faults: Vec<String>,
    study: Study,
}

pub fn run(options: &ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let payloads = match options.get_one::<String>("payloads") {
        None => payload::own()?,
        Some(path) => {
            let shown = escape_bytes(path.as_bytes());
            let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
            allowed(payload::read(&text).with_context(|| shown)?)?
        }
    };
    let figures = measure(&ways(options)?, &payloads)?;
    if let Some(file) = options.get_one::<String>("svg") {
        let group = |name: &str| WAYS.iter().find(|way| way.name == name).map_or("", |way| way.group);
        let rows: Vec<_> =
            by_way(&figures).into_iter().map(|(name, sums)| (group(name), name, sums)).collect();
        std::fs::write(file, plot::bars(&rows))
            .with_context(|| format!("cannot write {}", escape_bytes(file.as_bytes())))?;
    }
    if options.get_flag("json") {
        writeln!(out, "{}", object(&figures))?;
    } else {
        people(&figures, out)?;
    }
    let sums = Sums::of(figures.tried.iter().map(|t| &t.pair));
    let is_good = figures.faults.is_empty()
        && figures.tried.iter().all(|t| t.false_refusal.is_none() && t.false_recovery.is_none())
        && sums.recovered_share().per_ten_thousand() >= 9_500;
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Tries every pair, on more threads than processors: most of a trial is waiting.
fn measure(ways: &[&'static Way], payloads: &[Payload]) -> anyhow::Result<Figures> {
    threads::announce();
    let scene = Scene::open().context("cannot make the bench's folder in /tmp")?;
    let mut figures = Figures::default();
    let mut usable = Vec::new();
    for way in ways {
        match scene.lacks(way) {
            Some(need) => {
                drop(writeln!(std::io::stderr(), "SKIPPED {}: no {need}", way.name));
                figures.skipped.push((way.name, need));
            }
            None => usable.push(*way),
        }
    }
    let meant: Vec<Outcome> = payloads.iter().map(|p| reference(&scene, p)).collect::<Result<_, _>>()?;
    let pairs: Vec<(&'static Way, usize)> =
        usable.iter().flat_map(|way| (0..payloads.len()).map(move |at| (*way, at))).collect();
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let shows = std::io::stderr().is_terminal();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, |n| (n.get() * 3).min(16)) {
            scope.spawn(|| {
                while let Some((at, (way, number))) = take(&next, &pairs) {
                    let (Some(payload), Some(meant)) = (payloads.get(*number), meant.get(*number)) else {
                        continue;
                    };
                    if shows && at.is_multiple_of(16) {
                        drop(write!(std::io::stderr(), "\r\x1b[K{at}/{} {}", pairs.len(), way.name));
                    }
                    let tried =
                        try_pair(&scene, way, payload, meant).map_err(|e| format!("{}: {e}", way.name));
                    if let Ok(mut results) = results.lock() {
                        results.push((at, tried));
                    }
                }
            });
        }
    });
    if shows {
        drop(write!(std::io::stderr(), "\r\x1b[K"));
    }
    let mut results = results.into_inner().unwrap_or_default();
    results.sort_by_key(|(at, _)| *at);
    for (_, tried) in results {
        match tried {
            Ok(tried) => figures.tried.push(tried),
            Err(fault) => figures.faults.push(fault),
        }
    }
    if shows {
        drop(write!(std::io::stderr(), "blame, location, comparison"));
    }
    figures.study = study(&scene, payloads).context("cannot run a text")?;
    if shows {
        drop(write!(std::io::stderr(), "\r\x1b[K"));
    }
    Ok(figures)
}

fn take<'p, T>(next: &AtomicUsize, pairs: &'p [T]) -> Option<(usize, &'p T)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    pairs.get(at).map(|pair| (at, pair))
}

/// Sums of each way, in the order of the table.
fn by_way(figures: &Figures) -> Vec<(&'static str, Sums)> {
    let mut names: Vec<&'static str> = figures.tried.iter().map(|t| t.pair.way).collect();
    names.dedup();
    names
        .into_iter()
        .map(|name| (name, Sums::of(figures.tried.iter().map(|t| &t.pair).filter(|p| p.way == name))))
        .collect()
}

fn object(figures: &Figures) -> serde_json::Value {
    let sums = Sums::of(figures.tried.iter().map(|t| &t.pair));
    let rows: Vec<_> = figures
        .tried
        .iter()
        .map(|t| {
            let (loudness, recovery) = match t.pair.fate {
                Fate::Same => (None, None),
                Fate::Changed(loudness, recovery) => {
                    (Some(loudness_name(loudness)), Some(recovery_name(recovery)))
                }
            };
            serde_json::json!({
                "payload": escape(&t.pair.payload), "path": t.pair.way, "group": t.pair.group,
                "result": t.pair.fate.name(), "visibility": loudness, "repair": recovery,
            })
        })
        .collect();
    serde_json::json!({
        "pairs": sums.exposed,
        "changed": sums.changed,
        "changed_rate": sums.changed_share().number(),
        "silent": sums.silent,
        "silent_share": sums.silent_share().number(),
        "hung": sums.hung,
        "recovered": sums.recovered,
        "refused": sums.refused,
        "recovered_share": sums.recovered_share().number(),
        "false_refusals": figures.tried.iter().filter(|t| t.false_refusal.is_some()).count(),
        "false_divergences": figures.study.divergent.len(),
        "equivalent_rewrites": figures.study.equivalent,
        "injected": figures.study.injected,
        "located_share": Share(figures.study.located, figures.study.injected).number(),
        "kappa": figures.study.kappa().number(),
        "kappa_failures": figures.study.failures(),
        "unchanged_recovered": figures.tried.iter().filter(|t| t.false_recovery.is_some()).count(),
        "faults": figures.faults,
        "skipped": figures.skipped.iter().map(|(way, need)| format!("{way}: no {need}")).collect::<Vec<_>>(),
        "rows": rows,
    })
}

fn loudness_name(loudness: Loudness) -> &'static str {
    match loudness {
        Loudness::Silent => "silent",
        Loudness::Loud => "loud",
        Loudness::Hung => "hang",
    }
}

fn recovery_name(recovery: Recovery) -> &'static str {
    match recovery {
        Recovery::Recovered => "recovered",
        Recovery::Refused => "refused",
        Recovery::Lost => "lost",
    }
}

fn people(figures: &Figures, out: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(
        out,
        "{:<22} {:>6} {:>8} {:>7} {:>7} {:>5} {:>10} {:>8}",
        "way", "texts", "changed", "rate", "silent", "hang", "recovered", "refused"
    )?;
    let all = ("all", Sums::of(figures.tried.iter().map(|t| &t.pair)));
    for (name, sums) in by_way(figures).into_iter().chain([all]) {
        writeln!(
            out,
            "{:<22} {:>6} {:>8} {:>7} {:>7} {:>5} {:>10} {:>8}",
            name,
            sums.exposed,
            sums.changed,
            sums.changed_share().to_string(),
            sums.silent,
            sums.hung,
            sums.recovered,
            sums.refused
        )?;
    }
    complaints(figures, out)?;
    writeln!(
        out,
        "silent share {}, recovered share {} (inside the channels' domains)",
        all_share(figures, Sums::silent_share),
        all_share(figures, Sums::recovered_share)
    )?;
    let s = &figures.study;
    writeln!(
        out,
        "faults located {}/{}; rewrites of the same meaning called different {}/{}; kappa of blame {} over {} failures",
        s.located,
        s.injected,
        s.divergent.len(),
        s.equivalent,
        s.kappa(),
        s.failures()
    )?;
    for text in &s.divergent {
        writeln!(out, "called different, does the same: {}", escape_bytes(text))?;
    }
    for (truth, verdict, text) in &s.misjudged {
        writeln!(out, "blamed on {}, was {}: {}", verdict.name(), truth.name(), escape_bytes(text))?;
    }
    Ok(())
}

/// Pair by pair, what should not have been.
fn complaints(figures: &Figures, out: &mut dyn Write) -> anyhow::Result<()> {
    for tried in &figures.tried {
        if matches!(tried.pair.fate, Fate::Changed(_, Recovery::Lost)) {
            writeln!(out, "lost: {} over {}", escape(&tried.pair.payload), tried.pair.way)?;
        }
        if let Some(why) = &tried.false_refusal {
            writeln!(
                out,
                "refused, though it arrives: {} over {}: {why}",
                escape(&tried.pair.payload),
                tried.pair.way
            )?;
        }
        if tried.false_recovery.is_some() {
            writeln!(
                out,
                "called recovered, though it fails by itself: {} over {}",
                escape(&tried.pair.payload),
                tried.pair.way
            )?;
        }
    }
    for fault in &figures.faults {
        writeln!(out, "fault of the bench: {fault}")?;
    }
    Ok(())
}

fn all_share(figures: &Figures, share: fn(&Sums) -> Share) -> String {
    share(&Sums::of(figures.tried.iter().map(|t| &t.pair))).to_string()
}
