//! The cage of a helper program: it reads a few files and connects to a few ports, nothing else.
//!
//! In: paths, ports. Out: a restricted process, and what of that holds. Never: lets it write anything.

use std::path::Path;

use super::ruleset::{self, Support};

/// What holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Files and, from ABI 4 on, ports.
    Yes,
    /// Nothing: the kernel has no Landlock or refused.
    No,
}

/// Restricts the calling process, which must have no second thread yet. Paths that are missing count as
/// nothing.
pub fn cage(readable: &[&Path], ports: &[u16]) -> Held {
    match ruleset::support(u8::MAX) {
        Support::Abi(abi) if ruleset::cage(abi, readable, ports).is_ok() => Held::Yes,
        Support::Missing(_) | Support::Abi(_) => Held::No,
    }
}
