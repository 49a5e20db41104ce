//! Which files an agent's setup changes, and how.
//!
//! In: an agent, the places of a scope. Out: [`Change`]s in order. Never: reads settings to decide what is safe.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::agents::{Agent, Reach};
use super::change::{Change, What};
use super::program::{self, LAUNCHER_MARK};
use super::stage::SHELLS;
use crate::hook::client::Client;

/// Whose files are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    User,
    System,
}

/// How much is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    All,
    /// the client's own hook and nothing else
    Hook,
}

/// Where things are in a scope.
#[derive(Clone, Debug)]
pub struct Places {
    pub scope: Scope,
    pub home: PathBuf,
    pub agent_sh: PathBuf,
    pub agent_shctl: PathBuf,
}

impl Places {
    /// This user's, or the system's.
    ///
    /// # Errors
    /// There is no home, or no agent-sh.
    pub fn of(scope: Scope) -> Result<Self, String> {
        let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let home = home.or_else(|| (scope == Scope::System).then(PathBuf::new)).ok_or("HOME is not set")?;
        let own = std::env::current_exe()
            .map_err(|error| format!("agent-shctl does not know where it is: {error}"))?;
        Ok(Self { scope, home, agent_sh: program::agent_sh()?, agent_shctl: own })
    }

    /// Where the ledger is.
    pub fn state(&self) -> PathBuf {
        match self.scope {
            Scope::User => self.home.join(".local/state/agent-sh/setup"),
            Scope::System => PathBuf::from("/var/lib/agent-sh/setup"),
        }
    }

    /// The folder of launchers.
    pub fn launchers(&self) -> PathBuf {
        match self.scope {
            Scope::User => self.home.join(".local/share/agent-sh/launch"),
            Scope::System => PathBuf::from("/usr/lib/agent-sh/launch"),
        }
    }

    /// The folder of shells that are agent-sh, for settings that name one.
    pub fn shims(&self) -> PathBuf {
        let packaged = PathBuf::from("/usr/lib/agent-sh/shim");
        match self.scope {
            Scope::User if !program::is_agent_sh(&packaged.join("bash")) => {
                self.home.join(".local/share/agent-sh/shim")
            }
            Scope::User | Scope::System => packaged,
        }
    }

    fn hook(&self, client: Client) -> String {
        format!("{} hook {}", quoted(&self.agent_shctl), client.name())
    }
}

fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    if text.chars().all(plain) { text.into_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

fn change(file: impl AsRef<Path>, what: What) -> Change {
    Change { file: file.as_ref().to_string_lossy().into_owned(), what }
}

fn keys(path: &str) -> Vec<String> {
    path.split('.').map(str::to_owned).collect()
}

/// Everything for one agent.
///
/// # Errors
/// The scope has no place for it; the message says what to do instead.
pub fn plan(agent: &Agent, places: &Places, part: Part) -> Result<Vec<Change>, String> {
    let mut out = Vec::new();
    if let Some(client) = agent.hook.filter(|client| part == Part::Hook || tells_the_model(*client)) {
        hook(client, places, &mut out)?;
    }
    if part == Part::Hook {
        return if out.is_empty() { Err(format!("{} has no hook", agent.name)) } else { Ok(out) };
    }
    let bash = places.shims().join("bash").to_string_lossy().into_owned();
    let setting = match agent.hook {
        Some(Client::ClaudeCode) => Some((settings(Client::ClaudeCode, places)?, "env.CLAUDE_CODE_SHELL")),
        Some(Client::OpenCode) => Some((settings(Client::OpenCode, places)?, "shell")),
        Some(_) | None => None,
    };
    if let Some((file, key)) = setting {
        shims(places, &mut out);
        out.push(change(file, What::Key { path: keys(key), value: Value::String(bash), old: None }));
    }
    if agent.reach != Reach::Hook {
        launchers(agent, places, &mut out);
    }
    Ok(out)
}

/// Whether a hook's refusal reaches the model. Cline ends its turn at one: where its shell is agent-sh, that one's refusal
/// is the better, and the hook would come before it.
fn tells_the_model(client: Client) -> bool {
    client != Client::Cline
}

/// The file of a client's settings.
fn settings(client: Client, places: &Places) -> Result<PathBuf, String> {
    let user = |path: &str| Ok(places.home.join(path));
    let nowhere = || Err(format!("{} has no settings for the whole system; use --user", client.name()));
    match (client, places.scope) {
        (Client::ClaudeCode, Scope::User) => user(".claude/settings.json"),
        (Client::ClaudeCode, Scope::System) => Ok(PathBuf::from("/etc/claude-code/managed-settings.json")),
        (Client::Codex, Scope::User) => user(".codex/hooks.json"),
        (Client::Gemini, Scope::User) => user(".gemini/settings.json"),
        (Client::Gemini, Scope::System) => Ok(PathBuf::from("/etc/gemini-cli/settings.json")),
        (Client::Qwen, Scope::User) => user(".qwen/settings.json"),
        (Client::Qwen, Scope::System) => Ok(PathBuf::from("/etc/qwen-code/settings.json")),
        (Client::Copilot, Scope::User) => user(".copilot/hooks/agent-sh.json"),
        (Client::Cline, Scope::User) => user(".cline/hooks/PreToolUse"),
        (Client::Cursor, Scope::User) => user(".cursor/hooks.json"),
        (Client::Cursor, Scope::System) => Ok(PathBuf::from("/etc/cursor/hooks.json")),
        (Client::OpenCode, Scope::User) => {
            let folder = places.home.join(".config/opencode");
            let commented = folder.join("opencode.jsonc");
            Ok(if commented.exists() { commented } else { folder.join("opencode.json") })
        }
        (Client::Crush, Scope::User) => user(".config/crush/crush.json"),
        (Client::OpenHands, Scope::User) => user(".openhands/hooks.json"),
        (
            Client::Codex
            | Client::Copilot
            | Client::Cline
            | Client::OpenCode
            | Client::Crush
            | Client::OpenHands,
            Scope::System,
        ) => nowhere(),
    }
}

/// The client's hook. `|| exit 2` blocks where the program can't be started: other statuses let the command run.
fn hook(client: Client, places: &Places, out: &mut Vec<Change>) -> Result<(), String> {
    let file = settings(client, places)?;
    let command = places.hook(client);
    let blocking = format!("{command} || exit 2");
    let claude_like =
        |matcher: &str| json!({"matcher": matcher, "hooks": [{"type": "command", "command": blocking}]});
    let item = |path: &str, item: Value| What::Item { path: keys(path), item };
    match client {
        Client::ClaudeCode | Client::Codex => {
            out.push(change(file, item("hooks.PreToolUse", claude_like("Bash|mcp__.*"))));
        }
        Client::Qwen => {
            out.push(change(file, item("hooks.PreToolUse", claude_like("run_shell_command|mcp__.*"))));
        }
        Client::Gemini => {
            out.push(change(file, item("hooks.BeforeTool", claude_like("run_shell_command|mcp_.*"))));
        }
        Client::OpenHands => out.push(change(file, item("hooks.PreToolUse", claude_like("*")))),
        Client::Crush => {
            let own = json!({"matcher": "^(bash|mcp_.*)$", "command": blocking});
            out.push(change(file, item("hooks.PreToolUse", own)));
        }
        Client::Cursor => {
            out.push(change(
                &file,
                item("hooks.beforeShellExecution", json!({"command": blocking, "failClosed": true})),
            ));
            out.push(change(file, What::Key { path: keys("version"), value: json!(1), old: None }));
        }
        Client::Copilot => {
            let no = json!({"permissionDecision": "deny", "permissionDecisionReason": UNSTARTED});
            let own = json!({"version": 1, "hooks": {"preToolUse": [
                {"type": "command", "bash": format!("{command} || echo '{no}'"), "timeoutSec": 30}]}});
            out.push(change(file, What::File { text: format!("{own:#}\n"), executable: false }));
        }
        Client::Cline => {
            let no = json!({"cancel": true, "errorMessage": UNSTARTED});
            let text = format!("#!/bin/sh\n{LAUNCHER_MARK}\n{command} || echo '{no}'\n");
            out.push(change(file, What::File { text, executable: true }));
        }
        Client::OpenCode => {
            let file = places.home.join(".config/opencode/plugin/agent-sh.js");
            let program = Value::String(places.agent_shctl.to_string_lossy().into_owned()).to_string();
            let text = PLUGIN.replace("\"agent-shctl\"", &program);
            out.push(change(file, What::File { text, executable: false }));
        }
    }
    Ok(())
}

/// What a client is told whose hook can't be started.
const UNSTARTED: &str = "agent-sh: denied: agent-shctl could not be started, so nothing runs";

/// Asks `agent-shctl hook opencode` before each tool.
const PLUGIN: &str = include_str!("../../packaging/hooks/opencode/agent-sh.js");

fn shims(places: &Places, out: &mut Vec<Change>) {
    let target = places.agent_sh.to_string_lossy().into_owned();
    for shell in SHELLS {
        let installed = Path::new(shell.place()).exists();
        let file = places.shims().join(shell.name());
        let packaged = places.scope == Scope::User && file.starts_with("/usr");
        if installed && !packaged {
            out.push(change(file, What::Link(target.clone())));
        }
    }
}

/// A launcher for each of the agent's programs, and the lines that put their folder in front.
fn launchers(agent: &Agent, places: &Places, out: &mut Vec<Change>) {
    let folder = places.launchers();
    let control = quoted(&places.agent_shctl);
    for name in agent.programs {
        let text =
            format!("#!/bin/sh\n{LAUNCHER_MARK}\nexec {control} run --as {} -- {name} \"$@\"\n", agent.name);
        out.push(change(folder.join(name), What::File { text, executable: true }));
    }
    let shown = quoted(&folder);
    let lines = format!(
        "# >>> agent-sh: launchers of agents come first >>>\n\
         case \":$PATH:\" in \":{shown}:\"*) ;; *) PATH={shown}:$PATH; export PATH ;; esac\n\
         # <<< agent-sh <<<\n"
    );
    if places.scope == Scope::System {
        out.push(change("/etc/profile.d/zz-agent-sh.sh", What::Lines(lines)));
        return;
    }
    let there = |name: &&str| places.home.join(name).exists();
    // the first of these that exists is what bash reads at a login (bash manual, "Bash Startup Files")
    let login = [".bash_profile", ".bash_login", ".profile"]
        .into_iter()
        .find(|name| there(name))
        .unwrap_or(".profile");
    let others = [".bashrc", ".zshrc", ".zprofile"].into_iter().filter(there);
    for name in std::iter::once(login).chain(others) {
        out.push(change(places.home.join(name), What::Lines(lines.clone())));
    }
    if places.home.join(".config/fish").is_dir() {
        let text = format!("{LAUNCHER_MARK}\nfish_add_path --path --prepend --move {shown}\n");
        out.push(change(
            places.home.join(".config/fish/conf.d/agent-sh.fish"),
            What::File { text, executable: false },
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::agents::named;
    use crate::setup::change::Done;
    use std::collections::BTreeMap;

    fn places(scope: Scope) -> Places {
        Places {
            scope,
            home: PathBuf::from("/nonexistent"),
            agent_sh: PathBuf::from("/usr/bin/agent-sh"),
            agent_shctl: PathBuf::from("/usr/bin/agent-shctl"),
        }
    }

    #[test]
    fn packaged_hooks_are_what_install_writes() {
        for client in Client::ALL {
            let agent = named(client.name()).unwrap();
            let mut files: BTreeMap<String, String> = BTreeMap::new();
            for change in plan(agent, &places(Scope::User), Part::Hook).unwrap() {
                let now = files.get(&change.file).cloned();
                match change.what.apply(now.as_deref()).unwrap() {
                    Done::Text(text, _) => drop(files.insert(change.file, text)),
                    Done::Already => {}
                }
            }
            for (file, text) in files {
                let name = file.rsplit('/').next().unwrap();
                let packaged = format!("packaging/hooks/{}/{name}", client.name());
                let packaged = std::fs::read_to_string(&packaged).unwrap_or_else(|_| panic!("no {packaged}"));
                // the plugin finds the program on PATH
                let packaged = packaged.replace("\"agent-shctl\"\n", "\"/usr/bin/agent-shctl\"\n");
                assert_eq!(text, packaged, "{file}");
            }
        }
    }

    #[test]
    fn paths_with_blanks_are_quoted_and_what_the_system_has_no_place_for_is_said() {
        assert_eq!(quoted(Path::new("/opt/a b/it's")), r"'/opt/a b/it'\''s'");
        let why = plan(named("codex").unwrap(), &places(Scope::System), Part::All).unwrap_err();
        assert_eq!(why, "codex has no settings for the whole system; use --user");
        let changes = plan(named("goose").unwrap(), &places(Scope::System), Part::All).unwrap();
        let files: Vec<&str> = changes.iter().map(|change| change.file.as_str()).collect();
        assert_eq!(files, ["/usr/lib/agent-sh/launch/goose", "/etc/profile.d/zz-agent-sh.sh"]);
    }
}
