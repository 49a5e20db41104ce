//! A store of intents, and agent-sh called as a framework calls it.
//!
//! In: texts that are meant and texts that arrive. Out: outcomes. Never: uses the caller's own store.

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use agent_sh::fidelity::intent::{Meant, record_in};
use agent_sh::fidelity::process::Process;
use agent_sh::fidelity::store::Store;

pub(crate) const AGENT_SH: &str = env!("CARGO_BIN_EXE_agent-sh");

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) struct Stage {
    folder: tempfile::TempDir,
    store: Store,
    /// settings of root's, for which a mount namespace is needed
    policy: Option<&'static str>,
}

impl Stage {
    /// A stage under the binary's own policy.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        let store = Store::make_at(&folder.path().join("agent-sh/intents")).unwrap();
        Self { folder, store, policy: None }
    }

    /// A stage under a policy of root's; `None` where mount namespaces can't be made.
    pub(crate) fn under(policy: &'static str) -> Option<Self> {
        let stage = Self { policy: Some(policy), ..Self::new() };
        stage.mean(b"echo staged");
        let outcome = stage.run(&["-c", "echo staged"], b"");
        if outcome.stdout == "staged\n" {
            return Some(stage);
        }
        println!("SKIPPED: no mount namespace of our own: {outcome:?}");
        None
    }

    /// Records what is meant, as the hook of this process would.
    pub(crate) fn mean(&self, text: &[u8]) {
        let meant = Meant { framework: "test", call: None, cwd: b"/", text };
        record_in(&self.store, Process::own().unwrap(), &meant).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn record(&self) -> PathBuf {
        self.path().join("record.json")
    }

    /// What was written to the record, if the policy says to write it there.
    pub(crate) fn records(&self) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(self.record()).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn run<A: AsRef<OsStr>>(&self, args: &[A], input: &[u8]) -> Outcome {
        let mut command = match self.policy {
            None => {
                let mut command = Command::new(AGENT_SH);
                command.args(args);
                command
            }
            Some(policy) => self.namespaced(policy, args),
        };
        command.current_dir(self.path()).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.path());
        command.env("XDG_RUNTIME_DIR", self.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdin.take().unwrap().write_all(input));
        let output = child.wait_with_output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Outcome {
            status: output.status.code().unwrap_or(-1),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// agent-sh in a mount namespace in which /etc/agent-sh is ours.
    fn namespaced<A: AsRef<OsStr>>(&self, policy: &str, args: &[A]) -> Command {
        let policy = policy.replace("RECORD", &self.record().to_string_lossy());
        std::fs::write(self.path().join("policy"), format!("schema = 1\n{policy}\n")).unwrap();
        let script = "mount --make-rprivate / && mount -t tmpfs none /mnt && mkdir /mnt/etc && \
                      cp -a /etc/passwd /etc/group /etc/nsswitch.conf /etc/ld.so.cache /mnt/etc/ && \
                      cp -a /etc/alternatives /mnt/etc/ && mkdir -p /mnt/etc/agent-sh/policy.d && \
                      cp \"$1\" /mnt/etc/agent-sh/policy.d/50-test.toml && mount --bind /mnt/etc /etc && \
                      shift && exec \"$@\"";
        let mut command = Command::new("unshare");
        command.args(["-m", "/bin/dash", "-c", script, "dash"]).arg(self.path().join("policy"));
        command.arg(AGENT_SH).args(args);
        command
    }
}
