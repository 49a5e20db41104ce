//! Effects: what a command would do, each with its resolved target, its provenance and its place.
//!
//! In: nothing. Out: the types that evidence, rules and confinement read.
//! Never: judges.

use std::rc::Rc;

use crate::act::{ClassSet, Kind, Tag, TagSet, UnknownKind, tag};
use crate::text::Span;

/// One thing that a command would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    pub kind: Kind,
    pub target: Target,
    pub tags: TagSet,
    /// Name of the program that acts, without its folder; `>` for redirections, `shell` for the shell itself.
    pub program: Rc<str>,
    /// Where in the judged text.
    pub span: Span,
}

/// What an effect acts on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// As written, after expansion; `…` stands for what is unknown. Untrusted: escape before showing.
    pub written: Rc<str>,
    /// Absolute path after resolution, or host, service, user, process …; empty where there is none.
    pub resolved: Rc<str>,
    pub classes: ClassSet,
}

/// A thing that could not be determined, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    pub what: UnknownKind,
    pub detail: Rc<str>,
    pub span: Span,
}

/// What the walk over a script found.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    pub list: Vec<Effect>,
    pub unknowns: Vec<Unknown>,
    /// CARE's L1, the highest severity that was seen and where.
    pub structure: Structure,
    /// The canonical form: the commands as they would run, one per line.
    pub canonical: String,
    pub calls: Calls,
}

/// How much had been found at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    effects: usize,
    unknowns: usize,
    structure: Structure,
}

impl Effects {
    /// Before a script file is walked.
    pub fn mark(&self) -> Mark {
        Mark { effects: self.list.len(), unknowns: self.unknowns.len(), structure: self.structure }
    }

    /// Of a script file, only what it does for certain: what can't be known of it counts as in every program that
    /// lies there, compiled ones among them. Behind a limit there may be what is known to be dangerous.
    pub fn keep_certain(&mut self, since: Mark) {
        let script = self.list.split_off(since.effects.min(self.list.len()));
        self.list.extend(script.into_iter().filter(Effect::is_certain));
        let unknowns = self.unknowns.split_off(since.unknowns.min(self.unknowns.len()));
        self.unknowns.extend(
            unknowns
                .into_iter()
                .filter(|unknown| matches!(unknown.what, UnknownKind::Disagreement | UnknownKind::Limit)),
        );
        self.structure = since.structure;
    }

    /// The same of a text that is a script file as a whole.
    #[must_use]
    pub fn certain(mut self, whole: Span) -> Self {
        let unread = |unknown: &Unknown| unknown.what == UnknownKind::Syntax && unknown.span == whole;
        // a text within, pieced together from what is not known, may be none that a shell would read
        let unread: Vec<Unknown> = self.unknowns.iter().filter(|unknown| unread(unknown)).cloned().collect();
        self.keep_certain(Mark { effects: 0, unknowns: 0, structure: Structure::default() });
        self.unknowns.extend(unread);
        self
    }
}

impl Effect {
    /// Whether it is known what is done. Code that isn't known stays where its origin is an attack's: the network, a
    /// decoder, a secret, what somebody pipes in, a program that was fetched.
    fn is_certain(&self) -> bool {
        const ORIGINS: [Tag; 5] =
            [tag::FROM_NETWORK, tag::FROM_DECODED, tag::FROM_SECRET, tag::FROM_STDIN, tag::PROGRAM_FETCHED];
        let open = self.kind == Kind::Unknown || self.kind == Kind::Code && self.tags.has(tag::OPAQUE);
        !open || ORIGINS.iter().any(|origin| self.tags.has(*origin))
    }
}

/// What is known about the programs that would be called, besides their effects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    pub extent: Extent,
    /// What closed programs need besides their targets: a path as the policy writes it, or [`TEMPORARY`].
    pub needs: Vec<&'static str>,
    /// The same of others: of these, caches alone are made where they are missing.
    pub wants: Vec<&'static str>,
}

/// Whether the called programs do what their effects say and nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// Each is one of the policy's `confine.closed`.
    Closed,
    /// Some may do more, or nobody looked.
    #[default]
    Open,
}

/// The need for a place for temporary files, wherever that is.
pub const TEMPORARY: &str = "$TMPDIR";

impl Calls {
    /// Nothing was called yet.
    pub const NONE: Self = Self { extent: Extent::Closed, needs: Vec::new(), wants: Vec::new() };

    pub fn need(&mut self, need: &'static str) {
        if !self.needs.contains(&need) {
            self.needs.push(need);
        }
    }

    pub fn want(&mut self, want: &'static str) {
        if !self.wants.contains(&want) {
            self.wants.push(want);
        }
    }

    /// Both.
    pub fn join(&mut self, other: Self) {
        if other.extent == Extent::Open {
            self.extent = Extent::Open;
        }
        other.needs.into_iter().for_each(|need| self.need(need));
        other.wants.into_iter().for_each(|want| self.want(want));
    }
}

/// CARE's structural indicators, in rising severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Indicator {
    #[default]
    None,
    /// 0.05
    Pipe,
    /// 0.30
    Substitution,
    /// 0.60
    NestedSubstitution,
    /// 0.90: eval, source, dot
    Evaluation,
    /// 1.00: a pipeline's last stage is an interpreter
    PipeToInterpreter,
}

/// The highest structural indicator, and where it was seen first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Structure {
    pub highest: Indicator,
    pub span: Span,
}
