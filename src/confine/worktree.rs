//! Where a work tree's repository lies, if elsewhere: `git worktree` and submodules have a `.git` file
//! that names a folder outside the work tree, which git must write to.
//!
//! In: the workspace. Out: the folder to allow.
//! Never: believes a `.git` file by itself, since whoever writes to the workspace can write that file.

use std::ffi::OsString;
use std::io::Read as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// The folder that git writes to for this work tree; `None` if it lies inside or can't be trusted.
pub(super) fn outer_repository(workspace: &Path) -> Option<PathBuf> {
    let named = first_line(&workspace.join(".git"))?;
    let named = path_from(named.strip_prefix(b"gitdir: ")?);
    let own = std::fs::canonicalize(workspace.join(named)).ok()?;
    linked(workspace, &own).or_else(|| submodule(workspace, &own))
}

/// `git worktree`: the repository itself points back to the work tree's `.git` file.
fn linked(workspace: &Path, own: &Path) -> Option<PathBuf> {
    let back = path_from(&first_line(&own.join("gitdir"))?);
    let worktrees = own.parent().filter(|p| p.ends_with("worktrees"))?;
    let repository = worktrees.parent()?;
    let same = std::fs::canonicalize(back).ok()? == std::fs::canonicalize(workspace.join(".git")).ok()?;
    (same && repository.join("HEAD").is_file() && repository.join("objects").is_dir())
        .then(|| repository.to_path_buf())
}

/// A submodule: its repository lies in `.git/modules` of a folder around the work tree.
fn submodule(workspace: &Path, own: &Path) -> Option<PathBuf> {
    let around = workspace.ancestors().skip(1).map(|folder| folder.join(".git/modules"));
    around.into_iter().any(|modules| own.starts_with(&modules) && own != modules).then(|| own.to_path_buf())
}

fn path_from(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

/// The first line of a small regular file.
fn first_line(path: &Path) -> Option<Vec<u8>> {
    if !std::fs::symlink_metadata(path).ok()?.is_file() {
        return None;
    }
    let mut content = Vec::new();
    std::fs::File::open(path).ok()?.take(4096).read_to_end(&mut content).ok()?;
    content.split(|b| *b == b'\n').next().map(<[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content.replace("ROOT", folder.path().to_str().unwrap())).unwrap();
        }
        folder
    }

    #[test]
    fn a_work_tree_s_repository_is_found_if_it_points_back() {
        let folder = tree(&[
            ("tree/.git", "gitdir: ROOT/main/.git/worktrees/tree\n"),
            ("main/.git/worktrees/tree/gitdir", "ROOT/tree/.git\n"),
            ("main/.git/HEAD", ""),
            ("main/.git/objects/x", ""),
        ]);
        let at = |name: &str| folder.path().join(name);
        assert_eq!(outer_repository(&at("tree")), Some(at("main/.git")));
        std::fs::write(at("main/.git/worktrees/tree/gitdir"), "/elsewhere/.git\n").unwrap();
        assert_eq!(outer_repository(&at("tree")), None);
    }

    #[test]
    fn a_submodule_s_repository_is_found_around_it_only() {
        let folder = tree(&[
            ("super/sub/.git", "gitdir: ../.git/modules/sub\n"),
            ("super/.git/modules/sub/HEAD", ""),
            ("forged/.git", "gitdir: ROOT/home/.ssh\n"),
            ("home/.ssh/id", ""),
        ]);
        let at = |name: &str| folder.path().join(name);
        assert_eq!(outer_repository(&at("super/sub")), Some(at("super/.git/modules/sub")));
        assert_eq!(outer_repository(&at("forged")), None);
    }
}
