//! The text of a script file or of standard input, read once; and in what form it goes to the real shell.
//!
//! In: an [`Invocation`], [`Limits`]. Out: [`Source`] (what is judged) and, by [`Source::place`], the
//! argument vector and descriptors that make the real shell run just that.
//! Never: lets a file that somebody less trusted could exchange be read a second time.

use std::ffi::CString;
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};

use nix::errno::Errno;
use nix::fcntl::OFlag;

use super::Invocation;
use super::context::Dialect;
use super::form::Form;
use super::memory::{MemoryError, SOURCE, keep, sealed};
use super::shell::Flavor;
use super::trust::{Changer, changer};
use seal::{InMemory, in_memory, loses_its_place};

mod seal;

/// How script files run, from the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scripts {
    /// From memory, always: what was judged is what runs, but `$0` or `BASH_SOURCE` may show it.
    Sealed,
    /// From their own path where none but root could have changed them, else from memory.
    OwnPathOfRoot,
    /// From their own path where none but root and the caller could have changed them, else from memory.
    OwnPathOfCaller,
}

/// Bounds, from the policy.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a script file or of standard input.
    pub text: usize,
    /// How long standard input may stay silent before its end, in milliseconds.
    pub silence: u16,
    pub scripts: Scripts,
}

impl Limits {
    pub const DEFAULT: Self = Self { text: 16 << 20, silence: 60_000, scripts: Scripts::OwnPathOfCaller };
}

/// A Linux argument may have this many bytes (`MAX_ARG_STRLEN` less the end mark).
const ARGUMENT: usize = 131_071;

/// Where the text is.
#[derive(Debug)]
pub enum Source {
    /// In the argument vector.
    Argument { at: usize },
    /// A script file's content.
    Script { file: usize, text: Vec<u8>, run: Run },
    /// Standard input, whole.
    Input { text: Vec<u8> },
    /// There is nothing to run: the real shell will print an error, or reads a closed standard input.
    Nothing,
    /// A file that the real shell will refuse; it may only read it (`-n`), should it change its mind.
    Unreadable,
}

/// What the real shell is given to read a script from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// Looked at once more when it is placed.
    OwnPath,
    Memory,
    /// The path names an open descriptor of ours (`/dev/fd/63`, from `<(…)`): the memory is put there.
    Descriptor(i32),
}

/// The text can't be had. Exit status 126: nothing may run.
#[derive(Debug, PartialEq, Eq)]
pub enum SourceError {
    TooLong {
        limit: usize,
    },
    /// standard input went silent before its end
    Silent,
    /// the script is a device or socket
    Device,
    /// the script file is not what was judged any more
    Changed,
    /// zero bytes in a text for a shell that doesn't drop them
    Zero,
    Failed(&'static str, Errno),
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { limit } => write!(f, "the script has more than {limit} bytes; call it in parts"),
            Self::Silent => f.write_str(
                "standard input stays open without more text, so the script could not be read to its end; \
                 send it whole and close the pipe, or use -c",
            ),
            Self::Device => f.write_str("the script is neither a file nor a pipe; use a file"),
            Self::Changed => f.write_str("the script was changed while it was judged; call it again"),
            Self::Zero => {
                f.write_str("the script holds zero bytes, which this shell does not drop; remove them")
            }
            Self::Failed(what, errno) => write!(f, "cannot {what}: {}", errno.desc()),
        }
    }
}

impl From<MemoryError> for SourceError {
    fn from(MemoryError(what, errno): MemoryError) -> Self {
        Self::Failed(what, errno)
    }
}

impl Source {
    /// Reads what the call names. Blocks as the real shell would until a pipe's end.
    pub fn read(invocation: &Invocation, limits: &Limits) -> Result<Self, SourceError> {
        match invocation.line.form {
            Form::Command { text } => Ok(Self::Argument { at: text }),
            Form::Inert(_) | Form::Unclear(_) => Ok(Self::Nothing),
            Form::Input { .. } => match drain(std::io::stdin().as_fd(), limits) {
                Ok(text) => Ok(Self::Input { text: cleaned(text, invocation.shell.flavor)? }),
                // closed, a folder, or open for writing only: and it stays so
                Err(SourceError::Failed(_, Errno::EBADF | Errno::EISDIR)) => Ok(Self::Nothing),
                Err(error) => Err(error),
            },
            Form::Script { file } => script(invocation, file, limits),
        }
    }

    /// The bytes to judge.
    pub fn text<'a>(&'a self, invocation: &'a Invocation) -> &'a [u8] {
        match self {
            Self::Argument { at } => invocation.word(*at),
            Self::Script { text, .. } | Self::Input { text } => text,
            Self::Nothing | Self::Unreadable => &[],
        }
    }

    /// The script's name as bash gives it to the text, where the text runs from its own path.
    pub fn shown(&self, invocation: &Invocation) -> Option<String> {
        match self {
            Self::Script { file, run: Run::OwnPath, .. } if invocation.dialect() == Dialect::Bash => {
                Some(crate::text::judged(invocation.word(*file)).into_owned())
            }
            Self::Script { .. }
            | Self::Argument { .. }
            | Self::Input { .. }
            | Self::Nothing
            | Self::Unreadable => None,
        }
    }

    /// What to tell whoever started a script that sees another place than its file's.
    pub fn note(&self, invocation: &Invocation) -> Option<String> {
        match self {
            Self::Script { file, text, run: Run::Memory } if loses_its_place(invocation, text) => {
                let name = crate::text::escape_bytes(invocation.word(*file));
                Some(format!(
                    "{name} runs from a sealed copy, since others than root can change it: BASH_SOURCE \
                     and $0 are not its path; `scripts = \"own-path\"` in root's policy runs it from its file (agent-sh-policy(5))"
                ))
            }
            Self::Script { .. }
            | Self::Argument { .. }
            | Self::Input { .. }
            | Self::Nothing
            | Self::Unreadable => None,
        }
    }

    /// Another text in the place of this one, from memory or in the argument vector.
    pub fn replaced(self, text: Vec<u8>, argv: &mut [CString]) -> Result<Self, SourceError> {
        Ok(match self {
            Self::Argument { at } => {
                if text.len() > ARGUMENT {
                    return Err(SourceError::TooLong { limit: ARGUMENT });
                }
                let text = CString::new(text).map_err(|_| SourceError::Zero)?;
                argv.get_mut(at).into_iter().for_each(|word| word.clone_from(&text));
                Self::Argument { at }
            }
            Self::Script { file, run: Run::Descriptor(number), .. } => {
                Self::Script { file, text, run: Run::Descriptor(number) }
            }
            Self::Script { file, run: Run::OwnPath | Run::Memory, .. } => {
                Self::Script { file, text, run: Run::Memory }
            }
            Self::Input { .. } => Self::Input { text },
            Self::Nothing => Self::Nothing,
            Self::Unreadable => Self::Unreadable,
        })
    }

    /// Puts the text where the real shell will read it, and gives the argument vector for it. Descriptors
    /// made here stay open over the exec.
    pub fn place(&self, invocation: &Invocation) -> Result<Vec<CString>, SourceError> {
        let mut argv = invocation.argv.clone();
        match self {
            Self::Argument { .. } | Self::Nothing => {}
            Self::Script { file, text, run: Run::OwnPath } => unchanged(invocation, *file, text)?,
            Self::Input { text } => {
                let memory = sealed(text)?;
                nix::unistd::dup2_stdin(&memory)
                    .map_err(|e| SourceError::Failed("replace standard input", e))?;
            }
            Self::Unreadable => argv.insert(invocation.line.options_end.min(argv.len()), c"-n".to_owned()),
            Self::Script { file, text, run: Run::Memory } => {
                let command = |text: Vec<u8>| {
                    let text = CString::new(text).map_err(|_| SourceError::Zero)?;
                    Ok::<_, SourceError>([c"-c".to_owned(), c"--".to_owned(), text])
                };
                let option = invocation.line.options_end.min(*file);
                let form = in_memory(invocation, text);
                if form == InMemory::Command {
                    argv.splice(option..*file, command(text.clone())?);
                } else {
                    let number = keep(&sealed(text)?, &[200, 100, 60, 30, 10, 3])?;
                    let place = format!("/dev/fd/{number}");
                    if form == InMemory::Sourced {
                        argv.splice(option..*file, command([SOURCE, place.as_bytes()].concat())?);
                    } else {
                        set(&mut argv, *file, &place);
                    }
                }
            }
            Self::Script { text, run: Run::Descriptor(number), .. } => {
                let memory = sealed(text)?;
                // what stood there has been read to its end
                nix::unistd::close(*number)
                    .map_err(|e| SourceError::Failed("replace the script's descriptor", e))?;
                keep(&memory, &[*number])?;
            }
        }
        Ok(argv)
    }
}

fn set(argv: &mut [CString], at: usize, path: &str) {
    if let (Some(word), Ok(path)) = (argv.get_mut(at), CString::new(path)) {
        *word = path;
    }
}

/// The real shell gets to say what is wrong with the file; `-n` keeps it from running another one that
/// appears meanwhile. Interactive shells ignore `-n`.
fn unreadable(invocation: &Invocation) -> Result<Source, SourceError> {
    if invocation.line.has('i') {
        return Err(SourceError::Failed("read the script", Errno::ENOENT));
    }
    Ok(Source::Unreadable)
}

/// Where a script was found.
#[derive(Clone, Copy)]
enum Place {
    AsWritten,
    InPath,
}

fn open(path: &[u8]) -> std::io::Result<File> {
    // O_NOCTTY: reading must not change whose terminal it is. No O_NONBLOCK: a pipe's writer is waited
    // for, as the real shell would.
    let path = std::path::Path::new(std::ffi::OsStr::from_bytes(path));
    File::options().read(true).custom_flags(OFlag::O_NOCTTY.bits()).open(path)
}

/// A last look at a script that will run from its own path. Between this and the real shell's own look
/// the caller could still exchange it (see [`Scripts`]).
fn unchanged(invocation: &Invocation, at: usize, text: &[u8]) -> Result<(), SourceError> {
    let file = open(invocation.word(at)).map_err(|_| SourceError::Changed)?;
    let regular = file.metadata().is_ok_and(|meta| meta.is_file());
    let limits = Limits { text: text.len().saturating_mul(2).saturating_add(80), ..Limits::DEFAULT };
    let again = if regular { whole(&file, &limits) } else { Ok(Vec::new()) };
    let again = again.and_then(|text| cleaned(text, invocation.shell.flavor));
    if again.is_ok_and(|again| again == text) { Ok(()) } else { Err(SourceError::Changed) }
}

fn script(invocation: &Invocation, at: usize, limits: &Limits) -> Result<Source, SourceError> {
    let written = invocation.word(at);
    let found = open(written).ok().map(|file| (written.to_vec(), file, Place::AsWritten));
    let found = found.or_else(|| {
        // shell.c, open_shell_script: a name without slash is looked for in PATH too (zsh: with an option)
        let path = in_path(invocation, written)?;
        open(&path).ok().map(|file| (path, file, Place::InPath))
    });
    let Some((path, file, place)) = found else {
        return unreadable(invocation);
    };
    let meta = file.metadata().map_err(|_| SourceError::Failed("look at the script", Errno::EIO))?;
    let kind = meta.file_type();
    if kind.is_dir() {
        return unreadable(invocation);
    }
    let null =
        kind.is_char_device() && std::os::unix::fs::MetadataExt::rdev(&meta) == nix::sys::stat::makedev(1, 3);
    if !(kind.is_file() || kind.is_fifo() || null) {
        return Err(SourceError::Device);
    }
    let text = if kind.is_file() { whole(&file, limits)? } else { drain(file.as_fd(), limits)? };
    drop(file);
    if is_binary(&text) {
        return unreadable(invocation);
    }
    let run = if kind.is_fifo() {
        descriptor(&path).map_or(Run::Memory, Run::Descriptor)
    } else {
        match (limits.scripts, place, changer(&path, &meta)) {
            (Scripts::OwnPathOfRoot | Scripts::OwnPathOfCaller, Place::AsWritten, Changer::Root)
            | (Scripts::OwnPathOfCaller, Place::AsWritten, Changer::Caller) => Run::OwnPath,
            // a file put into the working directory would come before one that was found in PATH
            (Scripts::Sealed | Scripts::OwnPathOfRoot | Scripts::OwnPathOfCaller, ..) => Run::Memory,
        }
    };
    Ok(Source::Script { file: at, text: cleaned(text, invocation.shell.flavor)?, run })
}

/// The first readable file of that name in `PATH`.
fn in_path(invocation: &Invocation, name: &[u8]) -> Option<Vec<u8>> {
    if name.contains(&b'/') || name.is_empty() || invocation.shell.flavor == Flavor::Dash {
        return None;
    }
    let path = invocation.environ.iter().rev().find_map(|entry| entry.as_bytes().strip_prefix(b"PATH="))?;
    path.split(|byte| *byte == b':').find_map(|folder| {
        let folder = if folder.is_empty() { b"." } else { folder };
        let whole = [folder, b"/", name].concat();
        std::path::Path::new(std::ffi::OsStr::from_bytes(&whole)).is_file().then_some(whole)
    })
}

/// The number of the open descriptor that a path names.
fn descriptor(path: &[u8]) -> Option<i32> {
    if path == b"/dev/stdin" {
        return Some(0);
    }
    let number = path.strip_prefix(b"/dev/fd/").or_else(|| path.strip_prefix(b"/proc/self/fd/"))?;
    std::str::from_utf8(number).ok()?.parse().ok().filter(|number| *number >= 0)
}

/// bash's `check_binary_file` (general.c): a zero byte in the first line of the first 80 bytes, or ELF.
/// dash and zsh would read on and find nonsense; such a text is not judged, so it is not run.
fn is_binary(text: &[u8]) -> bool {
    let head = text.get(..80).unwrap_or(text);
    head.starts_with(b"\x7fELF") || head.iter().take_while(|byte| **byte != b'\n').any(|byte| *byte == 0)
}

/// bash and dash drop zero bytes as they read (`shell_getc` in parse.y, `preadbuffer` in input.c): what runs
/// is the text without them.
fn cleaned(mut text: Vec<u8>, flavor: Flavor) -> Result<Vec<u8>, SourceError> {
    if memchr::memchr(0, &text).is_none() {
        return Ok(text);
    }
    match flavor {
        Flavor::Bash | Flavor::Dash => {
            text.retain(|byte| *byte != 0);
            Ok(text)
        }
        Flavor::Busybox | Flavor::Zsh | Flavor::Other => Err(SourceError::Zero),
    }
}

fn whole(file: &File, limits: &Limits) -> Result<Vec<u8>, SourceError> {
    let mut text = Vec::new();
    let bound = u64::try_from(limits.text).unwrap_or(u64::MAX).saturating_add(1);
    file.take(bound).read_to_end(&mut text).map_err(|e| {
        SourceError::Failed("read the script", Errno::from_raw(e.raw_os_error().unwrap_or(0)))
    })?;
    if text.len() > limits.text { Err(SourceError::TooLong { limit: limits.text }) } else { Ok(text) }
}

/// Reads a descriptor to its end, unbuffered: not a byte more is taken than is kept.
fn drain(input: BorrowedFd<'_>, limits: &Limits) -> Result<Vec<u8>, SourceError> {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    let failed = |errno| SourceError::Failed("read the script", errno);
    let mut text = Vec::new();
    let mut part = vec![0; 64 << 10];
    loop {
        let mut waiting = [PollFd::new(input, PollFlags::POLLIN)];
        match poll(&mut waiting, PollTimeout::from(limits.silence)) {
            Ok(0) => return Err(SourceError::Silent),
            Ok(_) => {}
            Err(Errno::EINTR) => continue,
            Err(errno) => return Err(failed(errno)),
        }
        match nix::unistd::read(input, &mut part) {
            Ok(0) => return Ok(text),
            Ok(count) => text.extend_from_slice(part.get(..count).unwrap_or_default()),
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            Err(errno) => return Err(failed(errno)),
        }
        if text.len() > limits.text {
            return Err(SourceError::TooLong { limit: limits.text });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_that_falls_silent_or_never_ends_is_given_up() {
        let limits = Limits { text: 10, silence: 20, ..Limits::DEFAULT };
        let (reader, writer) = nix::unistd::pipe().unwrap();
        nix::unistd::write(&writer, b"0123456789").unwrap();
        assert_eq!(drain(reader.as_fd(), &limits), Err(SourceError::Silent));
        nix::unistd::write(&writer, b"0123456789x").unwrap();
        assert_eq!(drain(reader.as_fd(), &limits), Err(SourceError::TooLong { limit: 10 }));
        nix::unistd::write(&writer, b"0123").unwrap();
        drop(writer);
        assert_eq!(drain(reader.as_fd(), &limits), Ok(b"0123".to_vec()));
    }

    #[test]
    fn descriptors_and_binaries_are_known() {
        for (path, number) in [
            ("/dev/fd/63", Some(63)),
            ("/proc/self/fd/3", Some(3)),
            ("/dev/stdin", Some(0)),
            ("/dev/fd/x", None),
            ("x", None),
        ] {
            assert_eq!(descriptor(path.as_bytes()), number, "{path}");
        }
        assert!(is_binary(b"\x7fELF\n") && is_binary(b"a\0b\n") && !is_binary(b"a\n\0b") && !is_binary(b""));
        assert_eq!(cleaned(b"a\0b".to_vec(), Flavor::Bash), Ok(b"ab".to_vec()));
        assert_eq!(cleaned(b"a\0b".to_vec(), Flavor::Zsh), Err(SourceError::Zero));
    }
}
