//! Starts a call that hands a judged and recorded text on, and waits for it.
//!
//! In: [`Logged`], which only a judged and recorded text has, and the laid call. Out: its status.
//! Never: changes a word of it. It is not confined: it speaks for the user to another machine, user or daemon.

use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;

use crate::audit::Logged;
use crate::fidelity::channel::stage::Laid;

/// Starts, feeds and waits. The status as a shell gives it: 128 and the signal, 127 not found.
pub fn start(_leave: Logged, laid: &Laid) -> std::io::Result<u8> {
    let (mut command, bytes) = laid.command();
    let mut child = match command.spawn() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(127),
        other => other?,
    };
    if let (Some(mut pipe), Some(bytes)) = (child.stdin.take(), bytes) {
        match pipe.write_all(bytes) {
            // the receiver has ended: its status says why
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
            other => other?,
        }
    }
    let status = child.wait()?;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(125))
}
