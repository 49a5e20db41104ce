//! Compound commands: branches are walked and joined.
//!
//! In: a [`Compound`]. Out: its [`Outcome`]. Never: leaves out a branch that may run.

use crate::act::tag;
use crate::canonical::expand::Expander;
use crate::canonical::state::{Control, Endpoint, State};
use crate::canonical::value::{Data, Field, Value};
use crate::effects::core::{Pending, Reader};
use crate::effects::leaving::are_sure;
use crate::effects::loops::Between;
use crate::effects::walk::{Outcome, Status, Walk};
use crate::place::glob::matches;
use crate::syntax::tree::{AfterArm, CaseArm, Command, Compound, Redirect, Script, Word};
use crate::text::Span;

impl Walk<'_, '_> {
    /// A compound command with its redirections.
    pub fn compound(&mut self, compound: &Compound, redirects: &[Redirect]) -> Outcome {
        if redirects.is_empty() {
            return self.compound_body(compound);
        }
        let span = redirects.first().map(|r| r.span).unwrap_or_default();
        let streams = self.redirects(redirects, span);
        let saved_input = self.stdin.clone();
        let saved_descriptors = self.state.descriptors.clone();
        self.use_streams(&streams);
        // where a redirection fails, nothing of it runs
        let before = (!are_sure(&self.state, redirects)).then(|| self.state.clone());
        let outcome = self.compound_body(compound);
        if let Some(before) = before {
            self.state.join(before);
        }
        self.stdin = saved_input;
        self.state.descriptors = saved_descriptors;
        self.finish_streams(&streams, outcome)
    }

    fn compound_body(&mut self, compound: &Compound) -> Outcome {
        match compound {
            Compound::Brace(script) => self.script(script),
            Compound::Subshell(script) => self.subshell(script),
            Compound::For { name, words, body, span } => self.for_loop(name, words.as_deref(), body, *span),
            Compound::Select { name, words, body } => {
                self.for_loop(name, words.as_deref(), body, Span::default())
            }
            Compound::ForArithmetic { init, test, step, body } => {
                self.arithmetic_word(init);
                if let Some(outcome) = self.counted(test, step, body) {
                    return outcome;
                }
                let endless = test.pieces.is_empty();
                self.arithmetic_word(test);
                let before = self.state.clone();
                let outcome = self.repeated(Between::Arithmetic(step, test), body, endless);
                if !endless {
                    self.state.join(before);
                }
                outcome
            }
            Compound::While { test, body } => self.while_loop(test, body, Status::Success),
            Compound::Until { test, body } => self.while_loop(test, body, Status::Failure),
            Compound::If { arms, otherwise } => self.branches(arms, otherwise.as_ref()),
            Compound::Case { subject, arms } => self.case(subject, arms),
            Compound::Conditional(condition) => self.conditional(condition),
            Compound::Arithmetic(word) => {
                let span = word.span;
                let mut x = Expander { state: &mut self.state, host: self.core };
                let value = x.arithmetic(word, span);
                let status = match value.text.parse::<i64>() {
                    Ok(0) => Status::Failure,
                    Ok(_) => Status::Success,
                    Err(_) => Status::Either,
                };
                Outcome { data: Data::empty(), status }
            }
            Compound::Coprocess { name, body } => self.coprocess(name.as_deref(), body),
        }
    }

    /// `coproc`: what is written to its descriptor is its input.
    fn coprocess(&mut self, name: Option<&str>, body: &Command) -> Outcome {
        let path = "/dev/fd/60".to_owned();
        let mut state = self.state.clone();
        state.enter_subshell();
        state.ambient = state.ambient.with(tag::IN_BACKGROUND);
        let body = Reader::Command(std::rc::Rc::new(body.clone()));
        self.core.pending.push(Pending { path: path.clone(), body, state, fed: None });
        std::rc::Rc::make_mut(&mut self.state.descriptors).insert(60, Endpoint::File(path));
        let ends = [("0", "63"), ("1", "60")].map(|(k, v)| (k.to_owned(), Value::known(v)));
        self.state.set_array(name.unwrap_or("COPROC"), ends.to_vec());
        Outcome::success()
    }

    fn subshell(&mut self, script: &Script) -> Outcome {
        self.in_child(|child| child.script(script))
    }

    /// A word that stays one, as in an assignment.
    pub fn single(&mut self, word: &Word) -> Value {
        Expander { state: &mut self.state, host: self.core }.single(word)
    }

    /// The fields that a word splits into; globs are not expanded yet.
    pub fn fields(&mut self, word: &Word) -> Vec<Field> {
        Expander { state: &mut self.state, host: self.core }.fields(word)
    }

    fn branches(&mut self, arms: &[(Script, Script)], otherwise: Option<&Script>) -> Outcome {
        let mut all = Outcome::silent();
        let mut ends: Vec<State> = Vec::new();
        let mut open = true;
        for (test, body) in arms {
            let tested = self.script(test);
            all.data.append(&tested.data);
            if self.state.control != Control::Goes {
                return all;
            }
            if tested.status == Status::Failure {
                continue;
            }
            let before = self.state.clone();
            let outcome = self.script(body);
            all.data.append(&outcome.data);
            ends.push(std::mem::replace(&mut self.state, before));
            if tested.status == Status::Success {
                open = false;
                break;
            }
        }
        if open {
            if let Some(body) = otherwise {
                let outcome = self.script(body);
                all.data.append(&outcome.data);
            }
        } else if let Some(last) = ends.pop() {
            self.state = last;
        }
        for end in ends {
            self.state.join(end);
        }
        all
    }

    fn case(&mut self, subject: &Word, arms: &[CaseArm]) -> Outcome {
        let subject = self.single(subject);
        let mut all = Outcome::silent();
        let mut ends: Vec<State> = Vec::new();
        let mut falls = false;
        let mut decided = false;
        for arm in arms {
            let matched = if falls { Status::Success } else { self.arm_matches(&subject, arm) };
            if matched == Status::Failure {
                continue;
            }
            let before = self.state.clone();
            let outcome = self.script(&arm.body);
            all.data.append(&outcome.data);
            if arm.after == AfterArm::FallThrough {
                falls = true;
                continue;
            }
            if arm.after == AfterArm::TestNext {
                // the next patterns are tested, with what this arm has set
                if matched != Status::Success {
                    self.state.join(before);
                }
                falls = false;
                continue;
            }
            falls = false;
            let certain = matched == Status::Success && arm.after == AfterArm::Stop;
            if certain && ends.is_empty() {
                return all;
            }
            ends.push(std::mem::replace(&mut self.state, before));
            if certain {
                decided = true;
                break;
            }
        }
        if decided && let Some(last) = ends.pop() {
            self.state = last;
        }
        for end in ends {
            self.state.join(end);
        }
        all
    }

    fn arm_matches(&mut self, subject: &Value, arm: &CaseArm) -> Status {
        let mut result = Status::Failure;
        for pattern in &arm.patterns {
            let pattern = Expander { state: &mut self.state, host: self.core }.pattern(pattern);
            if pattern.text == "*" {
                return if subject.has_hole() { Status::Either } else { Status::Success };
            }
            if subject.has_hole() || pattern.has_hole() {
                result = Status::Either;
            } else if matches(&pattern.text, &subject.text) {
                return Status::Success;
            }
        }
        result
    }
}
