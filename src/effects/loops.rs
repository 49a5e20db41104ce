//! Loops: over known lists item by item, others until another round would change nothing that is known.
//!
//! In: a loop's list or test, and its body. Out: its [`Outcome`], and a state that stands for any number of rounds.
//! Never: takes a counter's value after some rounds for that after all of them.

use std::rc::Rc;

use crate::act::{UnknownKind, tag};
use crate::canonical::state::{Control, State};
use crate::canonical::value::{Data, Field, Origin, Value, has_hole};
use crate::effects::fields::tags_of;
use crate::effects::walk::{Outcome, Status, Walk};
use crate::syntax::tree::{Script, Word};
use crate::text::Span;

/// Most items of a list that a loop is walked for one by one.
const ITEMS: usize = 64;

/// Most rounds of a loop whose number of rounds isn't known: each but the first two makes a value unknown that
/// another depends on.
const ROUNDS: usize = 6;

/// What comes between the rounds of a loop.
#[derive(Clone, Copy)]
pub(super) enum Between<'s> {
    Nothing,
    Test(&'s Script),
    /// the step and the test of an arithmetic `for`
    Arithmetic(&'s Word, &'s Word),
}

/// Whether another round follows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Round,
    Nothing,
}

impl Walk<'_, '_> {
    pub(super) fn for_loop(
        &mut self,
        name: &str,
        words: Option<&[Word]>,
        body: &Script,
        span: Span,
    ) -> Outcome {
        let mut items: Vec<Field> = Vec::new();
        match words {
            None => items.extend(self.state.positional.iter().cloned().map(Field::from)),
            Some(words) => {
                for word in words {
                    for field in self.fields_of_all(word) {
                        items.extend(self.globbed(field));
                    }
                }
            }
        }
        let mut all = Outcome { data: Data::empty(), status: Status::Success };
        if items.is_empty() {
            return all;
        }
        let many = items.get(ITEMS..).unwrap_or(&[]);
        if !many.iter().all(is_number) {
            self.core.doubt(UnknownKind::Limit, "items of a loop", span);
        }
        self.in_loop(|walk, exit| {
            for item in items.iter().take(ITEMS) {
                walk.state.set(name, item_value(item));
                if walk.round(body, span, (&mut all, exit)) == Next::Nothing {
                    return;
                }
            }
            if !many.is_empty() {
                // numbers, or anything
                walk.state.set(name, Value::unknown(tags_of(&items)));
                walk.rounds(body, Between::Nothing, (&mut all, exit));
            }
        });
        all.status = Status::Either;
        all
    }

    /// Walks a loop: what it leaves early by `break` is taken in at its end.
    fn in_loop(&mut self, walk: impl FnOnce(&mut Self, &mut Option<State>)) {
        let outer = std::mem::take(&mut self.state.left);
        self.state.loops = self.state.loops.saturating_add(1);
        let mut exit = None;
        walk(self, &mut exit);
        if let Some(exit) = exit {
            self.state.join(exit);
        }
        self.state.loops = self.state.loops.saturating_sub(1);
        if let Some(deep) = self.state.take_left(Control::Deep)
            && self.state.loops > 0
        {
            for control in [Control::Broke, Control::Skipped, Control::Deep] {
                let mut state = deep.clone();
                state.control = control;
                self.state.leave(state);
            }
        }
        for state in outer.iter() {
            self.state.leave(State::clone(state));
        }
    }

    /// One round, and where control goes from it.
    fn round(&mut self, body: &Script, span: Span, (all, exit): (&mut Outcome, &mut Option<State>)) -> Next {
        let outcome = self.iteration(body, span);
        all.data.append(&outcome.data);
        match self.state.control {
            Control::Skipped => self.state.control = Control::Goes,
            Control::Broke => {
                self.state.may_leave(Control::Broke);
                // nothing goes on from here
                self.state.control = Control::Ended;
            }
            Control::Goes | Control::Ended | Control::Returned | Control::Deep => {}
        }
        if let Some(broke) = self.state.take_left(Control::Broke) {
            match exit {
                Some(exit) => exit.join(broke),
                None => *exit = Some(broke),
            }
        }
        if let Some(skipped) = self.state.take_left(Control::Skipped) {
            self.state.join(skipped);
        }
        if self.state.control == Control::Goes { Next::Round } else { Next::Nothing }
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

    pub(super) fn while_loop(&mut self, test: &Script, body: &Script, runs_on: Status) -> Outcome {
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
        let mut outcome = self.repeated(Between::Test(test), body, endless);
        if !endless {
            self.state.join(before);
        }
        let mut data = first.data;
        data.append(&outcome.data);
        outcome.data = data;
        outcome
    }

    /// A loop whose number of rounds isn't known.
    pub(super) fn repeated(&mut self, between: Between<'_>, body: &Script, endless: bool) -> Outcome {
        let ambient = self.state.ambient;
        if endless {
            self.state.ambient = ambient.with(tag::ENDLESS_LOOP);
        }
        let mut all = Outcome::silent();
        self.in_loop(|walk, exit| walk.rounds(body, between, (&mut all, exit)));
        self.state.ambient = ambient;
        all
    }

    /// Rounds until nothing changes; from the second on, what changes becomes unknown.
    fn rounds(
        &mut self,
        body: &Script,
        between: Between<'_>,
        (all, exit): (&mut Outcome, &mut Option<State>),
    ) {
        let start = self.state.clone();
        for round in 0..ROUNDS {
            let before = self.state.clone();
            let next = self.round(body, Span::default(), (all, exit));
            if next == Next::Round {
                match between {
                    Between::Nothing => {}
                    Between::Test(test) => drop(self.script(test)),
                    Between::Arithmetic(step, test) => {
                        self.arithmetic_word(step);
                        self.arithmetic_word(test);
                    }
                }
            }
            if self.state.control == Control::Goes {
                self.state.join(before.clone());
            }
            let changed = round > 0 && self.state.widen(&before);
            if next == Next::Nothing || round > 0 && !changed {
                break;
            }
        }
        let how = self.state.control;
        if how != Control::Goes && exit.is_none() {
            // perhaps there was no round that came so far
            let ended = std::mem::replace(&mut self.state, start);
            self.state.left = Rc::clone(&ended.left);
            if how == Control::Returned {
                self.state.leave(ended);
            }
        }
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
        self.in_loop(|walk, exit| {
            for line in lines {
                walk.stdin = Data { text: Some(format!("{line}\n")), ..input.clone() };
                walk.simple(simple);
                walk.stdin = Data { text: None, ..input.clone() };
                if walk.round(body, simple.span, (&mut all, exit)) == Next::Nothing {
                    return;
                }
            }
            if has_hole(&known) {
                // it may be many lines
                walk.rounds(body, Between::Test(test), (&mut all, exit));
            }
        });
        self.stdin = input;
        Some(all)
    }
}

/// The loop variable's value; of a glob that wasn't resolved it stays the glob.
fn item_value(item: &Field) -> Value {
    let tags = if item.pattern.is_some() { item.tags.with(tag::GLOB) } else { item.tags };
    Value { text: item.pattern.clone().unwrap_or_else(|| item.text.clone()), tags }
}

/// A number, of which one is as good as the other.
fn is_number(item: &Field) -> bool {
    !item.text.is_empty() && item.text.bytes().all(|b| b.is_ascii_digit())
}
