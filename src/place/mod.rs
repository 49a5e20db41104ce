//! Places: what a path, a host or a file's state in version control is.
//!
//! In: names as written, and the world. Out: resolved names with their classes.
//! Never: writes, runs or connects; looks up more than its budget.

pub mod address;
pub mod classify;
pub mod expand;
pub mod glob;
mod git_index;
mod glob_syntax;
pub mod home;
pub mod host;
mod ignore;
pub mod index;
pub mod lookup;
mod magic;
pub mod pattern;
pub mod places;
pub mod resolve;
pub mod setting;
#[cfg(test)]
mod tree;
pub mod version_control;
pub mod workspace;
