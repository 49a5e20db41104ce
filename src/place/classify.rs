//! What a path is: the classes of the place it names and of the place it leads to.
//!
//! In: resolved paths, the setting, the policy's places. Out: a set of classes.
//! Never: lets a link excuse a path: classes that excuse count only if both the name and its goal have
//! them.

use super::index::{Index, Subject};
use super::lookup::Lookups;
use super::resolve::{Climbs, Resolved, UNKNOWN, below, is_within};
use super::setting::Setting;
use crate::act::{Class, ClassSet};

/// Which of a resolved path's ends an act concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// reads, writes, runs, chmod: what a final link leads to
    Goal,
    /// delete, move, link: the entry itself
    Entry,
}

const fn set(classes: &[Class]) -> ClassSet {
    let mut bits = ClassSet::EMPTY;
    let mut rest = classes;
    while let [first, more @ ..] = rest {
        bits = bits.with(*first);
        rest = more;
    }
    bits
}

/// Classes for which rules let acts pass.
const EXCUSES: ClassSet =
    set(&[Class::Workspace, Class::Generated, Class::Temporary, Class::Cache, Class::Null, Class::Script]);

/// Classes that a path in the workspace does not have: the workspace was accepted as one.
const OUTSIDE_WORKSPACE: ClassSet = set(&[
    Class::System,
    Class::Config,
    Class::Mounted,
    Class::Outside,
    Class::Home,
    Class::OtherHome,
    Class::Personal,
    Class::PathFolder,
]);

/// Classes that say where a path is; one that has none of them is outside.
const LOCATIONS: ClassSet = set(&[
    Class::Root,
    Class::System,
    Class::Config,
    Class::Boot,
    Class::Device,
    Class::Kernel,
    Class::Home,
    Class::HomeRoot,
    Class::OtherHome,
    Class::Workspace,
    Class::WorkspaceParent,
    Class::Temporary,
    Class::Null,
    Class::Endless,
    Class::Mounted,
    Class::Unknown,
]);

/// Classes of what an act on a resolved path concerns.
pub fn classify(resolved: &Resolved, follow: Follow, index: &Index, at: (&Setting, &Lookups)) -> ClassSet {
    let goal = match follow {
        Follow::Goal => &resolved.real,
        Follow::Entry => &resolved.place,
    };
    let of_goal = classify_path(goal, index, at);
    if *goal == resolved.lexical {
        return of_goal;
    }
    let of_name = classify_path(&resolved.lexical, index, at);
    let both = ClassSet(of_goal.0 & of_name.0);
    let excuses = ClassSet(both.0 & EXCUSES.0);
    ClassSet((of_goal.0 | of_name.0) & !EXCUSES.0).union(excuses)
}

/// Classes of one absolute path in normal form (or one that begins with `…`).
pub fn classify_path(path: &str, index: &Index, (setting, lookups): (&Setting, &Lookups)) -> ClassSet {
    if path.starts_with(UNKNOWN) {
        return classify_tail(path, index);
    }
    let home = setting.home.as_ref().and_then(|home| home.below(path));
    let somebody = below_customary_home(path);
    let workspace = setting.workspace(lookups);
    let in_workspace = workspace.and_then(|area| area.below(path));
    let root = path.strip_prefix('/').unwrap_or(path);
    let subject = Subject {
        root: Some(root),
        homes: [home, somebody.filter(|_| home != somebody)],
        workspace: in_workspace,
        anywhere: root,
    };
    let mut found = index.classes(&subject);
    if let Some(home) = &setting.home
        && home.is_below(path)
    {
        found = found.with(Class::HomeRoot);
    }
    found = match (home, somebody) {
        (Some(""), _) => found.with(Class::Home).with(Class::HomeRoot),
        (Some(_), _) => found.with(Class::Home),
        (None, Some(_)) => found.with(Class::OtherHome),
        (None, None) => found,
    };
    if setting.temporary.as_ref().is_some_and(|area| area.below(path).is_some()) {
        found = found.with(Class::Temporary);
    }
    if workspace.is_some_and(|area| area.is_below(path)) {
        found = found.with(Class::WorkspaceParent);
    }
    if let Some(rest) = in_workspace {
        found = ClassSet(found.0 & !OUTSIDE_WORKSPACE.0).with(Class::Workspace);
        if rest.is_empty() {
            found = found.with(Class::WorkspaceRoot);
        }
    }
    finish(found, path, index, (setting, lookups))
}

/// What depends on the classes found so far.
fn finish(mut found: ClassSet, path: &str, index: &Index, at: (&Setting, &Lookups)) -> ClassSet {
    if !found.has_any(LOCATIONS) {
        found = found.with(Class::Outside);
    }
    if !found.has_any(set(&[Class::Workspace, Class::Temporary])) {
        found = found.without(Class::Script);
    }
    // generated things lie where work is done; `/usr/lib/node_modules` and `/etc/build` are the system's
    if found.has_any(set(&[Class::System, Class::Config, Class::Boot])) {
        found = found.without(Class::Generated);
    }
    match path.rsplit_once('/') {
        Some((folder, name)) if is_everything(name) => {
            let whole = if folder.is_empty() { "/" } else { folder };
            let roots = set(&[Class::Root, Class::HomeRoot, Class::WorkspaceRoot, Class::WorkspaceParent]);
            ClassSet(classify_path(whole, index, at).0 & roots.0).union(found)
        }
        Some(_) | None => found,
    }
}

/// A path whose beginning is unknown: it may be a home, the workspace, or the root.
fn classify_tail(path: &str, index: &Index) -> ClassSet {
    let Some((_, tail)) = path.split_once('/') else { return ClassSet::of(Class::Unknown) };
    let loose = Subject { root: None, homes: [Some(tail), None], workspace: Some(tail), anywhere: tail };
    let rooted = Subject { root: Some(tail), homes: [None; 2], workspace: None, anywhere: tail };
    // `$prefix/usr/bin` is a build's business, `$anything/etc/shadow` is not
    let grave = set(&[Class::Secret, Class::Account]);
    let severe = ClassSet(index.classes(&rooted).0 & grave.0);
    let found = index.classes(&loose).union(severe).with(Class::Unknown);
    ClassSet(found.0 & !EXCUSES.0)
}

/// A glob that stands for all that a folder holds.
fn is_everything(name: &str) -> bool {
    matches!(name, "*" | "**" | ".*" | "{*,.*}" | "{.*,*}" | ".[!.]*" | ".??*" | ".[^.]*" | "?*" | "*.*")
}

/// The part of a path below a home by custom: `/root`, `/home/NAME`, `/Users/NAME`.
fn below_customary_home(path: &str) -> Option<&str> {
    if is_within(path, "/root") {
        return below(path, "/root");
    }
    let user = below(path, "/home").or_else(|| below(path, "/Users")).filter(|rest| !rest.is_empty())?;
    Some(user.split_once('/').map_or("", |(_, rest)| rest))
}

/// Whether `..` left the directory into a place outside the workspace.
pub fn escapes(resolved: &Resolved, classes: ClassSet) -> bool {
    resolved.climbs == Climbs::Yes && !classes.has(Class::Workspace)
}
