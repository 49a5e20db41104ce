//! Lexers, one a language.
//!
//! In: source text. Out: tokens.
//! Never: fails.

mod awk;
mod lua;
mod node;
mod perl;
mod php;
mod python;
mod quoted;
mod ruby;

use super::parse::parser::Lexer;
use crate::policy::tables::Lang;

/// The lexer of a language that the common parser reads.
pub(crate) fn lexer(lang: Lang) -> Option<Lexer> {
    match lang {
        Lang::Python => Some(python::lex),
        Lang::Awk => Some(awk::lex),
        Lang::Node => Some(node::lex),
        Lang::Perl => Some(perl::lex),
        Lang::Ruby => Some(ruby::lex),
        Lang::Php => Some(php::lex),
        Lang::Lua => Some(lua::lex),
        Lang::R => Some(lua::lex_r),
        Lang::Shell
        | Lang::Sed
        | Lang::Tcl
        | Lang::Vim
        | Lang::Sql
        | Lang::Make
        | Lang::Jq
        | Lang::Gdb
        | Lang::Expect
        | Lang::Emacs
        | Lang::Other => None,
    }
}
