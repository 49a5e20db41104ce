//! Text to tree: two parsers, one shape.

pub mod tree;
