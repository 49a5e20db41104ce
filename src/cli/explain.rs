//! `agent-shctl explain`: verdict, score by view, effects with resolved targets, findings, unknowns.
//!
//! In: one command. Out: text for people, or one JSON object. Never: shows untrusted text unescaped.

use std::io::Write;
use std::process::ExitCode;

use crate::cli::context::{Asked, context, own_environment, policy_in_force};
use crate::cli::ruleset::{self, Agent};
use crate::decision::{Coverage, Decision};
use crate::invocation::context::Dialect;
use crate::text::{Span, escape, slice};
use crate::verdict::Verdict;
use crate::verify::Judge;
use crate::world::Machine;

pub fn run(options: &clap::ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let text = options.get_one::<String>("command").cloned().unwrap_or_default();
    let option = |name: &str| options.get_one::<String>(name).cloned();
    let dialect = match options.get_one::<String>("shell").map(String::as_str) {
        Some("sh") => Dialect::Posix,
        _ => Dialect::Bash,
    };
    let asked = Asked {
        cwd: option("cwd"),
        home: option("home"),
        workspace: option("workspace"),
        environment: None,
        dialect,
    };
    let context = context(asked, &own_environment());
    let agent = Agent::of(option("agent"));
    let policy = policy_in_force()?;
    // exceptions of an agent's own hold where it is named, not for who asks by hand
    let judge = Judge::new(match agent {
        Agent::Caller => policy,
        Agent::Named(_) | Agent::Program(_) => policy.for_callers(&agent.programs()),
    });
    let decision = judge.verify(&text, &context, &Machine);
    let held = ruleset::ruleset(&decision, &context, judge.policy(), &agent);
    if options.get_flag("json") {
        let mut object = object(&decision, &judge);
        if let Some(fields) = object.as_object_mut() {
            fields.insert("confinement".to_owned(), ruleset::object(&held));
        }
        writeln!(out, "{object}")?;
    } else {
        people(&decision, &judge, &text, out)?;
        ruleset::people(&held, out)?;
    }
    Ok(match decision.verdict {
        Verdict::Allow => ExitCode::SUCCESS,
        Verdict::Warn | Verdict::Deny => ExitCode::from(1),
    })
}

fn tags(judge: &Judge, set: crate::act::TagSet) -> Vec<&'static str> {
    set.iter().map(|t| judge.policy().tag_name(t)).collect()
}

/// The decision as one JSON object.
pub fn object(decision: &Decision, judge: &Judge) -> serde_json::Value {
    let span = |s: Span| serde_json::json!([s.start, s.end]);
    let effects: Vec<_> = decision
        .effects
        .iter()
        .map(|e| {
            serde_json::json!({
                "effect": e.kind.name(),
                "target": escape(&e.target.resolved),
                "written": escape(&e.target.written),
                "classes": e.target.classes.iter().map(crate::act::Class::name).collect::<Vec<_>>(),
                "tags": tags(judge, e.tags),
                "program": escape(&e.program),
                "span": span(e.span),
            })
        })
        .collect();
    let findings: Vec<_> = decision
        .findings
        .iter()
        .map(|f| {
            serde_json::json!({
                "rule": &*f.rule, "family": f.family.name(), "tier": f.tier.name(),
                "weight": f.weight.to_string(), "verdict": f.verdict.name(),
                "reason": &*f.reason, "instead": &*f.instead, "effect": f.effect, "span": span(f.span),
            })
        })
        .collect();
    let unknowns: Vec<_> = decision
        .unknowns
        .iter()
        .map(
            |u| serde_json::json!({"what": u.what.name(), "detail": escape(&u.detail), "span": span(u.span)}),
        )
        .collect();
    serde_json::json!({
        "verdict": decision.verdict.name(),
        "score": decision.score.to_string(),
        "views": {
            "structure": decision.signals.structure.to_string(),
            "semantics": decision.signals.semantics.to_string(),
            "paths": decision.signals.paths.to_string(),
            "patterns": decision.signals.patterns.to_string(),
        },
        "class": decision.class.map(crate::policy::tables::SemanticClass::name),
        "coverage": coverage(decision.coverage),
        "effects": effects,
        "findings": findings,
        "unknowns": unknowns,
        "excepted": decision.lifts.iter().map(|l| serde_json::json!({
            "rule": l.rule, "effect": l.effect, "exception": escape(l.exception),
        })).collect::<Vec<_>>(),
        "skips": decision.skips.iter().map(|s| s.name()).collect::<Vec<_>>(),
        "canonical": escape(&decision.canonical),
        "notes": decision.notes.iter().map(|n| escape(n)).collect::<Vec<_>>(),
        "policy": judge.policy().version(),
    })
}

fn coverage(coverage: Coverage) -> &'static str {
    match coverage {
        Coverage::Full => "full",
        Coverage::Partial => "partial",
    }
}

/// A line of the text with a caret under a span.
pub fn caret(text: &str, span: Span) -> String {
    let start = span.start as usize;
    let line_start = text.get(..start).and_then(|t| t.rfind('\n')).map_or(0, |i| i + 1);
    let line_end = text.get(start..).and_then(|t| t.find('\n')).map_or(text.len(), |i| start + i);
    let shown = escape(text.get(line_start..line_end).unwrap_or(""));
    let before = escape(text.get(line_start..start).unwrap_or("")).chars().count();
    let marked = escape(slice(
        text,
        Span { start: span.start, end: span.end.min(u32::try_from(line_end).unwrap_or(u32::MAX)) },
    ));
    format!("    {shown}\n    {}{}", " ".repeat(before), "^".repeat(marked.chars().count().max(1)))
}

fn unknowns(decision: &Decision, out: &mut dyn Write) -> anyhow::Result<()> {
    if !decision.unknowns.is_empty() {
        writeln!(out, "\nunknown")?;
    }
    for u in &decision.unknowns {
        writeln!(out, "  {:<12} {}", u.what.name(), escape(&u.detail))?;
    }
    Ok(())
}

fn people(decision: &Decision, judge: &Judge, text: &str, out: &mut dyn Write) -> anyhow::Result<()> {
    let s = decision.signals;
    writeln!(
        out,
        "{}  score {}  coverage {}",
        decision.verdict,
        decision.score,
        coverage(decision.coverage)
    )?;
    writeln!(
        out,
        "  structure {}  semantics {}  paths {}  patterns {}",
        s.structure, s.semantics, s.paths, s.patterns
    )?;
    if let Some(class) = decision.class {
        writeln!(out, "  class {} {}", class.name(), decision.class_score)?;
    }
    for finding in &decision.findings {
        writeln!(
            out,
            "\n{}: {} [{}, {}]",
            finding.verdict.max(Verdict::Warn),
            finding.reason,
            finding.rule,
            finding.weight
        )?;
        writeln!(out, "{}", caret(text, finding.span))?;
        if !finding.instead.is_empty() {
            writeln!(out, "    instead: {}", finding.instead)?;
        }
    }
    if !decision.effects.is_empty() {
        writeln!(out, "\neffects")?;
    }
    for e in &decision.effects {
        let classes = e.target.classes.iter().map(crate::act::Class::name).collect::<Vec<_>>().join(" ");
        writeln!(
            out,
            "  {:<10} {:<32} {}  [{}] {{{}}}",
            e.kind.name(),
            escape(&e.target.resolved),
            escape(&e.program),
            classes,
            tags(judge, e.tags).join(" ")
        )?;
    }
    for lift in &decision.lifts {
        writeln!(out, "\nexcepted: {} [{}]", lift.rule, escape(lift.exception))?;
    }
    unknowns(decision, out)?;
    if !decision.skips.is_empty() {
        let names = decision.skips.iter().map(|s| s.name()).collect::<Vec<_>>().join(", ");
        writeln!(out, "\nan undecided command would be refused without asking: {names}")?;
    }
    writeln!(out, "\ncanonical")?;
    for line in decision.canonical.lines() {
        writeln!(out, "  {}", escape(line))?;
    }
    Ok(())
}
