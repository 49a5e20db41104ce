//! One hook call's case: the policy in force where the client works, the judge, the record.
//!
//! In: an [`Ask`]. Out: a [`Ruling`], and an event for each text. Never: rules before its record is written
//! where the policy demands one.

use std::time::Instant;

use super::answer::Ruling;
use super::client::Client;
use super::request::{Ask, User};
use crate::audit::{self, AuditError, AuditPolicy, Demand, Event, Facts, Outcome, Subject};
use crate::decision::Decision;
use crate::invocation::context::{Context, Dialect, Input};
use crate::invocation::startup;
use crate::pipeline::surroundings::Surroundings;
use crate::pipeline::{joined, refusal, terms};
use crate::policy::Policy;
use crate::policy::temper::Enforcement;
use crate::text::{judged, raw};
use crate::verdict::Verdict;
use crate::verify::Judge;
use crate::world::{Machine, World as _};

/// Judges every text of a call and records it; the worst ruling counts.
pub(super) fn hear(client: Client, ask: &Ask) -> Ruling {
    let began = Instant::now();
    let directory = if ask.directory.is_empty() { startup::directory() } else { ask.directory.clone() };
    let around = Surroundings::of(directory);
    let directory = around.directory.clone();
    let policy = match around.policy() {
        Ok(policy) => policy,
        Err(error) => {
            let decision = Decision::refused(format!("the policy is broken: {}", error.message()));
            let policy = Policy::embedded();
            let record = Record {
                client,
                directory: &directory,
                policy: &policy,
                audit: AuditPolicy::default(),
                began,
            };
            drop(record.write(b"", &decision, Outcome::Blocked));
            return Ruling::Deny(format!(
                "agent-sh: denied: the policy is broken, so nothing runs\n{error}\n"
            ));
        }
    };
    let context = context(around);
    let judge = Judge::new(policy);
    let audit = terms::audit(policy.temper());
    let record = Record { client, directory: &directory, policy: &policy, audit, began };
    let mut rulings = ask.texts.iter().map(|text| {
        let decision = judge.verify(text, &context, &Machine);
        settle(text, &decision, &policy, ask.user, &record)
    });
    let mut worst = Ruling::Pass;
    while !matches!(worst, Ruling::Deny(_))
        && let Some(next) = rulings.next()
    {
        worst = match (worst, next) {
            (_, Ruling::Deny(reason)) => Ruling::Deny(reason),
            (Ruling::Pass, next) => next,
            (worst, _) => worst,
        };
    }
    worst
}

/// Records a call that could not be read.
pub(super) fn unread(client: Client, why: &str) {
    let (directory, policy) = (startup::directory(), Policy::embedded());
    let audit = AuditPolicy::default();
    let record = Record { client, directory: &directory, policy: &policy, audit, began: Instant::now() };
    drop(record.write(b"", &Decision::refused(why), Outcome::Blocked));
}

/// What becomes of one decision, and its record.
fn settle(text: &str, decision: &Decision, policy: &Policy, user: User, record: &Record<'_>) -> Ruling {
    let resolved = joined::resolve(decision, policy);
    let (outcome, ruling) = match (decision.verdict, resolved, policy.temper().enforcement) {
        (Verdict::Allow, _, _) | (Verdict::Warn, Verdict::Allow, _) => (Outcome::Passed, Ruling::Pass),
        (_, _, Enforcement::Observe) => (Outcome::Observed, Ruling::Pass),
        (Verdict::Warn, Verdict::Warn | Verdict::Deny, Enforcement::Enforce) if user == User::Asked => {
            (Outcome::Asked, Ruling::Ask(refusal::question(text, decision)))
        }
        (Verdict::Warn | Verdict::Deny, _, Enforcement::Enforce) => {
            (Outcome::Blocked, Ruling::Deny(refusal::message(text, decision)))
        }
    };
    match (record.write(&raw(text), decision, outcome), &ruling) {
        (Err(error), Ruling::Pass | Ruling::Ask(_)) => Ruling::Deny(format!("agent-sh: denied: {error}\n")),
        (Err(_) | Ok(()), _) => ruling,
    }
}

/// Where and as what an event is written.
struct Record<'a> {
    client: Client,
    directory: &'a str,
    policy: &'a Policy,
    audit: AuditPolicy,
    began: Instant,
}

impl Record<'_> {
    fn write(&self, text: &[u8], decision: &Decision, outcome: Outcome) -> Result<(), AuditError> {
        let facts = Facts {
            outcome,
            subject: &Subject::read(),
            framework: Some(self.client.name()),
            envelope: Some("hook"),
            cwd: self.directory,
            text,
            policy: self.policy.version(),
            micros: u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX),
            confinement: "",
        };
        let receipt =
            audit::record_refusal(&Event::new(decision, &facts, self.audit.text_limit), &self.audit);
        match self.audit.demand {
            Demand::Required if !receipt.is_recorded() => Err(AuditError { receipt }),
            Demand::Required | Demand::BestEffort => Ok(()),
        }
    }
}

/// The call as the client's shell will see it: this process's environment, which the client gave.
fn context(around: Surroundings) -> Context {
    use std::os::unix::ffi::OsStrExt as _;
    let own = |text: &std::ffi::OsStr| judged(text.as_bytes()).into_owned();
    let mut environment: std::collections::HashMap<String, String> =
        std::env::vars_os().map(|(name, value)| (own(&name), own(&value))).collect();
    let Surroundings { directory, user, home: table_home, workspace: _ } = around;
    environment.insert("PWD".to_owned(), directory.clone());
    environment.remove("OLDPWD");
    let home = environment.get("HOME").filter(|home| !home.is_empty()).cloned().unwrap_or(table_home);
    Context {
        dialect: Dialect::Bash,
        cwd: directory,
        home,
        user,
        uid: Machine.uid(),
        workspace: None,
        environment: environment.into(),
        arguments: vec!["bash".to_owned()],
        options: "hBc".to_owned(),
        startup: Vec::new(),
        source: None,
        input: Input::Unknown,
    }
}
