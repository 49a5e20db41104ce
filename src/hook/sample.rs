//! What a client would hand its hook for a command: for trying a hook out.
//!
//! In: a client, a command, a directory. Out: the client's JSON. Never: used to judge anything.

use serde_json::{Value, json};

use super::client::Client;

/// The client's input for a shell command.
pub fn sample(client: Client, command: &str, directory: &str) -> Value {
    let tool = client.facts().shells.first().copied().unwrap_or("");
    match client {
        Client::ClaudeCode | Client::Codex | Client::Qwen | Client::Crush => json!({
            "session_id": "doctor", "cwd": directory, "hook_event_name": "PreToolUse", "tool_name": tool,
            "tool_input": {"command": command}}),
        Client::Gemini => json!({
            "session_id": "doctor", "cwd": directory, "hook_event_name": "BeforeTool", "tool_name": tool,
            "tool_input": {"command": command}}),
        Client::Copilot => json!({
            "sessionId": "doctor", "cwd": directory, "toolName": tool, "toolArgs": {"command": command}}),
        Client::Cline => json!({
            "hookName": "tool_call", "workspaceRoots": [directory],
            "tool_call": {"name": tool, "input": {"commands": [command]}}}),
        Client::Cursor => json!({
            "hook_event_name": "beforeShellExecution", "command": command, "cwd": directory,
            "workspace_roots": [directory]}),
        Client::OpenCode => json!({"tool": tool, "cwd": directory, "args": {"command": command}}),
        Client::OpenHands => json!({
            "event_type": "PreToolUse", "tool_name": tool, "tool_input": {"command": command},
            "working_dir": directory}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::request::{Request, parse};

    #[test]
    fn each_sample_is_read_as_its_command() {
        for client in Client::ALL {
            let input = sample(client, "echo 'a b'", "/p").to_string();
            match parse(client, input.as_bytes()) {
                Ok(Request::Shell(ask)) => {
                    assert_eq!((ask.texts, ask.directory), (vec!["echo 'a b'".to_owned()], "/p".to_owned()));
                }
                other => panic!("{client:?}: {other:?}"),
            }
        }
    }
}
