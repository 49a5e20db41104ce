//! Whether an effect is what a pattern asks for: bits first, names last.
//!
//! In: a [`Pattern`], an [`Effect`] with the marks of its target. Out: yes or no. Never: allocates.

use crate::act::ClassSet;
use crate::effects::model::Effect;
use crate::place::pattern::target;
use crate::policy::sought::{Marks, Sought};
use crate::policy::tables::Pattern;

/// Empty parts of the pattern don't ask.
pub fn matches(pattern: &Pattern, effect: &Effect, marks: Marks) -> bool {
    let named = |sought: &Sought| marks.has_all(sought.needs) && target(sought.glob, &effect.target.resolved);
    let classes = effect.target.classes;
    (pattern.kinds == 0 || pattern.kinds & effect.kind.bit() != 0)
        && (pattern.under == ClassSet::EMPTY || classes.has_any(pattern.under))
        && !classes.has_any(pattern.not_under)
        && effect.tags.has_all(pattern.all)
        && (pattern.any.is_empty() || effect.tags.has_any(pattern.any))
        && !effect.tags.has_any(pattern.none)
        && (pattern.programs.is_empty() || pattern.programs.contains(&&*effect.program))
        && !pattern.not_programs.contains(&&*effect.program)
        && (pattern.targets.is_empty() || pattern.targets.iter().any(named))
        && !pattern.not_targets.iter().any(named)
}
