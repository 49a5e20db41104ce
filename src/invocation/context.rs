//! What a judgement knows of the call besides the text: the caller's directory, environment and user.
//!
//! In: values read once at the edge. Out: [`Context`]. Never: reads the outer world itself.

use std::collections::HashMap;
use std::rc::Rc;

/// Which grammar the real shell reads the text with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    #[default]
    Bash,
    /// dash, busybox sh, bash called as sh
    Posix,
    /// read with bash's grammar; differences are unknowns
    Zsh,
}

/// Everything that `verify` is told about the call. All text is judged text (see [`crate::text`]).
#[derive(Clone, Debug, Default)]
pub struct Context {
    pub dialect: Dialect,
    /// Absolute; empty where it could not be determined (deleted folder).
    pub cwd: String,
    /// The caller's home (from `HOME`, else the user table).
    pub home: String,
    /// Name of the calling user; empty where unknown.
    pub user: String,
    /// Effective user id.
    pub uid: u32,
    /// The workspace, where the caller names one; else it is found from `cwd`.
    pub workspace: Option<String>,
    /// The whole environment, last entry of a name wins.
    pub environment: Rc<HashMap<String, String>>,
    /// `$0`, then `$1` …
    pub arguments: Vec<String>,
    /// The shell's own options as letters (`e`, `u`, `l`, `i` …), for what depends on them.
    pub options: String,
    /// Files that the shell runs first because the caller says so (`BASH_ENV`, `--rcfile`), as named.
    pub startup: Vec<String>,
    /// The script file as it was named, where bash runs the text from it and says so (`BASH_SOURCE`).
    pub source: Option<String>,
    /// What feeds the text's standard input, if known.
    pub input: Input,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Input {
    #[default]
    Unknown,
    Terminal,
    Null,
    Pipe,
    File,
}
