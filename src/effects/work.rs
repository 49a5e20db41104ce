//! Work that would be lost: files that version control doesn't hold.
//!
//! In: targets. Out: tags. Never: starts a process; looks at more than a bounded number of files.

use std::rc::Rc;

use crate::act::{Class, Kind, TagSet, tag};
use crate::effects::model::Target;
use crate::effects::walk::Walk;
use crate::place::version_control::{State, state};

impl Walk<'_, '_> {
    /// Whether what an effect replaces or removes could be had back.
    pub fn work_tags(&mut self, target: &Target, kind: Kind) -> TagSet {
        let asks = matches!(kind, Kind::Delete | Kind::Write | Kind::Move);
        if !asks || !target.classes.has(Class::Workspace) || target.resolved.contains('…') {
            return TagSet::EMPTY;
        }
        if self.state.written_at(&target.resolved).is_some() {
            return TagSet::EMPTY;
        }
        let real = self
            .core
            .places
            .resolve(&target.resolved, "/")
            .map_or_else(|| Rc::clone(&target.resolved), |r| r.real);
        match state(&real, &self.core.places.lookups) {
            State::Committed => TagSet::of(tag::COMMITTED),
            State::Modified | State::Untracked => TagSet::of(tag::UNCOMMITTED),
            State::NoRepository | State::Ignored | State::Unknown => TagSet::EMPTY,
        }
    }
}
