//! Where written files come to lie: inside a folder that is named, or under the name that a URL ends with.
//!
//! In: the word that names the place, the call. Out: the places. Never: loses the place as written.

use crate::act::{Kind, TagSet, UnknownKind, tag};
use crate::canonical::links::{Last, Room};
use crate::canonical::value::Field;
use crate::effects::arguments::Meant;
use crate::effects::fields::made;
use crate::effects::interpret::Doing;
use crate::effects::walk::Walk;
use crate::place::classify::Follow;
use crate::policy::tables::{Command, Is};
use crate::world::FileKind;

/// Sources whose places in a folder are told apart; the folder itself stands for more.
const SOURCES: usize = 32;

fn has_kind(meant: &Meant, kinds: &[Kind]) -> bool {
    meant.roles.iter().any(|r| matches!(r.is, Is::Effect(kind) if kinds.contains(&kind)))
}

/// A size as coreutils read it, in gigabytes.
fn gigabytes(text: &str) -> u64 {
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(at);
    let count: u64 = digits.parse().unwrap_or(if digits.is_empty() { 0 } else { u64::MAX });
    match unit.chars().next() {
        Some('G' | 'g') => count,
        Some('T' | 't') => count.saturating_mul(1 << 10),
        Some('P' | 'E' | 'Z' | 'Y' | 'R' | 'Q') => count.saturating_mul(1 << 20),
        Some('M' | 'm') => count >> 10,
        Some('K' | 'k') => count >> 20,
        _ => count >> 30,
    }
}

/// What the arguments say of how much is written.
pub fn given_size(program: &str, meant: &[Meant], words: &[Field]) -> TagSet {
    let sizes =
        meant.iter().filter(|m| m.roles.iter().any(|r| r.is == Is::Tag && r.tags.has(tag::SETS_SIZE)));
    let huge = sizes.map(|m| gigabytes(m.field.text.trim_start_matches('+'))).max().unwrap_or(0) >= 100;
    let mut tags = if huge { TagSet::of(tag::HUGE) } else { TagSet::EMPTY };
    if matches!(program, "dd" | "dcfldd" | "dc3dd") && !words.iter().any(|w| w.text.starts_with("count=")) {
        tags = tags.with(tag::UNBOUNDED);
    }
    tags
}

/// Whether a program's operands are what it copies.
fn takes_sources(spec: &Command, kinds: &[Kind]) -> bool {
    let operands = &spec.operands;
    let lists = operands.first.iter().chain(operands.last).copied().chain([operands.rest]);
    lists.flatten().any(|r| matches!(r.is, Is::Effect(kind) if kinds.contains(&kind)))
}

/// The name that a download gets by itself.
fn url_name(url: &str) -> &str {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    match path.rsplit_once('/') {
        Some((_, name)) if !name.is_empty() => name,
        _ => "index.html",
    }
}

/// A URL: its last part, in the folder that an option names; nothing if an option names the file.
fn download(field: &Field, meant: &[Meant]) -> Vec<Field> {
    let named = |m: &&Meant| {
        m.roles.iter().any(|r| r.is == Is::Effect(Kind::Write) && r.tags.has(tag::FROM_NETWORK))
            && m.field != *field
    };
    let mut folder = String::new();
    for word in meant.iter().filter(named) {
        if !word.roles.iter().any(|r| r.tags.has(tag::INTO_FOLDER)) {
            return Vec::new();
        }
        folder = format!("{}/", word.field.text.trim_end_matches('/'));
    }
    vec![made(format!("{folder}{}", url_name(&field.text)), field)]
}

impl Walk<'_, '_> {
    /// The places that a word for a place to write means.
    pub fn landing(&mut self, field: &Field, extra: TagSet, doing: &Doing<'_>) -> Vec<Field> {
        let meant = &doing.parsed.meant;
        let fetched = |m: &&Meant| has_kind(m, &[Kind::Fetch]);
        if extra.has(tag::INTO_FOLDER) && doing.parsed.operands.iter().any(|o| o != field) {
            return Vec::new();
        }
        if extra.has(tag::FROM_NETWORK) && meant.iter().filter(fetched).any(|m| m.field == *field) {
            return download(field, meant);
        }
        self.inside(field, doing)
    }

    /// Remembers that a link made here leads to what was just named.
    pub fn note_link(&mut self, place: &str) {
        let goal = self.core.found.list.iter().rev().take(SOURCES).find(|e| e.kind == Kind::LinkTo);
        if let Some((goal, span)) = goal.map(|e| (e.target.resolved.to_string(), e.span))
            && self.state.links.note(place, goal) == Room::None
        {
            self.core.doubt(UnknownKind::Limit, "links", span);
        }
    }

    /// Where a path leads through links that the script has made.
    pub fn through_own_links(&self, resolved: &str, how: Follow) -> Option<String> {
        let last = match how {
            Follow::Goal => Last::Followed,
            Follow::Entry => Last::Kept,
        };
        self.state.links.lead(resolved, last)
    }

    /// `cp a b folder`: each file inside it.
    fn inside(&mut self, field: &Field, doing: &Doing<'_>) -> Vec<Field> {
        let whole = vec![field.clone()];
        let sources: Vec<&Field> = doing.parsed.operands.iter().filter(|o| *o != field).collect();
        let takes = [Kind::Read, Kind::Move, Kind::LinkTo];
        let copies = takes_sources(doing.spec, &takes);
        if !copies || sources.is_empty() || sources.len() > SOURCES || field.has_hole() {
            return whole;
        }
        let resolved = self.resolved(field);
        let meta = self
            .core
            .places
            .lookups
            .meta(&self.core.places.resolve(&resolved, "/").map_or(resolved.into(), |r| r.real));
        if meta.is_none_or(|m| m.kind != FileKind::Folder) {
            return whole;
        }
        let base = field.text.trim_end_matches('/');
        let name =
            |source: &Field| source.text.trim_end_matches('/').rsplit('/').next().unwrap_or("").to_owned();
        // the contents of a folder, or a name that is not known
        if sources.iter().any(|s| {
            s.has_hole()
                || s.text.ends_with('/')
                || matches!(name(s).as_str(), "" | "." | "..")
                || s.text.contains(':')
        }) {
            return whole;
        }
        sources.iter().map(|s| made(format!("{base}/{}", name(s)), field)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{gigabytes, url_name};

    #[test]
    fn sizes_are_read_as_coreutils_reads_them() {
        for (text, size) in
            [("900G", 900), ("5T", 5120), ("1G", 1), ("512M", 0), ("107374182400", 100), ("", 0), ("x", 0)]
        {
            assert_eq!(gigabytes(text), size, "{text}");
        }
    }

    #[test]
    fn a_download_is_named_after_its_url() {
        let cases = [
            ("https://example.org/a/b.sh?x=/y", "b.sh"),
            ("https://example.org/", "index.html"),
            ("example.org/t.tgz", "t.tgz"),
            ("https://example.org", "index.html"),
        ];
        for (url, name) in cases {
            assert_eq!(url_name(url), name);
        }
    }
}
