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
    tables: OnceLock<Tables>,
    hosts: OnceLock<Vec<&'static Place>>,
}

#[derive(Debug)]
struct Tables {
    patterns: Table,
    excepts: Table,
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
    /// Whether globs in the path are compared with what they could stand for.
    pub globs: Globs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Globs {
    Live,
    Literal,
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

/// Kept small: all of them are made at the first question.
#[derive(Debug)]
struct Entry {
    /// After the anchor's prefix.
    pattern: &'static str,
    /// Bytes of the pattern's beginning (of its end, for extensions) under which it stands.
    key: u16,
    /// Index among the places of all layers.
    place: u16,
    next: u16,
    anchor: Anchor,
    class: Class,
    /// Whether the place has exceptions.
    excepts: Excepts,
    scope: Scope,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Excepts {
    None,
    Some,
}

/// Where a name that may stand anywhere counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Everywhere,
    /// `./**/…`
    Workspace,
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
        Self { layers: layers.into_iter().collect(), tables: OnceLock::new(), hosts: OnceLock::new() }
    }

    /// Places whose patterns are hosts. A place holds either paths or hosts.
    pub(super) fn hosts(&self) -> &[&'static Place] {
        let is_host = |place: &&Place| place.patterns.first().is_some_and(|p| p.starts_with("host:"));
        self.hosts.get_or_init(|| self.layers.iter().copied().flatten().filter(is_host).collect())
    }

    /// Classes whose places include the path.
    pub(super) fn classes(&self, subject: &Subject) -> ClassSet {
        let tables = self.tables.get_or_init(|| Tables::build(&self.layers));
        let mut found = Found { subject, set: ClassSet::EMPTY, excepts: &tables.excepts, excepted: None };
        tables.patterns.visit(subject, &mut |entry, fits| found.take(entry, fits));
        found.set
    }
}

/// Anchor, scope and rest of a pattern; `None`: not a path's (hosts have a prefix of their own).
fn anchored(pattern: &'static str) -> Option<(Anchor, Scope, &'static str)> {
    let all = Scope::Everywhere;
    match pattern.as_bytes() {
        [b'/', ..] => Some((Anchor::Root, all, pattern.get(1..)?)),
        [b'~', b'/', ..] => Some((Anchor::Home, all, pattern.get(2..)?)),
        [b'.', b'/', b'*', b'*', b'/', ..] => Some((Anchor::Anywhere, Scope::Workspace, pattern.get(5..)?)),
        [b'.', b'/', ..] => Some((Anchor::Workspace, all, pattern.get(2..)?)),
        [b'*', b'*', b'/', ..] => Some((Anchor::Anywhere, all, pattern.get(3..)?)),
        _ => None,
    }
}

/// Bytes of the leading components that are literal, at most `count` of them.
fn literal_head(rest: &str, count: usize) -> usize {
    let (mut end, mut seen) = (0, 0);
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'*' | b'?' | b'[' | b'{' => return end,
            b'/' => {
                end = at;
                seen += 1;
                if seen == count {
                    return end;
                }
            }
            _ => {}
        }
    }
    rest.len()
}

/// The chain in which a pattern stands, and the length of its key.
fn keyed(anchor: Anchor, rest: &str) -> (Anchor, usize) {
    if anchor != Anchor::Anywhere {
        return (anchor, literal_head(rest, 2));
    }
    match (literal_head(rest, 1), rest.rsplit_once('.')) {
        (0, Some((head, end)))
            if head.starts_with('*') && pattern::is_literal(end) && !rest.contains('/') =>
        {
            (Anchor::Extension, end.len())
        }
        (0, _) => (Anchor::Loose, 0),
        (length, _) => (Anchor::Anywhere, length),
    }
}

fn slot(anchor: Anchor, key: &str) -> usize {
    let seed = 0x811c_9dc5_u32 ^ (anchor as u32);
    let hash = key.bytes().fold(seed, |h, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193));
    (hash ^ (hash >> 15)) as usize % BUCKETS
}

impl Tables {
    fn build(layers: &[&'static [Place]]) -> Self {
        let count = |part: fn(&Place) -> usize| layers.iter().copied().flatten().map(part).sum();
        let mut patterns = Table::new(count(|p| p.patterns.len()));
        let mut excepts = Table::new(count(|p| p.except.len()));
        for (number, place) in layers.iter().copied().flatten().enumerate() {
            let number = u16::try_from(number).unwrap_or(u16::MAX);
            for text in place.patterns {
                patterns.add(text, place, number);
            }
            for text in place.except {
                excepts.add(text, place, number);
            }
        }
        Self { patterns, excepts }
    }
}

impl Table {
    fn new(capacity: usize) -> Self {
        Self { buckets: vec![NONE; BUCKETS], entries: Vec::with_capacity(capacity) }
    }

    fn add(&mut self, text: &'static str, place: &Place, number: u16) {
        let Some((anchor, scope, rest)) = anchored(text) else { return };
        let (anchor, length) = keyed(anchor, rest);
        let excepts = if place.except.is_empty() { Excepts::None } else { Excepts::Some };
        let Ok(key) = u16::try_from(length) else { return };
        let class = place.class;
        let entry = Entry { pattern: rest, key, place: number, next: NONE, anchor, class, excepts, scope };
        // the loader refuses policies with more patterns than this
        let Some(at) = u16::try_from(self.entries.len()).ok().filter(|n| *n != NONE) else { return };
        let Some(head) = self.buckets.get_mut(slot(anchor, entry.key())) else { return };
        self.entries.push(Entry { next: *head, ..entry });
        *head = at;
    }

    /// Shows each entry that might match, with the part of the path that it is to be tried on.
    fn visit(&self, subject: &Subject, see: &mut See) {
        if let Some(root) = subject.root {
            self.under(Anchor::Root, root, see);
        }
        for home in subject.homes.iter().flatten() {
            self.under(Anchor::Home, home, see);
        }
        if let Some(workspace) = subject.workspace {
            self.under(Anchor::Workspace, workspace, see);
        }
        self.anywhere(subject, see);
        if subject.globs == Globs::Live {
            self.live(subject, see);
        }
    }

    fn chain(&self, anchor: Anchor, key: &str) -> impl Iterator<Item = &Entry> {
        let mut at = self.buckets.get(slot(anchor, key)).copied().unwrap_or(NONE);
        std::iter::from_fn(move || {
            let entry = self.entries.get(usize::from(at))?;
            at = entry.next;
            Some(entry)
        })
        .filter(move |e| e.anchor == anchor && e.key() == key)
    }

    fn under(&self, anchor: Anchor, path: &str, see: &mut See) {
        let first = path.find('/').unwrap_or(path.len());
        let second = path.get(first + 1..).map(|rest| first + 1 + rest.find('/').unwrap_or(rest.len()));
        let keys = [Some(0), Some(first).filter(|f| *f > 0), second];
        for key in keys.iter().flatten().filter_map(|end| path.get(..*end)) {
            for entry in self.chain(anchor, key) {
                see(entry, &|p| pattern::begins(p, path) && pattern::path(p, path));
            }
        }
    }

    fn anywhere(&self, subject: &Subject, see: &mut See) {
        let mut rest = subject.anywhere;
        loop {
            let (name, more) = rest.split_once('/').unwrap_or((rest, ""));
            for entry in self.chain(Anchor::Anywhere, name) {
                if entry.scope.reaches(rest, subject) {
                    see(entry, &|p| pattern::path(p, rest));
                }
            }
            if more.is_empty() {
                break;
            }
            rest = more;
        }
        // `rest` is the last component now
        if let Some((_, end)) = rest.rsplit_once('.') {
            for entry in self.chain(Anchor::Extension, end) {
                if entry.scope.reaches(rest, subject) {
                    see(entry, &|p| pattern::component(p, rest));
                }
            }
        }
        let first = rest.bytes().next();
        for entry in self.chain(Anchor::Loose, "") {
            if entry.pattern.contains('/') {
                see(entry, &|p| anywhere(p, subject.anywhere));
            } else if entry.begins_with(first) && entry.scope.reaches(rest, subject) {
                see(entry, &|p| pattern::component(p, rest));
            }
        }
    }

    /// Globs that the shell will expand: every anchored pattern that could mean the same. Names that may
    /// stand anywhere are left out, else `*` would be each of them.
    fn live(&self, subject: &Subject, see: &mut See) {
        for entry in &self.entries {
            match entry.anchor {
                Anchor::Root => {
                    see(entry, &|p| subject.root.is_some_and(|path| overlaps(p, path)));
                }
                Anchor::Home => {
                    see(entry, &|p| subject.homes.iter().flatten().any(|path| overlaps(p, path)));
                }
                Anchor::Workspace | Anchor::Anywhere | Anchor::Extension | Anchor::Loose => {}
            }
        }
    }
}

/// Takes an entry that might match and the trial of a pattern on the part of the path in question.
type See<'f> = dyn FnMut(&Entry, &dyn Fn(&str) -> bool) + 'f;

impl Scope {
    /// `rest`: the path's end from the name on; the workspace's part is an end of the path too.
    fn reaches(self, rest: &str, subject: &Subject) -> bool {
        match self {
            Self::Everywhere => true,
            Self::Workspace => subject.workspace.is_some_and(|inner| rest.len() <= inner.len()),
        }
    }
}

impl Entry {
    fn key(&self) -> &'static str {
        let length = usize::from(self.key);
        let part = match self.anchor {
            Anchor::Extension => self.pattern.get(self.pattern.len().saturating_sub(length)..),
            Anchor::Root | Anchor::Home | Anchor::Workspace | Anchor::Anywhere | Anchor::Loose => {
                self.pattern.get(..length)
            }
        };
        part.unwrap_or("")
    }

    /// Cheap test before a glob is tried: its first byte is that of the name, or a special one.
    fn begins_with(&self, first: Option<u8>) -> bool {
        let own = self.pattern.bytes().next();
        own == first || matches!(own, Some(b'*' | b'?' | b'[' | b'{'))
    }
}

fn overlaps(pattern: &str, path: &str) -> bool {
    pattern::begins(pattern, path) && pattern::path_overlaps(pattern, path)
}

/// Whether a pattern without its leading `**/` matches from some component on.
fn anywhere(pattern: &str, path: &str) -> bool {
    let starts = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
    starts.filter_map(|at| path.get(at..)).any(|rest| pattern::path(pattern, rest))
}

struct Found<'s, 'p> {
    subject: &'s Subject<'p>,
    set: ClassSet,
    excepts: &'s Table,
    /// Places of which the path is an exception; looked for at the first match that has any.
    excepted: Option<Vec<u16>>,
}

impl Found<'_, '_> {
    fn take(&mut self, entry: &Entry, fits: &dyn Fn(&str) -> bool) {
        if self.set.has(entry.class) || !fits(entry.pattern) {
            return;
        }
        if entry.excepts == Excepts::Some && self.excepted().contains(&entry.place) {
            return;
        }
        self.set = self.set.with(entry.class);
    }

    fn excepted(&mut self) -> &[u16] {
        let (excepts, subject) = (self.excepts, self.subject);
        self.excepted.get_or_insert_with(|| {
            let mut places = Vec::new();
            // an exception must hold for all that a glob stands for, so globs are plain text here
            let plain = Subject { globs: Globs::Literal, ..*subject };
            excepts.visit(&plain, &mut |entry, fits| {
                if fits(entry.pattern) {
                    places.push(entry.place);
                }
            });
            places
        })
    }
}
