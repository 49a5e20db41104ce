//! Bounds on a text, found in one pass over its bytes before any parser sees it.
//!
//! In: judged text. Out: [`Facts`] or the [`Bound`] that it breaks.
//! Never: depends on a clock.

use std::fmt;

/// A bound that a text breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// more bytes than `Limits::bytes`
    Size,
    /// constructs nested deeper than `Limits::depth`
    Depth,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Size => "the text is too long to be judged",
            Self::Depth => "constructs are nested too deeply to be judged",
        })
    }
}

/// How much of a text is read at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// bytes of one text
    pub bytes: usize,
    /// nested constructs of any kind
    pub depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 8 << 20, depth: 80 }
    }
}
