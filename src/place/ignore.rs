//! `.gitignore` files: which untracked files git does not speak of (gitignore(5)).
//!
//! In: the texts of ignore files and the folders they lie in. Out: whether a path is ignored.
//! Never: decides by itself that something is worthless: ignored files may be secrets.

use std::rc::Rc;

use super::pattern;

/// The ignore rules that hold in one folder and below: those of the folders above come first.
#[derive(Clone, Debug, Default)]
pub(super) struct Ignores {
    /// Shared by the folders in which no further file holds.
    rules: Rc<Vec<Rule>>,
}

#[derive(Clone, Debug)]
struct Rule {
    /// Folder of the ignore file, below the top; empty for the top.
    folder: String,
    pattern: String,
    kind: Kind,
    says: Says,
    levels: Levels,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Any,
    Folder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    Ignored,
    /// `!pattern`
    Kept,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Levels {
    /// the name at any level
    Name,
    /// the path from the ignore file's folder
    Path,
}

/// Rules of one ignore file that are read; more are left out, which only makes files count as untracked.
const RULE_LIMIT: usize = 256;

impl Ignores {
    /// The rules with those of a further file, which lies in `folder`.
    pub(super) fn add(&mut self, text: &str, folder: &str) {
        let read = text.lines().filter_map(|line| read(line, folder)).take(RULE_LIMIT);
        Rc::make_mut(&mut self.rules).extend(read);
    }

    /// Whether a path below the top is ignored by itself (a folder above it may be too: ask for that first).
    pub(super) fn ignores(&self, path: &str, kind: Kind) -> bool {
        let last = self.rules.iter().rev().find(|rule| rule.fits(path, kind));
        last.is_some_and(|rule| rule.says == Says::Ignored)
    }
}

fn read(line: &str, folder: &str) -> Option<Rule> {
    let line = line.trim_end_matches('\r');
    let line = if line.ends_with("\\ ") { line } else { line.trim_end() };
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let (says, line) = line.strip_prefix('!').map_or((Says::Ignored, line), |rest| (Says::Kept, rest));
    let (kind, line) = line.strip_suffix('/').map_or((Kind::Any, line), |rest| (Kind::Folder, rest));
    let levels = if line.contains('/') { Levels::Path } else { Levels::Name };
    let pattern = line.strip_prefix('/').unwrap_or(line).to_owned();
    Some(Rule { folder: folder.to_owned(), pattern, kind, says, levels })
}

impl Rule {
    fn fits(&self, path: &str, kind: Kind) -> bool {
        if self.kind == Kind::Folder && kind != Kind::Folder {
            return false;
        }
        let inner = if self.folder.is_empty() {
            Some(path)
        } else {
            path.strip_prefix(&*self.folder).and_then(|rest| rest.strip_prefix('/'))
        };
        let Some(inner) = inner else { return false };
        match self.levels {
            Levels::Path => pattern::path(&self.pattern, inner),
            Levels::Name => {
                let name = inner.rsplit('/').next().unwrap_or(inner);
                pattern::component(&self.pattern, name)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignore_files_are_read_as_git_reads_them() {
        let mut ignores = Ignores::default();
        ignores.add("# no\n\n/target\n*.log\n!keep.log\nout/\ndocs/*.html\n", "");
        ignores.add("local\n", "sub");
        let cases = [
            ("target", Kind::Folder, true),
            ("a/target", Kind::Folder, false),
            ("a/b.log", Kind::Any, true),
            ("a/keep.log", Kind::Any, false),
            ("x/out", Kind::Folder, true),
            ("x/out", Kind::Any, false),
            ("docs/a.html", Kind::Any, true),
            ("docs/b/a.html", Kind::Any, false),
            ("sub/x/local", Kind::Any, true),
            ("local", Kind::Any, false),
        ];
        for (path, kind, expected) in cases {
            assert_eq!(ignores.ignores(path, kind), expected, "{path}");
        }
    }
}
