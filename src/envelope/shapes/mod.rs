//! The wrappers and own calls of known clients.
//!
//! In: nothing. Out: [`ALL`], in the order in which they are tried.
//! Never: holds a shape that was not seen in the client itself or in what it ran.

mod calls;
mod claude;
mod codex;
mod gemini;
mod opencode;
mod state;

pub use calls::{Long, long};

use crate::envelope::shape::Shape;

/// All shapes. A text has at most one of them.
pub static ALL: &[&[Shape]] =
    &[claude::SHAPES, codex::SHAPES, gemini::SHAPES, state::SHAPES, opencode::SHAPES, calls::SHAPES];
