//! `agent-shctl iec`: where on its path a text was changed, and who is to blame for a call that failed.
//!
//! In: a path and a text, or evidence as JSON. Out: text for people, or JSON. Never: starts a hop, but for `bench`.

use std::io::{Read as _, Write};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Arg, ArgAction, Command};
use data_encoding::BASE64;
use serde::Deserialize;
use serde_json::json;

use crate::cli::bench;
use crate::fidelity::blame::{Evidence, blame};
use crate::fidelity::hop::Path;
use crate::fidelity::locate::{Extent, Finding, Location, first, follow};
use crate::fidelity::step;
use crate::text::escape;

pub fn command() -> Command {
    let json = || Arg::new("json").long("json").action(ArgAction::SetTrue).help("print one JSON object");
    Command::new("iec")
        .about("Find where a text was changed on its way to the shell, and by whom a call failed")
        .subcommand_required(true)
        .subcommand(bench::command())
        .subcommand(
            Command::new("locate")
                .about("Follow standard input's text along a path; exit 1 if a hop changes it")
                .arg(
                    Arg::new("path")
                        .long("path")
                        .value_name("PATH")
                        .required(true)
                        .help("a file PATH.toml, or the name of a ready path (agent-shctl iec paths)"),
                )
                .arg(
                    Arg::new("all")
                        .long("all")
                        .action(ArgAction::SetTrue)
                        .help("go on behind a change with the intended text: earlier changes hide later ones"),
                )
                .arg(json()),
        )
        .subcommand(
            Command::new("blame")
                .about("Say from standard input's evidence whether the model, the path or a nested program is to blame")
                .arg(json()),
        )
        .subcommand(Command::new("paths").about("List the ready paths"))
        .subcommand(Command::new("steps").about("List the steps that PATH.toml can name"))
}

pub fn run(options: &clap::ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    match options.subcommand() {
        Some(("bench", sub)) => bench::run(sub, out),
        Some(("locate", sub)) => locate(sub, out),
        Some(("blame", sub)) => decide(sub, out),
        Some(("paths", _)) => {
            for path in Path::ready()? {
                writeln!(out, "{:<28} {}", path.name, path.about)?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Some(("steps", _)) => {
            for known in step::known() {
                let name = match known.takes {
                    step::Takes::Nothing => known.name.to_owned(),
                    step::Takes::Text => format!("{}:TEXT", known.name),
                    step::Takes::Number => format!("{}:NUMBER", known.name),
                };
                writeln!(out, "{name:<20} {}", known.about)?;
            }
            Ok(ExitCode::SUCCESS)
        }
        _ => Ok(ExitCode::from(2)),
    }
}

fn input() -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text).context("cannot read standard input")?;
    Ok(text)
}

/// A ready path's name, or a file.
fn path(given: &str) -> anyhow::Result<Path> {
    if let Some(path) = Path::ready()?.into_iter().find(|path| path.name == given) {
        return Ok(path);
    }
    let text = std::fs::read_to_string(given).with_context(|| {
        format!("cannot read {}, and no ready path has that name (agent-shctl iec paths)", escape(given))
    })?;
    Path::parse(&text).with_context(|| escape(given))
}

fn locate(options: &clap::ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let path = path(options.get_one::<String>("path").map_or("", String::as_str))?;
    let extent = if options.get_flag("all") { Extent::All } else { Extent::First };
    let found = follow(&path, &input()?, extent);
    let fd = first(&found);
    if options.get_flag("json") {
        let hops: Vec<_> = found.iter().map(as_json).collect();
        writeln!(out, "{}", json!({ "path": escape(&path.name), "fd": fd.map(|l| l.hop), "hops": hops }))?;
    } else {
        for location in &found {
            write_location(location, out)?;
        }
        match fd {
            Some(location) => writeln!(out, "FD = {} ({})", location.hop, escape(&location.name))?,
            None => writeln!(out, "FD = none: every hop hands the text on as it is")?,
        }
    }
    Ok(if fd.is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn write_location(location: &Location, out: &mut dyn Write) -> std::io::Result<()> {
    let Location { hop, name, finding } = location;
    let name = escape(name);
    match finding {
        Finding::Same => writeln!(out, "hop {hop} {name}: same"),
        Finding::Unobserved => writeln!(out, "hop {hop} {name}: unobserved"),
        Finding::Stopped(mechanism, why) => writeln!(out, "hop {hop} {name}: {}: {why}", mechanism.name()),
        Finding::Changed(divergence) => {
            let mechanism = divergence.mechanism.name();
            writeln!(out, "hop {hop} {name}: {mechanism} ({}), byte {}", divergence.detail, divergence.at)?;
            write!(out, "{}", divergence.sides())
        }
    }
}

fn as_json(location: &Location) -> serde_json::Value {
    let (outcome, mechanism, detail) = match &location.finding {
        Finding::Same => ("same", None, None),
        Finding::Unobserved => ("unobserved", None, None),
        Finding::Stopped(mechanism, why) => ("stopped", Some(mechanism.name()), Some(why.clone())),
        Finding::Changed(d) => ("changed", Some(d.mechanism.name()), Some(d.detail.to_owned())),
    };
    let mut out = json!({
        "hop": location.hop, "name": escape(&location.name), "outcome": outcome,
        "mechanism": mechanism, "detail": detail,
    });
    if let (Finding::Changed(divergence), Some(map)) = (&location.finding, out.as_object_mut()) {
        let side = |excerpt: &crate::fidelity::mechanism::Excerpt| json!({ "shown": excerpt.shown, "caret": excerpt.caret });
        map.insert("at".to_owned(), json!(divergence.at));
        map.insert("meant".to_owned(), side(&divergence.meant));
        map.insert("received".to_owned(), side(&divergence.received));
    }
    out
}

/// Texts are given as they are (`text`) or as base64 (`text_b64`).
#[derive(Deserialize)]
struct Given {
    meant: Option<String>,
    meant_b64: Option<String>,
    #[serde(default)]
    hops: Vec<GivenHop>,
    status: Option<i32>,
    #[serde(default)]
    stderr: String,
    /// argument vectors that a probe saw within the text
    #[serde(default)]
    nested: Vec<Vec<String>>,
}

#[derive(Deserialize)]
struct GivenHop {
    #[serde(default)]
    name: String,
    received: Option<String>,
    received_b64: Option<String>,
}

fn bytes(text: Option<String>, base64: Option<String>) -> anyhow::Result<Option<Vec<u8>>> {
    match (text, base64) {
        (Some(text), None) => Ok(Some(text.into_bytes())),
        (None, Some(base64)) => Ok(Some(BASE64.decode(base64.as_bytes()).context("a text is no base64")?)),
        (None, None) => Ok(None),
        (Some(_), Some(_)) => anyhow::bail!("a text is given twice, as it is and as base64"),
    }
}

fn decide(options: &clap::ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let form = "{\"meant\"|\"meant_b64\", \"hops\": [{\"name\", \"received\"|\"received_b64\"}], \"status\", \"stderr\", \"nested\"}";
    let given: Given =
        serde_json::from_slice(&input()?).with_context(|| format!("standard input must be {form}"))?;
    let hops = given.hops.into_iter().map(|hop| Ok((hop.name, bytes(hop.received, hop.received_b64)?)));
    let words = |argv: Vec<String>| argv.into_iter().map(String::into_bytes).collect();
    let evidence = Evidence {
        meant: bytes(given.meant, given.meant_b64)?.context("the evidence has no `meant`")?,
        hops: hops.collect::<anyhow::Result<_>>()?,
        status: given.status,
        stderr: given.stderr,
        nested: given.nested.into_iter().map(words).collect(),
    };
    let found = blame(&evidence);
    let (hop, name) = found.hop.clone().unzip();
    if options.get_flag("json") {
        let object = json!({
            "blame": found.who.name(), "hop": hop, "name": name.map(|name| escape(&name)),
            "mechanism": found.mechanism.map(crate::fidelity::mechanism::Mechanism::name),
            "program": found.program, "evidence": found.reasons,
        });
        writeln!(out, "{object}")?;
    } else {
        writeln!(out, "{}", found.who.name())?;
        for reason in &found.reasons {
            writeln!(out, "  {reason}")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
