//! Does our reader accept what bash accepts? Compared with `bash -n -O extglob` over JSON lines.
//!
//! In: `AGENT_SH_CORPORA`, a folder of `*.jsonl` files with a `cmd` each; `scripts/parse-diff` sets it.
//! Out: counts and the texts on which they disagree. Never: runs a command of a corpus.

use agent_sh::syntax::bounds::Limits;
use agent_sh::syntax::grammar::Dialect;
use agent_sh::syntax::read::{Second, Skip, read};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn corpora() -> Vec<PathBuf> {
    let folder = std::env::var_os("AGENT_SH_CORPORA").map_or_else(|| PathBuf::from("../shared/corpora"), PathBuf::from);
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

/// Whether bash reads the text without complaint; `None` where it says something and yet succeeds.
fn bash_accepts(bash: &Path, text: &str) -> Option<bool> {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(text.as_bytes()).expect("written");
    let output = Command::new(bash)
        .args(["--norc", "-n", "-O", "extglob"])
        .arg(file.path())
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .expect("bash runs");
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    let grave = complaint.lines().any(|l| !l.contains("warning"));
    match (output.status.success(), grave) {
        (true, true) => None,
        (accepted, _) => Some(accepted),
    }
}

#[test]
#[ignore = "needs corpora; run by scripts/parse-diff"]
fn we_read_what_bash_reads() {
    let bash = Path::new("/bin/bash");
    let limits = Limits::default();
    for file in corpora() {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for text in texts(&file) {
            let reading = read(&text, Dialect::Bash, &limits);
            let ours = reading.error.is_none();
            let Some(theirs) = bash_accepts(bash, &text) else { continue };
            let outcome = match (ours, theirs) {
                (true, true) => "both accept",
                (false, false) => "both reject",
                (true, false) => "only we accept",
                (false, true) => "ONLY BASH ACCEPTS",
            };
            *counts.entry(outcome).or_default() += 1;
            *counts.entry(match &reading.second {
                Second::Same => "second: same",
                Second::Differ(_) => "second: DIFFERS",
                Second::Alone => "second: alone",
                Second::Skipped(Skip::Plain) => "second: plain",
                Second::Skipped(Skip::Size) => "second: size",
                Second::Skipped(Skip::Unreadable) => "second: unreadable",
            }).or_default() += 1;
            if ours != theirs {
                println!("  {outcome}: {:?} {}", agent_sh::text::prefix(&text, 300), reading.error.map_or(String::new(), |e| e.to_string()));
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
