//! The reader: bash's grammar (and dash's) into the tree, in one pass, with exact spans.
//!
//! In: judged text. Out: [`Parsed`], or a [`Word`] of a fragment.
//! Why our own beside brush-parser and yash-syntax: see `syntax/mod.rs`.
//! Never: runs over the limits; loses the commands that bash would run before a syntax error.

mod compound;
mod condition;
mod cursor;
mod document;
mod list;
mod parameter;
mod quoting;
mod redirect;
mod simple;
mod substitution;
#[cfg(test)]
mod tests;
mod word;

use crate::syntax::bounds::Limits;
use crate::syntax::grammar::cursor::{Broken, Reader};
use crate::syntax::grammar::word::{Context, Pieces};
use crate::syntax::tree::{Script, Word};
use crate::text::Span;
use std::fmt;

pub use cursor::{Dialect, Fault};
pub use quoting::decode_ansi;

/// Why and where (byte offset; line and column from 1) a text can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    pub offset: usize,
    pub line: u32,
    pub column: u32,
    pub fault: Fault,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: ", self.line, self.column)?;
        match self.fault {
            Fault::Unclosed(what) => write!(f, "the text ends, but {what} is missing"),
            Fault::Wanted(what) => write!(f, "{what} is missing here"),
            Fault::Unexpected => write!(f, "unexpected operator or reserved word"),
            Fault::Bound(bound) => write!(f, "{bound}"),
        }
    }
}

impl std::error::Error for SyntaxError {}

/// What a text reads as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The complete commands before the error, or all: bash runs these.
    pub script: Script,
    pub error: Option<SyntaxError>,
    /// Where the first command begins that can't be read (bytes).
    pub unread: usize,
}

/// Reads a whole text.
pub fn parse(text: &str, dialect: Dialect, limits: &Limits) -> Parsed {
    let mut reader = Reader::new(text, dialect, limits);
    let (script, broken) = reader.read_all();
    Parsed { script, error: broken.map(|b| locate(text, b)), unread: reader.unit }
}

/// Reads a fragment in which only expansions are live (`${x:-word}` strings, arithmetic, prompts).
///
/// # Errors
/// Where a construct isn't closed, or a bound is reached.
pub fn parse_word_text(text: &str, dialect: Dialect, limits: &Limits) -> Result<Word, SyntaxError> {
    let mut reader = Reader::new(text, dialect, limits);
    let mut pieces = Pieces::default();
    reader.fill(&mut pieces, Context::Document).map_err(|b| locate(text, b))?;
    Ok(Word { pieces: pieces.finish(), span: Span::new(0, text.len()) })
}

/// Reads a text as one shell word, quotes live (`None` where it is more or less than one).
pub fn parse_one_word(text: &str, dialect: Dialect, limits: &Limits) -> Option<Word> {
    let mut reader = Reader::new(text, dialect, limits);
    let word = reader.read_word(Context::Token).ok()??;
    (reader.at >= reader.end).then_some(word)
}

/// Reads a text as the right side of `=~`.
pub fn parse_pattern(text: &str, dialect: Dialect, limits: &Limits) -> Option<Word> {
    let mut reader = Reader::new(text, dialect, limits);
    let word = reader.read_word(Context::Regex).ok()??;
    (reader.at >= reader.end).then_some(word)
}

fn locate(text: &str, broken: Broken) -> SyntaxError {
    let (line, column) = Reader::line_and_column(text, broken.at);
    SyntaxError { offset: broken.at, line, column, fault: broken.fault }
}
