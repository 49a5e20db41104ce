//! Targets: what a word names, resolved against the machine and classified.
//!
//! In: fields. Out: [`Target`]s, tags that describe them, expanded globs. Never: changes the machine.

use std::borrow::Cow;
use std::rc::Rc;

use crate::act::{Class, ClassSet, Kind, TagSet, UnknownKind, tag};
use crate::canonical::value::{Field, HOLE};
use crate::effects::core::Core;
use crate::effects::fields::made;
use crate::effects::model::Target;
use crate::effects::walk::Walk;
use crate::place::classify::Follow;
use crate::place::expand::{Dots, Expansion, Globstar, Options};
use crate::place::glob::Extended;
use crate::place::host;
use crate::place::resolve::{Climbs, Resolved, Through};

/// Names that one glob may stand for.
const GLOBBED: usize = 256;

/// What a path is looked at for.
fn follow(kind: Kind) -> Follow {
    if matches!(kind, Kind::Delete | Kind::Move | Kind::Link) { Follow::Entry } else { Follow::Goal }
}

/// Holes as people and places see them.
fn shown(text: &str) -> Cow<'_, str> {
    if text.contains(HOLE) { Cow::Owned(text.replace(HOLE, "…")) } else { Cow::Borrowed(text) }
}

impl Core<'_> {
    /// Resolves and classifies a path.
    pub fn place(&self, written: &str, cwd: &str, how: Follow) -> (Option<Resolved>, ClassSet) {
        self.places.place(&shown(written), &shown(cwd), how)
    }
}

impl Walk<'_, '_> {
    /// The place that a field names, as reads and writes see it.
    pub fn path_target(&mut self, field: &Field) -> Target {
        self.path_target_for(field, Kind::Read)
    }

    /// The place that a field names, as an effect of this kind sees it: some act on a link, not through it.
    pub fn path_target_for(&mut self, field: &Field, kind: Kind) -> Target {
        let written: Rc<str> = field.text.as_str().into();
        let contained = self.state.ambient.has(tag::IN_CONTAINER);
        let remote = self.state.ambient.has(tag::ON_REMOTE_HOST);
        if contained {
            return self.contained_target(&written, kind);
        }
        let (found, mut classes) = self.core.place(&field.text, &self.state.cwd, follow(kind));
        if remote {
            // another machine's relative paths are not this workspace
            classes = classes
                .without(Class::Workspace)
                .without(Class::WorkspaceRoot)
                .without(Class::WorkspaceParent);
        }
        let resolved = found.map_or_else(|| Rc::clone(&written), |r| r.lexical);
        if let Some(path) = self.through_own_links(&resolved, follow(kind)) {
            let (found, classes) = self.core.place(&path, "/", follow(kind));
            let resolved = found.map_or_else(|| path.as_str().into(), |r| r.lexical);
            return Target { written, resolved, classes };
        }
        Target { written, resolved, classes }
    }

    /// A path in a container: the host's where a mount leads there, else of no class.
    fn contained_target(&mut self, written: &Rc<str>, kind: Kind) -> Target {
        let inside = crate::place::resolve::normal(&if written.starts_with('/') {
            written.to_string()
        } else {
            format!("{}/{written}", self.state.cwd)
        });
        let mount = self
            .state
            .mounts
            .iter()
            .filter_map(|(at, host)| {
                crate::place::resolve::below(&inside, at).map(|rest| (at.len(), host, rest))
            })
            .max_by_key(|(length, ..)| *length);
        let Some((_, host, rest)) = mount else {
            return Target { written: Rc::clone(written), resolved: inside.into(), classes: ClassSet::EMPTY };
        };
        let path = format!("{}/{rest}", host.trim_end_matches('/'));
        let (found, classes) = self.core.place(&path, "/", follow(kind));
        let resolved = found.map_or_else(|| path.as_str().into(), |r| r.lexical);
        Target { written: Rc::clone(written), resolved, classes }
    }

    /// The resolved path of a field, for notes on files that the script writes.
    pub fn resolved(&mut self, field: &Field) -> String {
        self.path_target(field).resolved.to_string()
    }

    /// Tags that describe a path as a target.
    pub fn path_tags(&mut self, target: &Target, field: &Field, kind: Kind) -> TagSet {
        let mut tags = TagSet::EMPTY;
        let (found, _) = self.core.place(&field.text, &self.state.cwd, follow(kind));
        if let Some(found) = found {
            tags = tags.with(if found.exists.is_some() { tag::EXISTS } else { tag::MISSING });
            if found.climbs == Climbs::Yes {
                tags = tags.with(tag::CLIMBS);
            }
            if found.through != Through::Nothing {
                tags = tags.with(tag::THROUGH_LINK);
            }
        }
        if field.has_hole() || target.resolved.starts_with('…') {
            tags = tags.with(tag::UNKNOWN_TARGET);
        }
        if let Some(pattern) = &field.pattern {
            tags = tags.with(tag::GLOB);
            let last = pattern.trim_end_matches('/').rsplit('/').next().unwrap_or(pattern);
            if matches!(last, "*" | "**" | ".*" | "{*,.*}" | ".[!.]*" | "?*" | "*.*") {
                tags = tags.with(tag::GLOB_ALL);
            }
        }
        let roots = ClassSet::of(Class::Root)
            .with(Class::HomeRoot)
            .with(Class::WorkspaceRoot)
            .with(Class::WorkspaceParent);
        if target.classes.has_any(roots) {
            tags = tags.with(tag::EXACT);
        }
        tags
    }

    /// A host or URL.
    pub fn host_target(&mut self, field: &Field) -> Target {
        let text = field.text.replace(HOLE, "…");
        let peer = host::read(&text);
        let classes = self.core.places.classes_of_peer(&peer);
        Target { written: text.as_str().into(), resolved: text.as_str().into(), classes }
    }

    /// Pathname expansion of a field; what does not match stays as it is.
    pub fn globbed(&mut self, field: Field) -> Vec<Field> {
        let Some(pattern) = field.pattern.clone() else { return vec![field] };
        if self.state.option('f') || pattern.contains(HOLE) || self.state.cwd.contains(HOLE) {
            return vec![field];
        }
        let on = |name: &str| self.state.switches.iter().any(|s| s == name);
        let options = Options {
            extended: Extended::Yes,
            globstar: if on("globstar") { Globstar::On } else { Globstar::Off },
            dots: if on("dotglob") { Dots::Shown } else { Dots::Hidden },
            limit: GLOBBED,
        };
        match crate::place::expand::expand(&pattern, &self.state.cwd, &self.core.places.lookups, options) {
            Expansion::Paths(paths) => {
                let whole =
                    matches!(pattern.trim_end_matches('/').rsplit('/').next(), Some("*" | ".*" | "**"));
                let mut out: Vec<Field> = paths.into_iter().map(|text| made(text, &field)).collect();
                if whole {
                    // everything in a folder is more than the sum of its names: the pattern is kept, too
                    out.push(field);
                }
                out
            }
            Expansion::TooMany => {
                // the pattern stands for them all, and its place is known
                self.core.doubt(UnknownKind::Value, "pathname expansion", field.span);
                vec![field]
            }
            Expansion::NoMatch => vec![field],
        }
    }
}
