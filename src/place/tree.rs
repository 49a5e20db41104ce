//! A file system and places for tests.

use std::collections::BTreeMap;

use crate::act::Class;
use crate::policy::tables::Place;
use crate::world::{FileKind, Meta, World};

/// Places from a policy file's text.
pub(crate) fn places(text: &str) -> &'static [Place] {
    let table: toml::Table = text.parse().unwrap();
    let list = |value: Option<&toml::Value>| -> &'static [&'static str] {
        let items = value.map_or(&[][..], |v| v.as_array().unwrap());
        items.iter().map(|v| &*v.as_str().unwrap().to_owned().leak()).collect::<Vec<_>>().leak()
    };
    let read = |place: &toml::Value| Place {
        class: Class::parse(place["class"].as_str().unwrap()).unwrap(),
        patterns: list(place.get("patterns")),
        except: list(place.get("except")),
    };
    table["place"].as_array().unwrap().iter().map(read).collect::<Vec<_>>().leak()
}

#[derive(Clone, Debug)]
enum Node {
    Folder,
    File(Vec<u8>),
    Link(String),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    nodes: BTreeMap<String, Node>,
    homes: BTreeMap<String, String>,
}

impl Tree {
    pub(crate) fn file(self, path: &str) -> Self {
        self.put(path, Node::File(Vec::new()))
    }

    pub(crate) fn folder(self, path: &str) -> Self {
        self.put(path, Node::Folder)
    }

    pub(crate) fn link(self, path: &str, target: &str) -> Self {
        self.put(path, Node::Link(target.to_owned()))
    }

    pub(crate) fn user(mut self, name: &str, home: &str) -> Self {
        self.homes.insert(name.to_owned(), home.to_owned());
        self
    }

    fn put(mut self, path: &str, node: Node) -> Self {
        for (at, _) in path.match_indices('/').skip(1) {
            self.nodes.entry(path.get(..at).unwrap().to_owned()).or_insert(Node::Folder);
        }
        self.nodes.insert(path.to_owned(), node);
        self
    }
}

impl World for Tree {
    fn meta(&self, path: &str) -> Option<Meta> {
        let (kind, size) = match self.nodes.get(path)? {
            Node::Folder => (FileKind::Folder, 4096),
            Node::File(content) => (FileKind::File, content.len()),
            Node::Link(target) => (FileKind::Link, target.len()),
        };
        let size = u64::try_from(size).unwrap();
        Some(Meta { kind, owner: 1000, mode: 0o755, size, modified: 1_700_000_000_000_000_000, inode: 1 })
    }

    fn link(&self, path: &str) -> Option<String> {
        match self.nodes.get(path)? {
            Node::Link(target) => Some(target.clone()),
            Node::Folder | Node::File(_) => None,
        }
    }

    fn content(&self, path: &str, limit: usize) -> Option<Vec<u8>> {
        match self.nodes.get(path)? {
            Node::File(content) if content.len() <= limit => Some(content.clone()),
            Node::File(_) | Node::Folder | Node::Link(_) => None,
        }
    }

    fn entries(&self, path: &str, limit: usize) -> Option<Vec<String>> {
        if path != "/" && !matches!(self.nodes.get(path)?, Node::Folder) {
            return None;
        }
        let folder = format!("{}/", path.trim_end_matches('/'));
        let names = self.nodes.keys().filter_map(|k| k.strip_prefix(&folder));
        let names: Vec<String> = names.filter(|n| !n.contains('/')).map(str::to_owned).collect();
        (names.len() <= limit).then_some(names)
    }

    fn home_of(&self, user: &str) -> Option<String> {
        self.homes.get(user).cloned()
    }

    fn uid(&self) -> u32 {
        1000
    }
}
