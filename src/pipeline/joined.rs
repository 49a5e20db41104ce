//! Where the judge and resolution are joined to the walk.
//!
//! In: text, context, policy. Out: the decision, what a WARN becomes. Never: makes a verdict milder.

use crate::decision::Decision;
use crate::envelope::Envelope;
use crate::invocation::context::Context;
use crate::invocation::{Invocation, callers};
use crate::policy::Policy;
use crate::policy::temper::Unsettled;
use crate::resolution::{self, Call, Settled};
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

/// Judges a script file's text, and the start-up code that runs before it.
pub(crate) fn verify_script(text: &str, context: &Context, policy: &Policy, world: &dyn World) -> Decision {
    Judge::new(*policy).verify_script(text, context, world)
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
    let words = invocation.argv.iter().map(std::ffi::CString::as_bytes).filter(|word| *word != whole);
    let words: Vec<&[u8]> = words.collect();
    let call = Call {
        text,
        form,
        words: &words,
        cwd: &hearing.around.directory,
        uid: hearing.world.uid(),
        home: &hearing.around.home,
        caller: &callers::nearest(),
    };
    resolution::settle(decision, &call, &hearing.policy)
}
