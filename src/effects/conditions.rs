//! `test`, `[` and `[[ … ]]`: certain answers for known words, and the evaluators that hide in them.
//!
//! In: words. Out: a [`Status`]. Never: calls something certain that depends on the machine's changing state.

use crate::canonical::expand::Expander;
use crate::canonical::value::{Data, Field, Value};
use crate::effects::call::Call;
use crate::effects::walk::{Outcome, Status, Walk};
use crate::place::glob::matches;
use crate::syntax::tree::{Condition, Piece, Word};

fn status(truth: Option<bool>) -> Status {
    match truth {
        Some(true) => Status::Success,
        Some(false) => Status::Failure,
        None => Status::Either,
    }
}

fn known(value: &Value) -> Option<&str> {
    (!value.has_hole()).then_some(value.text.as_str())
}

/// Operators that need no machine: strings.
fn unary(operator: &str, value: &Value) -> Option<bool> {
    match operator {
        "-n" | "-z" if value.has_hole() && value.text.chars().count() == 1 => None,
        "-n" => Some(!value.text.is_empty()),
        "-z" => Some(value.text.is_empty()),
        _ => None,
    }
}

fn binary(operator: &str, left: &Value, right: &Value) -> Option<bool> {
    let (a, b) = (known(left)?, known(right)?);
    let numbers = || Some((a.trim().parse::<i64>().ok()?, b.trim().parse::<i64>().ok()?));
    match operator {
        "=" | "==" => Some(a == b),
        "!=" => Some(a != b),
        "-eq" => numbers().map(|(a, b)| a == b),
        "-ne" => numbers().map(|(a, b)| a != b),
        "-lt" => numbers().map(|(a, b)| a < b),
        "-le" => numbers().map(|(a, b)| a <= b),
        "-gt" => numbers().map(|(a, b)| a > b),
        "-ge" => numbers().map(|(a, b)| a >= b),
        _ => None,
    }
}

/// What `test` says of its words.
fn test_words(words: &[Field]) -> Option<bool> {
    match words {
        [] => Some(false),
        [one] => unary("-n", &one.value()),
        [not, rest @ ..] if not.text == "!" => test_words(rest).map(|t| !t),
        [operator, operand] => unary(&operator.text, &operand.value()),
        [left, operator, right] => binary(&operator.text, &left.value(), &right.value()),
        _ => None,
    }
}

impl Walk<'_, '_> {
    /// `test WORDS`, `[ WORDS ]`
    pub fn test_builtin(&mut self, call: &Call<'_>) -> Outcome {
        let mut words = call.arguments();
        if call.argv.first().is_some_and(|f| f.text == "[") {
            words = match words {
                [inner @ .., last] if last.text == "]" => inner,
                other => other,
            };
        }
        // `test -v 'a[$(…)]'` evaluates the subscript; `-R` too
        for pair in words.windows(2) {
            if let [operator, operand] = pair
                && matches!(operator.text.as_str(), "-v" | "-R")
            {
                let key = operand.value();
                Expander { state: &mut self.state, host: self.core }
                    .host_checks_subscript(&key, operand.span);
            }
        }
        let truth = test_words(words);
        Outcome { data: Data::empty(), status: status(truth) }
    }

    /// `[[ … ]]`
    pub fn conditional(&mut self, condition: &Condition) -> Outcome {
        let truth = self.truth(condition, 0);
        Outcome { data: Data::empty(), status: status(truth) }
    }

    fn truth(&mut self, condition: &Condition, depth: usize) -> Option<bool> {
        if depth > 64 {
            return None;
        }
        match condition {
            Condition::Not(inner) => self.truth(inner, depth + 1).map(|t| !t),
            Condition::And(a, b) => match (self.truth(a, depth + 1), self.truth(b, depth + 1)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Condition::Or(a, b) => match (self.truth(a, depth + 1), self.truth(b, depth + 1)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            Condition::Unary(operator, word) => {
                let value = self.single(word);
                if matches!(operator.as_str(), "-v" | "-R") {
                    let span = word.span;
                    Expander { state: &mut self.state, host: self.core }.host_checks_subscript(&value, span);
                }
                unary(operator, &value)
            }
            Condition::Binary(operator, left, right) => self.compare(operator, left, right),
        }
    }

    fn compare(&mut self, operator: &str, left: &Word, right: &Word) -> Option<bool> {
        let a = self.single(left);
        if matches!(operator, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge") {
            let b = self.single(right);
            let (left_span, right_span) = (left.span, right.span);
            let mut x = Expander { state: &mut self.state, host: self.core };
            let a = crate::canonical::arithmetic::evaluate(&mut x, &a.text, left_span);
            let b = crate::canonical::arithmetic::evaluate(&mut x, &b.text, right_span);
            let (a, b) = (Value::known(a?.to_string()), Value::known(b?.to_string()));
            return binary(operator, &a, &b);
        }
        if matches!(operator, "==" | "=" | "!=") {
            let pattern = Expander { state: &mut self.state, host: self.core }.pattern(right);
            let live =
                right.pieces.iter().any(|p| matches!(p, Piece::Bare(t) if t.contains(['*', '?', '['])));
            let hit = match (known(&a), known(&pattern)) {
                (Some(text), Some(pattern)) if live => matches(pattern, text),
                (Some(text), Some(_)) => text == self.single(right).text,
                _ => return None,
            };
            return Some(hit == (operator != "!="));
        }
        let pattern = self.expression_of(right);
        if operator == "=~"
            && let (Some(text), Some(pattern)) = (known(&a), known(&pattern))
        {
            let groups = crate::canonical::ere::groups(pattern, text).unwrap_or_default();
            let tags = a.tags;
            let element = |(n, text): (usize, String)| (n.to_string(), Value { text, tags });
            self.state.set_array("BASH_REMATCH", groups.into_iter().enumerate().map(element).collect());
        }
        // whether it matched is left open: a shopt changes what does
        None
    }

    /// The regular expression that a word means: quoted parts are literal.
    fn expression_of(&mut self, word: &Word) -> Value {
        let plain = word.pieces.iter().all(|p| matches!(p, Piece::Bare(_) | Piece::Quoted(..)));
        if !plain {
            return self.single(word);
        }
        let mut text = String::new();
        for piece in &word.pieces {
            match piece {
                Piece::Quoted(quoted, _) => {
                    for c in quoted.chars() {
                        if !c.is_ascii_alphanumeric() {
                            text.push('\\');
                        }
                        text.push(c);
                    }
                }
                Piece::Bare(bare) => text.push_str(bare),
                Piece::Tilde(_)
                | Piece::Parameter(..)
                | Piece::Command(..)
                | Piece::Arithmetic(..)
                | Piece::Process(..) => {}
            }
        }
        Value::known(text)
    }
}
