//! The judge: text, context, policy and world to a decision. Pure: no write, no clock, no network.
//!
//! In: judged text (see [`crate::text`]). Out: [`Decision`]. Never: lets an unknown, a limit or an error
//! lower a verdict (INVARIANT(I5)); resolves a WARN (that is resolution's).

use crate::decision::{Coverage, Decision, Finding, Skip};
use crate::effects::{self, model::Effects};
use crate::envelope::{Envelope, Scope};
use crate::evidence::{self, Evidence};
use crate::invocation::context::Context;
use crate::place::index::Index;
use crate::policy::Policy;
use crate::policy::tables::SemanticClass;
use crate::policy::temper::{Resolution, Switch};
use crate::text::Span;
use crate::verdict::Verdict;
use crate::world::World;

/// A policy made ready for judging: one for any number of texts.
#[derive(Debug)]
pub struct Judge {
    policy: Policy,
    index: Index,
}

impl Judge {
    /// Costs nothing; places that aren't the binary's are sorted on the first question.
    pub fn new(policy: Policy) -> Self {
        Self { policy, index: Index::new(policy.place_layers()) }
    }

    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Judges one text.
    pub fn verify(&self, text: &str, context: &Context, world: &dyn World) -> Decision {
        let found = effects::of(text, context, (&self.policy, &self.index), world);
        decide(found, &self.policy)
    }

    /// Judges a script file that is called as programs are. What it does for certain counts as in every text;
    /// what can't be known of it counts as in every program that lies there, compiled ones among them: the
    /// call was judged where it was made, and the kernel holds what runs. No configure script of any
    /// project could run else.
    pub fn verify_script(&self, text: &str, context: &Context, world: &dyn World) -> Decision {
        let found = effects::of(text, context, (&self.policy, &self.index), world);
        let whole = decide(found.clone(), &self.policy);
        if whole.verdict == Verdict::Allow {
            return whole;
        }
        let known = decide(found.certain(Span::new(0, text.len())), &self.policy);
        let by_rule = known.findings.iter().any(|finding| finding.verdict != Verdict::Allow);
        if by_rule || known.verdict == Verdict::Deny {
            return whole;
        }
        let note = format!("parts of this script are not known: with them its risk score is {}", whole.score);
        let stands = |finding: &Finding| known.findings.iter().any(|other| other.rule == finding.rule);
        Decision {
            verdict: Verdict::Allow,
            score: known.score,
            signals: known.signals,
            class: known.class,
            class_score: known.class_score,
            findings: whole.findings.into_iter().filter(stands).collect(),
            skips: known.skips,
            notes: vec![note],
            ..whole
        }
    }

    /// Judges one call: the model's text by itself, in the state that its wrapper makes, and what the wrapper
    /// does by itself. The worse verdict counts, so that no wrapper makes anything milder; neither's points are
    /// added to the other's, so that none makes a text look worse than it is.
    ///
    /// A snapshot of the user's shell that a wrapper sources is the wrapper's: its text is walked like that of
    /// every sourced file (whoever may write to it, what it says is judged), its functions and aliases hold
    /// for the model's text, but its points don't add to those of each text that runs behind it.
    pub fn verify_call(
        &self,
        text: &str,
        envelope: &Envelope<'_>,
        context: &Context,
        world: &dyn World,
    ) -> Decision {
        let wrapper = match &envelope.scope {
            Scope::One(text) => return self.verify(text, context, world),
            Scope::Apart(wrapper) => wrapper,
        };
        let policy = (&self.policy, &self.index);
        match effects::apart(wrapper, &envelope.command, context, policy, world) {
            (outer, Some(inner)) => join(decide(inner, &self.policy), decide(outer, &self.policy)),
            // the wrapper doesn't come to the text: it is not what it looks like
            (_, None) => unplaced(self.verify(text, context, world)),
        }
    }
}

/// The decision about a wrapped text: its own, unless the wrapper's is worse. What both would do is allowed
/// or refused together.
fn join(inner: Decision, outer: Decision) -> Decision {
    let mut outer = unplaced(outer);
    let (mut worse, other) = if outer.verdict > inner.verdict {
        outer
            .notes
            .push(format!("what the wrapper around the text does has a risk score of {}", outer.score));
        (outer, inner)
    } else {
        (inner, outer)
    };
    worse.coverage = worse.coverage.max(other.coverage);
    worse.effects.extend(other.effects);
    worse.unknowns.extend(other.unknowns);
    worse.calls.join(other.calls);
    worse
}

/// Takes out where in its text something is: the text that is shown is another.
fn unplaced(mut decision: Decision) -> Decision {
    let nowhere = Span::default();
    decision.findings.iter_mut().for_each(|finding| finding.span = nowhere);
    decision.effects.iter_mut().for_each(|effect| effect.span = nowhere);
    decision.unknowns.iter_mut().for_each(|unknown| unknown.span = nowhere);
    decision.structure.span = nowhere;
    decision
}

/// From effects to a decision.
fn decide(found: Effects, policy: &Policy) -> Decision {
    let evidence = evidence::gather(&found, policy);
    let temper = policy.temper();
    let score = evidence.signals.total(temper.weights);
    let by_rule = evidence.findings.iter().map(|f| f.verdict).max().unwrap_or(Verdict::Allow);
    let verdict = temper.thresholds().verdict(score).max(by_rule).max(evidence.unknown);
    let skips = skips(&evidence, &temper.resolution);
    Decision {
        verdict,
        score,
        signals: evidence.signals,
        class: evidence.class,
        class_score: evidence.class_score,
        findings: evidence.findings,
        lifts: evidence.lifts,
        coverage: if found.unknowns.is_empty() { Coverage::Full } else { Coverage::Partial },
        effects: found.list,
        unknowns: found.unknowns,
        calls: found.calls,
        structure: found.structure,
        skips,
        canonical: found.canonical,
        notes: Vec::new(),
        resolution: String::new(),
    }
}

/// Classes whose score CARE's second skip predicate looks at.
fn is_high_risk(class: SemanticClass) -> bool {
    match class {
        SemanticClass::WriteSensitive
        | SemanticClass::ExecutionChain
        | SemanticClass::PrivilegeOrPermission
        | SemanticClass::Persistence
        | SemanticClass::Destructive
        | SemanticClass::ResourceAbuse => true,
        SemanticClass::ReadOnly
        | SemanticClass::WriteLocal
        | SemanticClass::Unknown
        | SemanticClass::NetworkFetch => false,
    }
}

/// CARE's skip predicates (III-F): why nobody needs to be asked about a WARN.
fn skips(evidence: &Evidence, resolution: &Resolution) -> Vec<Skip> {
    let mut out = Vec::new();
    if resolution.rule.on == Switch::On && evidence.findings.iter().any(|f| f.weight >= resolution.rule.from)
    {
        out.push(Skip::Rule);
    }
    if resolution.class.on == Switch::On
        && evidence.class.is_some_and(is_high_risk)
        && evidence.class_score >= resolution.class.from
    {
        out.push(Skip::Class);
    }
    if resolution.path.on == Switch::On && evidence.signals.paths >= resolution.path.from {
        out.push(Skip::Path);
    }
    out
}
