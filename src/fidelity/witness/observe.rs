//! One observation: probes made, the launcher started, records gathered.
//!
//! In: an [`Order`]. Out: an [`Observation`]. Never: starts the launcher where a probe is not in its place.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::fidelity::witness::init;
use crate::fidelity::witness::namespace::{self, NamespaceError};
use crate::fidelity::witness::note::{self, Network, Note};
use crate::fidelity::witness::record::{self, Record};
use crate::fidelity::witness::shells;

/// How the shells are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// By mounts in a namespace of its own: every shell, whatever starts it.
    Namespace,
    /// By SHELL and PATH: a hop that names a shell by its path runs it. With a canary only.
    Own,
    /// By `BASH_ENV`: most shells don't read it. With a canary only.
    BashEnv,
}

/// What to observe.
#[derive(Clone, Debug)]
pub struct Order {
    pub manner: Manner,
    pub network: Network,
    /// Programs besides the shells that are to be probes.
    pub programs: Vec<String>,
    /// Exit status of the probes.
    pub status: u8,
    /// Milliseconds.
    pub limit: u64,
    /// Milliseconds for what the launcher leaves behind, as a cron daemon does.
    pub grace: u64,
    /// The launcher; in it `{canary}` stands for a harmless text that makes a file if it is run.
    pub launcher: Vec<OsString>,
    /// Where the folder for probe and records is made.
    pub parent: PathBuf,
}

/// What a canary would have done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Canary {
    /// There was none in the launcher.
    Absent,
    Silent,
    /// Its file is there: something was run.
    Sang,
}

/// What was seen.
#[derive(Debug)]
pub struct Observation {
    pub records: Vec<Record>,
    pub status: u8,
    pub canary: Canary,
}

/// Nothing could be observed.
#[derive(Debug)]
pub enum ObserveError {
    /// What, and what the system said.
    System(&'static str, std::io::Error),
    Namespace(NamespaceError),
    /// A manner that can fail open was asked for without a canary.
    NoCanary,
}

impl fmt::Display for ObserveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(what, error) => write!(f, "cannot {what}: {error}"),
            Self::Namespace(error) => error.fmt(f),
            Self::NoCanary => f.write_str(
                "this way lets some hops run what they are given; use --namespace, or give --canary and {canary} \
                 in the command for the text, so that only a harmless one can run; nothing was started",
            ),
        }
    }
}

impl std::error::Error for ObserveError {}

/// Makes the probe, starts the launcher, waits, gathers. Enters namespaces for good where the manner says so.
pub fn observe(order: &Order) -> Result<Observation, ObserveError> {
    let system = |what| move |error| ObserveError::System(what, error);
    let has_canary = order.launcher.iter().any(|w| w.as_encoded_bytes().windows(8).any(|p| p == b"{canary}"));
    if order.manner != Manner::Namespace && !has_canary {
        return Err(ObserveError::NoCanary);
    }
    let home = Home::make(&order.parent).map_err(system("make a folder for the records"))?;
    let probe = home.0.join("probe");
    let records = home.0.join("records");
    let marker = home.0.join("marks").join("ran");
    let note = Note {
        records: records.clone(),
        status: order.status,
        input: 16 << 20,
        grace: order.grace,
        limit: order.limit,
        network: order.network,
    };
    note::write(&probe, &note).map_err(system("make a probe"))?;
    let words: Vec<OsString> = order.launcher.iter().map(|w| with_canary(w, &marker)).collect();
    let mut command = match order.manner {
        Manner::Namespace => inside(order, &probe, &words)?,
        Manner::Own => by_path(&home.0, &probe, &words).map_err(system("make links to the probe"))?,
        Manner::BashEnv => by_bash_env(&home.0, &probe, &words).map_err(system("write the start-up file"))?,
    };
    // standard output is the report's
    let status = command.stdout(std::io::stderr()).status().map_err(system("start the launcher"))?;
    let records = record::read_all(&records).map_err(system("read the records"))?;
    let canary = match (has_canary, marker.exists()) {
        (false, _) => Canary::Absent,
        (true, false) => Canary::Silent,
        (true, true) => Canary::Sang,
    };
    let code = status.code().and_then(|c| u8::try_from(c).ok()).unwrap_or(128);
    Ok(Observation { records, status: code, canary })
}

/// `{canary}` in a word becomes a text that makes the marker.
fn with_canary(word: &OsStr, marker: &Path) -> OsString {
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    let text = [b": >", marker.as_os_str().as_bytes()].concat();
    let mut out = Vec::new();
    let mut rest = word.as_bytes();
    while let Some(at) = memchr::memmem::find(rest, b"{canary}") {
        out.extend_from_slice(rest.get(..at).unwrap_or_default());
        out.extend_from_slice(&text);
        rest = rest.get(at + 8..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    OsString::from_vec(out)
}

fn inside(order: &Order, probe: &Path, words: &[OsString]) -> Result<Command, ObserveError> {
    let mut programs = order.programs.clone();
    if order.network == Network::Kept {
        programs.extend(shells::FAR.iter().map(|n| (*n).to_owned()));
    }
    programs.extend(std::env::var("SHELL").ok().filter(|s| s.starts_with('/')));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let files = shells::find(&path, &programs);
    namespace::enter(probe, &files, order.network).map_err(ObserveError::Namespace)?;
    let mut command = Command::new(probe);
    command.arg0(init::NAME).args(words);
    Ok(command)
}

fn by_path(home: &Path, probe: &Path, words: &[OsString]) -> std::io::Result<Command> {
    let shims = home.join("shims");
    std::fs::create_dir(&shims)?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    for file in shells::find(&path, &[]) {
        if let Some(name) = file.file_name() {
            match std::os::unix::fs::symlink(probe, shims.join(name)) {
                // two shells of one name in two folders
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                other => other?,
            }
        }
    }
    // /bin/sh is a link, by whose target it was found
    drop(std::os::unix::fs::symlink(probe, shims.join("sh")));
    let mut folders = vec![shims.clone()];
    folders.extend(std::env::split_paths(&path));
    let path = std::env::join_paths(folders).map_err(std::io::Error::other)?;
    Ok(launcher(words, &[("PATH", path.as_os_str()), ("SHELL", shims.join("bash").as_os_str())]))
}

fn by_bash_env(home: &Path, probe: &Path, words: &[OsString]) -> std::io::Result<Command> {
    let file = home.join("start-up");
    let probe = probe.display();
    let text = format!(
        "[ \"${{BASH_EXECUTION_STRING+x}}\" ] && exec -a bash {probe} -c \"$BASH_EXECUTION_STRING\" \"$0\" \"$@\"\n\
         exec -a bash {probe} \"$0\" \"$@\"\nexit 125\n"
    );
    std::fs::write(&file, text)?;
    Ok(launcher(words, &[("BASH_ENV", file.as_os_str())]))
}

fn launcher(words: &[OsString], environment: &[(&str, &OsStr)]) -> Command {
    let mut words = words.iter();
    let mut command = Command::new(words.next().map_or(OsStr::new(""), OsString::as_os_str));
    command.args(words).envs(environment.iter().copied());
    command
}

/// The folder of one observation; gone with it.
#[derive(Debug)]
struct Home(PathBuf);

impl Home {
    fn make(parent: &Path) -> std::io::Result<Self> {
        let stamp =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        let path = parent.join(format!("agent-sh-witness-{}-{stamp:x}", std::process::id()));
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        let home = Self(path);
        for (name, mode) in [("records", 0o1733), ("marks", 0o1777)] {
            let inner = home.0.join(name);
            std::fs::create_dir(&inner)?;
            std::fs::set_permissions(&inner, std::fs::Permissions::from_mode(mode))?;
        }
        // probes of other users have to come by
        std::fs::set_permissions(&home.0, std::fs::Permissions::from_mode(0o711))?;
        Ok(home)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_that_can_fail_open_needs_a_canary() {
        let order = Order {
            manner: Manner::BashEnv,
            network: Network::Private,
            programs: vec![],
            status: 0,
            limit: 1000,
            grace: 0,
            launcher: vec!["true".into()],
            parent: std::env::temp_dir(),
        };
        assert!(matches!(observe(&order), Err(ObserveError::NoCanary)));
        assert_eq!(with_canary(OsStr::new("a {canary}; {canary}"), Path::new("/m")), "a : >/m; : >/m");
    }
}
