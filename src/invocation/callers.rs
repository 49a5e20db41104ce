//! On whose behalf we were called: the programs of the processes above us, as the kernel names them.
//!
//! In: `/proc`. Out: absolute paths, the nearest first. Never: believes a process's own word (name,
//! arguments, environment); ends early rather than guess where a link can't be read.

use super::process::{Lineage, head};

/// Processes that are looked at.
const LEVELS: usize = 32;

/// The programs of all processes above this one, up to the first that can't be looked at.
pub fn programs(lineage: &Lineage) -> Vec<String> {
    lineage.numbers().map_while(program).take(LEVELS).collect()
}

/// A process above this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// As the kernel names it.
    pub program: String,
    /// The beginning of its argument vector, which is its own word: what it was started with, or what it likes.
    pub words: Vec<Vec<u8>>,
}

/// All processes above this one, up to the first that can't be looked at.
pub fn above(lineage: &Lineage) -> Vec<Caller> {
    let caller = |pid| {
        let program = program(pid)?;
        let line = head(&format!("/proc/{pid}/cmdline"));
        Some(Caller { program, words: line.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect() })
    };
    lineage.numbers().map_while(caller).take(LEVELS).collect()
}

/// The program that called us: its path, or its name in parentheses where its path is not ours to see.
pub fn nearest() -> String {
    let pid = nix::unistd::getppid().as_raw().unsigned_abs();
    program(pid).unwrap_or_else(|| {
        let name = head(&format!("/proc/{pid}/comm"));
        format!("({})", crate::text::judged(name.strip_suffix(b"\n").unwrap_or(&name)))
    })
}

/// A replaced file has another name at its end, so that it is not taken for the one that is there now.
fn program(pid: u32) -> Option<String> {
    use std::os::unix::ffi::OsStrExt as _;
    let path = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    Some(crate::text::judged(path.as_os_str().as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caller_is_the_program_that_runs_us() {
        let lineage = Lineage::default();
        let above = programs(&lineage);
        assert_eq!(above.first(), Some(&nearest()));
        let callers = super::above(&lineage);
        assert_eq!(callers.into_iter().map(|caller| caller.program).collect::<Vec<_>>(), above);
        assert!(above.iter().all(|path| path.starts_with('/')), "{above:?}");
        assert_eq!(super::super::process::Stat::read(1).map(|stat| stat.parent), Some(0));
    }
}
