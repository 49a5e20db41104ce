//! The patterns of a layer's places in chains, so that a path meets only those that might match it.
//!
//! In: places. Out: [`Catalogue`]: for the embedded layer a static that `build.rs` makes, for others made
//! when the first path asks. Never: matches anything; `build.rs` includes this file too.

use std::borrow::Cow;

use crate::act::Class;
use crate::policy::sought::{Marks, Sought};
use crate::policy::tables::Place;

/// Patterns and exceptions of one layer.
#[derive(Clone, Debug)]
pub struct Catalogue {
    pub patterns: Chains,
    pub excepts: Chains,
    pub hosts: Cow<'static, [Peer]>,
    pub host_excepts: Cow<'static, [Peer]>,
}

/// Patterns under their anchor and key.
#[derive(Clone, Debug)]
pub struct Chains {
    /// Heads of chains through `entries`.
    pub buckets: Cow<'static, [u32]>,
    pub entries: Cow<'static, [Entry]>,
    /// Entries of the root, then of homes, by the first byte of their patterns.
    pub by_first: Cow<'static, [u32]>,
    /// Where each first byte begins in `by_first`, for the root, then for homes; and the end.
    pub firsts: Cow<'static, [u32]>,
}

/// From where on a pattern matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Root,
    Home,
    Workspace,
    Anywhere,
    /// `**/*.ext`: under `ext`
    Extension,
    /// anywhere, but the first component is a glob
    Loose,
}

/// A pattern in its chain.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// After the anchor's prefix.
    pub pattern: &'static str,
    /// Of each path that the pattern matches.
    pub needs: Marks,
    /// Bytes of the pattern's beginning (of its end, for extensions) under which it stands.
    pub key: u16,
    /// Index among the layer's places.
    pub place: u32,
    pub next: u32,
    pub anchor: Anchor,
    pub class: Class,
    /// Whether the place has exceptions.
    pub excepts: Excepts,
    pub scope: Scope,
}

/// A pattern of hosts: `host:name`, `host:name/path`.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    pub name: &'static str,
    /// Behind the first slash, where there is one.
    pub path: Option<&'static str>,
    /// Of each host that the name matches.
    pub needs: Marks,
    /// Index among the layer's places.
    pub place: u32,
    pub class: Class,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excepts {
    None,
    Some,
}

/// Where a name that may stand anywhere counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Everywhere,
    /// `./**/…`
    Workspace,
}

/// First bytes of patterns, and that there is none.
const FIRSTS: usize = 257;

/// The first bytes of globs.
const SPECIAL: [usize; 4] = [b'*' as usize + 1, b'?' as usize + 1, b'[' as usize + 1, b'{' as usize + 1];

/// A text's first byte and one; 0 for the empty text.
fn first_of(text: &str) -> usize {
    text.bytes().next().map_or(0, |byte| usize::from(byte) + 1)
}

/// The end of a chain.
const NONE: u32 = u32::MAX;
const BUCKETS: usize = 2048;

impl Catalogue {
    /// Sorts a layer's places.
    pub fn of(places: &[Place]) -> Self {
        let (mut patterns, mut excepts) = (Making::new(), Making::new());
        let (mut hosts, mut host_excepts) = (Vec::new(), Vec::new());
        for (number, place) in places.iter().enumerate() {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            let peers = |globs: &[&'static str]| -> Vec<Peer> {
                let choices = globs.iter().flat_map(|glob| Sought::choices(glob));
                choices.filter_map(|sought| Peer::of(sought.glob, place.class, number)).collect()
            };
            for sought in place.patterns.iter().flat_map(|glob| Sought::choices(glob)) {
                patterns.add(sought.glob, place, number);
            }
            for sought in place.except.iter().flat_map(|glob| Sought::choices(glob)) {
                excepts.add(sought.glob, place, number);
            }
            hosts.extend(peers(place.patterns));
            host_excepts.extend(peers(place.except));
        }
        let (hosts, host_excepts) = (Cow::Owned(hosts), Cow::Owned(host_excepts));
        Self { patterns: patterns.done(), excepts: excepts.done(), hosts, host_excepts }
    }
}

/// Chains in the making.
struct Making {
    buckets: Vec<u32>,
    entries: Vec<Entry>,
}

impl Making {
    fn new() -> Self {
        Self { buckets: vec![NONE; BUCKETS], entries: Vec::new() }
    }

    fn done(self) -> Chains {
        let mut rows: Vec<Vec<u32>> = vec![Vec::new(); 2 * FIRSTS];
        for (entry, number) in self.entries.iter().zip(0..) {
            let base = match entry.anchor {
                Anchor::Root => 0,
                Anchor::Home => FIRSTS,
                Anchor::Workspace | Anchor::Anywhere | Anchor::Extension | Anchor::Loose => continue,
            };
            if let Some(row) = rows.get_mut(base + first_of(entry.pattern)) {
                row.push(number);
            }
        }
        let (mut by_first, mut firsts) = (Vec::new(), vec![0]);
        for row in &rows {
            by_first.extend(row);
            firsts.push(u32::try_from(by_first.len()).unwrap_or(u32::MAX));
        }
        Chains {
            buckets: Cow::Owned(self.buckets),
            entries: Cow::Owned(self.entries),
            by_first: Cow::Owned(by_first),
            firsts: Cow::Owned(firsts),
        }
    }

    fn add(&mut self, text: &'static str, place: &Place, number: u32) {
        let Some((anchor, scope, rest)) = anchored(text) else { return };
        let (anchor, length) = keyed(anchor, rest);
        let excepts = if place.except.is_empty() { Excepts::None } else { Excepts::Some };
        let Ok(key) = u16::try_from(length) else { return };
        let class = place.class;
        let needs = Sought::new(rest).needs;
        let entry =
            Entry { pattern: rest, needs, key, place: number, next: NONE, anchor, class, excepts, scope };
        let Some(at) = u32::try_from(self.entries.len()).ok().filter(|n| *n != NONE) else { return };
        let Some(head) = self.buckets.get_mut(slot(anchor, entry.key())) else { return };
        self.entries.push(Entry { next: *head, ..entry });
        *head = at;
    }
}

impl Chains {
    /// The entries of an anchor under a key that a path with these marks may match.
    pub fn chain(&self, anchor: Anchor, key: &str, marks: Marks) -> impl Iterator<Item = &Entry> {
        let mut at = self.buckets.get(slot(anchor, key)).copied().unwrap_or(NONE);
        std::iter::from_fn(move || {
            let entry = self.entries.get(at as usize)?;
            at = entry.next;
            Some(entry)
        })
        .filter(move |e| marks.has_all(e.needs) && e.anchor == anchor && e.key() == key)
    }

    /// The entries of the root or of homes whose patterns could mean what a path with globs means, by the first
    /// byte of each: the same one, or a special one of either.
    pub fn beginning_like(&self, anchor: Anchor, path: &str) -> impl Iterator<Item = &Entry> {
        let all = match anchor {
            Anchor::Root => 0..FIRSTS,
            Anchor::Home => FIRSTS..2 * FIRSTS,
            Anchor::Workspace | Anchor::Anywhere | Anchor::Extension | Anchor::Loose => 0..0,
        };
        let (base, first) = (all.start, first_of(path));
        let special = SPECIAL.contains(&first);
        let some = if special {
            None
        } else {
            Some(SPECIAL.into_iter().chain([0]).chain((first > 0).then_some(first)).map(move |n| base + n))
        };
        let rows = all.filter(move |_| special).chain(some.into_iter().flatten());
        let numbers = rows.flat_map(|row| match self.firsts.get(row..) {
            Some([from, to, ..]) => self.by_first.get(*from as usize..*to as usize).unwrap_or(&[]),
            Some(_) | None => &[],
        });
        numbers.filter_map(|number| self.entries.get(*number as usize))
    }
}

impl Entry {
    /// What the entry stands under.
    pub fn key(&self) -> &'static str {
        let length = usize::from(self.key);
        let part = match self.anchor {
            Anchor::Extension => self.pattern.get(self.pattern.len().saturating_sub(length)..),
            Anchor::Root | Anchor::Home | Anchor::Workspace | Anchor::Anywhere | Anchor::Loose => {
                self.pattern.get(..length)
            }
        };
        part.unwrap_or("")
    }
}

impl Peer {
    fn of(pattern: &'static str, class: Class, place: u32) -> Option<Self> {
        let pattern = pattern.strip_prefix("host:")?;
        let (name, path) = pattern.split_once('/').map_or((pattern, None), |(name, path)| (name, Some(path)));
        // `**.name` is the name itself, too
        let needs = Sought::new(name.strip_prefix("**.").unwrap_or(name)).needs;
        Some(Self { name, path, needs, place, class })
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
    let is_literal = |part: &str| !part.bytes().any(|b| matches!(b, b'*' | b'?' | b'[' | b'{'));
    match (literal_head(rest, 1), rest.rsplit_once('.')) {
        (0, Some((head, end))) if head.starts_with('*') && is_literal(end) && !rest.contains('/') => {
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
