//! The memory of the static programs: dlmalloc for one thread. musl's own allocator asks the kernel for
//! each small class of sizes (100 calls a start), and a lock costs a seventh of a judgement.
//!
//! In: layouts. Out: memory.
//! Never: serves a second thread: neither program starts one, and if one ever does, the process ends.

#![allow(unsafe_code)] // an allocator's contract is unsafe by nature

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use dlmalloc::Dlmalloc;

#[global_allocator]
static MEMORY: Memory = Memory {
    pool: UnsafeCell::new(
        const {
            let mut pool = Dlmalloc::new();
            // bytes asked of the kernel at once
            assert!(pool.set_granularity(256 << 10));
            pool
        },
    ),
    owner: AtomicUsize::new(0),
};

struct Memory {
    pool: UnsafeCell<Dlmalloc>,
    /// Address of the owning thread's `HERE`; 0 before the first request.
    owner: AtomicUsize,
}

std::thread_local! {
    /// Its address tells threads apart without a call.
    static HERE: u8 = const { 0 };
}

// SAFETY: `pool` is touched by the owning thread alone, see `Memory::pool`.
unsafe impl Sync for Memory {}

impl Memory {
    /// The pool, for the owner; any other thread ends the process.
    fn pool(&self) -> *mut Dlmalloc {
        let here = HERE.with(|here| std::ptr::from_ref(here).addr());
        if self.owner.load(Ordering::Relaxed) != here
            && self.owner.compare_exchange(0, here, Ordering::Relaxed, Ordering::Relaxed).is_err()
        {
            std::process::abort();
        }
        self.pool.get()
    }
}

// SAFETY: dlmalloc keeps the contract of `GlobalAlloc`; `pool` gives it to one thread only, and no method
// of it calls another of ours, so that there is never a second reference.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller's
        unsafe { (*self.pool()).malloc(layout.size(), layout.align()) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller's
        unsafe { (*self.pool()).free(memory, layout.size(), layout.align()) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller's
        unsafe { (*self.pool()).calloc(layout.size(), layout.align()) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller's
        unsafe { (*self.pool()).realloc(memory, layout.size(), layout.align(), size) }
    }
}
