//! `agent-shctl judge`: many commands, one JSON object a line.
//!
//! In: lines `{"id","cmd","cwd"?,"home"?,"workspace"?,"env"?,"files"?}`. Out: lines with verdicts.
//! Never: stops at a broken line without saying which.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context as _;
use serde::Deserialize;

use crate::cli::calls;
use crate::cli::context::{Asked, context, own_environment, policy_in_force};
use crate::cli::explain;
use crate::cli::world::WithFiles;
use crate::decision::Decision;
use crate::invocation::context::Context;
use crate::verify::Judge;
use crate::world::Machine;

/// One line.
#[derive(Debug, Deserialize)]
pub(super) struct Line {
    pub(super) id: serde_json::Value,
    pub(super) cmd: String,
    /// `safe` or `dangerous`, where somebody said so.
    pub(super) label: Option<String>,
    cwd: Option<String>,
    home: Option<String>,
    workspace: Option<String>,
    env: Option<HashMap<String, String>>,
    files: Option<Files>,
}

/// Names, or names with contents; relative ones lie in `cwd`.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Files {
    Names(Vec<String>),
    Contents(HashMap<String, String>),
}

fn absolute(path: &str, cwd: &str, home: &str) -> String {
    if let Some(rest) = path.strip_prefix("~/") {
        return format!("{home}/{rest}");
    }
    if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", cwd.trim_end_matches('/')) }
}

/// The file of that name, or standard input.
pub(super) fn open(path: &str) -> anyhow::Result<Box<dyn BufRead>> {
    if path == "-" {
        return Ok(Box::new(std::io::stdin().lock()));
    }
    let file = std::fs::File::open(path).with_context(|| format!("cannot open {path}"))?;
    Ok(Box::new(std::io::BufReader::new(file)))
}

pub fn run(options: &clap::ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    if let Some(path) = options.get_one::<String>("argv-jsonl") {
        return calls::run(path, options, out);
    }
    let path = options.get_one::<String>("jsonl").map_or("-", String::as_str);
    let input = open(path)?;
    let judge = Judge::new(policy_in_force()?);
    let own = own_environment();
    let explains = options.get_flag("explain");
    for (number, line) in input.lines().enumerate() {
        let line = line.with_context(|| format!("{path}:{}: cannot read", number + 1))?;
        if line.trim().is_empty() {
            continue;
        }
        let line: Line = serde_json::from_str(&line).with_context(|| format!("{path}:{}", number + 1))?;
        let answer = judge_line(&judge, line, options, &own, explains);
        writeln!(out, "{answer}")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn judge_line(
    judge: &Judge,
    line: Line,
    options: &clap::ArgMatches,
    own: &HashMap<String, String>,
    explains: bool,
) -> serde_json::Value {
    let (id, start) = (line.id.clone(), Instant::now());
    let (decision, _) = decide(judge, line, options, own);
    let micros = start.elapsed().as_micros();
    let mut answer = serde_json::json!({
        "id": id,
        "verdict": decision.verdict.name(),
        "score": decision.score.to_string(),
        "rules": decision.findings.iter().map(|f| &*f.rule).collect::<Vec<_>>(),
        "micros": u64::try_from(micros).unwrap_or(u64::MAX),
    });
    if explains
        && let (Some(map), serde_json::Value::Object(more)) =
            (answer.as_object_mut(), explain::object(&decision, judge))
    {
        map.extend(more.into_iter().filter(|(k, _)| k != "verdict"));
    }
    answer
}

/// Judges a line where it says that it stands.
pub(super) fn decide(
    judge: &Judge,
    line: Line,
    options: &clap::ArgMatches,
    own: &HashMap<String, String>,
) -> (Decision, Context) {
    let option = |name: &str| options.get_one::<String>(name).cloned();
    let asked = Asked {
        cwd: line.cwd.or_else(|| option("cwd")),
        home: line.home.or_else(|| option("home")),
        workspace: line.workspace.or_else(|| option("workspace")),
        environment: line.env,
        ..Asked::default()
    };
    let context = context(asked, own);
    let pairs: Vec<(String, String)> = match line.files {
        None => Vec::new(),
        Some(Files::Names(names)) => names.into_iter().map(|n| (n, String::new())).collect(),
        Some(Files::Contents(map)) => map.into_iter().collect(),
    };
    let files = pairs.into_iter().map(|(n, c)| (absolute(&n, &context.cwd, &context.home), c)).collect();
    let world = WithFiles { machine: &Machine, files };
    let decision = judge.verify(&line.cmd, &context, &world);
    (decision, context)
}
