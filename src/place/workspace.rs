//! The workspace: the folder in which the agent is meant to work.
//!
//! In: what the caller says, the directory, the world. Out: a folder or none.
//! Never: the root, a person's home or a folder that holds it, a system folder, nor a folder as wide as `/tmp`:
//! who works there has no workspace, and nothing is excused by it.

use super::lookup::Lookups;
use super::resolve::{below, is_within, normal, resolve};

/// Folders that belong to the system: nothing below them is a workspace …
const SYSTEM: &[&str] = &[
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/lost+found",
    "/nix",
    "/proc",
    "/run",
    "/sbin",
    "/snap",
    "/sys",
    "/usr",
    "/var",
    "/System",
    "/Library",
];

/// … except below these, where people keep work by custom; not these themselves.
const CUSTOMARY: &[&str] = &[
    "/usr/src",
    "/usr/local/src",
    "/var/www",
    "/var/tmp",
    "/var/folders",
    "/var/task",
    "/var/opt",
    "/var/lib/jenkins/workspace",
    "/dev/shm",
    "/run/user",
];

/// Folders that are too wide to be a workspace, though what lies below may be one.
const WIDE: &[&str] = &["/tmp", "/home", "/root", "/Users", "/mnt", "/media", "/srv", "/opt"];

/// What marks the top of a repository; the first kind is looked for first, all the way up.
const MARKS: &[&str] = &["/.git", "/.jj", "/.hg"];

/// What makes a home a person's. One without is a folder that a user table calls so for want of another: podman's
/// entry for a user that an image does not know, a service's, a `WORKDIR`.
pub const PERSONAL: [&str; 8] =
    [".bash_login", ".bash_profile", ".bashrc", ".gnupg", ".profile", ".ssh", ".zprofile", ".zshrc"];

/// Folders looked at on the way up.
const CLIMB_LIMIT: usize = 24;

/// The workspace: the one the caller names, else the nearest repository around `cwd`, else `cwd` itself.
pub fn find(named: Option<&str>, cwd: &str, home: &str, lookups: &Lookups) -> Option<String> {
    let home = normal(home);
    let may_be = |folder: &str| is_allowed(folder, &home, lookups);
    if let Some(named) = named.filter(|path| path.starts_with('/')).map(normal)
        && may_be(&named)
    {
        return Some(named);
    }
    let cwd = Some(cwd).filter(|path| path.starts_with('/')).map(normal)?;
    if !may_be(&cwd) {
        return None;
    }
    // a directory that isn't here is judged by its name (`judge` with another machine's directory)
    if resolve(&cwd, "", lookups).is_some_and(|found| found.exists.is_some()) {
        for mark in MARKS {
            if let Some(found) = marked(&cwd, &home, mark, lookups) {
                return Some(found);
            }
        }
    }
    (!is_hidden(&cwd, &home)).then_some(cwd)
}

fn marked(cwd: &str, home: &str, mark: &str, lookups: &Lookups) -> Option<String> {
    let mut folder = cwd;
    for _ in 0..CLIMB_LIMIT {
        if !is_allowed(folder, home, lookups) {
            return None;
        }
        if lookups.has(&format!("{folder}{mark}")) {
            return Some(folder.to_owned());
        }
        folder = folder.rsplit_once('/')?.0;
    }
    None
}

/// Whether a folder could be a workspace at all; both in normal form.
fn is_allowed(folder: &str, home: &str, lookups: &Lookups) -> bool {
    let is_bare = || folder == home && !PERSONAL.iter().any(|name| lookups.has(&format!("{home}/{name}")));
    let holds_home = home != "/" && is_within(home, folder) && !is_bare();
    if matches!(folder, "" | "/") || holds_home || WIDE.contains(&folder) || is_home(folder) {
        return false;
    }
    let customary = CUSTOMARY.iter().any(|top| is_within(folder, top) && folder != *top);
    customary || !SYSTEM.iter().any(|top| is_within(folder, top))
}

/// Whether a folder is somebody's home by custom.
fn is_home(folder: &str) -> bool {
    let user = below(folder, "/home").or_else(|| below(folder, "/Users"));
    user.is_some_and(|rest| !rest.is_empty() && !rest.contains('/')) || folder == "/root"
}

/// Whether a path in a home, without a slash in front, is what a login or programs' settings are read from.
pub fn is_personal(rest: &str) -> bool {
    const BEGINNINGS: [&str; 12] = [
        ".bash", ".config", ".csh", ".gnupg", ".ksh", ".local", ".login", ".pam", ".profile", ".ssh",
        ".tcsh", ".z",
    ];
    BEGINNINGS.iter().any(|beginning| rest.starts_with(beginning))
}

/// Settings folders in a home: a workspace only where they are a repository.
fn is_hidden(folder: &str, home: &str) -> bool {
    below(folder, home).is_some_and(|rest| rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::super::tree::Tree;
    use super::*;

    #[test]
    fn the_workspace_is_the_nearest_repository_or_the_directory() {
        let tree = Tree::default()
            .folder("/home/u/p/.git")
            .folder("/home/u/p/src/deep")
            .file("/home/u/tree/.git")
            .folder("/home/u/tree/a")
            .folder("/home/u/.git")
            .folder("/home/u/plain")
            .folder("/home/u/.config/nvim/.git")
            .folder("/home/u/.ssh")
            .folder("/etc/.git")
            .folder("/etc/nginx")
            .folder("/hg/.hg")
            .folder("/hg/x")
            .folder("/app")
            .folder("/data/ann")
            .file("/data/ann/.profile");
        let cases = [
            (None, "/home/u/p/src/deep", Some("/home/u/p")),
            (None, "/home/u/tree/a", Some("/home/u/tree")),
            (None, "/home/u/plain", Some("/home/u/plain")),
            (None, "/home/u/.config/nvim", Some("/home/u/.config/nvim")),
            (None, "/home/u/.ssh", None),
            (None, "/home/u", None),
            (None, "/home", None),
            (None, "/", None),
            (None, "/etc/nginx", None),
            (None, "/hg/x", Some("/hg")),
            (None, "/not/here/../there", Some("/not/there")),
            (None, "/usr/src/app", Some("/usr/src/app")),
            (None, "/tmp", None),
            (None, "/tmp/x", Some("/tmp/x")),
            (None, "/home/other", None),
            (None, "", None),
            (Some("/home/u/plain"), "/home/u/plain/x", Some("/home/u/plain")),
            (Some("/home/u"), "/home/u/p", Some("/home/u/p")),
            (Some("/"), "/", None),
        ];
        for (named, cwd, expected) in cases {
            let found = find(named, cwd, "/home/u", &Lookups::new(&tree, 100));
            assert_eq!(found.as_deref(), expected, "{named:?} {cwd}");
        }
        // a home that is nobody's
        for (home, cwd, expected) in [
            ("/app", "/app", Some("/app")),
            ("/app", "/", None),
            ("/data/ann", "/data/ann", None),
            ("/data/ann", "/data", None),
            ("/home/bare", "/home/bare", None),
            ("/var/lib/bare", "/var/lib/bare", None),
        ] {
            assert_eq!(find(None, cwd, home, &Lookups::new(&tree, 100)).as_deref(), expected, "{home} {cwd}");
        }
    }
}
