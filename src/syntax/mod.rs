//! Text to tree: the reader, two other parsers' opinions, one shape.

pub mod agree;
mod bash;
pub mod bounds;
pub mod grammar;
mod posix;
pub mod read;
#[cfg(test)]
pub(crate) mod render;
mod reread;
pub mod steady;
pub mod tree;
pub mod zsh;
