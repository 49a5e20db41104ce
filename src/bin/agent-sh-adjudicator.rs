//! The door to a model: started by agent-sh for an undecided command, with one request on standard input.

// no allocator of its own: this program has threads
fn main() -> std::process::ExitCode {
    agent_sh::cli::adjudicator::run()
}
