//! What one judgement holds while it walks: policy, world, budget, and what was found so far.
//!
//! In: nothing of its own. Out: [`Core`], to which walks add effects and unknowns.
//! Never: forgets an effect: past the bound on their number the judgement is unknown, not shorter.

use std::rc::Rc;

use crate::act::{Kind, TagSet, UnknownKind};
use crate::canonical::state::State;
use crate::canonical::value::Data;
use crate::effects::model::{Effect, Effects, Extent, Indicator, Target, Unknown};
use crate::policy::{Policy, temper};
use crate::syntax::bounds::Limits;
use crate::syntax::tree::{Command, Script};
use crate::text::Span;
use crate::world::World;

/// Counts that bound a judgement; none is a clock.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Simple commands that may still be judged because of loops, functions, alternatives.
    pub repeats: u32,
    /// Nested texts (`sh -c`, `eval`, scripts) still allowed, in bytes.
    pub text: usize,
    /// Files that may still be read.
    pub files: u32,
    /// Largest file that is read and judged, in bytes.
    pub file_bytes: usize,
    /// Depth of nested texts.
    pub depth: u16,
}

impl Budget {
    /// The policy's limits.
    pub fn of(limits: &temper::Limits) -> Self {
        let size = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
        Self {
            repeats: limits.commands,
            // nested texts together may be as long as the text itself, at most a mebibyte
            text: size(limits.text_bytes).min(1 << 20),
            files: limits.files,
            file_bytes: size(limits.file_bytes),
            depth: u16::try_from(limits.calls).unwrap_or(u16::MAX),
        }
    }
}

/// `>(…)`, a coprocess: commands that read what is written to a path.
#[derive(Clone, Debug)]
pub struct Pending {
    pub path: String,
    pub body: Reader,
    pub state: State,
    /// What was written so far; `None`: nothing.
    pub fed: Option<Data>,
}

/// What such commands are.
#[derive(Clone, Debug)]
pub enum Reader {
    Script(Rc<Script>),
    Text(String, Span),
    Command(Rc<Command>),
}

/// One judgement's state.
pub struct Core<'p> {
    pub policy: &'p Policy,
    pub world: &'p dyn World,
    pub context: &'p crate::invocation::context::Context,
    pub places: crate::place::places::Places<'p>,
    pub limits: Limits,
    pub budget: Budget,
    pub found: Effects,
    /// The text that is walked: spans are places in it.
    pub unit: Rc<str>,
    /// Depth of commands that run commands (`sudo env nice …`).
    pub nested: u16,
    /// Depth of command substitutions, for the structure view.
    pub substitutions: u16,
    /// Readers whose input isn't known yet.
    pub pending: Vec<Pending>,
    /// Numbers for process substitutions' paths.
    pub next_path: u32,
    /// Spans of nested texts mean nothing in the outer text: then this is where the outer text stands.
    pub anchor: Option<Span>,
    /// The text in a wrapper that is judged by itself.
    pub apart: Option<Apart>,
}

/// A text that a wrapper evaluates, and what it would do.
#[derive(Clone, Debug)]
pub struct Apart {
    pub text: String,
    /// `None`: the walk has not come to it.
    pub found: Option<Effects>,
}

/// Who acts, and where in the current unit.
#[derive(Clone, Copy, Debug)]
pub struct By<'b> {
    pub program: &'b Rc<str>,
    pub span: Span,
}

impl<'b> By<'b> {
    /// `span`: in the current unit.
    pub fn new(program: &'b Rc<str>, span: Span) -> Self {
        Self { program, span }
    }
}

/// Bytes of the canonical form.
const CANONICAL_LIMIT: usize = 64 * 1024;

/// Most effects that are kept; a text that has more is unknown.
const EFFECT_LIMIT: usize = 100_000;

impl Core<'_> {
    /// Where a span of the current unit lies in the judged text.
    pub fn at(&self, span: Span) -> Span {
        self.anchor.unwrap_or(span)
    }

    /// Whether a nested text is the one that is judged by itself.
    pub fn is_apart(&self, text: &str) -> bool {
        self.apart.as_ref().is_some_and(|apart| apart.text == text)
    }

    /// Adds an effect.
    pub fn emit(&mut self, kind: Kind, target: Target, tags: TagSet, by: By<'_>) {
        if self.found.list.len() >= EFFECT_LIMIT {
            return self.doubt(UnknownKind::Limit, "number of effects", by.span);
        }
        let span = self.at(by.span);
        let effect = Effect { kind, target, tags, program: Rc::clone(by.program), span };
        // loops and alternatives repeat themselves
        if self.found.list.iter().rev().take(8).any(|e| *e == effect) {
            return;
        }
        self.found.list.push(effect);
    }

    /// Notes what could not be determined, bounded in number.
    pub fn doubt(&mut self, what: UnknownKind, detail: &str, span: Span) {
        let span = self.at(span);
        if self.found.unknowns.len() < 256
            && !self.found.unknowns.iter().rev().take(16).any(|u| u.what == what && u.span == span)
        {
            let detail = crate::text::prefix(detail, 120).into();
            self.found.unknowns.push(Unknown { what, detail, span });
        }
    }

    /// Notes an indicator of structure; the highest stays.
    pub fn indicate(&mut self, indicator: Indicator, span: Span) {
        if indicator > self.found.structure.highest {
            self.found.structure.highest = indicator;
            self.found.structure.span = self.at(span);
        }
    }

    /// Takes one from the repeat budget; `false` when it is used up (then the caller says so).
    pub fn spend(&mut self, span: Span) -> bool {
        let Some(left) = self.budget.repeats.checked_sub(1) else {
            self.doubt(UnknownKind::Limit, "repeated commands", span);
            return false;
        };
        self.budget.repeats = left;
        true
    }

    /// Notes which program is called, for the confinement.
    pub fn called(&mut self, program: &str, needs: &'static [&'static str]) {
        let calls = &mut self.found.calls;
        if calls.extent == Extent::Closed && self.policy.temper().confine.closed.contains(&program) {
            for need in needs {
                calls.need(need);
            }
        } else {
            calls.extent = Extent::Open;
            for need in needs {
                calls.want(need);
            }
        }
    }

    /// Whether the canonical form may still take so many bytes.
    pub fn has_room(&self, bytes: usize) -> bool {
        self.found.canonical.len() + bytes < CANONICAL_LIMIT
    }

    /// Adds a line to the canonical form, bounded.
    pub fn canonical(&mut self, line: &str) {
        if self.has_room(line.len()) {
            self.found.canonical.push_str(line);
            self.found.canonical.push('\n');
        }
    }
}
