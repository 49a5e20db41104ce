//! The house's promises as properties (`src/lib.rs` lists them, `.github/SECURITY.md` says what holds each).
//!
//! In: random texts, bytes, command lists. Out: the promise held in every case.
//! Never: runs a generated command list; what runs are `:` and `printf` with random arguments.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // all of it is a test

mod grammar;
mod stand;

mod invariants {
    mod executed;
    mod judged;
    mod shown;
}
