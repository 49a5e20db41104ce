//! A path that is open (`O_PATH`), with the name that the kernel has for it.
//!
//! In: paths of any kind. Out: [`Spot`], free of links.
//! Never: opens for reading or writing.

use std::ffi::OsString;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use nix::fcntl::{OFlag, open};
use nix::sys::stat::{FileStat, Mode, fstat};

/// An existing path.
#[derive(Debug)]
pub(super) struct Spot {
    fd: OwnedFd,
    /// Absolute, links resolved.
    pub(super) path: PathBuf,
}

impl Spot {
    /// `None` where there is nothing, or nothing that this caller may reach.
    pub(super) fn open(path: &Path) -> Option<Self> {
        let fd = open(path, OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty()).ok()?;
        // The name of what was opened, not of what the path leads to a moment later.
        let path = std::fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd()))
            .or_else(|_| std::fs::canonicalize(path))
            .ok()?;
        Some(Self { fd, path })
    }

    pub(super) fn status(&self) -> Option<FileStat> {
        fstat(&self.fd).ok()
    }
}

impl AsFd for Spot {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Judged text as the path that the kernel sees.
pub(super) fn path_of(text: &str) -> PathBuf {
    PathBuf::from(OsString::from_vec(crate::text::raw(text).into_owned()))
}

/// The paths that a policy's entry stands for: itself, or one for each home.
pub(super) fn expand(entry: &str, homes: &[PathBuf]) -> Vec<PathBuf> {
    match entry.strip_prefix("~/") {
        Some(rest) => homes.iter().map(|home| home.join(path_of(rest))).collect(),
        None => vec![path_of(entry)],
    }
}
