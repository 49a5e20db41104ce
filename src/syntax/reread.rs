//! Raw words of a foreign parser into the tree, their substitutions read by that parser again.
//!
//! In: a word, here-document body or arithmetic text as the foreign parser cut it out. Out: [`Word`].
//! Never: lets our own reading of a nested script stand in for the foreign parser's.

use crate::syntax::bounds::Limits;
use crate::syntax::grammar::{self, Dialect};
use crate::syntax::tree::{Operation, Parameter, Piece, Quoting, Script, Simple, Substituted, Word};
use crate::text;

/// What a foreign parser makes of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Opinion {
    Script(Script),
    /// it is no text of its grammar
    Refused,
    /// it wasn't asked, since it might not end, or its tree can't be put into ours
    None,
}

/// Reads a script; the number is how deep it is nested. `None` where the parser refuses it.
pub(super) type ReadScript = fn(&str, &Rereader<'_>) -> Option<Script>;

/// How the raw words of one foreign reading are read.
#[derive(Clone, Debug)]
pub(super) struct Rereader<'l> {
    pub(super) dialect: Dialect,
    pub(super) limits: &'l Limits,
    pub(super) depth: u32,
    pub(super) script: ReadScript,
}

impl Rereader<'_> {
    /// A word with its quotes.
    pub(super) fn word(&self, raw: &str) -> Option<Word> {
        if raw.is_empty() {
            return Some(Word::default());
        }
        let mut word = grammar::parse_one_word(raw, self.dialect, self.limits)?;
        self.redo(&mut word, raw)?;
        Some(word)
    }

    /// A here-document's body or an arithmetic text.
    pub(super) fn body(&self, raw: &str) -> Option<Word> {
        let mut word = grammar::parse_word_text(raw, self.dialect, self.limits).ok()?;
        self.redo(&mut word, raw)?;
        Some(word)
    }

    /// The right side of `=~`.
    pub(super) fn pattern(&self, raw: &str) -> Option<Word> {
        let mut word = grammar::parse_pattern(raw, self.dialect, self.limits)?;
        self.redo(&mut word, raw)?;
        Some(word)
    }

    fn redo(&self, word: &mut Word, raw: &str) -> Option<()> {
        for piece in &mut word.pieces {
            match piece {
                Piece::Bare(_) | Piece::Quoted(..) | Piece::Tilde(_) => {}
                Piece::Parameter(parameter, _) => self.redo_parameter(parameter, raw)?,
                Piece::Arithmetic(inner, _) => self.redo(inner, raw)?,
                Piece::Command(inner, quoting) => self.redo_script(inner, raw, *quoting)?,
                Piece::Process(_, inner) => self.redo_script(inner, raw, Quoting::Bare)?,
            }
        }
        Some(())
    }

    fn redo_parameter(&self, parameter: &mut Parameter, raw: &str) -> Option<()> {
        if let Some(index) = &mut parameter.index {
            self.redo(index, raw)?;
        }
        match &mut parameter.operation {
            Operation::None
            | Operation::Length
            | Operation::Transform(_)
            | Operation::Names
            | Operation::Case(_, None) => Some(()),
            Operation::Default(_, word)
            | Operation::AssignDefault(_, word)
            | Operation::Error(_, word)
            | Operation::Alternative(_, word)
            | Operation::RemovePrefix(_, word)
            | Operation::RemoveSuffix(_, word)
            | Operation::Case(_, Some(word))
            | Operation::Replace(_, word, None)
            | Operation::Substring(word, None) => self.redo(word, raw),
            Operation::Replace(_, word, Some(other)) | Operation::Substring(word, Some(other)) => {
                self.redo(word, raw)?;
                self.redo(other, raw)
            }
        }
    }

    fn redo_script(&self, inner: &mut Substituted, raw: &str, quoting: Quoting) -> Option<()> {
        if inner.broken.is_some() {
            return Some(());
        }
        if self.depth >= self.limits.depth {
            return None;
        }
        let deeper = Rereader { depth: self.depth + 1, ..self.clone() };
        inner.script = (self.script)(&inner_text(text::slice(raw, inner.span), quoting)?, &deeper)?;
        Some(())
    }
}

/// The script within `$(…)`, `<(…)`, `${ …}` or backquotes.
fn inner_text(written: &str, quoting: Quoting) -> Option<String> {
    if let Some(rest) = written.strip_prefix('`') {
        return Some(unescape_backquoted(rest.strip_suffix('`')?, quoting));
    }
    let rest = written.strip_suffix([')', '}'])?;
    rest.split_once(['(', '{']).map(|(_, inner)| inner.to_owned())
}

fn unescape_backquoted(written: &str, quoting: Quoting) -> String {
    let mut out = String::with_capacity(written.len());
    let mut characters = written.chars().peekable();
    while let Some(c) = characters.next() {
        let unescapes = match characters.peek() {
            Some('$' | '`' | '\\') => true,
            Some('"') => quoting == Quoting::Double,
            _ => false,
        };
        if c == '\\' && unescapes {
            out.extend(characters.next());
        } else {
            out.push(c);
        }
    }
    out
}

/// The text of a word that is one bare literal.
pub(super) fn bare_text(word: &Word) -> Option<&str> {
    match word.pieces.as_slice() {
        [Piece::Bare(text)] => Some(text),
        _ => None,
    }
}

/// Removes the `time`, `-p`, `--` and `!` that a foreign parser left as words before the command that
/// bash runs (`time -- id`, `time time id`, `! time id`).
pub(super) fn peel_time(first: &mut Simple, timed: bool) {
    let mut timed = timed;
    while first.assignments.is_empty() {
        let head = first.words.first().and_then(bare_text).unwrap_or_default();
        let peels = head == "time" || timed && (head == "!" || head == "-p" || head == "--");
        if !peels {
            break;
        }
        timed |= head == "time";
        first.words.remove(0);
    }
}
