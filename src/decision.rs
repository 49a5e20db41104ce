//! A decision: a verdict with its reasons; and the warrant, which is leave to run.
//!
//! In: findings and scores. Out: [`Decision`], and a [`Warrant`] for ALLOW alone.
//! Never: makes a warrant from anything but ALLOW (INVARIANT(I2)).

use std::rc::Rc;

use crate::act::UnknownKind;
use crate::effects::model::{Calls, Effect, Structure, Unknown};
use crate::policy::tables::{Family, Lifted, SemanticClass, Tier};
use crate::policy::temper::Enforcement;
use crate::policy::temper::undecided::Covers;
use crate::score::Signals;
use crate::text::Span;
use crate::verdict::{Permille, Verdict};

/// A rule that matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub rule: Rc<str>,
    pub family: Family,
    pub tier: Tier,
    /// Tier weight × confidence.
    pub weight: Permille,
    pub confidence: Permille,
    /// What the rule demands by itself.
    pub verdict: Verdict,
    pub reason: Rc<str>,
    pub instead: Rc<str>,
    /// Index into [`Decision::effects`].
    pub effect: usize,
    pub span: Span,
    /// Whether the rule is final.
    pub lifted: Lifted,
}

/// A rule that matched an effect and was lifted of it by root's exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lift {
    /// Id.
    pub rule: &'static str,
    /// Index into [`Decision::effects`].
    pub effect: usize,
    /// `file:line` of the exception.
    pub exception: &'static str,
}

/// Whether everything in the text was understood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coverage {
    #[default]
    Full,
    Partial,
}

/// CARE's skip predicates: why an undecided command would be denied without asking anyone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Skip {
    /// a rule fired with weighted confidence ≥ 0.80
    Rule,
    /// a high-risk class scored ≥ 0.70
    Class,
    /// a protected path is written or a secret touched
    Path,
}

impl Skip {
    /// As in records and output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Class => "class",
            Self::Path => "path",
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Decision {
    pub verdict: Verdict,
    pub score: Permille,
    pub signals: Signals,
    pub class: Option<SemanticClass>,
    pub class_score: Permille,
    /// In order of weight, then id.
    pub findings: Vec<Finding>,
    /// What root's exceptions lifted.
    pub lifts: Vec<Lift>,
    pub effects: Vec<Effect>,
    pub unknowns: Vec<Unknown>,
    /// Open, unless a walk saw every call.
    pub calls: Calls,
    pub coverage: Coverage,
    pub structure: Structure,
    pub skips: Vec<Skip>,
    /// The canonical form of the text.
    pub canonical: String,
    /// Why the verdict is not the score's alone, in words for people (limits, unreadable text …).
    pub notes: Vec<String>,
    /// What resolution made of it, for the record; empty where nobody was asked.
    pub resolution: String,
}

/// What a warrant rests on; the record says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// the decision, or what resolution made of a WARN
    Allowed,
    /// nothing but observe mode: it would have been held back
    Observed,
}

/// Leave to run one command. Made by [`Decision`] alone, consumed by the record (INVARIANT(I2)).
///
/// Nobody else makes one:
/// ```compile_fail,E0451
/// let ground = agent_sh::decision::Ground::Allowed;
/// let forged = agent_sh::decision::Warrant { ground };
/// ```
/// nor a second one from the first:
/// ```compile_fail,E0599
/// fn twice(warrant: &agent_sh::decision::Warrant) -> agent_sh::decision::Warrant {
///     agent_sh::decision::Warrant::clone(warrant)
/// }
/// ```
#[derive(Debug)]
pub struct Warrant {
    ground: Ground,
}

impl Warrant {
    pub fn ground(&self) -> Ground {
        self.ground
    }
}

impl Decision {
    /// A denial for a reason that needs no evidence (unreadable text, broken policy).
    pub fn refused(note: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Deny,
            coverage: Coverage::Partial,
            notes: vec![note.into()],
            ..Self::default()
        }
    }

    /// Leave to run, for ALLOW alone. `resolved` is what resolution made of a WARN; it can't touch a DENY
    /// (INVARIANT(I4)).
    pub fn warrant(&self, resolved: Verdict) -> Option<Warrant> {
        match (self.verdict, resolved) {
            (Verdict::Allow, _) | (Verdict::Warn, Verdict::Allow) => {
                Some(Warrant { ground: Ground::Allowed })
            }
            (Verdict::Warn, Verdict::Warn | Verdict::Deny) | (Verdict::Deny, _) => None,
        }
    }

    /// Leave to run by a person's word, as far as the policy lets that cover. Beyond a WARN it covers a DENY
    /// only where root's policy says so, never one that is final (INVARIANT(I4)).
    pub fn approved(&self, covers: Covers) -> Option<Warrant> {
        let is_covered = match (self.verdict, covers) {
            (Verdict::Allow | Verdict::Warn, _) => true,
            (Verdict::Deny, Covers::Denied) => !self.is_final(),
            (Verdict::Deny, Covers::Undecided) => false,
        };
        is_covered.then_some(Warrant { ground: Ground::Allowed })
    }

    /// Whether nothing can be said for it: a final rule matched, or it was not read whole.
    fn is_final(&self) -> bool {
        let unread = |kind: UnknownKind| matches!(kind, UnknownKind::Syntax | UnknownKind::Limit);
        self.findings.iter().any(|finding| finding.lifted == Lifted::Never)
            || self.unknowns.iter().any(|unknown| unread(unknown.what))
            || self.effects.is_empty()
    }

    /// Leave to run under the policy's enforcement: [`Self::warrant`], or in observe mode one that says
    /// that it rests on that mode alone.
    pub fn leave(&self, resolved: Verdict, enforcement: Enforcement) -> Option<Warrant> {
        match (self.warrant(resolved), enforcement) {
            (Some(warrant), _) => Some(warrant),
            (None, Enforcement::Observe) => Some(Warrant { ground: Ground::Observed }),
            (None, Enforcement::Enforce) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denied_decision_never_gives_a_warrant() {
        for resolved in [Verdict::Allow, Verdict::Warn, Verdict::Deny] {
            assert!(Decision::refused("x").warrant(resolved).is_none());
        }
        assert!(Decision::refused("x").leave(Verdict::Allow, Enforcement::Enforce).is_none());
        let observed = Decision::refused("x").leave(Verdict::Deny, Enforcement::Observe).unwrap();
        assert_eq!(observed.ground(), Ground::Observed);
        for covers in [Covers::Undecided, Covers::Denied] {
            assert!(Decision::refused("x").approved(covers).is_none());
            assert!(Decision { verdict: Verdict::Warn, ..Decision::default() }.approved(covers).is_some());
        }
        let warn = Decision { verdict: Verdict::Warn, ..Decision::default() };
        assert!(warn.warrant(Verdict::Deny).is_none() && warn.warrant(Verdict::Allow).is_some());
    }
}
