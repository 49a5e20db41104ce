//! From a path as written to where it leads: lexically, and through the links that are there.
//!
//! In: a path after expansion, the directory, the world. Out: [`Resolved`].
//! Never: trusts a path that was not looked at: where a component is missing the rest is read lexically,
//! where links go round the path stays as it is and says so.

use std::borrow::Cow;
use std::rc::Rc;

use super::lookup::Lookups;
use super::magic::{Magic, magic};
use crate::world::{FileKind, Meta};

/// Links followed in one path, as the kernel counts (`MAXSYMLINKS`, `path_resolution(7)`).
const LINK_LIMIT: u32 = 40;

/// The character that stands for an unknown part of a path.
pub const UNKNOWN: char = '…';

/// Where a path leads. All are absolute and without `.`, `..` and needless slashes; a path whose
/// beginning is unknown starts with `…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// `.` and `..` removed by text alone, as `cd` does.
    pub lexical: Rc<str>,
    /// Links in folders followed, a final link not: what `rm`, `mv` and `ln` act on.
    pub place: Rc<str>,
    /// All links followed: what is read, written and run.
    pub real: Rc<str>,
    pub through: Through,
    /// Metadata of `real`, if it is there.
    pub exists: Option<Meta>,
    pub climbs: Climbs,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Through {
    #[default]
    Nothing,
    Link,
    /// more links than the kernel follows: the path can't be used
    Circle,
}

/// Whether `..` left the working directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Climbs {
    #[default]
    No,
    Yes,
}

/// Resolves a path. `None`: it is empty, or relative to a directory that is not known.
pub fn resolve(written: &str, cwd: &str, lookups: &Lookups) -> Option<Resolved> {
    if written.is_empty() {
        return None;
    }
    if written.starts_with(UNKNOWN) {
        return Some(unlooked(unknown_head(written)));
    }
    let joined = join(written, cwd)?;
    let lexical = normal(&joined);
    let climbs = if climbs(written, cwd, &lexical) { Climbs::Yes } else { Climbs::No };
    if is_plain_device(&lexical) {
        return Some(Resolved { climbs, ..unlooked(lexical) });
    }
    let follows = joined.ends_with('/') || joined.ends_with("/.");
    let walk = Walk::new(cwd, lookups).run(&joined);
    let lexical: Rc<str> = lexical.into();
    let share = |path: String| if path == *lexical { Rc::clone(&lexical) } else { Rc::from(path) };
    let real = share(walk.real);
    let place = match walk.entry {
        Some(entry) if !follows => share(entry),
        Some(_) | None => Rc::clone(&real),
    };
    Some(Resolved { lexical, place, real, through: walk.through, exists: walk.exists, climbs })
}

/// The absolute path, nothing removed.
fn join(written: &str, cwd: &str) -> Option<String> {
    if written.starts_with('/') {
        return Some(written.to_owned());
    }
    if !cwd.starts_with('/') {
        return None;
    }
    let mut out = String::with_capacity(cwd.len() + written.len() + 1);
    out.push_str(cwd);
    out.push('/');
    out.push_str(written);
    Some(out)
}

/// An absolute path without `.`, `..` and needless slashes, by text alone.
pub fn normal(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => pop(&mut out),
            name => {
                out.push('/');
                out.push_str(name);
            }
        }
    }
    if out.is_empty() {
        out.push('/');
    }
    out
}

/// A path below an unknown folder: `..` beyond its beginning stays in the unknown.
fn unknown_head(written: &str) -> String {
    let (head, rest) = written.split_once('/').unwrap_or((written, ""));
    match normal(rest).as_str() {
        "/" => head.to_owned(),
        rest => format!("{head}{rest}"),
    }
}

fn pop(path: &mut String) {
    path.truncate(path.rfind('/').unwrap_or(0));
}

/// Whether `path` is `folder` or lies below it; both in normal form.
pub fn is_within(path: &str, folder: &str) -> bool {
    match path.strip_prefix(folder) {
        Some(rest) => rest.is_empty() || rest.starts_with('/') || folder == "/",
        None => false,
    }
}

/// The part of `path` below `folder`, without a slash in front; empty for the folder itself.
pub fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(folder)?;
    if rest.is_empty() || folder == "/" {
        return Some(rest);
    }
    rest.strip_prefix('/')
}

fn climbs(written: &str, cwd: &str, lexical: &str) -> bool {
    if !written.split('/').any(|part| part == "..") || is_within(lexical, cwd) {
        return false;
    }
    // an absolute path climbs only if it was inside before
    let before = written.find("/..").and_then(|at| written.get(..at)).unwrap_or("");
    !written.starts_with('/') || is_within(&normal(before), cwd)
}

/// Streams and devices at which nothing has to be looked up.
fn is_plain_device(path: &str) -> bool {
    path.strip_prefix("/dev/").is_some_and(|name| {
        matches!(
            name,
            "null" | "zero" | "full" | "tty" | "stdin" | "stdout" | "stderr" | "random" | "urandom" | "fd"
        ) || name.starts_with("fd/")
    })
}

fn unlooked(path: String) -> Resolved {
    let path: Rc<str> = path.into();
    Resolved {
        lexical: Rc::clone(&path),
        place: Rc::clone(&path),
        real: path,
        through: Through::Nothing,
        exists: None,
        climbs: Climbs::No,
    }
}

struct Walk<'a> {
    cwd: &'a str,
    lookups: &'a Lookups<'a>,
    real: String,
    /// The path before a final link was followed.
    entry: Option<String>,
    through: Through,
    exists: Option<Meta>,
    links: u32,
}

impl<'a> Walk<'a> {
    fn new(cwd: &'a str, lookups: &'a Lookups<'a>) -> Self {
        Self {
            cwd,
            lookups,
            real: String::with_capacity(64),
            entry: None,
            through: Through::Nothing,
            exists: None,
            links: 0,
        }
    }

    fn run(mut self, joined: &str) -> Self {
        // parts still to go, the next one last
        let mut ahead: Vec<String> = Vec::new();
        let mut given = joined.split('/').filter(|part| !part.is_empty() && *part != ".").peekable();
        let mut there = true;
        while let Some(part) = ahead.pop().map(Cow::Owned).or_else(|| given.next().map(Cow::Borrowed)) {
            if part == ".." {
                pop(&mut self.real);
                self.exists = None;
                continue;
            }
            self.real.push('/');
            self.real.push_str(&part);
            if !there {
                continue;
            }
            let last = ahead.is_empty() && given.peek().is_none();
            match self.target() {
                Step::Stay => {}
                Step::Missing => there = false,
                Step::Circle => {
                    self.through = Through::Circle;
                    there = false;
                }
                Step::Follow(target) => {
                    self.through = Through::Link;
                    if last && self.entry.is_none() {
                        self.entry = Some(self.real.clone());
                    }
                    if target.starts_with('/') {
                        self.real.clear();
                    } else {
                        pop(&mut self.real);
                    }
                    let parts = target.split('/').filter(|p| !p.is_empty() && *p != ".");
                    ahead.extend(parts.rev().map(str::to_owned));
                }
            }
        }
        if self.real.is_empty() {
            self.real.push('/');
        }
        if there && self.exists.is_none() {
            self.exists = self.lookups.meta(&self.real);
        }
        self
    }

    fn target(&mut self) -> Step {
        self.exists = None;
        match magic(&self.real) {
            Magic::Process => return Step::Stay,
            Magic::Root => return Step::Follow("/".to_owned()),
            Magic::Directory => return Step::Follow(self.cwd.to_owned()),
            Magic::None => {}
        }
        let Some(meta) = self.lookups.meta(&self.real) else { return Step::Missing };
        if meta.kind != FileKind::Link {
            self.exists = Some(meta);
            return Step::Stay;
        }
        self.links += 1;
        if self.links > LINK_LIMIT {
            return Step::Circle;
        }
        self.lookups.link(&self.real).map_or(Step::Missing, Step::Follow)
    }
}

enum Step {
    Stay,
    Missing,
    Follow(String),
    Circle,
}

#[cfg(test)]
mod tests {
    use super::super::tree::Tree;
    use super::*;

    fn tree() -> Tree {
        Tree::default()
            .file("/etc/shadow")
            .file("/home/u/p/a.txt")
            .link("/home/u/p/out", "/etc")
            .link("/home/u/p/up", "../other")
            .file("/home/u/other/b")
            .link("/home/u/p/last", "a.txt")
            .link("/home/u/p/x", "y")
            .link("/home/u/p/y", "x")
            .link("/home/u/p/dangling", "/nowhere/z")
    }

    #[test]
    fn paths_lead_where_the_kernel_would_go() {
        let tree = tree();
        let cases = [
            // written, lexical, place, real, through
            ("a.txt", "/home/u/p/a.txt", "/home/u/p/a.txt", "/home/u/p/a.txt", Through::Nothing),
            ("./../p//a.txt/", "/home/u/p/a.txt", "/home/u/p/a.txt", "/home/u/p/a.txt", Through::Nothing),
            ("out/shadow", "/home/u/p/out/shadow", "/etc/shadow", "/etc/shadow", Through::Link),
            ("out", "/home/u/p/out", "/home/u/p/out", "/etc", Through::Link),
            ("out/", "/home/u/p/out", "/etc", "/etc", Through::Link),
            ("out/../etc/x", "/home/u/p/etc/x", "/etc/x", "/etc/x", Through::Link),
            (
                "up/new/file",
                "/home/u/p/up/new/file",
                "/home/u/other/new/file",
                "/home/u/other/new/file",
                Through::Link,
            ),
            ("last", "/home/u/p/last", "/home/u/p/last", "/home/u/p/a.txt", Through::Link),
            ("dangling", "/home/u/p/dangling", "/home/u/p/dangling", "/nowhere/z", Through::Link),
            ("/../..//", "/", "/", "/", Through::Nothing),
            (
                "/proc/self/root/etc/shadow",
                "/proc/self/root/etc/shadow",
                "/etc/shadow",
                "/etc/shadow",
                Through::Link,
            ),
            ("/proc/1/root/etc", "/proc/1/root/etc", "/etc", "/etc", Through::Link),
            (
                "/proc/self/cwd/a.txt",
                "/proc/self/cwd/a.txt",
                "/home/u/p/a.txt",
                "/home/u/p/a.txt",
                Through::Link,
            ),
            (
                "/proc/self/environ",
                "/proc/self/environ",
                "/proc/self/environ",
                "/proc/self/environ",
                Through::Nothing,
            ),
            ("…/.ssh/../x", "…/x", "…/x", "…/x", Through::Nothing),
            ("a\nb", "/home/u/p/a\nb", "/home/u/p/a\nb", "/home/u/p/a\nb", Through::Nothing),
        ];
        for (written, lexical, place, real, through) in cases {
            let found = resolve(written, "/home/u/p", &Lookups::new(&tree, 1000)).unwrap();
            let parts = (&*found.lexical, &*found.place, &*found.real, found.through);
            assert_eq!(parts, (lexical, place, real, through), "{written}");
        }
    }

    #[test]
    fn circles_end_and_unknown_directories_give_nothing() {
        let tree = tree();
        let found = resolve("x/y", "/home/u/p", &Lookups::new(&tree, 1000)).unwrap();
        assert_eq!(found.through, Through::Circle);
        assert_eq!(resolve("x", "", &Lookups::new(&tree, 10)), None);
        assert_eq!(resolve("", "/", &Lookups::new(&tree, 10)), None);
    }

    #[test]
    fn climbing_is_leaving_the_directory() {
        let tree = tree();
        let cases = [
            ("../x", Climbs::Yes),
            ("a/../b", Climbs::No),
            ("../p/x", Climbs::No),
            ("/home/u/p/../x", Climbs::Yes),
            ("/usr/../etc", Climbs::No),
            ("..", Climbs::Yes),
        ];
        for (written, expected) in cases {
            let found = resolve(written, "/home/u/p", &Lookups::new(&tree, 1000)).unwrap();
            assert_eq!(found.climbs, expected, "{written}");
        }
    }

    #[test]
    fn a_missing_folder_costs_one_question() {
        let tree = Tree::default();
        let lookups = Lookups::new(&tree, 1);
        let found = resolve("/nowhere/a/b/c/d", "/", &lookups).unwrap();
        assert_eq!((found.exists, lookups.state()), (None, super::super::lookup::Budget::Enough));
    }
}
