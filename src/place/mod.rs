//! Resolving and classifying places.

pub mod glob;
