//! Where a call is made, and the policy that holds there: the same for the shell, for hooks and for people.
//!
//! In: a directory, the user table. Out: [`Surroundings`], [`Policy`]. Never: reads the user table twice.

use crate::invocation::startup;
use crate::place::lookup::Lookups;
use crate::place::workspace;
use crate::policy::{self, Policy, PolicyError, Whereabouts};
use crate::world::{Machine, World as _};

/// Questions about the file system that finding the workspace may cost.
const LOOKUPS: u32 = 256;

/// Working directory; user and home in the user table, workspace; empty where there is none.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    pub(crate) directory: String,
    pub(crate) user: String,
    pub(crate) home: String,
    pub(crate) workspace: Option<String>,
}

impl Surroundings {
    /// Those of this process.
    pub(crate) fn here() -> Self {
        Self::of(startup::directory())
    }

    /// Those of this user in a directory.
    pub(crate) fn of(directory: String) -> Self {
        let (user, home) = startup::user(Machine.uid());
        let workspace = workspace::find(None, &directory, &home, &Lookups::new(&Machine, LOOKUPS));
        Self { directory, user, home, workspace }
    }

    /// The policy in force: embedded, root's, the caller's own and the project's.
    ///
    /// # Errors
    /// A layer is broken or not safe on disk; the message names file, line and column.
    pub(crate) fn policy(&self) -> Result<Policy, PolicyError> {
        let home = Some(&*self.home).filter(|home| !home.is_empty());
        policy::load(&Whereabouts::around(home, &self.directory, self.workspace.as_deref()))
    }
}
