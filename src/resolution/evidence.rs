//! The evidence object: what a judge, or a person, is shown of an undecided command.
//!
//! In: a decision, the call. Out: JSON, and lines for people. Never: shows untrusted text unescaped
//! (INVARIANT(I10)); leaves part of the command out: what is too large is not asked.

use serde_json::{Value, json};

use super::call::Call;
use crate::act::Class;
use crate::decision::Decision;
use crate::effects::model::Effect;
use crate::policy::Policy;
use crate::policy::tables::SemanticClass;
use crate::text::{escape, escape_bytes};

/// Bytes of a text, and effects, that are shown to a model.
const TEXT: usize = 32 << 10;
const EFFECTS: usize = 400;

/// The evidence; `None` if there is too much of it to be shown whole.
pub fn object(decision: &Decision, call: &Call<'_>, policy: &Policy) -> Option<Value> {
    if call.text.len() > TEXT || decision.effects.len() > EFFECTS || decision.canonical.len() > 2 * TEXT {
        return None;
    }
    let effect = |effect: &Effect| {
        json!({
            "effect": effect.kind.name(),
            "target": escape(&effect.target.resolved),
            "places": effect.target.classes.iter().map(Class::name).collect::<Vec<_>>(),
            "how": effect.tags.iter().map(|tag| policy.tag_name(tag)).collect::<Vec<_>>(),
            "program": escape(&effect.program),
        })
    };
    let findings: Vec<Value> = decision
        .findings
        .iter()
        .map(|f| json!({"rule": &*f.rule, "family": f.family.name(), "weight": f.weight.to_string(), "reason": &*f.reason}))
        .collect();
    let unknowns: Vec<Value> = decision
        .unknowns
        .iter()
        .map(|u| json!({"what": u.what.name(), "detail": escape(&u.detail)}))
        .collect();
    Some(json!({
        "command": escape_bytes(call.text),
        "arguments": arguments(call),
        "directory": escape(call.cwd),
        "home": escape(call.home),
        "canonical": escape(&decision.canonical),
        "effects": decision.effects.iter().map(effect).collect::<Vec<_>>(),
        "findings": findings,
        "unknown": unknowns,
        "class": decision.class.map(SemanticClass::name),
        "score": {
            "total": decision.score.to_string(),
            "structure": decision.signals.structure.to_string(),
            "semantics": decision.signals.semantics.to_string(),
            "paths": decision.signals.paths.to_string(),
            "patterns": decision.signals.patterns.to_string(),
        },
    }))
}

/// The words around the text: how the shell is called, and what the text sees as `$0`, `$1` and so on.
pub(super) fn arguments(call: &Call<'_>) -> Vec<String> {
    call.words.iter().map(|word| escape_bytes(word)).collect()
}

/// Why a command was held back and what it would do, for a person.
pub fn lines(decision: &Decision) -> Vec<String> {
    let mut out = vec![format!("{}, risk score {}", decision.verdict, decision.score)];
    out.extend(decision.findings.iter().take(8).map(|f| format!("{} [{}]", f.reason, f.rule)));
    out.extend(
        decision
            .unknowns
            .iter()
            .take(8)
            .map(|u| format!("not known: {}: {}", u.what.name(), escape(&u.detail))),
    );
    out.extend(decision.notes.iter().take(4).map(|note| escape(note)));
    let effects = decision.effects.iter().take(40);
    out.extend(
        effects.map(|e| format!("{} {} ({})", e.kind.name(), escape(&e.target.resolved), escape(&e.program))),
    );
    if decision.effects.len() > 40 {
        out.push(format!("and {} further effects", decision.effects.len() - 40));
    }
    out
}
