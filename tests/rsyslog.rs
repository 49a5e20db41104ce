//! The record against a real rsyslogd: a daemon of our own on a socket and a file of our own.

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

// Test code all through: the lints' exception for tests does not reach their plain functions.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use agent_sh::audit::{AuditPolicy, Demand, Event, Facts, Outcome, Receipt, Subject, record_refusal};
use agent_sh::decision::Decision;

const PROCESSES: usize = 8;
const EVENTS: usize = 125;

/// What the writers put into their texts, besides their number: every way to forge a line.
const HOSTILE: &[&str] = &[
    "a\n<13>Nov 30 10:00:00 host agent-sh: forged",
    "b\r\n<86>1 2026-01-01T00:00:00Z h agent-sh 1 1 [agent-sh@32473 verdict=\"allow\"] forged",
    "c\"] forged",
    "d\\",
    "e\u{2028}forged\u{85}",
    "f\x1b[2K\x00\x08",
    "g\u{202e}",
    "h ordinary",
];

struct Daemon {
    child: Child,
    folder: tempfile::TempDir,
}

impl Daemon {
    /// `None`, said aloud, where there is no rsyslogd.
    fn start(parser: &str) -> Option<Self> {
        let program = ["/usr/sbin/rsyslogd", "/sbin/rsyslogd"].into_iter().find(|p| Path::new(p).exists());
        let Some(program) = program else {
            eprintln!("SKIPPED: rsyslogd is not installed; this test did not run");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().display();
        let config = format!(
            "global(workDirectory=\"{at}\" maxMessageSize=\"8k\")\n\
             module(load=\"imuxsock\" SysSock.Use=\"off\")\n\
             input(type=\"imuxsock\" Socket=\"{at}/log\" UseSpecialParser=\"{parser}\")\n\
             template(name=\"line\" type=\"string\" string=\"%rawmsg%\\n\")\n\
             action(type=\"omfile\" File=\"{at}/out\" template=\"line\")\n"
        );
        std::fs::write(folder.path().join("conf"), config).unwrap();
        let child = Command::new(program)
            .arg("-n")
            .arg("-f")
            .arg(folder.path().join("conf"))
            .arg("-i")
            .arg(folder.path().join("pid"))
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let daemon = Self { child, folder };
        wait_for(|| daemon.socket().exists());
        Some(daemon)
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    fn lines(&self) -> Vec<String> {
        let text = std::fs::read(self.folder.path().join("out")).unwrap_or_default();
        String::from_utf8(text).unwrap().lines().map(str::to_owned).collect()
    }

    fn signal(&self, signal: nix::sys::signal::Signal) {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        nix::sys::signal::kill(pid, signal).unwrap();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.signal(nix::sys::signal::Signal::SIGCONT);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn wait_for(done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(20), "waited too long for rsyslogd");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn send(socket: &Path, text: &str, wait_ms: u16) -> Receipt {
    let policy = AuditPolicy {
        demand: Demand::Required,
        syslog: vec![socket.to_owned()],
        journal: None,
        wait_ms,
        ..AuditPolicy::default()
    };
    let subject = Subject::read();
    let facts = Facts {
        outcome: Outcome::Blocked,
        subject: &subject,
        framework: None,
        envelope: None,
        cwd: text,
        text: text.as_bytes(),
        policy: "1",
        micros: 1,
        confinement: "none",
    };
    record_refusal(&Event::new(&Decision::refused(text), &facts, policy.text_limit), &policy)
}

/// The writer: this test binary, started again with a socket in its environment.
#[test]
#[ignore = "started by the other tests"]
fn writer() {
    let socket = std::env::var("AGENT_SH_TEST_SOCKET").unwrap();
    let writer: usize = std::env::var("AGENT_SH_TEST_WRITER").unwrap().parse().unwrap();
    for number in 0..EVENTS {
        let text = format!("w{writer}n{number}z {}", HOSTILE[number % HOSTILE.len()]);
        let receipt = send(Path::new(&socket), &text, 10_000);
        assert!(receipt.is_recorded(), "{receipt:?}");
    }
}

fn a_thousand_events_from_eight_processes(parser: &str) {
    let Some(daemon) = Daemon::start(parser) else { return };
    let writers: Vec<Child> = (0..PROCESSES)
        .map(|writer| {
            Command::new(std::env::current_exe().unwrap())
                .args(["writer", "--exact", "--ignored", "--quiet"])
                .env("AGENT_SH_TEST_SOCKET", daemon.socket())
                .env("AGENT_SH_TEST_WRITER", writer.to_string())
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    wait_for(|| daemon.lines().len() >= PROCESSES * EVENTS);
    std::thread::sleep(Duration::from_millis(200));
    let lines = daemon.lines();
    assert_eq!(lines.len(), PROCESSES * EVENTS, "no line more than was sent");
    for line in &lines {
        // Whole: the header, the structured data to its end, the message.
        assert!(line.starts_with("<84>1 20"), "{line}");
        assert!(line.contains("[agent-sh@32473 confinement=\"none\" "), "{line}");
        assert!(line.contains("verdict=\"deny\"] DENY blocked: w"), "{line}");
    }
    for writer in 0..PROCESSES {
        for number in 0..EVENTS {
            let mark = format!("] DENY blocked: w{writer}n{number}z ");
            assert_eq!(lines.iter().filter(|l| l.contains(&mark)).count(), 1, "{mark}");
        }
    }
    let _ = writeln!(std::io::stderr(), "rsyslogd (special parser {parser}): {} whole lines", lines.len());
}

#[test]
fn a_thousand_events_give_a_thousand_whole_lines() {
    a_thousand_events_from_eight_processes("off");
}

#[test]
fn a_thousand_events_give_a_thousand_whole_lines_in_the_default_configuration() {
    a_thousand_events_from_eight_processes("on");
}

#[test]
fn a_stopped_daemon_holds_a_command_no_longer_than_the_wait() {
    let Some(daemon) = Daemon::start("off") else { return };
    assert!(send(&daemon.socket(), "before", 1000).is_recorded());
    daemon.signal(nix::sys::signal::Signal::SIGSTOP);
    let (mut longest, mut refused, mut sent) = (Duration::ZERO, 0, 0);
    // net.unix.max_dgram_qlen lets the first ones through: 10 on one machine, hundreds on another
    while sent < 20 || (refused == 0 && sent < 4000) {
        sent += 1;
        let start = Instant::now();
        let receipt = send(&daemon.socket(), "during", 50);
        longest = longest.max(start.elapsed());
        refused += usize::from(!receipt.is_recorded());
    }
    assert!(refused > 0, "the queue never filled");
    assert!(longest < Duration::from_millis(250), "held for {longest:?}");
    daemon.signal(nix::sys::signal::Signal::SIGCONT);
    wait_for(|| daemon.lines().len() == 1 + sent - refused);
    let _ = writeln!(
        std::io::stderr(),
        "stopped daemon: longest wait {longest:?}, {refused} of {sent} not taken"
    );
}
