//! Who is to blame for a call that failed: the model, the path, or a shell or language within the text.
//!
//! In: evidence: the text that was meant, what each hop received, status and standard error. Out: [`Blame`]
//! with its reasons. Never: runs anything; decides where a hop before the decision left no record.

use std::rc::Rc;

use serde::Deserialize;

use crate::envelope;
use crate::fidelity::calls;
use crate::fidelity::compare::{Meaning, Slow, compare};
use crate::fidelity::locate::{self, Finding, Location};
use crate::fidelity::mechanism::Mechanism;
use crate::fidelity::nested::{self, Case, Reading};
use crate::invocation::context::{Context, Dialect as Shell, Input};
use crate::syntax::bounds::Limits;
use crate::syntax::grammar::{self, Dialect};
use crate::text::{escape, judged, raw};

/// What is known of a call.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    pub meant: Vec<u8>,
    /// In the order of the path: each hop's name and what it received; `None` where it left no record.
    pub hops: Vec<(String, Option<Vec<u8>>)>,
    pub status: Option<i32>,
    pub stderr: String,
    /// Argument vectors that programs within the text received, where a probe saw them.
    pub nested: Vec<Vec<Vec<u8>>>,
}

/// A verdict with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blame {
    pub who: Who,
    /// The hop, from 1, and its name, for the path.
    pub hop: Option<(usize, String)>,
    pub mechanism: Option<Mechanism>,
    /// The program within the text, for a nested hop.
    pub program: Option<String>,
    /// Escaped lines.
    pub reasons: Vec<String>,
}

/// Who changed or wrote what failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Who {
    /// the text does by itself what it should not, or the machine is not as it assumes
    Model,
    Path,
    /// a shell or language started by the text read its own part otherwise than it was written
    Nested,
    /// a hop left no record, so that nothing can be said
    Unknown,
}

impl Who {
    pub fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Path => "path",
            Self::Nested => "nested",
            Self::Unknown => "unknown",
        }
    }
}

impl Blame {
    fn of(who: Who, reason: impl Into<String>) -> Self {
        Self { who, hop: None, mechanism: None, program: None, reasons: vec![reason.into()] }
    }
}

/// Decides by the evidence alone.
pub fn blame(evidence: &Evidence) -> Blame {
    if evidence.hops.is_empty() {
        return Blame::of(Who::Unknown, "no hop left a record");
    }
    let text = judged(&evidence.meant);
    let parsed = grammar::parse(&text, Dialect::Bash, &Limits::default());
    if let Some(error) = parsed.error {
        return Blame::of(Who::Model, format!("the text can't be read, whoever receives it: {error}"));
    }
    let locations = locate::observed(&evidence.meant, &evidence.hops);
    let to_blame = |location: &&Location| match &location.finding {
        Finding::Same => false,
        Finding::Changed(_) => !keeps_meaning(&evidence.meant, evidence.hops.get(location.hop - 1)),
        Finding::Unobserved | Finding::Stopped(..) => true,
    };
    if let Some(location) = locations.iter().find(to_blame) {
        return by_hop(location);
    }
    let calls = calls::of(&parsed.script);
    match nested::find(&Case { text: &text, calls: &calls }, evidence) {
        Some(Reading::Outer(reason)) => {
            let mut verdict = Blame::of(Who::Path, reason);
            verdict.mechanism = Some(Mechanism::Context);
            return verdict;
        }
        Some(Reading::Nested(found)) => {
            let mut verdict = Blame::of(Who::Nested, found.reason);
            verdict.program = Some(found.program);
            verdict.mechanism = found.mechanism;
            return verdict;
        }
        None => {}
    }
    let mut verdict = Blame::of(Who::Model, "every hop received the text, and the shell can read it");
    if evidence.status == Some(127) || evidence.stderr.contains("command not found") {
        verdict.reasons.push("a program that it names is not there".to_owned());
    }
    verdict
}

/// The first hop that changed the text, or left no record.
fn by_hop(location: &Location) -> Blame {
    let name = escape(&location.name);
    let Finding::Changed(divergence) = &location.finding else {
        return Blame::of(Who::Unknown, format!("hop {} ({name}) left no record", location.hop));
    };
    let detail = divergence.detail;
    let mut found =
        Blame::of(Who::Path, format!("hop {} ({name}) received another text: {detail}", location.hop));
    found.hop = Some((location.hop, location.name.clone()));
    found.mechanism = Some(divergence.mechanism);
    found.reasons.extend(divergence.sides().lines().map(|line| line.trim_end().to_owned()));
    found
}

/// Whether what a hop received does the same: a change that changes nothing has no failure of its own. A client's
/// known wrapper counts as the text that it holds.
fn keeps_meaning(meant: &[u8], hop: Option<&(String, Option<Vec<u8>>)>) -> bool {
    let Some((_, Some(received))) = hop else { return false };
    let same = |received: &[u8]| compare(meant, received, Shell::Bash, Slow::No) != Meaning::Different;
    let text = judged(received);
    let context = Context {
        dialect: Shell::Bash,
        cwd: String::new(),
        home: String::new(),
        user: String::new(),
        uid: 0,
        workspace: None,
        environment: Rc::default(),
        arguments: Vec::new(),
        options: String::new(),
        startup: Vec::new(),
        source: None,
        input: Input::Unknown,
    };
    let envelope = envelope::read(&text, &context, Vec::new);
    same(received) || envelope.by_model().is_some_and(|body| same(&raw(body)))
}

#[cfg(test)]
mod tests;
