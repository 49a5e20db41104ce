//! Which client is behind a call that is in no wrapper: for the record.
//!
//! In: the environment, the names of the processes above. Out: a name. Never: weighs in a verdict: both can
//! be made up by anyone.

use std::collections::HashMap;

/// Variables that a client sets for what it runs; the value, where it matters.
const VARIABLES: &[(&str, Option<&str>, &str)] = &[
    ("CLAUDECODE", None, "claude-code"),
    ("CODEX_THREAD_ID", None, "codex"),
    ("CODEX_CI", None, "codex"),
    ("QWEN_CODE", None, "qwen"),
    ("GEMINI_CLI", None, "gemini"),
    ("COPILOT_CLI", None, "copilot"),
    ("OPENCODE", None, "opencode"),
    ("CRUSH", None, "crush"),
    ("GROK_AGENT", None, "grok"),
    ("CURSOR_AGENT", None, "cursor"),
    ("CURSOR_TRACE_ID", None, "cursor"),
    ("CLINE_ACTIVE", None, "cline"),
    ("CLINE_CONNECTOR_CLI_LAUNCH", None, "cline"),
    ("GOOSE_TERMINAL", None, "goose"),
    ("DSH_SESSION_ID", None, "dsh"),
    ("npm_lifecycle_event", None, "npm"),
    ("SSH_ORIGINAL_COMMAND", None, "ssh"),
    ("TERM_PROGRAM", Some("vscode"), "vscode"),
    ("MAKELEVEL", None, "make"),
];

/// Names of programs, as the file or the script that an interpreter runs is called.
const PROGRAMS: &[(&str, &str)] = &[
    ("claude", "claude-code"),
    ("codex", "codex"),
    ("gemini", "gemini"),
    ("qwen", "qwen"),
    ("opencode", "opencode"),
    ("copilot", "copilot"),
    ("cline", "cline"),
    ("cline-hub-daemon", "cline"),
    ("cursor-agent", "cursor"),
    ("grok", "grok"),
    ("aider", "aider"),
    ("mini", "mini-swe-agent"),
    ("mini-swe-agent", "mini-swe-agent"),
    ("swerex-remote", "swe-rex"),
    ("sweagent", "swe-rex"),
    ("goose", "goose"),
    ("goosed", "goose"),
    ("crush", "crush"),
    ("desktop-commander", "desktop-commander"),
    ("dsh", "dsh"),
    ("openhands", "openhands"),
    ("interpreter", "open-interpreter"),
    ("make", "make"),
    ("gmake", "make"),
    ("npm", "npm"),
    ("cron", "cron"),
    ("crond", "cron"),
    ("sshd", "ssh"),
    ("sshd-session", "ssh"),
];

/// By the environment; a client's own variable outweighs one of the programs that clients run.
pub fn by_environment<S: std::hash::BuildHasher>(
    environment: &HashMap<String, String, S>,
) -> Option<&'static str> {
    let holds = |name: &str, value: Option<&str>| {
        environment.get(name).is_some_and(|is| !is.is_empty() && value.is_none_or(|value| value == is))
    };
    VARIABLES.iter().find(|(name, value, _)| holds(name, *value)).map(|(_, _, framework)| *framework)
}

/// By the nearest ancestor that has a known name.
pub fn by_ancestors(ancestors: impl IntoIterator<Item = String>) -> Option<&'static str> {
    let known = |name: String| PROGRAMS.iter().find(|(program, _)| *program == name);
    ancestors.into_iter().find_map(known).map(|(_, framework)| *framework)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_named_by_their_variables_and_by_the_nearest_ancestor() {
        let environment = |names: &[(&str, &str)]| -> HashMap<String, String> {
            names.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        for (names, expected) in [
            (&[("MAKELEVEL", "1"), ("CODEX_CI", "1")][..], Some("codex")),
            (&[("TERM_PROGRAM", "vscode")], Some("vscode")),
            (&[("TERM_PROGRAM", "xterm")], None),
            (&[("CLAUDECODE", "")], None),
            (&[], None),
        ] {
            assert_eq!(by_environment(&environment(names)), expected, "{names:?}");
        }
        let names = |names: &str| names.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(by_ancestors(names("bash aider make")), Some("aider"));
        assert_eq!(by_ancestors(names("bash init")), None);
    }
}
