//! Reach: what bash runs is walked. Control flow, counters and names never hide a command (INVARIANT(I5)).
//!
//! In: generated scripts full of loops, functions, early ways out and numbered probes; a table of tricks that once hid a
//! command. Out: every probe that bash reaches is in our canonical form; every trick is denied.
//! Never: runs a program: probes are functions, PATH is empty.
//!
//! `N=20000 cargo test --test reach` for a long run; `SEED` for another sequence.

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
    clippy::needless_raw_string_hashes
)]

mod grammar;
mod stand;

mod reach {
    pub(crate) mod texts;
}

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use agent_sh::act::UnknownKind;
use agent_sh::verdict::Verdict;
use agent_sh::world::Machine;
use grammar::Dice;
use reach::texts::text;

type Probes = BTreeSet<usize>;

/// Reads texts that end in NUL and evaluates each in a subshell, for a second at most.
const DRIVER: &str = "probe() { builtin printf '%s ' \"$1\" >&9; }; FUNCNEST=60; exec 9>&1
while IFS= read -r -d '' agent_case; do ( ulimit -t 2; eval \"$agent_case\" ) >/dev/null 2>&1 </dev/null; builtin printf '\\000'; done";

/// The probes that each text reaches.
fn in_bash(texts: &[String], folder: &Path) -> Vec<Probes> {
    let mut child = Command::new("/bin/bash")
        .args(["--norc", "--noprofile", "-c", DRIVER])
        .env_clear()
        .env("PATH", folder)
        .current_dir(folder)
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
    let printed = String::from_utf8(output.stdout).unwrap();
    let parts = printed.split_terminator('\0');
    parts.map(|part| part.split_whitespace().map(|n| n.parse().unwrap()).collect()).collect()
}

#[test]
fn every_command_that_bash_runs_is_walked() {
    if !Path::new("/bin/bash").exists() {
        println!("SKIPPED: no bash here to compare with");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let judge = stand::judge();
    let context = stand::within(&[("PATH", "/usr/bin:/bin")]);
    let mut dice = Dice::new(stand::number("SEED", 1) as u64);
    let total = stand::number("N", 600);
    let (mut done, mut reached, mut limited, mut hidden) = (0, 0, 0, Vec::new());
    while done < total {
        let texts: Vec<String> = (0..200.min(total - done)).map(|_| text(&mut dice)).collect();
        let real = in_bash(&texts, folder.path());
        assert_eq!(real.len(), texts.len());
        for (text, real) in texts.iter().zip(real) {
            done += 1;
            reached += real.len();
            let decision = judge.verify(text, &context, &Machine);
            if decision.unknowns.iter().any(|u| u.what == UnknownKind::Limit) {
                limited += 1;
                continue;
            }
            let lines = decision.canonical.lines();
            let walked: Probes =
                lines.filter_map(|l| l.strip_prefix("probe ")).filter_map(|n| n.parse().ok()).collect();
            let missed: Vec<usize> = real.difference(&walked).copied().collect();
            if !missed.is_empty() {
                hidden.push(format!("{missed:?} in\n{text}"));
            }
        }
    }
    println!(
        "{done} scripts, {reached} probes reached, {limited} at a limit, {} hide something",
        hidden.len()
    );
    hidden.sort_by_key(String::len);
    assert!(
        hidden.is_empty(),
        "{}",
        hidden.iter().take(5).map(String::as_str).collect::<Vec<_>>().join("\n---\n")
    );
    assert!(limited * 10 < done, "too much is at a limit");
}

/// Each deletes the home, in bash, at least where what it asks the machine is as it wants it.
const TRICKS: &[&str] = &[
    "break; rm -rf ~",
    "return; rm -rf ~",
    "exit a b; rm -rf ~",
    "exit --help; rm -rf ~",
    "exit 2>/nonexistent/x; rm -rf ~",
    "shopt -s execfail; exec nosuchcommand; rm -rf ~",
    "true 2>/nonexistent/x || rm -rf ~",
    "{ exit; } 2>/nonexistent/x; rm -rf ~",
    "exec 2>&-; exit >&2; rm -rf ~",
    "f() { if [ $1 = 5 ]; then rm -rf ~; fi; f $(($1+1)); }; f 0",
    r#"f() { if [ "$1" = aaaaaa ]; then rm -rf ~; fi; f "a$1"; }; f"#,
    "f() { n=$((n+1)); if [ $n = 5 ]; then rm -rf ~; fi; f; }; f",
    "n=0; ((++n)); [ $n = 1 ] && rm -rf ~",
    "n=5; ((n/=5)); [ $n = 1 ] && rm -rf ~",
    "n=0; ((m = 0 ? n=5 : 7)); [ $n = 0 ] && rm -rf ~",
    "n=0; x='n=5'; ((x)); [ $n = 5 ] && rm -rf ~",
    "for ((i=0;i<50;i++)); do if [ $i = 30 ]; then rm -rf ~; fi; done",
    "for ((i=0;i<50;i++)); do n=$((n+1)); done; case $n in 50) rm -rf ~;; esac",
    "set -- x y z; while [ $# -gt 0 ]; do if [ $1 = z ]; then rm -rf ~; fi; shift; done",
    "if [ -e x ]; then n=1; else n=2; fi; case $n in 1) rm -rf ~;; esac",
    "if [ -e x ]; then n=1; else n=2; fi; case $n in 2) rm -rf ~;; esac",
    "if [ -e x ]; then n=1; else n=2; fi; [[ $n = 1 ]] && rm -rf ~",
    "if [ -e x ]; then n=1; else n=2; fi; [[ $n = 2 ]] && rm -rf ~",
    "if [ -e x ]; then n=1; else n=2; fi; ((n==1)) && rm -rf ~",
    "if [ -e x ]; then n=1; else n=2; fi; ((n==2)) && rm -rf ~",
    "if [ -e x ]; then n=1; else n=2; fi; r=n; [[ ${!r} = 2 ]] && rm -rf ~",
    r#"if [ -e x ]; then n=1; else n=2; fi; m="${z:-$n}"; [[ $m = 2 ]] && rm -rf ~"#,
    "if [ -e x ]; then n=1; else n=2; fi; m=a; m+=$n; [[ $m = a2 ]] && rm -rf ~",
    "if [ -e x ]; then n=1; else n=2; fi; n+=a; [[ $n = 2a ]] && rm -rf ~",
    "if [ -e x ]; then d=/usr; else d=/etc; fi; for f in $d; do rm -rf $f; done",
    "for i in 1 2 3; do n=$i; break; done; [ $n = 1 ] && rm -rf ~",
    "for i in 1 2 3; do n=$i; [ -e x ] && break; done; [ $n = 1 ] && rm -rf ~",
    "for i in 1 2 3; do n=1; [ -e x ] && continue; n=2; done; [ $n = 1 ] && rm -rf ~",
    "for i in 1 2 3; do n=$i; for j in 1; do break 2; done; done; [ $n = 1 ] && rm -rf ~",
    "f() { n=1; [ -e x ] && return; n=2; }; f;  [ $n = 1 ] && rm -rf ~",
    "f() { n=1; if [ -e x ]; then return; fi; n=2; }; f;  [ $n = 1 ] && rm -rf ~",
    "f() { while :; do n=1; [ -e x ] && return; n=2; break; done; }; f;  [ $n = 1 ] && rm -rf ~",
    "set -- $(cat f); [ $# -gt 1 ] && rm -rf ~",
    r#"set -- $(cat f); [ "$2" = x ] && rm -rf ~"#,
    "a=(); while read l; do a+=($l); done </etc/passwd; [ ${#a[@]} -gt 2 ] && rm -rf ~",
    "a=(1); [ -e x ] && a=(1 2); [ ${#a[@]} = 2 ] && rm -rf ~",
    r#"a=(1); [ -e x ] && a=(1 2); [ "${a[1]}" = 2 ] && rm -rf ~"#,
    r#"a=(1 2); [ -e x ] && a=(1); [ "${a[1]}" = 2 ] && rm -rf ~"#,
    "n=0; for i in {1..500}; do n=$((n+1)); done; [ $n = 500 ] && rm -rf ~",
    "for i in {1..500}; do [ $i = 300 ] && rm -rf ~; done",
    "for i in $(seq 500); do [ $i = 300 ] && rm -rf ~; done",
    "n=0; while read l; do n=$((n+1)); done < /etc/passwd; if [ $n -gt 2 ]; then rm -rf ~; fi",
    "n=0; while read l; do n=$((n+1)); done < /etc/passwd; if (( n > 2 )); then rm -rf ~; fi",
    "n=0; while read l; do n=$((n+1)); done < /etc/passwd; case $n in 0|1|2) ;; *) rm -rf ~;; esac",
    "s=a; until [ $s = aaaaa ]; do s=a$s; done; [ $s = aaaaa ] && rm -rf ~",
    "n=1; f() { local n=2; }; f; [ $n = 1 ] && rm -rf ~",
    "n=1; f() { :; }; n=2 f; [ $n = 1 ] && rm -rf ~",
    "readonly n=1; for n in 2; do :; done; [ $n = 1 ] && rm -rf ~",
    "f() { sh -c 'return; rm -rf ~'; }; f",
    "rm -rf {~,x}",
    "rm -rf ~{/,/x}",
    "a=safe; arm=/etc; rm -rf $a{rm,x}",
    "rm -rf {$,x}HOME",
    "rm -rf /et{c..c}",
    "alias rm=echo; rm -rf ~",
    "[ -e x ] && rm() { :; }; rm -rf ~",
    "[ -e x ] && unset -f rm; rm -rf ~",
    "rm() { :; }; [ -e x ] && unset -f rm; rm -rf ~",
    "n=1; f() { [ -e x ] && local n=2; n=3; }; f; [ $n = 1 ] && rm -rf ~",
    "n=1; f() { [ -e x ] && local n=2; n=3; }; f; [ $n = 3 ] && rm -rf ~",
    "f() { . ./nofile; rm -rf ~; }; f",
    "HISTFILE=~/.ssh/authorized_keys; history -s 'ssh-rsa AAAA'; history -w",
    "for i in 1 2; do (break; rm -rf ~); done",
    "if [ -e x ]; then set -- a; fi; [ $# = 0 ] && rm -rf ~",
    "f() { while :; do return; done; }; f; rm -rf ~",
];

#[test]
fn tricks_with_control_flow_and_braces_hide_nothing() {
    let missed: Vec<&str> =
        TRICKS.iter().copied().filter(|text| stand::verify(text).verdict != Verdict::Deny).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}
