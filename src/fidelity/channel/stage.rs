//! Lays the files of a rendering and makes the call ready to be started.
//!
//! In: a [`Rendering`]. Out: [`Laid`], which takes the files away again. Never: starts anything, or follows a link
//! or a file that is there already.

use std::ffi::OsStr;
use std::fmt;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::fidelity::channel::local::{MEMORY, owned};
use crate::fidelity::channel::rendering::{Form, Input, Mode, Rendering};
use crate::invocation::memory::{self, MemoryError};

/// Where the descriptor of a text in memory is put: high, so that those which scripts use stay free.
const DESCRIPTORS: [i32; 3] = [200, 20, 3];

/// What stopped the laying of files.
#[derive(Debug)]
pub enum StageError {
    /// Path, and what the system said.
    File(PathBuf, std::io::Error),
    Memory(MemoryError),
    /// A document has no call.
    Document,
}

impl fmt::Display for StageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path, error) => {
                let path = crate::text::escape_bytes(path.as_os_str().as_bytes());
                write!(f, "cannot lay {path}: {error}; name another folder with --dir")
            }
            Self::Memory(error) => {
                write!(f, "cannot {}: {}; use the channel script", error.0, error.1.desc())
            }
            Self::Document => f.write_str(
                "it gives a document, which cannot be started; use render, and put it where it belongs",
            ),
        }
    }
}

impl std::error::Error for StageError {}

/// Files that lie, and the call that needs them. The files go with it, unless they are left.
#[derive(Debug)]
pub struct Laid {
    words: Vec<Vec<u8>>,
    environment: Vec<(Vec<u8>, Vec<u8>)>,
    input: Input,
    files: Vec<PathBuf>,
}

/// Lays all files of a rendering, for `owner` (user and group) where that is somebody else.
pub fn lay(rendering: &Rendering, owner: Option<(u32, u32)>) -> Result<Laid, StageError> {
    let words = match &rendering.form {
        Form::Words(words) => words.clone(),
        Form::Text(text) => owned(&[b"sh", b"-c", text]),
        Form::Document(_) => return Err(StageError::Document),
    };
    let environment = rendering.environment.clone();
    let mut laid = Laid { words, environment, input: rendering.input.clone(), files: Vec::new() };
    for staged in &rendering.files {
        let bits = match staged.mode {
            Mode::Data => 0o600,
            Mode::Program => 0o700,
            Mode::Memory => {
                laid.remember(&staged.bytes)?;
                continue;
            }
        };
        let path = Path::new(OsStr::from_bytes(&staged.path));
        let failed = |error| StageError::File(path.to_owned(), error);
        let options = std::fs::OpenOptions::new().write(true).create_new(true).mode(bits).open(path);
        let mut file = options.map_err(failed)?;
        laid.files.push(path.to_owned());
        file.write_all(&staged.bytes).map_err(failed)?;
        // whatever the umask took away
        file.set_permissions(std::fs::Permissions::from_mode(bits)).map_err(failed)?;
        if let Some((user, group)) = owner {
            std::os::unix::fs::fchown(&file, Some(user), Some(group)).map_err(failed)?;
        }
    }
    Ok(laid)
}

impl Laid {
    /// Puts the text into a sealed file without a name, whose descriptor the call inherits.
    fn remember(&mut self, bytes: &[u8]) -> Result<(), StageError> {
        let number = memory::sealed(bytes).and_then(|made| memory::keep(&made, &DESCRIPTORS));
        let place = format!("/dev/fd/{}", number.map_err(StageError::Memory)?).into_bytes();
        for word in self.words.iter_mut().filter(|w| *w == MEMORY) {
            word.clone_from(&place);
        }
        Ok(())
    }

    /// The call, with its environment added and its standard input set; `bytes` are to be written to it.
    pub fn command(&self) -> (Command, Option<&[u8]>) {
        let os = |bytes: &Vec<u8>| OsStr::from_bytes(bytes).to_owned();
        let mut words = self.words.iter().map(os);
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).envs(self.environment.iter().map(|(name, value)| (os(name), os(value))));
        match &self.input {
            Input::Inherit => (command, None),
            Input::Null => {
                command.stdin(Stdio::null());
                (command, None)
            }
            Input::Bytes(bytes) => {
                command.stdin(Stdio::piped());
                (command, Some(bytes))
            }
        }
    }

    /// Leaves the files where they are: what starts them later needs them.
    pub fn leave(mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.files)
    }
}

impl Drop for Laid {
    fn drop(&mut self) {
        for path in &self.files {
            // gone already is as good
            drop(std::fs::remove_file(path));
        }
    }
}
