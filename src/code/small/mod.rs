//! Readers of the languages that have a grammar of their own: sed, tcl, sql, vim, gdb, lisp, jq, make.
//!
//! In: source text. Out: [`super::found::Found`].
//! Never: shares state.

#![allow(
    clippy::match_same_arms,
    clippy::wildcard_enum_match_arm,
    reason = "a table of commands reads best with one row a command; what is not in it does nothing"
)]

mod braces;
mod notes;
mod tcl_files;

pub(crate) mod gdb;
pub(crate) mod jq;
pub(crate) mod lisp;
pub(crate) mod make;
pub(crate) mod sed;
pub(crate) mod sql;
pub(crate) mod tcl;
pub(crate) mod vim;
