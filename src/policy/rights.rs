//! What layers below root's may add.
//!
//! In: a file's shape and the policy that it goes on top of. Out: an error for what might relax it.
//! Never: trusts that an addition makes things stricter; only what can't relax passes (INVARIANT(I6)).

use crate::act::{Class, ClassSet};
use crate::policy::merged::Policy;
use crate::policy::shapes::{FileShape, PlaceShape};
use crate::policy::source::{PolicyError, Source};
use crate::policy::tables::{Pattern, Rule};
use crate::text::escape;

/// Classes that make things worse wherever they are put.
const PROTECTED: [Class; 12] = [
    Class::Secret,
    Class::System,
    Class::Config,
    Class::Boot,
    Class::Account,
    Class::Persistence,
    Class::AgentConfig,
    Class::OwnState,
    Class::ControlSocket,
    Class::Personal,
    Class::OtherHome,
    Class::DropSite,
];

/// Refuses what only root may add. `rules` are those in force.
pub fn check_additions(
    source: &Source<'_>,
    file: &FileShape<'_>,
    policy: &Policy,
    rules: &[&Rule],
) -> Result<(), PolicyError> {
    // A description says what a program does not do, and the best match of a score may be a lower one.
    let roots = [
        ("command", file.commands.first().map(|(name, _)| name.span())),
        ("semantic", file.semantics.first().map(|shape| shape.as_ref().when.span())),
        ("path", file.paths.first().map(|shape| shape.as_ref().when.span())),
    ];
    for (what, span) in roots {
        if let Some(span) = span {
            let message =
                format!("a `{what}` may relax the policy, so only root adds it, in /etc/agent-sh/policy.d");
            return Err(source.problem(span, message));
        }
    }
    file.places.iter().try_for_each(|place| check_place(source, place.as_ref(), policy, rules))
}

/// A place may only be protected, and no pattern may be one that a class lifts.
fn check_place(
    source: &Source<'_>,
    place: &PlaceShape,
    policy: &Policy,
    rules: &[&Rule],
) -> Result<(), PolicyError> {
    let span = place.class.span();
    let Some(class) = Class::parse(place.class.as_ref()) else { return Ok(()) };
    if !PROTECTED.contains(&class) {
        let names = PROTECTED.map(Class::name).join(", ");
        let message =
            format!("a `{}` place may relax the policy; this layer adds only: {names}", class.name());
        return Err(source.problem(span, message));
    }
    let lifts = |pattern: &Pattern| pattern.not_under.has_any(ClassSet::of(class));
    let rules = rules.iter().filter(|rule| rule.when.iter().any(lifts)).map(|rule| rule.origin);
    let semantics = policy.semantics.iter().filter(|entry| lifts(&entry.when)).map(|entry| entry.origin);
    let paths = policy.paths.iter().filter(|entry| lifts(&entry.when)).map(|entry| entry.origin);
    match rules.chain(semantics).chain(paths).next() {
        Some(origin) => {
            let (class, origin) = (class.name(), escape(origin));
            let message = format!(
                "a `{class}` place would lift what {origin} says of places that aren't, so only root adds it"
            );
            Err(source.problem(span, message))
        }
        None => Ok(()),
    }
}
