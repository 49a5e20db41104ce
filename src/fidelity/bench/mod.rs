//! An IEC bench for Linux: texts over the ways of this machine, what is changed, how loudly, and what a channel
//! brings back.
//!
//! In: payloads, ways. Out: pairs and their fates. Never: a payload's text in a shell before its own trial.

pub mod counter;
pub mod plot;
pub mod repair;
pub mod scene;
pub mod study;
pub mod tally;
pub mod trial;
pub mod way;
pub mod wrap;

use crate::fidelity::payload::Payload;
use scene::{Scene, leave};
use tally::{Fate, Pair};
use trial::Outcome;
use way::Way;

/// Where a text runs unchanged: a file that bash reads. Where the payload's own oracle says nothing else, what it
/// does here is what was meant.
pub fn reference(scene: &Scene, payload: &Payload) -> std::io::Result<Outcome> {
    let (case, _) = scene.case()?;
    let text = payload.with(case.join("prb").as_os_str().as_encoded_bytes());
    std::fs::write(case.join("file"), text)?;
    let words = vec![b"bash".to_vec(), case.join("file").into_os_string().into_encoded_bytes()];
    let mut outcome = trial::run(&trial::Launch { words, ..trial::Launch::default() }, &case, way::End::Exit);
    leave(&case);
    if !payload.calls.is_empty() {
        // written down when the text was made: no shell has a say in it
        let ended = |call: &Vec<Vec<u8>>| call.iter().flat_map(|w| [w.as_slice(), b"\0"].concat()).collect();
        outcome.calls = payload.calls.iter().map(ended).collect();
    }
    Ok(outcome)
}

/// What of a pair is counted besides its fate.
#[derive(Clone, Debug)]
pub struct Tried {
    pub pair: Pair,
    /// The text arrives as it is, and its channel refuses it.
    pub false_refusal: Option<String>,
    /// It fails by itself, arrives as it is, and after a "repair" it would not have failed.
    pub false_recovery: Option<()>,
}

/// One text over one way, and by the channel where it is changed.
pub fn try_pair(
    scene: &Scene,
    way: &'static Way,
    payload: &Payload,
    meant: &Outcome,
) -> std::io::Result<Tried> {
    let (case, number) = scene.case()?;
    let text = payload.with(case.join("prb").as_os_str().as_encoded_bytes());
    let got = trial::send(scene, way, &text, (&case, &number));
    let again = || {
        let Ok((case, number)) = scene.case() else { return repair::Repair::Failed };
        let text = payload.with(case.join("prb").as_os_str().as_encoded_bytes());
        let repaired = repair::repair(scene, way, &text, (&case, &number));
        leave(&case);
        repaired
    };
    let fate = Fate::of(meant, &got, again);
    let mut tried = Tried {
        pair: Pair { payload: payload.name.clone(), way: way.name, group: way.group, fate },
        false_refusal: None,
        false_recovery: None,
    };
    if fate == Fate::Same {
        tried.false_refusal = repair::render(scene, way, &text, &case).err().map(|r| r.to_string());
        if meant.status != Some(0)
            && let repair::Repair::Done(outcome) = again()
            && !outcome.is_like(meant)
        {
            tried.false_recovery = Some(());
        }
    }
    leave(&case);
    Ok(tried)
}
