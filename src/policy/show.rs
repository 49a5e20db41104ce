//! `agent-shctl policy show`: every value in force, with the file and line that it came from.
//!
//! In: a [`Policy`]. Out: text. Never: shows text of a file unescaped (INVARIANT(I10)).

use std::fmt::Write as _;

use crate::policy::embedded;
use crate::policy::exception::Standing;
use crate::policy::fields::{FIELDS, written};
use crate::policy::merged::{Became, Policy};
use crate::policy::tables::Lifted;
use crate::text::escape;

/// The whole policy: layers, settings, rules, scores, places, programs.
pub fn show(policy: &Policy) -> String {
    let mut out = format!("policy {}\n", policy.version());
    for layer in policy.layers() {
        line(&mut out, &["layer", layer.kind.name(), &escape(layer.path)]);
    }
    out.push_str("\n# settings\n");
    for (place, field) in FIELDS.iter().enumerate() {
        line(
            &mut out,
            &[&format!("{} = {}", field.key, written(policy.temper(), field)), "#", &origin(policy, place)],
        );
    }
    rules(&mut out, policy);
    exceptions(&mut out, policy);
    scores(&mut out, policy);
    out.push_str("\n# places\n");
    for place in policy.places() {
        let patterns: Vec<String> = place.patterns.iter().map(|pattern| escape(pattern)).collect();
        let except: Vec<String> = place.except.iter().map(|pattern| escape(pattern)).collect();
        let but = if except.is_empty() { String::new() } else { format!("except {}", except.join(" ")) };
        line(&mut out, &["place", place.class.name(), &patterns.join(" "), &but]);
    }
    out.push_str("\n# programs\n");
    let mut seen = std::collections::BTreeMap::new();
    for (name, command) in policy.commands() {
        seen.entry(name).or_insert(command.origin);
    }
    for (name, origin) in seen {
        line(&mut out, &["command", &escape(name), "#", &escape(origin)]);
    }
    out
}

/// Where a setting comes from; `place` is its index in [`FIELDS`].
pub fn origin(policy: &Policy, place: usize) -> String {
    let later = policy.settings.iter().rev().find(|(field, _)| *field == place);
    match (later, embedded::BASE_LINES.get(place)) {
        (Some((_, origin)), _) => escape(origin),
        (None, Some(number)) if *number > 0 => format!("embedded base.toml:{number}"),
        (None, Some(_) | None) => "default".to_owned(),
    }
}

fn rules(out: &mut String, policy: &Policy) {
    out.push_str("\n# rules\n");
    let mut rules = policy.rules().to_vec();
    rules.sort_by_key(|rule| rule.id);
    for rule in rules {
        let weight = policy.temper().tiers.of(rule.tier).times(rule.confidence).to_string();
        let last = match rule.lifted {
            Lifted::Never => "final",
            Lifted::ByException => "",
        };
        line(out, &["rule", rule.id, rule.verdict.name(), &weight, last, "#", &escape(rule.origin)]);
    }
    for change in policy.changed() {
        let what = match change.became {
            Became::Disabled => "disabled",
            Became::Enabled => "enabled",
            Became::Changed => "changed",
            Became::Expired => "expired",
        };
        line(out, &["override", change.rule.id, what, &escape(change.reason), "#", &escape(change.origin)]);
    }
}

/// What root lets through.
fn exceptions(out: &mut String, policy: &Policy) {
    for exception in policy.exceptions() {
        let standing = match exception.standing {
            Standing::InForce => "",
            Standing::Expired => "expired",
        };
        let places: Vec<String> =
            exception.under.iter().chain(exception.targets).map(|place| escape(place)).collect();
        let agent = if exception.agent.is_empty() {
            String::new()
        } else {
            format!("for {}", escape(exception.agent))
        };
        line(
            out,
            &[
                "exception",
                &exception.rules.join(" "),
                "at",
                &places.join(" "),
                &agent,
                standing,
                &escape(exception.reason),
                "#",
                &escape(exception.origin),
            ],
        );
    }
}

fn scores(out: &mut String, policy: &Policy) {
    out.push_str("\n# scores\n");
    for entry in policy.semantics() {
        line(out, &["semantic", entry.class.name(), &entry.score.to_string(), "#", &escape(entry.origin)]);
    }
    for entry in policy.path_weights() {
        line(out, &["path", &entry.score.to_string(), "#", &escape(entry.origin)]);
    }
}

/// Writes words that aren't empty, separated by spaces.
fn line(out: &mut String, words: &[&str]) {
    let words: Vec<&str> = words.iter().copied().filter(|word| !word.is_empty()).collect();
    let _ = writeln!(out, "{}", words.join(" "));
}
