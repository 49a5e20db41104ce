//! A folder of small files that only its owner could have written: questions, approvals, answers.
//!
//! In: paths, names, bytes. Out: bytes of files whose owner and mode are fine. Never: follows a link at the
//! folder or below it; lets two takers of one file both succeed.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AtFlags, Flock, FlockArg, OFlag, openat, renameat};
use nix::sys::stat::Mode;
use nix::unistd::{UnlinkatFlags, unlinkat};

/// Largest file, in bytes.
const LARGEST: u64 = 1 << 20;
/// Entries that are looked at.
const ENTRIES: usize = 4096;

/// A folder whose owner is who it should be, open.
#[derive(Debug)]
pub struct Folder {
    open: OwnedFd,
    path: PathBuf,
}

/// An open file and who it belongs to.
#[derive(Debug)]
pub struct Found {
    pub bytes: Vec<u8>,
    pub owner: u32,
    /// Seconds since 1970 at which it was written.
    pub written: i64,
}

/// What became of an attempt to take a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Taken {
    /// It was there, it was fine, and it is gone: nobody else took it.
    Ours(Vec<u8>),
    /// Missing, taken by somebody else, or not fine.
    Not,
}

impl Folder {
    /// Opens a folder.
    ///
    /// # Errors
    /// It is missing, no folder, a link, belongs to somebody else, or others may write to it.
    pub fn open(path: &Path, owner: u32) -> std::io::Result<Self> {
        let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW;
        let open = std::fs::OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)?;
        let meta = open.metadata()?;
        if meta.uid() != owner || meta.mode() & 0o022 != 0 {
            return Err(std::io::Error::other(format!(
                "{} belongs to user {} with mode {:04o}; it must be user {owner}'s and nobody else's to write",
                crate::text::escape_bytes(path.as_os_str().as_encoded_bytes()),
                meta.uid(),
                meta.mode() & 0o7777,
            )));
        }
        Ok(Self { open: open.into(), path: path.to_path_buf() })
    }

    /// Opens a folder of the calling user, made (0700) if it is missing.
    ///
    /// # Errors
    /// As [`Self::open`], or it can't be made.
    pub fn make(path: &Path) -> std::io::Result<Self> {
        let owner = nix::unistd::geteuid().as_raw();
        match Self::open(path, owner) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
                Self::open(path, owner)
            }
            other => other,
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    fn file(&self, name: &str) -> nix::Result<File> {
        let flags =
            OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
        openat(self.open.as_fd(), name, flags, Mode::empty()).map(File::from)
    }

    /// Reads a file that no one but its owner may write.
    pub fn read(&self, name: &str) -> Option<Found> {
        read(&self.file(name).ok()?)
    }

    /// Names of all entries that don't begin with a dot, in order.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.path).into_iter().flatten().flatten().take(ENTRIES);
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.retain(|name| !name.starts_with('.'));
        names.sort();
        names
    }

    /// Writes a file, whole or not at all. `mode` is that of the file.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn write(&self, name: &str, bytes: &[u8], mode: Mode) -> std::io::Result<()> {
        let temporary =
            format!(".{}.{:?}", std::process::id(), std::time::Instant::now()).replace(['/', ' '], "");
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let mut file = File::from(openat(self.open.as_fd(), temporary.as_str(), flags, mode)?);
        let done = nix::sys::stat::fchmod(&file, mode)
            .map_err(std::io::Error::from)
            .and_then(|()| file.write_all(bytes))
            .and_then(|()| Ok(renameat(self.open.as_fd(), temporary.as_str(), self.open.as_fd(), name)?));
        if done.is_err() {
            self.remove(&temporary);
        }
        done
    }

    /// Removes a file; whether it was there.
    pub fn remove(&self, name: &str) -> bool {
        unlinkat(self.open.as_fd(), name, UnlinkatFlags::NoRemoveDir).is_ok()
    }

    /// Whether a name is there.
    pub fn has(&self, name: &str) -> bool {
        nix::sys::stat::fstatat(self.open.as_fd(), name, AtFlags::AT_SYMLINK_NOFOLLOW).is_ok()
    }

    /// Takes a file, which only one of any number of takers can: under a lock on the file itself its one
    /// name is removed. The file's own count of names says that it is gone, so that nobody who may write to
    /// the folder can put another in its place, or keep it under another name.
    pub fn take(&self, name: &str, is_fine: impl FnOnce(&Found) -> bool) -> Taken {
        self.try_take(name, is_fine).unwrap_or(Taken::Not)
    }

    fn try_take(&self, name: &str, is_fine: impl FnOnce(&Found) -> bool) -> Option<Taken> {
        let held = lock(self.file(name).ok()?)?;
        let names = || held.metadata().map(|meta| meta.nlink()).ok();
        let found = read(&held).filter(is_fine)?;
        if names()? != 1 || !self.remove(name) || names()? != 0 {
            return None;
        }
        Some(Taken::Ours(found.bytes))
    }

    /// Holds a name of this folder for as long as the answer lives; `None` while somebody else does.
    pub fn hold(&self, name: &str) -> Option<Flock<File>> {
        let flags = OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let file = openat(self.open.as_fd(), name, flags, Mode::S_IRUSR | Mode::S_IWUSR).ok()?;
        Flock::lock(File::from(file), FlockArg::LockExclusiveNonblock).ok()
    }
}

/// The lock of a file. Others hold it for the time of an unlink; who finds it held that long gives up.
fn lock(file: File) -> Option<Flock<File>> {
    let mut file = file;
    for _ in 0..200 {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(held) => return Some(held),
            Err((back, Errno::EWOULDBLOCK | Errno::EINTR)) => file = back,
            Err(_) => return None,
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    None
}

/// The content of an open file, which must be a regular one that only its owner may write.
fn read(file: &File) -> Option<Found> {
    let meta = file.metadata().ok()?;
    if !meta.is_file() || meta.mode() & 0o022 != 0 || meta.len() > LARGEST {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some(Found { bytes, owner: meta.uid(), written: meta.mtime() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIVATE: Mode = Mode::S_IRUSR.union(Mode::S_IWUSR);

    fn folder() -> (tempfile::TempDir, Folder) {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::make(&home.path().join("a/b")).unwrap();
        (home, folder)
    }

    #[test]
    fn of_fifty_takers_one_takes() {
        let (_home, folder) = folder();
        for _ in 0..20 {
            folder.write("x", b"1", PRIVATE).unwrap();
            let takers = |folder: &Folder| matches!(folder.take("x", |_| true), Taken::Ours(_));
            let taken: usize = std::thread::scope(|scope| {
                let all: Vec<_> = (0..50).map(|_| scope.spawn(|| takers(&folder))).collect();
                all.into_iter().map(|taker| usize::from(taker.join().unwrap())).sum()
            });
            assert_eq!(taken, 1);
        }
        assert!(folder.names().is_empty());
    }

    #[test]
    fn a_file_with_a_second_name_a_link_and_one_that_others_write_are_not_taken() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_home, folder) = folder();
        let at = |name: &str| folder.path().join(name);
        folder.write("x", b"1", PRIVATE).unwrap();
        std::fs::hard_link(at("x"), at("y")).unwrap();
        assert_eq!(folder.take("x", |_| true), Taken::Not);
        std::fs::remove_file(at("y")).unwrap();
        std::os::unix::fs::symlink("x", at("z")).unwrap();
        assert_eq!(folder.take("z", |_| true), Taken::Not);
        assert_eq!(folder.take("x", |_| false), Taken::Not);
        std::fs::set_permissions(at("x"), std::fs::Permissions::from_mode(0o622)).unwrap();
        assert_eq!(folder.take("x", |_| true), Taken::Not);
        std::fs::set_permissions(at("x"), std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(folder.take("x", |_| true), Taken::Ours(b"1".to_vec()));
        assert_eq!(folder.take("x", |_| true), Taken::Not);
    }

    #[test]
    fn a_folder_that_others_write_or_own_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_home, folder) = folder();
        let owner = nix::unistd::geteuid().as_raw();
        assert!(Folder::open(folder.path(), owner).is_ok());
        assert!(Folder::open(folder.path(), owner + 1).is_err());
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o770)).unwrap();
        assert!(Folder::open(folder.path(), owner).is_err());
    }

    #[test]
    fn a_name_is_held_by_one() {
        let (_home, folder) = folder();
        let held = folder.hold(".watch");
        assert!(held.is_some() && folder.hold(".watch").is_none());
        drop(held);
        assert!(folder.hold(".watch").is_some());
    }
}
