//! Where the judge, resolution and the confinement's grants are joined to the walk.
//!
//! In: text, context, policy. Out: the decision, what a WARN becomes, what allowed effects need of the
//! kernel. Never: grants a write that the decision did not see.

use crate::act::{Kind, tag};
use crate::confine::Grant;
use crate::decision::Decision;
use crate::effects::model::Effect;
use crate::envelope::Envelope;
use crate::invocation::context::Context;
use crate::invocation::{Invocation, callers};
use crate::policy::Policy;
use crate::policy::temper::Unsettled;
use crate::resolution::{self, Call, Course, Settled};
use crate::verdict::Verdict;
use crate::verify::Judge;
use crate::world::World;

use super::hearing::Hearing;

/// Judges the text and the start-up code that runs before it.
pub(super) fn verify(
    text: &str,
    envelope: &Envelope<'_>,
    context: &Context,
    policy: &Policy,
    world: &dyn World,
) -> Decision {
    Judge::new(*policy).verify_call(text, envelope, context, world)
}

/// What becomes of a WARN that nobody settles.
pub(crate) fn resolve(decision: &Decision, policy: &Policy) -> Verdict {
    match (decision.verdict, policy.temper().warn) {
        (Verdict::Allow, _) | (Verdict::Warn, Unsettled::Run) => Verdict::Allow,
        (Verdict::Warn, Unsettled::Block) | (Verdict::Deny, _) => Verdict::Deny,
    }
}

/// What becomes of a decision that is no ALLOW. `whole` is the text as it stands among the arguments, of which
/// `text` is what its author meant.
pub(super) fn settle(
    decision: &Decision,
    (whole, text): (&[u8], &[u8]),
    (invocation, form): (&Invocation, &str),
    hearing: &Hearing,
) -> Settled {
    // what is allowed asks for nothing
    if decision.verdict == Verdict::Allow {
        return Settled::allowed();
    }
    let words = invocation.argv.iter().map(|word| word.as_bytes()).filter(|word| *word != whole);
    let words: Vec<&[u8]> = words.collect();
    let call = Call {
        text,
        form,
        words: &words,
        cwd: &hearing.directory,
        uid: hearing.world.uid(),
        home: &hearing.home,
        caller: &callers::nearest(),
    };
    resolution::settle(decision, &call, &hearing.policy)
}

/// What the allowed effects need beyond the confinement's level. An effect with an unknown place grants
/// nothing: the kernel then holds the standard level.
pub(super) fn grants(decision: &Decision, course: Course) -> Vec<Grant<'_>> {
    let mut grants = Vec::new();
    match course {
        Course::Resolved(Verdict::Allow) | Course::Approved => {}
        // what runs though nobody allowed it gets no more than anything does
        Course::Resolved(Verdict::Warn | Verdict::Deny) | Course::Unsettled => return grants,
    }
    for effect in &decision.effects {
        let path = &*effect.target.resolved;
        let placed = path.starts_with('/') && !path.contains('…');
        let grant = grant_for(effect, path, placed);
        if let Some(grant) = grant
            && !grants.contains(&grant)
            && grants.len() < GRANTS
        {
            grants.push(grant);
        }
    }
    grants
}

/// What one allowed effect needs.
fn grant_for<'d>(effect: &'d Effect, path: &'d str, placed: bool) -> Option<Grant<'d>> {
    match effect.kind {
        Kind::Install | Kind::Uninstall | Kind::Service | Kind::Account | Kind::Mount | Kind::Format => {
            Some(Grant::System)
        }
        Kind::Privilege => Some(Grant::Elevation),
        Kind::Read => placed.then_some(Grant::Read(path)),
        Kind::Write | Kind::Append if effect.tags.has(tag::IN_PLACE) => {
            placed.then_some(Grant::Replace(path))
        }
        Kind::Write | Kind::Append | Kind::Create | Kind::Chmod | Kind::Chown => {
            placed.then_some(Grant::Write(path))
        }
        Kind::Delete | Kind::Move | Kind::Link => placed.then_some(Grant::Replace(path)),
        Kind::List
        | Kind::LinkTo
        | Kind::Execute
        | Kind::Code
        | Kind::Shell
        | Kind::Fetch
        | Kind::Send
        | Kind::Connect
        | Kind::Listen
        | Kind::Signal
        | Kind::Power
        | Kind::Kernel
        | Kind::Guard
        | Kind::Discard
        | Kind::Overwrite
        | Kind::Remote
        | Kind::Publish
        | Kind::Schedule
        | Kind::Inject
        | Kind::Disclose
        | Kind::Exhaust
        | Kind::Evade
        | Kind::Discover
        | Kind::Container
        | Kind::Trace
        | Kind::Capture
        | Kind::Unknown => None,
    }
}

/// Each grant is a rule of the kernel's ruleset and costs a few microseconds.
const GRANTS: usize = 32;
