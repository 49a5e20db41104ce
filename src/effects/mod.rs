//! Effects: what a script would do.

pub mod model;
