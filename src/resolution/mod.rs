//! The undecided: a WARN is settled by an adjudicator, a person or a standing exception.
//!
//! In: a decision, the call, the policy. Out: [`Settled`]: what becomes of it, and what to tell agent and
//! record. Never: allows on doubt, delay or error; touches a DENY, unless root's policy lets persons
//! approve them (INVARIANT(I4)); costs an allowed command anything.

pub mod adjudicator;
pub mod approval;
mod call;
pub mod code;
pub mod evidence;
pub mod folder;
mod waiting;
pub mod wire;

pub use call::Call;

use approval::{Grant, Now, Question, Store, Times};
use code::{Code, Facts, Key};

use crate::decision::{Decision, Warrant};
use crate::policy::Policy;
use crate::policy::temper::undecided::Covers;
use crate::policy::temper::{Enforcement, Unsettled};
use crate::text::{judged, prefix};
use crate::verdict::Verdict;

/// What became of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    pub course: Course,
    /// For the record; empty where nobody was asked.
    pub record: String,
    pub person: Person,
}

/// How it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// By the decision, a model or the policy.
    Resolved(Verdict),
    /// Nobody settled it, and the policy lets such a command run.
    Unsettled,
    /// A person lets it run.
    Approved,
}

/// Whether a person could still let it run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Person {
    NotNeeded,
    /// With this code.
    Can(Code),
    /// The question can't be kept, as inside a confined command.
    Unreachable,
    /// The verdict is final.
    Never,
}

impl Settled {
    /// What was allowed needs nobody.
    pub fn allowed() -> Self {
        Self::resolved(Verdict::Allow, "")
    }

    /// What nobody may settle.
    pub fn held() -> Self {
        Self::resolved(Verdict::Deny, "")
    }

    fn resolved(verdict: Verdict, record: impl Into<String>) -> Self {
        Self { course: Course::Resolved(verdict), record: record.into(), person: Person::NotNeeded }
    }

    fn approved(grant: &Grant, key: &Key) -> Self {
        let times = match grant.times {
            Times::Once => "once",
            Times::Often => "for a time",
        };
        let record = format!("approved {} by user {}, {times}", key.code(), grant.by);
        Self { course: Course::Approved, record, person: Person::NotNeeded }
    }

    /// Leave to run, if that is what came of it.
    pub fn leave(&self, decision: &Decision, policy: &Policy) -> Option<Warrant> {
        let enforcement = policy.temper().enforcement;
        match self.course {
            Course::Resolved(verdict) => decision.leave(verdict, enforcement),
            Course::Unsettled => decision.leave(Verdict::Allow, enforcement),
            Course::Approved => decision
                .approved(policy.temper().approval.covers)
                .or_else(|| decision.leave(Verdict::Deny, enforcement)),
        }
    }
}

/// Settles what can be settled. An allowed command costs one comparison.
pub fn settle(decision: &Decision, call: &Call<'_>, policy: &Policy) -> Settled {
    let temper = policy.temper();
    if decision.verdict == Verdict::Allow {
        return Settled::allowed();
    }
    // who only observes holds nothing up, and asks nobody
    if temper.enforcement == Enforcement::Observe {
        return Settled::resolved(Verdict::Deny, "");
    }
    let facts = Facts {
        text: call.text,
        form: call.form,
        words: call.words,
        cwd: call.cwd,
        uid: call.uid,
        caller: call.caller,
        policy: policy.version(),
    };
    let key = Key::new(&facts, decision);
    let store = Store::of(call.uid, call.home, temper.approval.store)
        .filter(|_| may_be_approved(decision, temper.approval.covers));
    if let Some(grant) = store.as_ref().and_then(|store| store.leave(&key, &Now::here())) {
        return Settled::approved(&grant, &key);
    }
    let settled = match decision.verdict {
        Verdict::Warn => undecided(decision, call, policy, &key),
        Verdict::Allow | Verdict::Deny => Settled::resolved(Verdict::Deny, ""),
    };
    if settled.course != Course::Resolved(Verdict::Deny) {
        return settled;
    }
    match store {
        // what was not even judged has its own way out
        None if decision.effects.is_empty() => settled,
        None => Settled { person: Person::Never, ..settled },
        Some(store) => ask_a_person(&store, settled, decision, call, (policy, &key)),
    }
}

/// Whether a person's leave would count.
fn may_be_approved(decision: &Decision, covers: Covers) -> bool {
    decision.approved(covers).is_some()
}

/// What the policy and its models make of a WARN.
fn undecided(decision: &Decision, call: &Call<'_>, policy: &Policy, key: &Key) -> Settled {
    let temper = policy.temper();
    if !decision.skips.is_empty() {
        let names: Vec<&str> = decision.skips.iter().map(|skip| skip.name()).collect();
        return Settled::resolved(Verdict::Deny, format!("nobody was asked: {}", names.join(", ")));
    }
    let judges = temper.adjudicator.judges();
    if judges.is_empty() {
        return match temper.warn {
            Unsettled::Run => Settled {
                course: Course::Unsettled,
                ..Settled::resolved(Verdict::Allow, "nobody to ask, and the policy says warn = run")
            },
            Unsettled::Block => Settled::resolved(Verdict::Deny, "nobody to ask"),
        };
    }
    let Some(evidence) = evidence::object(decision, call, policy) else {
        return Settled::resolved(Verdict::Deny, "the command is too large to be shown to a model");
    };
    let asked = adjudicator::ask(&temper.adjudicator, &judges, evidence, key, call.home);
    Settled::resolved(asked.verdict, asked.note)
}

/// Keeps the question, and waits for an answer where the policy says so and there is somebody.
fn ask_a_person(
    store: &Store,
    settled: Settled,
    decision: &Decision,
    call: &Call<'_>,
    (policy, key): (&Policy, &Key),
) -> Settled {
    let now = Now::here();
    let question = Question {
        key: key.text().to_owned(),
        text: judged(call.text).into_owned(),
        arguments: judged_words(call),
        cwd: call.cwd.to_owned(),
        directory: now.directory,
        caller: call.caller.to_owned(),
        verdict: decision.verdict.name().to_owned(),
        evidence: evidence::lines(decision),
        asked: now.time,
    };
    let question = Question { text: prefix(&question.text, SHOWN).to_owned(), ..question };
    // a person must see all that they allow
    let kept = call.text.len() <= SHOWN && store.ask(&question).is_ok();
    if !kept {
        return Settled { person: Person::Unreachable, ..settled };
    }
    match waiting::wait(store, key, policy.temper().approval.wait) {
        Some(grant) => Settled::approved(&grant, key),
        None => Settled { person: Person::Can(key.code()), ..settled },
    }
}

/// The words behind the options, where there are any: what the text sees as `$0`, `$1` and so on.
fn judged_words(call: &Call<'_>) -> Vec<String> {
    let plain = |word: &&&[u8]| !word.starts_with(b"-");
    call.words.iter().skip(1).filter(plain).map(|word| judged(word).into_owned()).collect()
}

/// Bytes of a text that a person can be asked about.
const SHOWN: usize = 64 << 10;
