//! bash's own printing of a text: the arbiter where our reading says that two texts differ.
//!
//! In: two texts. Out: whether bash prints them alike. Never: lets bash run a command: it gets a file, never
//! `-c`, and no environment (`--pretty-print` reads `BASH_ENV`, and runs a `-c` text).

use std::io::Read as _;
use std::os::fd::AsRawFd as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::invocation::memory::sealed;

/// Where bash may be, as the policy's default has it; what is agent-sh itself is never a real shell.
const BASH: &[&str] = &[
    "/usr/lib/agent-sh/real/bash",
    "/bin/bash.distrib",
    "/usr/bin/bash.distrib",
    "/bin/bash",
    "/usr/bin/bash",
];

/// Bytes of a text that is printed.
const LONGEST: usize = 64 << 10;
const PATIENCE: Duration = Duration::from_secs(1);

/// Whether bash prints both texts alike. `false` where it can't print one.
pub fn equal(one: &[u8], other: &[u8]) -> bool {
    match (printed(one), printed(other)) {
        (Some(one), Some(other)) => one == other,
        (Some(_) | None, _) => false,
    }
}

/// bash's form of a text; `None` where it does not take it, or prints it wrongly (control bytes).
pub fn printed(text: &[u8]) -> Option<Vec<u8>> {
    // bash escapes 0x01 and 0x7f in its own strings by 0x01, and prints that
    let odd = |byte: &u8| byte.is_ascii_control() && !matches!(byte, b'\n' | b'\t');
    if text.len() > LONGEST || text.iter().any(odd) {
        return None;
    }
    let start = text.iter().take_while(|byte| **byte == b'\n').count();
    let text = text.get(start..)?;
    let bash = BASH.iter().find(|path| is_real(path))?;
    let memory = sealed(text).ok()?;
    // the descriptor is ours and closes at the child's exec: the child opens it by our own number
    let path = format!("/proc/{}/fd/{}", std::process::id(), memory.as_raw_fd());
    let mut child = Command::new(bash)
        .args(["--norc", "--noprofile", "--pretty-print", "-O", "extglob", &path])
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut out = Vec::new();
    let deadline = Instant::now() + PATIENCE;
    let read = child.stdout.take().is_some_and(|pipe| {
        pipe.take(u64::try_from(LONGEST).unwrap_or(u64::MAX) * 4).read_to_end(&mut out).is_ok()
    });
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return (read && status.success()).then_some(out),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_micros(200)),
            Ok(None) | Err(_) => {
                drop(child.kill());
                drop(child.wait());
                return None;
            }
        }
    }
}

/// Whether this is a shell, and not agent-sh under a shell's name.
fn is_real(path: &str) -> bool {
    let Ok(file) = std::fs::File::open(path) else { return false };
    let mut head = Vec::new();
    let whole = file.take(16 << 10).read_to_end(&mut head).is_ok();
    whole
        && head.starts_with(b"\x7fELF")
        && memchr::memmem::find(&head, crate::invocation::shell::MARKER).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bash_prints_and_runs_nothing() {
        if !BASH.iter().any(|path| is_real(path)) {
            println!("SKIPPED: no bash here");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let marker = folder.path().join("ran");
        let text = format!("touch {0}; $(touch {0}); echo \"`touch {0}`\"\ntouch {0}\n", marker.display());
        assert!(printed(text.as_bytes()).is_some());
        assert!(!marker.exists());
        assert!(equal(b"a\nb", b"\n\na\n b") && equal(b"if a; then b; fi", b"if a\nthen\nb\nfi"));
        assert!(!equal(b"a", b"b") && !equal(b"if", b"if") && !equal(b"a\x01", b"a\x01"));
    }
}
