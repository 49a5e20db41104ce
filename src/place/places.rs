//! One judgement's view of places: everything that this floor knows, over one memory.
//!
//! In: the context, the policy's places, the world. Out: resolved paths and classes.
//! Never: asks the world the same thing twice.

use std::cell::RefCell;

use super::classify::{Follow, classify, classify_path};
use super::home::{Tilde, Variables, expand as expand_tilde};
use super::host::{self, Peer};
use super::index::Index;
use super::lookup::Lookups;
use super::resolve::{Resolved, resolve};
use super::setting::{Claims, Setting};
use crate::act::{Class, ClassSet};
use crate::invocation::context::Context;
use crate::world::World;

/// Questions to the world in one judgement.
const QUESTION_LIMIT: u32 = 4000;

/// Places around one call.
pub struct Places<'a> {
    pub lookups: Lookups<'a>,
    setting: Setting,
    index: &'a Index,
    recent: RefCell<Vec<Recent>>,
}

/// An answer that was given: an effect asks for its target's place several times.
struct Recent {
    written: String,
    cwd: String,
    follow: Follow,
    found: Option<Resolved>,
    classes: ClassSet,
}

/// Answers that are remembered: a command's operands and its output.
const RECENT: usize = 4;

impl<'a> Places<'a> {
    /// `index`: one per policy, since the places of other layers are sorted at its first use.
    pub fn new(context: &Context, index: &'a Index, world: &'a dyn World) -> Self {
        let lookups = Lookups::new(world, QUESTION_LIMIT);
        let claims = Claims {
            cwd: &context.cwd,
            home: &context.home,
            workspace: context.workspace.as_deref(),
            temporary: context.environment.get("TMPDIR").map_or("", String::as_str),
        };
        let setting = Setting::new(&claims);
        Self { lookups, setting, index, recent: RefCell::default() }
    }

    /// Where a path leads; see [`resolve`].
    pub fn resolve(&self, written: &str, cwd: &str) -> Option<Resolved> {
        resolve(written, cwd, &self.lookups)
    }

    /// Where a path leads and what is there; of no class but unknown where that isn't known.
    pub fn place(&self, written: &str, cwd: &str, follow: Follow) -> (Option<Resolved>, ClassSet) {
        let same = |r: &&Recent| r.written == written && r.follow == follow && r.cwd == cwd;
        if let Some(known) = self.recent.borrow().iter().find(same) {
            return (known.found.clone(), known.classes);
        }
        let found = self.resolve(written, cwd);
        let classes =
            found.as_ref().map_or(ClassSet::of(Class::Unknown), |found| self.classes(found, follow));
        let mut recent = self.recent.borrow_mut();
        if recent.len() == RECENT {
            recent.remove(0);
        }
        let (written, cwd) = (written.to_owned(), cwd.to_owned());
        recent.push(Recent { written, cwd, follow, found: found.clone(), classes });
        (found, classes)
    }

    /// Classes of what an act on a path concerns.
    pub fn classes(&self, resolved: &Resolved, follow: Follow) -> ClassSet {
        classify(resolved, follow, self.index, (&self.setting, &self.lookups))
    }

    /// Classes of an absolute path in normal form, no link followed.
    pub fn classes_of_name(&self, path: &str) -> ClassSet {
        classify_path(path, self.index, (&self.setting, &self.lookups))
    }

    /// Classes of a peer that [`host::read`] made; a local path behind a URL has its own.
    pub fn classes_of_peer(&self, peer: &Peer) -> ClassSet {
        match peer {
            Peer::Path(path) => self
                .resolve(path, "/")
                .map_or(ClassSet::of(Class::Unknown), |found| self.classes(&found, Follow::Goal)),
            Peer::Host(_) | Peer::Unknown => host::classify(peer, self.index),
        }
    }

    /// What a tilde prefix stands for, given without the tilde.
    pub fn tilde(&self, name: &str, variables: &Variables) -> Tilde {
        expand_tilde(name, variables, self.lookups.world())
    }

    /// The workspace's folder, links followed.
    pub fn workspace(&self) -> Option<&str> {
        self.setting.workspace(&self.lookups).map(|area| &*area.real)
    }
}

#[cfg(test)]
mod tests {
    use super::super::glob::{Extended, Glob};
    use super::super::tree::{Tree, places};
    use super::super::{expand, git_index, pattern};
    use super::*;

    /// What hostile paths, globs and hosts are made of.
    const PARTS: &[&str] = &[
        "/",
        "..",
        ".",
        "~",
        "a",
        "c",
        "é",
        "\u{10FF80}",
        "*",
        "**",
        "?",
        "[",
        "]",
        "{",
        "}",
        ",",
        "!",
        "(",
        ")",
        "|",
        "\\",
        ":",
        "@",
        "%",
        "%41",
        "0x7f",
        "…",
        "\n",
        "DIRC\0\0\0\u{2}",
        "proc",
        "self",
        "root",
        ".git",
        ".env",
        "host:",
        "-",
        "\0",
    ];

    #[test]
    fn no_input_stops_the_judgement() {
        let tree = Tree::default().link("/a", "b").link("/b", "/c/../a").folder("/c/d").file("/c/e");
        let index = Index::new([
            places(include_str!("../../policy/places.toml")),
            places(include_str!("../../policy/hosts.toml")),
        ]);
        let mut seed = 99_u64;
        let mut pick = |limit: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap() % limit
        };
        for round in 0..4000 {
            let mut text = String::new();
            for _ in 0..pick(12) {
                text.push_str(PARTS[pick(PARTS.len())]);
            }
            let cwd = ["/c/d", "", "/", "/home/u/p"][round % 4];
            let home = ["/home/u", "/", "", "/c"][pick(4)];
            let context = Context { cwd: cwd.to_owned(), home: home.to_owned(), ..Context::default() };
            let view = Places::new(&context, &index, &tree);
            if let Some(resolved) = view.resolve(&text, cwd) {
                view.classes(&resolved, Follow::Goal);
                view.classes(&resolved, Follow::Entry);
            }
            view.classes_of_name(&text);
            view.classes_of_peer(&host::read(&text));
            view.tilde(&text, &Variables::default());
            expand::expand(&text, cwd, &view.lookups, expand::Options::default());
            let glob = Glob::parse(&text, Extended::Yes);
            let lengths =
                glob.prefixes(&text).unwrap_or_default().into_iter().chain(glob.suffixes(&text).unwrap());
            assert!(lengths.into_iter().all(|n| n <= text.len()));
            pattern::target(&text, &text);
            git_index::visit(text.as_bytes(), &mut |_| git_index::Next::On);
        }
    }

    #[test]
    fn long_paths_take_linear_time() {
        let tree = Tree::default();
        let index = Index::new([places(include_str!("../../policy/places.toml"))]);
        let context =
            Context { cwd: "/home/u/p".to_owned(), home: "/home/u".to_owned(), ..Context::default() };
        let view = Places::new(&context, &index, &tree);
        let start = std::time::Instant::now();
        for part in [
            "a/",
            "../",
            "*/",
            "**/",
            "/",
            "./",
            "[",
            "node_modules/",
            ".git/hooks/",
            ".git/modules/",
            "x.pem/",
        ] {
            let resolved = view.resolve(&part.repeat(20_000), "/home/u/p").unwrap();
            view.classes(&resolved, Follow::Goal);
        }
        assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
    }
}
