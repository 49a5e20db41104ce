//! Observing hops without running what they carry: probes in the place of shells, in namespaces of their own.
//!
//! In: a launcher. Out: one record for each call of a shell. Never: runs a text; calls a hop that left no record
//! the same.

pub mod init;
pub mod namespace;
pub mod note;
pub mod observe;
pub mod probe;
pub mod record;
pub mod shells;

use std::ffi::OsString;

/// Does what the note of this program's file says, if it has one: then this process is a probe, or the first
/// process inside.
pub fn stand_in() -> Option<u8> {
    let note = note::own()?;
    let mut words = std::env::args_os();
    let first = words.next().unwrap_or_default();
    Some(if first == init::NAME {
        init::run(&note, words.collect())
    } else {
        let argv: Vec<OsString> = std::iter::once(first).chain(words).collect();
        probe::run(&note, argv)
    })
}
