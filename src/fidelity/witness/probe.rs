//! A probe: stands where a shell or program was, records how it was called, and ends.
//!
//! In: its argument vector, standard input, ancestors. Out: one record, and a chosen status.
//! Never: runs anything of what it was given; waits for input longer than `IDLE`.

use std::ffi::OsString;
use std::io::Read as _;
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStringExt as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::fidelity::witness::note::Note;
use crate::fidelity::witness::record::{Ancestor, Record, Source};
use crate::fidelity::witness::shells;
use crate::invocation::memory::sourced;
use crate::text::escape_bytes;

/// Milliseconds without a byte after which input that carries the text is taken to have ended.
const IDLE: u16 = 2_000;
/// The same for input that only the text would have read.
const BRIEF: u16 = 60;
/// Most ancestors that are recorded.
const ANCESTORS: usize = 32;
/// Status of a probe that could not record: the call is unobserved.
const LOST: u8 = 125;

/// Records and gives the status.
pub fn run(note: &Note, argv: Vec<OsString>) -> u8 {
    let argv: Vec<Vec<u8>> = argv.into_iter().map(OsString::into_vec).collect();
    let call = read_call(&argv);
    let wait = if call.source == Source::Stdin { IDLE } else { BRIEF };
    let (input, whole) = read_input(note.input, wait);
    let text = match call.source {
        Source::Argument => call.text,
        Source::File => call.text.and_then(|path| read_file(&path, note.input)),
        Source::Stdin => Some(input.clone()),
        Source::Vector => None,
    };
    let encode = |bytes: &[u8]| data_encoding::BASE64.encode(bytes);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let record = Record {
        v: 1,
        t_ns: u64::try_from(now.as_nanos()).unwrap_or(u64::MAX),
        pid: std::process::id(),
        uid: nix::unistd::geteuid().as_raw(),
        argv_b64: argv.iter().map(|w| encode(w)).collect(),
        cwd: std::env::current_dir()
            .map_or_else(|_| String::new(), |p| escape_bytes(p.into_os_string().as_encoded_bytes())),
        source: call.source,
        text_b64: text.as_deref().map(encode),
        stdin_b64: (!input.is_empty()).then(|| encode(&input)),
        stdin_whole: whole,
        ancestors: ancestors(),
    };
    if record.write(&note.records).is_ok() { note.status } else { LOST }
}

/// How a shell was called.
#[derive(Debug, PartialEq, Eq)]
struct Call {
    source: Source,
    /// Text or path.
    text: Option<Vec<u8>>,
}

/// Reads a vector as shells read theirs: options, of which some take the next word, then text or file.
fn read_call(argv: &[Vec<u8>]) -> Call {
    let [name, rest @ ..] = argv else { return Call { source: Source::Vector, text: None } };
    let name = name.rsplit(|b| *b == b'/').next().unwrap_or_default();
    let name = name.strip_prefix(b"-").unwrap_or(name);
    match (name, rest) {
        (b"busybox" | b"toybox", [_, ..]) => read_call(rest),
        _ if !shells::is_name(name) => Call { source: Source::Vector, text: None },
        _ => read_options(rest),
    }
}

fn read_options(words: &[Vec<u8>]) -> Call {
    let (mut wants, mut from_input) = (false, false);
    let mut words = words.iter();
    let operand = loop {
        let Some(word) = words.next() else { break None };
        match word.as_slice() {
            b"--" | b"-" => break words.next(),
            b"--rcfile" | b"--init-file" => drop(words.next()),
            [b'-', b'-', ..] => {}
            [b'-' | b'+', letters @ ..] => {
                wants |= letters.contains(&b'c');
                from_input |= letters.contains(&b's');
                for _ in letters.iter().filter(|l| matches!(l, b'o' | b'O')) {
                    words.next();
                }
            }
            _ => break Some(word),
        }
    };
    match (wants, from_input, operand) {
        (true, _, Some(text)) if sourced(text).is_some() => {
            Call { source: Source::File, text: sourced(text).map(<[u8]>::to_vec) }
        }
        (true, _, text) => Call { source: Source::Argument, text: text.cloned() },
        (false, false, Some(path)) => Call { source: Source::File, text: Some(path.clone()) },
        (false, ..) => Call { source: Source::Stdin, text: None },
    }
}

fn read_file(path: &[u8], limit: usize) -> Option<Vec<u8>> {
    use std::os::unix::ffi::OsStrExt as _;
    let file = std::fs::File::open(std::ffi::OsStr::from_bytes(path)).ok()?;
    if poll_in(&file, BRIEF) == Some(false) {
        return None;
    }
    let mut text = Vec::new();
    file.take(u64::try_from(limit).ok()?.saturating_add(1)).read_to_end(&mut text).ok()?;
    // part of a text would look like a change of it
    (text.len() <= limit).then_some(text)
}

/// Whether there is something to read within some milliseconds; none where that can't be said.
fn poll_in(file: &impl std::os::fd::AsFd, millis: u16) -> Option<bool> {
    let mut wanted = [PollFd::new(file.as_fd(), PollFlags::POLLIN)];
    let ready = poll(&mut wanted, PollTimeout::from(millis)).ok()?;
    Some(ready > 0)
}

/// Standard input up to a limit, and whether its end was seen.
fn read_input(limit: usize, wait: u16) -> (Vec<u8>, bool) {
    let input = std::io::stdin();
    let mut out = Vec::new();
    let mut chunk = [0u8; 8192];
    while out.len() < limit {
        if poll_in(&input.as_fd(), wait) != Some(true) {
            return (out, false);
        }
        match nix::unistd::read(&input, &mut chunk) {
            Ok(0) => return (out, true),
            Ok(n) => out.extend_from_slice(chunk.get(..n).unwrap_or_default()),
            Err(nix::errno::Errno::EINTR) => {}
            Err(_) => return (out, false),
        }
    }
    (out, false)
}

/// The line of parents, by the kernel's account.
fn ancestors() -> Vec<Ancestor> {
    let mut out = Vec::new();
    let mut pid = u32::try_from(nix::unistd::getppid().as_raw()).unwrap_or(0);
    while pid > 0 && out.len() < ANCESTORS {
        let read = |what: &str| std::fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default();
        let status = String::from_utf8_lossy(&read("status")).into_owned();
        let parent = status.lines().find_map(|l| l.strip_prefix("PPid:")).and_then(|v| v.trim().parse().ok());
        let line = read("cmdline");
        let words: Vec<&[u8]> = line.split(|b| *b == 0).filter(|w| !w.is_empty()).collect();
        let head: Vec<u8> = words.join(&b' ').into_iter().take(200).collect();
        out.push(Ancestor {
            pid,
            comm: escape_bytes(read("comm").trim_ascii_end()),
            head: escape_bytes(&head),
        });
        pid = parent.unwrap_or(0);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(line: &str) -> (Source, Option<String>) {
        let argv: Vec<Vec<u8>> = line.split(' ').map(|w| w.as_bytes().to_vec()).collect();
        let call = read_call(&argv);
        (call.source, call.text.map(|t| String::from_utf8(t).unwrap()))
    }

    #[test]
    fn calls_are_read_as_shells_read_them() {
        let some = |text: &str| Some(text.to_owned());
        for (line, source, text) in [
            ("bash -c x", Source::Argument, some("x")),
            ("-bash -c x", Source::Argument, some("x")),
            ("/bin/bash -lc x y", Source::Argument, some("x")),
            ("bash -o pipefail -c x", Source::Argument, some("x")),
            ("bash -co pipefail x", Source::Argument, some("x")),
            ("bash --norc -c -- -x", Source::Argument, some("-x")),
            ("bash --rcfile f -ic x", Source::Argument, some("x")),
            ("busybox sh -c x", Source::Argument, some("x")),
            ("dash f a", Source::File, some("f")),
            ("bash", Source::Stdin, None),
            ("bash -s a", Source::Stdin, None),
            ("bash -c", Source::Argument, None),
            ("sh -", Source::Stdin, None),
            ("git status", Source::Vector, None),
        ] {
            assert_eq!(call(line), (source, text), "{line}");
        }
    }

    #[test]
    fn this_process_has_ancestors() {
        let found = ancestors();
        assert!(!found.is_empty() && !found[0].comm.is_empty());
    }
}
