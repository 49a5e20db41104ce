//! Values of words and variables, of which parts may be unknown, and the data that flows in pipes.
//!
//! In: texts. Out: [`Value`], [`Field`], [`Data`]. An unknown part is one [`HOLE`] character in the text, so
//! that every operation on strings keeps it; a text that holds that character by itself only gets less
//! known, never milder. Never: guesses.

use crate::act::{TagSet, tag};
use crate::text::Span;

/// Stands for a part that isn't known.
pub const HOLE: char = '\u{10FE00}';

/// A text that may have holes, and where it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Value {
    pub text: String,
    pub tags: TagSet,
}

impl Value {
    pub fn known(text: impl Into<String>) -> Self {
        Self { text: text.into(), tags: TagSet::EMPTY }
    }

    pub fn unknown(tags: TagSet) -> Self {
        Self { text: HOLE.to_string(), tags }
    }

    pub fn has_hole(&self) -> bool {
        has_hole(&self.text)
    }
}

/// Whether a text has an unknown part.
pub fn has_hole(text: &str) -> bool {
    text.contains(HOLE)
}

/// One field of a simple command after expansion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    /// The field with quotes removed.
    pub text: String,
    /// Where live glob characters stand in it: the pattern, quoted characters escaped by backslash.
    pub pattern: Option<String>,
    pub tags: TagSet,
    pub span: Span,
}

impl Field {
    pub fn known(text: impl Into<String>, span: Span) -> Self {
        Self { text: text.into(), pattern: None, tags: TagSet::EMPTY, span }
    }

    pub fn has_hole(&self) -> bool {
        has_hole(&self.text)
    }

    pub fn value(&self) -> Value {
        Value { text: self.text.clone(), tags: self.tags }
    }
}

impl From<Value> for Field {
    fn from(value: Value) -> Self {
        Self { text: value.text, pattern: None, tags: value.tags, span: Span::default() }
    }
}

/// Bytes that flow through a pipe, a substitution or a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// The content, as far as it is known; `None`: not at all.
    pub text: Option<String>,
    pub tags: TagSet,
    pub origin: Origin,
}

/// Whether data comes from inside the command or is what the whole command was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// the standard input of the whole command
    Inherited,
    /// a pipe, redirection or here-document inside it
    Inside,
}

impl Data {
    /// Nothing flows.
    pub fn empty() -> Self {
        Self { text: Some(String::new()), tags: TagSet::EMPTY, origin: Origin::Inside }
    }

    pub fn known(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), tags: TagSet::of(tag::FROM_LITERAL), origin: Origin::Inside }
    }

    pub fn unknown(tags: TagSet) -> Self {
        Self { text: None, tags, origin: Origin::Inside }
    }

    /// What the whole command has on its standard input.
    pub fn inherited() -> Self {
        Self { text: None, tags: TagSet::of(tag::FROM_STDIN), origin: Origin::Inherited }
    }

    #[must_use]
    pub fn tagged(mut self, tags: TagSet) -> Self {
        self.tags = self.tags.union(tags);
        self
    }

    /// The content where all of it is known.
    pub fn whole(&self) -> Option<&str> {
        self.text.as_deref().filter(|t| !has_hole(t))
    }

    /// As a value: a hole where nothing is known.
    pub fn value(&self) -> Value {
        match &self.text {
            Some(text) => Value { text: text.clone(), tags: self.tags },
            None => Value::unknown(self.tags),
        }
    }

    /// One after the other, as commands in a list write to the same output.
    pub fn append(&mut self, other: &Self) {
        if *self != Self::empty() {
            // settings and something else is no longer settings only
            self.tags = self.tags.minus(TagSet::of(tag::SHELL_SETTINGS));
        }
        self.tags = self.tags.union(other.tags);
        self.origin = Origin::Inside;
        match (&mut self.text, &other.text) {
            (Some(a), Some(b)) if a.len() + b.len() <= DATA_LIMIT => a.push_str(b),
            (Some(a), None) if !a.is_empty() => a.push(HOLE),
            (Some(_) | None, _) => self.text = None,
        }
    }
}

/// Longest content that is followed, in bytes.
pub const DATA_LIMIT: usize = 1 << 20;
