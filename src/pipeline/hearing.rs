//! One call's case: the policy in force, who asks, and what becomes of it in the record.
//!
//! In: the machine, an invocation, a decision. Out: events, [`Confined`].
//! Never: judges.

use std::time::Instant;

use super::needs::{self, Shell};
use super::surroundings::Surroundings;
use super::{End, ours, remark, terms};
use crate::audit::{self, AuditPolicy, Event, Facts, Logged, Outcome, Subject};
use crate::confine::outline::NO_ELEVATION;
use crate::confine::{Confined, Grant, Level, Plan, Scene, Surprise};
use crate::decision::{Decision, Ground, Warrant};
use crate::fidelity::arrival::Arrival;
use crate::invocation::Invocation;
use crate::invocation::callers;
use crate::invocation::context::Context;
use crate::invocation::process::Lineage;
use crate::policy::Policy;
use crate::resolution::Course;
use crate::text::judged;
use crate::verdict::Verdict;
use crate::world::Machine;

#[derive(Debug)]
pub(super) struct Hearing {
    pub(super) world: Machine,
    pub(super) policy: Policy,
    audit: AuditPolicy,
    subject: Subject,
    pub(super) around: Surroundings,
    pub(super) lineage: Lineage,
    began: Instant,
}

/// The text and what is thought of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case<'a> {
    pub(super) text: &'a [u8],
    pub(super) decision: &'a Decision,
    /// The client and the form in which it passed the text, where it is a command string.
    pub(super) framework: Option<&'a str>,
    pub(super) envelope: Option<&'a str>,
    /// Whether it is what was meant; and what was received, where what was meant runs instead.
    pub(super) arrival: Option<(&'a Arrival, Option<&'a [u8]>)>,
    pub(super) course: Course,
}

impl<'a> Case<'a> {
    /// A text that is in no envelope and is held back.
    pub(super) fn of(text: &'a [u8], decision: &'a Decision) -> Self {
        let course = Course::Resolved(Verdict::Deny);
        Self { text, decision, framework: None, envelope: None, arrival: None, course }
    }
}

impl Hearing {
    /// Reads the policy. A broken one lets nothing run.
    pub(super) fn open() -> Result<Self, End> {
        let around = Surroundings::here();
        let began = Instant::now();
        let lineage = Lineage::default();
        let of = |policy: Policy, audit, lineage| Self {
            world: Machine,
            policy,
            audit,
            subject: Subject::read(),
            around: around.clone(),
            lineage,
            began,
        };
        match around.policy() {
            Ok(policy) => {
                let asked = policy.asks_for_callers();
                let policy = if asked { policy.for_callers(&callers::programs(&lineage)) } else { policy };
                Ok(of(policy, terms::audit(policy.temper()), lineage))
            }
            Err(error) => {
                let decision = Decision::refused(format!("the policy is broken: {}", error.message()));
                let hearing = of(Policy::embedded(), AuditPolicy::default(), lineage);
                hearing.refusal(Case::of(b"", &decision));
                Err(End::Denied(format!(
                    "agent-sh: denied: the policy is broken, so nothing runs\n{error}\n"
                )))
            }
        }
    }

    fn event(&self, case: Case<'_>, outcome: Outcome, confinement: &str) -> Event {
        let facts = Facts {
            outcome,
            subject: &self.subject,
            framework: case.framework,
            envelope: case.envelope,
            cwd: &self.around.directory,
            text: case.text,
            policy: self.policy.version(),
            micros: u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX),
            confinement,
        };
        let event = Event::new(case.decision, &facts, self.audit.text_limit);
        match case.arrival {
            Some((arrival, received)) => event.with_arrival(arrival, received),
            None => event,
        }
    }

    /// Records that the command will not run.
    pub(super) fn refusal(&self, case: Case<'_>) {
        audit::record_refusal(&self.event(case, Outcome::Blocked, ""), &self.audit);
    }

    /// Records a text that another program is to hand on. What it then does lies outside of this process, and so
    /// outside of its confinement.
    pub(super) fn hand_on(&self, warrant: Warrant, case: Case<'_>) -> Result<Logged, End> {
        let outcome = match warrant.ground() {
            Ground::Allowed => Outcome::Run,
            Ground::Observed => Outcome::Observed,
        };
        audit::record(warrant, &self.event(case, outcome, "none: handed on"), &self.audit)
            .map_err(|error| End::Denied(format!("agent-sh: denied: {error}\n")))
    }

    /// Records, then confines: the only way from a warrant to the door marked exec (INVARIANT(I3)).
    pub(super) fn close(
        &self,
        warrant: Warrant,
        case: Case<'_>,
        session: Session,
        (invocation, context): (&Invocation, &Context),
    ) -> Result<Confined, End> {
        let outcome = match (warrant.ground(), session) {
            (_, Session::Unmediated) => Outcome::Unmediated,
            (Ground::Allowed, Session::Judged | Session::Packaged) => Outcome::Run,
            (Ground::Observed, Session::Judged | Session::Packaged) => Outcome::Observed,
        };
        let scene = Scene {
            workspace: self.around.workspace.as_deref(),
            homes: vec![&context.home, &self.around.home],
            temporary: context.environment.get("TMPDIR").map(String::as_str),
        };
        let intents = ours::intents(&judged(case.text));
        let mut need = needs::need((case.decision, case.course), Shell::of(invocation), &context.environment);
        need.grants.extend(intents.as_deref().map(Grant::Own));
        let programs = || callers::programs(&self.lineage);
        let mut policy = terms::confine(self.policy.temper(), case.framework, &programs, case.decision.class);
        if session == Session::Packaged {
            // a daemon that it starts would be held for good; where the manager is held, so is this
            policy.level = Level::Off;
        }
        let plan = Plan::prepare(&policy, &scene, &need);
        let plan = plan.map_err(|error| End::Denied(format!("agent-sh: denied: {error}\n")))?;
        let logged = audit::record(warrant, &self.event(case, outcome, plan.state()), &self.audit)
            .map_err(|error| End::Denied(format!("agent-sh: denied: {error}\n")))?;
        if plan.holds_elevation() {
            remark(NO_ELEVATION);
        }
        let confined =
            plan.apply(logged).map_err(|error| End::Denied(format!("agent-sh: denied: {error}\n")))?;
        if confined.surprise() == Surprise::NotConfined {
            // the first record promised more: a second one says what holds
            audit::record_refusal(&self.event(case, outcome, confined.state()), &self.audit);
        }
        Ok(confined)
    }
}

/// Whether somebody judged what will run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Session {
    Judged,
    Unmediated,
    /// A package's script, or called by one.
    Packaged,
}
