//! Pathname expansion: the names that a glob stands for here and now (POSIX XCU 2.14.3, bash manual).
//!
//! In: a pattern whose quoted characters are escaped by backslashes, the directory, the world.
//! Out: the paths as the shell would write them, sorted, or that there are none or too many.
//! Never: reads more folders and names than its bounds; then the answer is [`Expansion::TooMany`].

use std::rc::Rc;

use super::glob::{Extended, Glob, is_pattern, unescape};
use super::lookup::{Lookups, Names};
use super::resolve::normal;
use crate::world::FileKind;

/// What a pattern expands to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expansion {
    Paths(Vec<String>),
    /// more than the limit, or folders that can't be read or are too wide: unknown
    TooMany,
    NoMatch,
}

/// Shell options that change the expansion.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub extended: Extended,
    pub globstar: Globstar,
    pub dots: Dots,
    /// Paths at most.
    pub limit: usize,
}

/// `shopt -s globstar`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Globstar {
    On,
    Off,
}

/// `shopt -s dotglob`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dots {
    Hidden,
    Shown,
}

impl Default for Options {
    fn default() -> Self {
        Self { extended: Extended::No, globstar: Globstar::Off, dots: Dots::Hidden, limit: 256 }
    }
}

/// Names read in one folder.
const FOLDER_LIMIT: usize = 2048;
/// Folders read for one pattern.
const READ_LIMIT: usize = 64;
/// Levels of `**`.
const DEPTH_LIMIT: usize = 8;

/// Expands a pattern.
pub fn expand(pattern: &str, cwd: &str, lookups: &Lookups, options: Options) -> Expansion {
    if !pattern.starts_with('/') && !cwd.starts_with('/') {
        return Expansion::TooMany;
    }
    let mut run = Run { cwd, lookups, options, reads: 0 };
    let start = if pattern.starts_with('/') { "/" } else { "" };
    let mut heads = vec![start.to_owned()];
    let mut parts = pattern.split('/').filter(|part| !part.is_empty()).peekable();
    let folder_only = pattern.ends_with('/');
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        let Some(next) = run.component(&heads, part, last) else { return Expansion::TooMany };
        if next.is_empty() {
            return Expansion::NoMatch;
        }
        if next.len() > options.limit {
            return Expansion::TooMany;
        }
        heads = next;
    }
    if pattern.rsplit('/').find(|part| !part.is_empty()).is_some_and(|p| !is_pattern(p, options.extended)) {
        heads.retain(|path| run.is_there(path));
    }
    if folder_only {
        heads.retain(|path| run.is_folder(path));
        for path in &mut heads {
            path.push('/');
        }
    }
    if heads.is_empty() { Expansion::NoMatch } else { Expansion::Paths(heads) }
}

struct Run<'a> {
    cwd: &'a str,
    lookups: &'a Lookups<'a>,
    options: Options,
    reads: usize,
}

impl Run<'_> {
    /// Each head continued by what `part` stands for in it; `None`: too many.
    fn component(&mut self, heads: &[String], part: &str, last: bool) -> Option<Vec<String>> {
        if part == "**" && self.options.globstar == Globstar::On {
            return self.levels(heads, last);
        }
        if !is_pattern(part, self.options.extended) {
            let name = unescape(part);
            return Some(heads.iter().map(|head| beneath(head, &name)).collect());
        }
        let glob = Glob::parse(part, self.options.extended);
        let hidden = part.starts_with('.') || part.starts_with("\\.");
        let mut out = Vec::new();
        for head in heads {
            for name in self.names(head)?.iter() {
                let shown = hidden || !name.starts_with('.') || self.options.dots == Dots::Shown;
                if shown && glob.matches(name)? {
                    let path = beneath(head, name);
                    if last || self.is_folder(&path) {
                        out.push(path);
                    }
                }
                if out.len() > self.options.limit {
                    return None;
                }
            }
        }
        Some(out)
    }

    /// `**`: the heads themselves and all folders below, at the end of a pattern all files too. Links
    /// are not followed.
    fn levels(&mut self, heads: &[String], last: bool) -> Option<Vec<String>> {
        let mut out: Vec<String> = if last { Vec::new() } else { heads.to_vec() };
        let mut level = heads.to_vec();
        for _ in 0..DEPTH_LIMIT {
            let mut next = Vec::new();
            for head in &level {
                for name in self.names(head)?.iter().filter(|n| !n.starts_with('.')) {
                    let path = beneath(head, name);
                    let folder = self.kind(&path) == Some(FileKind::Folder);
                    if folder || last {
                        out.push(path.clone());
                    }
                    if folder {
                        next.push(path);
                    }
                    if out.len() > self.options.limit {
                        return None;
                    }
                }
            }
            if next.is_empty() {
                out.sort();
                return Some(out);
            }
            level = next;
        }
        None
    }

    fn names(&mut self, head: &str) -> Option<Rc<[String]>> {
        self.reads += 1;
        if self.reads > READ_LIMIT {
            return None;
        }
        match self.lookups.entries(&self.absolute(head), FOLDER_LIMIT) {
            Names::All(names) => Some(names),
            Names::TooMany => None,
            Names::NoFolder => Some(Rc::default()),
        }
    }

    fn absolute(&self, path: &str) -> String {
        if path.starts_with('/') { normal(path) } else { normal(&format!("{}/{path}", self.cwd)) }
    }

    fn kind(&self, path: &str) -> Option<FileKind> {
        Some(self.lookups.meta(&self.absolute(path))?.kind)
    }

    fn is_there(&self, path: &str) -> bool {
        path.is_empty() || self.lookups.has(&self.absolute(path))
    }

    /// A folder, or a link, which may lead to one.
    fn is_folder(&self, path: &str) -> bool {
        matches!(self.kind(path), Some(FileKind::Folder | FileKind::Link))
    }
}

fn beneath(head: &str, name: &str) -> String {
    if head.is_empty() || head.ends_with('/') { format!("{head}{name}") } else { format!("{head}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::super::tree::Tree;
    use super::*;

    #[test]
    fn globs_expand_as_in_bash() {
        let tree = Tree::default()
            .file("/w/a.c")
            .file("/w/b.c")
            .file("/w/.h.c")
            .file("/w/src/x.c")
            .file("/w/src/deep/y.c")
            .file("/etc/shadow")
            .file("/w/st*r");
        let paths = |list: &[&str]| Expansion::Paths(list.iter().map(|p| (*p).to_owned()).collect());
        let plain = Options::default();
        let star = Options { globstar: Globstar::On, ..plain };
        let cases = [
            ("*.c", plain, paths(&["a.c", "b.c"])),
            ("./*.c", plain, paths(&["./a.c", "./b.c"])),
            (".*.c", plain, paths(&[".h.c"])),
            ("*.c", Options { dots: Dots::Shown, ..plain }, paths(&[".h.c", "a.c", "b.c"])),
            ("*/", plain, paths(&["src/"])),
            ("*/x.c", plain, paths(&["src/x.c"])),
            ("*/z.c", plain, Expansion::NoMatch),
            ("/etc/sh[a-z]d?w", plain, paths(&["/etc/shadow"])),
            ("**/*.c", star, paths(&["a.c", "b.c", "src/x.c", "src/deep/y.c"])),
            ("**/*.c", plain, paths(&["src/x.c"])),
            ("st\\*r", plain, paths(&["st*r"])),
            ("nothing*", plain, Expansion::NoMatch),
            ("*", Options { limit: 2, ..plain }, Expansion::TooMany),
            ("../e*c/s*", plain, paths(&["../etc/shadow"])),
        ];
        for (pattern, options, expected) in cases {
            let found = expand(pattern, "/w", &Lookups::new(&tree, 1000), options);
            assert_eq!(found, expected, "{pattern}");
        }
    }
}
