//! Processes by number and start time, moments at which one was seen, and who started whom.
//!
//! In: `/proc`. Out: [`Process`], ancestors. Never: takes a number that was given out again for the same
//! process.

use std::fmt;

use nix::time::{ClockId, clock_gettime};
use nix::unistd::{SysconfVar, sysconf};

use crate::invocation::process::{Lineage, Stat};

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
        Self::of(std::process::id())
    }

    /// The one that has this number now.
    pub fn of(pid: u32) -> Option<Self> {
        Stat::read(pid).map(|stat| Self { pid, start: stat.start })
    }

    pub fn is_alive(self) -> bool {
        Self::of(self.pid) == Some(self)
    }
}

/// A process by a moment at which it ran: for a process that tells of itself this costs nothing, while its start has
/// to be asked for. Whatever had its number before had ended by then, whatever has it later starts later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sighting {
    pub pid: u32,
    /// Clock ticks between boot and the moment, as in [`Process::start`].
    pub tick: u64,
}

impl fmt::Display for Sighting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.pid, self.tick)
    }
}

impl Sighting {
    /// A process that runs now.
    pub fn now(pid: u32) -> Self {
        // a clock that can't be read gives a moment before every process: nothing fits
        Self { pid, tick: ticks().unwrap_or(0) }
    }

    /// Reads what [`Display`](fmt::Display) writes.
    pub fn parse(text: &str) -> Option<Self> {
        Process::parse(text).map(|Process { pid, start }| Self { pid, tick: start })
    }

    /// Whether this process was seen then.
    pub fn is_of(self, process: Process) -> bool {
        self.pid == process.pid && process.start <= self.tick
    }

    /// Whether the process seen then still runs.
    pub fn is_alive(self) -> bool {
        Process::of(self.pid).is_some_and(|process| self.is_of(process))
    }
}

/// Since boot, as `proc_pid_stat(5)` counts: rounded down, the time asleep included.
fn ticks() -> Option<u64> {
    let clock = clock_gettime(ClockId::CLOCK_BOOTTIME).ok()?;
    let second = u64::try_from(sysconf(SysconfVar::CLK_TCK).ok()??).ok()?;
    let nanos = u64::try_from(clock.tv_nsec()).ok()?;
    u64::try_from(clock.tv_sec()).ok()?.checked_mul(second)?.checked_add(nanos * second / 1_000_000_000)
}

/// The processes from which a text came.
pub trait Line {
    /// Number of the one that it arrived in.
    fn pid(&self) -> u32;

    /// The one that it arrived in. Dear, and seldom asked for.
    fn own(&self) -> Option<Process>;

    /// Those above it, nearest first, as far as they can be seen, up to the first at which `ends` says so.
    fn above(&self, ends: &dyn Fn(Process) -> bool) -> Vec<Process>;
}

/// How many generations are looked at.
const GENERATIONS: usize = 48;

impl Line for Lineage {
    fn pid(&self) -> u32 {
        std::process::id()
    }

    fn own(&self) -> Option<Process> {
        Process::own()
    }

    fn above(&self, ends: &dyn Fn(Process) -> bool) -> Vec<Process> {
        let mut out = Vec::with_capacity(12);
        for (pid, stat) in self.processes().take(GENERATIONS) {
            let process = Process { pid, start: stat.start };
            out.push(process);
            if ends(process) {
                break;
            }
        }
        out
    }
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
    let lineage = Lineage::default();
    let mut above = lineage.processes().take(GENERATIONS);
    let (pid, stat) = above.find(|(_, stat)| !BETWEEN.contains(&&*stat.name))?;
    Some(Process { pid, start: stat.start })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_goes_up_from_the_parent() {
        let lineage = Lineage::default();
        let line = lineage.above(&|_| false);
        assert_eq!(line.first().map(|p| p.pid), u32::try_from(nix::unistd::getppid().as_raw()).ok());
        assert_eq!(lineage.above(&|_| true).len(), 1, "the parent, and no further");
        assert_eq!(lineage.own().map(|own| own.pid), Some(lineage.pid()));
        assert!(Process::own().unwrap().is_alive());
        let mut other = Process::own().unwrap();
        other.start += 1;
        assert!(!other.is_alive(), "the number alone is not the process");
    }

    #[test]
    fn a_sighting_is_of_the_process_that_ran_then() {
        let own = Process::own().unwrap();
        let seen = Sighting::now(own.pid);
        assert!(seen.is_of(own) && seen.is_alive(), "{seen} {own}");
        // 100 ticks a second: not more than a test takes
        assert!(seen.tick - own.start < 100 * 3600, "{seen} {own}");
        let later = Process { start: seen.tick + 1, ..own };
        assert!(!seen.is_of(later), "a later process with its number");
        assert!(!seen.is_of(Process { pid: own.pid + 1, ..own }));
        assert!(!Sighting { tick: own.start - 1, ..seen }.is_alive(), "it had not started");
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let (gone, process) = (Sighting::now(child.id()), Process::of(child.id()).unwrap());
        assert!(gone.is_of(process), "{gone} {process}: started in this very tick");
        child.wait().unwrap();
        assert!(!gone.is_alive());
        assert_eq!(Sighting::parse(&gone.to_string()), Some(gone));
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
