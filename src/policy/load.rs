//! Finds the layers on the machine, checks each open file, and merges them.
//!
//! In: where to look. Out: the [`Policy`] in force, or the one error for which nothing may run.
//! Never: asks an environment variable; checks a path and opens it afterwards.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

use crate::policy::day::Day;
use crate::policy::layers::Merger;
use crate::policy::merged::{LayerKind, Policy};
use crate::policy::source::{PolicyError, Source};

/// Largest file of root's, in bytes.
const ROOT_LIMIT: u64 = 4 << 20;
/// Largest file of a user or project, in bytes.
const USER_LIMIT: u64 = 256 << 10;
/// Most files in `policy.d`.
const FILES: usize = 256;
/// Most folders between the directory and the workspace's root.
const LEVELS: usize = 64;

/// Where the layers are.
#[derive(Clone, Debug)]
pub struct Whereabouts {
    /// `/`; tests have a folder of their own.
    pub root: PathBuf,
    /// Who must own root's files: 0; in tests whoever runs them.
    pub root_owner: u32,
    /// The caller's home in the user table. Never from `HOME`, which the agent sets.
    pub home: Option<PathBuf>,
    /// The directory; empty where unknown.
    pub directory: PathBuf,
    pub workspace: Option<PathBuf>,
    pub today: Day,
}

impl Whereabouts {
    /// This machine; `home` is the one of the user table.
    pub fn around(home: Option<&str>, directory: &str, workspace: Option<&str>) -> Self {
        let path =
            |text: &str| PathBuf::from(std::ffi::OsString::from_vec(crate::text::raw(text).into_owned()));
        Self {
            root: PathBuf::from("/"),
            root_owner: 0,
            home: home.map(path),
            directory: path(directory),
            workspace: workspace.map(path),
            today: Day::today(),
        }
    }
}

/// The policy in force. Without layers this costs a few opens that fail.
pub fn load(places: &Whereabouts) -> Result<Policy, PolicyError> {
    let mut merger = None;
    let mut add = |kind: LayerKind, path: &Path, text: &str| {
        let path = crate::text::judged(path.as_os_str().as_encoded_bytes()).into_owned();
        merger.get_or_insert_with(|| Merger::new(places.today)).add(kind, &path, text)
    };
    root_files(places, &mut |path, text| add(LayerKind::Root, path, text))?;
    if let Some(home) = &places.home {
        let path = home.join(".config/agent-sh/policy.toml");
        if let Some(text) = read_user(&path)? {
            add(LayerKind::User, &path, &text)?;
        }
    }
    for folder in project_folders(places)? {
        let path = folder.join(".agent-sh.toml");
        if let Some(text) = read_user(&path)? {
            add(LayerKind::Project, &path, &text)?;
        }
    }
    Ok(merger.map_or_else(Policy::embedded, Merger::finish))
}

/// Folders that may hold a project's file: from the workspace's root down to the directory. All of them
/// count, or a file made further down would hide the project's.
fn project_folders(places: &Whereabouts) -> Result<Vec<&Path>, PolicyError> {
    let directory = places.directory.as_path();
    let mut folders: Vec<&Path> = match places.workspace.as_deref() {
        Some(root) if directory.starts_with(root) => {
            directory.ancestors().take_while(|folder| folder.starts_with(root)).collect()
        }
        Some(root) => vec![directory, root],
        None => vec![directory],
    };
    if folders.len() > LEVELS {
        let what = format!("more than {LEVELS} folders below the workspace's root; work further up");
        return Err(PolicyError::file(show(directory), what));
    }
    folders.retain(|folder| folder.is_absolute());
    folders.reverse();
    Ok(folders)
}

/// Hands over root's files, sorted by name.
fn root_files(
    places: &Whereabouts,
    add: &mut dyn FnMut(&Path, &str) -> Result<(), PolicyError>,
) -> Result<(), PolicyError> {
    let top = places.root.join("etc/agent-sh");
    if !check_folder(&top, places.root_owner)? {
        return Ok(());
    }
    let folder = top.join("policy.d");
    if !check_folder(&folder, places.root_owner)? {
        return Ok(());
    }
    let fails = |error: std::io::Error| PolicyError::file(show(&folder), format!("can't be listed: {error}"));
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(fails)? {
        let name = entry.map_err(fails)?.file_name();
        let bytes = name.as_encoded_bytes();
        if bytes.ends_with(b".toml") && !bytes.starts_with(b".") {
            names.push(name);
        }
        if names.len() > FILES {
            return Err(PolicyError::file(show(&folder), format!("more than {FILES} files")));
        }
    }
    names.sort();
    for name in names {
        let path = folder.join(name);
        let file = open(&path, OFlag::O_NOFOLLOW)?
            .ok_or_else(|| PolicyError::file(show(&path), "went away while it was read"))?;
        check_owner(&path, &file, places.root_owner)?;
        add(&path, &read(&path, file, ROOT_LIMIT)?)?;
    }
    Ok(())
}

/// Whether a folder of root's is there; an error if others could change it.
fn check_folder(path: &Path, owner: u32) -> Result<bool, PolicyError> {
    let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW;
    match OpenOptions::new().read(true).custom_flags(flags.bits()).open(path) {
        Ok(folder) => check_owner(path, &folder, owner).map(|()| true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(PolicyError::file(show(path), format!("is no folder that can be used: {error}"))),
    }
}

fn check_owner(path: &Path, open: &File, owner: u32) -> Result<(), PolicyError> {
    let meta = open.metadata().map_err(|error| PolicyError::file(show(path), error.to_string()))?;
    if meta.uid() != owner && !(owner == 0 && is_unmapped_root(meta.uid())) {
        let what = format!("belongs to user {}, not to root; run chown root on it", meta.uid());
        return Err(PolicyError::file(show(path), what));
    }
    if meta.mode() & 0o022 != 0 {
        let what =
            format!("can be changed by others (mode {:04o}); run chmod go-w on it", meta.mode() & 0o7777);
        return Err(PolicyError::file(show(path), what));
    }
    Ok(())
}

/// In a user namespace that maps no root, such as `agent-shctl run` makes for callers who are not root, root's
/// files show the overflow user (`user_namespaces(7)`). So do other users' files, but who could put one of those
/// into /etc is root, or has mounted a file system there and runs outside agent-sh already.
fn is_unmapped_root(uid: u32) -> bool {
    let number = |text: &str| text.parse::<u32>().ok();
    let overflow = std::fs::read_to_string("/proc/sys/kernel/overflowuid").ok();
    let map = std::fs::read_to_string("/proc/self/uid_map").ok();
    let starts_at_zero =
        |line: &str| line.split_whitespace().next().and_then(number).is_none_or(|first| first == 0);
    overflow.and_then(|text| number(text.trim())) == Some(uid)
        && map.is_some_and(|map| !map.is_empty() && !map.lines().any(starts_at_zero))
}

/// A file of a user or project, if it is there.
fn read_user(path: &Path) -> Result<Option<String>, PolicyError> {
    open(path, OFlag::empty())?.map(|file| read(path, file, USER_LIMIT)).transpose()
}

/// Opens a file, if it is there. A pipe must not stop us.
fn open(path: &Path, more: OFlag) -> Result<Option<File>, PolicyError> {
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC | more;
    match OpenOptions::new().read(true).custom_flags(flags.bits()).open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(PolicyError::file(show(path), format!("can't be opened: {error}"))),
    }
}

/// The text of an open file, which must be a regular one of at most `limit` bytes.
fn read(path: &Path, file: File, limit: u64) -> Result<String, PolicyError> {
    let fails = |error: std::io::Error| PolicyError::file(show(path), format!("can't be read: {error}"));
    let meta = file.metadata().map_err(fails)?;
    if !meta.is_file() {
        return Err(PolicyError::file(show(path), "is no regular file"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len().min(limit)).unwrap_or(0) + 1);
    file.take(limit + 1).read_to_end(&mut bytes).map_err(fails)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        return Err(PolicyError::file(show(path), format!("is larger than {limit} bytes")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let name = show(path);
        let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
        Source::new(&name, &name, &text).problem(at..at + 1, "the file is not UTF-8")
    })
}

fn show(path: &Path) -> String {
    crate::text::judged(path.as_os_str().as_encoded_bytes()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, create_dir_all, set_permissions, write};
    use std::os::unix::fs::PermissionsExt as _;

    /// A machine in a temporary folder; its files belong to whoever runs the test.
    struct Scene {
        folder: tempfile::TempDir,
        places: Whereabouts,
    }

    fn scene() -> Scene {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        create_dir_all(root.join("home/work/sub")).unwrap();
        let places = Whereabouts {
            root_owner: nix::unistd::geteuid().as_raw(),
            home: Some(root.join("home")),
            directory: root.join("home/work/sub"),
            workspace: Some(root.join("home/work")),
            today: Day(2026, 6, 15),
            root,
        };
        Scene { folder, places }
    }

    impl Scene {
        fn put(&self, path: &str, text: impl AsRef<[u8]>) {
            let path = self.folder.path().join(path);
            let parent = path.parent().unwrap();
            create_dir_all(parent).unwrap();
            write(&path, text).unwrap();
            for made in [&path, parent, parent.parent().unwrap()] {
                let mode = if made.is_dir() { 0o755 } else { 0o644 };
                set_permissions(made, Permissions::from_mode(mode)).unwrap();
            }
        }

        fn mode(&self, path: &str, mode: u32) {
            set_permissions(self.folder.path().join(path), Permissions::from_mode(mode)).unwrap();
        }

        fn problem(&self) -> String {
            let root = self.places.root.to_str().unwrap();
            load(&self.places).err().unwrap().to_string().replace(root, "").lines().next().unwrap().to_owned()
        }
    }

    const STRICT: &str = "schema = 1\nmode = \"strict\"\n";
    const FILE: &str = "etc/agent-sh/policy.d/50-mode.toml";

    #[test]
    fn without_layers_the_embedded_policy_holds() {
        let policy = load(&scene().places).unwrap();
        assert_eq!(policy.version(), Policy::embedded().version());
        assert!(std::ptr::eq(policy.temper(), Policy::embedded().temper()));
        assert!(std::ptr::eq(policy.rules(), Policy::embedded().rules()));
    }

    #[test]
    fn all_layers_are_found_in_order() {
        let scene = scene();
        scene.put(FILE, "schema = 1\nmode = \"observe\"\n");
        scene.put("etc/agent-sh/policy.d/60-x.toml", "schema = 1\nmode = \"auto\"\n");
        scene.put("etc/agent-sh/policy.d/readme.txt", "no policy");
        scene.put("home/.config/agent-sh/policy.toml", "schema = 1\n");
        scene.put("home/work/.agent-sh.toml", STRICT);
        scene.put("home/work/sub/.agent-sh.toml", "schema = 1\n");
        scene.put("home/.agent-sh.toml", "not looked at");
        let policy = load(&scene.places).unwrap();
        let root = scene.places.root.to_str().unwrap();
        let layers: Vec<_> = policy
            .layers()
            .iter()
            .map(|layer| (layer.kind, layer.path.strip_prefix(root).unwrap_or("")))
            .collect();
        assert_eq!(
            layers,
            [
                (LayerKind::Embedded, ""),
                (LayerKind::Root, "/etc/agent-sh/policy.d/50-mode.toml"),
                (LayerKind::Root, "/etc/agent-sh/policy.d/60-x.toml"),
                (LayerKind::User, "/home/.config/agent-sh/policy.toml"),
                (LayerKind::Project, "/home/work/.agent-sh.toml"),
                (LayerKind::Project, "/home/work/sub/.agent-sh.toml"),
            ]
        );
        assert_eq!(policy.temper().mode.name(), "strict");
        assert_eq!(policy.temper().enforcement.name(), "observe");
        let shown = crate::policy::show::show(&policy).replace(root, "");
        for line in [
            "layer root /etc/agent-sh/policy.d/50-mode.toml\n",
            "mode = \"strict\" # /home/work/.agent-sh.toml:2\n",
            "enforcement = \"observe\" # /etc/agent-sh/policy.d/50-mode.toml:2\n",
            "weights.structure = 0.100 # embedded base.toml:",
        ] {
            assert!(shown.contains(line), "{shown}");
        }
    }

    #[test]
    fn files_that_others_could_change_are_refused() {
        let mut scene = scene();
        scene.put(FILE, STRICT);
        assert!(load(&scene.places).is_ok());
        for (path, mode, normal) in [
            (FILE, 0o664, 0o644),
            (FILE, 0o646, 0o644),
            ("etc/agent-sh/policy.d", 0o777, 0o755),
            ("etc/agent-sh", 0o775, 0o755),
        ] {
            scene.mode(path, mode);
            assert_eq!(
                scene.problem(),
                format!("/{path}: can be changed by others (mode {mode:04o}); run chmod go-w on it")
            );
            scene.mode(path, normal);
        }
        scene.places.root_owner += 1;
        assert!(scene.problem().starts_with("/etc/agent-sh: belongs to user "));
    }

    #[test]
    fn links_and_other_things_are_no_policy() {
        let scene = scene();
        scene.put("etc/agent-sh/other", STRICT);
        create_dir_all(scene.places.root.join("etc/agent-sh/policy.d")).unwrap();
        let path = scene.places.root.join(FILE);
        std::os::unix::fs::symlink("../other", &path).unwrap();
        assert!(scene.problem().starts_with("/etc/agent-sh/policy.d/50-mode.toml: can't be opened: "));
        std::fs::remove_file(&path).unwrap();
        create_dir_all(&path).unwrap();
        assert_eq!(scene.problem(), "/etc/agent-sh/policy.d/50-mode.toml: is no regular file");
        std::fs::remove_dir(&path).unwrap();
        let pipe = scene.places.root.join("home/work/.agent-sh.toml");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(scene.problem(), "/home/work/.agent-sh.toml: is no regular file");
    }

    #[test]
    fn a_broken_file_is_an_error_with_its_place() {
        let scene = scene();
        let deep = format!("schema = 1\nx = {}{}", "[".repeat(5000), "]".repeat(5000));
        let keys = format!("{{ {} = ", ["a"; 79].join(".")).repeat(78);
        let dotted = format!("schema = 1\nb = {keys}1{}", "}".repeat(78));
        let huge = vec![b'#'; 300 << 10];
        for (text, error) in [
            (&b"schema = 1\nmode = \"stri"[..], "/home/work/.agent-sh.toml:2:13: "),
            (b"schema = 1\nx = \"\xff\"", "/home/work/.agent-sh.toml:2:6: the file is not UTF-8"),
            (b"schema = 1\n\0", "/home/work/.agent-sh.toml:2:2: "),
            (b"schema = 2\n", "/home/work/.agent-sh.toml:1:10: the file must say `schema = 1`"),
            (b"", "/home/work/.agent-sh.toml:1:1: the file must say `schema = 1`"),
            (deep.as_bytes(), "/home/work/.agent-sh.toml:2:"),
            (dotted.as_bytes(), "/home/work/.agent-sh.toml:2:"),
            (&huge, "/home/work/.agent-sh.toml: is larger than 262144 bytes"),
        ] {
            scene.put("home/work/.agent-sh.toml", text);
            let shown = scene.problem();
            assert!(shown.starts_with(error), "{shown}");
        }
    }
}
