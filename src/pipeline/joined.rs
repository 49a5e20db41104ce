//! The judge and the resolution, until they are there. ALL of this file is joined by the lead.
//!
//! Until then everything is allowed; the word `agent-sh-stand-in-denial` in a text is not, so that tests
//! can have a denial.

use crate::confine::Grant;
use crate::decision::{Decision, Finding};
use crate::invocation::context::Context;
use crate::invocation::startup::Startup;
use crate::policy::Policy;
use crate::policy::tables::{Family, Tier};
use crate::verdict::{Permille, Verdict};
use crate::world::World;

const WORD: &str = "agent-sh-stand-in-denial";

/// Joined by the lead: `verify` over the text and the start-up files.
pub(super) fn verify(
    text: &str,
    _context: &Context,
    _startup: &[Startup],
    _policy: &Policy,
    _world: &dyn World,
) -> Decision {
    let Some(start) = text.find(WORD) else { return Decision::default() };
    let finding = Finding {
        rule: "stand-in.word".into(),
        family: Family::Destructive,
        tier: Tier::Manual,
        weight: Permille::ONE,
        confidence: Permille::ONE,
        verdict: Verdict::Deny,
        reason: "says the stand-in's word".into(),
        instead: "leave the word out".into(),
        effect: 0,
        span: crate::text::Span::new(start, start + WORD.len()),
    };
    Decision { verdict: Verdict::Deny, findings: vec![finding], ..Decision::default() }
}

/// Joined by the lead: what resolution makes of a WARN.
pub(super) fn resolve(decision: &Decision, _policy: &Policy) -> Verdict {
    match decision.verdict {
        Verdict::Allow => Verdict::Allow,
        Verdict::Warn | Verdict::Deny => Verdict::Deny,
    }
}

/// Joined by the lead: what the allowed effects need beyond the confinement's level.
pub(super) fn grants(_decision: &Decision) -> Vec<Grant<'_>> {
    Vec::new()
}
