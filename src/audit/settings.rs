//! What the policy says about the record.
//!
//! In: nothing. Out: [`AuditPolicy`], plain values that the policy floor fills.
//! Never: reads files or the environment.

use std::path::PathBuf;

/// Whether a command may run without a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Demand {
    /// A record that can't be written is said in the receipt; the command runs.
    #[default]
    BestEffort,
    /// No record, no run.
    Required,
}

/// Where a record goes that no configured channel took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Fallback {
    /// Nowhere: the receipt alone says so.
    #[default]
    Nothing,
    /// JSON lines, appended to this file; its folder is made (0700) if it is missing.
    File(PathBuf),
    /// One short line on standard error, if that can be written without waiting.
    Stderr,
}

/// The policy's `audit` section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditPolicy {
    pub demand: Demand,
    /// Datagram sockets that speak RFC 5424, the first that takes the event wins; empty: no syslog.
    pub syslog: Vec<PathBuf>,
    /// journald's own socket, asked when no syslog socket takes the event.
    pub journal: Option<PathBuf>,
    /// A JSON lines file, written besides syslog.
    pub file: Option<PathBuf>,
    pub fallback: Fallback,
    /// Syslog facility, by its lower-case name; unknown names count as `authpriv`.
    pub facility: String,
    /// How long all channels together may keep the command waiting, in milliseconds.
    pub wait_ms: u16,
    /// Longest recorded text in bytes, after escaping.
    pub text_limit: usize,
}

impl Default for AuditPolicy {
    fn default() -> Self {
        Self {
            demand: Demand::BestEffort,
            syslog: vec![PathBuf::from("/dev/log")],
            journal: Some(PathBuf::from("/run/systemd/journal/socket")),
            file: None,
            fallback: Fallback::Nothing,
            facility: "authpriv".to_owned(),
            wait_ms: 50,
            text_limit: 2048,
        }
    }
}
