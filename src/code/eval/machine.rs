//! The evaluator's state: variables, budgets, what was found.
//!
//! In: acts and doubts as they turn up. Out: [`Found`].
//! Never: works on when its budgets are used up; that is a doubt then.

use std::collections::HashMap;
use std::rc::Rc;

use super::value::V;
use crate::code::found::{Act, Built, Doubt, Found, Grade, Reach, What};
use crate::code::meaning::Language;
use crate::code::tree::{Id, Tree};
use crate::text::Span;

/// Evaluations that loops and calls may repeat: so many, and some for each node of the text.
const REPEAT_LIMIT: u32 = 400;
const REPEAT_FACTOR: u32 = 3;
/// Bytes that folding may make.
const WORK_LIMIT: usize = 4 * 1024 * 1024;
/// Acts that are kept.
const ACT_LIMIT: usize = 512;

pub(crate) struct Machine<'t, 'a> {
    pub(crate) tree: &'t Tree<'a>,
    pub(crate) language: &'static Language,
    pub(crate) state: State,
    /// Functions that were evaluated, by their nodes.
    pub(crate) visited: Vec<bool>,
    /// Functions that are being evaluated.
    pub(crate) stack: Vec<Id>,
    /// Functions that were seen, in order.
    pub(crate) functions: Vec<Id>,
    pub(crate) returned: Option<V>,
    /// The call that is being evaluated.
    pub(crate) calling: Id,
    /// More than none: a function gives a value for each item of a list.
    pub(crate) folding: u32,
    /// Depth of conditions around.
    pub(crate) maybe: u32,
    pub(crate) depth: u16,
    /// More than none: inside something that is evaluated again.
    pub(crate) repeating: u32,
    repeat_limit: u32,
}

/// What outlives one text: code inside code goes on with it.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) vars: HashMap<Rc<str>, V>,
    pub(crate) found: Found,
    pub(crate) repeats: u32,
    pub(crate) work: usize,
    /// Depth of code in code.
    pub(crate) nested: u8,
    /// The span that acts get instead of their own: the call that evaluates the text.
    pub(crate) outer: Option<Span>,
    /// How the text that is evaluated came to be known.
    pub(crate) built: Built,
    pub(crate) forks: u32,
    /// What was printed so far.
    pub(crate) shown: Shown,
    /// Decoding, reversing, numbers to text: how often.
    pub(crate) hiding: u32,
}

/// The text that is printed.
#[derive(Default)]
pub(crate) struct Shown {
    pub(crate) text: String,
    pub(crate) built: Built,
    /// Some of it is not known, or may not be printed.
    pub(crate) unsure: bool,
}

impl<'t, 'a> Machine<'t, 'a> {
    pub(crate) fn new(tree: &'t Tree<'a>, language: &'static Language, state: State) -> Self {
        let nodes = u32::try_from(tree.len()).unwrap_or(u32::MAX);
        let repeat_limit =
            state.repeats.saturating_add(REPEAT_LIMIT).saturating_add(nodes.saturating_mul(REPEAT_FACTOR));
        Self {
            tree,
            language,
            state,
            visited: vec![false; tree.len()],
            stack: Vec::new(),
            functions: Vec::new(),
            returned: None,
            calling: crate::code::tree::NOTHING,
            folding: 0,
            maybe: 0,
            depth: 0,
            repeating: 0,
            repeat_limit,
        }
    }

    pub(crate) fn span(&self, id: Id) -> Span {
        self.state.outer.unwrap_or_else(|| self.tree.span(id))
    }

    /// Notes an act; alternatives become an act each.
    pub(crate) fn act(&mut self, what: What, args: Vec<V>, id: Id) {
        if let Some(at) = args.iter().position(|a| matches!(a, V::Any(_))) {
            let Some(V::Any(choices)) = args.get(at).cloned() else { return };
            for choice in &choices.items {
                let mut one = args.clone();
                if let Some(slot) = one.get_mut(at) {
                    *slot = choice.clone();
                }
                for other in one.iter_mut().skip(at.saturating_add(1)) {
                    if matches!(other, V::Any(_)) {
                        *other = V::Open(other.source());
                    }
                }
                self.act(what, one, id);
            }
            return;
        }
        let mut args = args;
        if let (What::Chmod, Some(mode @ V::Number(_))) = (what, args.get_mut(1)) {
            // modes are read in octal
            *mode = mode.as_number().map_or(V::Nothing, |n| V::text(&format!("{n:o}")));
        }
        // a shell on a descriptor of the connection that was opened before
        let connected =
            || self.state.found.acts.iter().any(|a| matches!(a.what, What::Connect | What::Listen));
        if what == What::Shell
            && args.first().and_then(V::as_text).is_some_and(|t| t.contains("<&"))
            && connected()
        {
            self.act(What::StreamsToNetwork, Vec::new(), id);
        }
        let built = args.iter().map(V::level).max().unwrap_or_default().max(self.state.built);
        let act = Act { what, args: args.iter().map(V::value).collect(), built, span: self.span(id) };
        self.push(act);
    }

    pub(crate) fn push(&mut self, act: Act) {
        let acts = &mut self.state.found.acts;
        if acts.len() >= ACT_LIMIT {
            self.doubt(Grade::Limit, "more acts than are followed", act.span);
        } else if !acts.iter().any(|a| a.what == act.what && a.args == act.args) {
            acts.push(act);
        }
    }

    /// Notes a doubt; the gravest stays.
    pub(crate) fn doubt(&mut self, grade: Grade, detail: &str, span: Span) {
        let old = &mut self.state.found.unknown;
        if old.as_ref().is_none_or(|d| d.grade < grade) {
            *old = Some(Doubt { grade, detail: Rc::from(detail), span });
        }
    }

    pub(crate) fn reach(&mut self, reach: Reach) {
        self.state.found.reach = self.state.found.reach.with(reach);
    }

    /// Whether folding may make this many bytes more.
    pub(crate) fn spend(&mut self, bytes: usize) -> bool {
        self.state.work = self.state.work.saturating_add(bytes);
        self.state.work <= WORK_LIMIT
    }

    /// Whether something may be evaluated again.
    pub(crate) fn may_repeat(&mut self) -> bool {
        self.state.repeats = self.state.repeats.saturating_add(1);
        self.state.repeats <= self.repeat_limit
    }

    /// A text that was made by a step that hides what it says.
    pub(crate) fn hidden(&mut self, text: &str) -> V {
        self.state.hiding = self.state.hiding.saturating_add(1);
        if self.spend(text.len()) {
            V::built(text, Built::Decoded)
        } else {
            V::open(crate::code::found::Origin::Computed)
        }
    }
}
