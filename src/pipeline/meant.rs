//! Where intents are joined to the walk: what the caller names, what arrived, what runs instead.
//!
//! In: the raw vectors, the call. Out: an arrival, a text to run in the place of the received one.
//! Never: changes a text but to what was meant.

use std::borrow::Cow;
use std::ffi::CString;

use super::{End, hearing::Hearing};
use crate::decision::Decision;
use crate::digest::Digest;
use crate::effects::model::Extent;
use crate::envelope::{Author, BARE, Envelope};
use crate::fidelity::arrival::{Arrival, Arrived, Given, Outcome, pair};
use crate::fidelity::course::{Course, Owner, course};
use crate::fidelity::encode::sq;
use crate::invocation::Invocation;
use crate::invocation::form::Form;
use crate::text::{judged, raw};
use crate::verdict::Verdict;

/// The one argument of our own. It stands before all others, where no shell has an option of this name, and is
/// taken out before anything else is read: bash's command line begins behind it.
const OPTION: &[u8] = b"--intent-sha256";
const VARIABLE: &[u8] = b"AGENT_SH_INTENT_ID=";

/// Takes out what the caller says about the intent.
pub(super) fn given(argv: &mut Vec<CString>, environ: &[CString]) -> Result<Given, End> {
    let call = environ.iter().rev().find_map(|entry| entry.as_bytes().strip_prefix(VARIABLE));
    let call = call.filter(|call| !call.is_empty()).map(|call| judged(call).into_owned());
    let first = argv.get(1).map_or(&b""[..], |word| word.as_bytes());
    let (value, count) = match first.strip_prefix(OPTION) {
        Some(b"") => (argv.get(2).map(|word| word.as_bytes().to_vec()), 2),
        Some(rest) if rest.starts_with(b"=") => (rest.get(1..).map(<[u8]>::to_vec), 1),
        Some(_) | None => return Ok(Given { digest: None, call }),
    };
    let Some(digest) = value.as_deref().and_then(Digest::parse) else {
        return Err(End::Denied(
            "agent-sh: denied: --intent-sha256 needs the text's SHA-256 as 64 hexadecimal digits\n"
                .to_owned(),
        ));
    };
    argv.drain(1..=count);
    Ok(Given { digest: Some(digest), call })
}

/// Whether what arrived is what was meant, and what the policy makes of that.
pub(super) fn weigh(
    invocation: &Invocation,
    (text, envelope): (&str, &Envelope<'_>),
    given: &Given,
    hearing: &Hearing,
) -> (Arrival, Course) {
    let nothing = Arrival { outcome: Outcome::Unknown, by: None, digest: None, meant: None };
    let runs = match invocation.line.form {
        Form::Command { .. } | Form::Script { .. } | Form::Input { .. } => !invocation.is_session(),
        Form::Inert(_) | Form::Unclear(_) => false,
    };
    if !runs {
        return (nothing, Course::Run);
    }
    let (owner, body) = match envelope.author {
        Author::Model => (Owner::Model, &*envelope.command),
        Author::Client => (Owner::Client, text),
    };
    let (whole, body) = (raw(text), raw(body));
    let arrived = Arrived { text: &whole, body: &body, dialect: invocation.dialect() };
    let arrival = match owner {
        Owner::Model => pair(&arrived, given, &hearing.lineage),
        Owner::Client => nothing,
    };
    let course = course(&arrival, &hearing.policy.temper().fidelity, owner);
    (arrival, course)
}

/// What takes the place of what was received.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Instead {
    /// of the text
    Text(String),
    /// of the argument at this place, in which the wrapper takes the model's text
    Argument(usize, Vec<u8>),
}

/// The wrapper with what was meant in it, if that can be read out of it again; else what was meant alone.
/// `read` takes a text apart as the walk does.
pub(super) fn instead(
    invocation: &Invocation,
    (text, envelope): (&str, &Envelope<'_>),
    meant: &str,
    read: &dyn Fn(&str) -> Option<String>,
) -> Instead {
    let (start, end) = (envelope.written.start as usize, envelope.written.end as usize);
    if envelope.form == BARE {
        return Instead::Text(meant.to_owned());
    }
    if start == end
        && let Form::Command { text: at } = invocation.line.form
    {
        let command = raw(&envelope.command);
        let place = (at + 1..invocation.argv.len()).find(|place| invocation.word(*place) == &*command);
        if let Some(place) = place {
            return Instead::Argument(place, raw(meant).into_owned());
        }
    }
    let around = |middle: &str| Some([text.get(..start)?, middle, text.get(end..)?].concat());
    let quoted = judged(&sq(&raw(meant))).into_owned();
    let rendered = [quoted.as_str(), meant].into_iter().filter_map(around);
    let fitting = rendered.into_iter().find(|whole| start < end && read(whole).as_deref() == Some(meant));
    Instead::Text(fitting.unwrap_or_else(|| meant.to_owned()))
}

/// The envelope with another text in the model's place, to be judged.
pub(super) fn holding<'t>(envelope: &Envelope<'t>, meant: &'t str) -> Envelope<'t> {
    match envelope.scope {
        crate::envelope::Scope::One(_) => Envelope::bare(meant),
        crate::envelope::Scope::Apart(_) => Envelope { command: Cow::Borrowed(meant), ..envelope.clone() },
    }
}

/// The decision with what the course asks for besides: what was meant judged too, or a refusal, unless what was
/// meant is refused by itself: that is the better reason.
pub(super) fn settle(
    received: Decision,
    course: &Course,
    meant: Option<&str>,
    judge: impl Fn(&str) -> Decision,
) -> Decision {
    match (course, meant) {
        (Course::Run | Course::Repair | Course::RunIfBoth, None) | (Course::Run | Course::Repair, _) => {
            received
        }
        (Course::RunIfBoth, Some(meant)) => worse(received, unplaced(judge(meant))),
        (Course::Refuse(refusal), meant) => {
            // a text that would be denied on any way is denied for what it is
            if let Some(own) = meant.map(judge).filter(|own| own.verdict == Verdict::Deny) {
                return unplaced(own);
            }
            let mut decision = Decision::refused(refusal.reason());
            decision.effects = received.effects;
            decision
        }
    }
}

/// Takes out where in its text something is: another text is shown.
fn unplaced(mut decision: Decision) -> Decision {
    let nowhere = crate::text::Span::default();
    decision.findings.iter_mut().for_each(|finding| finding.span = nowhere);
    decision.effects.iter_mut().for_each(|effect| effect.span = nowhere);
    decision.unknowns.iter_mut().for_each(|unknown| unknown.span = nowhere);
    decision.structure.span = nowhere;
    decision
}

/// The worse of two decisions; the effects of both where both are allowed, since either may need a grant.
fn worse(one: Decision, other: Decision) -> Decision {
    let (mut worse, milder) = if other.verdict > one.verdict { (other, one) } else { (one, other) };
    worse.coverage = worse.coverage.max(milder.coverage);
    // the effects are those of one text: no ruleset follows from them
    worse.calls.extent = Extent::Open;
    worse
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(words: &[&str]) -> Vec<CString> {
        words.iter().map(|word| CString::new(*word).unwrap()).collect()
    }

    #[test]
    fn the_digest_is_taken_out_in_the_first_place_only() {
        let hex = Digest::of(b"ls").to_string();
        let joined = format!("--intent-sha256={hex}");
        for (words, left, digest) in [
            (&["sh", "--intent-sha256", &hex, "-c", "ls"][..], &["sh", "-c", "ls"][..], true),
            (&["sh", &joined, "-lc", "ls"], &["sh", "-lc", "ls"], true),
            (
                &["sh", "-c", "ls", "--intent-sha256", &hex],
                &["sh", "-c", "ls", "--intent-sha256", &hex],
                false,
            ),
            (&["sh", "-c", "--intent-sha256"], &["sh", "-c", "--intent-sha256"], false),
            (&["sh", "--intent-sha256x", "-c", "ls"], &["sh", "--intent-sha256x", "-c", "ls"], false),
            (&["sh"], &["sh"], false),
            (&[], &[], false),
        ] {
            let mut argv = strings(words);
            let given = given(&mut argv, &[]).unwrap();
            assert_eq!((argv, given.digest.is_some()), (strings(left), digest), "{words:?}");
        }
        for wrong in [&["sh", "--intent-sha256"][..], &["sh", "--intent-sha256", "ab", "-c", "x"]] {
            assert!(given(&mut strings(wrong), &[]).is_err(), "{wrong:?}");
        }
        let named = given(&mut strings(&["sh"]), &strings(&["A=1", "AGENT_SH_INTENT_ID=toolu_1"])).unwrap();
        assert_eq!(named.call.as_deref(), Some("toolu_1"));
    }
}
