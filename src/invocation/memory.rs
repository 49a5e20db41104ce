//! Texts as files in memory that nobody can change, and the descriptors that carry them to the real shell.
//!
//! In: bytes. Out: sealed files and their numbers. Never: gives out one that is not sealed.

use std::fs::File;
use std::os::fd::{AsRawFd as _, IntoRawFd as _, OwnedFd};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, SealFlag, fcntl};

/// What could not be done, and why.
#[derive(Debug, PartialEq, Eq)]
pub struct MemoryError(pub &'static str, pub Errno);

/// A file in memory that nobody can change any more, positioned at its start.
pub fn sealed(text: &[u8]) -> Result<OwnedFd, MemoryError> {
    use nix::sys::memfd::{MFdFlags, memfd_create};
    use std::io::{Seek as _, Write as _};
    // MFD_NOEXEC_SEAL (Linux 6.3): where sysctl vm.memfd_noexec=2 nothing else is let through
    let plain = MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING;
    let made = memfd_create(c"agent-sh script", plain | MFdFlags::from_bits_retain(0x8))
        .or_else(|_| memfd_create(c"agent-sh script", plain))
        .map_err(|e| MemoryError("make a file in memory", e))?;
    let mut file = File::from(made);
    file.write_all(text)
        .and_then(|()| file.rewind())
        .map_err(|e| MemoryError("write to memory", Errno::from_raw(e.raw_os_error().unwrap_or(0))))?;
    let seals =
        SealFlag::F_SEAL_WRITE | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_SEAL;
    fcntl(&file, FcntlArg::F_ADD_SEALS(seals)).map_err(|e| MemoryError("seal the script", e))?;
    Ok(file.into())
}

/// Duplicates to the first free number from one of `from` on, without close-on-exec. High numbers, so
/// that those which scripts use stay free; lower ones under a small limit of open files.
pub fn keep(memory: &OwnedFd, from: &[i32]) -> Result<i32, MemoryError> {
    let mut last = Errno::EMFILE;
    for number in from {
        match fcntl(memory, FcntlArg::F_DUPFD(*number)) {
            Ok(number) => return Ok(number),
            Err(errno) => last = errno,
        }
    }
    Err(MemoryError("keep the script open", last))
}

/// Takes the numbers 0 to 2 where the caller left them closed, until the exec: else a file of ours would
/// get one of them, and a message to standard error would go into it.
pub fn reserve_standard_descriptors() {
    loop {
        let flags = OFlag::O_PATH | OFlag::O_CLOEXEC;
        let Ok(taken) = nix::fcntl::openat(nix::fcntl::AT_FDCWD, "/", flags, nix::sys::stat::Mode::empty())
        else {
            return;
        };
        if taken.as_raw_fd() > 2 {
            return;
        }
        let _stays_open = taken.into_raw_fd();
    }
}

/// What stands in a command string before the descriptor that it sources.
pub(super) const SOURCE: &[u8] = b". ";

/// The descriptor that all of a command string sources, as it is written where a script is too long for one.
pub fn sourced(text: &[u8]) -> Option<&[u8]> {
    let path = text.strip_prefix(SOURCE)?;
    let number = path.strip_prefix(b"/dev/fd/")?;
    (!number.is_empty() && number.iter().all(u8::is_ascii_digit)).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_text_cannot_be_changed() {
        use std::io::{Read as _, Write as _};
        let memory = sealed(b"echo judged").unwrap();
        let mut again =
            File::options().write(true).open(format!("/proc/self/fd/{}", memory.as_raw_fd())).unwrap();
        assert!(again.write_all(b"echo other").is_err() && again.set_len(0).is_err());
        let mut text = String::new();
        File::open(format!("/dev/fd/{}", memory.as_raw_fd())).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "echo judged");
    }
}
