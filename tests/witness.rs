//! The witness for real: what a launcher would have run is seen, and nothing of it happens. All contexts that there
//! are, among them sshd, cron and the real clients: `scripts/iec-witness`.

// a test program: what is not there may stop it
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing
)]

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn witness(options: &[&str], launcher: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_agent-shctl"))
        .args(["witness", "--json", "--limit", "20"])
        .args(options)
        .arg("--")
        .args(launcher)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// Whether this kernel lets us make namespaces; said aloud where not.
fn has_namespaces() -> bool {
    let output = witness(&[], &["sh", "-c", ":"]);
    let says_no = String::from_utf8_lossy(&output.stderr).contains("nothing was started");
    if says_no {
        println!("SKIPPED: no mount namespace here");
    }
    !says_no
}

#[test]
fn what_is_seen_does_not_happen() {
    if !has_namespaces() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let marker = folder.path().join("ran");
    let text = format!("touch {}\n# it's \\\\ all", marker.display());
    let meant = folder.path().join("meant");
    std::fs::write(&meant, &text).unwrap();
    let script = folder.path().join("script");
    std::fs::write(&script, &text).unwrap();
    let script = script.display().to_string();
    let is_root = nix::unistd::geteuid().is_root();
    for launcher in [
        &["bash", "-c", &text][..],
        &["sh", "-c", &text],
        &["bash", "-i", "-c", &text],
        &["bash", "--posix", "-p", "-c", &text],
        &["env", "-i", "/bin/bash", "-c", &text],
        &["bash", &script],
        &["nice", "timeout", "5", "sh", "-c", &text],
        &["find", "/", "-maxdepth", "0", "-exec", "bash", "-c", &text, ";"],
        &["su", "root", "-c", &text],
        &["su", "-", "root", "-c", &text],
    ] {
        if launcher[0] == "su" && !is_root {
            println!("SKIPPED su: not root");
            continue;
        }
        let output = witness(&["--text", &meant.display().to_string()], launcher);
        assert!(!marker.exists(), "{launcher:?} was run");
        let seen = json(&output);
        assert_eq!(seen["records"][0]["received"], "same", "{launcher:?}: {seen}");
        assert_eq!(output.status.code(), Some(0), "{launcher:?}");
    }
}

#[test]
fn a_hop_without_a_record_is_never_the_same() {
    if !has_namespaces() {
        return;
    }
    let output = witness(&["--hop", "sshd"], &["sh", "-c", "echo x"]);
    assert_eq!((json(&output)["unobserved"][0].as_str(), output.status.code()), (Some("sshd"), Some(1)));
    let output = witness(&[], &["true"]);
    assert_eq!((json(&output)["observed"].as_bool(), output.status.code()), (Some(false), Some(1)));
}

#[test]
fn ways_that_can_fail_open_take_a_canary_and_tell_of_it() {
    for manner in ["--self", "--bash-env"] {
        let folder = tempfile::tempdir().unwrap();
        let marker = folder.path().join("ran");
        let output = witness(&[manner], &["bash", "-c", &format!("touch {}", marker.display())]);
        assert!(output.status.code() == Some(2) && !marker.exists(), "{manner} without a canary");
        let output = witness(&[manner, "--canary"], &["bash", "-c", "{canary}"]);
        assert_eq!(json(&output)["canary"], "not run", "{manner}");
    }
    // both are blind to a shell that is named by its path and reads no BASH_ENV
    if Path::new("/bin/sh").exists() {
        let output = witness(&["--self", "--canary"], &["/bin/sh", "-c", "{canary}"]);
        let seen = json(&output);
        assert_eq!((seen["canary"].as_str(), output.status.code()), (Some("ran"), Some(1)));
    }
}
