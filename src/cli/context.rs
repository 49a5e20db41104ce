//! The context of a judgement that somebody asks for by hand.
//!
//! In: options or a JSON line. Out: [`Context`]. Never: lets a missing folder stop a judgement.

use std::collections::HashMap;

use crate::invocation::context::{Context, Dialect, Input};
use crate::pipeline::surroundings::Surroundings;
use crate::policy::Policy;
use crate::text::judged;

/// What the asker says; the rest is this process's own.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    pub cwd: Option<String>,
    pub home: Option<String>,
    pub workspace: Option<String>,
    /// The whole environment, where given.
    pub environment: Option<HashMap<String, String>>,
    pub dialect: Dialect,
}

/// The environment of this process as judged text.
pub fn own_environment() -> HashMap<String, String> {
    use std::os::unix::ffi::OsStrExt as _;
    let text = |s: &std::ffi::OsStr| judged(s.as_bytes()).into_owned();
    std::env::vars_os().map(|(name, value)| (text(&name), text(&value))).collect()
}

/// Fills in what was not asked for.
pub fn context<S: std::hash::BuildHasher>(asked: Asked, own: &HashMap<String, String, S>) -> Context {
    let given = asked.environment.is_some();
    let mut environment =
        asked.environment.unwrap_or_else(|| own.iter().map(|(n, v)| (n.clone(), v.clone())).collect());
    if !given {
        for (name, value) in [("HOME", &asked.home), ("PWD", &asked.cwd)] {
            if let Some(value) = value {
                environment.insert(name.to_owned(), value.clone());
            }
        }
        if asked.cwd.is_some() {
            environment.remove("OLDPWD");
        }
    }
    let home = asked.home.or_else(|| environment.get("HOME").cloned()).unwrap_or_default();
    let cwd = asked.cwd.unwrap_or_else(|| {
        std::env::current_dir()
            .map(|p| {
                use std::os::unix::ffi::OsStrExt as _;
                judged(p.as_os_str().as_bytes()).into_owned()
            })
            .unwrap_or_default()
    });
    Context {
        dialect: asked.dialect,
        cwd,
        user: environment.get("USER").cloned().unwrap_or_default(),
        home,
        uid: nix::unistd::geteuid().as_raw(),
        workspace: asked.workspace,
        environment: environment.into(),
        arguments: vec!["bash".to_owned()],
        options: "hBc".to_owned(),
        startup: Vec::new(),
        source: None,
        input: Input::Unknown,
    }
}

/// The policy in force here: embedded, root's, the caller's own and the project's.
///
/// # Errors
/// A layer is broken or not safe on disk; the message names file, line and column.
pub fn policy_in_force() -> anyhow::Result<Policy> {
    Surroundings::here().policy().map_err(|error| anyhow::anyhow!("{error}"))
}
