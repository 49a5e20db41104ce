//! The agents that we know: how each of them reaches a shell.
//!
//! In: an agent's or its program's name. Out: [`Agent`]. Never: changes anything.

use crate::hook::client::Client;
use crate::invocation::shell::ShellName;

/// How an agent comes to its shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// by `PATH`, `SHELL` or a setting: a folder of shells in front is enough
    Path,
    /// by a path in its program: agent-sh must stand at these shells' places
    Places(&'static [ShellName]),
    /// it runs no shell at all; only its hook sees commands
    Hook,
}

/// One agent.
#[derive(Debug, PartialEq, Eq)]
pub struct Agent {
    pub name: &'static str,
    /// Its programs' names.
    pub programs: &'static [&'static str],
    pub reach: Reach,
    /// Variables that are set to the path of agent-sh under the name of bash.
    pub variables: &'static [&'static str],
    pub hook: Option<Client>,
    /// What `doctor` tells about it that can't be looked at.
    pub caution: &'static str,
}

const ALL_SHELLS: &[ShellName] = &[ShellName::Bash, ShellName::Sh, ShellName::Dash, ShellName::Zsh];
const SH: &[ShellName] = &[ShellName::Sh, ShellName::Dash];
const BASH: &[ShellName] = &[ShellName::Bash];

/// A program that we don't know: every shell's place is taken.
pub const UNKNOWN: Agent = Agent {
    name: "",
    programs: &[],
    reach: Reach::Places(ALL_SHELLS),
    variables: &[],
    hook: None,
    caution: "",
};

pub const AGENTS: &[Agent] = &[
    Agent {
        name: "claude-code",
        programs: &["claude"],
        reach: Reach::Path,
        variables: &["CLAUDE_CODE_SHELL"],
        hook: Some(Client::ClaudeCode),
        caution: "",
    },
    Agent {
        name: "codex",
        programs: &["codex"],
        // its shell is the user table's, and its model may ask for another by name
        reach: Reach::Places(ALL_SHELLS),
        hook: Some(Client::Codex),
        caution: "",
        ..UNKNOWN
    },
    Agent {
        name: "gemini",
        programs: &["gemini"],
        reach: Reach::Path,
        hook: Some(Client::Gemini),
        ..UNKNOWN
    },
    Agent { name: "qwen", programs: &["qwen"], reach: Reach::Path, hook: Some(Client::Qwen), ..UNKNOWN },
    Agent {
        name: "opencode",
        programs: &["opencode"],
        reach: Reach::Path,
        hook: Some(Client::OpenCode),
        ..UNKNOWN
    },
    Agent {
        name: "copilot",
        programs: &["copilot"],
        reach: Reach::Places(BASH),
        hook: Some(Client::Copilot),
        ..UNKNOWN
    },
    Agent {
        name: "cline",
        programs: &["cline"],
        reach: Reach::Places(BASH),
        hook: Some(Client::Cline),
        caution: "a hub daemon outlives a run and keeps the namespace that it was started in",
        ..UNKNOWN
    },
    Agent {
        name: "cursor",
        programs: &["cursor-agent", "cursor"],
        reach: Reach::Places(BASH),
        hook: Some(Client::Cursor),
        ..UNKNOWN
    },
    Agent { name: "goose", programs: &["goose"], reach: Reach::Places(BASH), ..UNKNOWN },
    // at a terminal it takes SHELL, else /bin/sh
    Agent { name: "aider", programs: &["aider"], reach: Reach::Places(SH), ..UNKNOWN },
    Agent {
        name: "mini-swe-agent",
        programs: &["mini", "mini-swe-agent"],
        reach: Reach::Places(SH),
        ..UNKNOWN
    },
    Agent {
        name: "openhands",
        programs: &["openhands"],
        reach: Reach::Places(BASH),
        hook: Some(Client::OpenHands),
        caution: "it types into one long-lived shell, which agent-sh refuses; only the hook sees each command",
        ..UNKNOWN
    },
    Agent { name: "crush", programs: &["crush"], reach: Reach::Hook, hook: Some(Client::Crush), ..UNKNOWN },
];

/// An agent by its own name.
pub fn named(name: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|agent| agent.name == name)
}

/// An agent by its program's name, without folder.
pub fn of_program(program: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|agent| agent.programs.contains(&program))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_belong_to_one_agent_each() {
        let mut seen: Vec<&str> = AGENTS.iter().flat_map(|agent| agent.programs.iter().copied()).collect();
        let count = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), count);
        assert_eq!(of_program("claude").map(|agent| agent.name), Some("claude-code"));
        assert_eq!(named("mini-swe-agent").map(|agent| agent.reach), Some(Reach::Places(SH)));
        assert_eq!(of_program("vi"), None);
    }
}
