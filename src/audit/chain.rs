//! The hash chain of the file of JSON lines: each line names the line before it, so that what was
//! removed, altered, moved or put in shows (`agent-shctl log verify`).
//!
//! In: a line, the file. Out: the line with its links appended, one write(2), one writer at a time.
//! Never: waits for another writer beyond the deadline; never follows a link to a file.
//! Not promised: who may write the file and its head may write both anew; the copy of `chain` in
//! syslog shows that.

use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag};

use super::channel::{self, Folder, Trouble, trouble};
use crate::digest::Digest;

/// SHA-256 in lower-case hexadecimal.
pub type Hash = [u8; 64];

/// What the first line of a chain names as the one before it.
pub const START: Hash = [b'0'; 64];

/// Where a line stands in the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// From 1, over all rotated files.
    pub number: u64,
    pub chain: Hash,
}

impl Link {
    pub fn chain(&self) -> &str {
        std::str::from_utf8(&self.chain).unwrap_or("")
    }
}

/// A line taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    pub link: Link,
    /// The `chain` of the line before it.
    pub previous: Hash,
    /// What the line's bytes really hash to; anything but `link.chain` means altered.
    pub found: Hash,
}

const NUMBER: &[u8] = b",\"seq\":";
const PREVIOUS: &[u8] = b",\"prev\":\"";
const CHAIN: &[u8] = b",\"chain\":\"";

/// Appends the links to a JSON object's text (with or without its newline).
pub fn seal(object: &[u8], number: u64, previous: &Hash) -> (Vec<u8>, Link) {
    let object = object.strip_suffix(b"\n").unwrap_or(object);
    let mut line = object.strip_suffix(b"}").unwrap_or(object).to_vec();
    for part in [NUMBER, number.to_string().as_bytes(), PREVIOUS, previous, b"\""] {
        line.extend_from_slice(part);
    }
    let chain = Digest::of(&line).hex();
    for part in [CHAIN, &chain[..], b"\"}\n"] {
        line.extend_from_slice(part);
    }
    (line, Link { number, chain })
}

/// Takes a line apart; none where it does not end as [`seal`] ends a line.
pub fn unseal(line: &[u8]) -> Option<Sealed> {
    let line = line.strip_suffix(b"\n").unwrap_or(line).strip_suffix(b"\"}")?;
    let (line, chain) = cut(line)?;
    let body = line.strip_suffix(CHAIN)?;
    let (rest, previous) = cut(body.strip_suffix(b"\"")?)?;
    let rest = rest.strip_suffix(PREVIOUS)?;
    let digits = rest.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let (rest, number) = rest.split_at_checked(rest.len().checked_sub(digits)?)?;
    rest.ends_with(NUMBER).then_some(())?;
    let number = std::str::from_utf8(number).ok().filter(|n| !n.starts_with('0'))?.parse().ok()?;
    Some(Sealed { link: Link { number, chain }, previous, found: Digest::of(body).hex() })
}

/// The hash at the end of a text.
fn cut(text: &[u8]) -> Option<(&[u8], Hash)> {
    let (rest, hash) = text.split_last_chunk::<64>()?;
    hash.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')).then_some((rest, *hash))
}

/// The file beside the log that remembers where its chain ended, over rotations too.
pub fn head_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".head");
    PathBuf::from(name)
}

/// What the head file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub link: Link,
    /// Inode and size of the log after that line.
    inode: u64,
    size: u64,
}

impl Head {
    /// Reads the text of a head file.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?.strip_suffix('\n')?;
        let mut words = text.split(' ').filter(|word| !word.is_empty());
        let number = words.next()?.parse().ok()?;
        let chain = words.next()?.as_bytes().try_into().ok()?;
        let (inode, size) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        words.next().is_none().then_some(Self { link: Link { number, chain }, inode, size })
    }

    /// What is written after a line: where the chain ends, and the log's inode and size.
    pub fn new(link: Link, inode: u64, size: u64) -> Self {
        Self { link, inode, size }
    }

    /// Always of the same length: it is written over the last one.
    pub fn text(&self) -> String {
        format!("{:>20} {} {:>20} {:>20}\n", self.link.number, self.link.chain(), self.inode, self.size)
    }
}

/// Appends one object as a line of the chain.
pub(super) fn append(path: &Path, object: &[u8], folder: Folder, deadline: Instant) -> Result<Link, Trouble> {
    channel::make(path, folder);
    let head = lock(&head_of(path), deadline)?;
    let file = channel::open(path)?;
    let before = file.metadata().map_err(|e| trouble(&e))?;
    let last = last(&head, &file, (before.ino(), before.size()));
    let (number, previous) = last.map_or((1, START), |link| (link.number.saturating_add(1), link.chain));
    let (sealed, link) = seal(object, number, &previous);
    channel::write_line(&file, &sealed)?;
    let size = file.metadata().map_err(|e| trouble(&e))?.size();
    let now = Head::new(link.clone(), before.ino(), size);
    head.write_all_at(now.text().as_bytes(), 0).map_err(|e| trouble(&e))?;
    Ok(link)
}

/// One writer at a time; the lock goes with the descriptor.
fn lock(path: &Path, deadline: Instant) -> Result<Flock<File>, Trouble> {
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOFOLLOW | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
    let options = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o640)
        .custom_flags(flags.bits())
        .open(path);
    let mut file = options.map_err(|e| trouble(&e))?;
    if !file.metadata().map_err(|e| trouble(&e))?.is_file() {
        return Err(Trouble::Unfit);
    }
    loop {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(held) => return Ok(held),
            Err((back, Errno::EWOULDBLOCK | Errno::EINTR)) => file = back,
            Err((_, errno)) => return Err(trouble(&errno.into())),
        }
        if Instant::now() >= deadline {
            return Err(Trouble::Full);
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// The chain's last line. The head knows, unless a writer died between the line and the head, or the
/// head was lost: then the file's last line is believed as far as it continues the head. What was cut
/// off the file is not believed: the gap stays in the chain and shows.
fn last(head: &File, file: &File, place: (u64, u64)) -> Option<Link> {
    let mut text = Vec::new();
    let mut reader = head;
    let told = reader.read_to_end(&mut text).ok().and_then(|_| Head::parse(&text));
    match told {
        Some(told) if (told.inode, told.size) == place => Some(told.link),
        Some(told) => {
            let next = tail(file, place.1).filter(|line| line.previous == told.link.chain);
            Some(next.map_or(told.link, |line| line.link))
        }
        None => tail(file, place.1).map(|line| line.link),
    }
}

/// Longest line that is looked for at the file's end, in bytes; an event is shorter.
const LONGEST: u64 = 65_536;

fn tail(file: &File, size: u64) -> Option<Sealed> {
    let start = size.saturating_sub(LONGEST);
    let mut end = vec![0; usize::try_from(size - start).ok()?];
    file.read_exact_at(&mut end, start).ok()?;
    let end = end.strip_suffix(b"\n")?;
    let line = end.rsplit(|b| *b == b'\n').next()?;
    unseal(line).filter(|line| line.found == line.link.chain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    #[test]
    fn what_was_sealed_is_taken_apart_again() {
        let (bytes, link) = seal(b"{\"text\":\",\\\"seq\\\":9\"}\n", 7, &START);
        let sealed = unseal(&bytes).unwrap();
        assert_eq!((sealed.link.clone(), sealed.previous), (link, START));
        assert_eq!(sealed.found, sealed.link.chain);
        for wrong in [&b"{}\n"[..], b"", b"{\"seq\":1}", bytes.get(..bytes.len() - 4).unwrap()] {
            assert_eq!(unseal(wrong), None);
        }
    }

    #[test]
    fn the_hash_is_sha_256() {
        let expected = b"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(&Digest::of(b"abc").hex(), expected);
    }

    #[test]
    fn a_chain_survives_rotation_and_a_lost_head() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let write = || append(&path, b"{\"a\":1}\n", Folder::MustExist, soon()).unwrap().number;
        assert_eq!((write(), write()), (1, 2));
        std::fs::rename(&path, folder.path().join("log.1")).unwrap();
        assert_eq!(write(), 3);
        std::fs::remove_file(head_of(&path)).unwrap();
        assert_eq!(write(), 4);
        // a writer that died before it wrote the head
        let head = std::fs::read(head_of(&path)).unwrap();
        assert_eq!(write(), 5);
        std::fs::write(head_of(&path), head).unwrap();
        assert_eq!(write(), 6);
        // lines that were cut off are missed
        std::fs::write(&path, "").unwrap();
        assert_eq!(write(), 7);
    }

    #[test]
    fn parallel_writers_make_one_chain() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        append(&path, b"{\"a\":1}\n", Folder::MustExist, soon()).unwrap();
                    }
                });
            }
        });
        let text = std::fs::read(&path).unwrap();
        let mut previous = START;
        for (index, line) in text.split_inclusive(|b| *b == b'\n').enumerate() {
            let sealed = unseal(line).unwrap();
            assert_eq!((sealed.link.number, sealed.previous), (index as u64 + 1, previous));
            assert_eq!(sealed.found, sealed.link.chain);
            previous = sealed.link.chain;
        }
        assert_eq!(text.split(|b| *b == b'\n').count(), 201);
    }

    #[test]
    fn a_writer_that_keeps_the_lock_delays_nobody_for_long() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let held = lock(&head_of(&path), soon()).unwrap();
        let began = Instant::now();
        let result = append(&path, b"{}\n", Folder::MustExist, began + Duration::from_millis(30));
        assert_eq!(result, Err(Trouble::Full));
        assert!(began.elapsed() < Duration::from_secs(5));
        drop(held);
    }
}
