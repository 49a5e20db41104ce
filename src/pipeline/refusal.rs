//! What the caller is told when a command is held back: why, where, what to do instead.
//!
//! In: the judged text and its [`Decision`]. Out: lines for standard error.
//! Never: shows a control byte of the text (INVARIANT(I10)); says how to get round the refusal.

use std::fmt::Write as _;

use crate::decision::{Decision, Finding};
use crate::text::{Span, escape, slice};
use crate::verdict::Verdict;

/// Columns of the text that are shown around the offending piece.
const WIDTH: usize = 100;

/// The whole message, several lines, each ending in a newline.
pub fn message(text: &str, decision: &Decision) -> String {
    let mut out = String::new();
    let finding = decision.findings.iter().max_by_key(|finding| (finding.verdict, finding.weight));
    match finding {
        Some(finding) => told(&mut out, text, finding),
        None => {
            let _ = writeln!(out, "agent-sh: denied: {}", reason(decision));
        }
    }
    for other in decision.findings.iter().filter(|other| Some(*other) != finding).take(2) {
        let _ = writeln!(out, "also: {} [{}]", other.reason, other.rule);
    }
    if let Some(finding) = finding {
        let _ = writeln!(out, "instead: {}", finding.instead);
    }
    out.push_str(
        "note: the text arrived intact and nothing was run; \
         do not rewrite or obfuscate it to try again, it is judged by what it does\n",
    );
    out
}

fn told(out: &mut String, text: &str, finding: &Finding) {
    let _ = writeln!(out, "agent-sh: denied: {} [{}]", finding.reason, finding.rule);
    if let Some((line, before, width)) = excerpt(text, finding.span) {
        let number =
            text.get(..finding.span.start as usize).map_or(0, |before| before.matches('\n').count()) + 1;
        let place = if text.contains('\n') { format!("line {number}: ") } else { String::new() };
        let before = before + place.len();
        let _ = writeln!(out, "  {place}{line}\n  {}{}", " ".repeat(before), "^".repeat(width));
    }
}

/// Why, where no rule says it.
fn reason(decision: &Decision) -> String {
    if let Some(note) = decision.notes.first() {
        return escape(note);
    }
    match (decision.verdict, decision.unknowns.first()) {
        (_, Some(unknown)) => format!("it could not be understood well enough: {}", escape(&unknown.detail)),
        (Verdict::Warn, None) => format!("undecided, its risk score is {}", decision.score),
        (Verdict::Allow | Verdict::Deny, None) => format!("its risk score is {}", decision.score),
    }
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
    fn a_decision_without_findings_gives_its_note() {
        let text = message("x", &Decision::refused("a\nb"));
        assert!(text.starts_with("agent-sh: denied: a\\nb\nnote: "), "{text}");
    }
}
