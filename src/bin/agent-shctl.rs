//! The door for people and hooks.

/// See `main.rs`.
#[cfg(target_env = "musl")]
#[global_allocator]
static MEMORY: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> std::process::ExitCode {
    agent_sh::cli::run(std::env::args_os())
}
