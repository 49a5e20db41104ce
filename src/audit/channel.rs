//! Where a record goes: a datagram socket, a file, standard error. None of them may keep a command
//! waiting longer than it is told.
//!
//! In: encoded events and a deadline. Out: written, or why not ([`Trouble`]).
//! Never: blocks on a socket; never follows a link to a file; never writes a line in two pieces.

use std::fmt;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// Why a channel did not take a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// There is no such socket or folder.
    Missing,
    /// The socket is there, but nobody listens.
    Deserted,
    /// The queue stayed full until the deadline.
    Full,
    /// More than the socket takes at once.
    TooLong,
    /// Not a regular file.
    Unfit,
    /// Only part of the line fitted: the disk is full.
    Torn,
    /// Anything else that the system said.
    Failed(ErrorKind),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("does not exist"),
            Self::Deserted => f.write_str("nobody listens"),
            Self::Full => f.write_str("queue stayed full"),
            Self::TooLong => f.write_str("record too long"),
            Self::Unfit => f.write_str("not a regular file"),
            Self::Torn => f.write_str("disk full, record incomplete"),
            Self::Failed(kind) => write!(f, "{kind}"),
        }
    }
}

pub(super) fn trouble(error: &std::io::Error) -> Trouble {
    if error.raw_os_error() == Some(nix::errno::Errno::EMSGSIZE as i32) {
        return Trouble::TooLong;
    }
    if error.kind() == ErrorKind::NotFound {
        return Trouble::Missing;
    }
    if error.kind() == ErrorKind::ConnectionRefused {
        return Trouble::Deserted;
    }
    Trouble::Failed(error.kind())
}

/// Sends one datagram. The socket is connected, since poll(2) on an unconnected one does not look at
/// the receiver's queue.
pub(super) fn send(path: &Path, datagram: &[u8], deadline: Instant) -> Result<(), Trouble> {
    let socket = UnixDatagram::unbound().map_err(|e| trouble(&e))?;
    socket.set_nonblocking(true).map_err(|e| trouble(&e))?;
    socket.connect(path).map_err(|e| trouble(&e))?;
    loop {
        match socket.send(datagram) {
            Ok(_) => return Ok(()),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) if e.kind() == ErrorKind::WouldBlock => {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Err(Trouble::Full);
                }
                let timeout =
                    PollTimeout::try_from(left.max(Duration::from_millis(1))).unwrap_or(PollTimeout::ZERO);
                let _ = poll(&mut [PollFd::new(socket.as_fd(), PollFlags::POLLOUT)], timeout);
            }
            Err(e) => return Err(trouble(&e)),
        }
    }
}

/// Whether an append may make the file's folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Folder {
    MustExist,
    Make,
}

/// Makes the folder that a file is in, where that's wanted.
pub(super) fn make(path: &Path, folder: Folder) {
    if let (Folder::Make, Some(parent)) = (folder, path.parent()) {
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(parent);
    }
}

/// Opens a file to append to (and to read its end).
pub(super) fn open(path: &Path) -> Result<File, Trouble> {
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOFOLLOW | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
    let file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(0o640)
        .custom_flags(flags.bits())
        .open(path)
        .map_err(|e| trouble(&e))?;
    // A pipe that somebody put there would tear or hold the line.
    if !file.metadata().map_err(|e| trouble(&e))?.is_file() {
        return Err(Trouble::Unfit);
    }
    Ok(file)
}

/// Appends one line with one write(2): `O_APPEND` writes to a local file don't mix.
pub(super) fn write_line(mut file: &File, line: &[u8]) -> Result<(), Trouble> {
    loop {
        match file.write(line) {
            Ok(count) if count == line.len() => return Ok(()),
            Ok(_) => {
                // Keeps the next record off the torn line, if a byte still fits.
                let _ = file.write(b"\n");
                return Err(Trouble::Torn);
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(trouble(&e)),
        }
    }
}

/// Writes a short line to standard error, if it takes it at once.
pub(super) fn complain(line: &[u8]) -> Result<(), Trouble> {
    let stderr = std::io::stderr();
    let mut fds = [PollFd::new(stderr.as_fd(), PollFlags::POLLOUT)];
    // A pipe that polls writable has room for PIPE_BUF bytes (pipe(7)), 4,096 on Linux.
    let ready = poll(&mut fds, PollTimeout::ZERO).is_ok_and(|n| n > 0);
    let writable = fds.iter().filter_map(PollFd::revents).any(|r| r.contains(PollFlags::POLLOUT));
    if !ready || !writable || line.len() > 4096 {
        return Err(Trouble::Full);
    }
    stderr.lock().write_all(line).map_err(|e| trouble(&e))
}
