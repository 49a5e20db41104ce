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

impl Effects {
    /// Without what could not be determined: what is left is what a script would do for certain. Code that is not
    /// known stays where its origin is an attack's (the network, a decoder, what somebody pipes in, a fetched program).
    pub fn known(mut self, whole: Span) -> Self {
        const ORIGINS: [Tag; 5] =
            [tag::FROM_NETWORK, tag::FROM_DECODED, tag::FROM_SECRET, tag::FROM_STDIN, tag::PROGRAM_FETCHED];
        let open = |e: &Effect| e.kind == Kind::Unknown || e.kind == Kind::Code && e.tags.has(tag::OPAQUE);
        self.list.retain(|e| !open(e) || ORIGINS.iter().any(|origin| e.tags.has(*origin)));
        self.unknowns.retain(|unknown| match unknown.what {
            // a text within, pieced together from what is not known, may be none that a shell would read
            UnknownKind::Syntax => unknown.span == whole,
            UnknownKind::Disagreement => true,
            UnknownKind::Limit
            | UnknownKind::Program
            | UnknownKind::Description
            | UnknownKind::Code
            | UnknownKind::Target
            | UnknownKind::Value => false,
        });
        self.structure = Structure::default();
        self
    }
}

/// What is known about the programs that would be called, besides their effects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    pub extent: Extent,
    /// What closed programs need besides their targets: a path as the policy writes it, or [`TEMPORARY`].
    pub needs: Vec<&'static str>,
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
    pub const NONE: Self = Self { extent: Extent::Closed, needs: Vec::new() };

    pub fn need(&mut self, need: &'static str) {
        if !self.needs.contains(&need) {
            self.needs.push(need);
        }
    }

    /// Both.
    pub fn join(&mut self, other: Self) {
        if other.extent == Extent::Open {
            self.extent = Extent::Open;
        }
        other.needs.into_iter().for_each(|need| self.need(need));
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
