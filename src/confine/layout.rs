//! From the policy, the call and the grants to the rules on paths.
//!
//! In: [`ConfinePolicy`], [`Scene`], [`Grant`]s. Out: rules, added to a ruleset in the making.
//! Never: allows writing to a home as a whole, to `/` or to agent-sh's own files; never lets a variable
//! of the environment open a place that the policy does not.

use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::{Path, PathBuf};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::stat::{SFlag, fstat};

use super::cover::{Cover, cover};
use super::folder::list;
use super::probe;
use super::ruleset::{Builder, Rights};
use super::settings::{Bounds, ConfinePolicy, Grant, Level, Scene};
use super::spot::{Home, Spot, expand, open_path, path_of};
use super::worktree::outer_repository;

/// Homes of others that root's commands could read.
const OTHER_HOMES: usize = 32;

/// The system's folders, as far as package managers write to them.
const SYSTEM: &[&str] =
    &["/usr", "/etc", "/var", "/opt", "/run", "/boot", "/srv", "/bin", "/sbin", "/lib", "/lib32", "/lib64"];

/// Lays all rules.
pub(super) struct Layout<'a> {
    policy: &'a ConfinePolicy,
    scene: &'a Scene<'a>,
    /// The caller's homes, links resolved.
    homes: Vec<Home>,
    hidden: Vec<PathBuf>,
    /// Homes that are closed as a whole (level strict).
    closed: Vec<PathBuf>,
    own: Vec<PathBuf>,
    rules: &'a mut Builder,
    /// What the record should say besides.
    notes: Vec<&'static str>,
}

impl<'a> Layout<'a> {
    pub(super) fn new(policy: &'a ConfinePolicy, scene: &'a Scene<'a>, rules: &'a mut Builder) -> Self {
        let homes = look(scene.homes.iter().map(|home| path_of(home)).collect());
        let others = if nix::unistd::geteuid().is_root() { other_homes(&homes) } else { Vec::new() };
        let all: Vec<&Home> = homes.iter().chain(&others).collect();
        let find = |entries: &[String], homes: &[&Home]| -> Vec<PathBuf> {
            let paths = entries.iter().flat_map(|entry| expand(entry, homes));
            let mut found: Vec<PathBuf> =
                paths.filter_map(|p| Spot::seek(&p)).map(|spot| spot.path).collect();
            found.sort();
            found.dedup();
            found
        };
        let hidden = find(&policy.hidden, &all);
        let own = find(&policy.own, &homes.iter().collect::<Vec<_>>());
        let closed = match policy.level {
            Level::Strict => all.iter().map(|home| home.path.clone()).collect(),
            Level::Derived | Level::Standard | Level::Off => Vec::new(),
        };
        Self { policy, scene, homes, hidden, closed, own, rules, notes: Vec::new() }
    }

    /// What can't be read.
    pub(super) fn holes(&self) -> Vec<PathBuf> {
        [&self.hidden[..], &self.closed[..]].concat()
    }

    /// Adds every rule; the answer is what the record should say besides.
    pub(super) fn lay(mut self, grants: &[Grant<'_>], bounds: &Bounds) -> Vec<&'static str> {
        self.reading();
        self.devices();
        self.streams();
        match bounds {
            Bounds::Policy => self.usual(),
            Bounds::Effects { .. } => self.shown(),
        }
        for grant in grants {
            self.grant(*grant);
        }
        self.notes.sort_unstable();
        self.notes.dedup();
        self.notes
    }

    /// At level strict, where homes are closed: the workspace and its repository are read all the same.
    fn shown(&mut self) {
        let workspace = self.scene.workspace.map(path_of).and_then(|path| Spot::open(&path));
        let Some(spot) = workspace.filter(|_| !self.closed.is_empty()) else { return };
        if self.is_too_wide(&spot.path) {
            self.notes.push("place-refused");
            return;
        }
        for tree in std::iter::once(spot.path.clone()).chain(outer_repository(&spot.path)) {
            self.allow_all(&cover(&tree, &self.hidden), Rights::Read);
        }
    }

    /// What the level gives besides the grants.
    fn usual(&mut self) {
        self.temporaries();
        self.workspace();
        for path in self.made() {
            let make = || if self.rules.is_on_paper() { None } else { made(&path) };
            if let Some(spot) = Spot::open(&path).or_else(make) {
                self.spot(&spot);
            }
        }
        self.trees(&[&self.policy.caches[..], &self.policy.writable[..]].concat());
    }

    /// The policy's folders for temporary files, and the caller's.
    fn temporaries(&mut self) {
        for folder in &self.policy.temporary {
            self.temporary(Path::new(folder));
        }
        if let Some(folder) = self.scene.temporary.map(path_of).filter(|p| self.is_temporary(p)) {
            self.tree(&folder);
        }
    }

    /// The folders of [`ConfinePolicy::made`], also those that are missing.
    fn made(&self) -> Vec<PathBuf> {
        let in_homes = |rest: &str| self.homes.iter().map(|home| home.path.join(path_of(rest))).collect();
        let paths = |entry: &String| -> Vec<PathBuf> {
            entry.strip_prefix("~/").map_or_else(|| vec![path_of(entry)], in_homes)
        };
        self.policy.made.iter().flat_map(paths).collect()
    }

    fn expanded(&self, entries: &[String]) -> Vec<PathBuf> {
        let homes: Vec<&Home> = self.homes.iter().collect();
        entries.iter().flat_map(|entry| expand(entry, &homes)).collect()
    }

    /// Trees of a list, in which neighbours often share a folder: where that is missing, all of them are.
    fn trees(&mut self, entries: &[String]) {
        let mut folder = PathBuf::new();
        let mut missing = false;
        for path in self.expanded(entries) {
            let Some(parent) = path.parent() else { continue };
            if parent == folder && missing {
                continue;
            }
            if let Some(spot) = Spot::seek(&path) {
                self.spot(&spot);
            } else if parent != folder {
                missing = Spot::seek(parent).is_none();
                folder = parent.to_path_buf();
            }
        }
    }

    /// Everything but what is hidden.
    fn reading(&mut self) {
        let around = cover(Path::new("/"), &self.holes());
        self.allow_all(&around, Rights::Read);
        // Part of the signature, see `probe`. Writing there stays forbidden.
        self.path(Path::new("/proc"), Rights::Truncate);
        if self.policy.level == Level::Strict {
            for path in self.expanded(&self.policy.readable) {
                let Some(spot) = Spot::open(&path) else { continue };
                self.allow_all(&cover(&spot.path, &self.hidden), Rights::Read);
            }
        }
    }

    fn devices(&mut self) {
        let policy = self.policy;
        let signature = |name: &&str| !probe::REFUSED.contains(name) && !probe::ALLOWED.contains(name);
        let named = policy.devices.iter().map(String::as_str).filter(signature);
        // One answer stands for all of a kind: most machines have none.
        let nvidia = Path::new("/dev/nvidiactl").exists();
        for device in named.chain(probe::ALLOWED).filter(|name| nvidia || !name.starts_with("/dev/nvidia")) {
            self.path(Path::new(device), Rights::Device);
        }
    }

    /// The standard streams, where they are files or terminals: `> /dev/stdout` opens them again.
    fn streams(&mut self) {
        let (input, output, error) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
        let streams: [BorrowedFd<'_>; 3] = [input.as_fd(), output.as_fd(), error.as_fd()];
        let mut seen = Vec::new();
        for stream in streams {
            if self.rules.is_on_paper() {
                // theirs, not the command's
                return;
            }
            let (Ok(status), Ok(flags)) = (fstat(stream), fcntl(stream, FcntlArg::F_GETFL)) else { continue };
            let kind = SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT;
            let identity = (status.st_dev, status.st_ino);
            // A rule on a folder would open all that is in it; pipes and sockets need none.
            if !(kind == SFlag::S_IFREG || kind == SFlag::S_IFCHR) || seen.contains(&identity) {
                continue;
            }
            seen.push(identity);
            let flags = OFlag::from_bits_truncate(flags);
            let rights = match flags & OFlag::O_ACCMODE {
                OFlag::O_RDONLY => Rights::Read,
                _ if flags.contains(OFlag::O_APPEND) => Rights::Append,
                _ => Rights::Device,
            };
            self.rules.allow(stream, rights);
        }
    }

    /// The workspace and its repository. A person's home or `/` is no workspace.
    fn workspace(&mut self) {
        let Some(workspace) = self.scene.workspace.map(path_of) else {
            self.notes.push("no-workspace");
            return;
        };
        let fits = |spot: &Spot| !self.is_too_wide(&spot.path) || self.is_bare_home(&spot.path);
        let Some(spot) = Spot::open(&workspace).filter(fits) else {
            self.notes.push("no-workspace");
            return;
        };
        if self.is_bare_home(&spot.path) {
            self.write(&spot);
        } else {
            self.spot(&spot);
        }
        if let Some(repository) = outer_repository(&spot.path) {
            self.tree(&repository);
        }
    }

    /// `/`, a home, or a folder that holds a home.
    fn is_too_wide(&self, path: &Path) -> bool {
        path == Path::new("/") || self.homes.iter().any(|home| home.path.starts_with(path))
    }

    /// Whether all homes that a folder holds are itself, and nobody's.
    fn is_bare_home(&self, path: &Path) -> bool {
        let mut held = self.homes.iter().filter(|home| home.path.starts_with(path)).peekable();
        held.peek().is_some() && held.all(|home| home.path == path && home.is_bare())
    }

    /// Whether `TMPDIR` names a place for temporary files: inside one of the policy's, or by its mode
    /// (world-writable and sticky). The caller chooses `TMPDIR`, so its word alone opens nothing.
    fn is_temporary(&self, path: &Path) -> bool {
        let Some(spot) = Spot::open(path) else { return false };
        let shared = 0o1002;
        let sticky = spot.status().is_some_and(|status| status.st_mode & shared == shared);
        sticky || self.policy.temporary.iter().any(|folder| spot.path.starts_with(folder))
    }

    /// A folder that the policy names for temporary files: also where somebody's `HOME` lies inside it (a
    /// test's, a container's), which makes it no wider.
    fn temporary(&mut self, path: &Path) {
        let hidden = |spot: &Spot| self.hidden.iter().any(|hole| spot.path.starts_with(hole));
        match Spot::open(path) {
            Some(spot) if spot.path != Path::new("/") && !hidden(&spot) => self.write(&spot),
            Some(_) => self.notes.push("place-refused"),
            None => {}
        }
    }

    /// Makes a tree (or file) writable; nothing happens where it is missing, hidden or too wide.
    fn tree(&mut self, path: &Path) {
        if let Some(spot) = Spot::open(path) {
            self.spot(&spot);
        }
    }

    fn spot(&mut self, spot: &Spot) {
        let hidden = self.hidden.iter().any(|hole| spot.path.starts_with(hole));
        if hidden || self.is_too_wide(&spot.path) {
            self.notes.push("place-refused");
        } else {
            self.write(spot);
        }
    }

    /// Write access to all of a tree but agent-sh's own files; read access too, if nothing in it is hidden.
    fn write(&mut self, spot: &Spot) {
        let holes = self.hidden.iter().any(|hole| hole.starts_with(&spot.path));
        let rights = if holes { Rights::Write } else { Rights::ReadWrite };
        let inside = |own: &PathBuf| own.starts_with(&spot.path) || spot.path.starts_with(own);
        if self.own.iter().any(inside) {
            let around = cover(&spot.path, &self.own);
            self.allow_all(&around, rights);
        } else {
            self.rules.allow(spot.as_fd(), rights);
        }
    }

    fn grant(&mut self, grant: Grant<'_>) {
        match grant {
            Grant::Read(path) => self.path(&path_of(path), Rights::Read),
            Grant::Write(path) => self.written(&path_of(path)),
            Grant::Replace(path) => {
                let path = path_of(path);
                self.written(path.parent().unwrap_or(&path));
            }
            Grant::Put(path) => {
                let path = path_of(path);
                let around = path.parent().filter(|around| *around != Path::new("/"));
                // what lies in `/` itself can be changed in its place only
                self.written(if path.is_dir() { &path } else { around.unwrap_or(&path) });
            }
            Grant::Remove(path) => self.removed(&path_of(path)),
            Grant::Cache(place) => self.cache(place.trim_end_matches("/**")),
            Grant::Below(path) => self.tree(&path_of(path)),
            Grant::Linked(path) => self.linked(&path_of(path)),
            Grant::Temporary => self.temporaries(),
            Grant::Place(place) => self.trees(&[place.trim_end_matches("/**").to_owned()]),
            Grant::Own(path) => {
                self.notes.push("intents");
                self.path(&path_of(path), Rights::ReadWrite);
            }
            Grant::System => {
                self.notes.push("system");
                for folder in SYSTEM {
                    self.path(Path::new(folder), Rights::Write);
                }
            }
            // Decided before any rule is laid.
            Grant::Elevation => {}
        }
    }

    /// A cache that a called program fills: made where it is missing, if it is one of the policy's.
    fn cache(&mut self, place: &str) {
        let known = self.policy.caches.iter().any(|cache| cache == place);
        let Some(rest) = place.strip_prefix("~/").filter(|_| known && !self.rules.is_on_paper()) else {
            return;
        };
        // not `expanded`: that finds what is there
        let paths: Vec<PathBuf> = self.homes.iter().map(|home| home.path.join(path_of(rest))).collect();
        for path in paths {
            let Some(folder) = path.parent() else { continue };
            if Spot::open(&path).is_none() {
                drop(std::fs::create_dir_all(folder));
                if let Some(spot) = made(&path) {
                    self.spot(&spot);
                }
            }
        }
    }

    /// A target that the judge allowed: itself, or the nearest folder above that exists.
    fn written(&mut self, path: &Path) {
        let Some(spot) = path.ancestors().find_map(Spot::open) else { return };
        if spot.path == Path::new("/") {
            // Everything would be writable.
            self.notes.push("grant-refused");
            return;
        }
        if self.is_too_wide(&spot.path) {
            self.notes.push("wide");
        }
        self.write(&spot);
    }

    /// A target that is deleted: the kernel asks the folder around it.
    fn removed(&mut self, path: &Path) {
        let around = path.parent().unwrap_or(path);
        let Some(spot) = around.ancestors().find_map(Spot::open) else { return };
        let own = |own: &PathBuf| own.starts_with(&spot.path) || spot.path.starts_with(own);
        if spot.path == Path::new("/") {
            self.notes.push("grant-refused");
        } else if self.own.iter().any(own) {
            let around = cover(&spot.path, &self.own);
            self.allow_all(&around, Rights::Remove);
        } else {
            self.rules.allow(spot.as_fd(), Rights::Remove);
        }
    }

    /// A file that gets a second name. What is hidden, or agent-sh's own, gets none that could be written.
    fn linked(&mut self, path: &Path) {
        let Some(spot) = Spot::open(path) else { return };
        let held = |tree: &PathBuf| spot.path.starts_with(tree) || tree.starts_with(&spot.path);
        if self.hidden.iter().chain(&self.own).any(held) {
            self.notes.push("place-refused");
            return;
        }
        self.rules.allow(spot.as_fd(), Rights::ReadWrite);
        if let Some(around) = spot.path.parent() {
            self.path(around, Rights::Refer);
        }
    }

    fn path(&mut self, path: &Path, rights: Rights) {
        if let Some(fd) = open_path(path) {
            self.rules.allow(fd.as_fd(), rights);
        }
    }

    fn allow_all(&mut self, around: &Cover, rights: Rights) {
        for path in &around.paths {
            self.path(path, rights);
        }
        if around.cut > 0 {
            self.notes.push("cut");
        }
    }
}

fn look(mut paths: Vec<PathBuf>) -> Vec<Home> {
    paths.sort();
    paths.dedup();
    let mut homes: Vec<Home> = paths.iter().filter_map(|path| Home::look(path)).collect();
    homes.dedup_by(|a, b| a.path == b.path);
    homes
}

/// `/root` and the folders of `/home`, for root, whom no file mode stops.
fn other_homes(own: &[Home]) -> Vec<Home> {
    let listing = list(Path::new("/home"), OTHER_HOMES).unwrap_or_default();
    let mut paths: Vec<PathBuf> =
        listing.names.iter().map(|(name, _)| Path::new("/home").join(name)).collect();
    paths.push(PathBuf::from("/root"));
    paths.retain(|path| own.iter().all(|home| home.path != *path));
    look(paths)
}

/// Makes a folder, if it is missing and its parent exists.
fn made(path: &Path) -> Option<Spot> {
    nix::unistd::mkdir(path, nix::sys::stat::Mode::S_IRWXU).ok()?;
    Spot::open(path)
}
