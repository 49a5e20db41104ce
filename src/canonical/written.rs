//! Files that the script itself has written, by path.
//!
//! In: paths in normal form, what was written. Out: what is known of a path, also inside an unpacked tree.
//! Never: remembers more than its bound.

use crate::canonical::table::Table;
use crate::canonical::value::Data;

/// What is known of a file that the script itself has written.
#[derive(Clone, Debug)]
pub struct Written {
    pub data: Data,
    /// Everything below this path, too (an unpacked archive).
    pub tree: Reach,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    File,
    Tree,
}

/// Files that are remembered.
const MOST: usize = 512;

/// Bytes of a path, as the kernel counts (`PATH_MAX`).
const PATH_LIMIT: usize = 4096;

/// Files by path; copies are cheap.
#[derive(Clone, Debug, Default)]
pub struct Files {
    by_path: Table<Written>,
    /// Last components of those paths.
    names: Table<()>,
    /// How many there are, and how many of them ever were trees.
    count: usize,
    trees: usize,
}

impl Files {
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// What is known of a path: the file, or the nearest tree around it.
    pub fn at(&self, path: &str) -> Option<&Written> {
        if self.count == 0 {
            return None;
        }
        if let Some(found) = self.by_path.get(path) {
            return Some(found);
        }
        if self.trees == 0 {
            return None;
        }
        let around =
            path.rmatch_indices('/').filter_map(|(at, _)| path.get(..at).filter(|_| at < PATH_LIMIT));
        around.filter_map(|folder| self.by_path.get(folder)).find(|written| written.tree == Reach::Tree)
    }

    /// Whether this very path was written.
    pub fn has(&self, path: &str) -> bool {
        self.by_path.contains_key(path)
    }

    /// Whether a file of this name was written, in whatever folder.
    pub fn has_name(&self, name: &str) -> bool {
        self.count > 0 && self.names.contains_key(name)
    }

    /// Files in this folder.
    pub fn below(&self, folder: &str) -> Vec<String> {
        let inside = |path: &&str| path.rsplit_once('/').is_some_and(|(above, _)| above == folder);
        self.by_path.entries().into_keys().filter(inside).map(str::to_owned).collect()
    }

    /// Remembers a file, as long as there is room.
    pub fn note(&mut self, path: &str, written: Written) {
        if self.count < MOST {
            self.put(path, written);
        }
    }

    /// Remembers what is known there and not here.
    pub fn join(&mut self, other: &Self) {
        for path in self.by_path.parted(&other.by_path) {
            if let Some(written) = other.by_path.get(&path).filter(|_| !self.has(&path)) {
                self.put(&path, written.clone());
            }
        }
    }

    fn put(&mut self, path: &str, written: Written) {
        self.count += usize::from(!self.has(path));
        self.trees += usize::from(written.tree == Reach::Tree);
        if let Some(name) = path.rsplit('/').next().filter(|name| !self.names.contains_key(name)) {
            self.names.insert(name.to_owned(), ());
        }
        self.by_path.insert(path.to_owned(), written);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::act::TagSet;

    #[test]
    fn a_file_is_known_by_its_path_or_by_the_nearest_tree_around_it() {
        let written = |text: &str, tree| Written {
            data: Data { text: Some(text.to_owned()), ..Data::unknown(TagSet::EMPTY) },
            tree,
        };
        let mut files = Files::default();
        files.note("/a", written("outer", Reach::Tree));
        files.note("/a/b", written("inner", Reach::Tree));
        files.note("/a/f", written("file", Reach::File));
        let text = |files: &Files, path: &str| files.at(path).and_then(|w| w.data.text.clone());
        for (path, expected) in [
            ("/a/f", Some("file")),
            ("/a/f/x", Some("outer")),
            ("/a/b/c/d", Some("inner")),
            ("/ab", None),
            ("/", None),
        ] {
            assert_eq!(text(&files, path).as_deref(), expected, "{path}");
        }
        files.note("/a", written("outer", Reach::File));
        files.note("/a/b", written("inner", Reach::File));
        assert_eq!((text(&files, "/a/x"), files.count), (None, 3));
        let mut other = Files::default();
        other.note("/a/f", written("mine", Reach::File));
        other.join(&files);
        assert_eq!((text(&other, "/a/f").as_deref(), other.count), (Some("mine"), 3));
        let named = |files: &Files, name: &str| files.has_name(name);
        assert_eq!((named(&other, "b"), named(&other, "a/b"), named(&other, "c")), (true, false, false));
    }
}
