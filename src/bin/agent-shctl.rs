//! The door for people and hooks.

#[cfg(all(target_env = "musl", not(test)))]
#[path = "memory/single.rs"]
mod memory;

fn main() -> std::process::ExitCode {
    // a copy of this program with a note is a probe: it must never read its arguments as ours
    let stand_in = agent_sh::fidelity::witness::stand_in();
    if let Some(status) = stand_in.or_else(agent_sh::fidelity::bench::counter::stand_in) {
        return std::process::ExitCode::from(status);
    }
    agent_sh::cli::run(std::env::args_os())
}
