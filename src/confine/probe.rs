//! Whether this process is inside a layer of ours already.
//!
//! The kernel allows 16 layers and tells nobody how many there are, and no word of the caller's
//! (environment, arguments, files) may be believed: it would switch confinement off. So the answer is
//! read off the kernel's own refusals. A layer of ours has a signature that no other sandbox's has:
//!
//! * `/dev/full` and `/dev/urandom` open for writing, but `/dev/random` does not;
//! * `/proc/self/comm` can be truncated (which does nothing), but not opened for writing.
//!
//! Each is a thing that file modes allow (access(2) says so, which Landlock does not govern), costs a
//! compatible program nothing, and leaves no trace. Who could forge it? Only a process that restricts
//! itself just so, before agent-sh: one that runs what it likes already, outside. From within a layer
//! of ours a further, weaker one changes nothing, since layers only add up. Mounts that would bring
//! the signature about are denied inside. A profile of another security module would have to hit it by
//! chance. In doubt the answer is no, and a layer is added.
//!
//! In: nothing. Out: [`Inside`]. Never: changes anything.

use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, openat};
use nix::sys::stat::Mode;
use nix::unistd::{AccessFlags, access, truncate};

/// Whether this process is inside a layer of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inside {
    Yes,
    No,
}

pub(super) const REFUSED: [&str; 2] = ["/dev/random", "/proc/self/comm"];
pub(super) const ALLOWED: [&str; 2] = ["/dev/full", "/dev/urandom"];

/// Looks for the signature.
pub(super) fn inside() -> Inside {
    let user = nix::unistd::getuid() == nix::unistd::geteuid();
    // The refusals first: outside, the first open succeeds and is all that this costs.
    let found = user
        && REFUSED.iter().all(|path| is_refused(Path::new(path)))
        && ALLOWED.iter().all(|path| writable(Path::new(path)).is_ok())
        && truncate("/proc/self/comm", 0).is_ok();
    if found { Inside::Yes } else { Inside::No }
}

fn writable(path: &Path) -> Result<(), Errno> {
    let flags = OFlag::O_WRONLY | OFlag::O_CLOEXEC | OFlag::O_NOCTTY | OFlag::O_NONBLOCK;
    openat(AT_FDCWD, path, flags, Mode::empty()).map(drop)
}

/// Refused though the file's mode allows it.
fn is_refused(path: &Path) -> bool {
    writable(path) == Err(Errno::EACCES) && access(path, AccessFlags::W_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_outside_is_not_inside() {
        assert_eq!(inside(), Inside::No);
    }
}
