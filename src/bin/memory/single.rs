//! The memory of the static programs: dlmalloc for one thread. musl's own allocator asks the kernel for
//! each small class of sizes (100 calls a start), and a lock costs a seventh of a judgement.
//!
//! In: layouts. Out: memory. Never: serves a second thread that was not announced (the process ends); takes a lock
//! before one was: the bench alone starts threads.

#![allow(unsafe_code)] // an allocator's contract is unsafe by nature

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

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
    taken: AtomicBool::new(false),
};

struct Memory {
    pool: UnsafeCell<Dlmalloc>,
    /// Address of the owning thread's `HERE`; 0 before the first request.
    owner: AtomicUsize,
    /// Held by whoever uses the pool, once there may be several threads.
    taken: AtomicBool,
}

std::thread_local! {
    /// Its address tells threads apart without a call.
    static HERE: u8 = const { 0 };
}

// SAFETY: `pool` is touched by the owning thread alone or, once several are announced, by whoever holds `taken`, see
// `Memory::with`. The announcement is made by the only thread there is, so that nobody is within by the other way.
unsafe impl Sync for Memory {}

impl Memory {
    /// Gives the pool to the owner, or to one thread at a time; any other thread ends the process.
    fn with<T>(&self, use_it: impl FnOnce(*mut Dlmalloc) -> T) -> T {
        if agent_sh::threads::are_announced() {
            while self.taken.swap(true, Ordering::Acquire) {
                std::thread::yield_now();
            }
            let out = use_it(self.pool.get());
            self.taken.store(false, Ordering::Release);
            return out;
        }
        let here = HERE.with(|here| std::ptr::from_ref(here).addr());
        if self.owner.load(Ordering::Relaxed) != here
            && self.owner.compare_exchange(0, here, Ordering::Relaxed, Ordering::Relaxed).is_err()
        {
            std::process::abort();
        }
        use_it(self.pool.get())
    }
}

// SAFETY: dlmalloc keeps the contract of `GlobalAlloc`; `with` gives it to one thread at a time, and no method
// of it calls another of ours, so that there is never a second reference.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller's
        self.with(|pool| unsafe { (*pool).malloc(layout.size(), layout.align()) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller's
        self.with(|pool| unsafe { (*pool).free(memory, layout.size(), layout.align()) });
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller's
        self.with(|pool| unsafe { (*pool).calloc(layout.size(), layout.align()) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller's
        self.with(|pool| unsafe { (*pool).realloc(memory, layout.size(), layout.align(), size) })
    }
}
