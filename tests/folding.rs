//! Folding: the words that our expansion predicts are those that bash gives to a program.
//!
//! In: generated simple commands in all forms of quoting and expansion. Out: equal argument vectors.
//! Never: runs a program but the probe, which prints its arguments; PATH and environment hold nothing else.
//!
//! `N=200000 cargo test --test folding` for the long run; `SEED` for another sequence.

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

mod grammar;
mod stand;

mod folding {
    pub(crate) mod texts;
}

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use agent_sh::world::Machine;
use folding::texts::text;
use grammar::Dice;

/// What the probe is.
#[derive(Clone, Copy)]
enum Probe {
    /// a function of the shell: quick
    Function,
    /// a program, with an exec for each
    Program,
}

type Argv = Vec<Vec<u8>>;

/// Reads texts that end in NUL and evaluates each in a subshell.
const DRIVER: &str = "while IFS= read -r -d '' agent_case; do ( eval \"$agent_case\" ) 2>/dev/null; builtin printf '\\001\\000'; done";
const FUNCTION: &str =
    "probe() { local a; builtin printf '\\002\\000'; for a do builtin printf '<%s>\\000' \"$a\"; done; }; ";
const PROGRAM: &str = "#!/bin/sh\nprintf '\\002\\000'\nfor a do printf '<%s>\\000' \"$a\"; done\n";

/// What bash gives the probe, by text; `None` where it ends with an error before it calls the probe.
fn in_bash(texts: &[String], probe: Probe, folder: &Path) -> Vec<Option<Argv>> {
    let driver = match probe {
        Probe::Function => format!("{FUNCTION}{DRIVER}"),
        Probe::Program => DRIVER.to_owned(),
    };
    let mut child = Command::new("/bin/bash")
        .arg0("bash")
        .args(["--norc", "--noprofile", "-c", &driver])
        .env_clear()
        .env("PATH", folder.join("bin"))
        .env("HOME", "/home/dev")
        .env("LC_ALL", "C.UTF-8")
        .current_dir(folder.join("empty"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let all = texts.join("\0") + "\0";
    let writer = std::thread::spawn(move || drop(input.write_all(all.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let (mut argvs, mut argv) = (Vec::new(), None);
    for part in output.stdout.split(|b| *b == 0) {
        match part {
            [1] => argvs.push(argv.take()),
            [2] => argv = Some(Vec::new()),
            [b'<', word @ .., b'>'] => argv.as_mut().unwrap().push(word.to_vec()),
            [] => {}
            odd => panic!("unexpected output {odd:?}"),
        }
    }
    argvs
}

/// The words of a line of the canonical form.
fn words(line: &str) -> Vec<String> {
    let (mut out, mut word, mut quoted) = (Vec::new(), None::<String>, false);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            '\\' if !quoted => word.get_or_insert_default().extend(chars.next()),
            ' ' if !quoted => out.extend(word.take()),
            // what a wrapper runs has a line of its own
            '\n' if !quoted => break,
            c => word.get_or_insert_default().push(c),
        }
    }
    out.extend(word);
    out
}

/// What we predict: the words after `probe`; `None` where a part is unknown.
fn predicted(canonical: &str) -> Option<Argv> {
    let at = canonical.rfind("\nprobe").map_or(0, |i| i + 1);
    let call = canonical.get(at..).filter(|c| c.starts_with("probe"))?;
    let words = words(call);
    // a long line is cut
    let known = words.len() < 64 && words.iter().all(|w| !w.contains('…'));
    known.then(|| words.iter().skip(1).map(|w| nobodys(agent_sh::text::raw(w).into_owned())).collect())
}

/// `~name` of a user that isn't here: bash leaves it as it is; we judge it as that user's home, who may be there.
fn nobodys(word: Vec<u8>) -> Vec<u8> {
    match word.strip_prefix(b"/home/") {
        Some(rest) if !rest.starts_with(b"dev") => [b"~", rest].concat(),
        _ => word,
    }
}

#[test]
fn predicted_words_are_those_that_bash_passes() {
    if !Path::new("/bin/bash").exists() {
        println!("SKIPPED: no bash here to compare with");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ["bin", "empty"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    let probe = folder.path().join("bin/probe");
    std::fs::write(&probe, PROGRAM).unwrap();
    std::fs::set_permissions(&probe, std::fs::Permissions::from_mode(0o755)).unwrap();

    let judge = stand::judge();
    let mut context = stand::within(&[("HOME", "/home/dev"), ("LC_ALL", "C.UTF-8")]);
    context.cwd = folder.path().join("empty").to_str().unwrap().to_owned();
    context.workspace = Some(context.cwd.clone());
    let mut dice = Dice::new(stand::number("SEED", 1) as u64);
    let total = stand::number("N", 2_000);
    let (mut done, mut failed, mut unknown, mut wrong) = (0, 0, 0, Vec::new());
    while done < total {
        let texts: Vec<String> = (0..500.min(total - done)).map(|_| text(&mut dice)).collect();
        // each way is proven; the program is fifty times slower
        let probe = if done == 0 { Probe::Program } else { Probe::Function };
        let real = in_bash(&texts, probe, folder.path());
        assert_eq!(real.len(), texts.len());
        for (text, real) in texts.iter().zip(real) {
            done += 1;
            // bash leaves its own mark in some words if IFS is empty
            let marked = |argv: &Argv| text.contains("IFS=; ") && argv.iter().any(|w| w.contains(&1));
            let Some(real) = real.filter(|argv| !marked(argv)) else {
                failed += 1;
                continue;
            };
            let decision = judge.verify(text, &context, &Machine);
            match predicted(&decision.canonical) {
                None => {
                    unknown += 1;
                    if stand::number("SHOW", 0) > 0 {
                        println!("unknown: {text:?}");
                    }
                }
                Some(ours) if ours == real => {}
                Some(ours) => {
                    let shown = |argv: &[Vec<u8>]| {
                        argv.iter().map(|w| agent_sh::text::escape_bytes(w)).collect::<Vec<_>>()
                    };
                    wrong.push(format!("{text}\n   ours {:?}\n   bash {:?}", shown(&ours), shown(&real)));
                }
            }
        }
    }
    println!("{done} texts, {failed} that bash refuses, {unknown} not predicted, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.iter().take(30).map(String::as_str).collect::<Vec<_>>().join("\n"));
    assert!(unknown * 50 < done && failed * 4 < done, "too much is unknown");
}
