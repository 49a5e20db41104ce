//! Frameworks' pre-execution hooks: their JSON in, the same judgement, their contract out.
//!
//! In: the client's JSON on standard input. Out: its answer and exit status. Never: runs the command.
