//! An agent's settings: what `install` changed is still there, and nothing beside it lets the client fall back to
//! another shell or leave its hook out.
//!
//! In: an agent, the changes made for it. Out: lines of a [`Chart`]. Never: changes a file.

use std::path::{Path, PathBuf};

use super::Chart;
use crate::hook::client::Client;
use crate::setup::agents::{Agent, Reach};
use crate::setup::change::{Change, Done, What};
use crate::setup::{json, program};
use crate::text::escape;

pub(super) fn look(agent: &Agent, changes: &[Change], chart: &mut Chart) {
    if changes.is_empty() {
        let again = format!(
            "start it by `agent-shctl run -- {}`, or `agent-shctl install {}`",
            first(agent),
            agent.name
        );
        chart.note("settings", "not installed here", again);
    } else {
        installed(agent, changes, chart);
        on_path(agent, changes, chart);
    }
    traps(agent, chart);
}

fn first(agent: &Agent) -> &'static str {
    agent.programs.first().copied().unwrap_or("")
}

/// Whether every change is still in its file.
fn installed(agent: &Agent, changes: &[Change], chart: &mut Chart) {
    let mut lost = Vec::new();
    for change in changes {
        let path = Path::new(&change.file);
        let there = match &change.what {
            What::Link(target) => std::fs::read_link(path).is_ok_and(|now| now == Path::new(target)),
            what @ (What::Item { .. } | What::Key { .. } | What::Lines(_) | What::File { .. }) => {
                let text = std::fs::read_to_string(path).ok();
                matches!(what.apply(text.as_deref()), Ok(Done::Already))
            }
        };
        if !there && !lost.contains(&change.file) {
            lost.push(change.file.clone());
        }
    }
    if lost.is_empty() {
        chart.good("settings", format!("{} changes are in place", changes.len()));
    } else {
        let found = format!("what install put into {} is gone", escape(&lost.join(", ")));
        chart.bad("settings", found, format!("run `agent-shctl install {}` again", agent.name));
    }
}

/// Whether the client's name leads to our launcher.
fn on_path(agent: &Agent, changes: &[Change], chart: &mut Chart) {
    let named = |path: &&Path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        agent.programs.contains(&name) && program::is_launcher(path)
    };
    let launchers: Vec<&Path> = changes.iter().map(|change| Path::new(&change.file)).filter(named).collect();
    if launchers.is_empty() || agent.reach == Reach::Hook {
        return;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    for launcher in launchers {
        let Some(name) = launcher.file_name() else { continue };
        let hit = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());
        let client = program::on_path(name, &path);
        let shown = escape(&name.to_string_lossy());
        match (hit, client) {
            (_, None) => chart.note("path", format!("{shown} itself is not on PATH"), ""),
            (Some(hit), Some(_)) if hit == launcher || program::is_launcher(&hit) => {
                chart.good("path", format!("{shown} is {}", hit.display()));
            }
            (hit, Some(client)) => {
                let found = format!("{shown} is {}, not the launcher", hit.unwrap_or(client).display());
                let folder = launcher.parent().unwrap_or(Path::new("/")).display().to_string();
                chart.bad("path", found, format!("log in again, or put {folder} first on PATH"));
            }
        }
    }
}

/// The ways in which clients leave agent-sh out without a word.
fn traps(agent: &Agent, chart: &mut Chart) {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let here = std::env::current_dir().unwrap_or_default();
    let folders = [&home, &here];
    match agent.hook {
        Some(Client::ClaudeCode) => claude(&folders, chart),
        Some(Client::Codex) => codex(&home, chart),
        Some(Client::Gemini) => {
            for file in folders.map(|folder| folder.join(".gemini/settings.json")) {
                off(&file, &["hooksConfig", "enabled"], false, chart);
            }
        }
        Some(Client::Qwen) => {
            for file in folders.map(|folder| folder.join(".qwen/settings.json")) {
                off(&file, &["disableAllHooks"], true, chart);
            }
        }
        Some(Client::OpenCode) => {
            for file in [
                here.join("opencode.json"),
                here.join("opencode.jsonc"),
                here.join(".opencode/opencode.json"),
            ] {
                shell(&file, &["shell"], chart);
            }
        }
        Some(Client::Copilot | Client::Cline | Client::Cursor | Client::Crush | Client::OpenHands) | None => {
        }
    }
}

fn value(file: &Path, path: &[&str]) -> Option<serde_json::Value> {
    json::get(&std::fs::read_to_string(file).ok()?, path)
}

/// A switch that turns every hook off.
fn off(file: &Path, path: &[&str], bad: bool, chart: &mut Chart) {
    if value(file, path) == Some(serde_json::Value::Bool(bad)) {
        let found = format!("{} sets {} = {bad}: no hook runs", file.display(), path.join("."));
        chart.bad("hooks", found, "take that out");
    }
}

/// A setting that names a shell which is not ours.
fn shell(file: &Path, path: &[&str], chart: &mut Chart) {
    let Some(named) = value(file, path).and_then(|value| value.as_str().map(PathBuf::from)) else { return };
    if !program::is_agent_sh(&named) {
        let found = format!(
            "{} names {} as the shell, which is not agent-sh",
            file.display(),
            escape(&named.to_string_lossy())
        );
        chart.bad("shell", found, "take that out");
    }
}

fn claude(folders: &[&PathBuf; 2], chart: &mut Chart) {
    let mut files: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| [folder.join(".claude/settings.json"), folder.join(".claude/settings.local.json")])
        .collect();
    files.push(PathBuf::from("/etc/claude-code/managed-settings.json"));
    files.dedup();
    for file in &files {
        off(file, &["disableAllHooks"], true, chart);
        shell(file, &["env", "CLAUDE_CODE_SHELL"], chart);
        let named = value(file, &["env", "CLAUDE_CODE_SHELL"]);
        falls_back(named.as_ref().and_then(|named| named.as_str()), chart);
    }
    let own = std::env::var("CLAUDE_CODE_SHELL").ok();
    falls_back(own.as_deref(), chart);
    if own.is_some_and(|path| !program::is_agent_sh(Path::new(&path))) {
        chart.bad("shell", "CLAUDE_CODE_SHELL is set in this environment and is not agent-sh", "unset it");
    }
}

/// The client silently takes another shell for a path without these words, or one that can't be run.
fn falls_back(named: Option<&str>, chart: &mut Chart) {
    let Some(named) = named else { return };
    if !named.contains("bash") && !named.contains("zsh") {
        let found = format!("the client passes over the shell {}: no bash or zsh in its path", escape(named));
        chart.bad("shell", found, "name a link to agent-sh that is called bash");
    } else if !Path::new(named).exists() {
        chart.bad(
            "shell",
            format!("the shell {} is not there; the client takes another", escape(named)),
            "run install again",
        );
    }
}

fn codex(home: &Path, chart: &mut Chart) {
    let text = std::fs::read_to_string(home.join(".codex/config.toml")).unwrap_or_default();
    let Ok(config) = text.parse::<toml::Table>() else {
        chart.note("hooks", "~/.codex/config.toml can't be read as TOML", "correct it");
        return;
    };
    let feature =
        |name: &str| config.get("features").and_then(|f| f.get(name)).and_then(toml::Value::as_bool);
    if feature("hooks") == Some(false) || feature("codex_hooks") == Some(false) {
        chart.bad("hooks", "~/.codex/config.toml switches hooks off", "take features.hooks = false out");
    }
    let installed = home.join(".codex/hooks.json").exists();
    let states = config.get("hooks").and_then(|hooks| hooks.get("state")).and_then(toml::Value::as_table);
    let trusted = states.is_some_and(|states| {
        states.keys().any(|key| key.contains("hooks.json") && key.contains("pre_tool_use"))
    });
    match (installed, trusted) {
        (true, false) => chart.note(
            "hooks",
            "codex has not been told to trust the hook, so it does not run it",
            "start codex and trust the hook when it asks",
        ),
        (true, true) => chart.good("hooks", "codex trusts a hook of hooks.json"),
        (false, _) => {}
    }
}
