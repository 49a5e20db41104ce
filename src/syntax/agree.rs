//! Whether two readings of a text run the same commands.
//!
//! In: two trees. Out: [`Comparison`].
//! Never: compares what can't change which commands run with how many words (spans, quote forms).

use crate::syntax::tree::{
    AssignValue, Assignment, Command, Compound, Condition, Operation, Piece, Redirect, RedirectAction,
    Script, Simple, Word,
};
use crate::text::{self, Span};

/// How two readings compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    Same,
    /// the first command (escaped) that only one of them has
    Differ(String),
}

/// Compares the commands of two readings: their heads, words, assignments and redirects, at each depth of
/// nesting; the order within one text doesn't matter, since both follow it.
pub fn compare(one: &Script, other: &Script) -> Comparison {
    let (one, other) = (Outline::of(one), Outline::of(other));
    let differing = one.commands.iter().zip(&other.commands).find(|(a, b)| a != b);
    match differing {
        Some((a, b)) => Comparison::Differ(text::escape(a.min(b))),
        None if one.commands.len() == other.commands.len() => Comparison::Same,
        None => {
            let shorter = one.commands.len().min(other.commands.len());
            let extra = one.commands.get(shorter).or_else(|| other.commands.get(shorter));
            Comparison::Differ(text::escape(extra.map_or("", String::as_str)))
        }
    }
}

/// Subscripts of assignments (`a[5 + 3]=x`): bash reads each as a part of one word, whatever stands in it.
pub(super) fn subscripts(script: &Script) -> Vec<Span> {
    Outline::of(script).subscripts
}

/// Whether the tree holds constructs that a POSIX parser takes for something else without an error.
pub(super) fn is_misread_as_posix(script: &Script) -> bool {
    Outline::of(script).only_bash
}

/// The commands of a tree, each as a line of text, sorted.
#[derive(Default)]
struct Outline {
    commands: Vec<String>,
    only_bash: bool,
    subscripts: Vec<Span>,
}

impl Outline {
    fn of(script: &Script) -> Self {
        let mut outline = Self::default();
        outline.script(script, 0);
        outline.commands.sort_unstable();
        outline
    }

    fn script(&mut self, script: &Script, depth: usize) {
        for item in &script.items {
            for pipeline in std::iter::once(&item.first).chain(item.rest.iter().map(|(_, p)| p)) {
                for command in &pipeline.commands {
                    self.command(command, depth);
                }
            }
        }
    }

    fn command(&mut self, command: &Command, depth: usize) {
        match command {
            Command::Simple(simple) => self.simple(simple, depth),
            Command::Function(function) => {
                self.commands.push(format!("{depth} function {}", function.name));
                self.command(&function.body, depth + 1);
            }
            Command::Compound(compound, redirects) => {
                self.compound(compound, depth + 1);
                self.redirects(redirects, depth);
                if !redirects.is_empty() {
                    self.commands.push(format!("{depth} redirects {}", redirects.len()));
                }
            }
        }
    }

    fn simple(&mut self, simple: &Simple, depth: usize) {
        let head = simple.words.first().map(|word| word.literal().unwrap_or_else(|| "$".to_owned()));
        let words = simple.words.len() + simple.declared.len();
        let (assignments, redirects) = (simple.assignments.len(), simple.redirects.len());
        self.commands.push(format!("{depth} {} {words} {assignments} {redirects}", head.unwrap_or_default()));
        self.words(&simple.words, depth);
        for assignment in simple.assignments.iter().chain(&simple.declared) {
            self.assignment(assignment, depth);
        }
        self.redirects(&simple.redirects, depth);
    }

    fn assignment(&mut self, assignment: &Assignment, depth: usize) {
        self.commands.push(format!("{depth} {}=", assignment.name));
        if let Some(index) = &assignment.index {
            self.only_bash = true;
            self.subscripts.push(index.span);
            self.word(index, depth);
        }
        match &assignment.value {
            AssignValue::Scalar(word) => self.word(word, depth),
            AssignValue::Array(elements) => {
                for (index, word) in elements {
                    self.words(index.as_slice(), depth);
                    self.word(word, depth);
                }
            }
        }
    }

    fn compound(&mut self, compound: &Compound, depth: usize) {
        match compound {
            Compound::Brace(body) | Compound::Subshell(body) => self.script(body, depth),
            Compound::For { words, body, .. } | Compound::Select { words, body, .. } => {
                self.words(words.as_deref().unwrap_or(&[]), depth);
                self.script(body, depth);
            }
            Compound::ForArithmetic { init, test, step, body } => {
                self.only_bash = true;
                for word in [init, test, step] {
                    self.word(word, depth);
                }
                self.script(body, depth);
            }
            Compound::While { test, body } | Compound::Until { test, body } => {
                self.script(test, depth);
                self.script(body, depth);
            }
            Compound::If { arms, otherwise } => {
                for (test, body) in arms {
                    self.script(test, depth);
                    self.script(body, depth);
                }
                match otherwise.as_ref().map(|body| (body, lone_compound(body))) {
                    // `else if … fi` says what `elif …` says
                    Some((_, Some(inner @ Compound::If { .. }))) => self.compound(inner, depth),
                    Some((body, _)) => self.script(body, depth),
                    None => {}
                }
            }
            Compound::Case { subject, arms } => {
                self.word(subject, depth);
                for arm in arms {
                    self.words(&arm.patterns, depth);
                    self.script(&arm.body, depth);
                }
            }
            Compound::Conditional(condition) => {
                self.only_bash = true;
                self.condition(condition, depth);
            }
            Compound::Arithmetic(word) => {
                self.only_bash = true;
                self.word(word, depth);
            }
            Compound::Coprocess { body, .. } => {
                self.only_bash = true;
                self.command(body, depth);
            }
        }
    }

    fn condition(&mut self, condition: &Condition, depth: usize) {
        match condition {
            Condition::And(a, b) | Condition::Or(a, b) => {
                self.condition(a, depth);
                self.condition(b, depth);
            }
            Condition::Not(a) => self.condition(a, depth),
            Condition::Unary(_, word) => self.word(word, depth),
            Condition::Binary(_, a, b) => {
                self.word(a, depth);
                self.word(b, depth);
            }
        }
    }

    fn redirects(&mut self, redirects: &[Redirect], depth: usize) {
        for redirect in redirects {
            match &redirect.action {
                RedirectAction::WriteBoth(word) | RedirectAction::AppendBoth(word) => {
                    self.only_bash = true;
                    self.word(word, depth);
                }
                RedirectAction::Read(word)
                | RedirectAction::Write(word)
                | RedirectAction::Clobber(word)
                | RedirectAction::Append(word)
                | RedirectAction::ReadWrite(word)
                | RedirectAction::DuplicateIn(word)
                | RedirectAction::DuplicateOut(word)
                | RedirectAction::HereDocument(word)
                | RedirectAction::HereString(word) => self.word(word, depth),
            }
        }
    }

    fn words(&mut self, words: &[Word], depth: usize) {
        for word in words {
            self.word(word, depth);
        }
    }

    fn word(&mut self, word: &Word, depth: usize) {
        for piece in &word.pieces {
            match piece {
                Piece::Bare(_) | Piece::Quoted(..) | Piece::Tilde(_) => {}
                Piece::Parameter(parameter, _) => {
                    self.words(parameter.index.as_slice(), depth);
                    self.operation(&parameter.operation, depth);
                }
                Piece::Arithmetic(inner, _) => self.word(inner, depth),
                Piece::Command(inner, _) | Piece::Process(_, inner) => self.script(&inner.script, depth + 1),
            }
        }
    }

    fn operation(&mut self, operation: &Operation, depth: usize) {
        match operation {
            Operation::None | Operation::Length | Operation::Transform(_) | Operation::Names => {}
            Operation::Default(_, word)
            | Operation::AssignDefault(_, word)
            | Operation::Error(_, word)
            | Operation::Alternative(_, word)
            | Operation::RemovePrefix(_, word)
            | Operation::RemoveSuffix(_, word) => self.word(word, depth),
            Operation::Replace(_, word, other) | Operation::Substring(word, other) => {
                self.word(word, depth);
                self.words(other.as_slice(), depth);
            }
            Operation::Case(_, word) => self.words(word.as_slice(), depth),
        }
    }
}

/// The one compound command that a script consists of.
fn lone_compound(script: &Script) -> Option<&Compound> {
    let [item] = script.items.as_slice() else { return None };
    match item.first.commands.as_slice() {
        [Command::Compound(compound, redirects)] if item.rest.is_empty() && redirects.is_empty() => {
            Some(compound)
        }
        _ => None,
    }
}
