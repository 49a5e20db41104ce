//! `agent-sh-adjudicator`: one request on standard input, one line on standard output.
//!
//! In: a [`wire::Request`]. Out: a [`wire::Reply`]. Never: writes a file, starts a program, or keeps a
//! descriptor that it was started with.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use crate::confine::cage::cage;
use crate::resolution::adjudicator::KEY;
use crate::resolution::wire::{self, REQUEST, Request};

/// What finding a host's address, and trusting its certificate, takes.
const READABLE: &[&str] = &[
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/nsswitch.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/ld.so.cache",
    "/etc/ssl",
    "/etc/pki",
    "/run/systemd/resolve",
    "/run/NetworkManager",
    "/run/resolvconf",
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/share/ca-certificates",
    "/proc/sys",
    "/dev/urandom",
];

/// The port of name servers.
const NAMES: u16 = 53;

/// Carries out one request. Exit 0 with a reply, 2 where there was no request.
pub fn run() -> ExitCode {
    close_all();
    let mut text = Vec::new();
    let limit = u64::try_from(REQUEST).unwrap_or(u64::MAX);
    let read = std::io::stdin().take(limit + 1).read_to_end(&mut text);
    let request =
        read.ok().filter(|_| text.len() <= REQUEST).and_then(|_| serde_json::from_slice(&text).ok());
    let Some(request) = request else {
        drop(std::io::stderr().write_all(
            b"agent-sh-adjudicator: no request on standard input; agent-sh starts this program\n",
        ));
        return ExitCode::from(2);
    };
    restrict(&request);
    let key = std::env::var(KEY).ok();
    let reply = wire::consult(&request, key.as_deref());
    let Ok(mut line) = serde_json::to_vec(&reply) else { return ExitCode::FAILURE };
    line.push(b'\n');
    match std::io::stdout().write_all(&line).and_then(|()| std::io::stdout().flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Descriptors that the caller of agent-sh left open are none of ours.
fn close_all() {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    // collected first: the listing has a descriptor itself
    for number in numbers.filter(|number| *number > 2).collect::<Vec<_>>() {
        let _ = nix::unistd::close(number);
    }
}

/// The end of agent-sh is ours too; and from here on only what the request needs can be read and reached.
fn restrict(request: &Request) {
    let _ = nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL);
    let files = request.judges.iter().map(|judge| judge.key_file.as_str());
    let named = files.chain(std::iter::once(request.ca_file.as_str())).filter(|path| !path.is_empty());
    let readable: Vec<&Path> = READABLE.iter().copied().chain(named).map(Path::new).collect();
    let mut ports: Vec<u16> = request.judges.iter().filter_map(|judge| wire::port(&judge.endpoint)).collect();
    ports.push(NAMES);
    cage(&readable, &ports);
}
