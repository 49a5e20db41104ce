//! The live round trip: a harmless command must be seen in the record, and one that must be refused must be.
//!
//! In: an agent, what was installed for it, the policy. Out: lines of a [`Chart`]. Never: runs a command that would
//! do harm if it were not refused: it names a file that is not there.

use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::Chart;
use crate::hook::client::Client;
use crate::hook::sample::sample;
use crate::log::line;
use crate::log::record::Record;
use crate::log::source::{Patience, Source};
use crate::policy::Policy;
use crate::setup::agents::{Agent, Reach};
use crate::setup::change::{Change, What};
use crate::setup::plan::Places;
use crate::setup::program;

/// One pair of commands that nobody else runs.
struct Pair {
    harmless: String,
    /// what it prints
    printed: String,
    refused: String,
}

impl Pair {
    fn new(number: usize) -> Self {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let mark = format!("agent-sh-canary-{}-{}-{number}", std::process::id(), since.as_nanos());
        Self {
            harmless: format!("echo {mark}"),
            refused: format!("rm -rf /etc/{mark}-is-not-there"),
            printed: mark,
        }
    }
}

/// Tries every way on which commands of this agent come, with a home of its own: a shell makes folders in one.
pub(super) fn tried(agent: &Agent, places: &Places, changes: &[Change], policy: &Policy, chart: &mut Chart) {
    let home = std::env::temp_dir().join(format!("agent-sh-doctor-{}", std::process::id()));
    if let Err(error) = std::fs::DirBuilder::new().mode(0o700).create(&home) {
        let advice = "free the temporary folder";
        chart.bad("shell", format!("cannot make {}: {error}", home.display()), advice);
        return;
    }
    tried_in(&home, agent, (places, changes), policy, chart);
    drop(std::fs::remove_dir_all(&home));
}

fn tried_in(
    home: &Path,
    agent: &Agent,
    (places, changes): (&Places, &[Change]),
    policy: &Policy,
    chart: &mut Chart,
) {
    if agent.reach != Reach::Hook {
        let shell = match agent.reach {
            Reach::Places(names) => names.first().map_or("/bin/sh", |name| name.place()),
            Reach::Path | Reach::Hook => "bash",
        };
        let route = |text: &str| {
            let mut command = Command::new(&places.agent_shctl);
            command.args(["run", "--as", agent.name, "--", "/usr/bin/env", shell, "-c", text]);
            command.env("HOME", home).stdin(Stdio::null()).output()
        };
        shell_route(("shell", &format!("{shell} -c")), &Pair::new(0), &route, policy, chart);
    }
    for (number, change) in changes.iter().enumerate() {
        if let What::Key { value, .. } = &change.what
            && let Some(shell) = value.as_str().filter(|path| program::is_agent_sh(Path::new(path)))
        {
            let route = |text: &str| {
                Command::new(shell).args(["-c", text]).env("HOME", home).stdin(Stdio::null()).output()
            };
            shell_route(("setting", shell), &Pair::new(number + 1), &route, policy, chart);
        }
        if let Some(client) = agent.hook
            && let Some(command) = hook_command(client, change, places)
        {
            hook_route(home, (client, &command), &Pair::new(number + 100), policy, chart);
        }
    }
}

type Route<'a> = &'a dyn Fn(&str) -> std::io::Result<Output>;

fn shell_route(
    (what, shown): (&'static str, &str),
    pair: &Pair,
    route: Route<'_>,
    policy: &Policy,
    chart: &mut Chart,
) {
    let again = "see the message; `agent-shctl explain -c` says what is thought of a command";
    match route(&pair.harmless) {
        Ok(output)
            if output.status.success() && String::from_utf8_lossy(&output.stdout).trim() == pair.printed =>
        {
            seen(what, shown, pair, policy, chart);
        }
        Ok(output) => {
            chart.bad(what, format!("a harmless command does not run by {shown}: {}", told(&output)), again);
        }
        Err(error) => chart.bad(what, format!("{shown} can't be started: {error}"), again),
    }
    match route(&pair.refused) {
        Ok(output) if output.status.code() == Some(126) && told(&output).contains("agent-sh: denied") => {
            chart.good(what, format!("a harmful command is refused by {shown}"));
        }
        Ok(output) => {
            let found = format!(
                "a harmful command is not refused by {shown} (status {}): {}",
                output.status,
                told(&output)
            );
            chart.bad(what, found, "agent-sh is not in this path: install it again, start the client anew");
        }
        Err(error) => chart.bad(what, format!("{shown} can't be started: {error}"), again),
    }
}

fn told(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
    crate::text::escape(first)
}

/// Looks the harmless command up in the record.
fn seen(what: &'static str, shown: &str, pair: &Pair, policy: &Policy, chart: &mut Chart) {
    let source = match Source::find(None, policy.temper().audit.file) {
        Ok(source) => source,
        Err(error) => {
            chart.note(
                what,
                format!("a harmless command runs by {shown}; it can't be looked for in the record"),
                error.to_string(),
            );
            return;
        }
    };
    for wait in [20, 100, 400, 1500] {
        // a log service writes when it comes to it
        std::thread::sleep(std::time::Duration::from_millis(wait));
        match find(&source, &pair.printed) {
            Ok(Some(confinement)) => {
                chart.good(
                    what,
                    format!(
                        "a harmless command runs by {shown} and is in the record; confinement: {confinement}"
                    ),
                );
                return;
            }
            Ok(None) => {}
            Err(error) => {
                chart.note(
                    what,
                    format!("a harmless command runs by {shown}; the record can't be read"),
                    format!("as root: agent-shctl log --text {} ({error})", pair.printed),
                );
                return;
            }
        }
    }
    chart.bad(
        what,
        format!("a harmless command ran by {shown} and is not in the record"),
        "agent-sh is not in this path, or no log takes its records: see `record` above",
    );
}

/// The confinement field of the record that holds a text.
fn find(source: &Source, text: &str) -> Result<Option<String>, String> {
    let mut found = None;
    let mut each = |raw: &str| {
        if raw.contains(text)
            && let Some(own) = line::own(raw)
            && let Some(record) = Record::parse(&own)
        {
            let confinement =
                if record.confinement.is_empty() { "the client's" } else { &record.confinement };
            found = Some(confinement.to_owned());
        }
        Ok(())
    };
    let read = source.lines(Patience::Once, &mut each).map_err(|error| error.to_string())?;
    read.map_err(|error| error.to_string())?;
    Ok(found)
}

/// The command line that the client's settings hold.
fn hook_command(client: Client, change: &Change, places: &Places) -> Option<String> {
    match (client, &change.what) {
        (_, What::Item { item, .. }) => {
            let inner = item.pointer("/hooks/0/command").or_else(|| item.get("command"))?;
            inner.as_str().map(str::to_owned)
        }
        (Client::Cline, What::File { .. }) if change.file.ends_with("/PreToolUse") => {
            Some(change.file.clone())
        }
        (Client::Copilot, What::File { text, .. }) => {
            let json: serde_json::Value = serde_json::from_str(text).ok()?;
            json.pointer("/hooks/preToolUse/0/bash")?.as_str().map(str::to_owned)
        }
        (Client::OpenCode, What::File { .. }) if change.file.ends_with("/agent-sh.js") => {
            Some(format!("'{}' hook opencode", places.agent_shctl.display()))
        }
        _ => None,
    }
}

fn hook_route(
    home: &Path,
    (client, command): (Client, &str),
    pair: &Pair,
    policy: &Policy,
    chart: &mut Chart,
) {
    let directory = std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned();
    let ask = |text: &str| -> std::io::Result<Output> {
        let mut child = Command::new("/bin/sh")
            .args(["-c", command])
            // what a hook keeps of a text goes there too
            .envs([("HOME", home), ("XDG_RUNTIME_DIR", home)])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(sample(client, text, &directory).to_string().as_bytes())?;
        }
        child.wait_with_output()
    };
    let denied = |output: &Output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.contains("\"deny\"") || text.contains("\"cancel\":true")
    };
    let again = "run `agent-shctl install` again; the message says what is wrong";
    match ask(&pair.harmless) {
        Ok(output) if output.status.success() && !denied(&output) => {
            seen("hook", "the hook", pair, policy, chart);
        }
        Ok(output) => {
            let found = format!(
                "the hook refuses a harmless command: {} {}",
                String::from_utf8_lossy(&output.stdout).trim(),
                told(&output)
            );
            chart.bad("hook", found, again);
        }
        Err(error) => chart.bad("hook", format!("the hook can't be started: {error}"), again),
    }
    match ask(&pair.refused) {
        Ok(output) if denied(&output) => chart.good("hook", "a harmful command is refused by the hook"),
        Ok(output) => {
            chart.bad(
                "hook",
                format!("the hook does not refuse a harmful command: {}", told(&output)),
                again,
            );
        }
        Err(error) => chart.bad("hook", format!("the hook can't be started: {error}"), again),
    }
}
