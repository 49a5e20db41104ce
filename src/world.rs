//! The read-only view of the machine that a judgement may take: the file system and the user table.
//!
//! In: paths as judged text (see [`crate::text`]). Out: metadata, link targets, bounded contents.
//! Never: writes, runs, or connects. [`Machine`] is the real one; tests bring their own.

use std::path::PathBuf;

/// What a path is, without following a final link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    File,
    Folder,
    Link,
    Block,
    Character,
    Pipe,
    Socket,
}

/// Metadata of one path (lstat(2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    pub kind: FileKind,
    pub owner: u32,
    /// Permission bits, `0o7777` at most.
    pub mode: u32,
    /// Bytes.
    pub size: u64,
    /// Modification time in nanoseconds since the epoch.
    pub modified: i128,
    pub inode: u64,
}

/// Read-only questions about the machine. Every answer may be `None`: "not there" and "may not know"
/// are the same to a judgement.
pub trait World {
    /// Metadata of an absolute path, a final link not followed.
    fn meta(&self, path: &str) -> Option<Meta>;
    /// The target of a link, as written in it.
    fn link(&self, path: &str) -> Option<String>;
    /// A regular file's content, if it has at most `limit` bytes.
    fn content(&self, path: &str, limit: usize) -> Option<Vec<u8>>;
    /// Names in a folder, sorted; `None` if there are more than `limit`.
    fn entries(&self, path: &str, limit: usize) -> Option<Vec<String>>;
    /// The home folder of a user in the user table.
    fn home_of(&self, user: &str) -> Option<String>;
    /// The effective user id of the caller.
    fn uid(&self) -> u32;
}

/// The machine that we run on.
#[derive(Debug, Default)]
pub struct Machine;

fn to_path(path: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    PathBuf::from(std::ffi::OsString::from_vec(crate::text::raw(path).into_owned()))
}

fn to_text(name: &std::ffi::OsStr) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    crate::text::judged(name.as_bytes()).into_owned()
}

impl World for Machine {
    fn meta(&self, path: &str) -> Option<Meta> {
        use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
        let meta = std::fs::symlink_metadata(to_path(path)).ok()?;
        let kind = meta.file_type();
        let kind = if kind.is_symlink() {
            FileKind::Link
        } else if kind.is_dir() {
            FileKind::Folder
        } else if kind.is_block_device() {
            FileKind::Block
        } else if kind.is_char_device() {
            FileKind::Character
        } else if kind.is_fifo() {
            FileKind::Pipe
        } else if kind.is_socket() {
            FileKind::Socket
        } else {
            FileKind::File
        };
        let modified = i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec());
        Some(Meta {
            kind,
            owner: meta.uid(),
            mode: meta.mode() & 0o7777,
            size: meta.size(),
            modified,
            inode: meta.ino(),
        })
    }

    fn link(&self, path: &str) -> Option<String> {
        Some(to_text(std::fs::read_link(to_path(path)).ok()?.as_os_str()))
    }

    fn content(&self, path: &str, limit: usize) -> Option<Vec<u8>> {
        use std::io::Read as _;
        use std::os::unix::fs::OpenOptionsExt as _;
        // O_NONBLOCK: a pipe must not stop the judgement. The open file is checked, not the path.
        let flags =
            nix::fcntl::OFlag::O_NONBLOCK | nix::fcntl::OFlag::O_NOCTTY | nix::fcntl::OFlag::O_CLOEXEC;
        let file =
            std::fs::OpenOptions::new().read(true).custom_flags(flags.bits()).open(to_path(path)).ok()?;
        let meta = file.metadata().ok()?;
        if !meta.is_file() {
            return None;
        }
        let mut out = Vec::new();
        let bound = u64::try_from(limit).ok()?.saturating_add(1);
        file.take(bound).read_to_end(&mut out).ok()?;
        (out.len() <= limit).then_some(out)
    }

    fn entries(&self, path: &str, limit: usize) -> Option<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(to_path(path)).ok()?.flatten() {
            if names.len() >= limit {
                return None;
            }
            names.push(to_text(&entry.file_name()));
        }
        names.sort();
        Some(names)
    }

    fn home_of(&self, user: &str) -> Option<String> {
        // /etc/passwd itself: the static binary has no NSS, and a judgement must not load modules.
        let table = self.content("/etc/passwd", 1 << 20)?;
        let table = crate::text::judged(&table).into_owned();
        table.lines().map(|line| line.split(':').collect::<Vec<_>>()).find_map(|fields| {
            match fields.as_slice() {
                [name, _, _, _, _, home, ..] if *name == user => Some((*home).to_owned()),
                _ => None,
            }
        })
    }

    fn uid(&self) -> u32 {
        nix::unistd::geteuid().as_raw()
    }
}
