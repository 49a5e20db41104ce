//! The private store of intents: one folder for each framework's process, in it one for used records and others
//! for those to come, by their digest's first byte; one file for each record, whose name says all that pairing needs.
//!
//! In: entries and texts. Out: the same again. Never: follows a link, uses a folder that others could write
//! to, leaves half a record where it could be read, or grows without bound.

use std::ffi::OsString;
use std::fmt;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::ops::ControlFlow;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use nix::fcntl::OFlag;

use crate::digest::Digest;
use crate::fidelity::intent::{Meant, now};
use crate::fidelity::process::{Process, Sighting};
use crate::folder::visit;
use crate::invocation::startup;

mod entry;

pub use entry::{Entry, LONG, Shelf, State};
use entry::{USED, Wanted};

/// Records of one framework's process; the oldest go first.
pub const MOST: usize = 4096;
/// Bytes of a text that is kept; of a longer one only the digest is, so that it can be told from others
/// but not repaired.
pub const LONGEST: usize = 8 << 20;
/// Milliseconds until a record is no candidate for a text that differs from it.
pub const FRESH: u64 = 30 * 60 * 1000;
/// Milliseconds until it is removed.
pub const KEPT: u64 = 24 * 60 * 60 * 1000;

/// Why nothing could be kept or read.
#[derive(Debug, PartialEq, Eq)]
pub enum StoreError {
    /// there is no folder that is the user's alone
    NoPlace,
    /// what could not be done with which file
    Failed(&'static str, PathBuf, ErrorKind),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPlace => f.write_str(
                "no private folder for intents; one of $XDG_RUNTIME_DIR, /run/user/UID and the user's home \
                 must be the user's own and closed to others",
            ),
            Self::Failed(what, path, kind) => {
                let path = crate::text::escape(&path.to_string_lossy());
                write!(f, "cannot {what} {path}: {kind}")
            }
        }
    }
}

impl std::error::Error for StoreError {}

/// A record with its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub entry: Entry,
    pub(super) path: PathBuf,
}

/// A folder of intents that is the user's alone.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// Folders in which a store may lie, in order: the environment's, the system's, the user's.
fn places() -> Vec<PathBuf> {
    let uid = nix::unistd::geteuid().as_raw();
    let mut out = Vec::with_capacity(3);
    if let Some(folder) = std::env::var_os("XDG_RUNTIME_DIR")
        .filter(|folder| Path::new(folder).is_absolute() && is_own(Path::new(folder)))
    {
        out.push(PathBuf::from(folder).join("agent-sh/intents"));
    }
    let system = PathBuf::from(format!("/run/user/{uid}/agent-sh/intents"));
    if !out.contains(&system) {
        out.push(system);
    }
    let (_, home) = startup::user(uid);
    if home.starts_with('/') {
        let home = OsString::from(&*home);
        out.push(Path::new(&home).join(".local/state/agent-sh/intents"));
    }
    out
}

/// Whether a folder is the user's alone. Links don't count.
fn is_own(folder: &Path) -> bool {
    std::fs::symlink_metadata(folder).is_ok_and(|meta| {
        let closed = meta.mode().trailing_zeros() >= 6; // no bit of the group's or of others'
        meta.is_dir() && meta.uid() == nix::unistd::geteuid().as_raw() && closed
    })
}

impl Store {
    /// Every store in which something may lie. Costs one look at each place where there is none.
    pub fn all() -> Vec<Self> {
        places().into_iter().filter(|folder| is_own(folder)).map(|folder| Self { folder }).collect()
    }

    /// The store to write to, made where it is missing.
    ///
    /// # Errors
    /// [`StoreError::NoPlace`]
    pub fn make() -> Result<Self, StoreError> {
        places().into_iter().find_map(|folder| Self::make_at(&folder).ok()).ok_or(StoreError::NoPlace)
    }

    /// A store in a given folder, made with its parents where it is missing.
    ///
    /// # Errors
    /// [`StoreError::NoPlace`] where others could write to it.
    pub fn make_at(folder: &Path) -> Result<Self, StoreError> {
        if !is_own(folder) {
            // a runtime folder that the system did not make is not made here
            let runtime = folder.ancestors().nth(2).ok_or(StoreError::NoPlace)?;
            if runtime.starts_with("/run") && !is_own(runtime) {
                return Err(StoreError::NoPlace);
            }
            drop(DirBuilder::new().recursive(true).mode(0o700).create(folder));
        }
        if is_own(folder) { Ok(Self { folder: folder.to_owned() }) } else { Err(StoreError::NoPlace) }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn room(&self, host: Process) -> PathBuf {
        self.folder.join(host.to_string())
    }

    /// Writes a record, whole or not at all, and clears away what is too old or too much.
    ///
    /// # Errors
    /// [`StoreError::Failed`]
    pub fn put(&self, entry: &Entry, meant: &Meant<'_>) -> Result<(), StoreError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let room = self.room(entry.host);
        let failed = |what, path: &Path, error: &std::io::Error| {
            StoreError::Failed(what, path.to_owned(), error.kind())
        };
        let place = room.join(&*entry.shelf().name());
        for folder in [&room, &place, &room.join(USED)] {
            match DirBuilder::new().mode(0o700).create(folder) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                    return Err(failed("make", folder, &error));
                }
                Ok(()) | Err(_) => {}
            }
        }
        if !is_own(&room) {
            return Err(StoreError::NoPlace);
        }
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let unique = format!("{}.{number}", std::process::id());
        let draft = place.join(format!("t.{unique}"));
        let mut file = create(&draft).map_err(|error| failed("make", &draft, &error))?;
        let written = file.write_all(&content(entry, meant));
        let name = format!("{}.{unique}", entry.name());
        let moved = written.and_then(|()| std::fs::rename(&draft, place.join(name)));
        if let Err(error) = moved {
            drop(std::fs::remove_file(&draft));
            return Err(failed("write", &draft, &error));
        }
        trim(listed(entry.host, &room.join(USED), &|_| true));
        // looking at every name costs more than writing one: one in sixteen does it
        if (u64::from(std::process::id()) + u64::from(number) + entry.time).is_multiple_of(16) {
            self.sweep(entry.host);
        }
        Ok(())
    }

    /// The records of one framework's process; empty where there are none. What lies in a folder that is the user's
    /// alone, as this one was found to be, only the user can have put there.
    pub fn of(&self, host: Process) -> Vec<Found> {
        let room = self.room(host);
        inside(&room).iter().flat_map(|place| listed(host, place, &|_| true)).collect()
    }

    /// Those of its records, used or to come on these shelves, that are of the shelves' texts, or were used by one of
    /// these processes; long texts' in any case. However many others are stored, this costs little.
    pub fn near(&self, host: Process, shelves: &[Shelf], pids: &[u32]) -> Vec<Found> {
        let room = self.room(host);
        let mut names: Vec<_> = shelves.iter().map(|shelf| shelf.name()).collect();
        names.sort_unstable();
        names.dedup();
        // a long text is known by none of its digests before it is compared
        let any = shelves.contains(&Shelf::Long);
        let wanted = Wanted::new(shelves, pids);
        let mut out = listed(host, &room.join(USED), &|name| any || wanted.is_used(name));
        for name in names {
            out.append(&mut listed(host, &room.join(&*name), &|name| any || wanted.is_to_come(name)));
        }
        out
    }

    /// The framework's processes that have records here.
    pub fn hosts(&self) -> Vec<Process> {
        let host = |room: &PathBuf| Process::parse(room.file_name()?.to_str()?);
        inside(&self.folder).iter().filter_map(host).collect()
    }

    /// Whether records of this process may be here.
    pub fn has(&self, host: Process) -> bool {
        std::fs::symlink_metadata(self.room(host)).is_ok()
    }

    /// Marks a record as used.
    pub fn claim(found: &Found, by: Sighting, received: Digest) -> Claim {
        let entry = Entry { state: State::Claimed { by, received }, ..found.entry.clone() };
        let number = found.path.extension().map(|e| e.to_string_lossy().into_owned()).unwrap_or_default();
        let room = found.path.parent().and_then(Path::parent).unwrap_or(Path::new(""));
        let path = room.join(USED).join(format!("{}.{}.{number}", entry.name(), by.pid));
        match std::fs::rename(&found.path, path) {
            Ok(()) => Claim::Taken,
            Err(error) if error.kind() == ErrorKind::NotFound => Claim::Gone,
            Err(_) => Claim::Held,
        }
    }

    /// Removes a record; one that is gone already is no error.
    pub fn remove(found: &Found) {
        drop(std::fs::remove_file(&found.path));
    }

    /// The text of a record; `None` where it is gone, was not kept, or is not what its name says.
    pub fn text(found: &Found) -> Option<Vec<u8>> {
        let text = Self::kept(found)?;
        (Digest::of(&text) == found.entry.digest).then_some(text)
    }

    /// Whether a record holds this very text, whatever its name says.
    pub fn holds(found: &Found, text: &[u8]) -> bool {
        found.entry.length == text.len() && Self::kept(found).is_some_and(|kept| kept == text)
    }

    fn kept(found: &Found) -> Option<Vec<u8>> {
        let file = open(&found.path).ok()?;
        let mut bytes = Vec::with_capacity(found.entry.length.min(LONGEST) + 1024);
        let bound = u64::try_from(LONGEST).unwrap_or(u64::MAX).saturating_add(64 << 10);
        file.take(bound).read_to_end(&mut bytes).ok()?;
        let line = memchr::memchr(b'\n', &bytes)?;
        bytes.drain(..=line);
        Some(bytes)
    }

    /// Removes folders of processes that are gone, records that are too old, and the oldest of too many.
    fn sweep(&self, host: Process) {
        let mut list = self.of(host);
        let old = |found: &Found| found.entry.time.saturating_add(KEPT) < now();
        list.sort_by_key(|found| found.entry.time);
        let excess = list.len().saturating_sub(MOST);
        for (at, found) in list.iter().enumerate() {
            if at < excess || old(found) {
                drop(std::fs::remove_file(&found.path));
            }
        }
        for dead in self.hosts().into_iter().filter(|other| *other != host && !other.is_alive()).take(16) {
            self.clear(dead);
        }
    }

    /// Removes a folder in which nothing is still to be paired.
    fn clear(&self, host: Process) {
        let fresh = |found: &Found| {
            found.entry.state == State::Pending && found.entry.time.saturating_add(FRESH) >= now()
        };
        let list = self.of(host);
        // a host that another process namespace hides looks dead from here
        if list.iter().any(fresh) {
            return;
        }
        let room = self.room(host);
        for folder in inside(&room) {
            for file in inside(&folder) {
                drop(std::fs::remove_file(file));
            }
            drop(std::fs::remove_dir(folder));
        }
        drop(std::fs::remove_dir(room));
    }
}

/// What came of claiming a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    Taken,
    /// another was faster
    Gone,
    /// it can't be marked (a sandbox holds the store read-only): it is used all the same
    Held,
}

/// What lies in a folder; nothing, where it is not there.
fn inside(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    drop(visit(folder, &mut |name, _| {
        out.push(folder.join(name));
        ControlFlow::Continue(())
    }));
    out
}

/// The records in one folder whose names are wanted.
fn listed(host: Process, folder: &Path, wanted: &dyn Fn(&str) -> bool) -> Vec<Found> {
    let mut out = Vec::new();
    // a folder that is not there yet holds nothing; of one that can't be read to its end, what was seen counts
    drop(visit(folder, &mut |name, _| {
        let name = name.to_str().filter(|name| wanted(name));
        let entry = |name: &str| Entry::parse(host, name);
        out.extend(name.and_then(|name| Some(Found { entry: entry(name)?, path: folder.join(name) })));
        ControlFlow::Continue(())
    }));
    out
}

/// Used records of texts that arrived as they were meant that are kept, for shells within their commands and for
/// retries; more would make each arrival dearer.
pub const KEPT_USED: usize = 8;

/// Removes the oldest of too many such records whose commands have ended, a few at a time. What arrived changed
/// stays known for as long as any record.
fn trim(mut found: Vec<Found>) {
    found.retain(|found| matches!(found.entry.state, State::Claimed { received, .. } if received == found.entry.digest));
    let excess = found.len().saturating_sub(KEPT_USED);
    found.sort_by_key(|found| found.entry.time);
    for found in found.into_iter().take(excess.min(3)) {
        if let State::Claimed { by, .. } = found.entry.state
            && !by.is_alive()
        {
            Store::remove(&found);
        }
    }
}

fn create(path: &Path) -> std::io::Result<File> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    OpenOptions::new().write(true).create_new(true).mode(0o600).custom_flags(flags.bits()).open(path)
}

/// Opens a record of the user's own that nobody else can write to.
fn open(path: &Path) -> std::io::Result<File> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)?;
    let meta = file.metadata()?;
    let sound = meta.is_file() && meta.uid() == nix::unistd::geteuid().as_raw() && meta.mode() & 0o022 == 0;
    if sound { Ok(file) } else { Err(ErrorKind::PermissionDenied.into()) }
}

/// One line that says what it is, then the text.
fn content(entry: &Entry, meant: &Meant<'_>) -> Vec<u8> {
    let kept = meant.text.len() <= LONGEST;
    let line = serde_json::json!({
        "v": 1,
        "framework": crate::text::escape(meant.framework),
        "call": meant.call.map(crate::text::escape),
        "cwd": crate::text::escape_bytes(meant.cwd),
        "host": entry.host.to_string(),
        "sha256": entry.digest.to_string(),
        "length": meant.text.len(),
        "time_ms": entry.time,
        "kept": kept,
    });
    let mut out = line.to_string().into_bytes();
    out.push(b'\n');
    if kept {
        out.extend_from_slice(meant.text);
    }
    out
}

#[cfg(test)]
mod tests;
