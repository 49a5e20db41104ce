//! What each client makes of a model's text, written after how the clients do it.

/// One call of a shell: the command string and what follows it.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) text: Vec<u8>,
    /// `$0`, `$1` …
    pub(crate) arguments: Vec<Vec<u8>>,
}

/// How a client wraps a text.
pub(crate) struct Client {
    pub(crate) form: &'static str,
    pub(crate) wrap: fn(&[u8]) -> Call,
    /// Whether the text is pasted, not quoted.
    pub(crate) pastes: bool,
}

fn join(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// In single quotes, each single quote in it as `'"'"'`.
pub(crate) fn quoted(body: &[u8]) -> Vec<u8> {
    let mut out = vec![b'\''];
    for &byte in body {
        if byte == b'\'' { out.extend_from_slice(b"'\"'\"'") } else { out.push(byte) }
    }
    out.push(b'\'');
    out
}

/// As JSON has it; bytes that are not UTF-8 are left as they are.
fn json(body: &[u8]) -> Vec<u8> {
    let mut out = vec![b'"'];
    for &byte in body {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            byte => out.push(byte),
        }
    }
    out.push(b'"');
    out
}

fn alone(text: Vec<u8>) -> Call {
    Call { text, arguments: vec![b"bash".to_vec()] }
}

fn claude(before: &str, body: &[u8], after: &str) -> Call {
    alone(join(&[before.as_bytes(), b"eval ", &quoted(body), after.as_bytes()]))
}

fn codex(body: &[u8]) -> Call {
    let mut text = String::new();
    let names = ["CODEX_A", "CODEX_B_9"];
    for (n, v) in names.iter().enumerate() {
        text += &format!(
            "__CODEX_SNAPSHOT_OVERRIDE_SET_{n}=\"${{{v}+x}}\"\n__CODEX_SNAPSHOT_OVERRIDE_{n}=\"${{{v}-}}\"\n"
        );
    }
    text += "__CODEX_SNAPSHOT_PROXY_OVERRIDE_SET_0=\"${NO_PROXY+x}\"\n__CODEX_SNAPSHOT_PROXY_OVERRIDE_0=\"${NO_PROXY-}\"\n";
    text += "__CODEX_SNAPSHOT_PROXY_ENV_SET=\"${CODEX_NETWORK_PROXY_ACTIVE+x}\"\n\n";
    text += "if . '/nonexistent/.codex/shell_snapshots/0a-1.sh' >/dev/null 2>&1; then :; fi\n\n";
    let back = |set: &str, held: &str, n: usize, v: &str| {
        format!(
            "if [ -n \"${{{set}{n}}}\" ]; then\n  if [ -z \"${{{v}+x}}\" ] || [ \"${{{v}-}}\" != \"${{{held}{n}}}\" ]; then export {v}=\"${{{held}{n}}}\"; else export {v}; fi\nelse builtin unset {v} 2>/dev/null || command unset {v}; fi\nbuiltin unset {set}{n} {held}{n} 2>/dev/null || command unset {set}{n} {held}{n}\n"
        )
    };
    for (n, v) in names.iter().enumerate() {
        text += &back("__CODEX_SNAPSHOT_OVERRIDE_SET_", "__CODEX_SNAPSHOT_OVERRIDE_", n, v);
    }
    text +=
        "if [ -n \"$__CODEX_SNAPSHOT_PROXY_ENV_SET\" ] || [ -n \"${CODEX_NETWORK_PROXY_ACTIVE+x}\" ]; then\n";
    text += &back("__CODEX_SNAPSHOT_PROXY_OVERRIDE_SET_", "__CODEX_SNAPSHOT_PROXY_OVERRIDE_", 0, "NO_PROXY");
    text += "fi\nif [ -n \"${PATH:-}\" ]; then export PATH='/nonexistent/codex-path':\"$PATH\"; else export PATH='/nonexistent/codex-path'; fi\n\n";
    alone(join(&[text.as_bytes(), b"exec '/bin/bash' -c ", &quoted(body)]))
}

fn gemini(body: &[u8], before: &str, after: &str) -> Call {
    let first = "shopt -u promptvars nullglob extglob nocaseglob dotglob; ";
    alone(join(&[first.as_bytes(), before.as_bytes(), body, after.as_bytes()]))
}

fn stateful(body: &[u8], text: &str) -> Call {
    Call { text: text.as_bytes().to_vec(), arguments: vec![b"--".to_vec(), body.to_vec()] }
}

const SNAPSHOT: &str =
    "source /nonexistent/.claude/shell-snapshots/snapshot-bash-1-a.sh 2>/dev/null || true && ";
const OPTIONS: &str = "shopt -u extglob 2>/dev/null || true && ";
const EITHER: &str =
    "{ shopt -u extglob || setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL; } >/dev/null 2>&1 || true && ";
const PWD: &str = " && pwd -P >| /tmp/claude-7e57-cwd";
const NULL: &str = " < /dev/null && pwd -P >| /tmp/claude-7e57-cwd";

pub(crate) const CLIENTS: &[Client] = &[
    Client { form: "eval", wrap: |b| claude(&format!("{SNAPSHOT}{OPTIONS}"), b, NULL), pastes: false },
    Client { form: "eval", wrap: |b| claude(&format!("{SNAPSHOT}{OPTIONS}"), b, PWD), pastes: false },
    Client { form: "eval", wrap: |b| claude(OPTIONS, b, NULL), pastes: false },
    Client { form: "eval", wrap: |b| claude(&format!("{SNAPSHOT}{EITHER}"), b, PWD), pastes: false },
    Client { form: "snapshot-exec", wrap: codex, pastes: false },
    Client {
        form: "user-eval",
        wrap: |b| {
            let lines = b"\n        shopt -s expand_aliases\n        [[ -f ~/.bashrc ]] && source ~/.bashrc >/dev/null 2>&1 || true\n        cd -- \"$1\"\n        eval ";
            Call {
                text: join(&[lines, &json(b), b"\n      "]),
                arguments: vec![b"opencode".to_vec(), b"/".to_vec()],
            }
        },
        pastes: false,
    },
    Client {
        form: "state-eval",
        wrap: |b| {
            stateful(
                b,
                "snap=$(command cat <&3) && builtin shopt -s extglob && builtin eval -- \"$snap\" && { builtin set +u 2>/dev/null || true; builtin eval \"${__CURSOR_SANDBOX_ENV_RESTORE:-}\" 2>/dev/null; builtin export PWD=\"$(builtin pwd)\"; builtin shopt -s expand_aliases 2>/dev/null; builtin eval \"$1\" < /dev/null; }; COMMAND_EXIT_CODE=$?; dump_bash_state >&4; builtin exit $COMMAND_EXIT_CODE",
            )
        },
        pastes: false,
    },
    Client {
        form: "state-eval",
        wrap: |b| {
            stateful(
                b,
                "snap=$(command cat <&3) && builtin shopt -s extglob && builtin eval -- \"$snap\" && { builtin set +u 2>/dev/null || true; builtin export GROK_AGENT=1; builtin export PWD=\"$(builtin pwd)\"; builtin shopt -s expand_aliases 2>/dev/null; __grok_user_cmd=\"$1\"; builtin declare +x __grok_user_cmd 2>/dev/null; builtin set --; builtin eval \"$__grok_user_cmd\" 2>&1; }; COMMAND_EXIT_CODE=$?; builtin unset __grok_user_cmd 2>/dev/null; dump_bash_state >&4; builtin exit $COMMAND_EXIT_CODE",
            )
        },
        pastes: false,
    },
    Client {
        form: "subshell",
        wrap: |b| {
            gemini(
                b,
                "_bgpids_file=/tmp/g/bgpids.tmp\n(\n  trap 'jobs -p > \"$_bgpids_file\"' EXIT\n",
                "\n)\n__code=$?\nexit $__code",
            )
        },
        pastes: true,
    },
    Client {
        form: "braces",
        wrap: |b| gemini(b, "{ ", "; }; __code=$?; pgrep -g 0 >/tmp/g/pgrep.tmp 2>&1; exit $__code;"),
        pastes: true,
    },
];
