//! Lexers, one a language.
//!
//! In: source text. Out: tokens.
//! Never: fails.

mod awk;
mod node;
mod perl;
mod python;
mod quoted;

use super::parse::parser::Lexer;
use crate::policy::tables::Lang;

/// The lexer of a language that the common parser reads.
pub(crate) fn lexer(lang: Lang) -> Option<Lexer> {
    match lang {
        Lang::Python => Some(python::lex),
        Lang::Awk => Some(awk::lex),
        Lang::Node => Some(node::lex),
        Lang::Perl => Some(perl::lex),
        _ => None,
    }
}
