//! Lexers, one a language.
//!
//! In: source text. Out: tokens.
//! Never: fails.

mod python;

use super::parse::parser::Lexer;
use crate::policy::tables::Lang;

/// The lexer of a language that the common parser reads.
pub(crate) fn lexer(lang: Lang) -> Option<Lexer> {
    match lang {
        Lang::Python => Some(python::lex),
        _ => None,
    }
}
