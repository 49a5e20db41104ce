//! A promotion for people and programs.
//!
//! In: what was gathered, what enforcing makes of it. Out: lines, one JSON object. Never: shows recorded text
//! unescaped (INVARIANT(I10)).

use serde_json::{Value, json};

use crate::cli::policy::promotion::{Fate, Gathered, Group, Held, Promotion, folder};
use crate::cli::policy::proposal::{kinds, table};
use crate::log::stats::{RuleTally, ranked_rules};
use crate::policy::Policy;
use crate::policy::fields::FIELDS;
use crate::policy::show::origin;
use crate::policy::tables::Lifted;
use crate::text::{escape, prefix, tame};
use crate::verdict::Verdict;

/// Commands that are listed as examples, and bytes of each.
const LISTED: usize = 5;
const SHORT: usize = 300;
/// Rules that are listed.
const RULES: usize = 50;

/// The line that ends observing.
pub fn switch(policy: &Policy) -> String {
    format!("enforcement = \"enforce\"   # until now: {}", observing(policy))
}

/// What the enforcement is, and where that is written.
pub fn observing(policy: &Policy) -> String {
    let place = FIELDS.iter().position(|field| field.key == "enforcement").unwrap_or_default();
    format!("{}, {}", policy.temper().enforcement.name(), origin(policy, place))
}

fn is_final(policy: &Policy, id: &str) -> bool {
    policy.rules().iter().any(|rule| rule.id == id && rule.lifted == Lifted::Never)
}

/// What was recorded by rule, and what enforcing makes of it.
pub fn summary(promotion: &Promotion, gathered: &Gathered) -> Vec<String> {
    let tally = &gathered.tally;
    let observed = tally.counts.observed;
    let mut out = vec![
        format!(
            "{} records, {observed} of them observed: what enforcing would have refused",
            gathered.looked
        ),
        format!("{} to {}, policy {}", tame(&tally.first), tame(&tally.last), promotion.policy.version()),
    ];
    if gathered.foreign > 0 {
        out.push(format!("{} lines that are no record", gathered.foreign));
    }
    out.extend(by_rule(promotion, gathered));
    out.extend([String::new(), format!("{} commands (text, folder and user):", promotion.held.len())]);
    let is_refused = |fate: &Fate| matches!(fate, Fate::Final(_));
    let is_unreached = |fate: &Fate| matches!(fate, Fate::Unreached(_));
    let sorts: [(&str, Vec<&Held>); 4] = [
        ("are refused: a final rule, which no exception lifts", promotion.where_fate(is_refused)),
        (
            "are refused: no exception reaches them (approve them one by one, or describe their program)",
            promotion.where_fate(is_unreached),
        ),
        ("would run by the exceptions below", promotion.where_fate(|fate| *fate == Fate::Exceptable)),
        ("run: the policy in force allows them", promotion.where_fate(|fate| *fate == Fate::Runs)),
    ];
    for (what, held) in sorts.iter().filter(|(_, held)| !held.is_empty()) {
        out.push(format!("{:>8}  {what}", held.len()));
        out.extend(held.iter().take(LISTED).flat_map(|held| told(held)));
        if held.len() > LISTED {
            out.push(format!("          and {} more", held.len() - LISTED));
        }
    }
    let undecided =
        promotion.held.iter().filter(|held| held.verdict == Verdict::Warn && held.fate != Fate::Runs);
    let undecided = u64::try_from(undecided.count()).unwrap_or(u64::MAX);
    for (count, what) in [
        (undecided, "are undecided (WARN): a person may approve them, or models where the policy names some"),
        (
            gathered.partial,
            "records have only a part of their text, or part of it masked: nothing is proposed",
        ),
        (gathered.beyond, "records more than are judged anew; ask for a shorter time"),
    ] {
        if count > 0 {
            out.push(format!("{count:>8}  {what}"));
        }
    }
    out.push(String::new());
    out
}

/// Rules, the one that would have refused most first, with examples.
fn by_rule(promotion: &Promotion, gathered: &Gathered) -> Vec<String> {
    let mut out = Vec::new();
    let ranked = ranked_rules(&gathered.tally.rules);
    for (id, rule) in ranked.iter().take(RULES) {
        let last = if is_final(&promotion.policy, id) { ", final" } else { "" };
        out.extend([String::new(), format!("{:>8}  {}{last}", rule.counts.observed, tame(id))]);
        out.extend(examples(rule));
    }
    if ranked.len() > RULES {
        out.push(format!("and {} more rules", ranked.len() - RULES));
    }
    let unruled = gathered.unruled.counts.observed;
    if unruled > 0 {
        out.extend([
            String::new(),
            format!("{unruled:>8}  by their sum or what is not known, without a rule"),
        ]);
        out.extend(examples(&gathered.unruled));
    }
    out
}

fn examples(rule: &RuleTally) -> impl Iterator<Item = String> {
    rule.examples.iter().take(3).map(|example| format!("          {}", shortened(&tame(&example.text))))
}

fn shortened(text: &str) -> String {
    let kept = prefix(text, SHORT);
    if kept.len() < text.len() { format!("{kept}…") } else { kept.to_owned() }
}

/// A command in a line, and why nothing lifts it.
pub fn told(held: &Held) -> Vec<String> {
    let Held { past, records, verdict, fate, .. } = held;
    let times = if *records == 1 { String::new() } else { format!("  {records} times") };
    let text = shortened(&escape(&past.text));
    let mut out = vec![format!("          {verdict} {text}  in {}{times}", escape(&past.cwd))];
    match fate {
        Fate::Final(why) | Fate::Unreached(why) => {
            out.extend(why.iter().take(3).map(|why| format!("            {}", tame(why))));
        }
        Fate::Runs | Fate::Exceptable => {}
    }
    out
}

/// What a group's exception is about and what it lets run.
pub fn described(promotion: &Promotion, number: usize, group: &Group) -> Vec<String> {
    let at = |at: &usize| promotion.held.get(*at);
    let mut out = vec![format!(
        "exception {} of {}: {} records, {} commands; by itself it lets {} of them run",
        number + 1,
        promotion.groups.len(),
        group.records,
        group.needed.len(),
        group.alone
    )];
    out.extend(group.needed.iter().take(LISTED).filter_map(at).flat_map(told));
    if group.needed.len() > LISTED {
        out.push(format!("          and {} more", group.needed.len() - LISTED));
    }
    if let ([first, ..], 4..) = (group.exception.under, group.places.len()) {
        let around = folder(first);
        if !around.is_empty() {
            out.push(format!(
                "{} places in {}: `under` may name the folder instead",
                group.places.len(),
                escape(around)
            ));
        }
    }
    if group.besides.is_empty() {
        out.push("of the other commands it would have let through none".to_owned());
    } else {
        out.push(format!("of the other commands it would have let through {}:", group.besides.len()));
        out.extend(group.besides.iter().take(LISTED).filter_map(at).flat_map(told));
    }
    out
}

/// Everything as one object; texts escaped.
pub fn object(promotion: &Promotion, gathered: &Gathered) -> Value {
    let command = |held: &Held| {
        let (fate, why) = match &held.fate {
            Fate::Runs => ("runs", &[][..]),
            Fate::Exceptable => ("exceptable", &[][..]),
            Fate::Final(why) => ("final", &why[..]),
            Fate::Unreached(why) => ("unreached", &why[..]),
        };
        json!({
            "text": escape(&held.past.text), "cwd": escape(&held.past.cwd), "uid": held.past.uid,
            "sha256": held.past.sha256, "records": held.records, "verdict": held.verdict.name(), "fate": fate,
            "why": why.iter().map(|why| tame(why)).collect::<Vec<_>>(),
        })
    };
    let rules: Vec<Value> = ranked_rules(&gathered.tally.rules)
        .into_iter()
        .map(|(id, rule)| {
            let examples: Vec<String> = rule.examples.iter().map(|example| tame(&example.text)).collect();
            json!({
                "rule": tame(id), "records": rule.counts.observed, "final": is_final(&promotion.policy, id),
                "examples": examples,
            })
        })
        .collect();
    let shown = |places: &[&str]| places.iter().map(|place| escape(place)).collect::<Vec<_>>();
    let proposals: Vec<Value> = promotion
        .groups
        .iter()
        .map(|group| {
            json!({
                "rule": group.exception.rules, "effect": kinds(&group.exception),
                "under": shown(group.exception.under), "target": shown(group.exception.targets),
                "records": group.records, "commands": group.needed, "alone": group.alone, "besides": group.besides,
                "toml": table(&group.exception, "say why"),
            })
        })
        .collect();
    json!({
        "records": gathered.looked, "observed": gathered.tally.counts.observed, "foreign": gathered.foreign,
        "first": tame(&gathered.tally.first), "last": tame(&gathered.tally.last),
        "enforcement": observing(&promotion.policy), "partial": gathered.partial, "beyond": gathered.beyond,
        "without_rule": gathered.unruled.counts.observed, "rules": rules,
        "commands": promotion.held.iter().map(command).collect::<Vec<_>>(), "proposals": proposals,
    })
}
