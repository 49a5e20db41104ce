//! agent-sh: a shell for LLM agents that judges a command before it runs.
//!
//! The modules stand in the order in which data travels, from the door down to the cellar; imports run
//! downwards only (`tests/floors.rs`).

#![forbid(unsafe_code)]

pub mod cli;
pub mod pipeline;
pub mod exec;
pub mod confine;
pub mod audit;
pub mod verify;
pub mod evidence;
pub mod decision;
pub mod effects;
pub mod canonical;
pub mod place;
pub mod code;
pub mod envelope;
pub mod syntax;
pub mod policy;
pub mod invocation;
pub mod world;
pub mod act;
pub mod score;
pub mod verdict;
pub mod text;
