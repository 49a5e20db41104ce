//! Who could put other content behind a path between our look and the real shell's.
//!
//! In: a path as the caller wrote it, and the open file it led to. Out: [`Changer`].
//! Never: takes a doubt for safety: what can't be determined counts as anybody.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

/// The least trusted one that could do it. Root always can.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Changer {
    Root,
    /// the calling user (and members of the user's own group, where modes let them)
    Caller,
    Anybody,
}

/// How many links a path may lead through; the kernel's bound is 40 (`path_resolution(7)`).
const LINKS: usize = 40;

/// Looks at every folder and link on the way to `path` and at the open file's own metadata.
pub fn changer(path: &[u8], file: &Metadata) -> Changer {
    let mine = Identity::of_caller();
    on_the_way(path, file, mine).map_or(Changer::Anybody, |way| way.max(mine.rates(file)))
}

#[derive(Clone, Copy)]
struct Identity {
    user: u32,
    group: u32,
}

impl Identity {
    fn of_caller() -> Self {
        Self { user: nix::unistd::geteuid().as_raw(), group: nix::unistd::getegid().as_raw() }
    }

    fn owner(self, uid: u32) -> Changer {
        match uid {
            0 => Changer::Root,
            uid if uid == self.user => Changer::Caller,
            _ => Changer::Anybody,
        }
    }

    /// Who may write to what has this metadata. A user's private group (umask 002) is the user; an access
    /// control list shows in the group's bits.
    fn rates(self, meta: &Metadata) -> Changer {
        let by_group = match meta.mode() & 0o020 {
            0 => Changer::Root,
            _ if meta.gid() == 0 => Changer::Root,
            _ if meta.gid() == self.group && self.group == self.user => Changer::Caller,
            _ => Changer::Anybody,
        };
        let by_others = if meta.mode() & 0o002 == 0 { Changer::Root } else { Changer::Anybody };
        self.owner(meta.uid()).max(by_group).max(by_others)
    }

    /// Who may put another entry in the place of one in a folder: in a sticky one, only the entry's owner.
    fn replaces(self, folder: &Metadata, entry: &Metadata) -> Changer {
        if folder.mode() & 0o1000 == 0 {
            return self.rates(folder);
        }
        self.owner(folder.uid()).max(self.owner(entry.uid()))
    }
}

/// Follows the path by hand, so that the folders of links count too. `None`: it can't be followed, or it
/// doesn't end at the open file.
fn on_the_way(path: &[u8], file: &Metadata, mine: Identity) -> Option<Changer> {
    let start = std::env::current_dir().ok()?.join(OsStr::from_bytes(path));
    let mut rest: VecDeque<OsString> = pieces(&start);
    let mut place = PathBuf::from("/");
    let mut links = 0;
    let mut worst = Changer::Root;
    while let Some(name) = rest.pop_front() {
        if name == ".." {
            place.pop();
            continue;
        }
        let folder = std::fs::symlink_metadata(&place).ok()?;
        let next = place.join(&name);
        let entry = std::fs::symlink_metadata(&next).ok()?;
        worst = worst.max(mine.replaces(&folder, &entry));
        if entry.is_symlink() {
            links += 1;
            if links > LINKS {
                return None;
            }
            let target = std::fs::read_link(&next).ok()?;
            if target.is_absolute() {
                place = PathBuf::from("/");
            }
            for piece in pieces(&target).into_iter().rev() {
                rest.push_front(piece);
            }
        } else {
            place = next;
        }
    }
    let end = std::fs::symlink_metadata(&place).ok()?;
    (end.dev() == file.dev() && end.ino() == file.ino()).then_some(worst)
}

fn pieces(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some(OsString::from_vec(b"..".to_vec())),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, Permissions, create_dir, set_permissions, write};
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn rate(path: &Path) -> Changer {
        changer(path.as_os_str().as_bytes(), &File::open(path).unwrap().metadata().unwrap())
    }

    #[test]
    fn folders_links_and_modes_on_the_way_count() {
        let base = tempfile::tempdir().unwrap();
        let (safe, open) = (base.path().join("safe"), base.path().join("open"));
        create_dir(&safe).unwrap();
        create_dir(&open).unwrap();
        set_permissions(&safe, Permissions::from_mode(0o755)).unwrap();
        set_permissions(&open, Permissions::from_mode(0o777)).unwrap();
        write(safe.join("x"), "").unwrap();
        write(open.join("x"), "").unwrap();
        set_permissions(safe.join("x"), Permissions::from_mode(0o644)).unwrap();
        symlink("../open/x", safe.join("out")).unwrap();
        symlink("../safe/x", open.join("in")).unwrap();
        symlink("x", safe.join("link")).unwrap();
        let mine = rate(&safe.join("x"));
        assert_eq!(mine, if nix::unistd::geteuid().is_root() { Changer::Root } else { Changer::Caller });
        assert_eq!(rate(&safe.join("link")), mine);
        for path in [open.join("x"), safe.join("out"), open.join("in")] {
            assert_eq!(rate(&path), Changer::Anybody, "{}", path.display());
        }
        set_permissions(safe.join("x"), Permissions::from_mode(0o666)).unwrap();
        assert_eq!(rate(&safe.join("x")), Changer::Anybody);
    }
}
