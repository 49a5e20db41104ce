//! What a judgement measures places against: home, workspace, temporary folder.
//!
//! In: the context, the world. Out: [`Setting`], each folder as named and as links lead.
//! Never: looks at a folder before somebody asks for it.

use std::cell::OnceCell;
use std::rc::Rc;

use super::lookup::Lookups;
use super::resolve::{below, is_within, normal, resolve};
use super::workspace;

/// The folders around a call.
#[derive(Clone, Debug)]
pub struct Setting {
    home_named: Option<String>,
    home: OnceCell<Option<Area>>,
    temporary_named: Option<String>,
    temporary: OnceCell<Option<Area>>,
    cwd: String,
    workspace_named: Option<String>,
    workspace: OnceCell<Option<Area>>,
}

/// What the caller says about itself; absolute paths, empty where unknown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Claims<'a> {
    pub cwd: &'a str,
    pub home: &'a str,
    pub workspace: Option<&'a str>,
    /// The value of `TMPDIR`; empty where unset.
    pub temporary: &'a str,
}

/// A folder under the name it was given, and where that leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Area {
    pub named: Rc<str>,
    pub real: Rc<str>,
}

impl Area {
    fn new(path: &str, lookups: &Lookups) -> Option<Self> {
        let found = resolve(path, "", lookups)?;
        Some(Self { named: found.lexical, real: found.real })
    }

    /// The part of a path below this folder; empty for the folder itself.
    pub fn below<'p>(&self, path: &'p str) -> Option<&'p str> {
        below(path, &self.named).or_else(|| below(path, &self.real))
    }

    /// Whether this folder lies below `path`.
    pub fn is_below(&self, path: &str) -> bool {
        let strictly = |folder: &str| folder != path && is_within(folder, path);
        strictly(&self.named) || strictly(&self.real)
    }
}

impl Setting {
    pub fn new(claims: &Claims) -> Self {
        let home = Some(claims.home).filter(|home| home.starts_with('/') && normal(home) != "/");
        let temporary = Some(claims.temporary).filter(|path| is_own_temporary(path, claims));
        Self {
            home_named: home.map(str::to_owned),
            home: OnceCell::new(),
            temporary_named: temporary.map(str::to_owned),
            temporary: OnceCell::new(),
            cwd: claims.cwd.to_owned(),
            workspace_named: claims.workspace.map(str::to_owned),
            workspace: OnceCell::new(),
        }
    }

    /// The caller's home; none where it is the root.
    pub fn home(&self, lookups: &Lookups) -> Option<&Area> {
        let find = || self.home_named.as_deref().and_then(|path| Area::new(path, lookups));
        self.home.get_or_init(find).as_ref()
    }

    /// `TMPDIR`, where it is set to a folder of that kind.
    pub fn temporary(&self, lookups: &Lookups) -> Option<&Area> {
        let find = || self.temporary_named.as_deref().and_then(|path| Area::new(path, lookups));
        self.temporary.get_or_init(find).as_ref()
    }

    /// The workspace; see [`workspace::find`].
    pub fn workspace(&self, lookups: &Lookups) -> Option<&Area> {
        let find = || {
            let home = self.home(lookups).map_or("", |home| &home.named);
            let found = workspace::find(self.workspace_named.as_deref(), &self.cwd, home, lookups)?;
            Area::new(&found, lookups)
        };
        self.workspace.get_or_init(find).as_ref()
    }
}

/// The agent owns its environment: `TMPDIR` must not excuse a system folder, a home or what holds one.
fn is_own_temporary(path: &str, claims: &Claims) -> bool {
    let path = normal(path);
    let customary = ["/tmp", "/var/tmp", "/var/folders", "/dev/shm", "/run/user", "/private/tmp"];
    let named =
        |folder: &str| folder.to_ascii_lowercase().rsplit('/').next().is_some_and(|n| n.contains("tmp"));
    let in_home = below(&path, &normal(claims.home)).is_some_and(|rest| !rest.is_empty() && named(rest));
    customary.iter().any(|top| is_within(&path, top)) || in_home
}
