//! Getting into an agent's path, and proving it: install, uninstall, run, doctor.
//!
//! In: which agent, the user's files. Out: changed settings, findings. Never: runs a model's command.

pub mod agents;
pub mod change;
pub mod divert;
pub mod doctor;
pub mod json;
pub mod ledger;
pub mod plan;
pub mod program;
pub mod stage;
pub mod start;
