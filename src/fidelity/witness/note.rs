//! What makes a copy of this program a probe: a note behind the program's own bytes.
//!
//! In: the running program's file. Out: [`Note`], for a copy that has one. Never: trusts the environment, which
//! su, sudo and sshd clear, and which an agent could set.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Ends the file of a probe, after the note and its length (8 bytes, little-endian).
const MARK: &[u8; 16] = b"agent-sh witness";
/// Longest note in bytes.
const LONGEST: u64 = 64 << 10;

/// Where a probe writes, and how it ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Folder of the records, writable for every user.
    pub records: PathBuf,
    /// Exit status of a probe.
    pub status: u8,
    /// Most bytes of standard input that are read.
    pub input: usize,
    /// Milliseconds that what the launcher left behind may go on.
    pub grace: u64,
    /// Milliseconds until the launcher is stopped.
    pub limit: u64,
    /// Whether the folder `/proc` and the loopback device are this namespace's to set up.
    pub network: Network,
}

/// What a launcher can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Network {
    /// A loopback device of its own.
    Private,
    /// This machine's; programs that start something elsewhere are probes then.
    Kept,
}

/// The note of the running program, if its file has one.
pub fn own() -> Option<Note> {
    read(&mut File::open("/proc/self/exe").ok()?)
}

fn read(file: &mut File) -> Option<Note> {
    let mut tail = [0u8; 24];
    file.seek(SeekFrom::End(-24)).ok()?;
    file.read_exact(&mut tail).ok()?;
    let (length, mark) = tail.split_first_chunk::<8>()?;
    if mark != MARK {
        return None;
    }
    let length = u64::from_le_bytes(*length);
    if length > LONGEST {
        return None;
    }
    file.seek(SeekFrom::End(-24 - i64::try_from(length).ok()?)).ok()?;
    let mut text = vec![0; usize::try_from(length).ok()?];
    file.read_exact(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Makes a probe: a copy of the running program, with a note.
pub fn write(probe: &Path, note: &Note) -> std::io::Result<()> {
    let mut source = File::open("/proc/self/exe")?;
    let mut copy = File::options().write(true).create_new(true).open(probe)?;
    std::io::copy(&mut source, &mut copy)?;
    let text = serde_json::to_vec(note)?;
    copy.write_all(&text)?;
    copy.write_all(&(text.len() as u64).to_le_bytes())?;
    copy.write_all(MARK)?;
    copy.set_permissions(std::fs::Permissions::from_mode(0o755))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_its_note_and_the_program_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let note = Note {
            records: "/x".into(),
            status: 3,
            input: 10,
            grace: 5,
            limit: 7,
            network: Network::Private,
        };
        let probe = folder.path().join("probe");
        write(&probe, &note).unwrap();
        assert_eq!(read(&mut File::open(&probe).unwrap()), Some(note));
        assert_eq!(own(), None);
    }

    #[test]
    fn a_length_that_lies_is_no_note() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        for length in [0u64, 40, u64::MAX, LONGEST] {
            std::fs::write(&path, [&length.to_le_bytes()[..], MARK].concat()).unwrap();
            assert_eq!(read(&mut File::open(&path).unwrap()), None);
        }
    }
}
