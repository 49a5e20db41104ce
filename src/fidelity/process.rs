//! Processes by number and start time, and who started whom.
//!
//! In: `/proc`. Out: [`Process`], ancestors. Never: takes a number that was given out again for the same
//! process.

use std::fmt;

use crate::invocation::process::Stat;

/// A process that no other is mistaken for while the machine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Process {
    pub pid: u32,
    /// Clock ticks between boot and its start (`proc_pid_stat(5)`, field 22).
    pub start: u64,
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.pid, self.start)
    }
}

impl Process {
    /// Reads what [`Display`](fmt::Display) writes.
    pub fn parse(text: &str) -> Option<Self> {
        let (pid, start) = text.split_once('-')?;
        let plain = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        (plain(pid) && plain(start)).then_some(())?;
        Some(Self { pid: pid.parse().ok()?, start: start.parse().ok()? })
    }

    /// This process.
    pub fn own() -> Option<Self> {
        Seen::read(std::process::id()).map(|seen| seen.process)
    }

    pub fn is_alive(self) -> bool {
        Seen::read(self.pid).is_some_and(|seen| seen.process == self)
    }
}

/// How many generations are looked at.
const GENERATIONS: usize = 48;

/// This process and its ancestors, nearest first, as far as they can be seen, up to the first above us at which
/// `ends` says so.
pub fn line(ends: &dyn Fn(Process) -> bool) -> Vec<Process> {
    let mut out = Vec::with_capacity(12);
    let mut next = std::process::id();
    while next > 0 && out.len() < GENERATIONS {
        let Some(seen) = Seen::read(next) else { break };
        out.push(seen.process);
        if out.len() > 1 && ends(seen.process) {
            break;
        }
        next = seen.stat.parent;
    }
    out
}

/// Programs that stand between a framework and its hook without being the framework.
const BETWEEN: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ash",
    "ksh",
    "mksh",
    "fish",
    "busybox",
    "env",
    "timeout",
    "nice",
    "agent-sh",
    "agent-shctl",
];

/// The framework's process, seen from its hook: the nearest ancestor that is no shell or wrapper.
pub fn framework() -> Option<Process> {
    let mut next = u32::try_from(nix::unistd::getppid().as_raw()).ok()?;
    for _ in 0..GENERATIONS {
        let seen = Seen::read(next)?;
        if !BETWEEN.contains(&&*seen.stat.name) {
            return Some(seen.process);
        }
        next = seen.stat.parent;
    }
    None
}

struct Seen {
    process: Process,
    stat: Stat,
}

impl Seen {
    fn read(pid: u32) -> Option<Self> {
        let stat = Stat::read(pid)?;
        Some(Self { process: Process { pid, start: stat.start }, stat })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_begins_with_this_process_and_goes_up() {
        let line = line(&|_| false);
        assert_eq!(line.first().copied(), Process::own());
        assert_eq!(line.get(1).map(|p| p.pid), u32::try_from(nix::unistd::getppid().as_raw()).ok());
        assert!(Process::own().unwrap().is_alive());
        assert_eq!(super::line(&|_| true).len(), 2, "the parent, and no further");
        let mut other = Process::own().unwrap();
        other.start += 1;
        assert!(!other.is_alive(), "the number alone is not the process");
    }

    #[test]
    fn a_process_is_read_as_it_is_written() {
        let process = Process { pid: 17, start: 99 };
        assert_eq!(Process::parse(&process.to_string()), Some(process));
        for wrong in ["17", "17-", "-99", "+17-9", "17-9-9", "17-99999999999999999999999", "a-b"] {
            assert_eq!(Process::parse(wrong), None, "{wrong}");
        }
    }
}
