//! What the caller handed us: argument vector, environment, directory, who asks.

pub mod context;
