//! The system's programs that are shell scripts (zgrep, ldd, apt-key), where agent-sh is the machine's sh: such a
//! call is judged as what it is, a program with arguments, and not for how the program is written.
//!
//! In: the call, its source. Out: the call as a command, or nothing. Never: takes a script for the system's that
//! anyone but root could have put there, or that lies where a person or an agent installs programs.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::effects::files::INSTALLED;
use crate::fidelity::channel::words::quote;
use crate::invocation::Invocation;
use crate::invocation::source::{Run, Source};
use crate::invocation::trust::{Changer, changer};

/// Where distributions put programs besides their proper folders; not /usr/local, /opt and homes, nor settings.
const SHARED: &str = "/usr/share/";

/// The call as a command line, if a program of the system is called.
pub(super) fn call(invocation: &Invocation, source: &Source) -> Option<Vec<u8>> {
    let Source::Script { file, run: Run::OwnPath, .. } = source else { return None };
    line(invocation.word(*file), invocation.argv.get(*file..)?)
}

/// The same for a script at this path, called with these words.
pub(crate) fn line(path: &[u8], words: &[CString]) -> Option<Vec<u8>> {
    let path = place(path)?;
    INSTALLED.iter().chain([&SHARED]).any(|folder| path.starts_with(folder)).then_some(())?;
    let mut text = Vec::new();
    for word in words {
        if !text.is_empty() {
            text.push(b' ');
        }
        quote(word.as_bytes(), &mut text);
    }
    Some(text)
}

/// Where a script lies that root alone can change or exchange.
fn place(written: &[u8]) -> Option<PathBuf> {
    let path = std::fs::canonicalize(Path::new(OsStr::from_bytes(written))).ok()?;
    let meta = std::fs::metadata(&path).ok()?;
    // the way there as it was written: that is the one the real shell goes
    (changer(written, &meta) == Changer::Root).then_some(path)
}
