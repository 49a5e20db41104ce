//! What a client asks: which shell texts its tool would run, and where.
//!
//! In: the client's JSON. Out: [`Request`], or why it can't be read.
//! Never: takes for harmless what it can't read: a shell tool without a text is an error.

use serde_json::Value;

use super::client::{Asks, Client, Facts};
use crate::text::judged;

/// One call of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// A tool that runs no shell text: none of our business.
    Other,
    Shell(Ask),
}

/// Shell texts before they run. All text is judged text (see [`crate::text`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// In the order in which the client runs them, each in a shell of its own.
    pub texts: Vec<String>,
    /// Absolute; empty where the client doesn't say.
    pub directory: String,
    /// The client's own name of the call; any text.
    pub call: Option<String>,
    /// Whether the client would put a question to its user now.
    pub user: User,
}

/// Whether somebody is there to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum User {
    Asked,
    Absent,
}

/// Keys of a tool's arguments that hold shell text.
const TEXTS: [&str; 5] = ["command", "cmd", "commands", "script", "code"];
/// Keys that hold the directory of this one call.
const DIRECTORIES: [&str; 5] = ["workdir", "working_dir", "working_directory", "directory", "dir_path"];
/// Parts of the names of tools that run shell text, under whatever name a client or a server of tools has them.
const SHELL_WORDS: [&str; 9] =
    ["bash", "shell", "sh", "zsh", "exec", "command", "commands", "terminal", "process"];

/// Reads one call.
///
/// # Errors
/// The JSON is broken, or holds no tool or no text where the client's form has one.
pub fn parse(client: Client, bytes: &[u8]) -> Result<Request, String> {
    let facts = client.facts();
    let json: Value =
        serde_json::from_slice(bytes).map_err(|error| format!("its input is no JSON: {error}"))?;
    if !json.is_object() {
        return Err("its input is no JSON object".to_owned());
    }
    let tool = match facts.tool {
        [] => None,
        paths => {
            let name = first(&json, paths).and_then(Value::as_str).filter(|name| !name.is_empty());
            Some(name.ok_or_else(|| format!("its input names no tool ({})", paths.join(" or ")))?)
        }
    };
    let known = tool.is_none_or(|tool| facts.shells.contains(&tool));
    if !known && !tool.is_some_and(is_shell_like) {
        return Ok(Request::Other);
    }
    let arguments = arguments(&json, facts)?;
    let texts = texts(&arguments)?;
    if texts.is_empty() {
        // a name that only sounds like a shell may be anything
        return if known { Err("its input holds no command".to_owned()) } else { Ok(Request::Other) };
    }
    if texts.iter().any(|text| text.contains('\0')) {
        return Err("its command holds a NUL byte, which no shell can be given".to_owned());
    }
    Ok(Request::Shell(Ask {
        texts,
        directory: directory(&json, &arguments, facts),
        call: first(&json, facts.call).and_then(Value::as_str).filter(|name| !name.is_empty()).map(own),
        user: user(&json, facts),
    }))
}

fn first<'j>(json: &'j Value, paths: &[&str]) -> Option<&'j Value> {
    paths.iter().find_map(|path| json.pointer(path))
}

/// Splits `mcp__desk__startProcess` into its words.
fn is_shell_like(tool: &str) -> bool {
    let mut words = vec![String::new()];
    for c in tool.chars() {
        if !c.is_ascii_alphanumeric() {
            words.push(String::new());
            continue;
        }
        if c.is_ascii_uppercase()
            && words.last().is_some_and(|w| !w.ends_with(|l: char| l.is_ascii_uppercase()))
        {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(c);
        }
    }
    words.iter().any(|word| SHELL_WORDS.contains(&word.to_ascii_lowercase().as_str()))
}

/// The tool's arguments; some clients put them into a string.
fn arguments(json: &Value, facts: &Facts) -> Result<Value, String> {
    let missing = || format!("its input holds no arguments of the tool ({})", facts.arguments.join(" or "));
    let found = first(json, facts.arguments).ok_or_else(missing)?;
    match found {
        Value::Object(_) => Ok(found.clone()),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::Object(map)) => Ok(Value::Object(map)),
            Ok(_) | Err(_) => Ok(serde_json::json!({ "command": text })),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => Err(missing()),
    }
}

fn texts(arguments: &Value) -> Result<Vec<String>, String> {
    let mut out = Vec::new();
    for key in TEXTS {
        match arguments.get(key) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) if key == "commands" => match serde_json::from_str(text) {
                Ok(list @ Value::Array(_)) => out.extend(texts(&serde_json::json!({ "commands": list }))?),
                Ok(_) | Err(_) => out.push(own(text)),
            },
            Some(Value::String(text)) => out.push(own(text)),
            Some(Value::Array(items)) if key == "commands" => {
                for item in items {
                    out.push(match item {
                        Value::String(text) => own(text),
                        Value::Object(_) => text_of(item).ok_or("one of its commands holds no text")?,
                        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                            return Err("one of its commands is no text".to_owned());
                        }
                    });
                }
            }
            Some(Value::Array(words)) => out.push(command_line(words)?),
            Some(Value::Bool(_) | Value::Number(_) | Value::Object(_)) => {
                return Err(format!("its `{key}` is no text"));
            }
        }
    }
    Ok(out)
}

/// An object of a command and perhaps its arguments.
fn text_of(item: &Value) -> Option<String> {
    let text = own(item.get("command")?.as_str()?);
    match item.get("args") {
        Some(Value::Array(words)) if !words.is_empty() => {
            let words: Vec<Value> =
                std::iter::once(Value::String(text)).chain(words.iter().cloned()).collect();
            command_line(&words).ok()
        }
        _ => Some(text),
    }
}

/// An argument vector as shell text that means the same: every word quoted.
fn command_line(words: &[Value]) -> Result<String, String> {
    let mut out = Vec::new();
    for word in words {
        let word = word.as_str().ok_or("its command is a list that holds something else than text")?;
        out.push(format!("'{}'", own(word).replace('\'', r"'\''")));
    }
    Ok(out.join(" "))
}

fn own(text: &str) -> String {
    judged(text.as_bytes()).into_owned()
}

fn directory(json: &Value, arguments: &Value, facts: &Facts) -> String {
    let base = facts
        .directory
        .iter()
        .find_map(|path| json.pointer(path).and_then(Value::as_str).filter(|path| path.starts_with('/')));
    let base = base.unwrap_or("");
    let own_one = DIRECTORIES.iter().find_map(|key| arguments.get(*key)).and_then(Value::as_str);
    let path = match own_one.filter(|path| !path.is_empty()) {
        Some(path) if path.starts_with('/') => path.to_owned(),
        Some(path) if !base.is_empty() => format!("{}/{path}", base.trim_end_matches('/')),
        Some(_) | None => base.to_owned(),
    };
    own(&path)
}

fn user(json: &Value, facts: &Facts) -> User {
    let mode = json.pointer("/permission_mode").and_then(Value::as_str).unwrap_or("");
    match facts.asks {
        Asks::Unless(modes) if !modes.contains(&mode) => User::Asked,
        Asks::Unless(_) | Asks::Never => User::Absent,
    }
}

#[cfg(test)]
#[allow(
    clippy::wildcard_enum_match_arm,
    clippy::too_many_lines,
    clippy::needless_for_each,
    clippy::large_stack_arrays,
    clippy::items_after_statements,
    clippy::format_collect
)]
mod tests {
    use super::*;

    fn asked(client: Client, json: &str) -> Result<Option<(Vec<String>, String, User)>, String> {
        parse(client, json.as_bytes()).map(|request| match request {
            Request::Other => None,
            Request::Shell(ask) => Some((ask.texts, ask.directory, ask.user)),
        })
    }

    #[test]
    fn every_client_s_command_is_found() {
        use User::{Absent, Asked};
        let cases = [
            (
                Client::ClaudeCode,
                r#"{"cwd":"/p","tool_name":"Bash","tool_input":{"command":"ls"}}"#,
                "ls",
                "/p",
                Asked,
            ),
            (
                Client::ClaudeCode,
                r#"{"cwd":"/p","permission_mode":"bypassPermissions","tool_name":"Bash","tool_input":{"command":"ls"}}"#,
                "ls",
                "/p",
                Absent,
            ),
            (
                Client::Codex,
                r#"{"cwd":"/p","tool_name":"shell","tool_input":{"command":["bash","-lc","echo 'a'"]}}"#,
                r"'bash' '-lc' 'echo '\''a'\'''",
                "/p",
                Absent,
            ),
            (
                Client::Gemini,
                r#"{"cwd":"/p","tool_name":"run_shell_command","tool_input":{"command":"ls","dir_path":"sub"}}"#,
                "ls",
                "/p/sub",
                Absent,
            ),
            (
                Client::Qwen,
                r#"{"cwd":"/p","tool_name":"run_shell_command","tool_input":{"command":"ls","directory":"/q"}}"#,
                "ls",
                "/q",
                Asked,
            ),
            (
                Client::Copilot,
                r#"{"cwd":"/p","toolName":"bash","toolArgs":"{\"command\":\"ls\"}"}"#,
                "ls",
                "/p",
                Absent,
            ),
            (
                Client::Cline,
                r#"{"workspaceRoots":["/p"],"preToolUse":{"toolName":"run_commands","parameters":{"commands":["ls"]}}}"#,
                "ls",
                "/p",
                Absent,
            ),
            (
                Client::Cline,
                r#"{"workspaceRoots":["/p"],"preToolUse":{"toolName":"run_commands","parameters":{"commands":"[\"ls\"]"}}}"#,
                "ls",
                "/p",
                Absent,
            ),
            (Client::Cursor, r#"{"command":"ls","cwd":"","workspace_roots":["/p"]}"#, "ls", "/p", Asked),
            (
                Client::OpenCode,
                r#"{"tool":"bash","cwd":"/p","args":{"command":"ls","workdir":"x"}}"#,
                "ls",
                "/p/x",
                Absent,
            ),
            (
                Client::Crush,
                r#"{"cwd":"/p","tool_name":"bash","tool_input":{"command":"ls"}}"#,
                "ls",
                "/p",
                Absent,
            ),
            (
                Client::OpenHands,
                r#"{"working_dir":"/p","tool_name":"terminal","tool_input":{"command":"ls"}}"#,
                "ls",
                "/p",
                Absent,
            ),
        ];
        for (client, json, text, directory, user) in cases {
            let expected = Ok(Some((vec![text.to_owned()], directory.to_owned(), user)));
            assert_eq!(asked(client, json), expected, "{json}");
        }
    }

    #[test]
    fn a_call_s_own_name_is_taken_where_there_is_one() {
        for (client, json, call) in [
            (
                Client::ClaudeCode,
                r#"{"tool_use_id":"toolu_1","tool_name":"Bash","tool_input":{"command":"ls"}}"#,
                Some("toolu_1"),
            ),
            (
                Client::Codex,
                r#"{"tool_use_id":"call_2","tool_name":"Bash","tool_input":{"command":"ls"}}"#,
                Some("call_2"),
            ),
            (Client::Gemini, r#"{"tool_name":"run_shell_command","tool_input":{"command":"ls"}}"#, None),
            (
                Client::ClaudeCode,
                r#"{"tool_use_id":7,"tool_name":"Bash","tool_input":{"command":"ls"}}"#,
                None,
            ),
            (
                Client::Cline,
                r#"{"tool_call":{"id":"c3","name":"run_commands","input":{"commands":["ls"]}}}"#,
                Some("c3"),
            ),
        ] {
            let Ok(Request::Shell(ask)) = parse(client, json.as_bytes()) else { panic!("{json}") };
            assert_eq!(ask.call.as_deref(), call, "{json}");
        }
    }

    #[test]
    fn tools_that_run_no_shell_text_pass_and_shells_by_other_names_do_not() {
        for (tool, is_shell) in [
            ("Read", false),
            ("Edit", false),
            ("Task", false),
            ("BashOutput", true),
            ("mcp__desk__start_process", true),
            ("mcp__x__executeCommand", true),
            ("mcp__x__runShell", true),
            ("str_replace_editor", false),
            ("push", false),
        ] {
            let json = format!(r#"{{"tool_name":"{tool}","tool_input":{{"command":"ls"}}}}"#);
            assert_eq!(asked(Client::ClaudeCode, &json).map(|found| found.is_some()), Ok(is_shell), "{tool}");
        }
        let nothing = r#"{"tool_name":"BashOutput","tool_input":{"bash_id":"1"}}"#;
        assert_eq!(asked(Client::ClaudeCode, nothing), Ok(None));
    }

    #[test]
    fn what_can_t_be_read_is_an_error() {
        for (client, json) in [
            (Client::ClaudeCode, ""),
            (Client::ClaudeCode, "{"),
            (Client::ClaudeCode, "[]"),
            (Client::ClaudeCode, "{}"),
            (Client::ClaudeCode, r#"{"tool_name":7,"tool_input":{"command":"ls"}}"#),
            (Client::ClaudeCode, r#"{"tool_name":"Bash"}"#),
            (Client::ClaudeCode, r#"{"tool_name":"Bash","tool_input":{}}"#),
            (Client::ClaudeCode, r#"{"tool_name":"Bash","tool_input":{"command":7}}"#),
            (Client::ClaudeCode, r#"{"tool_name":"Bash","tool_input":{"command":"a\u0000b"}}"#),
            (Client::ClaudeCode, r#"{"tool_name":"Bash","tool_input":{"command":"\ud800"}}"#),
            (Client::Codex, r#"{"tool_name":"Bash","tool_input":{"command":["a",1]}}"#),
            (Client::Cline, r#"{"preToolUse":{"toolName":"run_commands","parameters":{"commands":[1]}}}"#),
            (Client::Cursor, "{}"),
        ] {
            assert!(asked(client, json).is_err(), "{json}");
        }
        assert!(parse(Client::Cursor, b"{\"command\":\"\xff\"}").is_err());
    }
}
