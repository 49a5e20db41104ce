//! One event: what was decided about which text for whom.
//!
//! In: a decision and the facts of the call. Out: [`Event`], fields that are escaped and cut.
//! Never: holds a byte that could end, split or forge a line (INVARIANT(I10)); never the whole of a
//! secret whose shape is known.

use super::mask::mask;
use crate::decision::{Coverage, Decision};
use crate::digest::Digest;
use crate::fidelity::arrival::{self as fidelity, Arrival};
use crate::invocation::process::head;
use crate::text;
use crate::verdict::Verdict;

/// What became of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Run,
    Blocked,
    /// would have been blocked; runs, since the policy only observes
    Observed,
    /// an interactive shell, whose commands nobody judges
    Unmediated,
    /// a client's hook did not object; whether it runs is the client's to say
    Passed,
    /// a client's hook had the client ask its user
    Asked,
}

impl Outcome {
    pub fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Blocked => "blocked",
            Self::Observed => "observed",
            Self::Unmediated => "unmediated",
            Self::Passed => "passed",
            Self::Asked => "asked",
        }
    }
}

/// Who asks: the process that became agent-sh.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    pub uid: u32,
    pub gid: u32,
    pub pid: u32,
    pub ppid: u32,
    /// The parent's name as the kernel has it (`/proc/PPID/comm`); untrusted, empty where unknown.
    pub parent: String,
}

impl Subject {
    /// Reads the kernel's answers about this process.
    pub fn read() -> Self {
        let ppid = nix::unistd::getppid();
        let parent = head(&format!("/proc/{ppid}/comm"));
        Self {
            uid: nix::unistd::getuid().as_raw(),
            gid: nix::unistd::getgid().as_raw(),
            pid: std::process::id(),
            ppid: u32::try_from(ppid.as_raw()).unwrap_or(0),
            parent: text::judged(parent.strip_suffix(b"\n").unwrap_or(&parent)).into_owned(),
        }
    }
}

/// What the pipeline knows besides the decision. All `str` is judged text (see [`crate::text`]).
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    pub outcome: Outcome,
    pub subject: &'a Subject,
    /// The agent framework, where it was recognised.
    pub framework: Option<&'a str>,
    /// The shape in which it passed the text (`bare`: as it is), for command strings.
    pub envelope: Option<&'a str>,
    pub cwd: &'a str,
    /// The exact bytes that were judged.
    pub text: &'a [u8],
    /// Version of the policy in force.
    pub policy: &'a str,
    /// Microseconds that the judgement took.
    pub micros: u64,
    /// The confinement's state, from `confine::Plan::state`.
    pub confinement: &'a str,
}

/// A field's value as the encoders see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Text(String),
    Number(u64),
}

/// One event, ready to be encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub(super) verdict: Verdict,
    pub(super) outcome: Outcome,
    /// Every field but the text, in order; values escaped.
    fields: Vec<(&'static str, Value)>,
    /// The masked text's beginning, not yet escaped.
    shown: String,
    /// There is text behind `shown`.
    goes_on: bool,
    /// Longest escaped text in bytes.
    pub(super) limit: usize,
}

/// Stands at the end of what was cut. Escaping doubles every backslash of untrusted text, so no text
/// can hold this mark by itself.
pub(super) const CUT: &str = "\\...";

/// Bytes of text beyond the limit that are still searched for secrets: one that the limit cuts in two
/// must be masked all the same.
const SEARCHED_BEYOND: usize = 4096;

/// Longest other text in bytes: both must fit into one line.
const OTHER: usize = 1536;

impl Event {
    /// `text_limit` is [`super::AuditPolicy::text_limit`].
    pub fn new(decision: &Decision, facts: &Facts<'_>, text_limit: usize) -> Self {
        let window = text_limit.saturating_add(SEARCHED_BEYOND);
        let judged = text::judged(facts.text.get(..window).unwrap_or(facts.text));
        Self {
            verdict: decision.verdict,
            outcome: facts.outcome,
            fields: [said(decision), asked(decision, facts)].concat(),
            shown: mask(&judged).into_owned(),
            goes_on: facts.text.len() > window,
            limit: text_limit,
        }
    }

    /// The same event, naming its line in the file's chain.
    pub(super) fn linked(&self, link: &super::chain::Link) -> Self {
        let mut out = self.clone();
        out.fields.push(("seq", Value::Number(link.number)));
        out.fields.push(("chain", Value::Text(link.chain().to_owned())));
        out
    }

    /// Adds whether the text is what was meant, and the other text where they differ: what was meant, or, where
    /// that runs instead, what was `received` (INVARIANT(I9)).
    #[must_use]
    pub fn with_arrival(mut self, arrival: &Arrival, received: Option<&[u8]>) -> Self {
        let mut add = |name, text: &str, limit| {
            self.fields.push((name, Value::Text(cut(&mask(text), limit))));
        };
        add("intent", arrival.outcome.name(), 32);
        if let Some(by) = arrival.by {
            add("intent_by", by.name(), 32);
        }
        if let Some(digest) = arrival.digest {
            add("intent_sha256", &digest.to_string(), 64);
        }
        if let fidelity::Outcome::Diverged(divergence) = &arrival.outcome {
            add("mechanism", divergence.mechanism.name(), 32);
            add("change", divergence.detail, 64);
        }
        match (received, &arrival.meant) {
            (Some(received), _) => add("received", &both_ends(&mask(&text::judged(received))), 2 * OTHER),
            (None, Some(meant)) => add("meant", &both_ends(&mask(&text::judged(meant))), 2 * OTHER),
            (None, None) => {}
        }
        self
    }

    /// Every field but the text, in order.
    pub(super) fn fields(&self) -> &[(&'static str, Value)] {
        &self.fields
    }

    /// The text, escaped, of at most `limit` bytes and the mark.
    pub(super) fn text(&self, limit: usize) -> String {
        let mut out = cut(&self.shown, limit);
        if self.goes_on && !out.ends_with(CUT) {
            out.push_str(CUT);
        }
        out
    }
}

/// What the decision says.
fn said(decision: &Decision) -> Vec<(&'static str, Value)> {
    let signals = decision.signals;
    let rules = decision.findings.iter().map(|f| &*f.rule).collect::<Vec<_>>().join(",");
    let coverage = match decision.coverage {
        Coverage::Full => "full",
        Coverage::Partial => "partial",
    };
    let number = |p: crate::verdict::Permille| Value::Text(p.to_string());
    vec![
        ("verdict", Value::Text(decision.verdict.name().to_owned())),
        ("score", number(decision.score)),
        ("structure", number(signals.structure)),
        ("semantics", number(signals.semantics)),
        ("paths", number(signals.paths)),
        ("patterns", number(signals.patterns)),
        ("rules", Value::Text(cut(&rules, 512))),
        ("coverage", Value::Text(coverage.to_owned())),
        ("notes", Value::Text(cut(&mask(&decision.notes.join("; ")), 512))),
    ]
}

/// Beginning and end of a long text: a client's wrapper has the model's text at its end.
fn both_ends(text: &str) -> String {
    let boundary = |at: usize| (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    if text.len() <= OTHER {
        return text.to_owned();
    }
    let (head, tail) = (boundary(OTHER / 3), boundary(text.len() - OTHER / 3));
    [text.get(..head).unwrap_or(""), " ... ", text.get(tail..).unwrap_or("")].concat()
}

/// The rules that exceptions lifted and where those are written, each once.
fn excepted(decision: &Decision) -> String {
    let mut all: Vec<String> =
        decision.lifts.iter().map(|lift| format!("{} by {}", lift.rule, lift.exception)).collect();
    all.sort();
    all.dedup();
    all.join("; ")
}

/// What the call was.
fn asked(decision: &Decision, facts: &Facts<'_>) -> Vec<(&'static str, Value)> {
    let Subject { uid, gid, pid, ppid, parent } = facts.subject;
    let words = |text: &str, limit| Value::Text(cut(text, limit));
    let mut out = vec![
        ("outcome", Value::Text(facts.outcome.name().to_owned())),
        ("uid", Value::Number(u64::from(*uid))),
        ("gid", Value::Number(u64::from(*gid))),
        ("pid", Value::Number(u64::from(*pid))),
        ("ppid", Value::Number(u64::from(*ppid))),
        ("parent", words(parent, 64)),
        ("cwd", words(facts.cwd, 512)),
        ("sha256", Value::Text(Digest::of(facts.text).to_string())),
        ("length", Value::Number(u64::try_from(facts.text.len()).unwrap_or(u64::MAX))),
        ("policy", words(facts.policy, 128)),
        ("micros", Value::Number(facts.micros)),
        ("confinement", words(facts.confinement, 256)),
    ];
    if let Some(framework) = facts.framework {
        out.push(("framework", words(framework, 64)));
    }
    if let Some(envelope) = facts.envelope {
        out.push(("envelope", words(envelope, 64)));
    }
    if !decision.lifts.is_empty() {
        out.push(("excepted", words(&excepted(decision), 512)));
    }
    if !decision.skips.is_empty() {
        let names: Vec<&str> = decision.skips.iter().map(|skip| skip.name()).collect();
        out.push(("skips", words(&names.join(","), 64)));
    }
    if !decision.resolution.is_empty() {
        out.push(("resolution", words(&decision.resolution, 512)));
    }
    if let Some(class) = decision.class {
        out.push(("class", words(class.name(), 64)));
    }
    out
}

/// Escapes a text and cuts it at a character's border to at most `limit` bytes and the mark.
fn cut(source: &str, limit: usize) -> String {
    let mut out = String::with_capacity(limit.min(source.len()).saturating_add(CUT.len()));
    let mut buffer = [0; 4];
    for c in source.chars() {
        let before = out.len();
        match c {
            ' '..='[' | ']'..='~' => out.push(c),
            _ => out.push_str(&text::escape(c.encode_utf8(&mut buffer))),
        }
        if out.len() > limit {
            out.truncate(before);
            out.push_str(CUT);
            break;
        }
    }
    out
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn event(text: &[u8], cwd: &str, limit: usize) -> Event {
        let subject = Subject { uid: 1000, gid: 1000, pid: 42, ppid: 41, parent: "node".to_owned() };
        let facts = Facts {
            outcome: Outcome::Blocked,
            subject: &subject,
            framework: Some("codex"),
            envelope: None,
            cwd,
            text,
            policy: "1",
            micros: 17,
            confinement: "none",
        };
        Event::new(&Decision::refused("because"), &facts, limit)
    }

    #[test]
    fn both_texts_are_in_the_record() {
        use crate::fidelity::mechanism::diagnose;
        let (meant, received) = (&b"echo 'a\\\\b'"[..], &b"echo 'a\\b'"[..]);
        let arrival = Arrival {
            outcome: fidelity::Outcome::Diverged(Box::new(diagnose(meant, received))),
            by: Some(fidelity::By::Process),
            digest: None,
            meant: Some(meant.to_vec()),
        };
        let has = |event: &Event, name, value: &str| {
            event.fields().contains(&(name, Value::Text(value.to_owned())))
        };
        let refused = event(received, "/", 100).with_arrival(&arrival, None);
        assert!(has(&refused, "intent", "diverged") && has(&refused, "mechanism", "quote-consumption"));
        assert!(has(&refused, "meant", "echo 'a\\\\\\\\b'") && refused.text(100) == "echo 'a\\\\b'");
        let repaired = event(meant, "/", 100).with_arrival(&arrival, Some(received));
        assert!(has(&repaired, "received", "echo 'a\\\\b'") && repaired.text(100) == "echo 'a\\\\\\\\b'");
    }

    #[test]
    fn cutting_keeps_whole_escapes_and_says_so() {
        let cases = [
            ("plain", 5, "plain"),
            ("plain", 4, "plai\\..."),
            ("a\nb", 2, "a\\..."),
            ("a\nb", 4, "a\\nb"),
            ("\\...", 9, "\\\\..."),
            ("\u{e9}\u{e9}", 3, "\u{e9}\\..."),
        ];
        for (text, limit, expected) in cases {
            assert_eq!(cut(text, limit), expected, "{text:?} at {limit}");
        }
    }

    #[test]
    fn the_digest_is_of_the_real_text() {
        let fields = event(b"abc", "/", 100).fields;
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert!(fields.contains(&("sha256", Value::Text(expected.to_owned()))));
        assert!(fields.contains(&("length", Value::Number(3))));
    }

    #[test]
    fn a_secret_that_the_limit_cuts_is_masked() {
        let text = format!("echo AKIA{}", "Q".repeat(16));
        assert_eq!(event(text.as_bytes(), "/", 12).text(12), "echo AKIA***");
    }

    #[test]
    fn a_text_longer_than_the_window_is_marked() {
        let event = event(&[b'a'; 10_000], "/", 8);
        assert_eq!(event.text(8), "aaaaaaaa\\...");
    }
}
