//! Where the other floors are called: a stand-in for policy, judge, resolution, record and confinement
//! until they are there. ALL of this file is joined by the lead.
//!
//! Without them everything is allowed. `AGENT_SH_STAND_IN` (debug builds only) lets tests have a denial.

use crate::audit::{self, Logged};
use crate::confine::{self, Confined};
use crate::decision::{Decision, Enforcement, Warrant};
use crate::invocation::Invocation;
use crate::invocation::context::Context;
use crate::invocation::shell::{CANDIDATES, Candidates};
use crate::invocation::source::Limits;
use crate::invocation::startup::Startup;
use crate::verdict::Verdict;

/// What the policy says about the shell itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Temper {
    pub(super) candidates: &'static Candidates,
    pub(super) limits: Limits,
    pub(super) sessions: Sessions,
    pub(super) enforcement: Enforcement,
}

/// What becomes of a shell without a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sessions {
    Refuse,
    /// runs unmediated; the record says so
    Pass,
}

/// Joined by the lead: the policy in force.
pub(super) fn temper() -> Temper {
    let sessions = if stand_in() == Some("pass".to_owned()) { Sessions::Pass } else { Sessions::Refuse };
    Temper { candidates: &CANDIDATES, limits: Limits::DEFAULT, sessions, enforcement: Enforcement::Enforce }
}

/// Joined by the lead: `verify` over the text and the start-up files.
pub(super) fn verify(text: &str, _context: &Context, _startup: &[Startup]) -> Decision {
    match stand_in() {
        Some(word) if !word.is_empty() && word != "pass" && text.contains(&word) => denial(text, &word),
        _ => Decision::default(),
    }
}

/// Joined by the lead: what resolution makes of a WARN.
pub(super) fn resolve(decision: &Decision) -> Verdict {
    match decision.verdict {
        Verdict::Allow => Verdict::Allow,
        Verdict::Warn | Verdict::Deny => Verdict::Deny,
    }
}

/// Joined by the lead: the record of a refusal.
pub(super) fn record_refusal(_invocation: &Invocation, _text: &[u8], _decision: &Decision) {}

/// Joined by the lead: the record of what will run.
pub(super) fn record(
    warrant: Warrant,
    _invocation: &Invocation,
    _text: &[u8],
    _decision: &Decision,
) -> Logged {
    audit::record(warrant)
}

/// Joined by the lead: Landlock.
pub(super) fn confine(logged: Logged, _invocation: &Invocation, _decision: &Decision) -> Confined {
    confine::confine(logged)
}

fn stand_in() -> Option<String> {
    if cfg!(debug_assertions) { std::env::var("AGENT_SH_STAND_IN").ok() } else { None }
}

fn denial(text: &str, word: &str) -> Decision {
    use crate::decision::Finding;
    use crate::policy::tables::{Family, Tier};
    use crate::verdict::Permille;
    let start = text.find(word).unwrap_or(0);
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
        span: crate::text::Span::new(start, start + word.len()),
    };
    Decision { verdict: Verdict::Deny, findings: vec![finding], ..Decision::default() }
}
