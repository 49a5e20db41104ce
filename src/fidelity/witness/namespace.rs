//! A place of its own for a launcher: probes where the shells are, and no way to a daemon outside.
//!
//! In: a probe, the files to stand in for. Out: this process and its children are inside. Never: goes on where
//! one of the files is not the probe.

use std::fmt;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

use crate::fidelity::witness::note::Network;
use crate::text::escape;

/// Folders and sockets by which a daemon outside could be asked to run something.
const WAYS_OUT: [&str; 18] = [
    "/var/spool/cron",
    "/var/spool/at",
    "/var/spool/anacron",
    "/etc/cron.d",
    "/run/systemd/private",
    "/run/dbus",
    "/run/screen",
    "/run/tmux",
    "/run/docker.sock",
    "/run/podman",
    "/run/containerd",
    "/run/crio",
    "/run/libvirt",
    "/run/snapd.socket",
    "/run/incus",
    "/var/lib/lxd/unix.socket",
    "/var/lib/incus/unix.socket",
    "/run/user",
];

/// What could not be done, where, and why.
#[derive(Debug)]
pub struct NamespaceError {
    what: &'static str,
    place: PathBuf,
    why: String,
}

impl NamespaceError {
    fn new(what: &'static str, place: &Path, why: impl fmt::Display) -> Self {
        Self { what, place: place.to_owned(), why: why.to_string() }
    }
}

impl fmt::Display for NamespaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = escape(&self.place.to_string_lossy());
        write!(f, "cannot {} {place}: {}; nothing was started", self.what, self.why)
    }
}

impl std::error::Error for NamespaceError {}

/// Enters new namespaces and lays the probe over every file. The next child is the first of its process namespace.
pub fn enter(probe: &Path, files: &[PathBuf], network: Network) -> Result<(), NamespaceError> {
    let root = Path::new("/");
    let (user, group) = (nix::unistd::geteuid(), nix::unistd::getegid());
    let mut flags = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWIPC;
    if network == Network::Private {
        flags |= CloneFlags::CLONE_NEWNET;
    }
    if !user.is_root() {
        flags |= CloneFlags::CLONE_NEWUSER;
    }
    unshare(flags).map_err(|errno| {
        let hint = if errno == Errno::EPERM {
            "the kernel lets nobody make a user namespace; run it as root"
        } else {
            errno.desc()
        };
        NamespaceError::new("leave the namespaces of", root, hint)
    })?;
    if !user.is_root() {
        let write = |name: &str, text: String| {
            let path = Path::new("/proc/self").join(name);
            std::fs::write(&path, text).map_err(|e| NamespaceError::new("write", &path, e))
        };
        write("setgroups", "deny".to_owned())?;
        write("uid_map", format!("0 {user} 1"))?;
        write("gid_map", format!("0 {group} 1"))?;
    }
    let none: Option<&str> = None;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)
        .map_err(|e| NamespaceError::new("make private the mounts of", root, e.desc()))?;
    for way in WAYS_OUT.iter().map(PathBuf::from).chain(sockets()) {
        close(&way)?;
    }
    files.iter().try_for_each(|file| lay(probe, file))?;
    // a later mount could have covered an earlier one
    files.iter().try_for_each(|file| is_probe(probe, file))
}

fn lay(probe: &Path, file: &Path) -> Result<(), NamespaceError> {
    let none: Option<&str> = None;
    mount(Some(probe), file, none, MsFlags::MS_BIND, none)
        .map_err(|e| NamespaceError::new("lay the probe over", file, e.desc()))
}

fn is_probe(probe: &Path, file: &Path) -> Result<(), NamespaceError> {
    let identity = |path: &Path| {
        path.metadata().map(|m| (m.dev(), m.ino())).map_err(|e| NamespaceError::new("look at", path, e))
    };
    if identity(probe)? == identity(file)? {
        Ok(())
    } else {
        Err(NamespaceError::new("trust", file, "the probe is not what is seen there"))
    }
}

/// Sockets of terminal multiplexers that run.
fn sockets() -> Vec<PathBuf> {
    let entries = std::fs::read_dir("/tmp").into_iter().flatten().flatten();
    let is_one = |name: &std::ffi::OsStr| {
        name.to_str().is_some_and(|n| n.starts_with("tmux-") || n.starts_with("screens"))
    };
    entries.filter(|e| is_one(&e.file_name())).map(|e| e.path()).collect()
}

/// Puts an empty folder, or nothing, in the place of a way out. Spools keep their own folders, empty.
fn close(way: &Path) -> Result<(), NamespaceError> {
    let Ok(way) = way.canonicalize() else { return Ok(()) };
    let failed = |e: &dyn fmt::Display| NamespaceError::new("close the way out by", &way, e);
    let none: Option<&str> = None;
    let meta = way.metadata().map_err(|e| failed(&e))?;
    if !meta.is_dir() {
        return mount(Some("/dev/null"), &way, none, MsFlags::MS_BIND, none).map_err(|e| failed(&e.desc()));
    }
    let inner: Vec<_> = std::fs::read_dir(&way)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|e| e.metadata().ok().filter(std::fs::Metadata::is_dir).map(|m| (e.file_name(), m)))
        .collect();
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("none"), &way, Some("tmpfs"), flags, Some("mode=0755")).map_err(|e| failed(&e.desc()))?;
    let like = |path: &Path, meta: &std::fs::Metadata| {
        // in a user namespace other owners can't be given; the folder is then ours alone
        drop(std::os::unix::fs::chown(path, Some(meta.uid()), Some(meta.gid())));
        drop(std::fs::set_permissions(path, std::fs::Permissions::from_mode(meta.mode() & 0o7777)));
    };
    like(&way, &meta);
    for (name, meta) in inner {
        let path = way.join(name);
        std::fs::create_dir(&path).map_err(|e| failed(&e))?;
        like(&path, &meta);
    }
    Ok(())
}
