//! Does agent-sh hand on every text as it got it: each payload, in every form, into a probe in the place of the
//! real shell.
//!
//! In: payloads, the agent-sh to test. Out: a [`Run`] for each payload and form.
//! Never: runs a payload: in a mount namespace of our own the policy names a probe as every real shell.

use std::ffi::{OsStr, OsString};
use std::fmt::{self, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

use crate::digest::Digest;
use crate::fidelity::hop::{ARGUMENT, Hop, Path as Way, Via};
use crate::fidelity::payload::Payload;
use crate::fidelity::witness::note::{self, Network, Note};
use crate::fidelity::witness::record::{self, Record};

/// What became of one payload in one form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrived {
    Same,
    /// other bytes, or other words: what was sent and what arrived
    Changed(Vec<u8>, Vec<u8>),
    /// outside of what the form can carry, or refused, and why
    Refused(String),
}

/// One hand-over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run<'a> {
    pub payload: &'a str,
    pub form: &'a str,
    pub arrived: Arrived,
}

/// The test could not be made.
#[derive(Debug)]
pub struct SelftestError(&'static str, String);

impl fmt::Display for SelftestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {}: {}; nothing was tested", self.0, self.1)
    }
}

impl std::error::Error for SelftestError {}

/// A place in which every real shell is a probe.
#[derive(Debug)]
pub struct Stage {
    agent_sh: PathBuf,
    folder: PathBuf,
    forms: Vec<(String, Form)>,
}

#[derive(Debug)]
enum Form {
    /// arguments before the text and behind it
    Command(&'static [&'static str], &'static [&'static str]),
    /// the text's digest before the shell's own arguments
    Named,
    /// a script file with arguments; with this many bytes of comment behind it
    File(usize),
    Input(&'static [&'static str], usize),
    /// in a client's wrapper
    Wrapped(Hop),
}

/// More than one argument can hold.
const LONG: usize = ARGUMENT + 1;

const COMMANDS: &[(&str, &[&str], &[&str])] = &[
    ("-c", &["-c"], &[]),
    ("-lc", &["-lc"], &[]),
    ("-c with arguments", &["-c"], &["name", "a b", ""]),
    ("-euo pipefail -c", &["-euo", "pipefail", "-c"], &[]),
    ("--norc -O extglob -c --", &["--norc", "-O", "extglob", "-c", "--"], &["n"]),
    ("-c -l", &["-c", "-l"], &[]),
];

fn forms() -> Vec<(String, Form)> {
    let mut out: Vec<(String, Form)> = COMMANDS
        .iter()
        .map(|(name, before, behind)| ((*name).to_owned(), Form::Command(before, behind)))
        .collect();
    out.push(("--intent-sha256 -c".to_owned(), Form::Named));
    out.push(("file".to_owned(), Form::File(0)));
    out.push(("file over 128 KiB".to_owned(), Form::File(LONG)));
    out.push(("stdin".to_owned(), Form::Input(&[], 0)));
    out.push(("stdin -s".to_owned(), Form::Input(&["-s", "a b"], 0)));
    out.push(("stdin over 128 KiB".to_owned(), Form::Input(&[], LONG)));
    for way in Way::ready().unwrap_or_default() {
        if let Some(hop) = way.hops.into_iter().next().filter(is_wrapper) {
            out.push((format!("wrapper {}", way.name), Form::Wrapped(hop)));
        }
    }
    out
}

/// Whether a hop starts a shell itself, with the text somewhere in its argument.
fn is_wrapper(hop: &Hop) -> bool {
    let words: Vec<_> = hop.send.iter().map(crate::fidelity::hop::Template::written).collect();
    let shell = words.first().is_some_and(|word| word == "bash" || word == "sh");
    hop.via == Via::Argv && shell && words.iter().any(|word| word != "{text}" && word.contains('{'))
}

impl Stage {
    /// Makes the place in a folder that is ours alone, and enters it for good.
    ///
    /// # Errors
    /// The kernel lets us make no mount namespace, or a file can't be written.
    pub fn enter(folder: &Path, agent_sh: &Path) -> Result<Self, SelftestError> {
        let failed = |what| move |error: std::io::Error| SelftestError(what, error.to_string());
        let records = folder.join("records");
        std::fs::create_dir(&records).map_err(failed("make a folder for records"))?;
        let note =
            Note { records, status: 0, input: 32 << 20, grace: 0, limit: 60_000, network: Network::Kept };
        let probe = folder.join("probe");
        note::write(&probe, &note).map_err(failed("make a probe"))?;
        let etc = folder.join("etc");
        let policies = etc.join("agent-sh/policy.d");
        std::fs::create_dir_all(&policies).map_err(failed("make a folder for the policy"))?;
        for name in ["passwd", "group", "nsswitch.conf", "ld.so.cache"] {
            // one that isn't there is not missed
            drop(std::fs::copy(Path::new("/etc").join(name), etc.join(name)));
        }
        std::fs::write(policies.join("50-selftest.toml"), policy(&probe))
            .map_err(failed("write the policy"))?;
        cover(&etc).map_err(|(what, errno)| SelftestError(what, errno.desc().to_owned()))?;
        Ok(Self { agent_sh: agent_sh.to_owned(), folder: folder.to_owned(), forms: forms() })
    }

    /// Sends one payload in every form.
    ///
    /// # Errors
    /// A file of ours can't be written or read.
    pub fn send<'a>(
        &'a self,
        payload: &'a Payload,
        each: &mut dyn FnMut(&Run<'a>),
    ) -> Result<(), SelftestError> {
        let text = payload.with(self.folder.join("probe").as_os_str().as_bytes());
        for (name, form) in &self.forms {
            let arrived = self.one(&text, form)?;
            each(&Run { payload: &payload.name, form: name, arrived });
        }
        Ok(())
    }

    fn one(&self, text: &[u8], form: &Form) -> Result<Arrived, SelftestError> {
        let zero = text.contains(&0);
        let words = |list: &[&str]| -> Vec<Vec<u8>> { list.iter().map(|w| w.as_bytes().to_vec()).collect() };
        let argument = |argv: Vec<Vec<u8>>| {
            if zero {
                Ok(Arrived::Refused("an argument can't hold a zero byte".to_owned()))
            } else {
                self.vector(&argv)
            }
        };
        match form {
            Form::Command(before, behind) => {
                argument([words(before), vec![text.to_vec()], words(behind)].concat())
            }
            Form::Named => {
                let digest = Digest::of(text).to_string();
                let own = words(&["--intent-sha256", &digest]);
                let shell = [words(&["-c"]), vec![text.to_vec()]].concat();
                if zero {
                    argument(shell)
                } else {
                    self.expect(&[own, shell.clone()].concat(), None, &Expected::Words(&shell))
                }
            }
            Form::File(more) | Form::Input(_, more) if zero && *more == 0 => {
                Ok(Arrived::Refused("shells drop zero bytes as they read".to_owned()))
            }
            Form::File(more) => {
                let text = padded(text, *more);
                let file = self.folder.join("script");
                std::fs::write(&file, &text).map_err(|e| SelftestError("write a script", e.to_string()))?;
                let argv = [vec![file.into_os_string().into_vec()], words(&["x y"])].concat();
                self.expect(&argv, None, &Expected::Text(&text))
            }
            Form::Input(arguments, more) => {
                let text = padded(text, *more);
                self.expect(&words(arguments), Some(&text), &Expected::Text(&text))
            }
            Form::Wrapped(hop) => match hop.sent(text) {
                Ok(sent) => argument(sent.into_iter().skip(1).collect()),
                Err(error) => Ok(Arrived::Refused(error.to_string())),
            },
        }
    }

    fn vector(&self, argv: &[Vec<u8>]) -> Result<Arrived, SelftestError> {
        let expected = Expected::Words(argv);
        self.expect(argv, None, &expected)
    }

    fn expect(
        &self,
        argv: &[Vec<u8>],
        input: Option<&[u8]>,
        expected: &Expected<'_>,
    ) -> Result<Arrived, SelftestError> {
        let failed = |what| move |error: std::io::Error| SelftestError(what, error.to_string());
        let stdin = match input {
            None => Stdio::null(),
            Some(text) => {
                let file = self.folder.join("input");
                std::fs::write(&file, text).map_err(failed("write standard input"))?;
                std::fs::File::open(&file).map_err(failed("read standard input"))?.into()
            }
        };
        let mut command = Command::new(&self.agent_sh);
        command.args(argv.iter().map(|word| OsStr::from_bytes(word)));
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", &self.folder).current_dir(&self.folder);
        let output = match command.stdin(stdin).output() {
            Ok(output) => output,
            Err(error) if error.raw_os_error() == Some(nix::errno::Errno::E2BIG as i32) => {
                return Ok(Arrived::Refused("longer than one argument may be".to_owned()));
            }
            Err(error) => return Err(failed("start agent-sh")(error)),
        };
        let folder = self.folder.join("records");
        let records = record::read_all(&folder).map_err(failed("read the records"))?;
        for file in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            drop(std::fs::remove_file(file.path()));
        }
        let [record] = records.as_slice() else {
            let said = String::from_utf8_lossy(&output.stderr);
            let line = said.lines().next().unwrap_or("no shell was started");
            return Ok(Arrived::Refused(crate::text::escape(line)));
        };
        Ok(expected.beside(record))
    }
}

enum Expected<'a> {
    /// all words behind the name
    Words(&'a [Vec<u8>]),
    Text(&'a [u8]),
}

impl Expected<'_> {
    fn beside(&self, record: &Record) -> Arrived {
        let (sent, arrived) = match self {
            Self::Words(words) => (words.join(&0), record.argv().get(1..).unwrap_or_default().join(&0)),
            Self::Text(text) => (text.to_vec(), record.text().unwrap_or_default()),
        };
        if sent == arrived { Arrived::Same } else { Arrived::Changed(sent, arrived) }
    }
}

fn padded(text: &[u8], more: usize) -> Vec<u8> {
    if more == 0 {
        return text.to_vec();
    }
    [text, b"\n#", &vec![b'x'; more]].concat()
}

/// What agent-sh is told: the probe is every shell, and nothing keeps a text from it.
fn policy(probe: &Path) -> String {
    let probe = probe.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    let mut shells = String::new();
    for name in ["bash", "sh", "dash", "zsh"] {
        let _ = writeln!(shells, "{name} = [\"{probe}\"]");
    }
    format!(
        "schema = 1\nenforcement = \"observe\"\nscripts = \"sealed\"\naudit.syslog = false\nconfine.level = \"off\"\n\
         fidelity.on-divergence = \"observe\"\nfidelity.require-intent = false\n[shells]\n{shells}"
    )
}

/// Lays a folder over /etc in a mount namespace of our own.
fn cover(etc: &Path) -> Result<(), (&'static str, nix::errno::Errno)> {
    let (user, group) = (nix::unistd::geteuid(), nix::unistd::getegid());
    let mut flags = CloneFlags::CLONE_NEWNS;
    if !user.is_root() {
        flags |= CloneFlags::CLONE_NEWUSER;
    }
    unshare(flags)
        .map_err(|errno| ("make a mount namespace (run it as root, or allow user namespaces)", errno))?;
    if !user.is_root() {
        let maps = [
            ("setgroups", "deny".to_owned()),
            ("uid_map", format!("0 {user} 1")),
            ("gid_map", format!("0 {group} 1")),
        ];
        for (name, text) in maps {
            let written = std::fs::write(Path::new("/proc/self").join(name), text);
            written.map_err(|_| ("become root in a user namespace", nix::errno::Errno::last()))?;
        }
    }
    let none: Option<&str> = None;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)
        .map_err(|e| ("make mounts private", e))?;
    mount(Some(etc), "/etc", none, MsFlags::MS_BIND, none).map_err(|e| ("lay a policy over /etc", e))
}

/// The agent-sh beside the running program.
pub fn beside() -> OsString {
    let own = std::env::current_exe().unwrap_or_default();
    own.with_file_name("agent-sh").into_os_string()
}
