//! Effects: what a script would do, found by walking it as a shell would, without running anything.
//!
//! In: judged text, context, policy, world. Out: [`Effects`] with resolved targets and provenance.
//! Never: changes the machine; leaves out a command that may run.

pub mod acts;
pub mod aftermath;
pub mod afterthought;
pub mod arguments;
pub mod builtins;
pub mod call;
pub mod compound;
pub mod conditions;
pub mod core;
pub mod counted;
pub mod declare;
pub mod edit;
pub mod fields;
pub mod files;
pub mod foreign;
pub mod handlers;
pub mod inject;
pub mod interpret;
pub mod landing;
pub mod leaving;
pub mod loops;
pub mod model;
pub mod nested;
pub mod options;
pub mod positions;
pub mod print;
pub mod printed;
pub mod read;
pub mod redirect;
pub mod roles;
pub mod shells;
pub mod simple;
pub mod suspect;
pub mod targets;
pub mod walk;
pub mod work;

use std::rc::Rc;

use crate::canonical::state::State;
use crate::canonical::value::Data;
use crate::invocation::context::Context;
use crate::place::index::Index;
use crate::policy::Policy;
use crate::syntax::bounds::Limits;
use crate::world::World;

use self::core::{Apart, Budget, Core};
use self::model::{Calls, Effects};
use self::walk::Walk;
use crate::place::places::Places;

/// Walks a text and says what it would do.
pub fn of(text: &str, context: &Context, policy: (&Policy, &Index), world: &dyn World) -> Effects {
    walked(text, None, context, (policy, world)).0
}

/// Walks a wrapper, and by itself the text that it evaluates: what the wrapper would do, and what the text
/// would. `None` where the walk doesn't come to the text.
pub fn apart(
    wrapper: &str,
    text: &str,
    context: &Context,
    policy: (&Policy, &Index),
    world: &dyn World,
) -> (Effects, Option<Effects>) {
    let apart = Apart { text: text.to_owned(), found: None };
    walked(wrapper, Some(apart), context, (policy, world))
}

fn walked(
    text: &str,
    apart: Option<Apart>,
    context: &Context,
    ((policy, index), world): ((&Policy, &Index), &dyn World),
) -> (Effects, Option<Effects>) {
    let mut core = Core {
        policy,
        world,
        context,
        places: Places::new(context, index, world),
        limits: bounds(&policy.temper().limits),
        budget: Budget::of(&policy.temper().limits),
        found: Effects { calls: Calls::NONE, ..Effects::default() },
        unit: Rc::from(""),
        nested: 0,
        substitutions: 0,
        pending: Vec::new(),
        next_path: 0,
        anchor: None,
        apart,
    };
    let state = State::new(context);
    let mut walk = Walk { core: &mut core, state, stdin: Data::inherited(), calling: Vec::new() };
    for (name, body) in exported(context) {
        walk.unit(&format!("{name} {body}"));
        walk.state.source = None;
    }
    for named in &context.startup {
        walk.startup(named);
    }
    walk.unit(text);
    if core.places.lookups.state() == crate::place::lookup::Budget::Exhausted {
        core.doubt(crate::act::UnknownKind::Limit, "questions to the machine", crate::text::Span::default());
    }
    (core.found, core.apart.and_then(|apart| apart.found))
}

/// Functions that bash takes from its environment, by name.
fn exported(context: &Context) -> Vec<(&str, &str)> {
    let variables = context.environment.iter();
    let mut functions: Vec<(&str, &str)> = variables
        .filter_map(|(name, value)| {
            Some((name.strip_prefix("BASH_FUNC_")?.strip_suffix("%%")?, value.as_str()))
        })
        .filter(|(_, body)| body.starts_with("() {"))
        .collect();
    functions.sort_unstable();
    functions
}

/// The policy's limits in the parsers' words.
fn bounds(limits: &crate::policy::temper::Limits) -> Limits {
    let size = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
    Limits { bytes: size(limits.text_bytes), depth: limits.depth, second: size(limits.second_opinion_bytes) }
}
