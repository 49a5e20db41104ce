//! "All of this tree but those": Landlock only allows, so that a hole in a tree is cut by naming
//! everything around it.
//!
//! In: a tree and the holes in it, links resolved. Out: the paths to allow.
//! Never: names a link (its target is named, or not, by itself); never reads more than its bounds.

use std::path::{Path, PathBuf};

use super::folder::{Extent, Shape, list};

/// Entries of one folder that are looked at, and paths in the answer. What lies beyond stays closed.
const ENTRIES: usize = 4096;
const PATHS: usize = 768;

/// What [`cover`] found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Cover {
    pub(super) paths: Vec<PathBuf>,
    /// Folders with more entries than are looked at.
    pub(super) cut: usize,
}

/// The paths that together hold all of `tree` but `holes`. A tree without holes is its own answer.
pub(super) fn cover(tree: &Path, holes: &[PathBuf]) -> Cover {
    let mut out = Cover::default();
    let mut open = vec![tree.to_path_buf()];
    while let Some(path) = open.pop() {
        if holes.iter().any(|hole| path.starts_with(hole)) {
            continue;
        }
        if !holes.iter().any(|hole| hole.starts_with(&path)) {
            out.paths.push(path);
            continue;
        }
        // Depth is bounded by the holes' own.
        match entries(&path, &mut out) {
            Some(children) => open.extend(children),
            // Searchable but not listable (a 0711 home folder): only what the holes name is known.
            None => open.extend(toward(&path, holes)),
        }
    }
    if out.paths.len() > PATHS {
        out.paths.sort();
        out.paths.truncate(PATHS);
        out.cut += 1;
    }
    out
}

fn entries(folder: &Path, out: &mut Cover) -> Option<Vec<PathBuf>> {
    let listing = list(folder, ENTRIES)?;
    if listing.extent == Extent::Cut {
        out.cut += 1;
    }
    let kept = listing.names.iter().filter(|(_, shape)| *shape != Shape::Link);
    Some(kept.map(|(name, _)| folder.join(name)).collect())
}

/// The next folders on the way from `path` to each hole.
fn toward(path: &Path, holes: &[PathBuf]) -> Vec<PathBuf> {
    let step = |hole: &PathBuf| {
        let next = hole.strip_prefix(path).ok()?.components().next()?;
        Some(path.join(next))
    };
    let mut steps: Vec<PathBuf> = holes.iter().filter_map(step).collect();
    steps.sort();
    steps.dedup();
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_covered_around_its_holes() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["a/x", "a/y", "b"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        std::os::unix::fs::symlink(at("a/x"), at("link")).unwrap();
        std::fs::write(at("file"), "").unwrap();
        let mut got = cover(folder.path(), &[at("a/x")]);
        got.paths.sort();
        assert_eq!(got, Cover { paths: vec![at("a/y"), at("b"), at("file")], cut: 0 });
        assert_eq!(cover(&at("a"), &[at("a")]).paths, Vec::<PathBuf>::new());
        assert_eq!(cover(&at("a"), &[at("b")]).paths, vec![at("a")]);
    }
}
