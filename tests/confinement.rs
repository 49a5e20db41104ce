//! Confinement with the real kernel and real programs. A command that was allowed by mistake is forced
//! here: nothing is judged, the warrant comes from an empty decision.
//!
//! Each trial runs in a process of its own: this binary, started again as `child`, confines itself and
//! becomes the command.

// a test program: what is not there may stop it
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::wildcard_enum_match_arm,
    clippy::format_collect,
    clippy::format_push_string
)]

// Test code all through: the lints' exception for tests does not reach their plain functions.

mod confinement {
    mod stage;
    mod programs;
    mod kernel;
    mod derived;
    mod exchanged;
}
