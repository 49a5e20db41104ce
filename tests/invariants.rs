//! The house's promises as properties (`src/lib.rs` lists them, `.github/SECURITY.md` says what holds each).
//!
//! In: random texts, bytes, command lists. Out: the promise held in every case.
//! Never: runs a generated command list; what runs are `:` and `printf` with random arguments.

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

mod grammar;
mod stand;

mod invariants {
    mod executed;
    mod judged;
    mod shown;
}
