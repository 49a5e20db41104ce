//! Does our reader accept what bash accepts? Compared with `bash -n -O extglob` over JSON lines.
//!
//! In: `AGENT_SH_CORPORA`, a folder of `*.jsonl` files with a `cmd` each; `scripts/parse-diff` sets it.
//! Out: counts and the texts on which they disagree. Never: runs a command of a corpus.

// a test program: what is not there may stop it
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::wildcard_enum_match_arm,
    clippy::format_collect,
    clippy::format_push_string,
    clippy::too_many_lines
)]

use agent_sh::syntax::agree::{Comparison, compare};
use agent_sh::syntax::bounds::Limits;
use agent_sh::syntax::grammar::{Dialect, parse};
use agent_sh::syntax::read::{Second, Skip, read};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn corpora() -> Vec<PathBuf> {
    let folder = std::env::var_os("AGENT_SH_CORPORA")
        .map_or_else(|| PathBuf::from("../shared/corpora"), PathBuf::from);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .map(|entries| entries.filter_map(|e| e.ok().map(|e| e.path())).collect())
        .unwrap_or_default();
    files.retain(|f| f.extension().is_some_and(|e| e == "jsonl"));
    files.sort();
    files
}

fn texts(file: &Path) -> Vec<String> {
    let content = std::fs::read_to_string(file).unwrap_or_default();
    let mut texts: Vec<String> = content
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter_map(|value| value.get("cmd").and_then(|c| c.as_str()).map(str::to_owned))
        .collect();
    texts.sort();
    texts.dedup();
    texts
}

fn run_bash(options: &[&str], text: &str) -> std::process::Output {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(&agent_sh::text::raw(text)).expect("written");
    Command::new("/bin/bash")
        .args(options)
        .args(["-O", "extglob"])
        .arg(file.path())
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .expect("bash runs")
}

/// Whether bash reads the text without complaint; `None` where it says something and yet succeeds.
fn bash_accepts(text: &str) -> Option<bool> {
    let output = run_bash(&["--norc", "-n"], text);
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    let grave = complaint.lines().any(|l| !l.contains("warning"));
    match (output.status.success(), grave) {
        (true, true) => None,
        (accepted, _) => Some(accepted),
    }
}

/// Whether dash reads the text.
fn dash_accepts(text: &str) -> bool {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(&agent_sh::text::raw(text)).expect("written");
    let output =
        Command::new("/bin/dash").arg("-n").arg(file.path()).env_clear().stdin(Stdio::null()).output();
    output.expect("dash runs").status.success()
}

/// Compares our reading of the text with our reading of what bash prints of its own parse of it (reads
/// and prints; runs nothing).
fn compare_printed(text: &str, limits: &Limits) -> Option<String> {
    let ours = parse(text, Dialect::Bash, limits);
    let output = run_bash(&["--norc", "--noprofile", "--pretty-print"], text);
    let printed = String::from_utf8(output.stdout).ok()?.replace("coproc COPROC ", "coproc ");
    let theirs = parse(&printed, Dialect::Bash, limits);
    if let Some(error) = theirs.error {
        return Some(format!("printed form is refused: {error}: {printed:?}"));
    }
    match compare(&ours.script, &theirs.script) {
        Comparison::Same => None,
        Comparison::Differ(what) => Some(format!("{what:?}: {printed:?}")),
    }
}

#[test]
#[ignore = "needs corpora; run by scripts/parse-diff"]
fn we_read_what_bash_reads() {
    let limits = Limits::default();
    for file in corpora() {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for text in texts(&file) {
            let reading = read(&text, Dialect::Bash, &limits);
            let ours = reading.error.is_none();
            let Some(theirs) = bash_accepts(&text) else { continue };
            let outcome = match (ours, theirs) {
                (true, true) => "both accept",
                (false, false) => "both reject",
                (true, false) => "only we accept",
                (false, true) => "ONLY BASH ACCEPTS",
            };
            *counts.entry(outcome).or_default() += 1;
            *counts
                .entry(match &reading.second {
                    Second::Same => "second: same",
                    Second::Differ(_) => "second: DIFFERS",
                    Second::Alone => "second: alone",
                    Second::Refused => "second: refused",
                    Second::Skipped(Skip::Plain) => "second: plain",
                    Second::Skipped(Skip::Size) => "second: size",
                    Second::Skipped(Skip::Bound) => "second: bound",
                })
                .or_default() += 1;
            if ours
                && theirs
                && let Some(difference) = compare_printed(&text, &limits)
            {
                *counts.entry("STRUCTURE DIFFERS").or_default() += 1;
                println!(
                    "  structure of {:?} differs at {}",
                    agent_sh::text::prefix(&text, 300),
                    agent_sh::text::prefix(&difference, 300)
                );
            }
            if ours != theirs {
                println!(
                    "  {outcome}: {:?} {}",
                    agent_sh::text::prefix(&text, 300),
                    reading.error.map_or(String::new(), |e| e.to_string())
                );
            }
            if let Second::Differ(what) = &reading.second {
                println!("  differs at {what:?}: {:?}", agent_sh::text::prefix(&text, 400));
            }
            if reading.second == Second::Alone && theirs {
                println!("  alone: {:?}", agent_sh::text::prefix(&text, 200));
            }
        }
        println!("{}: {counts:?}", file.file_name().map_or("", |n| n.to_str().unwrap_or("")));
    }
}

/// Pieces of shell text that meet in odd ways.
const PIECES: [&str; 72] = [
    "a",
    "id",
    "echo",
    " ",
    " ",
    " ",
    "\n",
    ";",
    "&",
    "&&",
    "|",
    "||",
    "|&",
    "(",
    ")",
    "((",
    "))",
    "{ ",
    " }",
    "$(",
    "`",
    "\"",
    "'",
    "\\",
    "$'",
    "$\"",
    "${",
    "}",
    "${x:-",
    "${#",
    "$((",
    "$[",
    "]",
    "[",
    "[[ ",
    " ]]",
    "=",
    "x=",
    "a[",
    "<",
    ">",
    ">>",
    "<<E\n",
    "\nE\n",
    "<<'E'\n",
    "<<-E\n\t",
    "<<<",
    "<(",
    ">(",
    "&>",
    ">&",
    "2>",
    "{v}>",
    "if ",
    "; then ",
    "; fi",
    "while ",
    "; do ",
    "; done",
    "for x in ",
    "case x in ",
    ") ",
    ";;",
    "; esac",
    "function f ",
    "f() ",
    "time ",
    "! ",
    "coproc ",
    "# ",
    "\t",
    "!(",
];

/// A linear congruential generator: the texts are the same in each run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

/// A text of random pieces, or a text of the corpora with pieces inserted.
fn invent(dice: &mut Dice, seeds: &[String], round: u64) -> String {
    let mut text = String::new();
    if round.is_multiple_of(2) || seeds.is_empty() {
        for _ in 0..2 + dice.roll(9) {
            text.push_str(PIECES[dice.roll(PIECES.len())]);
        }
        return text;
    }
    text.clone_from(&seeds[dice.roll(seeds.len())]);
    for _ in 0..=dice.roll(2) {
        let mut at = dice.roll(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        text.insert_str(at, PIECES[dice.roll(PIECES.len())]);
    }
    text
}

#[test]
#[ignore = "takes a minute; run by scripts/parse-diff"]
fn invented_texts_are_read_as_bash_reads_them() {
    let number =
        |name: &str, default: u64| std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default);
    let mut dice = Dice(number("AGENT_SH_SEED", 1));
    let limits = Limits::default();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut seeds: Vec<String> = corpora().iter().flat_map(|f| texts(f)).filter(|t| t.len() < 300).collect();
    seeds.dedup();
    for round in 0..number("AGENT_SH_ROUNDS", 5_000) {
        let text = invent(&mut dice, &seeds, round);
        let Ok((reading, posix)) = std::panic::catch_unwind(|| {
            (read(&text, Dialect::Bash, &limits), read(&text, Dialect::Posix, &limits))
        }) else {
            println!("  PANIC: {text:?}");
            continue;
        };
        if std::env::var_os("AGENT_SH_ALONE").is_some() {
            continue;
        }
        if std::env::var_os("AGENT_SH_DASH").is_some() {
            let outcome = match (posix.error.is_none(), dash_accepts(&text)) {
                (true, true) => "dash: both accept",
                (false, false) => "dash: both reject",
                (true, false) => "dash: only we accept",
                (false, true) => "ONLY DASH ACCEPTS",
            };
            *counts.entry(outcome).or_default() += 1;
            if outcome == "ONLY DASH ACCEPTS" {
                println!(
                    "  only dash accepts {text:?}: {}",
                    posix.error.map_or(String::new(), |e| e.to_string())
                );
            }
        }
        let Some(theirs) = bash_accepts(&text) else { continue };
        let ours = reading.error.is_none();
        if reading.ends_at_error() && theirs {
            println!("  NOT NOTHING: {text:?}");
        }
        *counts
            .entry(match (ours, theirs) {
                (true, true) => "both accept",
                (false, false) => "both reject",
                (true, false) => "only we accept",
                (false, true) => "ONLY BASH ACCEPTS",
            })
            .or_default() += 1;
        if !ours && theirs {
            println!(
                "  only bash accepts {text:?}: {}",
                reading.error.map_or(String::new(), |e| e.to_string())
            );
        }
        if ours && !theirs && std::env::var_os("AGENT_SH_VERBOSE").is_some() {
            println!("  only we accept {text:?}");
        }
        if ours
            && theirs
            && let Some(difference) = compare_printed(&text, &limits)
        {
            *counts.entry("STRUCTURE DIFFERS").or_default() += 1;
            println!("  structure of {text:?} differs at {difference}");
        }
    }
    println!("invented: {counts:?}");
}

fn median_and_p99(mut nanos: Vec<u128>) -> String {
    nanos.sort_unstable();
    let at = |percent: usize| nanos.get(nanos.len() * percent / 100).copied().unwrap_or(0) / 100;
    let show = |tenths: u128| format!("{}.{} us", tenths / 10, tenths % 10);
    format!("median {}, p99 {}", show(at(50)), show(at(99)))
}

#[test]
#[ignore = "measures; run with --release on a quiet machine"]
fn what_reading_costs() {
    let limits = Limits::default();
    let clock = |text: &str, job: &dyn Fn(&str)| {
        job(text);
        let start = std::time::Instant::now();
        job(text);
        start.elapsed().as_nanos()
    };
    for file in corpora() {
        let name = file.file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned());
        if name != "care_pool.jsonl" && name != "benign_agent.jsonl" {
            continue;
        }
        let texts = texts(&file);
        let parsing = texts.iter().map(|t| clock(t, &|t| drop(parse(t, Dialect::Bash, &limits)))).collect();
        let reading = texts.iter().map(|t| clock(t, &|t| drop(read(t, Dialect::Bash, &limits)))).collect();
        println!("{name}: parse {}; read {}", median_and_p99(parsing), median_and_p99(reading));
    }
    let large = [
        ("256 KiB here-document", format!("cat > f <<'E'\n{}E\n", "some line of text $x\n".repeat(12_500))),
        (
            "256 KiB live here-document",
            format!("cat > f <<E\n{}E\n", "some line of text $x\n".repeat(12_500)),
        ),
        ("256 KiB of id;", "id;".repeat(87_000)),
        ("256 KiB of lines", "id a b\n".repeat(37_000)),
        ("256 KiB of $(id)", "$(id) ".repeat(43_000)),
        ("256 KiB of a[", "a[ ".repeat(87_000)),
        ("256 KiB of ((", "((a) ".repeat(52_000)),
        ("256 KiB of ((a);", "((a);b)\n".repeat(32_000)),
        ("256 KiB of ${a[", "${a[ ".repeat(52_000)),
        ("256 KiB of $((a)", "echo $((a) )\n".repeat(20_000)),
        ("256 KiB of backquotes", "`".repeat(262_144)),
        ("256 KiB of <<E", "cat <<E\n".repeat(32_000)),
        ("256 KiB of <<E on a line", "cat <<E ".repeat(32_000)),
        ("256 KiB of coproc", "coproc a\n".repeat(29_000)),
        ("256 KiB of a=(", "a=( ".repeat(65_000)),
    ];
    for (name, text) in &large {
        println!("{name}: {} us", clock(text, &|t| drop(read(t, Dialect::Bash, &limits))) / 1000);
    }
    for opening in ["$(", "(", "((", "{ ", "\"$(", "'", "${x:-", "if ", "$((", "<<E ", "$((a) "] {
        let text = opening.repeat(10_000);
        println!(
            "10,000 {opening:?}: {} us",
            clock(&text, &|t| drop(read(t, Dialect::Bash, &limits))) / 1000
        );
    }
}
