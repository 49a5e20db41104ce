//! Waiting for a person.
//!
//! In: the store, a key, a time. Out: leave, if it came. Never: waits where nobody is to be seen.

use std::io::Write as _;
use std::time::{Duration, Instant};

use super::approval::{Grant, Now, Store};
use super::code::Key;

/// How often the store is looked at.
const STEP: Duration = Duration::from_millis(100);

/// Waits up to `span` milliseconds for leave, if there is a terminal or somebody watches. Ends early when the
/// question is refused.
pub(super) fn wait(store: &Store, key: &Key, span: u32) -> Option<Grant> {
    if span == 0 || !(has_terminal() || store.is_watched()) {
        return None;
    }
    let until = Instant::now() + Duration::from_millis(u64::from(span));
    let line = format!(
        "agent-sh: waiting {} for a person: agent-shctl approve {}\n",
        crate::policy::temper::undecided::spelled(span),
        key.code()
    );
    // standard error may be closed: the person may see the question all the same
    drop(std::io::stderr().write_all(line.as_bytes()));
    while Instant::now() < until {
        std::thread::sleep(STEP.min(until.saturating_duration_since(Instant::now())));
        if let Some(grant) = store.leave(key, &Now::here()) {
            return Some(grant);
        }
        if !store.is_open(key) {
            // answered since: with leave, which comes first, or refused
            return store.leave(key, &Now::here());
        }
    }
    None
}

/// Whether this process has a controlling terminal.
fn has_terminal() -> bool {
    std::fs::OpenOptions::new().read(true).write(true).open("/dev/tty").is_ok()
}
