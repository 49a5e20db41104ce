//! Commands in commands: what a wrapper runs, with the variables that it sets for it.
//!
//! In: the operands of a described call. Out: the inner command's [`Outcome`]. Never: takes a function or an
//! alias of this shell for the program that a wrapper finds in PATH.

use crate::act::TagSet;
use crate::canonical::value::{Field, Value};
use crate::effects::call::Call;
use crate::effects::interpret::Doing;
use crate::effects::walk::{Outcome, Walk};
use crate::text::Span;

impl Walk<'_, '_> {
    /// The command that a wrapper runs: the operands from this one on.
    pub fn nested_command(&mut self, doing: &Doing<'_>, from: &Field, extra: TagSet) -> Outcome {
        let operands = &doing.parsed.operands;
        let start = operands.iter().position(|f| f == from).unwrap_or(0);
        let (environment, rest) = self.nested_variables(operands.get(start..).unwrap_or(&[]));
        let Some(first) = rest.first() else { return Outcome::silent() };
        self.under(doing.tags.union(extra), |walk| {
            if let (Some(text), "-c" | "--command") = (rest.get(1), first.text.as_str()) {
                // `flock FILE -c TEXT`: an option behind the operand
                return walk.in_child(|child| child.opaque_or_text(text, &doing.program));
            }
            let call = Call {
                argv: rest,
                stdin: doing.call.stdin,
                environment: &environment,
                span: doing.call.span,
            };
            walk.call_program(&call)
        })
    }

    /// `NAME=value` in front of the command, and where the command begins.
    fn nested_variables<'f>(&mut self, words: &'f [Field]) -> (Vec<(String, Value)>, &'f [Field]) {
        let mut environment = Vec::new();
        let mut rest = words;
        while let [field, tail @ ..] = rest {
            match field.text.split_once('=') {
                Some((name, value)) if is_name(name) => {
                    environment.push((name.to_owned(), Value { text: value.to_owned(), tags: field.tags }));
                }
                Some((name, value)) if name.starts_with("BASH_FUNC_") && value.starts_with("()") => {
                    self.imported_function(value, field.span);
                }
                Some(_) | None => break,
            }
            rest = tail;
        }
        (environment, rest)
    }

    /// A function that bash takes from its environment; it may be called.
    fn imported_function(&mut self, body: &str, span: Span) {
        self.fork().text(&format!("f {body}; f"), span);
    }

    /// Calls a program: functions and aliases of this shell are passed by.
    pub fn call_program(&mut self, call: &Call<'_>) -> Outcome {
        let functions = std::mem::take(&mut self.state.functions);
        let aliases = std::mem::take(&mut self.state.aliases);
        let outcome = self.call(call);
        self.state.functions = functions;
        self.state.aliases = aliases;
        outcome
    }
}

/// A variable's name (POSIX XBD 3.235).
pub fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
