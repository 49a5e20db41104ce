//! What a path is: the classes of the place it names and of the place it leads to.
//!
//! In: resolved paths, the setting, the policy's places. Out: a set of classes.
//! Never: lets a link excuse a path: the goal's classes that excuse count only if the name has such too.

use super::index::{Globs, Index, Subject};
use super::lookup::Lookups;
use super::pattern;
use super::resolve::{Climbs, Resolved, UNKNOWN, below, is_within};
use super::setting::Setting;
use super::workspace;
use crate::act::{Class, ClassSet};
use crate::policy::sought::Marks;
use crate::text;

/// Which of a resolved path's ends an act concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// reads, writes, runs, chmod: what a final link leads to
    Goal,
    /// delete, move, link: the entry itself
    Entry,
}

const fn set(classes: &[Class]) -> ClassSet {
    let mut bits = ClassSet::EMPTY;
    let mut rest = classes;
    while let [first, more @ ..] = rest {
        bits = bits.with(*first);
        rest = more;
    }
    bits
}

/// Bytes of a path that are looked at; the kernel takes no longer ones (`PATH_MAX`).
const LENGTH_LIMIT: usize = 4096;

/// Classes for which rules let acts pass.
const EXCUSES: ClassSet =
    set(&[Class::Workspace, Class::Generated, Class::Temporary, Class::Cache, Class::Null, Class::Script]);

/// Classes that a path in the workspace does not have: the workspace was accepted as one.
const OUTSIDE_WORKSPACE: ClassSet = set(&[
    Class::System,
    Class::Config,
    Class::Mounted,
    Class::Outside,
    Class::Home,
    Class::OtherHome,
    Class::Personal,
    Class::PathFolder,
]);

/// Classes that say where a path is; one that has none of them is outside.
const LOCATIONS: ClassSet = set(&[
    Class::Root,
    Class::System,
    Class::Config,
    Class::Boot,
    Class::Device,
    Class::Kernel,
    Class::Home,
    Class::HomeRoot,
    Class::OtherHome,
    Class::Workspace,
    Class::WorkspaceParent,
    Class::Temporary,
    Class::Null,
    Class::Endless,
    Class::Mounted,
    Class::Cache,
    Class::Log,
    Class::Unknown,
]);

/// Classes of what an act on a resolved path concerns.
pub fn classify(resolved: &Resolved, follow: Follow, index: &Index, at: (&Setting, &Lookups)) -> ClassSet {
    let goal = match follow {
        Follow::Goal => &resolved.real,
        Follow::Entry => &resolved.place,
    };
    let of_goal = classify_path(goal, index, at);
    if *goal == resolved.lexical {
        return of_goal;
    }
    let of_name = classify_path(&resolved.lexical, index, at);
    let grave = ClassSet((of_goal.0 | of_name.0) & !EXCUSES.0);
    if of_name.has_any(EXCUSES) { grave.union(ClassSet(of_goal.0 & EXCUSES.0)) } else { grave }
}

/// Classes of one absolute path in normal form (or one that begins with `…`).
pub fn classify_path(path: &str, index: &Index, (setting, lookups): (&Setting, &Lookups)) -> ClassSet {
    if path.len() > LENGTH_LIMIT {
        let short = text::prefix(path, LENGTH_LIMIT);
        return classify_path(short, index, (setting, lookups)).with(Class::Unknown);
    }
    if path.starts_with(UNKNOWN) {
        return classify_tail(path, index);
    }
    let home = setting.home(lookups).and_then(|home| home.below(path));
    let somebody = below_customary_home(path);
    let workspace = setting.workspace(lookups);
    // where a home that is nobody's is the workspace, what a person's login would read is none of its files
    let in_workspace = workspace
        .and_then(|area| area.below(path))
        .filter(|rest| home != Some(*rest) || !workspace::is_personal(rest));
    let root = path.strip_prefix('/').unwrap_or(path);
    let subject = Subject {
        root: Some(root),
        homes: [home, somebody.filter(|_| home != somebody)],
        workspace: in_workspace,
        anywhere: root,
        marks: Marks::of(root),
        globs: globs(path),
    };
    let mut found = index.classes(&subject);
    if let Some(home) = setting.home(lookups)
        && home.is_below(path)
    {
        found = found.with(Class::HomeRoot);
    }
    found = match (home, somebody) {
        (Some(""), _) => found.with(Class::Home).with(Class::HomeRoot),
        (Some(_), _) => found.with(Class::Home),
        (None, Some(_)) => found.with(Class::OtherHome),
        (None, None) => found,
    };
    if setting.temporary(lookups).is_some_and(|area| area.below(path).is_some()) {
        found = found.with(Class::Temporary);
    }
    if workspace.is_some_and(|area| area.is_below(path)) {
        found = found.with(Class::WorkspaceParent);
    }
    if let Some(rest) = in_workspace {
        found = ClassSet(found.0 & !OUTSIDE_WORKSPACE.0).with(Class::Workspace);
        if rest.is_empty() {
            found = found.with(Class::WorkspaceRoot);
        }
    }
    finish(found, path, index, (setting, lookups))
}

/// What depends on the classes found so far.
fn finish(mut found: ClassSet, path: &str, index: &Index, at: (&Setting, &Lookups)) -> ClassSet {
    let mut whole = path;
    while let Some((folder, _)) = whole.rsplit_once('/').filter(|(_, name)| is_everything(name)) {
        whole = if folder.is_empty() { "/" } else { folder };
    }
    if whole != path {
        let roots = set(&[Class::Root, Class::HomeRoot, Class::WorkspaceRoot, Class::WorkspaceParent]);
        found = found.union(ClassSet(classify_path(whole, index, at).0 & roots.0));
    }
    if !found.has_any(LOCATIONS) {
        found = found.with(Class::Outside);
    }
    if !found.has_any(set(&[Class::Workspace, Class::Temporary])) {
        found = found.without(Class::Script);
    }
    // generated things lie where work is done; `/usr/lib/node_modules` is the system's
    if found.has_any(set(&[Class::System, Class::Config, Class::Boot])) {
        found = found.without(Class::Generated);
    }
    found
}

/// A path whose beginning is unknown: it may be a home, the workspace, or the root.
fn classify_tail(path: &str, index: &Index) -> ClassSet {
    let Some((_, tail)) = path.split_once('/') else { return ClassSet::of(Class::Unknown) };
    let loose = Subject {
        root: None,
        homes: [Some(tail), None],
        workspace: Some(tail),
        anywhere: tail,
        marks: Marks::of(tail),
        globs: Globs::Literal,
    };
    let rooted = Subject { root: Some(tail), homes: [None; 2], workspace: None, ..loose };
    // `$prefix/usr/bin` is a build's business, `$anything/etc/shadow` is not
    let grave = set(&[Class::Secret, Class::Account]);
    let severe = ClassSet(index.classes(&rooted).0 & grave.0);
    let found = index.classes(&loose).union(severe).with(Class::Unknown);
    ClassSet(found.0 & !EXCUSES.0).without(Class::PathFolder)
}

/// A glob for all that a folder holds means the folder, not each thing that could be in it.
fn globs(path: &str) -> Globs {
    let name = path.rsplit('/').next().unwrap_or("");
    if pattern::is_live(path) && !is_everything(name) { Globs::Live } else { Globs::Literal }
}

/// A glob that stands for all that a folder holds.
fn is_everything(name: &str) -> bool {
    matches!(name, "*" | "**" | ".*" | "{*,.*}" | "{.*,*}" | ".[!.]*" | ".??*" | ".[^.]*" | "?*" | "*.*")
}

/// The part of a path below a home by custom: `/root`, `/home/NAME`, `/Users/NAME`.
fn below_customary_home(path: &str) -> Option<&str> {
    if is_within(path, "/root") {
        return below(path, "/root");
    }
    let user = below(path, "/home").or_else(|| below(path, "/Users")).filter(|rest| !rest.is_empty())?;
    Some(user.split_once('/').map_or("", |(_, rest)| rest))
}

/// Whether `..` left the directory into a place outside the workspace.
pub fn escapes(resolved: &Resolved, classes: ClassSet) -> bool {
    resolved.climbs == Climbs::Yes && !classes.has(Class::Workspace)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::super::setting::Claims;
    use super::super::tree::{Tree, places};
    use super::*;

    fn shipped() -> Index {
        Index::new([places(include_str!("../../policy/places.toml"))])
    }

    fn names(set: ClassSet) -> String {
        let mut out = String::new();
        for class in set.iter() {
            let _ = write!(out, "{}{}", if out.is_empty() { "" } else { " " }, class.name());
        }
        out
    }

    fn check(tree: &Tree, cases: &[(&str, &str)]) {
        let index = shipped();
        let lookups = Lookups::new(tree, 10_000);
        let claims = Claims { cwd: "/home/user/project", home: "/home/user", workspace: None, temporary: "" };
        let setting = Setting::new(&claims);
        let mut wrong = String::new();
        for (written, expected) in cases {
            let found = super::super::resolve::resolve(written, claims.cwd, &lookups).unwrap();
            let classes = names(classify(&found, Follow::Goal, &index, (&setting, &lookups)));
            if classes != *expected {
                let _ = writeln!(wrong, "{written}: {classes}, expected {expected}");
            }
        }
        assert!(wrong.is_empty(), "{wrong}");
    }

    #[test]
    fn a_home_that_is_nobody_s_is_a_workspace_but_for_what_a_login_reads() {
        let (tree, index) = (Tree::default().folder("/app"), shipped());
        let lookups = Lookups::new(&tree, 10_000);
        let claims = Claims { cwd: "/app", home: "/app", workspace: None, temporary: "" };
        let setting = Setting::new(&claims);
        for (path, in_workspace, home) in [
            ("/app/src/x", true, false),
            ("/app/.github/x", true, false),
            ("/app/.bashrc", false, true),
            ("/app/.config/agent-sh/policy.toml", false, true),
        ] {
            let classes = classify_path(path, &index, (&setting, &lookups));
            assert_eq!(
                (classes.has(Class::Workspace), classes.has(Class::Home)),
                (in_workspace, home),
                "{path}: {}",
                names(classes)
            );
        }
    }

    #[test]
    fn places_have_their_classes() {
        check(
            &Tree::default(),
            &[
                ("/", "root home-root workspace-parent"),
                ("/*", "root home-root workspace-parent"),
                ("/home", "root home-root workspace-parent"),
                ("/home/user", "home home-root workspace-parent"),
                ("/home/user/*", "home home-root workspace-parent"),
                ("/home/other/x", "other-home"),
                ("/root/.bashrc", "persistence other-home"),
                ("/usr", "root system"),
                ("/usr/bin/git", "system path-folder"),
                ("/etc", "root config"),
                ("/etc/passwd", "config account"),
                ("/etc/shadow", "config secret account"),
                ("/etc/sh*dow", "config secret account"),
                ("/etc/*release", "config"),
                ("/boot/vmlinuz", "boot"),
                ("/dev/sda1", "device"),
                ("/dev/null", "null"),
                ("/dev/urandom", "endless"),
                ("/proc/cpuinfo", "system"),
                ("/proc/self/environ", "system secret"),
                ("/proc/sysrq-trigger", "system kernel"),
                ("/proc/self/root/etc/shadow", "system config secret account"),
                ("/var/run/docker.sock", "system control-socket"),
                ("/var/log/syslog", "log"),
                ("/tmp", "temporary"),
                ("/tmp/x/build", "temporary"),
                ("/mnt/data", "mounted"),
                ("/app/main.py", "outside"),
                ("..", "home home-root workspace-parent"),
                (".", "workspace workspace-root"),
                ("*", "workspace workspace-root"),
                ("src/main.rs", "workspace"),
                ("run.sh", "workspace script"),
                ("node_modules/x/.env", "workspace generated"),
                ("build", "workspace generated"),
                ("a/build/b.log", "workspace generated"),
                ("/home/user/build", "home"),
                ("/home/user/x/node_modules", "home generated"),
                (".env", "secret workspace"),
                (".env.local", "secret workspace"),
                (".env.example", "workspace"),
                ("key.pem", "secret workspace"),
                ("certs/ca.pem", "workspace"),
                (".git/hooks/pre-commit", "persistence workspace vcs"),
                (".git/hooks/pre-commit.sample", "workspace vcs"),
                (".git/config", "persistence workspace vcs"),
                (".claude/settings.json", "workspace agent-config"),
                (".agent-sh.toml", "workspace own-state"),
                ("/etc/agent-sh/policy.d/50-mode.toml", "config own-state"),
                ("/home/user/.ssh/id_ed25519", "secret home"),
                ("/home/user/.ssh/*", "secret home"),
                ("/home/user/*/*/", "home home-root workspace-parent"),
                ("/home/user/.ssh/auth*", "secret persistence home"),
                ("/home/user/.s?h/id_rsa", "secret home"),
                ("/home/user/.ssh/id_rsa.pub", "home"),
                ("/home/user/.ssh/authorized_keys", "persistence home"),
                ("/home/other/.aws/credentials", "secret other-home"),
                ("/home/user/.bash_history", "home history"),
                ("/home/user/.cache/pip", "home cache"),
                ("/home/user/.claude/.credentials.json", "secret home agent-config"),
                ("/home/user/Documents/a.odt", "home personal"),
                ("/home/user/.local/bin/x", "home path-folder"),
                ("…/.aws/credentials", "secret unknown"),
                ("…/etc/shadow", "secret account unknown"),
                ("…/bin/x", "unknown"),
                ("…", "unknown"),
            ],
        );
    }

    #[test]
    fn links_excuse_nothing() {
        let tree = Tree::default()
            .file("/etc/passwd")
            .link("/home/user/project/out", "/etc/passwd")
            .link("/tmp/y", "/usr/lib")
            .folder("/usr/lib/x")
            .link("/home/user/project/build", "../data")
            .folder("/home/user/data")
            .link("/home/user/project/venv", "/tmp/venv")
            .folder("/tmp/venv");
        check(
            &tree,
            &[
                ("out", "config account"),
                ("/tmp/y/x", "system"),
                ("build/x", "home"),
                ("venv/bin/python", "temporary"),
            ],
        );
    }
}
