//! Source text of other languages: what would it do?
//!
//! In: a language and source text that an agent passes to an interpreter. Out: [`Found`]: acts with
//! their arguments as far as they are known, and what could not be read.
//! Never: runs anything, knows paths or policy, fails, or takes more than linear time.

pub mod found;
pub mod mention;

mod escape;
mod eval;
mod lex;
mod meaning;
mod parse;
mod plain;
mod scan;
mod small;
mod tables;
mod token;
mod tree;

pub use found::{Act, Built, Decoded, Doubt, Found, Grade, Origin, Piece, Reach, Source, Value, What};

use crate::policy::tables::Lang;
use crate::text::Span;

/// Longest text that is read; bytes.
pub const TEXT_LIMIT: usize = 256 * 1024;

/// What source text would do.
pub fn look(lang: Lang, text: &str) -> Found {
    if text.len() > TEXT_LIMIT {
        return doubtful(Grade::Limit, "more source text than is read", text);
    }
    match lang {
        Lang::Sed => small::sed::look(text),
        Lang::Tcl | Lang::Expect => small::tcl::look(text),
        Lang::Sql => small::sql::look(text),
        Lang::Vim => small::vim::look(text, look),
        Lang::Gdb => small::gdb::look(text, look),
        Lang::Emacs => small::lisp::look(text),
        Lang::Jq => small::jq::look(text),
        Lang::Make => small::make::look(text, &[]),
        Lang::Python
        | Lang::Perl
        | Lang::Ruby
        | Lang::Node
        | Lang::Php
        | Lang::Lua
        | Lang::Awk
        | Lang::R
        | Lang::Shell
        | Lang::Other => match tables::language(lang) {
            Some(language) => eval::look(language, text),
            None => plain::look(lang, text),
        },
    }
}

/// What making `goals` of a makefile would do; with none, its first target.
pub fn look_make(text: &str, goals: &[&str]) -> Found {
    if text.len() > TEXT_LIMIT {
        return doubtful(Grade::Limit, "more source text than is read", text);
    }
    small::make::look(text, goals)
}

fn doubtful(grade: Grade, detail: &str, text: &str) -> Found {
    let doubt = Doubt { grade, detail: detail.into(), span: Span::new(0, text.len()) };
    Found { unknown: Some(doubt), ..Found::default() }
}

#[cfg(test)]
mod tests;
