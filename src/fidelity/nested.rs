//! Whether a shell or language that a text starts itself read its own part otherwise than it was written.
//!
//! In: the text's calls, evidence. Out: [`Nested`], or that the outer shell was changed behind its last record.
//! Never: blames one whose own part arrived as it was written and which failed for another reason than reading it.

use crate::fidelity::blame::Evidence;
use crate::fidelity::calls::{Call, Code, Loss, Reader};
use crate::fidelity::complaint::{self, About, Complaint, Place};
use crate::fidelity::mechanism::Mechanism;
use crate::text::{escape, judged};

/// A program within the text that read its part otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nested {
    pub program: String,
    pub mechanism: Option<Mechanism>,
    pub reason: String,
}

/// Who a complaint is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    Nested(Nested),
    /// The shell that got the whole text got more, or less, than that; the reason.
    Outer(String),
}

/// What is known of a call that the text itself can be read.
pub struct Case<'t> {
    pub text: &'t str,
    pub calls: &'t [Call],
}

/// The first complaint that says who read what otherwise.
pub fn find(case: &Case<'_>, evidence: &Evidence) -> Option<Reading> {
    if let Some(found) = case.calls.iter().find_map(|call| by_probe(call, evidence)) {
        return Some(Reading::Nested(found));
    }
    evidence.stderr.lines().find_map(|line| {
        if let Some(found) = by_language(case, line, &evidence.stderr) {
            return Some(Reading::Nested(found));
        }
        by_shell(case, line, &Complaint::read(line)?)
    })
}

/// A probe saw what the program received, and it is not what the text says.
fn by_probe(call: &Call, evidence: &Evidence) -> Option<Nested> {
    let Code::Literal(literal) = &call.code else { return None };
    let seen = evidence.nested.iter().find(|argv| {
        let program = argv.first().map(|word| judged(word).into_owned()).unwrap_or_default();
        program.rsplit('/').next() == Some(&call.program)
    })?;
    let arrived = seen.iter().any(|word| *judged(word) == **literal);
    (!arrived).then(|| Nested {
        program: call.program.clone(),
        mechanism: None,
        reason: format!("{} received other arguments than the text gives it", call.program),
    })
}

fn by_language(case: &Case<'_>, line: &str, stderr: &str) -> Option<Nested> {
    let call = case.calls.iter().find(|call| match call.reader {
        Reader::Language(language) => {
            // quotes that the outer shell took make names of what was text
            let named = || complaint::unknown_name(line).is_some_and(|name| case.text.contains(name));
            language.complains(line, stderr) || call.code == Code::Open(Loss::Expanded) && named()
        }
        Reader::Shell(_) => false,
    })?;
    Some(blamed(call, line))
}

fn blamed(call: &Call, line: &str) -> Nested {
    let expanded = matches!(call.code, Code::Open(Loss::Expanded | Loss::Stolen));
    Nested {
        program: call.program.clone(),
        mechanism: expanded.then_some(Mechanism::ReExpansion),
        reason: format!("{} could not read its part of the text: {}", call.program, escape(line)),
    }
}

fn by_shell(case: &Case<'_>, line: &str, said: &Complaint<'_>) -> Option<Reading> {
    let shells: Vec<&Call> = case
        .calls
        .iter()
        .filter(|call| matches!(call.reader, Reader::Shell(_)))
        .filter(
            |call| if said.place == Place::Eval { call.program == "eval" } else { call.speaks(said.speaker) },
        )
        .collect();
    let of = |is: &dyn Fn(&Call) -> bool| shells.iter().find(|call| is(call)).map(|call| blamed(call, line));
    let open = |call: &Call| matches!(call.code, Code::Open(_));
    let nested = match said.about {
        About::Grammar(token) => return grammar(case, &shells, line, said, token),
        About::HereDocument(end) => return here_document(case, &shells, line, end),
        About::Expression(subject) => {
            let elsewhere = subject.is_some_and(|subject| outside(case, |rest| rest.contains(subject)));
            let holds = |call: &Call| match (&call.code, subject) {
                (Code::Literal(code), Some(subject)) => code.contains(subject) || call.program != "bash",
                (Code::Literal(_), None) | (Code::Open(_), _) => true,
            };
            of(&holds).filter(|_| !elsewhere)
        }
        About::Test => {
            of(&open).filter(|_| !outside(case, |rest| rest.contains("test ") || rest.contains("[ ")))
        }
        // what the text nowhere names came about on the way to the inner shell
        About::Name(name) => of(&open).filter(|_| !case.text.contains(name)),
        About::Source(_) => None,
    };
    nested.map(Reading::Nested)
}

/// Whether something holds for the text without what it gives to other shells.
fn outside(case: &Case<'_>, is: impl Fn(&str) -> bool) -> bool {
    let mut rest = String::new();
    let mut at = 0;
    let mut spans: Vec<(usize, usize)> = (case.calls.iter())
        .filter(|call| matches!(call.reader, Reader::Shell(_)))
        .filter_map(|call| call.span.map(|span| (span.start as usize, span.end as usize)))
        .collect();
    spans.sort_unstable();
    for (start, end) in spans {
        rest.push_str(case.text.get(at..start).unwrap_or(""));
        at = at.max(end);
    }
    rest.push_str(case.text.get(at..).unwrap_or(""));
    is(&rest)
}

/// A complaint about the grammar, though the whole text can be read: an inner shell's about its own part, or the
/// outer one's about something that stands around the text.
fn grammar(
    case: &Case<'_>,
    shells: &[&Call],
    line: &str,
    said: &Complaint<'_>,
    token: Option<&str>,
) -> Option<Reading> {
    let outer = |why: &str| Some(Reading::Outer(format!("the shell's error {why}: {}", escape(line))));
    let open = shells.iter().find(|call| matches!(call.code, Code::Open(_)));
    let nested = |call: &Call| Some(Reading::Nested(blamed(call, line)));
    let foreign = token.is_some_and(|token| !case.text.contains(token));
    let beyond = said.line.is_some_and(|number| number > case.text.lines().count().max(1) + 1);
    match (open, shells.iter().find(|call| call.is_unreadable())) {
        (None, _) if beyond => outer("names a line behind the text's last"),
        (None, _) if foreign => outer("quotes a word that isn't in the text"),
        (Some(call), _) | (None, Some(call)) => nested(call),
        (None, None) => {
            // these shells' grammars are not ours: what our reader takes they may not
            let other = shells.iter().find(|call| !matches!(call.program.as_str(), "bash" | "eval"));
            match other.filter(|call| call.program == said.speaker) {
                Some(call) => nested(call),
                None => outer("is about a text that can be read by itself"),
            }
        }
    }
}

fn here_document(case: &Case<'_>, shells: &[&Call], line: &str, end: &str) -> Option<Reading> {
    let ends = |text: &str| text.lines().any(|line| line.trim_start_matches('\t') == end);
    let begins = |text: &str| text.contains("<<") && text.contains(end);
    let inner = shells.iter().find(|call| match &call.code {
        Code::Literal(code) => begins(code) && !ends(code),
        Code::Open(_) => true,
    });
    if let Some(call) = inner {
        return Some(Reading::Nested(blamed(call, line)));
    }
    // the text's own: then it is as it was written
    if begins(case.text) && !ends(case.text) {
        return None;
    }
    Some(Reading::Outer(format!(
        "the shell misses the end of a here-document that the text has: {}",
        escape(line)
    )))
}
