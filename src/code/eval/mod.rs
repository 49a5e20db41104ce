//! Abstract evaluation of a tree: follows what is known from literals through variables, functions
//! and decoders to the calls that act.
//!
//! In: source text of a language that the common parser reads. Out: acts, doubts, reach.
//! Never: runs anything; never takes longer than its budgets, which grow with the text.

#![allow(
    clippy::wildcard_enum_match_arm,
    clippy::similar_names,
    clippy::match_same_arms,
    clippy::too_many_lines,
    clippy::unused_self,
    clippy::unnecessary_wraps,
    clippy::self_only_used_in_recursion,
    clippy::needless_pass_by_value,
    reason = "a value or node that an operation does not know is unknown, whatever it is: the safe answer"
)]

mod acting;
mod binding;
mod builtin;
mod call;
mod decode;
mod file;
mod fold;
mod format;
mod machine;
mod method;
mod name;
mod node;
mod operator;
mod other;
mod perl;
mod php;
mod process;
mod special;
pub(crate) mod value;
mod walk;

use super::found::{Found, Grade, Origin};
use super::lex;
use super::meaning::Language;
use super::parse::parse;
use super::tree::Cut;
use call::{Args, Given};
use machine::Machine;
pub(crate) use machine::State;
use value::V;

/// What source text would do. `before` are texts whose variables it sees (options like perl's -M).
pub(crate) fn look(language: &'static Language, text: &str) -> Found {
    let (_, mut state) = run_nested(language, text, State::default());
    let shown = std::mem::take(&mut state.shown);
    if !shown.unsure && !shown.text.is_empty() {
        state.found.printed = Some((shown.text.into(), shown.built));
    }
    state.found
}

/// Evaluates a text with the variables of another.
pub(crate) fn run_nested(language: &'static Language, text: &str, state: State) -> (V, State) {
    let Some(lexer) = lex::lexer(language.lang) else { return (V::open(Origin::Unknown), state) };
    let (tree, root) = parse(language.lang, lexer, text);
    let mut machine = Machine::new(&tree, language, state);
    if tree.cut == Cut::Yes {
        let span = machine.span(root);
        machine.doubt(Grade::Limit, "code nested too deeply", span);
    }
    let value = machine.eval(root);
    machine.rest();
    (value, machine.state)
}

/// Whether a value is or holds a function of a tree.
pub(crate) fn holds_function(value: &V) -> bool {
    match value {
        V::Function(_) => true,
        V::List(s) | V::Dict(s) | V::Any(s) => s.items.iter().any(holds_function),
        V::Object(o) => o.args.iter().any(holds_function),
        V::Bound(b) => holds_function(&b.0),
        V::Nothing | V::Text(..) | V::Bytes(..) | V::Number(_) | V::Mixed(..) | V::Open(_) | V::Ref(_) => {
            false
        }
    }
}

impl Machine<'_, '_> {
    /// Functions that nothing in the text calls, with parameters that nobody knows.
    fn rest(&mut self) {
        let mut at = 0_usize;
        while let Some(function) = self.functions.get(at).copied() {
            at = at.saturating_add(1);
            if self.visited.get(function.0 as usize) == Some(&false) {
                self.invoke(function, &Args { given: Given::Anything, ..Args::default() });
            }
        }
    }
}
