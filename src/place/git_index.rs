//! Git's index file: what is tracked, and how each file looked when it was staged.
//!
//! In: the bytes of `.git/index`, versions 2 to 4 (gitformat-index(5)). Out: its entries, one by one.
//! Never: believes a length: what does not fit ends the reading, and the answer is that it can't be read.

/// One tracked file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tracked<'i> {
    /// Path below the repository's top, as bytes.
    pub name: &'i [u8],
    /// Bytes, modulo 2^32.
    pub size: u32,
    /// Modification time: seconds modulo 2^32, nanoseconds (0 where git was built without them).
    pub seconds: u32,
    pub nanoseconds: u32,
    pub mark: Mark,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    File,
    /// a submodule or a folder of a sparse checkout
    Folder,
    /// told to be taken for unchanged or absent (assume-unchanged, skip-worktree)
    Exempt,
    /// in a conflict, or only meant to be added
    Unfinished,
}

/// Whether to go on with the next entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    On,
    Stop,
}

/// Bytes of an entry before its name, with SHA-1.
const FIXED: usize = 62;

/// Shows all entries in order of their names. `None`: not a version we read, damaged, or split in two files.
pub(super) fn visit(index: &[u8], see: &mut dyn FnMut(&Tracked) -> Next) -> Option<()> {
    let version = word(index, 4).filter(|v| (2..=4).contains(v))?;
    if !index.starts_with(b"DIRC") {
        return None;
    }
    let count = word(index, 8)?;
    let mut at = 12;
    let mut name = Vec::new();
    for _ in 0..count {
        let entry = index.get(at..)?;
        let flags = half(entry, 60)?;
        let (further, start) =
            if version >= 3 && flags & 0x4000 != 0 { (half(entry, 62)?, FIXED + 2) } else { (0, FIXED) };
        at = at.checked_add(read_name(version, entry, start, &mut name)?)?;
        let mark = match word(entry, 24)? & 0o170_000 {
            0o160_000 | 0o040_000 => Mark::Folder,
            _ if flags & 0x3000 != 0 || further & 0x2000 != 0 => Mark::Unfinished,
            _ if flags & 0x8000 != 0 || further & 0x4000 != 0 => Mark::Exempt,
            _ => Mark::File,
        };
        let tracked = Tracked {
            name: &name,
            size: word(entry, 36)?,
            seconds: word(entry, 8)?,
            nanoseconds: word(entry, 12)?,
            mark,
        };
        if see(&tracked) == Next::Stop {
            return Some(());
        }
    }
    // a split index keeps most entries in another file
    (!index.get(at..)?.starts_with(b"link")).then_some(())
}

/// Reads an entry's name into `name`, which holds the one before; gives the entry's whole length.
fn read_name(version: u32, entry: &[u8], start: usize, name: &mut Vec<u8>) -> Option<usize> {
    let mut rest = entry.get(start..)?;
    let mut used = start;
    if version == 4 {
        let (dropped, width) = offset(rest)?;
        name.truncate(name.len().checked_sub(dropped)?);
        rest = rest.get(width..)?;
        used += width;
    } else {
        name.clear();
    }
    let length = memchr::memchr(0, rest)?;
    name.extend_from_slice(rest.get(..length)?);
    if name.is_empty() || name.first() == Some(&b'/') {
        return None;
    }
    used += length;
    // versions 2 and 3 are filled to a multiple of eight with one to eight NULs
    Some(if version == 4 { used + 1 } else { (used + 8) & !7 })
}

/// Git's number of variable width (`OFS_DELTA` encoding): value and bytes used.
fn offset(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value: usize = 0;
    for (at, byte) in bytes.iter().take(5).enumerate() {
        value = (value << 7) | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
        value += 1;
    }
    None
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(index: &[u8]) -> Option<Vec<String>> {
        let mut out = Vec::new();
        visit(index, &mut |t| {
            out.push(String::from_utf8_lossy(t.name).into_owned());
            Next::On
        })?;
        Some(out)
    }

    fn entry(name: &[u8], prefix: &[u8]) -> Vec<u8> {
        let mut out = vec![0; FIXED];
        out[26] = 0x81;
        out[27] = 0xa4;
        out.extend_from_slice(prefix);
        out.extend_from_slice(name);
        out
    }

    #[test]
    fn versions_two_and_four_are_read() {
        let head =
            |version: u8, count: u8| [b"DIRC".as_slice(), &[0, 0, 0, version, 0, 0, 0, count]].concat();
        let mut two = head(2, 2);
        for name in [&b"a/b/f"[..], b"g"] {
            let mut one = entry(name, b"");
            one.resize((one.len() + 8) & !7, 0);
            two.extend(one);
        }
        assert_eq!(names(&two), Some(vec!["a/b/f".to_owned(), "g".to_owned()]));
        let mut four = head(4, 2);
        four.extend(entry(b"a/b/f\0", &[0]));
        four.extend(entry(b"c\0", &[3]));
        assert_eq!(names(&four), Some(vec!["a/b/f".to_owned(), "a/c".to_owned()]));
        assert_eq!(names(&two[..two.len() - 20]), None);
        assert_eq!(names(&[four, b"link".to_vec()].concat()), None);
        assert_eq!(names(b"DIRC\0\0\0\x05\0\0\0\0"), None);
        assert_eq!(names(b""), None);
    }
}
