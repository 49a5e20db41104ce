//! The stage of a trial: a home with secrets, a project, a folder outside; and the child that confines
//! itself and becomes the command.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use agent_sh::audit::{AuditPolicy, Demand, Event, Facts, Outcome, Subject, record};
use agent_sh::confine::{
    Bounds, ConfinePolicy, Elevation, Grant, Level, Need, Network, Plan, Scene, Signals,
};
use agent_sh::decision::Decision;
use agent_sh::verdict::Verdict;
use serde_json::{Value, json};

/// Who runs a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User {
    Root,
    Nobody,
}

pub(crate) const NOBODY: u32 = 65534;

/// Stands before the command's own output; what the test harness prints comes before it.
const MARK: &str = "@@@@";

pub(crate) struct Stage {
    folder: tempfile::TempDir,
    pub(crate) user: User,
    /// Settings for the child, see [`child`].
    pub(crate) settings: Value,
}

/// What a command printed and returned.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
    /// The confinement's state at the start.
    pub(crate) state: String,
}

impl Stage {
    /// `None`, said aloud, where the trial can't run as that user.
    pub(crate) fn set(user: User) -> Option<Self> {
        let root = nix::unistd::geteuid().is_root();
        if !root {
            if user == User::Root {
                eprintln!("SKIPPED: not root; this test did not run");
                return None;
            }
            eprintln!("note: not root; the ordinary user is the one that runs the tests");
        }
        // Not below /tmp, which is writable for every command.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let stage = Self { folder, user, settings: json!({}) };
        for (name, content) in [
            ("home/.ssh/id_ed25519", "secret\n"),
            ("home/.config/gh/hosts.yml", "secret\n"),
            ("home/.config/tool/settings", "plain\n"),
            ("home/.config/agent-sh/policy.toml", "own\n"),
            ("home/.bashrc", "plain\n"),
            ("home/.gitconfig", "[user]\nname = A\nemail = a@b.c\n[init]\ndefaultBranch = main\n"),
            ("home/.cache/x", ""),
            ("home/.npm/x", ""),
            ("home/project/file", "plain\n"),
            ("outside/file", "plain\n"),
        ] {
            let path = stage.at(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        if root && user == User::Nobody {
            let done = Command::new("chown").args(["-R", "65534:65534"]).arg(stage.folder.path()).status();
            assert!(done.unwrap().success());
        }
        Some(stage)
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The trial's command, its output collected.
    pub(crate) fn command(&self, script: &str) -> Command {
        let mut settings = self.settings.clone();
        for (key, value) in [("workspace", "home/project"), ("home", "home")] {
            if settings[key].is_null() {
                settings[key] = json!(self.at(value));
            }
        }
        if self.user == User::Nobody && nix::unistd::geteuid().is_root() {
            settings["uid"] = json!(NOBODY);
        }
        settings["script"] = json!(format!("echo '{MARK}'; {script}"));
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["confinement::stage::child", "--exact", "--ignored", "--nocapture", "--test-threads=2"])
            .env("AGENT_SH_TEST_TRIAL", settings.to_string())
            .env("HOME", settings["home"].as_str().unwrap())
            .env_remove("TMPDIR")
            .env_remove("CARGO_TARGET_DIR")
            .current_dir(self.at("home/project"))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, script: &str) -> Seen {
        seen(&self.command(script).output().unwrap())
    }
}

pub(crate) fn seen(output: &Output) -> Seen {
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    let state = err.lines().find_map(|line| line.strip_prefix("STATE ")).unwrap_or_default().to_owned();
    let err: String = err.lines().filter(|l| !l.starts_with("STATE ")).flat_map(|l| [l, "\n"]).collect();
    let out = out.split_once(&format!("{MARK}\n")).map_or("", |(_, own)| own).to_owned();
    Seen { status: output.status.code(), out, err, state }
}

fn text<'a>(settings: &'a Value, key: &str) -> Option<&'a str> {
    settings[key].as_str()
}

fn policy(settings: &Value) -> ConfinePolicy {
    let mut policy = ConfinePolicy::default();
    match text(settings, "level") {
        Some("strict") => policy.level = Level::Strict,
        Some("derived") => policy.level = Level::Derived,
        Some("off") => policy.level = Level::Off,
        _ => {}
    }
    if settings["required"] == json!(true) {
        policy.demand = Demand::Required;
    }
    if settings["free"] == json!(true) {
        policy.elevation = Elevation::Free;
    }
    if let Some(abi) = settings["abi"].as_u64() {
        policy.newest_abi = u8::try_from(abi).unwrap();
    }
    policy
}

fn grants(settings: &Value) -> Vec<Grant<'_>> {
    let pairs = settings["grants"].as_array().map(Vec::as_slice).unwrap_or_default();
    pairs
        .iter()
        .map(|pair| match (pair[0].as_str().unwrap(), pair[1].as_str().unwrap_or("")) {
            ("read", path) => Grant::Read(path),
            ("write", path) => Grant::Write(path),
            ("replace", path) => Grant::Replace(path),
            ("cache", path) => Grant::Cache(path),
            ("system", _) => Grant::System,
            ("put", path) => Grant::Put(path),
            ("remove", path) => Grant::Remove(path),
            ("place", path) => Grant::Place(path),
            ("temporary", _) => Grant::Temporary,
            _ => Grant::Elevation,
        })
        .collect()
}

/// `{"ports": null | [1, 2] | "any", "signals": "own" | "any"}`
fn bounds(settings: &Value) -> Bounds {
    let known = &settings["bounds"];
    if known.is_null() {
        return Bounds::Policy;
    }
    let ports = known["ports"].as_array().map(|ports| {
        ports.iter().map(|port| u16::try_from(port.as_u64().unwrap()).unwrap()).collect::<Vec<_>>()
    });
    let network = match (ports, known["ports"].is_null()) {
        (Some(ports), _) => Network::Ports(ports),
        (None, true) => Network::None,
        (None, false) => Network::Any,
    };
    let signals = if known["signals"] == json!("any") { Signals::Any } else { Signals::Own };
    Bounds::Effects { network, signals }
}

/// Confines this thread as the settings say; the state goes to standard error.
pub(crate) fn confine(settings: &Value) {
    let event = {
        let subject = Subject::read();
        let facts = Facts {
            outcome: Outcome::Run,
            subject: &subject,
            framework: None,
            envelope: None,
            cwd: "/",
            text: b"",
            policy: "",
            micros: 0,
            confinement: "",
        };
        Event::new(&Decision::default(), &facts, 100)
    };
    let nowhere = AuditPolicy { syslog: Vec::new(), journal: None, ..AuditPolicy::default() };
    let warrant = Decision::default().warrant(Verdict::Allow).unwrap();
    let logged = record(warrant, &event, &nowhere).unwrap();
    let temporary = std::env::var("TMPDIR").ok();
    let scene = Scene {
        workspace: text(settings, "workspace"),
        homes: text(settings, "home").into_iter().collect(),
        temporary: temporary.as_deref(),
    };
    let (policy, need) = (policy(settings), Need { grants: grants(settings), bounds: bounds(settings) });
    let start = Instant::now();
    let plan = Plan::prepare(&policy, &scene, &need);
    let prepared = start.elapsed().as_micros();
    match plan.and_then(|plan| plan.apply(logged)) {
        Ok(confined) => {
            let applied = start.elapsed().as_micros() - prepared;
            if settings["time"] == json!(true) {
                eprintln!("TIME {prepared} {applied} {}", confined.state());
            }
            eprintln!("STATE {}", confined.state());
        }
        Err(error) => {
            eprintln!("STATE error: {}", error.why);
            std::process::exit(126);
        }
    }
}

/// Foreign layers, as another sandbox adds them: everything may be written, so that only their number
/// counts.
fn add_foreign_layers(count: u64) {
    use landlock::{
        ABI, Access as _, AccessFs, PathBeneath, PathFd, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _,
    };
    for _ in 0..count {
        let all = AccessFs::from_all(ABI::V3);
        let ruleset = Ruleset::default().handle_access(all).unwrap().create().unwrap();
        let ruleset = ruleset.add_rule(PathBeneath::new(PathFd::new("/").unwrap(), all)).unwrap();
        ruleset.restrict_self().unwrap();
    }
}

/// Confines itself as `AGENT_SH_TEST_TRIAL` says and becomes the command. With `depth`, each level
/// starts the next one first, as nested shells do.
#[test]
#[ignore = "started by the other tests"]
fn child() {
    let mut settings: Value = serde_json::from_str(&std::env::var("AGENT_SH_TEST_TRIAL").unwrap()).unwrap();
    if let Some(uid) = settings["uid"].as_u64() {
        let uid = u32::try_from(uid).unwrap();
        // The levels below the first are that user already.
        if nix::unistd::geteuid().is_root() {
            nix::unistd::setgroups(&[]).unwrap();
            nix::unistd::setgid(uid.into()).unwrap();
            nix::unistd::setuid(uid.into()).unwrap();
        }
        assert_eq!(nix::unistd::geteuid().as_raw(), uid);
    }
    if let Some(count) = settings["foreign"].as_u64() {
        add_foreign_layers(count);
    }
    confine(&settings);
    let depth = settings["depth"].as_u64().unwrap_or(0);
    let mut command = if depth == 0 {
        let mut command = Command::new("/bin/bash");
        command.arg("-c").arg(settings["script"].as_str().unwrap());
        command
    } else {
        settings["depth"] = json!(depth - 1);
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(std::env::args_os().skip(1)).env("AGENT_SH_TEST_TRIAL", settings.to_string());
        command
    };
    panic!("exec: {}", command.exec());
}

/// Whether a program is here; says so aloud if not.
pub(crate) fn is_here(program: &str) -> bool {
    let found =
        Command::new("sh").arg("-c").arg(format!("command -v {program}")).stdout(Stdio::null()).status();
    let here = found.is_ok_and(|status| status.success());
    if !here {
        eprintln!("SKIPPED: {program} is not installed; this test did not run");
    }
    here
}

pub(crate) fn exists(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}
