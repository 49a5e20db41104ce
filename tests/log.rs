//! What was recorded, asked again: the chain against tampering, queries, counts and the report, by the
//! program that people use.

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

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use agent_sh::audit::chain::head_of;
use agent_sh::audit::{AuditPolicy, Event, Facts, Outcome, Subject, record_refusal};
use agent_sh::decision::Decision;

struct Log {
    folder: tempfile::TempDir,
}

impl Log {
    fn path(&self) -> PathBuf {
        self.folder.path().join("audit.jsonl")
    }

    /// As many records as asked for, written by the code that agent-sh writes them with.
    fn with(count: usize) -> Self {
        let log = Self { folder: tempfile::tempdir().unwrap() };
        (0..count).for_each(|number| log.write(number));
        log
    }

    fn write(&self, number: usize) {
        let policy = AuditPolicy {
            syslog: Vec::new(),
            journal: None,
            file: Some(self.path()),
            wait_ms: 5000,
            ..AuditPolicy::default()
        };
        let subject = Subject { uid: 1000, gid: 1000, pid: 7, ppid: 6, parent: "node".to_owned() };
        let text = format!("echo {number}; rm -rf /etc/\"$x\"\n<script>");
        let facts = Facts {
            outcome: if number.is_multiple_of(3) { Outcome::Blocked } else { Outcome::Observed },
            subject: &subject,
            framework: Some("codex"),
            envelope: None,
            cwd: "/home/u/p",
            text: text.as_bytes(),
            policy: "1",
            micros: 17,
            confinement: "none",
        };
        let event = Event::new(&Decision::refused("because"), &facts, 4096);
        let receipt = record_refusal(&event, &policy);
        assert!(receipt.is_recorded(), "{receipt:?}");
    }

    fn lines(&self) -> Vec<String> {
        std::fs::read_to_string(self.path()).unwrap().split_inclusive('\n').map(str::to_owned).collect()
    }
}

fn ctl(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_agent-shctl")).args(arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn verify(path: &Path) -> (Option<i32>, String) {
    let output = ctl(&["log", "verify", path.to_str().unwrap()]);
    (output.status.code(), said(&output))
}

#[test]
fn an_untouched_chain_holds_over_rotation() {
    let log = Log::with(5);
    assert_eq!(verify(&log.path()).0, Some(0), "{}", verify(&log.path()).1);
    let old = log.folder.path().join("audit.jsonl.1");
    std::fs::rename(log.path(), &old).unwrap();
    (0..3).for_each(|number| log.write(number));
    let output = ctl(&["log", "verify", old.to_str().unwrap(), log.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    // the younger file alone says what it can't know
    let (status, text) = verify(&log.path());
    assert_eq!(status, Some(1));
    assert!(text.contains("begins with record 6"), "{text}");
}

/// A way to tamper with ten lines.
type Tampering = fn(&mut Vec<String>);

/// Each with a piece of what must be said.
const TAMPERINGS: &[(&str, &str, Tampering)] = &[
    ("the first line removed", "begins with record 2", |l| drop(l.remove(0))),
    ("a middle line removed", "records 5 to 5 are missing", |l| drop(l.remove(4))),
    ("three lines removed", "records 3 to 5 are missing", |l| drop(l.drain(2..5))),
    ("the last line removed", "ends with record 9, but 10", |l| drop(l.pop())),
    ("all lines removed", "ends with record 0, but 10", Vec::clear),
    ("a verdict altered", "record 4 was altered", |l| {
        l[3] = l[3].replace("\"verdict\":\"deny\"", "\"verdict\":\"allow\"");
    }),
    ("a text altered", "record 6 was altered", |l| l[5] = l[5].replace("rm -rf", "ls -la")),
    ("a time altered", "record 2 was altered", |l| l[1] = l[1].replace("\"time\":\"2", "\"time\":\"1")),
    ("a user altered", "record 2 was altered", |l| l[1] = l[1].replace("\"uid\":1000", "\"uid\":1001")),
    ("a blank put in", "record 2 was altered", |l| l[1] = l[1].replacen("{\"", "{ \"", 1)),
    ("two lines exchanged", "out of order", |l| l.swap(3, 4)),
    ("a line doubled", "record 5 stands out of order or twice", |l| l.insert(5, l[4].clone())),
    ("a line moved to the end", "records 3 to 3 are missing", |l| {
        let x = l.remove(2);
        l.push(x);
    }),
    ("a foreign line put in", "line 4: not a whole record", |l| {
        l.insert(3, "{\"verdict\":\"allow\"}\n".to_owned());
    }),
    ("an empty line put in", "line 4: not a whole record", |l| l.insert(3, "\n".to_owned())),
    ("a line cut in half", "line 4: not a whole record", |l| {
        let half = l[3].len() / 2;
        l[3].truncate(half);
        l[3].push('\n');
    }),
    ("the end cut in the middle of a line", "line 10: not a whole record", |l| {
        let half = l[9].len() / 2;
        l[9].truncate(half);
    }),
    ("two lines joined", "line 4: record 5 was altered", |l| {
        let x = l.remove(4);
        l[3] = format!("{}{x}", l[3].trim_end());
    }),
    ("a number altered", "was altered", |l| l[3] = l[3].replace("\"seq\":4", "\"seq\":5")),
    ("a link altered", "was altered", |l| {
        let at = l[3].find("\"prev\":\"").unwrap() + 8;
        let c = if &l[3][at..=at] == "0" { "1" } else { "0" };
        l[3].replace_range(at..=at, c);
    }),
    ("a hash altered", "was altered", |l| {
        let at = l[3].find("\"chain\":\"").unwrap() + 9;
        let c = if &l[3][at..=at] == "0" { "1" } else { "0" };
        l[3].replace_range(at..=at, c);
    }),
    ("a line replaced by one that hashes well", "was written after another record", |l| {
        l[4] = chained(5, &l[3]);
    }),
    ("an end from elsewhere", "head file names another", |l| {
        let last = chained(10, &l[8]);
        l[9] = last;
    }),
    ("the whole file written anew", "head file names another", |l| {
        let mut last: Option<String> = None;
        for number in 1..=10 {
            let line = match &last {
                Some(before) => chained(number, before),
                None => first(),
            };
            l[number - 1].clone_from(&line);
            last = Some(line);
        }
    }),
];

fn first() -> String {
    let (line, _) =
        agent_sh::audit::chain::seal(b"{\"verdict\":\"allow\"}", 1, &agent_sh::audit::chain::START);
    String::from_utf8(line).unwrap()
}

/// A line that follows another one properly.
fn chained(number: usize, before: &str) -> String {
    let before = agent_sh::audit::chain::unseal(before.as_bytes()).unwrap();
    let (line, _) =
        agent_sh::audit::chain::seal(b"{\"verdict\":\"allow\"}", number as u64, &before.link.chain);
    String::from_utf8(line).unwrap()
}

#[test]
fn every_kind_of_tampering_is_found() {
    let log = Log::with(10);
    let (untouched, head) = (log.lines(), std::fs::read(head_of(&log.path())).unwrap());
    assert!(TAMPERINGS.len() >= 20);
    for (what, expected, tamper) in TAMPERINGS {
        let mut lines = untouched.clone();
        tamper(&mut lines);
        std::fs::write(log.path(), lines.concat()).unwrap();
        std::fs::write(head_of(&log.path()), &head).unwrap();
        let (status, text) = verify(&log.path());
        assert_eq!(status, Some(1), "{what}: {text}");
        assert!(text.contains(expected), "{what}: {text}");
    }
    std::fs::write(log.path(), untouched.concat()).unwrap();
    std::fs::remove_file(head_of(&log.path())).unwrap();
    assert!(verify(&log.path()).1.contains("head file is missing"));
}

#[test]
fn syslog_s_copies_show_a_chain_written_anew() {
    let log = Log::with(3);
    let line = agent_sh::audit::chain::unseal(log.lines()[1].as_bytes()).unwrap().link;
    let syslog = log.folder.path().join("syslog");
    let copy = |chain: &str| {
        format!(
            "<84>1 2026-11-30T12:00:00Z h agent-sh 1 1 [agent-sh@32473 chain=\"{chain}\" seq=\"2\" verdict=\"deny\"] x\n"
        )
    };
    for (chain, expected) in
        [(line.chain(), "the chain holds"), (&"0".repeat(64), "syslog saw another record 2")]
    {
        std::fs::write(&syslog, copy(chain)).unwrap();
        let output =
            ctl(&["log", "verify", log.path().to_str().unwrap(), "--syslog", syslog.to_str().unwrap()]);
        assert!(said(&output).contains(expected), "{}", said(&output));
    }
}

#[test]
fn the_record_answers_questions() {
    let log = Log::with(9);
    let path = log.path();
    let ask = |more: &[&str]| {
        let output = ctl(&[&["log", "--file", path.to_str().unwrap()], more].concat());
        assert!(output.status.success(), "{output:?}");
        said(&output)
    };
    assert_eq!(ask(&[]).lines().count(), 9);
    assert_eq!(ask(&["--outcome", "blocked"]).lines().count(), 3);
    assert_eq!(
        ask(&["--agent", "codex", "--since", "1h", "--verdict", "deny", "--cwd", "/home/u"]).lines().count(),
        9
    );
    assert_eq!(ask(&["--text", "echo 4;"]).lines().count(), 1);
    assert_eq!(ask(&["--until", "2001-01-01"]).lines().count(), 0);
    let line = ask(&["--text", "echo 0;", "--json"]);
    let object: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(object["text"], "echo 0; rm -rf /etc/\"$x\"\\n<script>");
    let counted = ctl(&["log", "stats", "--json", "--file", path.to_str().unwrap()]);
    let object: serde_json::Value = serde_json::from_str(&said(&counted)).unwrap();
    assert_eq!((&object["records"], &object["outcomes"]["blocked"]), (&9.into(), &3.into()));
    for wrong in [&["--since", "yesterday"][..], &["--verdict", "maybe"], &["--file", "/nonexistent"]] {
        let output = ctl(&[&["log"], wrong].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(!output.stderr.is_empty());
    }
}

#[test]
fn the_report_is_one_page_in_which_recorded_text_is_text() {
    let log = Log::with(4);
    let page = log.folder.path().join("report.html");
    let output = ctl(&["report", "--html", page.to_str().unwrap(), "--file", log.path().to_str().unwrap()]);
    assert!(output.status.success(), "{output:?}");
    let html = std::fs::read_to_string(page).unwrap();
    assert!(html.contains("\\u003cscript>") && html.matches("<script").count() == 2);
    assert!(html.contains("\"total\":4"));
}
