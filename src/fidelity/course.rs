//! What becomes of an arrival by the policy, and how a refusal is worded.
//!
//! In: an [`Arrival`], the policy's `fidelity` section. Out: [`Course`].
//! Never: lets what was received run in the place of what was meant where the policy says `repair` or `refuse`
//! (INVARIANT(I9)).

use std::fmt::Write as _;

use crate::fidelity::arrival::{Arrival, Outcome};
use crate::fidelity::mechanism::Divergence;
use crate::policy::temper::{Fidelity, OnDivergence, Switch};
use crate::syntax::bounds::Limits;
use crate::syntax::grammar::{self, Dialect};
use crate::text::judged;

/// What is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Course {
    /// what was received runs, if it is allowed
    Run,
    /// it runs if both it and what was meant are allowed
    RunIfBoth,
    /// what was meant runs, if it is allowed
    Repair,
    /// nothing runs
    Refuse(Refusal),
}

/// Why a text is not let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    Diverged,
    Ambiguous,
    Missing,
    /// the policy demands an intent, and there is none
    NoIntent,
}

/// Who the text belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Model,
    /// a call of the client's own, of known form: no hook hears of it
    Client,
}

/// The course for an arrival.
pub fn course(arrival: &Arrival, policy: &Fidelity, owner: Owner) -> Course {
    let refused = |why| match policy.on_divergence {
        OnDivergence::Observe => Course::Run,
        OnDivergence::Repair | OnDivergence::Refuse => Course::Refuse(why),
    };
    match (&arrival.outcome, policy.on_divergence) {
        (Outcome::Same | Outcome::Within, _) => Course::Run,
        (Outcome::Equivalent(_), _) | (Outcome::Diverged(_), OnDivergence::Observe) => Course::RunIfBoth,
        (Outcome::Unknown, _) => match (policy.require_intent, owner) {
            (Switch::On, Owner::Model) => Course::Refuse(Refusal::NoIntent),
            (Switch::On, Owner::Client) | (Switch::Off, _) => Course::Run,
        },
        (Outcome::Diverged(_), OnDivergence::Refuse) => Course::Refuse(Refusal::Diverged),
        (Outcome::Diverged(_), OnDivergence::Repair) => Course::Repair,
        (Outcome::Ambiguous, _) => refused(Refusal::Ambiguous),
        // where an intent is demanded, a name of one that isn't there is none
        (Outcome::Missing, _) if policy.require_intent == Switch::On => Course::Refuse(Refusal::Missing),
        (Outcome::Missing, _) => refused(Refusal::Missing),
    }
}

impl Refusal {
    /// One line: what is wrong.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Diverged => "what arrived is not what was meant",
            Self::Ambiguous => {
                "what arrived is neither of the texts that were meant, and could come from either"
            }
            Self::Missing => "there is no record of the intent that the caller names, and the text is not it",
            Self::NoIntent => {
                "no hook recorded what was meant, and the policy demands it (fidelity.require-intent)"
            }
        }
    }

    /// What the caller is told; lines, each with its newline. Nothing of a text is shown unescaped.
    pub fn message(self, arrival: &Arrival) -> String {
        let mut out = format!("agent-sh: denied: {}", self.reason());
        if let Outcome::Diverged(divergence) = &arrival.outcome {
            let Divergence { mechanism, detail, .. } = &**divergence;
            let _ = write!(out, ": {} ({detail}) on the way from the client to agent-sh", mechanism.name());
        }
        out.push('\n');
        if let Outcome::Diverged(divergence) = &arrival.outcome {
            out.push_str(&divergence.sides());
        }
        out.push_str(match self {
            Self::Diverged if arrival.meant.as_deref().is_some_and(is_readable) => {
                "note: the text that was written is valid and was not run; do not rewrite it to suit the error, \
                 the change was made after it was written\n\
                 instead: put it into a script file and run that, or have the person set \
                 fidelity.on-divergence = \"repair\"\n"
            }
            Self::Diverged => "note: nothing was run; the change was made after the text was written\n",
            Self::Ambiguous => "note: nothing was run; give the commands one after another\n",
            Self::Missing => "note: nothing was run; the caller must record the intent before it runs the text\n",
            Self::NoIntent => "note: nothing was run; install the client's hook: agent-shctl hook\n",
        });
        out
    }
}

fn is_readable(text: &[u8]) -> bool {
    grammar::parse(&judged(text), Dialect::Bash, &Limits::default()).error.is_none()
}

#[cfg(test)]
#[allow(
    clippy::wildcard_enum_match_arm,
    clippy::too_many_lines,
    clippy::needless_for_each,
    clippy::large_stack_arrays,
    clippy::items_after_statements,
    clippy::format_collect
)]
mod tests {
    use super::*;
    use crate::fidelity::compare::Arbiter;
    use crate::fidelity::mechanism::diagnose;

    fn arrival(outcome: Outcome) -> Arrival {
        Arrival { outcome, by: None, digest: None, meant: Some(b"echo 'a\\\\b'".to_vec()) }
    }

    fn diverged() -> Outcome {
        Outcome::Diverged(Box::new(diagnose(b"echo 'a\\\\b'", b"echo 'a\\b'")))
    }

    #[test]
    fn the_policy_decides_and_repair_never_runs_what_was_received() {
        let run = |outcome: &Outcome, on_divergence, require_intent, owner| {
            course(&arrival(outcome.clone()), &Fidelity { on_divergence, require_intent }, owner)
        };
        use OnDivergence::{Observe, Refuse, Repair};
        for on in [Observe, Repair, Refuse] {
            for require in [Switch::Off, Switch::On] {
                for outcome in [Outcome::Same, Outcome::Within] {
                    assert_eq!(run(&outcome, on, require, Owner::Model), Course::Run);
                }
                let equivalent = Outcome::Equivalent(Arbiter::Trees);
                assert_eq!(run(&equivalent, on, require, Owner::Model), Course::RunIfBoth);
                let changed = match on {
                    Observe => Course::RunIfBoth,
                    Repair => Course::Repair,
                    Refuse => Course::Refuse(Refusal::Diverged),
                };
                assert_eq!(run(&diverged(), on, require, Owner::Model), changed);
            }
            let lost = |why| if on == Observe { Course::Run } else { Course::Refuse(why) };
            assert_eq!(run(&Outcome::Ambiguous, on, Switch::Off, Owner::Model), lost(Refusal::Ambiguous));
            assert_eq!(run(&Outcome::Missing, on, Switch::Off, Owner::Model), lost(Refusal::Missing));
            let demanded = run(&Outcome::Missing, on, Switch::On, Owner::Model);
            assert_eq!(demanded, Course::Refuse(Refusal::Missing));
            assert_eq!(run(&Outcome::Unknown, on, Switch::Off, Owner::Model), Course::Run);
            let demanded = run(&Outcome::Unknown, on, Switch::On, Owner::Model);
            assert_eq!(demanded, Course::Refuse(Refusal::NoIntent));
            assert_eq!(run(&Outcome::Unknown, on, Switch::On, Owner::Client), Course::Run);
        }
    }

    #[test]
    fn a_refusal_shows_both_sides_and_says_that_the_text_was_valid() {
        let message = Refusal::Diverged.message(&arrival(diverged()));
        assert!(message.starts_with(
            "agent-sh: denied: what arrived is not what was meant: quote-consumption (halve-backslashes) on the \
             way from the client to agent-sh\n  meant   : echo 'a\\\\\\\\b'\n"
        ), "{message}");
        assert!(message.contains("  received: echo 'a\\\\b'\n") && message.contains("do not rewrite it"));
        let broken = Arrival { meant: Some(b"if".to_vec()), ..arrival(diverged()) };
        assert!(!Refusal::Diverged.message(&broken).contains("valid"));
    }
}
