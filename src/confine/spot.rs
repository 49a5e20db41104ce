//! A path that is open (`O_PATH`), with the name that the kernel has for it.
//!
//! In: paths of any kind. Out: [`Spot`], free of links.
//! Never: opens for reading or writing.

use std::ffi::OsString;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, openat, openat2};
use nix::sys::stat::{FileStat, Mode, fstat};
use nix::unistd::{AccessFlags, access};

use super::folder::{Extent, list};
use crate::place::workspace::PERSONAL;

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
        // A path without links is its own name: one call instead of two, and the name of a descriptor
        // is what costs most.
        if is_normal(path) {
            let how = OpenHow::new().flags(PATH_ONLY).resolve(ResolveFlag::RESOLVE_NO_SYMLINKS);
            match openat2(AT_FDCWD, path, how) {
                Ok(fd) => return Some(Self { fd, path: path.to_path_buf() }),
                Err(Errno::ENOENT | Errno::ENOTDIR | Errno::EACCES) => return None,
                // a link, or a kernel (or filter) that doesn't know the call
                Err(_) => {}
            }
        }
        let fd = open_path(path)?;
        // The name of what was opened, not of what the path leads to a moment later.
        let path = std::fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd()))
            .or_else(|_| std::fs::canonicalize(path))
            .ok()?;
        Some(Self { fd, path })
    }

    /// As [`Self::open`], for paths that are seldom there: to be told so without opening costs half.
    pub(super) fn seek(path: &Path) -> Option<Self> {
        match access(path, AccessFlags::F_OK) {
            Err(Errno::ENOENT | Errno::ENOTDIR) => None,
            // access(2) asks for the real user
            Ok(()) | Err(_) => Self::open(path),
        }
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

const PATH_ONLY: OFlag = OFlag::O_PATH.union(OFlag::O_CLOEXEC);

/// A descriptor that names the path and can do nothing with it. Not open(2): musl's adds a further call
/// for the flag.
pub(super) fn open_path(path: &Path) -> Option<OwnedFd> {
    openat(AT_FDCWD, path, PATH_ONLY, Mode::empty()).ok()
}

/// Absolute, and written as the kernel writes names.
fn is_normal(path: &Path) -> bool {
    let text = path.as_os_str().as_encoded_bytes();
    let part = |part: &[u8]| !matches!(part, b"" | b"." | b"..");
    text == b"/" || text.strip_prefix(b"/").is_some_and(|rest| rest.split(|b| *b == b'/').all(part))
}

/// Judged text as the path that the kernel sees.
pub(super) fn path_of(text: &str) -> PathBuf {
    PathBuf::from(OsString::from_vec(crate::text::raw(text).into_owned()))
}

/// A home and the names in it: most entries of the policy's lists are on no machine, and one look at
/// the folder is cheaper than a try for each.
#[derive(Debug)]
pub(super) struct Home {
    /// Absolute, links resolved.
    pub(super) path: PathBuf,
    /// Sorted; `None` where the folder can't be listed or has more than is looked at.
    names: Option<Vec<OsString>>,
}

/// Entries of a home that are looked at.
const NAMES: usize = 4096;

impl Home {
    /// `None` for what does not exist and for `/`, which is nobody's home.
    pub(super) fn look(path: &Path) -> Option<Self> {
        let path = Spot::open(path)?.path;
        if path == Path::new("/") {
            return None;
        }
        let names = list(&path, NAMES).filter(|listing| listing.extent == Extent::Whole).map(|listing| {
            let mut names: Vec<OsString> = listing.names.into_iter().map(|(name, _)| name).collect();
            names.sort_unstable();
            names
        });
        Some(Self { path, names })
    }

    /// Whether nothing in it makes it a person's.
    pub(super) fn is_bare(&self) -> bool {
        let has = |names: &Vec<OsString>| PERSONAL.iter().any(|name| names.iter().any(|n| n == name));
        self.names.as_ref().is_some_and(|names| !has(names))
    }

    /// The path of an entry of this home; `None` if it is known to be missing.
    fn entry(&self, rest: &Path) -> Option<PathBuf> {
        let first = rest.components().next()?.as_os_str();
        let there =
            |names: &Vec<OsString>| names.binary_search_by(|name| name.as_os_str().cmp(first)).is_ok();
        self.names.as_ref().is_none_or(there).then(|| self.path.join(rest))
    }
}

/// The paths that a policy's entry stands for: itself, or one for each home that has it.
pub(super) fn expand(entry: &str, homes: &[&Home]) -> Vec<PathBuf> {
    match entry.strip_prefix("~/") {
        Some(rest) => {
            let rest = path_of(rest);
            homes.iter().filter_map(|home| home.entry(&rest)).collect()
        }
        None => vec![path_of(entry)],
    }
}
