//! A machine of our own: a mount namespace with an /etc of its own, in it a policy of root's and users with
//! homes in a temporary folder.
//!
//! In: policy text. Out: commands that run there. Never: touches the machine's own /etc or homes.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

pub(crate) const AGENT_SH: &str = env!("CARGO_BIN_EXE_agent-sh");
pub(crate) const AGENT_SHCTL: &str = env!("CARGO_BIN_EXE_agent-shctl");
pub(crate) const ADJUDICATOR: &str = env!("CARGO_BIN_EXE_agent-sh-adjudicator");

/// An ordinary user of the stage.
pub(crate) const USER: u32 = 4242;

pub(crate) struct Stage {
    keeper: Child,
    folder: tempfile::TempDir,
}

/// What came of a command.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Seen {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { status: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

/// A rule under which `mkdir asked…` is undecided and nothing skips the question, and records in a file.
pub(crate) const ASKED: &str = "schema = 1
[[rule]]
id         = \"site.asked\"
family     = \"destructive\"
source     = { tier = \"manual\" }
confidence = 0.1
when       = { effect = \"create\", target = \"**/asked*\" }
verdict    = \"warn\"
reason     = \"is to be asked about\"
[audit]
syslog = false
";

impl Stage {
    /// `None`, said aloud, where there can't be one.
    pub(crate) fn set(policy: &str) -> Option<Self> {
        let tools = ["unshare", "nsenter", "setpriv", "script"];
        if let Some(tool) = tools.iter().find(|tool| !Path::new("/usr/bin").join(tool).exists()) {
            eprintln!("SKIPPED: no {tool} here; this test did not run");
            return None;
        }
        if !nix::unistd::geteuid().is_root() {
            eprintln!("SKIPPED: needs to be root, for a mount namespace; this test did not run");
            return None;
        }
        // not below /tmp, which every confined command may write to
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let at = folder.path().display();
        let script = format!(
            "set -e; mount --make-rprivate /; cp -a /etc {at}/etc; mkdir -p {at}/etc/agent-sh/policy.d {at}/root {at}/home/project {at}/var
             sed -i 's|^root:.*|root:x:0:0:root:{at}/root:/bin/bash|' {at}/etc/passwd
             echo 'stage:x:{USER}:{USER}::{at}/home:/bin/bash' >> {at}/etc/passwd
             chown -R {USER}:{USER} {at}/home; chmod 755 {at} {at}/etc/agent-sh {at}/etc/agent-sh/policy.d
             mount --bind {at}/etc /etc; mkdir -p /var/lib; mount --bind {at}/var /var/lib
             echo ready; exec sleep 1000"
        );
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut keeper = Command::new("unshare")
            .args(["-m", "/bin/bash", "-c", &script])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let output = keeper.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).unwrap();
        if line != "ready\n" {
            eprintln!("SKIPPED: no mount namespace can be made here; this test did not run");
            return None;
        }
        let stage = Self { keeper, folder };
        // the user's, so that root's records get there too
        std::fs::create_dir(stage.at("logs")).unwrap();
        std::os::unix::fs::chown(stage.at("logs"), Some(USER), Some(USER)).unwrap();
        stage.policy(policy);
        Some(stage)
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Root's policy from now on.
    pub(crate) fn policy(&self, text: &str) {
        let text = format!("{text}file = \"{}\"\n", self.at("logs/log").display());
        std::fs::write(self.at("etc/agent-sh/policy.d/50-test.toml"), text).unwrap();
    }

    /// The policy of [`ASKED`] with more settings.
    pub(crate) fn asked(&self, more: &str) {
        self.policy(&ASKED.replace("[audit]", &format!("{more}\n[audit]")));
    }

    /// A program inside, as root or the stage's user, in a folder.
    pub(crate) fn command(&self, uid: u32, cwd: &Path, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["-t", &self.keeper.id().to_string(), "-m"]).arg(format!("--wd={}", cwd.display()));
        command.args(["setpriv", "--reuid", &uid.to_string(), "--regid", &uid.to_string(), "--clear-groups"]);
        command.arg(program).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.home(uid));
        command.env("RUST_BACKTRACE", "0").stdin(Stdio::null());
        command
    }

    pub(crate) fn home(&self, uid: u32) -> PathBuf {
        self.at(if uid == 0 { "root" } else { "home" })
    }

    /// `agent-sh -c text` in the user's project.
    pub(crate) fn shell(&self, uid: u32, text: &str) -> Seen {
        self.shell_in(uid, &self.project(uid), text)
    }

    pub(crate) fn project(&self, uid: u32) -> PathBuf {
        let project = self.home(uid).join("project");
        std::fs::create_dir_all(&project).unwrap();
        project
    }

    pub(crate) fn shell_in(&self, uid: u32, cwd: &Path, text: &str) -> Seen {
        self.command(uid, cwd, AGENT_SH).args(["-c", text]).output().unwrap().into()
    }

    /// A command line of a person, who types `keys`, at a terminal of their own.
    pub(crate) fn person(&self, uid: u32, line: &str, keys: &str) -> Seen {
        use std::io::Write as _;
        let mut command = self.command(uid, &self.project(uid), "script");
        command
            .args(["-qec", line, "/dev/null"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (mut seen, mut buffer) = (Vec::new(), [0; 4096]);
        let mut keys = Some(keys);
        // a person reads first
        while let Ok(count @ 1..) = std::io::Read::read(&mut output, &mut buffer) {
            seen.extend_from_slice(&buffer[..count]);
            if seen.ends_with(b"[y/N] ")
                && let Some(keys) = keys.take()
            {
                drop(input.write_all(keys.as_bytes()));
            }
        }
        drop(input);
        let status = child.wait().unwrap();
        let out = String::from_utf8_lossy(&seen).into_owned();
        Seen { status: status.code(), out, err: String::new() }
    }

    pub(crate) fn approve(&self, uid: u32, code: &str, options: &str) -> Seen {
        self.person(uid, &format!("{AGENT_SHCTL} approve {code} {options}"), "y\n")
    }

    /// The last record.
    pub(crate) fn record(&self) -> serde_json::Value {
        let log = std::fs::read_to_string(self.at("logs/log")).unwrap();
        serde_json::from_str(log.lines().last().unwrap()).unwrap()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        drop(self.keeper.kill());
        drop(self.keeper.wait());
    }
}

/// The code in a refusal.
pub(crate) fn code(seen: &Seen) -> String {
    let (_, rest) =
        seen.err.split_once("`agent-shctl approve ").unwrap_or_else(|| panic!("no code: {seen:?}"));
    rest.get(..7).unwrap().to_owned()
}
