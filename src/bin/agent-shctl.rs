//! The door for people and hooks.

#[cfg(all(target_env = "musl", not(test)))]
#[path = "memory/single.rs"]
mod memory;

fn main() -> std::process::ExitCode {
    agent_sh::cli::run(std::env::args_os())
}
