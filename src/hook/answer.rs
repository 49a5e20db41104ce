//! The answer in a client's own contract.
//!
//! In: a [`Ruling`]. Out: [`Reply`]: what goes to standard output and error, and the exit status.
//! Never: leaves a refusal to the status alone where the client reads the answer, nor the reverse.

use serde_json::json;

use super::client::{Client, Contract};

/// What is thought of all texts of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// Not refused; the client goes on as it would have without us.
    Pass,
    /// The client should ask its user.
    Ask(String),
    Deny(String),
}

/// What the process says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub out: String,
    pub errors: String,
    pub status: u8,
}

/// Exit status with which most clients block.
pub(super) const BLOCKS: u8 = 2;

/// Words a ruling.
pub fn reply(client: Client, ruling: &Ruling) -> Reply {
    let said = |json: serde_json::Value| Reply { out: format!("{json}\n"), errors: String::new(), status: 0 };
    let silent = || Reply { out: String::new(), errors: String::new(), status: 0 };
    let (word, reason) = match ruling {
        // Where silence means "as you would without me", nothing is said: "allow" would spare the user a question.
        Ruling::Pass => {
            return match client.facts().contract {
                Contract::Plugin => said(json!({"decision": "allow"})),
                Contract::Cancel => said(json!({"cancel": false})),
                Contract::PreToolUse | Contract::Decision | Contract::Permission | Contract::Cursor => {
                    silent()
                }
            };
        }
        Ruling::Ask(reason) => ("ask", reason),
        Ruling::Deny(reason) => ("deny", reason),
    };
    said(match client.facts().contract {
        Contract::PreToolUse => json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": reason}}),
        Contract::Decision | Contract::Plugin => json!({"decision": word, "reason": reason}),
        Contract::Permission => json!({"permissionDecision": word, "permissionDecisionReason": reason}),
        Contract::Cancel => json!({"cancel": true, "errorMessage": reason}),
        Contract::Cursor => json!({"permission": word, "user_message": reason, "agent_message": reason,
            "userMessage": reason, "agentMessage": reason}),
    })
}

/// Refuses a call that could not be read: by the answer, and by the status where the client has one for that.
pub fn broken(client: Client, why: &str) -> Reply {
    let why = crate::text::escape(why);
    let name = client.name();
    let reason = format!(
        "agent-sh: denied: the hook of {name} can't judge this call, so nothing runs: {why}\n\
         instead: run `agent-shctl doctor {name}`; another version of {name} may need another agent-sh\n"
    );
    let reply = reply(client, &Ruling::Deny(reason.clone()));
    Reply { errors: reason, status: client.facts().blocks.unwrap_or(0), ..reply }
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

    #[test]
    fn a_refusal_is_worded_as_each_client_reads_it() {
        for (client, expected) in [
            (
                Client::ClaudeCode,
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#,
            ),
            (
                Client::Codex,
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#,
            ),
            (Client::Gemini, r#"{"decision":"deny","reason":"no"}"#),
            (Client::Copilot, r#"{"permissionDecision":"deny","permissionDecisionReason":"no"}"#),
            (Client::Cline, r#"{"cancel":true,"errorMessage":"no"}"#),
            (
                Client::Cursor,
                r#"{"agentMessage":"no","agent_message":"no","permission":"deny","userMessage":"no","user_message":"no"}"#,
            ),
            (Client::OpenCode, r#"{"decision":"deny","reason":"no"}"#),
            (Client::Crush, r#"{"decision":"deny","reason":"no"}"#),
            (Client::OpenHands, r#"{"decision":"deny","reason":"no"}"#),
        ] {
            let reply = reply(client, &Ruling::Deny("no".to_owned()));
            assert_eq!((reply.out.trim_end(), reply.status), (expected, 0), "{client:?}");
        }
    }

    #[test]
    fn nobody_is_told_allow_who_would_ask() {
        for client in Client::ALL {
            let expected = match client {
                Client::OpenCode => "{\"decision\":\"allow\"}\n",
                Client::Cline => "{\"cancel\":false}\n",
                _ => "",
            };
            let reply = reply(client, &Ruling::Pass);
            assert_eq!((reply.out.as_str(), reply.status), (expected, 0), "{client:?}");
        }
    }

    #[test]
    fn what_can_t_be_read_is_refused_by_answer_and_by_status() {
        for client in Client::ALL {
            let reply = broken(client, "a\x1b[2J");
            let status = if matches!(client, Client::Copilot | Client::Cline) { 0 } else { 2 };
            assert_eq!(reply.status, status, "{client:?}");
            assert!(
                reply.out.contains("can't judge this call") && reply.errors.contains("a\\x1b[2J"),
                "{reply:?}"
            );
        }
    }
}
