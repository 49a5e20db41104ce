//! The first process inside: sets up /proc and loopback, starts the launcher, and ends it all.
//!
//! In: the launcher's words. Out: its status; when this process ends, the kernel ends every other one inside.
//! Never: outlives its limit.

use std::ffi::OsString;
use std::os::fd::AsRawFd as _;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::mount::{MsFlags, mount};
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, sendto, socket,
};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};

use crate::fidelity::witness::note::{Network, Note};

/// The name under which a probe's file is this process.
pub const NAME: &str = "agent-sh-witness-init";
/// Status of a launcher that was stopped at its limit.
const STOPPED: u8 = 124;
const PAUSE: Duration = Duration::from_millis(10);

/// Starts the launcher and waits for it and, for the grace, for what it leaves behind.
pub fn run(note: &Note, words: Vec<OsString>) -> u8 {
    let nothing: Option<&str> = None;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    // without it programs see the outer numbers of processes, and probes still record
    let _ = mount(Some("proc"), "/proc", Some("proc"), flags, nothing);
    if note.network == Network::Private {
        // without loopback an ssh to this machine fails, and its hop is unobserved
        let _ = raise_loopback();
    }
    let mut words = words.into_iter();
    let Some(program) = words.next() else { return 127 };
    let mut command = Command::new(program);
    command.args(words).env_remove("TMUX").env_remove("STY").env_remove("BASH_ENV").env_remove("ENV");
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return 127,
        Err(_) => return 126,
    };
    let launcher = i32::try_from(child.id()).unwrap_or(0);
    let mut end = Instant::now() + Duration::from_millis(note.limit);
    let mut status = None;
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(pid, code)) if pid.as_raw() == launcher => {
                status = u8::try_from(code & 0xFF).ok();
                end = end.min(Instant::now() + Duration::from_millis(note.grace));
            }
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid.as_raw() == launcher => {
                status = u8::try_from(128 + signal as i32).ok();
                end = end.min(Instant::now() + Duration::from_millis(note.grace));
            }
            Ok(WaitStatus::StillAlive) => std::thread::sleep(PAUSE),
            Ok(_) => {}
            // nobody is left
            Err(_) => break,
        }
        if Instant::now() > end {
            break;
        }
    }
    status.unwrap_or(STOPPED)
}

/// `ip link set lo up`, by netlink: an `RTM_NEWLINK` for device 1 with `IFF_UP`.
fn raise_loopback() -> nix::Result<()> {
    let socket =
        socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute)?;
    let mut message = Vec::with_capacity(32);
    message.extend_from_slice(&32u32.to_ne_bytes()); // length
    message.extend_from_slice(&16u16.to_ne_bytes()); // RTM_NEWLINK
    message.extend_from_slice(&1u16.to_ne_bytes()); // NLM_F_REQUEST
    message.extend_from_slice(&[0; 8]); // sequence, port
    message.extend_from_slice(&[0; 4]); // family, padding, type
    message.extend_from_slice(&1i32.to_ne_bytes()); // index of lo
    message.extend_from_slice(&1u32.to_ne_bytes()); // IFF_UP
    message.extend_from_slice(&1u32.to_ne_bytes()); // of which this bit changes
    sendto(socket.as_raw_fd(), &message, &NetlinkAddr::new(0, 0), MsgFlags::empty()).map(drop)
}
