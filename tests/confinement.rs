//! Confinement with the real kernel and real programs. A command that was allowed by mistake is forced
//! here: nothing is judged, the warrant comes from an empty decision.
//!
//! Each trial runs in a process of its own: this binary, started again as `child`, confines itself and
//! becomes the command.

// Test code all through: the lints' exception for tests does not reach their plain functions.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::print_stderr)]

mod confinement {
    mod stage;
    mod programs;
    mod kernel;
}
