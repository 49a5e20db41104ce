//! Source text to a tree, for all languages whose statements are made of expressions.
//!
//! In: source text and its language's lexer. Out: a tree and its root.
//! Never: fails: what fits nothing is stepped over, what is too deep is cut and said so.

#![allow(
    clippy::wildcard_enum_match_arm,
    clippy::similar_names,
    clippy::match_same_arms,
    reason = "a token that fits no rule is stepped over whatever it is; `args` and `argv` are the languages' words"
)]

pub(crate) mod parser;

mod awk;
mod ends;
mod expression;
mod index;
mod literal;
mod operand;
mod python;
mod statement;
mod words;

use crate::code::tree::{Id, Tree};
use crate::policy::tables::Lang;
use parser::{Lexer, Parser};

/// The tree of a text, and the node that holds all statements.
pub(crate) fn parse(lang: Lang, lexer: Lexer, text: &str) -> (Tree<'_>, Id) {
    let mut parser = Parser::new(lang, lexer, text);
    let root = parser.statements_to_end();
    (parser.tree, root)
}
