//! Text to tree: two parsers, one shape.

pub mod bounds;
pub mod grammar;
#[cfg(test)]
pub(crate) mod render;
pub mod tree;
