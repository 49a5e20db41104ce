//! Intents beside the real agent-sh: what a hook recorded decides what becomes of what arrives.
//!
//! In: the built program, bash, a store of its own. Out: what ran, and what was said.
//! Never: needs root but for the policy that only root may loosen; what can't run here says so.

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
    clippy::format_push_string,
    clippy::too_many_lines,
    clippy::zombie_processes,
    clippy::similar_names,
    clippy::single_element_loop,
    clippy::cast_possible_truncation,
    clippy::doc_markdown,
    clippy::duration_suboptimal_units
)]

#[path = "fidelity/stage.rs"]
mod stage;

#[path = "fidelity/arrivals.rs"]
mod arrivals;

#[path = "fidelity/cost.rs"]
mod cost;

#[path = "fidelity/failures.rs"]
mod failures;

#[path = "fidelity/held.rs"]
mod held;

#[path = "fidelity/measures.rs"]
mod measures;

#[path = "fidelity/parallel.rs"]
mod parallel;

#[path = "fidelity/selftest.rs"]
mod selftest;
