//! A program that a test lays somewhere and starts.

use std::path::Path;

/// Copies it by another process. What this one has open to write to, every child has open too until it has become its
/// program, and a file that somebody has open to write to can't be executed (ETXTBSY): another test's child would do.
pub(crate) fn lay(program: impl AsRef<Path>, place: impl AsRef<Path>) {
    let status = std::process::Command::new("cp").arg(program.as_ref()).arg(place.as_ref()).status().unwrap();
    assert!(status.success(), "cp {} {}", program.as_ref().display(), place.as_ref().display());
}
