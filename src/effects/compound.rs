//! Compound commands: branches are walked and joined, loops over known lists are walked item by item.
//!
//! In: a [`Compound`]. Out: its [`Outcome`]. Never: leaves out a branch that may run.

use crate::act::{UnknownKind, tag};
use crate::canonical::expand::Expander;
use crate::canonical::state::{Control, Endpoint, State};
use crate::canonical::value::{Data, Field, Origin, Value};
use crate::effects::core::{Pending, Reader};
use crate::effects::fields::tags_of;
use crate::effects::walk::{Outcome, Status, Walk};
use crate::place::glob::matches;
use crate::syntax::tree::{AfterArm, CaseArm, Command, Compound, Redirect, Script, Word};
use crate::text::Span;

/// Most items of a list that a loop is walked for one by one.
const ITEMS: usize = 64;

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
        let outcome = self.compound_body(compound);
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
                self.single(test);
                let outcome = self.repeated(None, body, endless);
                self.single(step);
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
        state.ambient = state.ambient.with(tag::IN_BACKGROUND);
        let body = Reader::Command(std::rc::Rc::new(body.clone()));
        self.core.pending.push(Pending { path: path.clone(), body, state });
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

    fn for_loop(&mut self, name: &str, words: Option<&[Word]>, body: &Script, span: Span) -> Outcome {
        let mut items: Vec<Field> = Vec::new();
        match words {
            None => items.extend(self.state.positional.iter().cloned().map(Field::from)),
            Some(words) => {
                for word in words {
                    let fields = self.fields(word);
                    for field in fields {
                        items.extend(self.globbed(field));
                    }
                }
            }
        }
        let mut all = Outcome { data: Data::empty(), status: Status::Success };
        let many = items.len() > ITEMS;
        if many {
            self.core.doubt(UnknownKind::Limit, "items of a loop", span);
        }
        if items.is_empty() {
            return all;
        }
        for item in items.iter().take(ITEMS) {
            self.state.set(name, item_value(item));
            let outcome = self.iteration(body, span);
            all.data.append(&outcome.data);
            if self.state.control == Control::Broke {
                self.state.control = Control::Goes;
            }
            if self.state.control != Control::Goes {
                break;
            }
        }
        if many {
            let tags = tags_of(&items);
            self.state.set(name, Value::unknown(tags));
            self.iteration(body, span);
        }
        all.status = Status::Either;
        all
    }

    fn iteration(&mut self, body: &Script, span: Span) -> Outcome {
        if !self.core.spend(span) {
            return Outcome::silent();
        }
        let ambient = self.state.ambient;
        self.state.ambient = ambient.with(tag::IN_LOOP);
        let outcome = self.script(body);
        self.state.ambient = ambient;
        outcome
    }

    fn while_loop(&mut self, test: &Script, body: &Script, runs_on: Status) -> Outcome {
        if let Some(outcome) = self.read_loop(test, body) {
            return outcome;
        }
        let before = self.state.clone();
        let first = self.script(test);
        if self.state.control != Control::Goes {
            return first;
        }
        let never = matches!(
            (first.status, runs_on),
            (Status::Success, Status::Failure) | (Status::Failure, Status::Success)
        );
        if never {
            return Outcome { data: first.data, status: Status::Success };
        }
        let endless = first.status == runs_on;
        let mut outcome = self.repeated(Some(test), body, endless);
        if !endless {
            self.state.join(before);
        }
        let mut data = first.data;
        data.append(&outcome.data);
        outcome.data = data;
        outcome
    }

    /// A loop whose number of rounds isn't known: two rounds, so that what the first assigns is seen by the second.
    fn repeated(&mut self, test: Option<&Script>, body: &Script, endless: bool) -> Outcome {
        let ambient = self.state.ambient;
        if endless {
            self.state.ambient = ambient.with(tag::ENDLESS_LOOP);
        }
        let mut all = Outcome::silent();
        for round in 0..2 {
            let before = self.state.clone();
            let outcome = self.iteration(body, Span::default());
            all.data.append(&outcome.data);
            if matches!(self.state.control, Control::Ended | Control::Returned) && round == 0 && !endless {
                self.state = before;
                break;
            }
            if self.state.control != Control::Goes {
                if self.state.control == Control::Broke {
                    self.state.control = Control::Goes;
                }
                break;
            }
            self.state.join(before);
            if let Some(test) = test {
                self.script(test);
            }
        }
        self.state.ambient = ambient;
        all
    }

    /// `while read x; do … done` over known lines: the body is walked for each.
    fn read_loop(&mut self, test: &Script, body: &Script) -> Option<Outcome> {
        let item = test.items.last()?;
        let command = item.first.commands.first()?;
        let crate::syntax::tree::Command::Simple(simple) = command else { return None };
        let reads = simple.words.first()?.literal().is_some_and(|w| w == "read");
        if !reads || test.items.len() != 1 || !item.rest.is_empty() {
            return None;
        }
        let input = self.stdin.clone();
        let known = input.text.clone().filter(|_| input.origin == Origin::Inside)?;
        let lines: Vec<&str> = known.lines().collect();
        if lines.len() > ITEMS || !simple.redirects.is_empty() {
            return None;
        }
        let mut all = Outcome::silent();
        for line in lines {
            self.stdin = Data { text: Some(format!("{line}\n")), ..input.clone() };
            self.simple(simple);
            self.stdin = Data { text: None, ..input.clone() };
            let outcome = self.iteration(body, simple.span);
            all.data.append(&outcome.data);
            if self.state.control == Control::Broke {
                self.state.control = Control::Goes;
            }
            if self.state.control != Control::Goes {
                break;
            }
        }
        self.stdin = input;
        Some(all)
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

/// The loop variable's value; of a glob that wasn't resolved it stays the glob.
fn item_value(item: &Field) -> Value {
    let tags = if item.pattern.is_some() { item.tags.with(tag::GLOB) } else { item.tags };
    Value { text: item.pattern.clone().unwrap_or_else(|| item.text.clone()), tags }
}
