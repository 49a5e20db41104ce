//! `agent-shctl render`: a text as a channel has to carry it.
//!
//! In: a text on standard input or in a file, a way of channels. Out: shell text, a document or JSON.
//! Never: starts anything, or prints a rendering that was not read again as the same text.

use std::io::{Read as _, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::fidelity::channel::domain::{Bytes, Lines, Stdin, domain};
use crate::fidelity::channel::name::{Channel, Reach, StdinPolicy, Step};
use crate::fidelity::channel::path;
use crate::fidelity::channel::rendering::{Form, Input, Mode, Rendering};
use crate::fidelity::channel::stage;
use crate::text::escape_bytes;

/// Options that say the way; `deliver` has them too.
pub fn way(command: Command) -> Command {
    command
        .arg(
            Arg::new("channel")
                .long("channel")
                .value_name("NAME,...")
                .value_delimiter(',')
                .help("the channels on the way, the outermost first"),
        )
        .arg(
            Arg::new("to")
                .long("to")
                .value_name("PLACE")
                .action(ArgAction::Append)
                .allow_hyphen_values(true)
                .help("host, user, container, pane or time, one for each channel that needs it, in order"),
        )
        .arg(
            Arg::new("stdin-policy")
                .long("stdin-policy")
                .value_name("POLICY")
                .value_parser(["keep", "null"])
                .default_value("null")
                .help("what the command finds on its standard input"),
        )
        .arg(
            Arg::new("text")
                .long("text")
                .value_name("FILE")
                .default_value("-")
                .help("where the text is; - for standard input"),
        )
        .arg(Arg::new("dir").long("dir").value_name("DIR").help("folder for the files that a channel needs"))
}

pub fn command() -> Command {
    way(Command::new("render"))
        .about("Write a text as a channel has to carry it, or refuse; runs nothing")
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("print one JSON object"))
        .arg(
            Arg::new("list")
                .long("list")
                .action(ArgAction::SetTrue)
                .help("list the channels and what they carry"),
        )
}

/// The channels of a command line, each with its `--to`.
pub fn steps(options: &ArgMatches) -> anyhow::Result<Vec<Step>> {
    let names = options.get_many::<String>("channel").into_iter().flatten();
    let mut places = options.get_many::<String>("to").into_iter().flatten();
    let mut steps = Vec::new();
    for name in names {
        let channel = Channel::named(name).with_context(|| {
            let known: Vec<_> = Channel::ALL.iter().map(|c| c.name()).collect();
            format!("no channel is called {}; there are {}", escape_bytes(name.as_bytes()), known.join(", "))
        })?;
        let to = if channel.target().is_empty() { None } else { places.next() };
        steps.push(Step { channel, to: to.map(|t| t.as_bytes().to_vec()) });
    }
    anyhow::ensure!(!steps.is_empty(), "say the way with --channel NAME,...; --list shows the names");
    if let Some(place) = places.next() {
        anyhow::bail!("no channel on the way takes --to {}", escape_bytes(place.as_bytes()));
    }
    Ok(steps)
}

pub fn stdin_policy(options: &ArgMatches) -> StdinPolicy {
    match options.get_one::<String>("stdin-policy").map(String::as_str) {
        Some("keep") => StdinPolicy::Keep,
        _ => StdinPolicy::Null,
    }
}

/// The text to hand on, to the byte.
pub fn text(options: &ArgMatches) -> anyhow::Result<Vec<u8>> {
    let path = options.get_one::<String>("text").map_or("-", String::as_str);
    let mut bytes = Vec::new();
    if path == "-" {
        std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
    } else {
        bytes =
            std::fs::read(path).with_context(|| format!("cannot read {}", escape_bytes(path.as_bytes())))?;
    }
    Ok(bytes)
}

/// A new folder of the user's own in `parent`.
pub fn folder(parent: &Path) -> anyhow::Result<PathBuf> {
    let stamp =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos());
    let path = parent.join(format!("agent-sh-{}-{stamp:x}", std::process::id()));
    std::fs::DirBuilder::new()
        .mode(0o700)
        .create(&path)
        .with_context(|| format!("cannot make the folder {}", escape_bytes(path.as_os_str().as_bytes())))?;
    Ok(path)
}

pub fn run(options: &ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    if options.get_flag("list") {
        return list(out);
    }
    let (steps, stdin, text) = (steps(options)?, stdin_policy(options), text(options)?);
    let folder = options.get_one::<String>("dir").map(|dir| folder(Path::new(dir))).transpose()?;
    let place = folder.as_deref().unwrap_or(Path::new("/nowhere")).join("text");
    let place = place.to_str().context("the folder's name is not UTF-8")?;
    let rendering = match path::render(&text, &steps, stdin, place) {
        Ok(rendering) => rendering,
        Err(refusal) => {
            drop(folder.map(std::fs::remove_dir));
            anyhow::bail!("{refusal}");
        }
    };
    let needs_files = rendering.files.iter().any(|f| f.mode != Mode::Memory);
    match (&folder, needs_files) {
        (Some(_), true) => drop(stage::lay(&callable(&rendering), None)?.leave()),
        (None, true) => anyhow::bail!("this way needs files; say where they may lie with --dir DIR"),
        (Some(empty), false) => drop(std::fs::remove_dir(empty)),
        (None, false) => {}
    }
    if options.get_flag("json") {
        writeln!(out, "{}", object(&rendering))?;
    } else {
        let bytes = match &rendering.form {
            Form::Document(bytes) => bytes.clone(),
            Form::Words(_) | Form::Text(_) => {
                anyhow::ensure!(
                    !rendering.files.iter().any(|f| f.mode == Mode::Memory),
                    "a memory file can't be written down; use deliver"
                );
                rendering.shell_text().unwrap_or_default()
            }
        };
        out.write_all(&bytes)?;
        if !bytes.ends_with(b"\n") {
            out.write_all(b"\n")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A rendering whose files can be laid, whatever its form is.
pub fn callable(rendering: &Rendering) -> Rendering {
    match &rendering.form {
        Form::Document(_) => {
            let words = Rendering::of_words(vec![b"true".to_vec()], Input::Null);
            Rendering { files: rendering.files.clone(), ..words }
        }
        Form::Words(_) | Form::Text(_) => rendering.clone(),
    }
}

fn object(rendering: &Rendering) -> serde_json::Value {
    let b64 = |bytes: &[u8]| data_encoding::BASE64.encode(bytes);
    let form = match &rendering.form {
        Form::Words(words) => {
            serde_json::json!({"argv_b64": words.iter().map(|w| b64(w)).collect::<Vec<_>>()})
        }
        Form::Text(text) => serde_json::json!({"shell_b64": b64(text)}),
        Form::Document(bytes) => serde_json::json!({"document_b64": b64(bytes)}),
    };
    let stdin = match &rendering.input {
        Input::Inherit => serde_json::json!("keep"),
        Input::Null => serde_json::json!("null"),
        Input::Bytes(bytes) => serde_json::json!({"b64": b64(bytes)}),
    };
    let name = |bytes: &[u8]| escape_bytes(bytes);
    let environment: Vec<_> = rendering
        .environment
        .iter()
        .map(|(n, v)| serde_json::json!({"name": name(n), "value_b64": b64(v)}))
        .collect();
    let files: Vec<_> = rendering
        .files
        .iter()
        .map(|f| serde_json::json!({"path": name(&f.path), "bytes": f.bytes.len()}))
        .collect();
    serde_json::json!({"form": form, "stdin": stdin, "environment": environment, "files": files})
}

fn list(out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    writeln!(
        out,
        "{:<18} {:<10} {:>9}  {:<8} {:<6} {:<10} files",
        "channel", "to", "bytes", "of", "lines", "stdin"
    )?;
    for channel in Channel::ALL {
        let d = domain(channel);
        writeln!(
            out,
            "{:<18} {:<10} {:>9}  {:<8} {:<6} {:<10} {}",
            channel.name(),
            channel.target(),
            d.size,
            match d.bytes {
                Bytes::Any => "any",
                Bytes::Unicode => "unicode",
            },
            match d.lines {
                Lines::Any => "any",
                Lines::One => "one",
            },
            match d.stdin {
                Stdin::Either => "keep, null",
                Stdin::OnlyNull => "null",
            },
            match d.reach {
                Reach::SameFiles => "this machine's",
                Reach::OtherFiles => "any",
            }
        )?;
    }
    Ok(ExitCode::SUCCESS)
}
