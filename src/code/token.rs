//! Tokens that all the languages share.
//!
//! In: slices of the source. Out: tokens with their places.
//! Never: evaluates.

/// What a string literal is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bit<'a> {
    Lit(String),
    /// source text of an expression, and where it starts
    Code(&'a str, usize),
}

/// How a string literal is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quote {
    Text,
    /// Python's b'…'
    Bytes,
    /// runs as shell text: backticks, %`x()`, `qx()`
    Command,
    /// a list of words: `qw()`, %`w()`
    Words,
    /// reads lines of a handle: `<F>`
    Line,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tok<'a> {
    Name(&'a str),
    /// `None`: a number that is not a small whole one
    Number(Option<i64>),
    Text(Quote, Vec<Bit<'a>>),
    /// a regular expression, as written between its marks
    Regex(&'a str),
    /// code of the language that stands inside another token: s///e
    Code(&'a str, usize),
    Op(&'a str),
    /// end of a statement
    End,
    /// Python's deeper and shallower indentation
    Indent,
    Dedent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) tok: Tok<'a>,
    /// Bytes in the source that is lexed.
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) gap: Gap,
}

/// What stands before a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gap {
    Nothing,
    Blank,
    /// at least one line break
    Line,
}

impl<'a> Token<'a> {
    pub(crate) fn is_op(&self, op: &str) -> bool {
        matches!(self.tok, Tok::Op(o) if o == op)
    }

    pub(crate) fn is_name(&self, name: &str) -> bool {
        matches!(self.tok, Tok::Name(n) if n == name)
    }

    pub(crate) fn name(&self) -> Option<&'a str> {
        match self.tok {
            Tok::Name(n) => Some(n),
            Tok::Number(_)
            | Tok::Text(..)
            | Tok::Regex(_)
            | Tok::Code(..)
            | Tok::Op(_)
            | Tok::End
            | Tok::Indent
            | Tok::Dedent => None,
        }
    }

    /// Whether an operand stands before what follows: tells a division from a regular expression.
    pub(crate) fn ends_operand(&self) -> bool {
        match self.tok {
            Tok::Name(_) | Tok::Number(_) | Tok::Text(..) | Tok::Regex(_) | Tok::Code(..) => true,
            Tok::Op(o) => matches!(o, ")" | "]" | "}"),
            Tok::End | Tok::Indent | Tok::Dedent => false,
        }
    }
}
