//! Quotes in a word: for which of its characters it counts whether they are quoted.
//!
//! In: a word of the tree and where it stands. Out: [`Keeps`], and literal text written with what counts.
//! Never: takes a character for plain beside something that could make a pattern of it.

use std::fmt::Write as _;

use crate::syntax::tree::{Piece, Word};

/// What is live in a word besides expansions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// patterns and braces
    Word,
    /// nothing: values of assignments, here-documents and here-strings, subjects
    Value,
    /// everything: patterns, regular expressions, arithmetic, what stands in `${x…}`
    Exact,
}

/// For which characters of a word it counts whether they are quoted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeps {
    Nothing,
    /// `*`, `?` and what could become part of another pattern
    Patterns,
    /// `=`, beside an expansion: `export x=$y`
    Signs,
    Everything,
}

pub(super) fn keeps(word: &Word, place: Place, expands: bool) -> Keeps {
    let bare = |found: &dyn Fn(&str) -> bool| {
        word.pieces.iter().any(|piece| matches!(piece, Piece::Bare(text) if found(text)))
    };
    let all = |found: &dyn Fn(&str) -> bool| {
        word.pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Bare(text) | Piece::Quoted(text, _) if found(text)))
    };
    let plain = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let braces =
        || bare(&|t| t.contains('{')) && bare(&|t| t.contains('}')) && all(&|t| t.contains([',', '.']));
    let bracket = || bare(&|t| t.contains('[')) && bare(&|t| t.contains(']'));
    match place {
        Place::Exact if !expands && !all(&|t| !plain(t)) => Keeps::Nothing,
        Place::Exact => Keeps::Everything,
        Place::Word if bare(&|t| t.contains(['(', ')', '|']) || t.contains("=~") || t.contains(":~")) => {
            Keeps::Everything
        }
        Place::Word if braces() || bracket() => Keeps::Everything,
        Place::Word if bare(&|t| t.contains(['*', '?'])) => Keeps::Patterns,
        Place::Word if expands => Keeps::Signs,
        Place::Value | Place::Word => Keeps::Nothing,
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Quoted {
    #[default]
    No,
    Yes,
}

/// Neighbouring characters for which the same holds.
#[derive(Default)]
pub(super) struct Run {
    text: String,
    quoted: Quoted,
    /// an empty quoted piece, which makes a word of nothing
    empty: bool,
    /// whether that counts here
    pub(super) null: bool,
}

impl Run {
    pub(super) fn add(&mut self, text: &str, quoted: Quoted, keep: Keeps, out: &mut String) {
        self.empty |= text.is_empty() && quoted == Quoted::Yes;
        for c in text.chars() {
            let counts = match keep {
                Keeps::Nothing => false,
                Keeps::Everything => true,
                Keeps::Patterns => !(c.is_alphanumeric() || "_/.-,:%=".contains(c)),
                Keeps::Signs => c == '=',
            };
            // what is not live is as good as quoted
            let quoted = if counts { quoted } else { Quoted::Yes };
            if quoted != self.quoted && !self.text.is_empty() {
                self.flush(out);
            }
            self.quoted = quoted;
            self.text.push(c);
        }
    }

    pub(super) fn flush(&mut self, out: &mut String) {
        if !self.text.is_empty() {
            let kind = if self.quoted == Quoted::Yes { 'q' } else { 'b' };
            let _ = write!(out, "{kind}{}:{}", self.text.len(), self.text);
        } else if self.empty && self.null {
            out.push('e');
        }
        *self = Self { null: self.null, ..Self::default() };
    }
}
