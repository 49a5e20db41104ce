//! What becomes of a text that arrives, under each course that the policy knows.

use crate::stage::{Outcome, Stage};
use agent_sh::digest::Digest;

const MEANT: &str = "printf '%s|' 'a\\\\b' \"x\"\necho done\n";
/// a hop halves backslashes
const HALVED: &str = "printf '%s|' 'a\\b' \"x\"\necho done\n";

fn ran(stdout: &str) -> Outcome {
    Outcome { status: 0, stdout: stdout.to_owned(), stderr: String::new() }
}

#[test]
fn what_is_meant_runs_in_every_form() {
    let stage = Stage::new();
    let script = stage.path().join("script");
    std::fs::write(&script, MEANT).unwrap();
    for (args, input) in [
        (&["-c", MEANT][..], ""),
        (&["-lc", MEANT], ""),
        (&[script.to_str().unwrap()], ""),
        (&["-s"], MEANT),
        (&["-c", &MEANT.replace("\necho", "; echo")], ""),
    ] {
        stage.mean(MEANT.as_bytes());
        assert_eq!(stage.run(args, input.as_bytes()), ran("a\\\\b|x|done\n"), "{args:?}");
    }
}

#[test]
fn what_was_changed_is_refused_also_the_second_time() {
    let stage = Stage::new();
    stage.mean(MEANT.as_bytes());
    for _ in 0..2 {
        let outcome = stage.run(&["-c", HALVED], b"");
        assert_eq!((outcome.status, outcome.stdout.as_str()), (126, ""), "{outcome:?}");
        assert!(outcome.stderr.contains("quote-consumption (halve-backslashes)"), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("do not rewrite it"), "{}", outcome.stderr);
    }
    // another text of which nothing is known runs as always
    assert_eq!(stage.run(&["-c", "echo other"], b""), ran("other\n"));
}

#[test]
fn what_would_be_denied_on_any_way_is_denied_for_what_it_is() {
    let stage = Stage::new();
    stage.mean(b"rm -rf /etc/ssh '\\\\'");
    let outcome = stage.run(&["-c", "rm -rf /etc/ssh '\\'"], b"");
    assert_eq!(outcome.status, 126);
    assert!(outcome.stderr.contains("[filesystem."), "{}", outcome.stderr);
}

#[test]
fn a_forged_intent_lets_nothing_through() {
    let stage = Stage::new();
    for text in ["rm -rf /etc/ssh", "rm  -rf /etc/ssh"] {
        stage.mean(b"rm -rf /etc/ssh");
        assert_eq!(stage.run(&["-c", text], b"").status, 126, "{text}");
    }
}

#[test]
fn a_named_digest_must_be_the_text_s_and_reaches_no_shell() {
    let stage = Stage::new();
    let text = "echo \"$0|$*\"";
    let digest = Digest::of(text.as_bytes()).to_string();
    let run = |args: &[&str]| stage.run(args, b"");
    assert_eq!(run(&["--intent-sha256", &digest, "-c", text, "n", "a"]), ran("n|a\n"));
    assert_eq!(run(&[&format!("--intent-sha256={digest}"), "-euc", text, "n"]), ran("n|\n"));
    let outcome = run(&["--intent-sha256", &digest, "-c", "echo other"]);
    assert_eq!((outcome.status, outcome.stdout.as_str()), (126, ""));
    assert!(outcome.stderr.contains("no record of the intent"), "{}", outcome.stderr);
    assert_eq!(run(&["--intent-sha256", "abc", "-c", text]).status, 126);
    // anywhere else it is bash's
    assert_eq!(run(&["-c", "echo $1", "n", "--intent-sha256"]), ran("--intent-sha256\n"));
}

#[test]
fn a_shell_within_a_paired_command_needs_no_intent_of_its_own() {
    let Some(stage) = Stage::under("fidelity.require_intent = true\nconfine.level = \"off\"") else { return };
    let nested = format!("{} -c 'echo inner'", crate::stage::AGENT_SH);
    stage.mean(nested.as_bytes());
    assert_eq!(stage.run(&["-c", &nested], b""), ran("inner\n"));
    let outcome = stage.run(&["-c", "echo outer"], b"");
    assert_eq!(outcome.status, 126);
    assert!(outcome.stderr.contains("require-intent"), "{}", outcome.stderr);
}

#[test]
fn repair_runs_what_was_meant_and_keeps_both_texts() {
    let policy = "fidelity.on-divergence = \"repair\"\naudit.syslog = false\naudit.file = \"RECORD\"";
    let Some(stage) = Stage::under(policy) else { return };
    let script = stage.path().join("script");
    std::fs::write(&script, HALVED).unwrap();
    let lines = stage.records().len();
    let forms: &[(&[&str], &str)] = &[
        (&["-c", HALVED], ""),
        (&[script.to_str().unwrap()], ""),
        (&["-s"], HALVED),
        (&["-c", MEANT.trim_end()], ""),
    ];
    for (args, input) in forms {
        stage.mean(MEANT.as_bytes());
        assert_eq!(stage.run(args, input.as_bytes()), ran("a\\\\b|x|done\n"), "{args:?}");
    }
    let records = stage.records();
    let of = |at: usize, name: &str| records[lines + at][name].as_str().unwrap_or("").to_owned();
    assert_eq!((of(0, "intent"), of(0, "outcome")), ("diverged".to_owned(), "run".to_owned()));
    assert!(of(0, "text").contains("a\\\\\\\\b") && of(0, "received").contains("'a\\\\b'"), "{records:?}");
    assert_eq!(of(3, "intent"), "equivalent");
    // a text that fails by itself is not recovered: it fails as it always did
    for text in ["exit 3", "ls /nosuch-xyzzy 2>/dev/null; exit 4", "if then"] {
        let alone = Stage::under(policy).unwrap().run(&["-c", text], b"");
        stage.mean(text.as_bytes());
        assert_eq!(stage.run(&["-c", text], b""), alone, "{text}");
    }
    // what was meant is judged as always
    stage.mean(b"rm -rf /etc/ssh '\\\\'");
    assert_eq!(stage.run(&["-c", "rm -rf /etc/ssh '\\'"], b"").status, 126);
}

#[test]
fn observe_runs_what_arrived_if_both_are_allowed() {
    let Some(stage) = Stage::under("fidelity.on-divergence = \"observe\"") else { return };
    stage.mean(MEANT.as_bytes());
    assert_eq!(stage.run(&["-c", HALVED], b""), ran("a\\b|x|done\n"));
    stage.mean(b"rm -rf /etc/ssh '\\\\' #");
    assert_eq!(stage.run(&["-c", "rm -rf ./x '\\' #"], b"").status, 126);
}

/// As Claude Code hands a text on, in a folder in which it may leave the directory's name.
fn wrapped(folder: &std::path::Path, text: &str) -> String {
    let body = text.replace('\'', "'\"'\"'");
    format!(
        "shopt -u extglob 2>/dev/null || true && eval '{body}' < /dev/null && pwd -P >| {}/claude-0a1b-cwd",
        folder.display()
    )
}

#[test]
fn a_client_s_wrapper_is_no_change_and_repair_puts_the_text_back_into_it() {
    let policy = "fidelity.on-divergence = \"repair\"\nconfine.level = \"off\"";
    let (plain, Some(repairing)) = (Stage::new(), Stage::under(policy)) else { return };
    let text = "cd / && printf '%s|' 'a\\\\b' \"it's\"";
    let halved = text.replace("\\\\", "\\");
    let place = std::path::Path::new("/tmp");
    plain.mean(text.as_bytes());
    assert_eq!(plain.run(&["-c", &wrapped(place, text)], b""), ran("a\\\\b|it's|"));
    plain.mean(text.as_bytes());
    let refused = plain.run(&["-c", &wrapped(place, &halved)], b"");
    assert_eq!((refused.status, refused.stdout.as_str()), (126, ""), "{refused:?}");
    let written = place.join("claude-0a1b-cwd");
    drop(std::fs::remove_file(&written));
    repairing.mean(text.as_bytes());
    assert_eq!(repairing.run(&["-c", &wrapped(place, &halved)], b""), ran("a\\\\b|it's|"));
    assert_eq!(std::fs::read_to_string(&written).unwrap(), "/\n", "the wrapper's own part ran, too");
    drop(std::fs::remove_file(&written));
}
