//! The clients whose hooks are answered: where their JSON keeps what, and which answer they understand.
//!
//! In: a client's name. Out: [`Client`] and its [`Facts`]. Never: knows how anything is judged.

/// A client with a hook that runs before its shell tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    ClaudeCode,
    Codex,
    Gemini,
    Qwen,
    Copilot,
    Cline,
    Cursor,
    OpenCode,
    Crush,
    OpenHands,
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contract {
    /// `hookSpecificOutput.permissionDecision`
    PreToolUse,
    /// `decision`, `reason`
    Decision,
    /// `permissionDecision`, `permissionDecisionReason` at the top
    Permission,
    /// `cancel`, `errorMessage`
    Cancel,
    /// `permission`, `user_message`, `agent_message`
    Cursor,
    /// our own plugin's: `decision`, `reason`, said for ALLOW too
    Plugin,
}

/// Whether the client can put a question to its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    Never,
    /// unless its input says that it runs without asking
    Unless(&'static [&'static str]),
}

/// Where a client's JSON keeps what. Paths are JSON pointers (RFC 6901); the first that is there counts.
#[derive(Debug)]
pub struct Facts {
    pub name: &'static str,
    /// The tool's name; empty: the input is always a command.
    pub tool: &'static [&'static str],
    /// The tool's arguments, an object or a string that holds one.
    pub arguments: &'static [&'static str],
    pub directory: &'static [&'static str],
    /// The client's own name of the call, where it gives one.
    pub call: &'static [&'static str],
    /// Names of the shell tool.
    pub shells: &'static [&'static str],
    pub contract: Contract,
    /// Exit status with which the client blocks whatever was printed; where it has none, the printed answer
    /// must do and the status is 0.
    pub blocks: Option<u8>,
    pub asks: Asks,
}

/// Modes of clients that name them in `permission_mode`, in which nobody would be asked.
const UNASKED: &[&str] = &["bypassPermissions", "dontAsk", "yolo"];

impl Client {
    pub const ALL: [Self; 10] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Gemini,
        Self::Qwen,
        Self::Copilot,
        Self::Cline,
        Self::Cursor,
        Self::OpenCode,
        Self::Crush,
        Self::OpenHands,
    ];

    /// The client of a name as users write it.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.facts().name == name)
    }

    pub fn name(self) -> &'static str {
        self.facts().name
    }

    pub fn facts(self) -> &'static Facts {
        match self {
            Self::ClaudeCode => &CLAUDE_CODE,
            Self::Codex => &CODEX,
            Self::Gemini => &GEMINI,
            Self::Qwen => &QWEN,
            Self::Copilot => &COPILOT,
            Self::Cline => &CLINE,
            Self::Cursor => &CURSOR,
            Self::OpenCode => &OPENCODE,
            Self::Crush => &CRUSH,
            Self::OpenHands => &OPENHANDS,
        }
    }
}

const CLAUDE_CODE: Facts = Facts {
    name: "claude-code",
    tool: &["/tool_name"],
    arguments: &["/tool_input"],
    directory: &["/cwd"],
    call: &["/tool_use_id", "/tool_call_id", "/call_id"],
    shells: &["Bash"],
    contract: Contract::PreToolUse,
    blocks: Some(2),
    asks: Asks::Unless(UNASKED),
};

/// Its hooks know no "ask".
const CODEX: Facts = Facts {
    name: "codex",
    shells: &["Bash", "shell", "local_shell", "exec_command", "shell_command"],
    asks: Asks::Never,
    ..CLAUDE_CODE
};

const GEMINI: Facts = Facts {
    name: "gemini",
    shells: &["run_shell_command"],
    contract: Contract::Decision,
    // its input does not say whether anybody would be asked
    asks: Asks::Never,
    ..CLAUDE_CODE
};

const QWEN: Facts = Facts { name: "qwen", shells: &["run_shell_command"], ..CLAUDE_CODE };

const COPILOT: Facts = Facts {
    name: "copilot",
    tool: &["/toolName"],
    arguments: &["/toolArgs"],
    directory: &["/cwd"],
    call: &["/toolCallId", "/toolUseId"],
    shells: &["bash", "shell"],
    contract: Contract::Permission,
    blocks: None,
    asks: Asks::Never,
};

const CLINE: Facts = Facts {
    name: "cline",
    // newer versions give the call as it is too; the older form makes text of every parameter
    tool: &["/tool_call/name", "/preToolUse/toolName"],
    arguments: &["/tool_call/input", "/preToolUse/parameters"],
    directory: &["/workspaceRoots/0"],
    call: &["/tool_call/id", "/tool_call/call_id", "/preToolUse/callId"],
    shells: &["run_commands", "execute_command"],
    contract: Contract::Cancel,
    blocks: None,
    asks: Asks::Never,
};

const CURSOR: Facts = Facts {
    name: "cursor",
    tool: &[],
    arguments: &[""],
    directory: &["/cwd", "/workspace_roots/0"],
    // what it names is a whole answer of the model, in which several calls may be
    call: &[],
    shells: &[],
    contract: Contract::Cursor,
    blocks: Some(2),
    asks: Asks::Unless(&[]),
};

const OPENCODE: Facts = Facts {
    name: "opencode",
    tool: &["/tool"],
    arguments: &["/args"],
    directory: &["/cwd"],
    call: &["/call"],
    shells: &["bash"],
    contract: Contract::Plugin,
    blocks: Some(2),
    asks: Asks::Never,
};

const CRUSH: Facts = Facts {
    name: "crush",
    shells: &["bash"],
    contract: Contract::Decision,
    asks: Asks::Never,
    ..CLAUDE_CODE
};

const OPENHANDS: Facts = Facts {
    name: "openhands",
    directory: &["/working_dir", "/cwd"],
    shells: &["terminal", "execute_bash", "bash"],
    contract: Contract::Decision,
    asks: Asks::Never,
    ..CLAUDE_CODE
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_a_name_of_its_own() {
        for client in Client::ALL {
            assert_eq!(Client::parse(client.name()), Some(client));
        }
        assert_eq!(Client::parse("nobody"), None);
    }
}
