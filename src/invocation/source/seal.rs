//! How a script runs from memory, and what it can tell by that.
//!
//! In: a call, a script's text. Out: a form. Never: a form in which the text does something else, but for what it says of
//! its own file.

use memchr::memmem;

use crate::invocation::Invocation;
use crate::invocation::shell::Flavor;
use crate::invocation::source::ARGUMENT;

/// In what form a script in memory goes to the real shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InMemory {
    /// As a command string: `$0` and messages are the script's own.
    Command,
    /// Too long for that: a command string sources it; `$0` is the script's own.
    Sourced,
    /// As a file; `$0` is not the script's own.
    File,
}

/// Words by which a script finds what lies beside it. Where both stand in a line, they are compared to tell whether
/// the file was sourced: they are alike here, too.
const OWN_FILE: [&[&[u8]]; 2] = [&[b"BASH_SOURCE"], &[b"$0", b"${0"]];

/// Whether a script in memory would look beside its sealed copy for what lies beside its file.
pub(super) fn loses_its_place(invocation: &Invocation, text: &[u8]) -> bool {
    let asks = |line: &[u8]| {
        let [source, zero] =
            OWN_FILE.map(|words| words.iter().any(|word| memmem::find(line, word).is_some()));
        source != zero
    };
    invocation.shell.flavor == Flavor::Bash
        && in_memory(invocation, text) == InMemory::File
        && text.split(|byte| *byte == b'\n').any(asks)
}

/// What shows a command string for what it is, or a sourced file. Nothing does in dash.
const SHOWN: &[&[u8]] =
    &[b"BASH_SOURCE", b"FUNCNAME", b"BASH_LINENO", b"caller", b"BASH_EXECUTION_STRING", b"$-", b"${-"];

/// What a command string shows differently must not be in it, and no option that treats the two differently.
pub(super) fn in_memory(invocation: &Invocation, text: &[u8]) -> InMemory {
    let line = &invocation.line;
    let plain = line.letters.chars().all(|letter| "abefhkmpruxBCEHPTl".contains(letter));
    let names = ["pretty-print", "debugger", "debug"].iter().any(|name| line.named(name));
    let has = |words: &[&[u8]]| words.iter().any(|word| memmem::find(text, word).is_some());
    let flavor = invocation.shell.flavor;
    let shown = flavor != Flavor::Dash && has(SHOWN);
    if !plain || names || shown || crate::invocation::startup::by_network(&invocation.environ) {
        InMemory::File
    } else if text.len() <= ARGUMENT {
        InMemory::Command
    } else if matches!(flavor, Flavor::Bash | Flavor::Dash) {
        InMemory::Sourced
    } else {
        InMemory::File
    }
}
