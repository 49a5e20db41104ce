//! Who is to blame for a call that failed: the model, the path, or a shell or language within the text.
//!
//! In: evidence: the text that was meant, what each hop received, status and standard error. Out: [`Blame`]
//! with its reasons. Never: runs anything; decides where a hop before the decision left no record.

use serde::Deserialize;

use crate::fidelity::locate::{self, Finding};
use crate::fidelity::mechanism::Mechanism;
use crate::fidelity::nested;
use crate::syntax::bounds::Limits;
use crate::syntax::grammar::{self, Dialect};
use crate::text::{escape, judged};

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
    let text = judged(&evidence.meant);
    let locations = locate::observed(&evidence.meant, &evidence.hops);
    match locate::first(&locations) {
        Some(location) => match &location.finding {
            Finding::Changed(divergence) => {
                let mut found = Blame::of(
                    Who::Path,
                    format!(
                        "hop {} ({}) received another text: {}",
                        location.hop,
                        escape(&location.name),
                        divergence.detail
                    ),
                );
                found.hop = Some((location.hop, location.name.clone()));
                found.mechanism = Some(divergence.mechanism);
                found.reasons.extend(divergence.sides().lines().map(|line| line.trim_end().to_owned()));
                return found;
            }
            Finding::Unobserved | Finding::Stopped(..) | Finding::Same => {
                let reason = format!("hop {} ({}) left no record", location.hop, escape(&location.name));
                return Blame::of(Who::Unknown, reason);
            }
        },
        None if evidence.hops.is_empty() => return Blame::of(Who::Unknown, "no hop left a record"),
        None => {}
    }
    let parsed = grammar::parse(&text, Dialect::Bash, &Limits::default());
    if let Some(error) = parsed.error {
        return Blame::of(Who::Model, format!("every hop received the text, and it can't be read: {error}"));
    }
    if let Some(found) = wrapped(evidence, &text, nested::has_shell(&parsed.script)) {
        return found;
    }
    if let Some(found) = nested::find(&parsed.script, &text, evidence) {
        let mut verdict = Blame::of(Who::Nested, found.reason);
        verdict.program = Some(found.program);
        verdict.mechanism = found.mechanism;
        return verdict;
    }
    let mut verdict =
        Blame::of(Who::Model, "every hop received the text to the byte, and the shell can read it");
    if evidence.status == Some(127) || evidence.stderr.contains("command not found") {
        verdict.reasons.push("a program that it names is not there".to_owned());
    }
    verdict
}

/// Signs in standard error that the shell read more than the text, which it can read by itself: a syntax error
/// where no other shell is in sight, at a line behind the last, or about a word that isn't in the text.
fn wrapped(evidence: &Evidence, text: &str, inner: nested::Inner) -> Option<Blame> {
    let lines = text.lines().count().max(1);
    for line in evidence.stderr.lines() {
        let Some((number, rest)) = shell_line(line) else { continue };
        let syntax = rest.contains("syntax error")
            || rest.contains("unexpected EOF")
            || rest.contains("here-document");
        if !syntax {
            continue;
        }
        let beyond = number > lines + 1 || inner == nested::Inner::NoShell && number > lines;
        let quoted = rest.split('`').nth(1).and_then(|part| part.split('\'').next()).unwrap_or("");
        let foreign = !quoted.is_empty() && quoted != "newline" && !text.contains(quoted);
        if beyond || foreign || inner == nested::Inner::NoShell {
            let why = if !beyond && !foreign {
                "is about a text that can be read by itself"
            } else if beyond {
                "names a line behind the text's last"
            } else {
                "quotes a word that isn't in the text"
            };
            let mut found = Blame::of(Who::Path, format!("the shell's error {why}: {}", escape(line)));
            found.mechanism = Some(Mechanism::Context);
            return Some(found);
        }
    }
    None
}

/// `bash: line 3: …`, `bash: -c: line 3: …`, `sh: 3: …`, `/bin/sh: eval: line 3: …`.
pub fn shell_line(line: &str) -> Option<(usize, &str)> {
    let (name, mut rest) = line.split_once(": ")?;
    let base = name.rsplit('/').next().unwrap_or(name);
    if !matches!(base, "bash" | "sh" | "dash" | "zsh" | "-bash" | "eval") {
        return None;
    }
    for _ in 0..3 {
        let (piece, behind) = rest.split_once(": ")?;
        let digits = piece.strip_prefix("line ").unwrap_or(piece);
        if let Ok(number) = digits.parse() {
            return Some((number, behind));
        }
        rest = behind;
    }
    None
}

#[cfg(test)]
mod tests;
