//! What version control knows of a file: whether it could be had back.
//!
//! In: absolute paths with links followed, the world. Out: [`State`] of a file, [`Dirt`] of a folder.
//! Never: runs git, reads objects, or looks at more than its bounds: then the answer is unknown. A staged
//! file counts as committed: its content is in the repository.

use std::cell::{Cell, OnceCell};
use std::collections::HashSet;
use std::rc::Rc;

use super::git_index::{Mark, Next, Tracked, visit};
use super::ignore::{Ignores, Kind};
use super::lookup::{Lookups, Names};
use super::resolve::{below, normal};
use crate::text;
use crate::world::{FileKind, Meta};

/// Bytes of an index that is read.
const INDEX_LIMIT: usize = 4 << 20;
/// Bytes of an ignore file that is read.
const IGNORE_LIMIT: usize = 64 << 10;
/// Files compared, and names looked at, for one [`Dirt`].
const FILE_LIMIT: usize = 2000;
/// The same, where only the state of a folder is asked.
const FOLDER_STATE_LIMIT: usize = 400;
/// Names in one folder.
const FOLDER_LIMIT: usize = 2000;
/// Folders looked at on the way up.
const CLIMB_LIMIT: usize = 32;

/// What would become of a file's content if the file were lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// nothing to lose that version control could hold: no repository around, or no such file
    NoRepository,
    /// tracked, and as it was when it was staged
    Committed,
    /// tracked, with changes; a folder: something in it is not committed
    Modified,
    Untracked,
    /// untracked, and git is told not to speak of it
    Ignored,
    Unknown,
}

/// Work below a folder that is not in the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dirt {
    /// tracked files with changes
    pub modified: Answer,
    /// untracked files that aren't ignored
    pub untracked: Answer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Yes,
    No,
    Unknown,
}

/// A repository, its index read at the first question.
pub struct Repository<'l> {
    /// The folder of the working tree.
    pub top: String,
    folder: String,
    lookups: &'l Lookups<'l>,
    index: OnceCell<Option<Rc<[u8]>>>,
    files: Cell<usize>,
}

impl<'l> Repository<'l> {
    /// The nearest repository around a path.
    pub fn around(path: &str, lookups: &'l Lookups<'l>) -> Option<Self> {
        let mut top = path;
        for _ in 0..CLIMB_LIMIT {
            let mark = format!("{}/.git", top.trim_end_matches('/'));
            match lookups.meta(&mark).map(|meta| meta.kind) {
                Some(FileKind::Folder) => return Some(Self::new(top, mark, lookups)),
                // a worktree's or submodule's file names the folder
                Some(FileKind::File) => {
                    let content = lookups.content(&mark, 4096)?;
                    let content = text::judged(&content);
                    let named = content.strip_prefix("gitdir:")?.trim();
                    let folder = if named.starts_with('/') {
                        normal(named)
                    } else {
                        normal(&format!("{top}/{named}"))
                    };
                    return Some(Self::new(top, folder, lookups));
                }
                Some(
                    FileKind::Link
                    | FileKind::Block
                    | FileKind::Character
                    | FileKind::Pipe
                    | FileKind::Socket,
                )
                | None => {}
            }
            top = top.rsplit_once('/')?.0;
        }
        None
    }

    fn new(top: &str, folder: String, lookups: &'l Lookups<'l>) -> Self {
        let top = if top.is_empty() { "/" } else { top };
        Self { top: top.to_owned(), folder, lookups, index: OnceCell::new(), files: Cell::new(FILE_LIMIT) }
    }

    /// The state of one file, or of all that a folder holds.
    pub fn state(&self, path: &str) -> State {
        let Some(meta) = self.lookups.meta(path) else { return State::NoRepository };
        let Some(name) = below(path, &self.top) else { return State::Unknown };
        if meta.kind == FileKind::Folder {
            return self.folder_state(path, name);
        }
        let Some(index) = self.index() else { return State::Unknown };
        let raw = text::raw(name);
        let mut found = State::Untracked;
        let see = &mut |tracked: &Tracked| match tracked.name.cmp(&raw) {
            std::cmp::Ordering::Less => Next::On,
            std::cmp::Ordering::Equal => {
                found = compare(tracked, Some(meta));
                Next::Stop
            }
            std::cmp::Ordering::Greater => Next::Stop,
        };
        if visit(index, see).is_none() {
            return State::Unknown;
        }
        if found == State::Untracked && self.is_ignored(name) { State::Ignored } else { found }
    }

    fn folder_state(&self, path: &str, name: &str) -> State {
        let inside =
            |entry: &[u8]| entry.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b"/"));
        let mut tracked = name.is_empty();
        let see = &mut |entry: &Tracked| {
            tracked |= inside(entry.name);
            if tracked { Next::Stop } else { Next::On }
        };
        if self.index().is_none_or(|index| visit(index, see).is_none()) {
            return State::Unknown;
        }
        if !tracked {
            return if self.is_ignored(name) { State::Ignored } else { State::Untracked };
        }
        self.files.set(FOLDER_STATE_LIMIT);
        match self.dirt(path) {
            Dirt { modified: Answer::Yes, .. } | Dirt { untracked: Answer::Yes, .. } => State::Modified,
            Dirt { modified: Answer::No, untracked: Answer::No } => State::Committed,
            Dirt { modified: Answer::Unknown | Answer::No, untracked: Answer::Unknown | Answer::No } => {
                State::Unknown
            }
        }
    }

    /// Work at or below a folder of the working tree (its top for the whole).
    pub fn dirt(&self, folder: &str) -> Dirt {
        let unknown = Dirt { modified: Answer::Unknown, untracked: Answer::Unknown };
        let (Some(prefix), Some(index)) = (below(folder, &self.top), self.index()) else { return unknown };
        let mut tracked = HashSet::new();
        let mut modified = Answer::No;
        let see = &mut |entry: &Tracked| {
            let name = text::judged(entry.name);
            if below(&name, prefix).is_none() && !prefix.is_empty() {
                return Next::On;
            }
            if tracked.len() >= self.files.get() {
                modified = if modified == Answer::Yes { Answer::Yes } else { Answer::Unknown };
                return Next::Stop;
            }
            let meta = self.lookups.meta(&self.absolute(&name));
            // a file that is gone can't be lost again
            if meta.is_some() && compare(entry, meta) == State::Modified {
                modified = Answer::Yes;
            }
            tracked.insert(name.into_owned());
            Next::On
        };
        if visit(index, see).is_none() {
            return unknown;
        }
        let untracked = if tracked.len() >= self.files.get() {
            Answer::Unknown
        } else {
            self.untracked(prefix, &tracked)
        };
        Dirt { modified, untracked }
    }

    /// Whether there are files below `prefix` that are neither tracked nor ignored.
    fn untracked(&self, prefix: &str, tracked: &HashSet<String>) -> Answer {
        let folders: HashSet<&str> = tracked
            .iter()
            .flat_map(|name| name.match_indices('/').filter_map(|(at, _)| name.get(..at)))
            .collect();
        let mut left = self.files.get();
        let mut waiting = vec![(prefix.to_owned(), self.ignores(prefix))];
        while let Some((folder, mut ignores)) = waiting.pop() {
            let names = match self.lookups.entries(&self.absolute(&folder), FOLDER_LIMIT) {
                Names::All(names) => names,
                Names::TooMany => return Answer::Unknown,
                Names::NoFolder => continue,
            };
            if folder != prefix && names.iter().any(|name| name == ".gitignore") {
                self.read_ignores(&mut ignores, &folder);
            }
            for name in names.iter() {
                let Some(rest) = left.checked_sub(1) else { return Answer::Unknown };
                left = rest;
                let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
                if name == ".git" || tracked.contains(&path) {
                    continue;
                }
                let kind = self.lookups.meta(&self.absolute(&path)).map(|meta| meta.kind);
                if kind != Some(FileKind::Folder) {
                    if !ignores.ignores(&path, Kind::Any) {
                        return Answer::Yes;
                    }
                } else if folders.contains(path.as_str()) || !ignores.ignores(&path, Kind::Folder) {
                    waiting.push((path, ignores.clone()));
                }
            }
        }
        Answer::No
    }

    fn absolute(&self, name: &str) -> String {
        match (self.top.as_str(), name) {
            (top, "") => top.to_owned(),
            ("/", name) => format!("/{name}"),
            (top, name) => format!("{top}/{name}"),
        }
    }

    fn index(&self) -> Option<&[u8]> {
        let read = || self.lookups.content(&format!("{}/index", self.folder), INDEX_LIMIT);
        self.index.get_or_init(read).as_deref()
    }

    /// The rules that hold in a folder below the top.
    fn ignores(&self, folder: &str) -> Ignores {
        let mut ignores = Ignores::default();
        if let Some(content) = self.lookups.content(&format!("{}/info/exclude", self.folder), IGNORE_LIMIT) {
            ignores.add(&text::judged(&content), "");
        }
        self.read_ignores(&mut ignores, "");
        let ends =
            folder.match_indices('/').map(|(at, _)| at).chain(Some(folder.len()).filter(|end| *end > 0));
        for above in ends.take(CLIMB_LIMIT).filter_map(|end| folder.get(..end)) {
            self.read_ignores(&mut ignores, above);
        }
        ignores
    }

    fn read_ignores(&self, ignores: &mut Ignores, folder: &str) {
        let path = format!("{}/.gitignore", self.absolute(folder).trim_end_matches('/'));
        if let Some(content) = self.lookups.content(&path, IGNORE_LIMIT) {
            ignores.add(&text::judged(&content), folder);
        }
    }

    /// Whether a file or a folder above it is ignored.
    fn is_ignored(&self, name: &str) -> bool {
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let ignores = self.ignores(folder);
        let mut above = name.match_indices('/').take(CLIMB_LIMIT).filter_map(|(at, _)| name.get(..at));
        let kind = match self.lookups.meta(&self.absolute(name)).map(|meta| meta.kind) {
            Some(FileKind::Folder) => Kind::Folder,
            Some(
                FileKind::File
                | FileKind::Link
                | FileKind::Block
                | FileKind::Character
                | FileKind::Pipe
                | FileKind::Socket,
            )
            | None => Kind::Any,
        };
        above.any(|folder| ignores.ignores(folder, Kind::Folder)) || ignores.ignores(name, kind)
    }
}

/// Size and time decide, as for git itself before it reads a content; a file that was only touched counts
/// as changed.
fn compare(tracked: &Tracked, meta: Option<Meta>) -> State {
    match tracked.mark {
        Mark::Exempt => return State::Committed,
        Mark::Unfinished => return State::Modified,
        Mark::Folder => return State::Unknown,
        Mark::File => {}
    }
    let Some(meta) = meta else { return State::Modified };
    let seconds = meta.modified.div_euclid(1_000_000_000);
    let nanoseconds = meta.modified.rem_euclid(1_000_000_000);
    let same_time = seconds & 0xffff_ffff == i128::from(tracked.seconds)
        && (tracked.nanoseconds == 0 || nanoseconds == i128::from(tracked.nanoseconds));
    let same_size = meta.size & 0xffff_ffff == u64::from(tracked.size);
    if same_time && same_size { State::Committed } else { State::Modified }
}

/// The state of one file or folder in the repository around it.
pub fn state(path: &str, lookups: &Lookups) -> State {
    Repository::around(path, lookups).map_or(State::NoRepository, |repository| repository.state(path))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::world::Machine;

    fn git(folder: &std::path::Path, arguments: &[&str]) -> bool {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=m"];
        let clean = |c: &mut Command| {
            c.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").output()
        };
        clean(Command::new("git").args(identity).args(arguments).current_dir(folder))
            .is_ok_and(|o| o.status.success())
    }

    #[test]
    fn files_have_the_state_that_git_gives_them() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap().join("r");
        std::fs::create_dir_all(top.join("a/b")).unwrap();
        let write = |name: &str, text: &str| std::fs::write(top.join(name), text).unwrap();
        write(".gitignore", "*.log\nout/\n");
        write("a/b/kept", "1");
        write("a/changed", "1");
        write("é", "1");
        if !git(&top, &["init", "-q", "."]) {
            eprintln!("skipped: git is not installed");
            return;
        }
        for version in ["2", "4"] {
            assert!(git(&top, &["config", "index.version", version]));
            assert!(git(&top, &["add", "-A"]) && git(&top, &["commit", "-qm", version, "--allow-empty"]));
            assert!(git(&top, &["update-index", "--index-version", version]));
            let clean = Lookups::new(&Machine, 10_000);
            let name = |part: &str| format!("{}/{part}", top.display());
            let repository = Repository::around(&name("a/b"), &clean).unwrap();
            assert_eq!(
                repository.dirt(&repository.top),
                Dirt { modified: Answer::No, untracked: Answer::No }
            );
            write("a/changed", &format!("version {version}"));
            write("new", "1");
            write("x.log", "1");
            std::fs::create_dir_all(top.join("out")).unwrap();
            write("out/x", "1");
            let lookups = Lookups::new(&Machine, 10_000);
            let cases = [
                ("a/b/kept", State::Committed),
                ("é", State::Committed),
                ("a/changed", State::Modified),
                ("new", State::Untracked),
                ("x.log", State::Ignored),
                ("out/x", State::Ignored),
                ("nothing", State::NoRepository),
                ("a", State::Modified),
                ("a/b", State::Committed),
                ("out", State::Ignored),
                ("", State::Modified),
            ];
            for (part, expected) in cases {
                assert_eq!(state(&name(part), &lookups), expected, "version {version}: {part}");
            }
            let repository = Repository::around(&name("a"), &lookups).unwrap();
            assert_eq!(
                repository.dirt(&repository.top),
                Dirt { modified: Answer::Yes, untracked: Answer::Yes }
            );
            assert_eq!(repository.dirt(&name("a/b")), Dirt { modified: Answer::No, untracked: Answer::No });
            std::fs::remove_file(top.join("new")).unwrap();
        }
        assert!(git(&top, &["worktree", "add", "-q", "../w"]));
        let other = format!("{}/w/a/b/kept", folder.path().canonicalize().unwrap().display());
        assert_eq!(state(&other, &Lookups::new(&Machine, 1000)), State::Committed);
        assert_eq!(state("/proc/version", &Lookups::new(&Machine, 1000)), State::NoRepository);
    }
}
