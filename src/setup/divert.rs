//! agent-sh in the place of /bin/sh, and back.
//!
//! In: the machine. Out: /usr/bin/sh exchanged by one rename(2), the real one kept where agent-sh finds it.
//! Never: leaves the machine without a working sh: what will stand there is tried before and after, and
//! what was there is put back if the second try fails.
//!
//! A diversion of dpkg can't be used: dash holds the one of /bin/sh (bookworm), and none covers the
//! package that ships the file. Who brings sh anew (an upgrade of dash or bash) takes the place, and the
//! packages' triggers give it back.

use std::fmt;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::invocation::shell::MARKER;

/// Where things lie; all below one root, so that another system's can be changed.
#[derive(Clone, Debug)]
pub struct Layout {
    root: PathBuf,
}

/// What stands in the place of sh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Real,
    AgentSh,
}

/// Why nothing was exchanged, or was put back.
#[derive(Debug)]
pub enum DivertError {
    /// Only root can.
    NotRoot,
    /// The program is not a root-owned file that nobody else can write.
    Unsafe(PathBuf),
    /// There is no sh, or it is no file.
    NoShell(PathBuf),
    /// The program did not do what sh does: its file, what it said.
    Broken(PathBuf, String),
    File(PathBuf, std::io::Error),
}

impl fmt::Display for DivertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRoot => f.write_str("only root can put another program in the place of /bin/sh"),
            Self::Unsafe(path) => write!(
                f,
                "{} must be owned by root and writable by nobody else, with its folders; install the package",
                path.display()
            ),
            Self::NoShell(path) => write!(f, "{}: there is no real shell to keep", path.display()),
            Self::Broken(path, said) => write!(
                f,
                "{} does not work as sh, so everything is as it was: {}",
                path.display(),
                crate::text::escape(said.trim())
            ),
            Self::File(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for DivertError {}

fn file(path: &Path) -> impl FnOnce(std::io::Error) -> DivertError + '_ {
    |error| DivertError::File(path.to_owned(), error)
}

impl Layout {
    pub fn of(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// /bin/sh; where /bin is a link to /usr/bin, the file itself.
    fn sh(&self) -> PathBuf {
        let merged = std::fs::symlink_metadata(self.at("bin")).is_ok_and(|meta| meta.is_symlink());
        self.at(if merged { "usr/bin/sh" } else { "bin/sh" })
    }

    fn program(&self) -> PathBuf {
        self.at("usr/bin/agent-sh")
    }

    fn kept(&self) -> PathBuf {
        self.at("usr/lib/agent-sh/real/sh")
    }

    /// Says to the packages' triggers that the place is agent-sh's.
    fn marker(&self) -> PathBuf {
        self.at("var/lib/agent-sh/divert-sh")
    }

    /// What stands in the place now.
    pub fn place(&self) -> Place {
        if is_agent_sh(&self.sh()) { Place::AgentSh } else { Place::Real }
    }

    /// Whether the packages' triggers keep the place for agent-sh.
    pub fn is_kept(&self) -> bool {
        self.marker().exists()
    }

    /// Puts agent-sh in the place of sh. Done already is done.
    pub fn divert(&self) -> Result<(), DivertError> {
        is_root()?;
        let (sh, program, kept) = (self.sh(), self.program(), self.kept());
        trusted(&program)?;
        if self.place() == Place::Real {
            // the real one, wherever the link leads: that file stays where its package has it
            let real = std::fs::canonicalize(&sh).map_err(|_| DivertError::NoShell(sh.clone()))?;
            works(&real)?;
            make_folder(&kept)?;
            link(&self.inside(&real), &kept)?;
            let before = std::fs::read_link(&sh).ok();
            self.tried(&program)?;
            exchange(&sh, &program, &self.inside(&program))?;
            if let Err(error) = works(&sh) {
                match before {
                    Some(target) => link(&target, &sh)?,
                    None => drop(std::fs::rename(aside(&sh), &sh)),
                }
                return Err(error);
            }
        }
        let marker = self.marker();
        make_folder(&marker)?;
        std::fs::write(
            &marker,
            "agent-sh stands in the place of sh; agent-shctl uninstall --divert-sh gives it back\n",
        )
        .map_err(file(&marker))
    }

    /// Gives the place back. Done already is done.
    pub fn restore(&self) -> Result<(), DivertError> {
        is_root()?;
        let (sh, kept) = (self.sh(), self.kept());
        if self.place() == Place::AgentSh {
            let real = std::fs::canonicalize(&kept).map_err(|_| DivertError::NoShell(kept.clone()))?;
            works(&real)?;
            let aside = aside(&sh);
            if aside.exists() {
                std::fs::rename(&aside, &sh).map_err(file(&sh))?;
            } else {
                let folder = sh.parent().map(Path::to_owned).unwrap_or_default();
                // in the same folder the link is its name, as the distributions have it
                let target = match real.parent() {
                    Some(there) if there == folder => real.file_name().map(PathBuf::from).unwrap_or_default(),
                    _ => self.inside(&real),
                };
                link(&target, &sh)?;
            }
        }
        for path in [self.marker(), kept] {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(DivertError::File(path, error));
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// A path as the system itself will see it.
    fn inside(&self, path: &Path) -> PathBuf {
        Path::new("/").join(path.strip_prefix(&self.root).unwrap_or(path))
    }

    /// Tries the program under the name sh, before anybody depends on it.
    fn tried(&self, program: &Path) -> Result<(), DivertError> {
        let folder = self.at("usr/lib/agent-sh/try");
        let trial = folder.join("sh");
        make_folder(&trial)?;
        link(program, &trial)?;
        let result = works(&trial);
        let _ = std::fs::remove_file(&trial);
        let _ = std::fs::remove_dir(&folder);
        result.map_err(|error| match error {
            DivertError::Broken(_, said) => DivertError::Broken(program.to_owned(), said),
            other @ (DivertError::NotRoot
            | DivertError::Unsafe(_)
            | DivertError::NoShell(_)
            | DivertError::File(..)) => other,
        })
    }
}

fn is_root() -> Result<(), DivertError> {
    if nix::unistd::geteuid().is_root() { Ok(()) } else { Err(DivertError::NotRoot) }
}

fn is_agent_sh(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(16 << 10).read_to_end(&mut head));
    read.is_ok() && memchr::memmem::find(&head, MARKER).is_some()
}

/// Root's own file, in folders that are root's own.
fn trusted(path: &Path) -> Result<(), DivertError> {
    let sound = path.ancestors().filter(|p| !p.as_os_str().is_empty()).all(|part| {
        std::fs::metadata(part)
            .is_ok_and(|meta| meta.uid() == 0 && (meta.mode() & 0o022 == 0 || meta.mode() & 0o1000 != 0))
    });
    if sound { Ok(()) } else { Err(DivertError::Unsafe(path.to_owned())) }
}

/// Does it do what sh does: take a text, run it, end as it ends.
fn works(shell: &Path) -> Result<(), DivertError> {
    let broken = |said: String| DivertError::Broken(shell.to_owned(), said);
    let output = Command::new(shell)
        .args(["-c", "printf '%s' \"$0-$1\"; exit 42", "a", "b"])
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .current_dir("/")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| broken(error.to_string()))?;
    if output.status.code() == Some(42) && output.stdout == b"a-b" {
        return Ok(());
    }
    Err(broken(format!("{} {}", output.status, String::from_utf8_lossy(&output.stderr))))
}

fn make_folder(path: &Path) -> Result<(), DivertError> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(folder).map_err(file(folder))
}

/// Where a sh that is no link waits.
fn aside(sh: &Path) -> PathBuf {
    sh.with_extension("agent-sh-kept")
}

/// Makes `path` a link, in one step whatever it was.
fn link(target: &Path, path: &Path) -> Result<(), DivertError> {
    let new = path.with_extension("agent-sh-new");
    let _ = std::fs::remove_file(&new);
    symlink(target, &new).map_err(file(&new))?;
    std::fs::rename(&new, path).map_err(file(path))
}

/// A link gives way to ours; a file of its own is kept beside it by a second name first.
fn exchange(sh: &Path, program: &Path, target: &Path) -> Result<(), DivertError> {
    let meta = std::fs::symlink_metadata(sh).map_err(file(sh))?;
    if !meta.is_symlink() {
        let aside = aside(sh);
        let _ = std::fs::remove_file(&aside);
        std::fs::hard_link(sh, &aside).map_err(file(&aside))?;
    }
    let beside = sh.parent() == program.parent();
    let name = program.file_name().map(PathBuf::from).unwrap_or_default();
    link(if beside { &name } else { target }, sh)
}
