//! agent-sh: a shell for LLM agents that judges a command before it runs.
//!
//! The modules stand in the order in which data travels, top to bottom of the house; imports run downwards only.

pub mod act;
pub mod audit;
pub mod canonical;
pub mod cli;
pub mod code;
pub mod confine;
pub mod decision;
pub mod effects;
pub mod envelope;
pub mod evidence;
pub mod exec;
pub mod invocation;
pub mod pipeline;
pub mod place;
pub mod policy;
pub mod score;
pub mod syntax;
pub mod text;
pub mod verdict;
pub mod verify;
pub mod world;
