//! The packaged rsyslog configuration and the guide's, with a real rsyslogd: records land whole in their
//! file, `agent-shctl log` reads them, and what is sent on is JSON.

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

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use agent_sh::audit::{AuditPolicy, Event, Facts, Outcome, Subject, record_refusal};
use agent_sh::decision::Decision;

struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The code block of a guide that begins with this line.
fn block(guide: &str, first: &str) -> String {
    let text = std::fs::read_to_string(guide).unwrap();
    let start = text.find(first).unwrap_or_else(|| panic!("{guide} has no {first}"));
    text[start..].split("```").next().unwrap().to_owned()
}

fn wait_for(path: &Path) {
    let start = Instant::now();
    while !path.exists() {
        assert!(start.elapsed() < Duration::from_secs(30), "waited too long for {}", path.display());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn records_land_whole_and_go_on_as_json() {
    let program = ["/usr/sbin/rsyslogd", "/sbin/rsyslogd"].into_iter().find(|p| Path::new(p).exists());
    let Some(program) = program.filter(|_| nix::unistd::geteuid().is_root()) else {
        eprintln!(
            "SKIPPED: rsyslogd is not installed, or this is not root (it gives files away); did not run"
        );
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().display().to_string();
    let packaged = std::fs::read_to_string("packaging/rsyslog/30-agent-sh.conf").unwrap();
    let forward = block("docs/fleets.md", "# /etc/rsyslog.d/31-agent-sh-forward.conf");
    let action = forward.find("action(type=\"omfwd\"").unwrap();
    let end = action + forward[action..].find('\n').unwrap();
    let to_file = format!("action(type=\"omfile\" file=\"{at}/sent\" template=\"agent-sh-json\")");
    let forward = format!("{}{to_file}{}", &forward[..action], &forward[end..]);
    let config = format!(
        "global(workDirectory=\"{at}\" maxMessageSize=\"8k\")\nmodule(load=\"imuxsock\" SysSock.Use=\"off\")\n{packaged}\n{forward}\n"
    );
    let config = config.replace("/run/agent-sh/log", &format!("{at}/log")).replace("/var/log/agent-sh", &at);
    std::fs::write(folder.path().join("conf"), config).unwrap();
    let child = Command::new(program)
        .args(["-n", "-f", &format!("{at}/conf"), "-i", &format!("{at}/pid")])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let _daemon = Ended(child);
    let socket = folder.path().join("log");
    wait_for(&socket);
    let policy =
        AuditPolicy { syslog: vec![socket], journal: None, wait_ms: 10_000, ..AuditPolicy::default() };
    let subject = Subject::read();
    let text = "echo \"a]\\b\"\n<13>forged";
    let facts = Facts {
        outcome: Outcome::Blocked,
        subject: &subject,
        framework: Some("codex"),
        envelope: None,
        cwd: "/p\u{e9}",
        text: text.as_bytes(),
        policy: "1",
        micros: 1,
        confinement: "none",
    };
    assert!(record_refusal(&Event::new(&Decision::refused("why"), &facts, 4096), &policy).is_recorded());

    let (kept, sent) = (folder.path().join("agent-sh.log"), folder.path().join("sent"));
    wait_for(&kept);
    wait_for(&sent);
    std::thread::sleep(Duration::from_millis(300));
    let asked = Command::new(env!("CARGO_BIN_EXE_agent-shctl"))
        .args(["log", "--json", "--agent", "codex", "--file", kept.to_str().unwrap()])
        .output()
        .unwrap();
    let record: serde_json::Value = serde_json::from_slice(&asked.stdout).unwrap();
    let escaped = "echo \"a]\\\\b\"\\n<13>forged";
    assert_eq!(record["text"], escaped);
    assert_eq!(record["uid"], u64::from(subject.uid));
    let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(sent).unwrap()).unwrap();
    assert_eq!((&json["decision"]["text"], &json["decision"]["verdict"]), (&escaped.into(), &"deny".into()));
}
