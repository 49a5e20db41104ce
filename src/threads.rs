//! Whether this process will have several threads: until it says so, the static programs' allocator takes no lock.
//!
//! In: one call, before the first thread. Out: the answer. Never: goes back.

use std::sync::atomic::{AtomicBool, Ordering};

static SEVERAL: AtomicBool = AtomicBool::new(false);

/// To be called by the only thread, before it starts another: a thread that starts unannounced ends a static program.
pub fn announce() {
    SEVERAL.store(true, Ordering::SeqCst);
}

/// Whether there may be several.
pub fn are_announced() -> bool {
    SEVERAL.load(Ordering::Relaxed)
}
