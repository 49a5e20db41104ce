//! Which real shell we become: by the name we were called by, never ourselves.
//!
//! In: the name, [`Candidates`] from the policy. Out: [`RealShell`].
//! Never: gives back a file that is agent-sh, under whatever name, link, copy or mount: that would exec
//! itself for ever.

use std::ffi::{CString, OsStr};
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

/// The shells that we stand in for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShellName {
    Bash,
    Sh,
    Dash,
    Zsh,
}

impl ShellName {
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Sh => "sh",
            Self::Dash => "dash",
            Self::Zsh => "zsh",
        }
    }

    /// The shell that a program's name means; a login shell's has a dash in front, `rbash` is bash, restricted.
    pub fn of(name: &[u8]) -> Option<Self> {
        match program(name) {
            b"bash" | b"rbash" => Some(Self::Bash),
            b"sh" => Some(Self::Sh),
            b"dash" | b"ash" => Some(Self::Dash),
            b"zsh" | b"rzsh" => Some(Self::Zsh),
            _ => None,
        }
    }

    /// Where programs expect it: what `$0` says when we were called by our own name.
    pub fn place(self) -> &'static str {
        match self {
            Self::Bash => "/bin/bash",
            Self::Sh => "/bin/sh",
            Self::Dash => "/bin/dash",
            Self::Zsh => "/bin/zsh",
        }
    }
}

/// Which grammar and behaviour the real shell has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flavor {
    Bash,
    Dash,
    Busybox,
    Zsh,
    /// an sh that we don't know
    Other,
}

/// Where to look, from the policy.
#[derive(Clone, Copy, Debug)]
pub struct Candidates {
    /// For every name that is no shell's, `agent-sh` among them.
    pub default: ShellName,
    /// Absolute paths in order, for each shell.
    pub bash: &'static [&'static str],
    pub sh: &'static [&'static str],
    pub dash: &'static [&'static str],
    pub zsh: &'static [&'static str],
}

impl Candidates {
    /// Those of one shell.
    pub fn of(&self, name: ShellName) -> &'static [&'static str] {
        match name {
            ShellName::Bash => self.bash,
            ShellName::Sh => self.sh,
            ShellName::Dash => self.dash,
            ShellName::Zsh => self.zsh,
        }
    }
}

/// The shell that we will become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealShell {
    pub name: ShellName,
    pub flavor: Flavor,
    pub path: CString,
}

/// No shell was found. Exit status 127.
#[derive(Debug, PartialEq, Eq)]
pub struct NoShell {
    name: ShellName,
    /// what was wrong with each place that exists
    seen: Vec<String>,
}

impl fmt::Display for NoShell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no real {} found; install it beside agent-sh as /usr/lib/agent-sh/real/{0}",
            self.name.name()
        )?;
        if self.seen.is_empty() { Ok(()) } else { write!(f, " (looked at {})", self.seen.join(", ")) }
    }
}

/// What stands in every agent-sh, near the start of the file: `main.rs` puts it into an ELF note.
pub const MARKER: &[u8; 24] = b"agent-sh:itself:5f1c7e90";

/// How much of a file is searched for the marker; notes lie in the first page or two, at multiples of four.
const HEAD: usize = 8 << 10;

/// Finds the shell for `argv0`. Under a name that is no shell's, sh will do where the default isn't there: small
/// images have no other.
pub fn find(argv0: &[u8], candidates: &Candidates) -> Result<RealShell, NoShell> {
    // the file's name first: /bin/sh is sh whatever its caller puts into argv[0]
    match name_of_file().or_else(|| ShellName::of(argv0)) {
        Some(name) => find_named(name, candidates),
        None => find_named(candidates.default, candidates)
            .or_else(|missing| find_named(ShellName::Sh, candidates).map_err(|_| missing)),
    }
}

fn find_named(name: ShellName, candidates: &Candidates) -> Result<RealShell, NoShell> {
    let own = std::fs::metadata("/proc/self/exe").ok().map(|meta| (meta.dev(), meta.ino()));
    let mut seen = Vec::new();
    for path in candidates.of(name) {
        match Seen::at(Path::new(path), own) {
            Seen::Nothing => {}
            Seen::Unfit(why) => seen.push(format!("{path}: {why}")),
            Seen::Shell(head) => {
                if let Ok(whole) = CString::new(*path) {
                    let flavor = flavor(name, Path::new(path), &head);
                    return Ok(RealShell { name, flavor, path: whole });
                }
            }
        }
    }
    Err(NoShell { name, seen })
}

/// The shell whose name the file (or link) has that the kernel started: execve(2) makes it the thread's
/// name.
fn name_of_file() -> Option<ShellName> {
    ShellName::of(nix::sys::prctl::get_name().ok()?.as_bytes())
}

/// A program's name without its folder and without a login shell's dash.
pub fn program(name: &[u8]) -> &[u8] {
    let base = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    base.strip_prefix(b"-").unwrap_or(base)
}

enum Seen {
    Nothing,
    Unfit(&'static str),
    /// The file's first bytes.
    Shell(Vec<u8>),
}

impl Seen {
    fn at(path: &Path, own: Option<(u64, u64)>) -> Self {
        // O_NONBLOCK: a pipe in this place must not stop us
        let flags = nix::fcntl::OFlag::O_NONBLOCK.bits();
        let file = match File::options().read(true).custom_flags(flags).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Self::Nothing,
            // execute-only shells exist; without a look at the file it could be ourselves
            Err(_) => return Self::Unfit("cannot be read"),
        };
        let Ok(meta) = file.metadata() else { return Self::Unfit("cannot be looked at") };
        if !meta.is_file() || meta.mode() & 0o111 == 0 {
            return Self::Unfit("is no executable file");
        }
        if own == Some((meta.dev(), meta.ino())) {
            return Self::Unfit("is agent-sh itself");
        }
        let mut head = Vec::with_capacity(HEAD);
        if file.take(HEAD as u64).read_to_end(&mut head).is_err() {
            return Self::Unfit("cannot be read");
        }
        if !head.starts_with(b"\x7fELF") {
            return Self::Unfit("is no ELF program");
        }
        // not memchr: it asks the processor what it can do, 40 microseconds under a hypervisor
        if head.windows(MARKER.len()).step_by(4).any(|part| part == MARKER) {
            return Self::Unfit("is an agent-sh too");
        }
        Self::Shell(head)
    }
}

/// By name where the name says it, by the file's real name or content where it says only "sh".
fn flavor(name: ShellName, path: &Path, head: &[u8]) -> Flavor {
    let real = last_name(path);
    let base = real.file_name().map(OsStr::as_bytes).unwrap_or_default();
    let stem = base.split(|byte| *byte == b'.').next().unwrap_or_default();
    match (name, stem) {
        (_, b"busybox") => Flavor::Busybox,
        (ShellName::Bash, _) | (_, b"bash") => Flavor::Bash,
        (ShellName::Zsh, _) | (_, b"zsh") => Flavor::Zsh,
        (_, b"dash") => Flavor::Dash,
        (ShellName::Sh | ShellName::Dash, _) => by_content(&real, head),
    }
}

/// Where links in the path's last component lead; only the name of that matters.
fn last_name(path: &Path) -> std::path::PathBuf {
    let mut real = path.to_owned();
    // as many as the kernel follows (path_resolution(7))
    for _ in 0..40 {
        let Ok(target) = std::fs::read_link(&real) else { break };
        real = real.parent().unwrap_or(Path::new("/")).join(target);
    }
    real
}

/// The words that each shell's program holds, for an sh that lies under that very name.
fn by_content(path: &Path, head: &[u8]) -> Flavor {
    let whole = std::fs::read(path).unwrap_or_else(|_| head.to_vec());
    let holds = |text: &[u8]| memchr::memmem::find(&whole, text).is_some();
    if holds(b"BusyBox v") {
        Flavor::Busybox
    } else if holds(b"BASH_VERSINFO") {
        Flavor::Bash
    } else if holds(b"ZSH_VERSION") {
        Flavor::Zsh
    } else if !holds(b"KSH_VERSION") && holds(b"Illegal option -%c") {
        Flavor::Dash
    } else {
        Flavor::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_shells() {
        for (name, shell) in [
            ("bash", Some(ShellName::Bash)),
            ("-bash", Some(ShellName::Bash)),
            ("/bin/sh", Some(ShellName::Sh)),
            ("/opt/x/-zsh", Some(ShellName::Zsh)),
            ("rbash", Some(ShellName::Bash)),
            ("agent-sh", None),
            ("weird name", None),
            ("", None),
        ] {
            assert_eq!(ShellName::of(name.as_bytes()), shell, "{name}");
        }
    }

    #[test]
    fn a_copy_of_agent_sh_a_script_and_a_folder_are_passed_over() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, content: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        let copy = put("copy", &[b"\x7fELF....", &MARKER[..]].concat());
        let script = put("script", b"#!/bin/bash\n");
        let shell = put("shell", b"\x7fELF another program");
        let why = |path: &Path, own| match Seen::at(path, own) {
            Seen::Nothing => "nothing",
            Seen::Unfit(why) => why,
            Seen::Shell(_) => "shell",
        };
        let meta = std::fs::metadata(&shell).unwrap();
        assert_eq!(why(&copy, None), "is an agent-sh too");
        assert_eq!(why(&script, None), "is no ELF program");
        assert_eq!(why(folder.path(), None), "is no executable file");
        assert_eq!(why(&shell, Some((meta.dev(), meta.ino()))), "is agent-sh itself");
        assert_eq!(why(&shell, None), "shell");
        assert_eq!(why(&folder.path().join("none"), None), "nothing");
    }

    #[test]
    fn nothing_found_says_where_it_was_looked_for() {
        let none = &["/nonexistent/zsh", "/etc/passwd"][..];
        let none = Candidates { default: ShellName::Zsh, bash: &[], sh: &[], dash: &[], zsh: none };
        assert_eq!(
            find(b"agent-sh", &none).unwrap_err().to_string(),
            "no real zsh found; install it beside agent-sh as /usr/lib/agent-sh/real/zsh \
             (looked at /etc/passwd: is no executable file)"
        );
    }
}
