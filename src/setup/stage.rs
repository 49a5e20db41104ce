//! A mount namespace in which agent-sh stands where clients look for shells, and the real ones lie beside it.
//!
//! In: the shells whose places are taken, agent-sh's file. Out: [`Stage`]; this process is inside from then on.
//! Never: changes anything outside the namespace; leaves the folder of shells writable.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

use crate::invocation::shell::{self, Candidates, Flavor, RealShell, ShellName};

/// The shells that a stage knows, in the order in which links to one another resolve.
pub const SHELLS: [ShellName; 4] = [ShellName::Bash, ShellName::Dash, ShellName::Zsh, ShellName::Sh];

/// Folders that can hold `real/` and `shim/`, in order. The policy's `shells` lists know both.
const BASES: [&str; 2] = ["/usr/lib/agent-sh", "/usr/local/lib/agent-sh"];

/// Where things are inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The folder that goes to the front of `PATH`.
    pub shims: PathBuf,
    /// The folder of the real shells.
    pub real: PathBuf,
}

/// Why there is no stage, and what to do.
#[derive(Debug)]
pub struct StageError {
    what: String,
}

impl fmt::Display for StageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for StageError {}

fn failed(what: impl Into<String>) -> StageError {
    StageError { what: what.into() }
}

/// Enters new namespaces and sets the stage.
///
/// # Errors
/// The kernel doesn't allow it, there is no real shell, or a shell's place can't be taken without taking
/// other programs' (busybox).
pub fn enter(places: &[ShellName], agent_sh: &Path, candidates: &Candidates) -> Result<Stage, StageError> {
    namespaces()?;
    // everything that is needed is found and opened inside, before anything is covered
    let own = opened(agent_sh)?;
    let found = found_shells(candidates)?;
    let taken = taken(places, &found)?;
    let base = base()?;
    let (shims, real) = (base.folder.join("shim"), base.folder.join("real"));
    for folder in [&shims, &real] {
        fs::create_dir_all(folder)
            .map_err(|error| failed(format!("cannot make {}: {error}", folder.display())))?;
    }
    for shell in &found {
        let place = real.join(shell.name.name());
        match found.iter().find(|other| other.file.1 == shell.file.1) {
            Some(other) if other.name != shell.name => link(other.name.name(), &place)?,
            Some(_) | None => bind(&shell.file.0, &place)?,
        }
        link("agent-sh", &shims.join(shell.name.name()))?;
    }
    bind(&own, &shims.join("agent-sh"))?;
    for place in &taken {
        bind_over(&own, place)?;
    }
    // so that nothing inside can put another program in a shell's place
    mount(
        None::<&str>,
        &base.mounted,
        None::<&str>,
        MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY,
        None::<&str>,
    )
    .map_err(|errno| failed(format!("cannot make {} read-only: {}", base.mounted.display(), errno.desc())))?;
    Ok(Stage { shims, real })
}

struct Found {
    name: ShellName,
    shell: RealShell,
    /// The open file, and which one it is.
    file: (File, (u64, u64)),
}

fn opened(path: &Path) -> Result<File, StageError> {
    OpenOptions::new()
        .read(true)
        .custom_flags(OFlag::O_PATH.bits())
        .open(path)
        .map_err(|error| failed(format!("cannot open {}: {error}", path.display())))
}

fn found_shells(candidates: &Candidates) -> Result<Vec<Found>, StageError> {
    let mut out: Vec<Found> = Vec::new();
    for name in SHELLS {
        let Ok(shell) = shell::find(name.name().as_bytes(), candidates) else { continue };
        let path = PathBuf::from(std::ffi::OsStr::new(shell.path.to_str().unwrap_or_default()));
        let file = opened(&path)?;
        let meta = file.metadata().map_err(|error| failed(error.to_string()))?;
        out.push(Found { name, shell, file: (file, (meta.dev(), meta.ino())) });
    }
    if out.is_empty() { Err(failed("there is no real shell on this machine")) } else { Ok(out) }
}

/// The files in whose places agent-sh will stand: where the usual paths of the shells lead to.
fn taken(places: &[ShellName], found: &[Found]) -> Result<Vec<PathBuf>, StageError> {
    let mut out = Vec::new();
    for name in places {
        if found.iter().any(|shell| shell.name == *name && shell.shell.flavor == Flavor::Busybox) {
            return Err(failed(format!(
                "{} is busybox, whose other programs would be covered too; install bash or dash for it",
                name.place()
            )));
        }
        for folder in ["/bin", "/usr/bin", "/usr/local/bin"] {
            let Ok(path) = Path::new(folder).join(name.name()).canonicalize() else { continue };
            if !out.contains(&path) && !super::program::is_agent_sh(&path) {
                out.push(path);
            }
        }
    }
    Ok(out)
}

/// A mount namespace of our own; for whoever is not root also a user namespace, in which he stays who he is.
fn namespaces() -> Result<(), StageError> {
    let (uid, gid) = (nix::unistd::geteuid(), nix::unistd::getegid());
    let plain = uid.is_root() && unshare(CloneFlags::CLONE_NEWNS).is_ok();
    if !plain {
        unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS)
            .map_err(|errno| refused("unshare(2)", errno.desc()))?;
        let maps = [
            ("setgroups", "deny".to_owned()),
            ("uid_map", format!("{uid} {uid} 1")),
            ("gid_map", format!("{gid} {gid} 1")),
        ];
        for (file, text) in maps {
            fs::write(format!("/proc/self/{file}"), text)
                .map_err(|error| refused(&format!("writing /proc/self/{file}"), &error.to_string()))?;
        }
    }
    mount(None::<&str>, "/", None::<&str>, MsFlags::MS_REC | MsFlags::MS_SLAVE, None::<&str>)
        .map_err(|errno| refused("mount(2)", errno.desc()))
}

fn refused(call: &str, why: &str) -> StageError {
    failed(format!(
        "the kernel gives this user no mount namespace ({call}: {why}); allow user namespaces \
         (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns; in a container its seccomp \
         profile), or have root put agent-sh in the shells' places"
    ))
}

struct Base {
    /// What was mounted.
    mounted: PathBuf,
    /// The folder in it that is ours.
    folder: PathBuf,
}

/// Covers a folder with one in memory that shows the same entries, and ours.
fn base() -> Result<Base, StageError> {
    for base in BASES {
        let base = Path::new(base);
        let Some(parent) = base.parent() else { continue };
        if base.is_dir() {
            cover(base, &["real", "shim"])?;
            return Ok(Base { mounted: base.to_owned(), folder: base.to_owned() });
        }
        // /usr/lib is full and changes; /usr/local/lib holds a handful
        if parent == Path::new("/usr/local/lib") && parent.is_dir() {
            cover(parent, &["agent-sh"])?;
            return Ok(Base { mounted: parent.to_owned(), folder: base.to_owned() });
        }
    }
    Err(failed("there is no /usr/lib/agent-sh and no /usr/local/lib; have root make the first, empty"))
}

/// Mounts a file system in memory over a folder and shows the folder's entries in it, but for some names.
fn cover(folder: &Path, but: &[&str]) -> Result<(), StageError> {
    let shown = |error: &dyn fmt::Display| failed(format!("cannot cover {}: {error}", folder.display()));
    let below = opened(folder)?;
    let entries: Vec<fs::DirEntry> =
        fs::read_dir(folder).and_then(Iterator::collect).map_err(|error| shown(&error))?;
    let kinds: Vec<_> = entries.iter().map(|entry| (entry.file_name(), entry.file_type())).collect();
    let links: Vec<_> = entries.iter().map(|entry| fs::read_link(entry.path()).ok()).collect();
    let options = Some("mode=0755,size=1m");
    mount(Some("agent-sh"), folder, Some("tmpfs"), MsFlags::MS_NOSUID | MsFlags::MS_NODEV, options)
        .map_err(|errno| shown(&errno.desc()))?;
    for ((name, kind), target) in kinds.into_iter().zip(links) {
        if but.iter().any(|other| name == *other) {
            continue;
        }
        let place = folder.join(&name);
        if let Some(target) = target {
            symlink(target, &place).map_err(|error| shown(&error))?;
            continue;
        }
        let made = if kind.is_ok_and(|kind| kind.is_dir()) {
            fs::create_dir(&place)
        } else {
            File::create(&place).map(drop)
        };
        made.map_err(|error| shown(&error))?;
        let source = PathBuf::from(format!("/proc/self/fd/{}", below.as_raw_fd())).join(&name);
        attach(&source, &place)?;
    }
    Ok(())
}

fn link(target: &str, place: &Path) -> Result<(), StageError> {
    symlink(target, place).map_err(|error| failed(format!("cannot make {}: {error}", place.display())))
}

/// Shows an open file at a new place.
fn bind(file: &File, place: &Path) -> Result<(), StageError> {
    File::create(place).map_err(|error| failed(format!("cannot make {}: {error}", place.display())))?;
    bind_over(file, place)
}

fn bind_over(file: &File, place: &Path) -> Result<(), StageError> {
    attach(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())), place)
}

fn attach(source: &Path, place: &Path) -> Result<(), StageError> {
    mount(Some(source), place, None::<&str>, MsFlags::MS_BIND | MsFlags::MS_REC, None::<&str>)
        .map_err(|errno| failed(format!("cannot bind over {}: {}", place.display(), errno.desc())))
}
