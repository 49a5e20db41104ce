//! A model's opinion, asked by a program of its own: network code never lives in the shell.
//!
//! In: an undecided command's evidence, the policy's judges. Out: [`Asked`]. Never: waits past the
//! deadline, leaves a child or a descriptor behind, hands over the caller's environment, or takes anything
//! but every judge's clear ALLOW for one.

use std::io::Read as _;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::stat::Mode;
use serde::{Deserialize, Serialize};

use super::approval::STATE;
use super::code::Key;
use super::folder::Folder;
use super::wire::{self, Opinion, Reply, Request, Said};
use crate::invocation::memory::sealed;
use crate::policy::temper::undecided::{self, Adjudicator, Judge};
use crate::verdict::Verdict;

/// The variable of the adjudicator's own environment that may hold a key.
pub const KEY: &str = "AGENT_SH_ADJUDICATOR_KEY";
/// Answers that are kept.
const ANSWERS: usize = 1024;

/// What came of asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// ALLOW or DENY.
    pub verdict: Verdict,
    /// For the record: who said what, or what went wrong.
    pub note: String,
    pub opinions: Vec<Opinion>,
}

/// Whose key the adjudicator's environment may bring along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Environment {
    /// none: nothing of the caller's
    Clean,
    /// that of a person who runs it by hand
    OwnKey,
}

/// An answer that is kept.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    key: String,
    allow: bool,
    note: String,
    /// Seconds since 1970.
    made: u64,
}

/// Asks all judges, or takes their answer of a while ago. `home` is that of the user table.
pub fn ask(
    policy: &Adjudicator,
    judges: &[Judge],
    evidence: serde_json::Value,
    key: &Key,
    home: &str,
) -> Asked {
    let names: Vec<&str> = judges.iter().flat_map(|judge| [judge.endpoint, judge.model]).collect();
    let key = key.with(&names);
    let folder = Path::new(home).join(STATE).join("answers");
    let now = super::approval::Now::here().time;
    let lifetime = u64::from(policy.cache / 1000);
    let uid = nix::unistd::geteuid().as_raw();
    if lifetime > 0
        && let Ok(open) = Folder::open(&folder, uid)
        && let Some(kept) = kept(&open, &key, now, lifetime)
    {
        let verdict = if kept.allow { Verdict::Allow } else { Verdict::Deny };
        return Asked { verdict, note: format!("kept answer: {}", kept.note), opinions: Vec::new() };
    }
    let asked = consult(policy, judges, evidence, Environment::Clean);
    let clear = |opinion: &Opinion| matches!(opinion.said, Said::Allow | Said::Deny);
    // a fault is no answer: it is not kept
    let is_answer = !asked.opinions.is_empty() && asked.opinions.iter().all(clear);
    if lifetime > 0 && is_answer {
        let allow = asked.verdict == Verdict::Allow;
        keep(
            &folder,
            &Kept { key: key.text().to_owned(), allow, note: asked.note.clone(), made: now },
            lifetime,
        );
    }
    asked
}

fn kept(folder: &Folder, key: &Key, now: u64, lifetime: u64) -> Option<Kept> {
    let found = folder.read(key.text())?;
    let kept: Kept = serde_json::from_slice(&found.bytes).ok()?;
    let holds = found.owner == nix::unistd::geteuid().as_raw() && kept.key == key.text();
    (holds && kept.made <= now && now - kept.made < lifetime).then_some(kept)
}

/// Keeps an answer where that can be done: inside a confined command it can't.
fn keep(folder: &Path, kept: &Kept, lifetime: u64) {
    let Ok(folder) = Folder::make(folder) else { return };
    let names = folder.names();
    if names.len() >= ANSWERS {
        let old = |name: &&String| {
            folder.read(name).is_none_or(|found| {
                u64::try_from(found.written).unwrap_or(0).saturating_add(lifetime) < kept.made
            })
        };
        let some = names.len() / 4;
        let gone = names.iter().filter(old).chain(names.iter().take(some));
        gone.for_each(|name| {
            folder.remove(name);
        });
    }
    if let Ok(json) = serde_json::to_vec(kept) {
        drop(folder.write(&kept.key, &json, Mode::S_IRUSR | Mode::S_IWUSR));
    }
}

/// Asks all judges.
pub fn consult(
    policy: &Adjudicator,
    judges: &[Judge],
    evidence: serde_json::Value,
    environment: Environment,
) -> Asked {
    let deny = |note: &str| Asked { verdict: Verdict::Deny, note: note.to_owned(), opinions: Vec::new() };
    let request = request(policy, judges, evidence);
    let Ok(bytes) = serde_json::to_vec(&request) else {
        return deny("no adjudicator: the request can't be written");
    };
    if bytes.len() > wire::REQUEST {
        return deny("the command is too large to be shown to a model");
    }
    let Some(program) = policy.programs.iter().find(|path| Path::new(path).is_file()) else {
        return deny("no adjudicator: none of adjudicator.programs is there");
    };
    let until = Instant::now() + Duration::from_millis(u64::from(policy.deadline));
    match converse(program, &bytes, until, environment) {
        Ok(line) => weigh(&line, &request).unwrap_or_else(|| deny("the adjudicator's reply is malformed")),
        Err(why) => deny(why),
    }
}

fn request(policy: &Adjudicator, judges: &[Judge], evidence: serde_json::Value) -> Request {
    let judge = |judge: &Judge| wire::Judge {
        endpoint: judge.endpoint.to_owned(),
        model: judge.model.to_owned(),
        key_file: judge.key_file.to_owned(),
    };
    Request {
        version: wire::VERSION,
        // the program needs a little of the time for itself
        deadline_ms: policy.deadline - policy.deadline / 10,
        judges: judges.iter().map(judge).collect(),
        ca_file: policy.ca_file.to_owned(),
        format: match policy.format {
            undecided::Format::Auto => wire::Format::Auto,
            undecided::Format::Plain => wire::Format::Plain,
            undecided::Format::Schema => wire::Format::Schema,
        },
        evidence,
    }
}

/// One opinion of each judge in order, and nothing else; `None` where it is anything else.
fn weigh(line: &[u8], request: &Request) -> Option<Asked> {
    let line = line.strip_suffix(b"\n")?;
    if line.contains(&b'\n') {
        return None;
    }
    let Reply { opinions } = serde_json::from_slice(line).ok()?;
    let models = opinions.iter().map(|opinion| &opinion.model);
    if opinions.is_empty() || !models.eq(request.judges.iter().map(|judge| &judge.model)) {
        return None;
    }
    let allow = opinions.iter().all(|opinion| opinion.said == Said::Allow);
    let said = |o: &Opinion| format!("{} said {} in {} ms", crate::text::escape(&o.model), o.said, o.ms);
    let note = opinions.iter().map(said).collect::<Vec<_>>().join(", ");
    Some(Asked { verdict: if allow { Verdict::Allow } else { Verdict::Deny }, note, opinions })
}

/// Runs the program with the request as its standard input, and reads what it prints until its end.
fn converse(
    program: &str,
    request: &[u8],
    until: Instant,
    environment: Environment,
) -> Result<Vec<u8>, &'static str> {
    let input = sealed(request).map_err(|_| "no adjudicator: no memory for the request")?;
    let mut command = Command::new(program);
    command
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(input))
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    if let (Environment::OwnKey, Some(key)) = (environment, std::env::var_os(KEY)) {
        command.env(KEY, key);
    }
    let mut child = command.spawn().map_err(|_| "no adjudicator: it can't be started")?;
    let answer = listen(&mut child, until);
    // killed whether it is done or not: nothing of it stays
    drop(child.kill());
    drop(child.wait());
    answer
}

/// What the child prints, up to its end or the deadline.
fn listen(child: &mut Child, until: Instant) -> Result<Vec<u8>, &'static str> {
    let Some(mut output) = child.stdout.take() else { return Err("no adjudicator: no pipe to it") };
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::ZERO);
        let mut ready = [PollFd::new(output.as_fd(), PollFlags::POLLIN)];
        match poll(&mut ready, timeout) {
            Ok(0) if left.as_millis() == 0 => return Err("the adjudicator did not answer in time"),
            Ok(0) | Err(nix::errno::Errno::EINTR) => continue,
            Ok(_) => {}
            Err(_) => return Err("no adjudicator: its pipe can't be read"),
        }
        match output.read(&mut buffer) {
            Ok(0) => return Ok(answer),
            Ok(count) => answer.extend_from_slice(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return Err("no adjudicator: its pipe can't be read"),
        }
        if answer.len() > wire::REPLY {
            return Err("the adjudicator's reply is too long");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> Adjudicator {
        Adjudicator { deadline: 700, ..crate::policy::Policy::embedded().temper().adjudicator }
    }

    const JUDGES: &[Judge] = &[
        Judge { endpoint: "http://127.0.0.1:9/v1", model: "a", key_file: "" },
        Judge { endpoint: "http://127.0.0.1:9/v1", model: "b", key_file: "" },
    ];

    fn opinion(model: &str, said: &str) -> String {
        format!("{{\"model\":\"{model}\",\"said\":{said},\"ms\":1,\"tokens_in\":1,\"tokens_out\":1}}")
    }

    #[test]
    fn only_every_judge_s_allow_is_one() {
        let request = request(&policy(), JUDGES, serde_json::Value::Null);
        let (a, b) = (opinion("a", "\"allow\""), opinion("b", "\"allow\""));
        let weighed = |line: &str| weigh(line.as_bytes(), &request).map(|asked| asked.verdict);
        assert_eq!(weighed(&format!("{{\"opinions\":[{a},{b}]}}\n")), Some(Verdict::Allow));
        for said in ["\"deny\"", "\"doubt\"", "\"timeout\"", "{\"status\":500}", "\"two-verdicts\""] {
            let line = format!("{{\"opinions\":[{a},{}]}}\n", opinion("b", said));
            assert_eq!(weighed(&line), Some(Verdict::Deny), "{said}");
        }
        for line in [
            String::new(),
            format!("{{\"opinions\":[{a},{b}]}}"),
            format!("{{\"opinions\":[{a}]}}\n"),
            format!("{{\"opinions\":[{b},{a}]}}\n"),
            format!("{{\"opinions\":[{a},{b},{b}]}}\n"),
            format!("{{\"opinions\":[{a},{b}],\"opinions\":[{a},{b}]}}\n"),
            format!("{{\"opinions\":[{a},{b}],\"x\":1}}\n"),
            format!("{{\"opinions\":[{a},{b}]}}\n{{\"opinions\":[{a},{b}]}}\n"),
            format!("{{\"opinions\":[{a},{b}]}} ALLOW\n"),
            "{\"opinions\":[]}\n".to_owned(),
            "ALLOW\n".to_owned(),
        ] {
            assert_eq!(weighed(&line), None, "{line}");
        }
    }

    #[test]
    fn a_program_that_hangs_dies_or_talks_too_much_is_no() {
        let scripts = tempfile::tempdir().unwrap();
        for (number, (body, note)) in [
            ("sleep 100", "the adjudicator did not answer in time"),
            ("exec >&-; sleep 100", "the adjudicator's reply is malformed"),
            ("kill -9 $$", "the adjudicator's reply is malformed"),
            ("while :; do echo x; done", "the adjudicator's reply is too long"),
            ("while :; do printf x; sleep 0.05; done", "the adjudicator did not answer in time"),
            ("env | grep -v -e ^PWD= -e ^SHLVL= -e ^_= && exit; pwd | grep -qx / || exit; cat >/dev/null; echo x y", "the adjudicator's reply is malformed"),
            ("echo ALLOW", "the adjudicator's reply is malformed"),
        ]
        .into_iter()
        .enumerate()
        {
            use std::os::unix::fs::PermissionsExt as _;
            let path = scripts.path().join(number.to_string());
            std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            let programs = Vec::leak(vec![&*Box::leak(path.to_str().unwrap().to_owned().into_boxed_str())]);
            let began = Instant::now();
            let asked = consult(&Adjudicator { programs, ..policy() }, JUDGES, serde_json::Value::Null, Environment::Clean);
            assert_eq!((asked.verdict, asked.note.as_str()), (Verdict::Deny, note), "{body}");
            assert!(began.elapsed() < Duration::from_secs(10), "{body}");
        }
        let asked = consult(&policy(), JUDGES, serde_json::json!("x".repeat(2 << 20)), Environment::Clean);
        assert_eq!(asked.note, "the command is too large to be shown to a model");
    }

    #[test]
    fn an_answer_is_kept_for_its_time_and_its_key() {
        let home = tempfile::tempdir().unwrap();
        let key = |n: u8| Key::parse(&format!("{n:02x}").repeat(32)).unwrap();
        let answer = Kept { key: key(1).text().to_owned(), allow: true, note: "n".to_owned(), made: 1_000 };
        keep(home.path(), &answer, 60);
        let folder = Folder::open(home.path(), nix::unistd::geteuid().as_raw()).unwrap();
        assert!(kept(&folder, &key(1), 1_059, 60).is_some_and(|kept| kept.allow));
        assert!(kept(&folder, &key(1), 1_060, 60).is_none());
        assert!(kept(&folder, &key(1), 999, 60).is_none());
        assert!(kept(&folder, &key(2), 1_000, 60).is_none());
        std::fs::rename(home.path().join(key(1).text()), home.path().join(key(2).text())).unwrap();
        assert!(kept(&folder, &key(2), 1_000, 60).is_none());
    }
}
