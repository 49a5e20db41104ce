//! Agents: hooks as clients call them, settings changed and put back to the byte, clients started on a stage.
//!
//! In: the built programs, throwaway homes. Out: what they leave and say. Never: runs a command that would harm
//! this machine if it were not refused.

// a test program: what is not there may stop it
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::wildcard_enum_match_arm,
    clippy::format_collect,
    clippy::format_push_string
)]

#[path = "stand/program.rs"]
mod program;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use agent_sh::hook::client::Client;
use agent_sh::hook::sample::sample;

const CONTROL: &str = env!("CARGO_BIN_EXE_agent-shctl");
/// Needed beside it.
const AGENT_SH: &str = env!("CARGO_BIN_EXE_agent-sh");

fn control(home: &Path, arguments: &[&str]) -> Output {
    Command::new(CONTROL)
        .args(arguments)
        .env("HOME", home)
        .current_dir(home)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn hook(client: &str, input: &[u8]) -> Output {
    // what a hook keeps of a text goes there
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(CONTROL)
        .args(["hook", client])
        .current_dir("/")
        .env("XDG_RUNTIME_DIR", folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Everything below a folder: kind, mode, content or target.
fn all(folder: &Path) -> BTreeMap<String, (u32, Vec<u8>)> {
    let mut out = BTreeMap::new();
    let mut next = vec![folder.to_owned()];
    while let Some(path) = next.pop() {
        let meta = fs::symlink_metadata(&path).unwrap();
        let content = if meta.is_symlink() {
            fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
        } else if meta.is_dir() {
            next.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            Vec::new()
        } else {
            fs::read(&path).unwrap()
        };
        out.insert(path.display().to_string(), (meta.permissions().mode(), content));
    }
    out
}

/// A home as people have it: comments, odd indentation, tabs, no last newline, Windows line ends, a linked file.
fn furnish(home: &Path) {
    let put = |path: &str, content: &str, mode: u32| {
        let path = home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    };
    put(
        ".claude/settings.json",
        "{\n\t\"$schema\": \"https://json.schemastore.org/claude-code-settings.json\",\n\t\"permissions\": {\n\t\t\"allow\": [\"Bash(npm run lint)\"], // the linter\n\t\t\"deny\": []\n\t},\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{ \"matcher\": \"Edit\", \"hooks\": [ { \"type\": \"command\", \"command\": \"~/bin/fmt\" } ] }\n\t\t]\n\t},\n\t\"env\": { \"EDITOR\": \"vi\" }\n}",
        0o600,
    );
    put(
        "dotfiles/gemini.json",
        "{\r\n  \"ui\": { \"theme\": \"GitHub\" },\r\n  /* signed in\r\n     by key */\r\n  \"security\": { \"auth\": { \"selectedType\": \"gemini-api-key\" } }\r\n}\r\n",
        0o644,
    );
    fs::create_dir_all(home.join(".gemini")).unwrap();
    symlink("../dotfiles/gemini.json", home.join(".gemini/settings.json")).unwrap();
    put(".qwen/settings.json", "{}", 0o640);
    put(
        ".codex/config.toml",
        "# my models\nmodel = \"x\" # the good one\n\n[features]\nhooks = true\n",
        0o600,
    );
    put(
        ".config/opencode/opencode.jsonc",
        "{\n  // no sharing\n  \"share\": \"disabled\",\n  \"shell\": \"/usr/bin/zsh\", // mine\n}\n",
        0o644,
    );
    put(
        ".cursor/hooks.json",
        "{\"version\":1,\"hooks\":{\"afterFileEdit\":[{\"command\":\"./fmt\"}]}}\n",
        0o644,
    );
    put(
        ".config/crush/crush.json",
        "{\n    \"lsp\": {\n        \"go\": { \"command\": \"gopls\" }\n    }\n}\n",
        0o644,
    );
    put(".bashrc", "# ~/.bashrc\nalias ll='ls -l'", 0o644);
    put(".profile", "umask 022\n", 0o644);
    put(".zshrc", "setopt autocd\n", 0o644);
    fs::create_dir_all(home.join(".config/fish")).unwrap();
}

const AGENTS: [&str; 13] = [
    "claude-code",
    "codex",
    "gemini",
    "qwen",
    "opencode",
    "copilot",
    "cline",
    "cursor",
    "goose",
    "aider",
    "mini-swe-agent",
    "openhands",
    "crush",
];

#[test]
fn install_doctor_and_uninstall_leave_the_home_as_it_was_to_the_byte() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    furnish(home);
    let before = all(home);

    let dry = control(home, &[&["install", "--dry-run"][..], &AGENTS].concat());
    assert!(dry.status.success(), "{}", text(&dry.stderr));
    assert!(text(&dry.stdout).contains("would change"), "{}", text(&dry.stdout));
    assert!(all(home) == before, "a dry run changed something");

    let done = control(home, &[&["install"][..], &AGENTS].concat());
    assert!(done.status.success(), "{}{}", text(&done.stdout), text(&done.stderr));
    let claude = fs::read_to_string(home.join(".claude/settings.json")).unwrap();
    for kept in ["// the linter", "\"command\": \"~/bin/fmt\"", "\t\t\"deny\": []", "\"EDITOR\": \"vi\""] {
        assert!(claude.contains(kept), "{claude}");
    }
    assert!(
        claude.contains("hook claude-code || exit 2") && claude.contains("CLAUDE_CODE_SHELL"),
        "{claude}"
    );
    let gemini = fs::read_to_string(home.join(".gemini/settings.json")).unwrap();
    assert!(gemini.contains("/* signed in\r\n     by key */") && gemini.contains("hook gemini"), "{gemini}");
    assert!(home.join(".gemini/settings.json").is_symlink());
    let opencode = fs::read_to_string(home.join(".config/opencode/opencode.jsonc")).unwrap();
    assert!(opencode.contains("// no sharing") && opencode.contains("shim/bash\", // mine"), "{opencode}");

    let installed = all(home);
    let again = control(home, &[&["install"][..], &AGENTS].concat());
    assert!(again.status.success() && all(home) == installed, "installing twice changes something");

    let doctor = control(home, &["doctor", "--json"]);
    let lines: Vec<serde_json::Value> =
        text(&doctor.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for agent in AGENTS {
        let settings =
            lines.iter().find(|line| line["about"] == agent && line["what"] == "settings").unwrap();
        assert_eq!(settings["state"], "ok", "{settings}");
    }
    assert!(all(home) == installed, "doctor changed something");

    let back = control(home, &["uninstall", "--all"]);
    assert!(back.status.success(), "{}", text(&back.stderr));
    let after = all(home);
    let wrong: Vec<_> =
        after.iter().filter(|(path, what)| before.get(*path) != Some(what)).map(|(path, _)| path).collect();
    assert!(wrong.is_empty(), "not as it was: {wrong:?}");
    assert_eq!(before.len(), after.len());
}

#[test]
fn what_others_changed_since_stays() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    furnish(home);
    assert!(control(home, &["install", "claude-code", "qwen"]).status.success());
    let path = home.join(".claude/settings.json");
    let edited = fs::read_to_string(&path).unwrap().replace("\"EDITOR\": \"vi\"", "\"EDITOR\": \"nano\"");
    fs::write(&path, edited).unwrap();
    fs::write(
        home.join(".profile"),
        format!("{}\nexport LATER=1\n", fs::read_to_string(home.join(".profile")).unwrap()),
    )
    .unwrap();
    let back = control(home, &["uninstall", "--all"]);
    assert!(text(&back.stdout).contains("was changed since"), "{}", text(&back.stdout));
    let claude = fs::read_to_string(&path).unwrap();
    assert!(
        claude.contains("nano") && claude.contains("// the linter") && claude.contains("~/bin/fmt"),
        "{claude}"
    );
    assert!(!claude.contains("agent-sh"), "{claude}");
    let profile = fs::read_to_string(home.join(".profile")).unwrap();
    assert!(profile.starts_with("umask 022\n") && profile.ends_with("export LATER=1\n"), "{profile}");
    assert!(!profile.contains("agent-sh"), "{profile}");
    assert!(!home.join(".local").exists());
}

#[test]
fn a_file_that_can_t_be_changed_stays_and_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    for content in ["{ broken", "[1]", "{\"hooks\": \"none\"}"] {
        fs::create_dir_all(home.join(".claude")).unwrap();
        fs::write(home.join(".claude/settings.json"), content).unwrap();
        let output = control(home, &["install", "claude-code"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(".claude/settings.json"), "{}", text(&output.stderr));
        assert_eq!(fs::read_to_string(home.join(".claude/settings.json")).unwrap(), content);
        assert!(control(home, &["uninstall", "--all"]).status.success());
        assert!(!home.join(".local").exists());
    }
}

#[test]
fn doctor_names_each_way_in_which_a_client_would_leave_agent_sh_out() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let failing = |agent: &str, path: &str, content: &str| {
        let path = home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        let output = control(home, &["doctor", "--json", agent]);
        assert_eq!(output.status.code(), Some(1), "{agent}: {}", text(&output.stdout));
        fs::remove_file(&path).unwrap();
        let bad = |line: &str| line.contains("\"state\":\"fail\"");
        text(&output.stdout).lines().filter(|line| bad(line)).collect::<Vec<_>>().join("\n")
    };
    for (agent, path, content, said) in [
        ("claude-code", ".claude/settings.json", "{\"disableAllHooks\": true}", "no hook runs"),
        (
            "claude-code",
            ".claude/settings.local.json",
            "{\"env\": {\"CLAUDE_CODE_SHELL\": \"/bin/bash\"}}",
            "is not agent-sh",
        ),
        (
            "claude-code",
            ".claude/settings.json",
            "{\"env\": {\"CLAUDE_CODE_SHELL\": \"/opt/x/agent-sh\"}}",
            "no bash or zsh in its path",
        ),
        ("gemini", ".gemini/settings.json", "{\"hooksConfig\": {\"enabled\": false}}", "no hook runs"),
        ("qwen", ".qwen/settings.json", "{\"disableAllHooks\": true}", "no hook runs"),
        ("codex", ".codex/config.toml", "[features]\nhooks = false\n", "switches hooks off"),
        ("opencode", "opencode.json", "{\"shell\": \"/bin/zsh\"}", "which is not agent-sh"),
    ] {
        let found = failing(agent, path, content);
        assert!(found.contains(said), "{agent}: {found}");
    }
}

#[test]
fn doctor_sees_a_shell_that_is_not_agent_sh_and_settings_that_are_gone() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    assert!(control(home, &["install", "claude-code"]).status.success());
    fs::write(home.join(".claude/settings.json"), "{}").unwrap();
    let output = control(home, &["doctor", "claude-code"]);
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stdout);
    assert!(
        told.contains("settings.json is gone")
            && told.contains("run `agent-shctl install claude-code` again"),
        "{told}"
    );
}

#[test]
fn every_hook_refuses_in_its_client_s_words_and_lets_the_rest_pass() {
    for client in Client::ALL {
        let input = |command: &str| sample(client, command, "/").to_string();
        let denied = hook(client.name(), input("rm -rf /etc/ssh").as_bytes());
        let answer: serde_json::Value = serde_json::from_slice(&denied.stdout).unwrap();
        let reason = [
            "/hookSpecificOutput/permissionDecisionReason",
            "/reason",
            "/permissionDecisionReason",
            "/errorMessage",
            "/agent_message",
        ]
        .iter()
        .find_map(|path| answer.pointer(path))
        .and_then(serde_json::Value::as_str)
        .unwrap();
        assert!(
            reason.starts_with("agent-sh: denied: ") && reason.contains("[filesystem.delete-system]"),
            "{reason}"
        );
        assert_eq!(denied.status.code(), Some(0), "{client:?}");

        let passed = hook(client.name(), input("echo hi").as_bytes());
        let silent = !matches!(client, Client::Cline | Client::OpenCode);
        assert_eq!(passed.stdout.is_empty(), silent, "{client:?}: {}", text(&passed.stdout));
        assert!(!text(&passed.stdout).contains("deny"), "{client:?}");
        assert_eq!(passed.status.code(), Some(0), "{client:?}");

        let status = if matches!(client, Client::Copilot | Client::Cline) { 0 } else { 2 };
        for broken in [&b""[..], b"{", b"null", b"\xff", b"{}"] {
            let output = hook(client.name(), broken);
            assert_eq!(output.status.code(), Some(status), "{client:?} {broken:?}");
            assert!(
                text(&output.stdout).contains("can't judge this call"),
                "{client:?}: {}",
                text(&output.stdout)
            );
        }
    }
}

#[test]
fn an_undecided_command_is_asked_about_where_somebody_is_there_to_be_asked() {
    let input = |mode: &str| {
        serde_json::json!({"cwd": "/", "permission_mode": mode, "tool_name": "Bash",
            "tool_input": {"command": "git push --force"}})
    };
    for (client, mode, word) in [
        ("claude-code", "default", "\"ask\""),
        ("claude-code", "bypassPermissions", "\"deny\""),
        ("codex", "default", "\"deny\""),
    ] {
        let output = hook(client, input(mode).to_string().as_bytes());
        assert!(text(&output.stdout).contains(word), "{client} {mode}: {}", text(&output.stdout));
    }
}

/// As an ordinary user too, where this is root.
fn starters() -> Vec<(&'static str, Vec<String>)> {
    let mut out = vec![("as we are", Vec::new())];
    if nix::unistd::geteuid().is_root() {
        let words = ["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups"];
        out.push(("as an ordinary user", words.map(str::to_owned).to_vec()));
    }
    out
}

#[test]
fn a_client_with_a_built_in_shell_meets_agent_sh_there() {
    // an ordinary user must be able to reach the programs
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    for program in [AGENT_SH, CONTROL] {
        program::lay(program, folder.path().join(Path::new(program).file_name().unwrap()));
    }
    let home = tempfile::tempdir().unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o777)).unwrap();
    for (who, words) in starters() {
        let run = |text: &str| {
            let control = folder.path().join("agent-shctl").display().to_string();
            let line =
                [&words[..], &[control, "run".into(), "--as".into(), "codex".into(), "--".into()]].concat();
            let line =
                [&line[..], &["/usr/bin/env".into(), "/bin/bash".into(), "-c".into(), text.to_owned()]]
                    .concat();
            Command::new(&line[0])
                .args(&line[1..])
                .env("HOME", home.path())
                .current_dir(home.path())
                .output()
                .unwrap()
        };
        let harmless = run("echo $0; id -u; echo ${BASH_VERSION%%.*}");
        if text(&harmless.stderr).contains("the kernel gives this user no mount namespace") {
            println!("SKIPPED: {who}: no namespaces here");
            continue;
        }
        let uid = if words.is_empty() { nix::unistd::geteuid().to_string() } else { "54321".to_owned() };
        let told = text(&harmless.stdout);
        assert!(told.starts_with(&format!("/bin/bash\n{uid}\n")), "{who}: {told}{}", text(&harmless.stderr));
        let refused = run("rm -rf /etc/agent-sh-test-is-not-there");
        assert_eq!(refused.status.code(), Some(126), "{who}: {}", text(&refused.stderr));
        // what is mounted can't be taken away or changed by who is not root, and PATH leads to agent-sh
        let path = run("command -v bash sh");
        assert!(
            text(&path.stdout).lines().all(|line| line.contains("/agent-sh/shim/")),
            "{}",
            text(&path.stdout)
        );
    }
    assert!(!fs::read_to_string("/proc/self/mountinfo").unwrap().contains(" tmpfs agent-sh "));
}

#[test]
fn a_client_that_is_a_shell_script_is_not_taken_for_a_model_s_text() {
    let folder = tempfile::tempdir().unwrap();
    let client = folder.path().join("client");
    fs::write(&client, "#!/bin/bash\nrm -rf \"$1\"; echo started; echo $SHELL\n").unwrap();
    fs::set_permissions(&client, fs::Permissions::from_mode(0o755)).unwrap();
    let gone = folder.path().join("gone");
    fs::write(&gone, "").unwrap();
    let arguments = ["run", "--", client.to_str().unwrap(), gone.to_str().unwrap()];
    let output = control(folder.path(), &arguments);
    if text(&output.stderr).contains("no mount namespace") {
        println!("SKIPPED: no namespaces here");
        return;
    }
    let told = text(&output.stdout);
    assert!(
        told.starts_with("started\n") && told.trim_end().ends_with("/shim/bash"),
        "{told}{}",
        text(&output.stderr)
    );
    assert!(!gone.exists());
}
