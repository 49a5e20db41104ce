//! The patterns of all places, found by a path's components.
//!
//! In: the layers' tables of places. Out: the classes whose patterns a path matches.
//! Never: does work before the first path; looks at patterns that can't match (each pattern lies under
//! its first components, or under its ending where it begins with a `*`).

use std::sync::OnceLock;

use super::pattern;
use crate::act::{Class, ClassSet};
use crate::policy::tables::Place;

/// Places of all layers of a policy. Costs nothing until the first question (then about 10 µs).
#[derive(Debug, Default)]
pub struct Index {
    layers: Vec<&'static [Place]>,
    table: OnceLock<Table>,
}

/// A path as the patterns see it: each part without a leading slash.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject<'p> {
    /// From the root; a path whose beginning is unknown has none.
    pub root: Option<&'p str>,
    /// Below the own home, below any home.
    pub homes: [Option<&'p str>; 2],
    pub workspace: Option<&'p str>,
    /// For names that may stand anywhere.
    pub anywhere: &'p str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Anchor {
    Root,
    Home,
    Workspace,
    Anywhere,
    /// `**/*.ext`: under `ext`
    Extension,
    /// anywhere, but the first component is a glob
    Loose,
}

#[derive(Debug)]
struct Entry {
    anchor: Anchor,
    key: &'static str,
    /// After the anchor's prefix.
    pattern: &'static str,
    place: &'static Place,
    next: u16,
}

#[derive(Debug)]
struct Table {
    /// Heads of chains through `entries`.
    buckets: Vec<u16>,
    entries: Vec<Entry>,
}

const NONE: u16 = u16::MAX;
const BUCKETS: usize = 2048;

impl Index {
    pub fn new(layers: impl IntoIterator<Item = &'static [Place]>) -> Self {
        Self { layers: layers.into_iter().collect(), table: OnceLock::new() }
    }

    /// Classes whose places include the path.
    pub(super) fn classes(&self, subject: &Subject) -> ClassSet {
        self.table().classes(subject)
    }

    fn table(&self) -> &Table {
        self.table.get_or_init(|| Table::build(&self.layers))
    }
}

/// Anchor and rest of a pattern; `None`: not a path's (hosts have a prefix of their own).
fn anchored(pattern: &'static str) -> Option<(Anchor, &'static str)> {
    let under = |prefix, anchor| Some((anchor, pattern.strip_prefix(prefix)?));
    under("/", Anchor::Root)
        .or_else(|| under("~/", Anchor::Home))
        .or_else(|| under("./", Anchor::Workspace))
        .or_else(|| under("**/", Anchor::Anywhere))
}

fn is_literal(part: &str) -> bool {
    !part.contains(pattern::SPECIAL)
}

/// The first two components, as far as they are literal; empty if the first is not.
fn key_of(rest: &'static str) -> &'static str {
    let (first, more) = rest.split_once('/').unwrap_or((rest, ""));
    if !is_literal(first) {
        return "";
    }
    let second = more.split('/').next().unwrap_or("");
    if second.is_empty() || !is_literal(second) {
        return first;
    }
    rest.get(..first.len() + 1 + second.len()).unwrap_or(first)
}

fn slot(anchor: Anchor, key: &str) -> usize {
    let seed = 0x811c_9dc5_u32 ^ (anchor as u32);
    let hash = key.bytes().fold(seed, |h, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193));
    (hash ^ (hash >> 15)) as usize % BUCKETS
}

impl Table {
    fn build(layers: &[&'static [Place]]) -> Self {
        let mut table = Self { buckets: vec![NONE; BUCKETS], entries: Vec::with_capacity(1024) };
        for place in layers.iter().copied().flatten() {
            for text in place.patterns {
                table.add(text, place);
            }
        }
        table
    }

    fn add(&mut self, text: &'static str, place: &'static Place) {
        let Some((anchor, rest)) = anchored(text) else { return };
        let (anchor, key) = match anchor {
            Anchor::Anywhere => {
                let first = rest.split('/').next().unwrap_or("");
                match rest.rsplit_once('.') {
                    _ if is_literal(first) => (Anchor::Anywhere, first),
                    Some((head, end)) if head.starts_with('*') && is_literal(end) && !rest.contains('/') => {
                        (Anchor::Extension, end)
                    }
                    Some(_) | None => (Anchor::Loose, ""),
                }
            }
            other @ (Anchor::Root
            | Anchor::Home
            | Anchor::Workspace
            | Anchor::Extension
            | Anchor::Loose) => (other, key_of(rest)),
        };
        // the loader refuses policies with more patterns than this
        let Some(number) = u16::try_from(self.entries.len()).ok().filter(|n| *n != NONE) else { return };
        let Some(head) = self.buckets.get_mut(slot(anchor, key)) else { return };
        self.entries.push(Entry { anchor, key, pattern: rest, place, next: *head });
        *head = number;
    }

    fn classes(&self, subject: &Subject) -> ClassSet {
        let mut found = Found { subject, set: ClassSet::EMPTY };
        if let Some(root) = subject.root {
            self.under(Anchor::Root, root, &mut found);
        }
        for home in subject.homes.iter().flatten() {
            self.under(Anchor::Home, home, &mut found);
        }
        if let Some(workspace) = subject.workspace {
            self.under(Anchor::Workspace, workspace, &mut found);
        }
        self.anywhere(subject.anywhere, &mut found);
        if pattern::is_live(subject.anywhere) {
            self.live(subject, &mut found);
        }
        found.set
    }

    fn chain(&self, anchor: Anchor, key: &str) -> impl Iterator<Item = &Entry> {
        let mut at = self.buckets.get(slot(anchor, key)).copied().unwrap_or(NONE);
        std::iter::from_fn(move || {
            let entry = self.entries.get(usize::from(at))?;
            at = entry.next;
            Some(entry)
        })
        .filter(move |e| e.anchor == anchor && e.key == key)
    }

    fn under(&self, anchor: Anchor, path: &str, found: &mut Found) {
        let first = path.find('/').unwrap_or(path.len());
        let second = path.get(first + 1..).map(|rest| first + 1 + rest.find('/').unwrap_or(rest.len()));
        let keys = [Some(0), Some(first).filter(|f| *f > 0), second];
        for key in keys.iter().flatten().filter_map(|end| path.get(..*end)) {
            for entry in self.chain(anchor, key) {
                found.take(entry, |p| pattern::path(p, path));
            }
        }
    }

    fn anywhere(&self, path: &str, found: &mut Found) {
        let mut rest = path;
        loop {
            let (name, more) = rest.split_once('/').unwrap_or((rest, ""));
            for entry in self.chain(Anchor::Anywhere, name) {
                found.take(entry, |p| pattern::path(p, rest));
            }
            if more.is_empty() {
                break;
            }
            rest = more;
        }
        // `rest` is the last component now
        if let Some((_, end)) = rest.rsplit_once('.') {
            for entry in self.chain(Anchor::Extension, end) {
                found.take(entry, |p| pattern::component(p, rest));
            }
        }
        for entry in self.chain(Anchor::Loose, "") {
            found.take(entry, |p| {
                if p.contains('/') { anywhere(p, path) } else { pattern::component(p, rest) }
            });
        }
    }

    /// Globs that the shell will expand: every anchored pattern that could mean the same. Names that may
    /// stand anywhere are left out, else `*` would be each of them.
    fn live(&self, subject: &Subject, found: &mut Found) {
        for entry in &self.entries {
            match entry.anchor {
                Anchor::Root => {
                    found.take(entry, |p| subject.root.is_some_and(|path| pattern::path_overlaps(p, path)));
                }
                Anchor::Home => found.take(entry, |p| {
                    subject.homes.iter().flatten().any(|path| pattern::path_overlaps(p, path))
                }),
                Anchor::Workspace | Anchor::Anywhere | Anchor::Extension | Anchor::Loose => {}
            }
        }
    }
}

/// Whether a pattern without its leading `**/` matches from some component on.
fn anywhere(pattern: &str, path: &str) -> bool {
    let starts = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
    starts.filter_map(|at| path.get(at..)).any(|rest| pattern::path(pattern, rest))
}

struct Found<'s, 'p> {
    subject: &'s Subject<'p>,
    set: ClassSet,
}

impl Found<'_, '_> {
    fn take(&mut self, entry: &Entry, fits: impl Fn(&str) -> bool) {
        let class: Class = entry.place.class;
        if self.set.has(class) || !fits(entry.pattern) || self.is_excepted(entry.place) {
            return;
        }
        self.set = self.set.with(class);
    }

    fn is_excepted(&self, place: &Place) -> bool {
        let subject = self.subject;
        place.except.iter().any(|text| match anchored(text) {
            Some((Anchor::Root, p)) => subject.root.is_some_and(|path| pattern::path(p, path)),
            Some((Anchor::Home, p)) => subject.homes.iter().flatten().any(|path| pattern::path(p, path)),
            Some((Anchor::Workspace, p)) => subject.workspace.is_some_and(|path| pattern::path(p, path)),
            Some((Anchor::Anywhere | Anchor::Extension | Anchor::Loose, p)) => anywhere(p, subject.anywhere),
            None => false,
        })
    }
}
