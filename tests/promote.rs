//! From observing to enforcing: what observe mode recorded, through the real programs, and a person who accepts
//! exceptions at a terminal.
//!
//! In: a mount namespace with a policy, script(1) for a terminal. Out: what ran, what was written. Never: touches the
//! machine's own policy or homes.

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
    clippy::format_push_string,
    clippy::zombie_processes
)]

#[path = "undecided/stage.rs"]
#[allow(dead_code)]
mod stage;

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::Stdio;

use stage::{AGENT_SHCTL, Stage, USER};

const OBSERVE: &str = "schema = 1\nenforcement = \"observe\"\n[audit]\nsyslog = false\n";

/// A person who answers each question in turn; gives all that was on the screen.
fn dialogue(stage: &Stage, line: &str, answers: &[&str]) -> String {
    let mut command = stage.command(USER, &stage.project(USER), "script");
    command.args(["-qec", line, "/dev/null"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (mut seen, mut buffer, mut answers) = (Vec::new(), [0; 4096], answers.iter());
    while let Ok(count @ 1..) = output.read(&mut buffer) {
        seen.extend_from_slice(&buffer[..count]);
        if seen.ends_with(b"] ") {
            // where none is left, the end of the input
            input.write_all(format!("{}\n", answers.next().unwrap_or(&"\x04")).as_bytes()).unwrap();
        }
    }
    drop(input);
    child.wait().unwrap();
    String::from_utf8_lossy(&seen).replace('\r', "")
}

/// Folders outside of the project, which the user owns.
fn folders(stage: &Stage, names: &[&str]) {
    for name in names {
        std::fs::create_dir_all(stage.at("data").join(name)).unwrap();
    }
    let owner = format!("{USER}:{USER}");
    let status = std::process::Command::new("chown").args(["-R", &owner]).arg(stage.at("data")).status();
    assert!(status.unwrap().success());
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// What observe mode let run: two folders of a build, twice and once; another folder; one that a final rule refuses.
fn observed(stage: &Stage) -> String {
    folders(stage, &["build/a", "build/b", "other"]);
    let data = stage.at("data").display().to_string();
    let own = stage.home(USER).join(".config/agent-sh").display().to_string();
    for text in [
        format!("rm -rf {data}/build/a"),
        format!("rm -rf {data}/build/a"),
        format!("rm -rf {data}/build/b"),
        format!("rm -rf {data}/other # \u{202e}"),
        format!("rm -rf {own}"),
        "echo fine".to_owned(),
    ] {
        let seen = stage.shell(USER, &text);
        assert_eq!(seen.status, Some(0), "{text}: {seen:?}");
    }
    assert!(!exists(&stage.at("data/build/a")) && !exists(&stage.at("data/other")), "it only observes");
    data
}

fn promote(stage: &Stage, more: &[&str]) -> stage::Seen {
    let log = stage.at("logs/log").display().to_string();
    let arguments = [&["policy", "promote", "--log", &log], more].concat();
    stage.command(USER, &stage.project(USER), AGENT_SHCTL).args(arguments).output().unwrap().into()
}

#[test]
fn without_a_terminal_the_proposal_is_printed_and_is_a_policy() {
    let Some(stage) = Stage::set(OBSERVE) else { return };
    let data = observed(&stage);
    let seen = promote(&stage, &[]);
    assert_eq!(seen.status, Some(0), "{seen:?}");
    for piece in [
        "6 records, 5 of them observed",
        "        4  by their sum or what is not known, without a rule",
        "        1  permission.own-state, final",
        "1  are refused: a final rule",
        "3  would run by the exceptions below",
        "exception 1 of 2: 3 records, 2 commands; by itself it lets 2 of them run",
        "enforcement = \"enforce\"   # until now: observe, /etc/agent-sh/policy.d/50-test.toml:2",
        &format!("under  = [\"{data}/build/a\", \"{data}/build/b\"]"),
        "\\u{202e}",
    ] {
        assert!(seen.out.contains(piece), "{piece}: {}", seen.out);
    }
    assert!(!seen.out.contains('\u{202e}'));
    std::fs::write(stage.at("etc/agent-sh/policy.d/60-all.toml"), &seen.out).unwrap();
    folders(&stage, &["build/a", "other"]);
    for (name, status) in [("build/a", 0), ("other", 0), ("", 126)] {
        let seen = stage.shell(USER, &format!("rm -rf {data}/{name}"));
        assert_eq!(seen.status, Some(status), "{name}: {seen:?}");
    }
    let checked = stage.command(0, Path::new("/"), AGENT_SHCTL).args(["policy", "check"]).output().unwrap();
    assert!(checked.status.success(), "{checked:?}");
    let unwritten = promote(&stage, &["--output", "new.toml"]);
    assert_eq!(unwritten.status, Some(2), "{unwritten:?}");
    assert!(unwritten.err.contains("a person accepts, at a terminal"), "{unwritten:?}");
    assert!(!exists(&stage.project(USER).join("new.toml")));
}

#[test]
fn a_person_accepts_one_by_one_and_enforcing_keeps_to_it() {
    let Some(stage) = Stage::set(OBSERVE) else { return };
    let data = observed(&stage);
    let file = stage.project(USER).join("promoted.toml");
    let log = stage.at("logs/log").display().to_string();
    let line = format!("{AGENT_SHCTL} policy promote --file {log} --output promoted.toml");
    let screen = dialogue(&stage, &line, &["?", "e", "y", "n", "y"]);
    for piece in [
        "accept? y, n, e for evidence, q to end [y/n/e/q] ",
        "- WARN, risk score",
        "- delete /",
        "1 of 2 exceptions accepted: of the commands in the log 2 would run and 2 be refused",
        "write promoted.toml? [y/n] ",
        "wrote promoted.toml: 1 exceptions, enforcement = \"enforce\"",
        "install -o root -m 644 promoted.toml /etc/agent-sh/policy.d/60-promoted.toml",
    ] {
        assert!(screen.contains(piece), "{piece}: {screen}");
    }
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text.matches("[[exception]]").count(), 1, "{text}");
    assert!(text.contains("Accepted by user stage (4242)") && text.contains("3 observed records"), "{text}");
    // never without having said so
    std::fs::write(&file, "mine").unwrap();
    let screen = dialogue(&stage, &line, &["y", "y", "n"]);
    assert!(screen.contains("promoted.toml is there already: replace it? [y/n] "), "{screen}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    // the end of the input is no yes
    assert!(dialogue(&stage, &line, &["y"]).contains("nothing is written"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    std::fs::write(stage.at("etc/agent-sh/policy.d/60-promoted.toml"), text).unwrap();
    folders(&stage, &["build/a", "build/c", "other"]);
    for (name, status) in [("build/a", 0), ("build/c", 126), ("other", 126)] {
        let seen = stage.shell(USER, &format!("rm -rf {data}/{name}"));
        assert_eq!(
            (seen.status, exists(&stage.at("data").join(name))),
            (Some(status), status != 0),
            "{seen:?}"
        );
    }
}

#[test]
fn as_one_object_it_says_the_same() {
    let Some(stage) = Stage::set(OBSERVE) else { return };
    observed(&stage);
    let seen = promote(&stage, &["--json", "--since", "1h"]);
    let object: serde_json::Value =
        serde_json::from_str(&seen.out).unwrap_or_else(|e| panic!("{e}: {seen:?}"));
    assert_eq!((&object["records"], &object["observed"]), (&6.into(), &5.into()));
    let fates: Vec<&str> =
        object["commands"].as_array().unwrap().iter().map(|c| c["fate"].as_str().unwrap()).collect();
    assert_eq!(fates, ["exceptable", "exceptable", "exceptable", "final"]);
    let first = &object["proposals"][0];
    assert_eq!(
        (&first["records"], &first["alone"], &first["effect"]),
        (&3.into(), &2.into(), &"delete".into())
    );
    assert_eq!(promote(&stage, &["--json", "--until", "2001-01-01"]).status, Some(0));
}
