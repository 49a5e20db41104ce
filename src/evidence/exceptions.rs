//! Which rules root's exceptions lift of one effect.
//!
//! In: a rule or a class that an effect has, the policy. Out: the exception that lifts it, if one does.
//! Never: lifts of an effect whose place is not certain; never looks at the verdict: an exception names
//! rules, and what else is there counts.

use crate::act::{Class, ClassSet, tag};
use crate::effects::model::Effect;
use crate::policy::Policy;
use crate::policy::exception::{CLASS, Exception, Standing};
use crate::policy::tables::{Lifted, Rule, SemanticClass};

/// The exception that lifts `rule` of `effect`.
pub(super) fn of_rule(policy: &Policy, rule: &Rule, effect: &Effect) -> Option<&'static Exception> {
    if policy.exceptions().is_empty() || rule.lifted == Lifted::Never {
        return None;
    }
    holding(policy, effect).find(|exception| exception.rules.contains(&rule.id))
}

/// The exception that names a class of an effect, and the name that it has there (`class.destructive`).
pub(super) fn of_class(
    policy: &Policy,
    class: SemanticClass,
    effect: &Effect,
) -> Option<(&'static Exception, &'static str)> {
    let is_named = |id: &&str| id.strip_prefix(CLASS) == Some(class.name());
    holding(policy, effect).find_map(|exception| {
        let id = exception.rules.iter().copied().find(is_named)?;
        Some((exception, id))
    })
}

/// The exceptions that hold for an effect here, now, and on this caller's behalf.
fn holding(policy: &Policy, effect: &Effect) -> impl Iterator<Item = &'static Exception> {
    let callers = policy.callers();
    policy.exceptions().iter().filter(move |exception| {
        exception.standing == Standing::InForce
            && exception.kinds & effect.kind.bit() != 0
            && (exception.agent.is_empty() || callers.contains(&exception.agent))
            && is_at(exception, effect)
    })
}

/// Whether the effect's target certainly lies at one of the exception's places.
fn is_at(exception: &Exception, effect: &Effect) -> bool {
    let target = &*effect.target.resolved;
    let is_certain = !target.is_empty()
        && !target.contains('…')
        && !effect.tags.has(tag::UNKNOWN_TARGET)
        && !effect.target.classes.has_any(ClassSet::of(Class::Unknown));
    is_certain
        && (exception.targets.contains(&target) || exception.under.iter().any(|place| lies_in(target, place)))
}

/// Whether a path is a place or lies below it.
fn lies_in(path: &str, place: &str) -> bool {
    let below = path.strip_prefix(place).and_then(|rest| rest.strip_prefix('/'));
    path == place || below.is_some_and(|rest| rest.split('/').all(|part| part != ".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_end_at_slashes() {
        for (path, expected) in [
            ("/srv/build", true),
            ("/srv/build/", true),
            ("/srv/build/x/y", true),
            ("/srv/build*", false),
            ("/srv/builder", false),
            ("/srv", false),
            ("/srv/build/../etc", false),
            ("srv/build/x", false),
            ("", false),
        ] {
            assert_eq!(lies_in(path, "/srv/build"), expected, "{path}");
        }
    }
}
