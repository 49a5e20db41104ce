//! `agent-shctl selftest`: does agent-sh hand on every text as it got it.
//!
//! In: our own payloads, or a file of others'. Out: a line for each that was changed, and a sum.
//! Never: runs a payload; says 0 where one arrived changed.

use std::io::Write;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Arg, ArgAction, Command};

use crate::fidelity::payload::{self, Payload};
use crate::fidelity::selftest::{Arrived, Run, Stage, beside};
use crate::text::{escape, escape_bytes, prefix};

pub fn command() -> Command {
    Command::new("selftest")
        .about("Send texts through agent-sh in every form, into a probe in the shell's place, and compare bytes; runs none")
        .arg(
            Arg::new("payloads")
                .long("payloads")
                .value_name("FILE")
                .help("send these too: lines {\"name\",\"tags\",\"text_b64\"}; PROBE is the probe's path"),
        )
        .arg(Arg::new("agent-sh").long("agent-sh").value_name("FILE").help("test this agent-sh; else the one beside agent-shctl"))
        .arg(
            Arg::new("sample")
                .long("sample")
                .value_name("N")
                .value_parser(clap::value_parser!(usize))
                .help("send only every Nth of our own payloads"),
        )
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("print one JSON object"))
}

/// A folder that goes when the test has ended.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

#[derive(Default)]
struct Sum {
    runs: usize,
    same: usize,
    changed: Vec<serde_json::Value>,
    refused: Vec<serde_json::Value>,
    /// payloads that arrived in no form
    lost: Vec<String>,
}

pub fn run(options: &clap::ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let every = options.get_one::<usize>("sample").copied().unwrap_or(1).max(1);
    let mut payloads: Vec<Payload> = payload::own()?.into_iter().step_by(every).collect();
    if let Some(path) = options.get_one::<String>("payloads") {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", escape(path)))?;
        payloads.extend(payload::read(&text).with_context(|| escape(path))?);
    }
    let agent_sh =
        options.get_one::<String>("agent-sh").map_or_else(|| PathBuf::from(beside()), PathBuf::from);
    let agent_sh = agent_sh
        .canonicalize()
        .with_context(|| format!("cannot find {}", escape(&agent_sh.to_string_lossy())))?;
    let folder = Folder(std::env::temp_dir().join(format!("agent-sh-selftest.{}", std::process::id())));
    std::fs::DirBuilder::new().mode(0o700).create(&folder.0).context("cannot make a folder for the test")?;
    let stage = Stage::enter(&folder.0, &agent_sh)?;
    let mut sum = Sum::default();
    for payload in &payloads {
        send(&stage, payload, &mut sum)?;
    }
    report(&sum, payloads.len(), options.get_flag("json"), out)?;
    Ok(if sum.changed.is_empty() && sum.lost.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn send(stage: &Stage, payload: &Payload, sum: &mut Sum) -> anyhow::Result<()> {
    let before = sum.same;
    let mut note = |run: &Run<'_>| {
        sum.runs += 1;
        match &run.arrived {
            Arrived::Same => sum.same += 1,
            Arrived::Changed(sent, arrived) => sum.changed.push(serde_json::json!({
                "payload": escape(run.payload), "form": run.form,
                "sent": prefix(&escape_bytes(sent), 400), "arrived": prefix(&escape_bytes(arrived), 400),
            })),
            Arrived::Refused(why) => sum.refused.push(serde_json::json!({
                "payload": escape(run.payload), "form": run.form, "why": why,
            })),
        }
    };
    stage.send(payload, &mut note)?;
    if sum.same == before {
        sum.lost.push(escape(&payload.name));
    }
    Ok(())
}

fn report(sum: &Sum, payloads: usize, json: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    if json {
        let object = serde_json::json!({
            "payloads": payloads, "runs": sum.runs, "same": sum.same, "changed": sum.changed.len(),
            "refused": sum.refused.len(), "lost": sum.lost, "rows": sum.changed, "refusals": sum.refused,
        });
        writeln!(out, "{object}")?;
        return Ok(());
    }
    for row in &sum.changed {
        writeln!(out, "changed  {row}")?;
    }
    for name in &sum.lost {
        writeln!(out, "lost     {name}: arrived in no form")?;
    }
    writeln!(
        out,
        "{} payloads, {} hand-overs: {} the same to the byte, {} changed, {} refused before a shell started",
        payloads,
        sum.runs,
        sum.same,
        sum.changed.len(),
        sum.refused.len()
    )?;
    Ok(())
}
