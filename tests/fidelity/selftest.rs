//! `agent-shctl selftest`, `iec locate` and `iec blame` as they are called.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

const SHCTL: &str = env!("CARGO_BIN_EXE_agent-shctl");

fn call(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(SHCTL)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdin.take().unwrap().write_all(input));
    child.wait_with_output().unwrap()
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// Says so where the kernel gives us no mount namespace; any other failure is one.
fn has_no_namespace(output: &Output) -> bool {
    let said = String::from_utf8_lossy(&output.stderr);
    let none = output.status.code() == Some(2) && said.contains("mount namespace");
    if none {
        println!("SKIPPED: {said}");
    }
    none
}

#[test]
fn nothing_is_changed_in_any_form() {
    let folder = tempfile::tempdir().unwrap();
    let more = folder.path().join("more.jsonl");
    std::fs::write(&more, "{\"name\":\"theirs\",\"tags\":[],\"text_b64\":\"UFJPQkUgJ2FcYicK\"}\n").unwrap();
    let sample = if crate::measures::is_full() { "1" } else { "23" };
    let more = more.to_str().unwrap();
    let output = call(
        &["selftest", "--json", "--sample", sample, "--payloads", more, "--agent-sh", crate::stage::AGENT_SH],
        b"",
    );
    if has_no_namespace(&output) {
        return;
    }
    let sum = json(&output);
    println!(
        "selftest: {} payloads, {} hand-overs, {} changed, {} refused",
        sum["payloads"], sum["runs"], sum["changed"], sum["refused"]
    );
    assert_eq!((output.status.code(), &sum["changed"]), (Some(0), &serde_json::json!(0)), "{sum}");
    let least = if crate::measures::is_full() { 250 } else { 13 };
    assert!(
        sum["payloads"].as_u64().unwrap() >= least && sum["lost"].as_array().unwrap().is_empty(),
        "{sum}"
    );
    let refused = sum["refusals"].as_array().unwrap();
    assert!(refused.len() * 50 < sum["runs"].as_u64().unwrap() as usize, "{refused:?}");
}

#[test]
fn a_shell_that_changes_texts_is_found_out() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    // stands in for an agent-sh that trims
    let liar = folder.path().join("liar");
    std::fs::write(
        &liar,
        format!(
            "#!/bin/dash\n[ \"$1\" = -c ] && exec {} -c \"$(printf %s \"$2\")\"\nexec {0} \"$@\"\n",
            crate::stage::AGENT_SH
        ),
    )
    .unwrap();
    std::fs::set_permissions(&liar, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = call(&["selftest", "--json", "--sample", "23", "--agent-sh", liar.to_str().unwrap()], b"");
    if has_no_namespace(&output) {
        return;
    }
    assert_eq!(output.status.code(), Some(1));
    assert!(json(&output)["changed"].as_u64().unwrap() > 0);
}

#[test]
fn the_first_divergence_is_shown_with_both_sides() {
    let output = call(&["iec", "locate", "--path", "ssh-words"], b"echo 'a b'");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("meant   : echo 'a b'\n")
            && said.contains("received: echo\n")
            && said.contains("FD = 1 (ssh)"),
        "{said}"
    );
    assert_eq!(call(&["iec", "locate", "--path", "ssh"], b"echo 'a b'").status.code(), Some(0));
    let all =
        json(&call(&["iec", "locate", "--json", "--all", "--path", "claude-code-ssh-words"], b"echo 'a b'"));
    assert_eq!((&all["fd"], &all["hops"][0]["outcome"]), (&serde_json::json!(2), &serde_json::json!("same")));
    assert_eq!(call(&["iec", "locate", "--path", "/nosuch.toml"], b"x").status.code(), Some(2));
}

#[test]
fn blame_reads_evidence_and_gives_reasons() {
    let evidence = r#"{"meant": "grep 'a\\\\b' f", "hops": [{"name": "ssh", "received": "grep 'a\\b' f"}], "status": 1}"#;
    let said = json(&call(&["iec", "blame", "--json"], evidence.as_bytes()));
    assert_eq!(
        (&said["blame"], &said["hop"], &said["mechanism"]),
        (&"path".into(), &1.into(), &"quote-consumption".into())
    );
    assert_eq!(call(&["iec", "blame"], b"{}").status.code(), Some(2));
}
