//! The door for people and hooks.

fn main() -> std::process::ExitCode {
    agent_sh::cli::run(std::env::args_os())
}
