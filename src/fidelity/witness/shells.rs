//! Which programs are shells, and where they lie on this machine.
//!
//! In: names, `/etc/shells`, PATH. Out: files, each once. Never: guesses that a program is none because it lies
//! in an unusual place.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

const NAMES: [&[u8]; 27] = [
    b"sh",
    b"bash",
    b"rbash",
    b"dash",
    b"ash",
    b"zsh",
    b"rzsh",
    b"ksh",
    b"ksh93",
    b"mksh",
    b"lksh",
    b"oksh",
    b"pdksh",
    b"yash",
    b"posh",
    b"fish",
    b"csh",
    b"tcsh",
    b"sash",
    b"busybox",
    b"toybox",
    b"elvish",
    b"nu",
    b"xonsh",
    b"pwsh",
    b"osh",
    b"agent-sh",
];

/// Programs that start something where the namespace does not reach; probes where the network is kept.
pub const FAR: [&str; 26] = [
    "ssh",
    "rsh",
    "rlogin",
    "slogin",
    "scp",
    "sftp",
    "mosh",
    "docker",
    "podman",
    "nerdctl",
    "crictl",
    "kubectl",
    "oc",
    "lxc",
    "incus",
    "machinectl",
    "systemctl",
    "systemd-run",
    "busctl",
    "gdbus",
    "dbus-send",
    "qdbus",
    "virsh",
    "ansible",
    "salt",
    "flatpak-spawn",
];

/// Folders in which programs lie, whatever PATH says.
const FOLDERS: [&str; 8] = [
    "/bin",
    "/usr/bin",
    "/usr/local/bin",
    "/sbin",
    "/usr/sbin",
    "/usr/local/sbin",
    "/opt/bin",
    "/usr/lib/klibc/bin",
];

/// Whether a program of this name is a shell: a known name, also with something before or behind it
/// (`bash-static`, `real-bash`, `zsh-5.9`, `sh.distrib`).
pub fn is_name(name: &[u8]) -> bool {
    let known = |part: &[u8]| NAMES.contains(&part);
    known(name)
        || name.split(|b| matches!(b, b'-' | b'.' | b'_')).any(|part| part.len() > 1 && known(part))
        || name.strip_prefix(b"bash").is_some_and(|rest| rest.iter().all(u8::is_ascii_digit))
}

/// Every shell that is found, and the files of `more` (paths, or names that PATH finds), each by its real path.
pub fn find(path: &OsStr, more: &[String]) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = std::env::split_paths(path).filter(|p| p.is_absolute()).collect();
    folders.extend(FOLDERS.iter().map(PathBuf::from));
    let mut found = BTreeSet::new();
    let mut add = |path: &Path| {
        if let Ok(real) = path.canonicalize()
            && real.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
        {
            found.insert(real);
        }
    };
    for folder in &folders {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if is_name(entry.file_name().as_bytes()) {
                add(&entry.path());
            }
        }
    }
    let listed = std::fs::read_to_string("/etc/shells").unwrap_or_default();
    listed.lines().filter(|l| l.starts_with('/')).for_each(|l| add(Path::new(l.trim())));
    for name in more {
        if name.contains('/') {
            add(Path::new(name));
        } else {
            for folder in &folders {
                add(&folder.join(name));
            }
        }
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_are_known_by_name() {
        for yes in [
            "sh",
            "bash",
            "real-bash",
            "bash5",
            "bash-static",
            "sh.distrib",
            "zsh-5.9",
            "agent-sh",
            "agent-bash",
            "busybox",
        ] {
            assert!(is_name(yes.as_bytes()), "{yes}");
        }
        for no in ["git", "ssh", "sshd", "wash", "nush-x", "python3", "chsh", "hash", "agent-shctl"] {
            assert!(!is_name(no.as_bytes()), "{no}");
        }
    }

    #[test]
    fn the_machine_s_shells_are_found_by_their_real_paths() {
        let found = find(OsStr::new("/usr/bin"), &["env".to_owned()]);
        assert!(
            found.iter().any(|p| p.ends_with("bash")) && found.iter().any(|p| p.ends_with("env")),
            "{found:?}"
        );
        assert!(found.iter().all(|p| p.canonicalize().unwrap() == *p));
    }
}
