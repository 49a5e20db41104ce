//! What the caller is told when a command is held back: why, where, what to do instead.
//!
//! In: the judged text and its [`Decision`]. Out: lines for standard error.
//! Never: shows a control byte of the text (INVARIANT(I10)); says how to get round the refusal.

use std::fmt::Write as _;

use crate::act::{Kind, UnknownKind};
use crate::decision::{Decision, Finding};
use crate::effects::model::Effect;
use crate::resolution::Person;
use crate::text::{Span, escape, slice};
use crate::verdict::Verdict;

/// Columns of the text that are shown around the offending piece.
const WIDTH: usize = 100;

/// The whole message, several lines, each ending in a newline.
pub fn message(text: &str, decision: &Decision) -> String {
    let mut out = reasons(text, decision, "agent-sh: denied: ");
    out.push_str(
        "note: the text arrived intact and nothing was run; \
         do not rewrite or obfuscate it to try again, it is judged by what it does\n",
    );
    out
}

/// The same for a person who is asked whether an undecided command may run.
pub fn question(text: &str, decision: &Decision) -> String {
    reasons(text, decision, "agent-sh asks: ")
}

fn reasons(text: &str, decision: &Decision, opening: &str) -> String {
    let mut out = opening.to_owned();
    let finding = decision.findings.iter().max_by_key(|finding| (finding.verdict, finding.weight));
    let instead = match finding {
        Some(finding) => by_rule(&mut out, text, finding),
        None => by_sum(&mut out, text, decision),
    };
    for other in decision.findings.iter().filter(|other| Some(*other) != finding).take(2) {
        let _ = writeln!(out, "also: {} [{}]", other.reason, other.rule);
    }
    if !instead.is_empty() {
        let _ = writeln!(out, "instead: {instead}");
    }
    out
}

/// How the caller goes on, on one line: whether a person could let it run, and what to do for that.
pub fn way_on(person: &Person) -> String {
    match person {
        Person::NotNeeded => String::new(),
        Person::Can(code) => format!(
            "approval: stop and ask your user to run `agent-shctl approve {code}` in a terminal of theirs, which only they \
             can; then call exactly the same command again from the same directory\n"
        ),
        Person::Unreachable => {
            "approval: nobody can be asked from here: call it on its own, not from inside another command, \
                                and it will say how\n"
                .to_owned()
        }
        Person::Never => {
            "approval: nobody can allow this through agent-sh; tell your user what you need and why\n"
                .to_owned()
        }
    }
}

fn by_rule(out: &mut String, text: &str, finding: &Finding) -> String {
    let _ = writeln!(out, "{} [{}]", finding.reason, finding.rule);
    point(out, text, finding.span);
    finding.instead.to_string()
}

/// Why, where no rule says it: a note, a thing that is not known, or the sum. Gives what to do instead.
fn by_sum(out: &mut String, text: &str, decision: &Decision) -> String {
    if let Some(note) = decision.notes.first() {
        let _ = writeln!(out, "{}", escape(note));
        return String::new();
    }
    let word = if decision.verdict == Verdict::Warn { "undecided, its" } else { "its" };
    let Some(unknown) = decision.unknowns.first() else {
        let _ = writeln!(out, "{word} risk score is {}", decision.score);
        would(out, decision);
        return "act on paths inside the project, or ask the person you work for to run it".to_owned();
    };
    let detail = escape(&unknown.detail);
    let _ = writeln!(
        out,
        "{word} risk score is {}, and part of it is not known: {}: {detail}",
        decision.score,
        what(unknown.what)
    );
    point(out, text, unknown.span);
    would(out, decision);
    match unknown.what {
        UnknownKind::Syntax => "correct it; bash -n FILE says what is wrong with a script",
        UnknownKind::Limit => "give it in smaller parts",
        UnknownKind::Disagreement
        | UnknownKind::Program
        | UnknownKind::Description
        | UnknownKind::Code
        | UnknownKind::Target
        | UnknownKind::Value => "write that part out in plain words, without what is only known when it runs",
    }
    .to_owned()
}

/// What was not known, in words.
fn what(kind: UnknownKind) -> &'static str {
    match kind {
        UnknownKind::Syntax => "its syntax",
        UnknownKind::Disagreement => "shells read it differently",
        UnknownKind::Limit => "it is too large or too deep",
        UnknownKind::Program => "which program it runs",
        UnknownKind::Description => "what this program does",
        UnknownKind::Code => "what this code does",
        UnknownKind::Target => "what it acts on",
        UnknownKind::Value => "a value",
    }
}

/// The effects that change something, the first few.
fn would(out: &mut String, decision: &Decision) {
    let changes =
        |effect: &&Effect| !matches!(effect.kind, Kind::Read | Kind::List | Kind::Execute | Kind::Discover);
    let mut told: Vec<String> = Vec::new();
    for effect in decision.effects.iter().filter(changes) {
        let target =
            if effect.target.resolved.is_empty() { &effect.target.written } else { &effect.target.resolved };
        let line = format!("{} {}", effect.kind.name(), cut_end(&escape(target), 60)).trim_end().to_owned();
        if !told.contains(&line) && told.len() < 4 {
            told.push(line);
        }
    }
    if !told.is_empty() {
        let _ = writeln!(out, "it would: {}", told.join("; "));
    }
}

/// Shows the piece of the text with a caret under it.
fn point(out: &mut String, text: &str, span: Span) {
    let Some((line, before, width)) = excerpt(text, span) else { return };
    let number = text.get(..span.start as usize).map_or(0, |before| before.matches('\n').count()) + 1;
    let place = if text.contains('\n') { format!("line {number}: ") } else { String::new() };
    let before = before + place.len();
    let _ = writeln!(out, "  {place}{line}\n  {}{}", " ".repeat(before), "^".repeat(width));
}

/// The line in which the span begins, escaped and cut; columns before the span; columns of it.
fn excerpt(text: &str, span: Span) -> Option<(String, usize, usize)> {
    let piece = slice(text, span);
    let first = piece.lines().next().filter(|line| !line.is_empty())?;
    let start = span.start as usize;
    let line_start = text.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
    let before = escape(text.get(line_start..start)?);
    let after = text.get(start + first.len()..)?.lines().next().unwrap_or("");
    let (piece, after) = (escape(first), escape(after));
    let cut: String = cut_end(&piece, WIDTH);
    let width = cut.chars().count().max(1);
    let room = WIDTH.saturating_sub(width);
    let before = cut_start(&before, room / 2 + room % 2);
    let after = cut_end(&after, room.saturating_sub(before.chars().count()));
    Some((format!("{before}{cut}{after}"), before.chars().count(), width))
}

fn cut_end(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    text.chars().take(limit.saturating_sub(1)).chain(['…']).collect()
}

fn cut_start(text: &str, limit: usize) -> String {
    let count = text.chars().count();
    if count <= limit {
        return text.to_owned();
    }
    std::iter::once('…').chain(text.chars().skip(count - limit.saturating_sub(1).min(count))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::tables::{Family, Tier};
    use crate::verdict::Permille;

    fn denied(text: &str, piece: &str) -> String {
        let start = text.find(piece).unwrap();
        let finding = Finding {
            rule: "filesystem.delete-system".into(),
            family: Family::Destructive,
            tier: Tier::Mitre,
            weight: Permille::ONE,
            confidence: Permille::ONE,
            verdict: Verdict::Deny,
            reason: "deletes files that the operating system needs".into(),
            instead: "delete inside the project directory".into(),
            effect: 0,
            span: Span::new(start, start + piece.len()),
            lifted: crate::policy::tables::Lifted::ByException,
        };
        message(text, &Decision { verdict: Verdict::Deny, findings: vec![finding], ..Decision::default() })
    }

    #[test]
    fn a_refusal_shows_the_piece_the_rule_and_the_way_out() {
        assert_eq!(
            denied("cd /\nls; rm -rf /etc && echo \x1b[2J\nls", "rm -rf /etc"),
            "agent-sh: denied: deletes files that the operating system needs [filesystem.delete-system]\n\
             \x20 line 2: ls; rm -rf /etc && echo \\x1b[2J\n\
             \x20             ^^^^^^^^^^^\n\
             instead: delete inside the project directory\n\
             note: the text arrived intact and nothing was run; \
             do not rewrite or obfuscate it to try again, it is judged by what it does\n"
        );
    }

    #[test]
    fn long_lines_are_cut_around_the_piece() {
        let text = format!("echo {}; rm -rf /etc; echo {}", "a".repeat(500), "b".repeat(500));
        let shown = denied(&text, "rm -rf /etc");
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[1].chars().count() <= WIDTH + 2 && lines[1].contains("rm -rf /etc"));
        let column = lines[2].find('^').unwrap();
        let under: String = lines[1].chars().skip(column).take(11).collect();
        assert_eq!(under, "rm -rf /etc");
    }

    #[test]
    fn a_sum_tells_what_is_not_known_and_what_it_would_do() {
        use crate::effects::model::{Target, Unknown};
        let effect = Effect {
            kind: Kind::Delete,
            target: Target { written: "x".into(), resolved: "/srv/x".into(), ..Target::default() },
            tags: crate::act::TagSet::EMPTY,
            program: "rm".into(),
            span: Span::new(0, 4),
        };
        let unknown = Unknown { what: UnknownKind::Target, detail: "$Y".into(), span: Span::new(5, 7) };
        let decision = Decision {
            verdict: Verdict::Warn,
            score: Permille::new(300),
            effects: vec![effect.clone(), effect],
            unknowns: vec![unknown],
            ..Decision::default()
        };
        assert_eq!(
            message("rm x $Y", &decision),
            "agent-sh: denied: undecided, its risk score is 0.300, and part of it is not known: what it acts on: $Y\n\
             \x20 rm x $Y\n\
             \x20      ^^\n\
             it would: delete /srv/x\n\
             instead: write that part out in plain words, without what is only known when it runs\n\
             note: the text arrived intact and nothing was run; \
             do not rewrite or obfuscate it to try again, it is judged by what it does\n"
        );
    }

    #[test]
    fn a_decision_without_findings_gives_its_note() {
        let text = message("x", &Decision::refused("a\nb"));
        assert!(text.starts_with("agent-sh: denied: a\\nb\nnote: "), "{text}");
    }
}
