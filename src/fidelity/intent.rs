//! What a hook records as meant, before the framework hands the text on.
//!
//! In: the model's text and where it was given. Out: a record in the private store.
//! Never: lets a record grant anything: what was meant is judged like any text.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::digest::Digest;
use crate::fidelity::process::{self, Process};
use crate::fidelity::store::{Entry, State, Store, StoreError};

/// What was meant, as a hook saw it.
#[derive(Clone, Copy, Debug)]
pub struct Meant<'a> {
    /// Name of the framework: `claude`, `codex` …
    pub framework: &'a str,
    /// The framework's own name of the call (`tool_use_id`), where it gives one; any text.
    pub call: Option<&'a str>,
    /// The directory in which it is to run; any bytes.
    pub cwd: &'a [u8],
    /// The text, to the byte.
    pub text: &'a [u8],
}

/// Records what is meant in the caller's own store, for the framework that called this hook. Blocks for a
/// few file operations; safe beside any number of others. The digest names the record.
///
/// # Errors
/// There is no private folder to put it in, or it can't be written. A hook lets the call go on then, and
/// says so: agent-sh will find no intent, and refuses that where the policy demands one.
pub fn record(meant: &Meant<'_>) -> Result<Digest, StoreError> {
    let store = Store::make()?;
    let host = process::framework().unwrap_or(Process { pid: 0, start: 0 });
    record_in(&store, host, meant)
}

/// [`record`] into a given store for a given framework's process.
pub fn record_in(store: &Store, host: Process, meant: &Meant<'_>) -> Result<Digest, StoreError> {
    let digest = Digest::of(meant.text);
    let (call, length) = (meant.call.map(call_key), meant.text.len());
    let entry = Entry { host, digest, call, time: now(), length, state: State::Pending };
    store.put(&entry, meant)?;
    Ok(digest)
}

/// A call's name as it stands in a record's name: names may hold any text.
pub fn call_key(call: &str) -> String {
    Digest::of(call.as_bytes()).to_string().get(..16).unwrap_or("").to_owned()
}

/// Milliseconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
