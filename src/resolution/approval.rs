//! Questions to a person, and a person's leave for one command.
//!
//! In: a key, a question, a grant. Out: files in the store, and leave that is spent when it says so.
//! Never: gives leave for another key, place, boot or time than the grant says, or twice for one that is
//! good once; counts a grant of somebody who may not give it.

use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use nix::sys::stat::Mode;
use nix::unistd::{Uid, chown};
use serde::{Deserialize, Serialize};

use super::code::{Code, Key};
use super::folder::{Folder, Found, Taken};
use crate::policy::temper::undecided::Store as Owner;

/// Below a user's home.
pub const STATE: &str = ".local/state/agent-sh";
/// Below the root folder: one folder for each user.
const ROOTS: &str = "var/lib/agent-sh/approvals";
/// Questions that are kept.
const QUESTIONS: usize = 64;
/// A clock that was set back this far (seconds) makes a grant that seems to come from the future void.
const AHEAD: u64 = 300;

/// A command that was held back, as a person is shown it. Texts are judged text: escape before showing.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    pub key: String,
    pub text: String,
    /// `$0`, `$1` and so on, where the call has such words.
    pub arguments: Vec<String>,
    pub cwd: String,
    /// Device and inode of the directory.
    pub directory: Option<(u64, u64)>,
    pub caller: String,
    pub verdict: String,
    /// Why it was held back, a line each.
    pub evidence: Vec<String>,
    /// Seconds since 1970.
    pub asked: u64,
}

/// How often a grant is good.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Times {
    Once,
    /// until it expires
    Often,
}

/// A person's leave.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    pub key: String,
    pub times: Times,
    /// Seconds since 1970.
    pub made: u64,
    pub expires: u64,
    /// The boot that it holds in; none: in any.
    pub boot: Option<String>,
    /// The directory that it holds in, by device and inode; none: whichever has the path.
    pub directory: Option<(u64, u64)>,
    /// Who gave it.
    pub by: u32,
    /// The command, cut, for lists.
    pub text: String,
}

/// What a grant is held against.
#[derive(Clone, Debug)]
pub struct Now {
    /// Seconds since 1970.
    pub time: u64,
    pub boot: String,
    pub directory: Option<(u64, u64)>,
}

impl Now {
    /// This machine, at this moment, in this directory.
    pub fn here() -> Self {
        use std::os::unix::fs::MetadataExt as _;
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let directory = std::fs::metadata(".").ok().map(|meta| (meta.dev(), meta.ino()));
        Self { time: since.as_secs(), boot: boot.trim().to_owned(), directory }
    }
}

impl Grant {
    /// Whether it gives leave to what has this key, now.
    fn holds(&self, key: &Key, now: &Now) -> bool {
        self.key == key.text()
            && now.time < self.expires
            && self.made <= now.time.saturating_add(AHEAD)
            && self.boot.as_ref().is_none_or(|boot| *boot == now.boot)
            && self.directory.is_none_or(|directory| Some(directory) == now.directory)
    }
}

/// Where one user's questions and grants lie.
#[derive(Clone, Debug)]
pub struct Store {
    home: PathBuf,
    uid: u32,
    owner: Owner,
    /// `/`; tests have a folder of their own.
    root: PathBuf,
    /// Who root is: 0; in tests whoever runs them.
    root_owner: u32,
}

impl Store {
    /// The store of the user with this home in the user table; never from `HOME`, which the agent sets.
    pub fn of(uid: u32, home: &str, owner: Owner) -> Option<Self> {
        let home = crate::text::raw(home).into_owned();
        let home = PathBuf::from(std::ffi::OsString::from_vec(home));
        home.is_absolute().then(|| Self { home, uid, owner, root: PathBuf::from("/"), root_owner: 0 })
    }

    fn questions_path(&self) -> PathBuf {
        self.home.join(STATE).join("approvals/asked")
    }

    fn own_path(&self) -> PathBuf {
        self.home.join(STATE).join("approvals/granted")
    }

    fn root_path(&self) -> PathBuf {
        self.root.join(ROOTS).join(self.uid.to_string())
    }

    /// Folders of grants, and who may have written those that count there.
    fn places(&self) -> Vec<(PathBuf, Vec<u32>)> {
        let root = (self.root_path(), vec![self.root_owner]);
        match self.owner {
            Owner::Root => vec![root],
            Owner::User => vec![(self.own_path(), vec![self.uid, self.root_owner]), root],
        }
    }

    /// Keeps a question, so that a person finds it; the oldest ones go.
    ///
    /// # Errors
    /// The folder can't be written, as inside a confined command.
    pub fn ask(&self, question: &Question) -> std::io::Result<()> {
        let folder = Folder::make(&self.questions_path())?;
        let mut names = folder.names();
        names.sort_by_key(|name| folder.read(name).map_or(0, |found| found.written));
        for name in names.iter().take((names.len() + 1).saturating_sub(QUESTIONS)) {
            folder.remove(name);
        }
        folder.write(&question.key, &json(question)?, private())
    }

    /// The questions of the last `lifetime` seconds, the oldest first.
    pub fn questions(&self, now: u64, lifetime: u64) -> Vec<Question> {
        let Ok(folder) = Folder::open(&self.questions_path(), self.uid) else { return Vec::new() };
        let names = folder.names();
        let read = |name: &String| parse::<Question>(&folder.read(name)?).filter(|q| q.key == *name);
        let mut all: Vec<Question> = names.iter().filter_map(read).collect();
        all.retain(|question| now.saturating_sub(question.asked) < lifetime.max(1));
        all.sort_by(|a, b| (a.asked, &a.key).cmp(&(b.asked, &b.key)));
        all
    }

    /// Removes a question: it is answered, or refused.
    pub fn forget(&self, key: &str) -> bool {
        Folder::open(&self.questions_path(), self.uid).is_ok_and(|folder| folder.remove(key))
    }

    /// Whether a question is still open.
    pub fn is_open(&self, key: &Key) -> bool {
        Folder::open(&self.questions_path(), self.uid).is_ok_and(|folder| folder.has(key.text()))
    }

    /// Says that somebody watches, for as long as the answer lives.
    ///
    /// # Errors
    /// The folder can't be written.
    pub fn watch(&self) -> std::io::Result<Option<impl Sized>> {
        Ok(Folder::make(&self.questions_path())?.hold(".watch"))
    }

    /// Whether somebody watches.
    pub fn is_watched(&self) -> bool {
        Folder::open(&self.questions_path(), self.uid)
            .is_ok_and(|folder| folder.has(".watch") && folder.hold(".watch").is_none())
    }

    /// Gives leave. Root's goes to root's folder where only that counts, or where it is for somebody else.
    ///
    /// # Errors
    /// The folder can't be written.
    pub fn grant(&self, grant: &Grant) -> std::io::Result<()> {
        let own = Uid::effective().as_raw();
        let folder = if self.owner == Owner::Root || own != self.uid {
            self.make_root_folder()?
        } else {
            Folder::make(&self.own_path())?
        };
        // nothing in it is secret, and the user must be able to read what root wrote
        folder.write(&grant.key, &json(grant)?, private() | Mode::S_IRGRP | Mode::S_IROTH)?;
        self.forget(&grant.key);
        Ok(())
    }

    /// The user owns the folder, so that a grant can be used up, and root the files in it, so that none can
    /// be made up.
    fn make_root_folder(&self) -> std::io::Result<Folder> {
        use std::os::unix::fs::DirBuilderExt as _;
        let path = self.root_path();
        let above = path.parent().unwrap_or(Path::new("/"));
        std::fs::DirBuilder::new().recursive(true).mode(0o755).create(above)?;
        Folder::open(above, self.root_owner)?;
        match std::fs::DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => chown(&path, Some(Uid::from_raw(self.uid)), None)?,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        Folder::open(&path, self.uid)
    }

    /// The grants that are there and could still hold.
    pub fn grants(&self, now: u64) -> Vec<Grant> {
        let mut all = Vec::new();
        for (path, owners) in self.places() {
            let Ok(folder) = Folder::open(&path, self.uid) else { continue };
            for name in folder.names() {
                let found = folder.read(&name).filter(|found| owners.contains(&found.owner));
                let grant = found.and_then(|found| parse::<Grant>(&found)).filter(|g| g.key == name);
                all.extend(grant.filter(|grant| now < grant.expires));
            }
        }
        all.sort_by(|a, b| (a.made, &a.key).cmp(&(b.made, &b.key)));
        all
    }

    /// Takes back what has this code; how many there were.
    pub fn revoke(&self, code: &Code, now: u64) -> usize {
        let of_code = |grant: &Grant| Key::parse(&grant.key).is_some_and(|key| key.code() == *code);
        let mut revoked = 0;
        for grant in self.grants(now).into_iter().filter(of_code) {
            for (path, _) in self.places() {
                let folder = Folder::open(&path, self.uid);
                revoked += usize::from(folder.is_ok_and(|folder| folder.remove(&grant.key)));
            }
        }
        revoked
    }

    /// The leave that a person gave for this key. One that is good once is used up by this.
    pub fn leave(&self, key: &Key, now: &Now) -> Option<Grant> {
        self.places().iter().find_map(|(path, owners)| {
            let folder = Folder::open(path, self.uid).ok()?;
            let fine = |found: &Found| {
                let grant = parse::<Grant>(found)
                    .filter(|grant| owners.contains(&found.owner) && grant.holds(key, now));
                grant.is_some()
            };
            let found = folder.read(key.text()).filter(fine)?;
            let grant = parse::<Grant>(&found)?;
            match grant.times {
                Times::Often => Some(grant),
                Times::Once => match folder.take(key.text(), fine) {
                    // what was taken counts, not what was seen before
                    Taken::Ours(bytes) => serde_json::from_slice(&bytes).ok(),
                    Taken::Not => None,
                },
            }
        })
    }
}

fn private() -> Mode {
    Mode::S_IRUSR | Mode::S_IWUSR
}

fn json<T: Serialize>(value: &T) -> std::io::Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(std::io::Error::other)
}

fn parse<T: for<'a> Deserialize<'a>>(found: &Found) -> Option<T> {
    serde_json::from_slice(&found.bytes).ok()
}

#[cfg(test)]
mod tests;
