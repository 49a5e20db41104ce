//! A world with some files added: for judging a line that says which files there are.
//!
//! In: the machine and a list of paths. Out: a [`World`]. Never: writes.

use std::collections::HashMap;

use crate::world::{FileKind, Meta, World};

/// The machine, and files that are said to be there.
pub struct WithFiles<'w> {
    pub machine: &'w dyn World,
    /// Absolute path to content.
    pub files: HashMap<String, String>,
}

impl WithFiles<'_> {
    fn is_folder(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        self.files.keys().any(|f| f.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')))
    }
}

impl World for WithFiles<'_> {
    fn meta(&self, path: &str) -> Option<Meta> {
        let made = |kind, size: usize| Meta {
            kind,
            owner: self.machine.uid(),
            mode: if kind == FileKind::Folder { 0o755 } else { 0o644 },
            size: u64::try_from(size).unwrap_or(u64::MAX),
            modified: 0,
            inode: 0,
        };
        if let Some(content) = self.files.get(path) {
            return Some(made(FileKind::File, content.len()));
        }
        self.machine.meta(path).or_else(|| self.is_folder(path).then(|| made(FileKind::Folder, 4096)))
    }

    fn link(&self, path: &str) -> Option<String> {
        self.machine.link(path)
    }

    fn content(&self, path: &str, limit: usize) -> Option<Vec<u8>> {
        match self.files.get(path) {
            // a file that is only named has no content to be known
            Some(content) if content.is_empty() => None,
            Some(content) => (content.len() <= limit).then(|| content.clone().into_bytes()),
            None => self.machine.content(path, limit),
        }
    }

    fn entries(&self, path: &str, limit: usize) -> Option<Vec<String>> {
        let folder = format!("{}/", path.trim_end_matches('/'));
        let mut names: Vec<String> = self
            .files
            .keys()
            .filter_map(|f| f.strip_prefix(&folder))
            .filter_map(|rest| rest.split('/').next())
            .map(str::to_owned)
            .collect();
        if let Some(real) = self.machine.entries(path, limit) {
            names.extend(real);
        } else if names.is_empty() {
            return None;
        }
        names.sort();
        names.dedup();
        (names.len() <= limit).then_some(names)
    }

    fn home_of(&self, user: &str) -> Option<String> {
        self.machine.home_of(user)
    }

    fn uid(&self) -> u32 {
        self.machine.uid()
    }
}
