//! The four views of CARE over the effects: structure, semantics, paths, patterns.
//!
//! In: [`Effects`], the policy. Out: [`Evidence`]: signals and findings. Never: reads the text again; never
//! lets one effect excuse another (each signal is a maximum).

mod exceptions;
pub mod matching;

use crate::act::{Kind, TagSet, UnknownKind, tag};
use crate::decision::{Finding, Lift};
use crate::effects::model::{Effect, Effects, Indicator, Unknown};
use crate::policy::Policy;
use crate::policy::sought::Marks;
use crate::policy::tables::{Pattern, SemanticClass};
use crate::policy::temper::{Temper, Unknowns, Unsure};
use crate::score::Signals;
use crate::verdict::{Permille, Verdict};

use matching::matches;

/// What the views say.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    pub signals: Signals,
    pub class: Option<SemanticClass>,
    pub class_score: Permille,
    pub findings: Vec<Finding>,
    /// What exceptions lifted.
    pub lifts: Vec<Lift>,
    /// The strongest verdict that an unknown demands by itself.
    pub unknown: Verdict,
}

/// CARE's severities of structure (III-B, L1).
fn severity(indicator: Indicator) -> Permille {
    Permille::new(match indicator {
        Indicator::None => 0,
        Indicator::Pipe => 50,
        Indicator::Substitution => 300,
        Indicator::NestedSubstitution => 600,
        Indicator::Evaluation => 900,
        Indicator::PipeToInterpreter => 1000,
    })
}

/// Gathers the evidence.
pub fn gather(effects: &Effects, policy: &Policy) -> Evidence {
    let mut evidence = Evidence::default();
    evidence.signals.structure = severity(effects.structure.highest);
    for (index, effect) in effects.list.iter().enumerate() {
        let seen = Seen { effect, index, marks: Marks::of(&effect.target.resolved) };
        match patterns(seen, policy, &mut evidence) {
            Standing::Excepted => {}
            Standing::Ordinary => {
                semantics(seen, policy, &mut evidence);
                paths(seen, policy, &mut evidence);
            }
        }
    }
    for unknown in &effects.unknowns {
        let unsure = weight_of(unknown, effects, policy.temper());
        evidence.unknown = evidence.unknown.max(unsure.verdict);
        raise_class(&mut evidence, SemanticClass::Unknown, unsure.score);
    }
    evidence.findings.sort_by(|a, b| b.weight.cmp(&a.weight).then_with(|| a.rule.cmp(&b.rule)));
    evidence
}

fn raise_class(evidence: &mut Evidence, class: SemanticClass, score: Permille) {
    let higher = score > evidence.class_score;
    // equal scores: the graver class, so that the order of effects does not matter (INVARIANT(I7))
    let graver = score == evidence.class_score && evidence.class.is_none_or(|c| class > c);
    if higher || graver {
        evidence.class = Some(class);
        evidence.class_score = score;
    }
    evidence.signals.semantics = evidence.signals.semantics.max(score);
}

/// An effect that is looked at.
#[derive(Clone, Copy)]
struct Seen<'e> {
    effect: &'e Effect,
    index: usize,
    /// Of its target.
    marks: Marks,
}

impl Seen<'_> {
    fn fits(&self, pattern: &Pattern) -> bool {
        matches(pattern, self.effect, self.marks)
    }
}

fn semantics(seen: Seen<'_>, policy: &Policy, evidence: &mut Evidence) {
    for number in policy.sieves().semantics.of_kind(seen.effect.kind) {
        let Some(entry) = policy.semantics().get(number) else { continue };
        if seen.fits(&entry.when) {
            raise_class(evidence, entry.class, entry.score);
        }
    }
}

fn paths(seen: Seen<'_>, policy: &Policy, evidence: &mut Evidence) {
    for number in policy.sieves().paths.of_kind(seen.effect.kind) {
        let Some(entry) = policy.path_weights().get(number) else { continue };
        if entry.score > evidence.signals.paths && seen.fits(&entry.when) {
            evidence.signals.paths = entry.score;
        }
    }
}

/// How an effect stands to root's exceptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Ordinary,
    /// Rules spoke of it, and each of them was lifted: root has said that this may happen here, so its
    /// class and place don't count either.
    Excepted,
}

fn patterns(seen: Seen<'_>, policy: &Policy, evidence: &mut Evidence) -> Standing {
    let (effect, index) = (seen.effect, seen.index);
    let mut lifted = classes(seen, policy, evidence);
    let mut kept = false;
    for number in policy.sieves().rules.of_kind(effect.kind) {
        let Some(rule) = policy.rules().get(number) else { continue };
        if !rule.when.iter().any(|when| seen.fits(when)) {
            continue;
        }
        if let Some(exception) = exceptions::of_rule(policy, rule, effect) {
            lifted = true;
            evidence.lifts.push(Lift { rule: rule.id, effect: index, exception: exception.origin });
            continue;
        }
        kept = true;
        let weight = policy.temper().tiers.of(rule.tier).times(rule.confidence);
        evidence.signals.patterns = evidence.signals.patterns.max(weight);
        if evidence.findings.iter().any(|f| *f.rule == *rule.id) {
            continue;
        }
        evidence.findings.push(Finding {
            rule: rule.id.into(),
            family: rule.family,
            tier: rule.tier,
            weight,
            confidence: rule.confidence,
            verdict: rule.verdict,
            reason: rule.reason.into(),
            instead: rule.instead.into(),
            effect: index,
            span: effect.span,
            lifted: rule.lifted,
        });
    }
    if lifted && !kept { Standing::Excepted } else { Standing::Ordinary }
}

/// Whether an exception names a class that this effect has.
fn classes(seen: Seen<'_>, policy: &Policy, evidence: &mut Evidence) -> bool {
    if policy.exceptions().is_empty() {
        return false;
    }
    let (effect, index) = (seen.effect, seen.index);
    let mut named = false;
    for entry in policy.semantics().iter().filter(|entry| seen.fits(&entry.when)) {
        if let Some((exception, rule)) = exceptions::of_class(policy, entry.class, effect) {
            let lift = Lift { rule, effect: index, exception: exception.origin };
            if !evidence.lifts.contains(&lift) {
                evidence.lifts.push(lift);
            }
            named = true;
        }
    }
    named
}

/// What an unknown weighs, by its kind and, for programs, by where they live.
fn weight_of(unknown: &Unknown, effects: &Effects, temper: &Temper) -> Unsure {
    let table = &temper.unknown;
    match unknown.what {
        UnknownKind::Syntax => table.syntax,
        UnknownKind::Disagreement => table.disagreement,
        UnknownKind::Limit => table.limit,
        UnknownKind::Program => table.program,
        UnknownKind::Code => table.code,
        UnknownKind::Target => table.target,
        UnknownKind::Value => table.value,
        UnknownKind::Description => {
            // texts in texts share one place: the gravest program there counts (INVARIANT(I5), (I7))
            let programs = effects.list.iter().filter(|e| e.kind == Kind::Unknown && e.span == unknown.span);
            let lives = programs.map(|e| where_it_lives(e.tags, table));
            lives.reduce(graver).unwrap_or(table.description.system)
        }
    }
}

/// The more of each.
fn graver(a: Unsure, b: Unsure) -> Unsure {
    Unsure { score: a.score.max(b.score), verdict: a.verdict.max(b.verdict) }
}

/// What a program without description weighs where it lives.
fn where_it_lives(tags: TagSet, table: &Unknowns) -> Unsure {
    let table = &table.description;
    if tags.has(tag::PROGRAM_FETCHED) {
        table.downloaded
    } else if tags.has(tag::PROGRAM_IN_TEMPORARY) {
        table.temporary
    } else if tags.has(tag::PROGRAM_IN_WORKSPACE) {
        table.workspace
    } else if tags.has(tag::PROGRAM_IN_HOME) {
        table.home
    } else if tags.has(tag::NO_SUCH_PROGRAM) {
        table.missing
    } else {
        table.system
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invocation::context::Context;
    use crate::place::index::Index;
    use crate::policy::sieve::Sieves;
    use crate::world::Machine;

    /// A list that is read from another end, kept for the life of the test.
    fn turned<T: Copy>(list: &[T], by: usize) -> &'static [T] {
        let mut list = list.to_vec();
        let at = by % list.len().max(1);
        list.rotate_left(at);
        list.reverse();
        Vec::leak(list)
    }

    /// INVARIANT(I7)
    #[test]
    fn the_order_of_rules_and_scores_never_matters() {
        let policy = Policy::embedded();
        let index = Index::new(policy.place_layers());
        let context = Context { cwd: "/w".to_owned(), home: "/home/u".to_owned(), ..Context::default() };
        let said = |e: &Evidence| {
            let mut rules: Vec<String> = e.findings.iter().map(|f| f.rule.to_string()).collect();
            rules.sort();
            (e.signals, e.class, e.class_score, e.unknown, rules)
        };
        for rule in policy.rules() {
            for text in rule.hits {
                let found = crate::effects::of(text, &context, (&policy, &index), &Machine);
                let straight = said(&gather(&found, &policy));
                for by in [0, 1, 97] {
                    let (rules, semantics, paths) =
                        (turned(policy.rules, by), turned(policy.semantics, by), turned(policy.paths, by));
                    let sieves: &Sieves = Box::leak(Box::new(Sieves::of(rules, semantics, paths)));
                    let other = Policy { rules, semantics, paths, sieves, ..policy };
                    assert_eq!(said(&gather(&found, &other)), straight, "{text}");
                }
            }
        }
    }
}
