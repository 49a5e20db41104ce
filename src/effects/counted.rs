//! Loops that only compute: walked round by round, so that a text that is pieced together character by character
//! is known at the end.
//!
//! In: a test, a step, a body. Out: the outcome, or `None` where the loop does more than compute, or its end isn't
//! known. Never: runs more rounds than the bound; leaves a body unwalked.

use crate::canonical::expand::Expander;
use crate::canonical::state::Control;
use crate::effects::walk::{Outcome, Walk};
use crate::syntax::tree::{Command, Compound, Piece, Script, Simple, Word};

/// Most rounds.
const ROUNDS: usize = 1024;

/// Builtins that change nothing but variables.
fn computes(simple: &Simple) -> bool {
    let Some(head) = simple.words.first() else { return true };
    let substitutes =
        |w: &Word| w.pieces.iter().any(|p| matches!(p, Piece::Command(..) | Piece::Process(..)));
    let quiet = head.literal().is_some_and(|w| matches!(&*w, ":" | "true" | "let" | "[" | "test" | "local"))
        || (head.literal().is_some_and(|w| w == "printf")
            && simple.words.get(1).and_then(Word::literal).is_some_and(|w| w == "-v"));
    quiet && simple.redirects.is_empty() && !simple.words.iter().any(substitutes)
}

fn only_computes(script: &Script) -> bool {
    script.items.iter().all(|item| {
        let pipelines = std::iter::once(&item.first).chain(item.rest.iter().map(|(_, p)| p));
        pipelines.into_iter().all(|p| match p.commands.as_slice() {
            [Command::Simple(simple)] => computes(simple),
            [Command::Compound(Compound::Arithmetic(_) | Compound::Conditional(_), redirects)] => {
                redirects.is_empty()
            }
            _ => false,
        })
    })
}

impl Walk<'_, '_> {
    /// `(( … ))`'s value, if it is known.
    pub fn arithmetic_word(&mut self, word: &Word) -> Option<i64> {
        if word.pieces.is_empty() {
            return None;
        }
        let span = word.span;
        Expander { state: &mut self.state, host: self.core }.arithmetic(word, span).text.parse().ok()
    }

    /// `for ((…; test; step)); do body; done`
    pub fn counted(&mut self, test: &Word, step: &Word, body: &Script) -> Option<Outcome> {
        if !only_computes(body) {
            return None;
        }
        let before = self.state.clone();
        for _ in 0..ROUNDS {
            match self.arithmetic_word(test) {
                Some(0) => return Some(Outcome::success()),
                Some(_) => {}
                None => break,
            }
            self.script(body);
            if self.state.control == Control::Broke {
                self.state.control = Control::Goes;
                return Some(Outcome::success());
            }
            if self.state.control != Control::Goes {
                return Some(Outcome::success());
            }
            self.arithmetic_word(step);
        }
        self.state = before;
        None
    }
}
