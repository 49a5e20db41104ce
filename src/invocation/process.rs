//! What the kernel says of a process in `/proc`.
//!
//! In: a number. Out: [`Stat`], the beginning of a file, a [`Lineage`]. Never: more than one read of each: calls count
//! at a start, and these are dear ones.

use std::cell::RefCell;
use std::fs::File;
use std::io::Read as _;

/// Bytes that are looked at; `stat` and `comm` are shorter, of a command line it is enough.
const HEAD: usize = 1024;

/// A file's beginning. The kernel gives all that is asked for at once: one call, not one for each doubling of
/// a buffer. Empty where it can't be read.
pub fn head(path: &str) -> Vec<u8> {
    let mut room = [0; HEAD];
    let count = File::open(path).and_then(|mut file| file.read(&mut room)).unwrap_or(0);
    room.get(..count).unwrap_or_default().to_vec()
}

/// `/proc/PID/stat` (`proc_pid_stat(5)`), as far as it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The name, field 2; untrusted.
    pub name: String,
    /// Field 4.
    pub parent: u32,
    /// Clock ticks between boot and its start, field 22.
    pub start: u64,
}

impl Stat {
    /// None where there is no such process, or it is not to be seen.
    pub fn read(pid: u32) -> Option<Self> {
        Self::parse(&head(&format!("/proc/{pid}/stat")))
    }

    fn parse(stat: &[u8]) -> Option<Self> {
        // the name stands in parentheses and may hold any byte, parentheses too; so few bytes are not worth asking
        // the processor what it can do (memchr, 40 microseconds under a hypervisor)
        let open = stat.iter().position(|byte| *byte == b'(')?;
        let close = stat.iter().rposition(|byte| *byte == b')')?;
        let name = String::from_utf8_lossy(stat.get(open + 1..close)?).into_owned();
        let rest = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
        // behind the name: field 3 is the state
        let mut fields = rest.split_ascii_whitespace();
        let parent = fields.nth(1)?.parse().ok()?;
        let ticks = fields.nth(17)?.parse().ok()?;
        Some(Self { name, parent, start: ticks })
    }
}

/// The processes above this one as they were when they were first looked at; each is looked at once, when it or the
/// one above it is asked for. To be kept no longer than one question lasts: processes end.
#[derive(Debug, Default)]
pub struct Lineage {
    seen: RefCell<Vec<Option<Stat>>>,
}

impl Lineage {
    /// The numbers, the nearest first, up to the first process that can't be looked at.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        (0..).map_while(|at| self.number(at))
    }

    /// The processes themselves, the nearest first, up to the first that can't be looked at.
    pub fn processes(&self) -> impl Iterator<Item = (u32, Stat)> {
        self.numbers().enumerate().map_while(|(at, pid)| Some((pid, self.stat(at)?)))
    }

    fn number(&self, at: usize) -> Option<u32> {
        let pid = match at.checked_sub(1) {
            None => u32::try_from(nix::unistd::getppid().as_raw()).ok()?,
            Some(below) => self.stat(below)?.parent,
        };
        (pid > 0).then_some(pid)
    }

    /// What is to be seen of the process so many steps above the nearest one.
    fn stat(&self, at: usize) -> Option<Stat> {
        if let Some(stat) = self.seen.borrow().get(at) {
            return stat.clone();
        }
        let stat = Stat::read(self.number(at)?);
        self.seen.borrow_mut().push(stat.clone());
        stat
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_hide_the_parent() {
        let rest = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 99 5";
        let parsed =
            |text: &str| Stat::parse(text.as_bytes()).map(|stat| (stat.name, stat.parent, stat.start));
        for (name, text) in [("a) S 7 (b", "42 (a) S 7 (b) S 41"), ("a b", "42 (a b) S 41")] {
            assert_eq!(parsed(&format!("{text} {rest}")), Some((name.to_owned(), 41, 99)));
        }
        assert_eq!(parsed(""), None);
        assert_eq!(parsed("42 (a) S 41"), None);
    }

    #[test]
    fn each_process_above_is_looked_at_once() {
        let lineage = Lineage::default();
        let numbers: Vec<u32> = lineage.numbers().collect();
        assert_eq!(numbers.first(), u32::try_from(nix::unistd::getppid().as_raw()).ok().as_ref());
        let seen = |lineage: &Lineage| lineage.seen.borrow().len();
        assert_eq!(seen(&lineage), numbers.len());
        let processes: Vec<(u32, Stat)> = lineage.processes().collect();
        assert_eq!(seen(&lineage), numbers.len());
        let read: Vec<u32> = processes.iter().map(|(pid, _)| *pid).collect();
        assert_eq!(read, numbers);
        for ((_, below), (above, _)) in processes.iter().zip(processes.iter().skip(1)) {
            assert_eq!(below.parent, *above);
        }
        let lineage = Lineage::default();
        assert_eq!((lineage.numbers().next(), seen(&lineage)), (numbers.first().copied(), 0));
    }

    #[test]
    fn this_process_has_its_parent() {
        let stat = Stat::read(std::process::id()).unwrap();
        assert_eq!(Some(stat.parent), u32::try_from(nix::unistd::getppid().as_raw()).ok());
    }
}
