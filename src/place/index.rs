//! The patterns of all places, found by a path's components.
//!
//! In: the layers' tables of places. Out: the classes whose patterns a path matches.
//! Never: does work before the first path; looks at patterns that can't match (each pattern lies under
//! its first components, or under its ending where it begins with a `*`).

use std::sync::OnceLock;

use super::pattern;
use crate::act::ClassSet;
use crate::policy::catalogue::{Anchor, Catalogue, Chains, Entry, Excepts, Scope};
use crate::policy::embedded;
use crate::policy::sought::Marks;
use crate::policy::tables::Place;

/// Places of all layers of a policy. Those of the binary are sorted already, others at the first question.
#[derive(Debug, Default)]
pub struct Index {
    layers: Vec<Layer>,
}

#[derive(Debug)]
struct Layer {
    places: &'static [Place],
    sorted: OnceLock<Catalogue>,
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
    /// Of the whole path.
    pub marks: Marks,
    /// Whether globs in the path are compared with what they could stand for.
    pub globs: Globs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Globs {
    Live,
    Literal,
}

impl Index {
    pub fn new(layers: impl IntoIterator<Item = &'static [Place]>) -> Self {
        let layers = layers.into_iter().filter(|places| !places.is_empty());
        let layers = layers.map(|places| Layer { places, sorted: OnceLock::new() }).collect();
        Self { layers }
    }

    /// The places of each layer.
    pub(super) fn catalogues(&self) -> impl Iterator<Item = &Catalogue> {
        self.layers.iter().map(Layer::sorted)
    }

    /// Classes whose places include the path.
    pub(super) fn classes(&self, subject: &Subject) -> ClassSet {
        let mut set = ClassSet::EMPTY;
        for sorted in self.catalogues() {
            let mut found = Found { subject, set, excepts: &sorted.excepts, excepted: None };
            sorted.patterns.visit(subject, &mut |entry, fits| found.take(entry, fits));
            set = found.set;
        }
        set
    }
}

impl Layer {
    fn sorted(&self) -> &Catalogue {
        if std::ptr::eq(self.places, embedded::TABLES.places) {
            return &embedded::CATALOGUE;
        }
        self.sorted.get_or_init(|| Catalogue::of(self.places))
    }
}

impl Chains {
    /// Shows each entry that might match, with the part of the path that it is to be tried on.
    fn visit(&self, subject: &Subject, see: &mut See) {
        if let Some(root) = subject.root {
            self.under(Anchor::Root, root, subject.marks, see);
        }
        for home in subject.homes.iter().flatten() {
            self.under(Anchor::Home, home, subject.marks, see);
        }
        if let Some(workspace) = subject.workspace {
            self.under(Anchor::Workspace, workspace, subject.marks, see);
        }
        self.anywhere(subject, see);
        if subject.globs == Globs::Live {
            self.live(subject, see);
        }
    }

    fn under(&self, anchor: Anchor, path: &str, marks: Marks, see: &mut See) {
        let first = path.find('/').unwrap_or(path.len());
        let second = path.get(first + 1..).map(|rest| first + 1 + rest.find('/').unwrap_or(rest.len()));
        let keys = [Some(0), Some(first).filter(|f| *f > 0), second];
        for key in keys.iter().flatten().filter_map(|end| path.get(..*end)) {
            for entry in self.chain(anchor, key, marks) {
                see(entry, &|p| pattern::begins(p, path) && pattern::path(p, path));
            }
        }
    }

    fn anywhere(&self, subject: &Subject, see: &mut See) {
        let mut rest = subject.anywhere;
        loop {
            let (name, more) = rest.split_once('/').unwrap_or((rest, ""));
            for entry in self.chain(Anchor::Anywhere, name, subject.marks) {
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
            for entry in self.chain(Anchor::Extension, end, subject.marks) {
                if entry.scope.reaches(rest, subject) {
                    see(entry, &|p| pattern::component(p, rest));
                }
            }
        }
        let first = rest.bytes().next();
        for entry in self.chain(Anchor::Loose, "", subject.marks) {
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
        let homes = subject.homes.iter().flatten().map(|home| (Anchor::Home, *home));
        for (anchor, path) in subject.root.iter().map(|root| (Anchor::Root, *root)).chain(homes) {
            for entry in self.beginning_like(anchor, path) {
                see(entry, &|p| overlaps(p, path));
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
    /// Cheap test before a glob is tried: its first byte is that of the name, or a special one.
    fn begins_with(&self, first: Option<u8>) -> bool {
        let own = self.pattern.bytes().next();
        own == first || own.is_some_and(is_special)
    }
}

fn is_special(byte: u8) -> bool {
    matches!(byte, b'*' | b'?' | b'[' | b'{')
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
    excepts: &'s Chains,
    /// Places of which the path is an exception; looked for at the first match that has any.
    excepted: Option<Vec<u32>>,
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

    fn excepted(&mut self) -> &[u32] {
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
