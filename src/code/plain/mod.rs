//! Languages without a parser of their own: command lines of editors, debuggers and database shells are read line
//! by line, all others by their calls with literal arguments.
//!
//! In: a language and source text. Out: [`Found`]. Never: says that a text without known calls was understood.

mod calls;
mod debugger;
mod editor;
mod make;
mod sql;
mod tcl;

use super::found::{Act, Built, Doubt, Found, Grade, Value, What};
use crate::policy::tables::Lang;
use crate::text::Span;

/// What the text would do, as far as its calls say.
pub(crate) fn look(lang: Lang, text: &str) -> Found {
    let mut out = Out { found: Found::default(), span: Span::new(0, text.len()), depth: 0 };
    out.read(lang, text);
    out.found
}

/// Most acts of one text.
const ACTS: usize = 256;
/// Deepest nesting of one language in another.
const DEPTH: u8 = 4;

/// What was found so far.
pub(crate) struct Out {
    found: Found,
    span: Span,
    depth: u8,
}

impl Out {
    fn read(&mut self, lang: Lang, text: &str) {
        if self.depth >= DEPTH {
            return self.doubt(Grade::Limit, "code nested too deeply");
        }
        self.depth = self.depth.saturating_add(1);
        match lang {
            Lang::Vim => editor::read(text, self),
            Lang::Gdb => debugger::read(text, self),
            Lang::Sql => sql::read(text, self),
            Lang::Make => make::read(text, self),
            Lang::Tcl | Lang::Expect => tcl::read(text, self),
            // a filter: it has no calls that act
            Lang::Jq => self.jq(text),
            Lang::Python
            | Lang::Perl
            | Lang::Ruby
            | Lang::Node
            | Lang::Php
            | Lang::Lua
            | Lang::Awk
            | Lang::Sed => {
                self.foreign(lang, text);
            }
            Lang::Shell => self.act(What::Shell, &[text]),
            Lang::R | Lang::Emacs | Lang::Other => {
                calls::read(lang, text, self);
                self.doubt(Grade::Unread, "a language that is read by its calls only");
            }
        }
        self.depth = self.depth.saturating_sub(1);
    }

    /// Code of a language that has a reader of its own, or of one that has none.
    fn foreign(&mut self, lang: Lang, text: &str) {
        if super::has_reader(lang) {
            let inner = super::look(lang, text);
            self.found.acts.extend(inner.acts);
            self.found.unknown = self.found.unknown.take().or(inner.unknown);
        } else {
            calls::read(lang, text, self);
            self.doubt(Grade::Unread, "a language that is read by its calls only");
        }
    }

    fn jq(&mut self, text: &str) {
        let words = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.'));
        if text.split(words).any(|w| matches!(w, "env" | "$ENV")) {
            self.act(What::Environment, &[]);
        }
    }

    fn act(&mut self, what: What, args: &[&str]) {
        if self.found.acts.len() >= ACTS {
            return self.doubt(Grade::Limit, "more acts than are kept");
        }
        let args = args.iter().map(|a| Value::Known((*a).into())).collect();
        let act = Act { what, args, built: Built::Plain, span: self.span };
        if !self.found.acts.contains(&act) {
            self.found.acts.push(act);
        }
    }

    /// Whether some act is already about this text.
    fn mentions(&self, text: &str) -> bool {
        self.found.acts.iter().flat_map(|a| a.args.iter()).any(|v| v.known() == Some(text))
    }

    fn doubt(&mut self, grade: Grade, detail: &str) {
        if self.found.unknown.as_ref().is_none_or(|d| d.grade < grade) {
            self.found.unknown = Some(Doubt { grade, detail: detail.into(), span: self.span });
        }
    }
}

/// The first word of a line, and the rest without blanks around it.
fn first_word(line: &str) -> (&str, &str) {
    let line = line.trim();
    let at = line.find(|c: char| c.is_whitespace()).unwrap_or(line.len());
    (line.get(..at).unwrap_or(line), line.get(at..).unwrap_or("").trim())
}

/// A word without the quotes around it.
fn unquoted(word: &str) -> &str {
    let word = word.trim();
    ['"', '\'', '`'].iter().find_map(|q| word.strip_prefix(*q)?.strip_suffix(*q)).unwrap_or(word)
}

#[cfg(test)]
mod tests;
