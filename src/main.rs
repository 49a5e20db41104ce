//! The shell's door. Rust's own start-up is left out: it would ignore SIGPIPE and open closed descriptors,
//! and the real shell would inherit both.
//!
//! In: what the kernel hands a process. Out: an exit status. Never: does more than hand it on.

#![no_main]
#![allow(unsafe_code)] // this file alone: an entry point and its raw pointers

use std::ffi::{CStr, CString, c_char, c_int};

#[cfg(all(target_env = "musl", not(test)))]
#[path = "bin/memory/single.rs"]
mod memory;

/// An ELF note that marks every agent-sh, so that none takes another for the real shell.
#[repr(C, align(4))]
struct Note([u32; 3], [u8; 12], [u8; 24]);

// SAFETY: a note is data that nothing interprets at run time; the section's name makes the linker put it
// near the file's start.
#[unsafe(link_section = ".note.agent-sh")]
#[used]
static NOTE: Note = Note([9, 24, 1], *b"agent-sh\0\0\0\0", *agent_sh::invocation::shell::MARKER);

/// Copies a null-terminated vector of C strings.
///
/// SAFETY: `vector` is null or points to C strings, the last followed by a null pointer.
unsafe fn copied(vector: *const *const c_char) -> Vec<CString> {
    let word = |at: usize| {
        // SAFETY: only called for places up to the null pointer
        let word = unsafe { *vector.add(at) };
        // SAFETY: not null, so a C string
        (!word.is_null()).then(|| unsafe { CStr::from_ptr(word) }.to_owned())
    };
    if vector.is_null() { Vec::new() } else { (0..).map_while(word).collect() }
}

/// The entry point.
///
/// # Safety
///
/// Only the C runtime calls it, with the vectors that the kernel gave (execve(2)).
// SAFETY: the C runtime calls the one symbol `main` with this signature (glibc and musl pass `environ` as
// the third argument).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn main(
    _count: c_int,
    argv: *const *const c_char,
    environ: *const *const c_char,
) -> c_int {
    // SAFETY: the kernel's vectors (execve(2)), unchanged since
    let (argv, environ) = unsafe { (copied(argv), copied(environ)) };
    c_int::from(agent_sh::pipeline::run(argv, environ))
}
