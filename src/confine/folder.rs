//! The names in a folder, with as much of what they are as rules on paths need.
//!
//! In: a folder. Out: names. Never: follows a link in the folder; reads more than its bound.

use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::Path;

use rustix::fs::FileType;

use crate::folder::visit;

/// What an entry is, as far as rules on paths go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Link,
    Other,
}

/// Names in a folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    pub(super) names: Vec<(OsString, Shape)>,
    pub(super) extent: Extent,
}

/// Whether that is all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Extent {
    #[default]
    Whole,
    /// There is more than the limit.
    Cut,
}

/// The first `limit` names, in the kernel's order; `None` for what can't be listed.
pub(super) fn list(folder: &Path, limit: usize) -> Option<Listing> {
    let mut out = Listing::default();
    visit(folder, &mut |name, kind| {
        if out.names.len() >= limit {
            out.extent = Extent::Cut;
            return ControlFlow::Break(());
        }
        out.names.push((name.to_owned(), shape(kind, || folder.join(name))));
        ControlFlow::Continue(())
    })
    .ok()?;
    Some(out)
}

/// Some file systems don't say what an entry is.
fn shape(kind: FileType, path: impl FnOnce() -> std::path::PathBuf) -> Shape {
    let link = match kind {
        FileType::Symlink => true,
        FileType::Unknown => std::fs::symlink_metadata(path()).is_ok_and(|meta| meta.is_symlink()),
        FileType::RegularFile
        | FileType::Directory
        | FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice => false,
    };
    if link { Shape::Link } else { Shape::Other }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_listed_up_to_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..700 {
            std::fs::write(folder.path().join(format!("a-name-of-some-length-{n}")), "").unwrap();
        }
        std::os::unix::fs::symlink("x", folder.path().join("link")).unwrap();
        let listing = list(folder.path(), 1000).unwrap();
        assert_eq!((listing.names.len(), listing.extent), (701, Extent::Whole));
        let links: Vec<_> = listing.names.iter().filter(|(_, shape)| *shape == Shape::Link).collect();
        assert_eq!(links, [&(OsString::from("link"), Shape::Link)]);
        let some = list(folder.path(), 9).unwrap();
        assert_eq!((some.names.len(), some.extent), (9, Extent::Cut));
        assert_eq!(list(&folder.path().join("link"), 9), None);
    }
}
