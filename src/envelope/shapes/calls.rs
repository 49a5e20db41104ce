//! Calls that clients make for themselves: snapshots, probes, syntax checks. They are judged like any other
//! text; that they are known only says that no model wrote them.
//!
//! In: nothing. Out: [`SHAPES`], and [`long`] for texts too long to be written here.
//! Never: exempts a text from its judgement.

use crate::digest::Digest;
use crate::envelope::shape::Piece::{Mark, Pasted, QuotedPath, Text};
use crate::envelope::shape::{Shape, Where};

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        framework: "codex",
        form: "snapshot-check",
        model: Where::Nowhere,
        pieces: &[Text("set -e; . "), QuotedPath("/shell_snapshots/")],
    },
    Shape {
        framework: "copilot",
        form: "environment-probe",
        model: Where::Nowhere,
        pieces: &[
            Text("printf %s '__copilot_login_env_snapshot_"),
            Mark,
            Text("'; if ! command env -0 2>/dev/null; then for __copilot_k in $(compgen -e); do "),
            Text("printf '%s=%s\\0' \"$__copilot_k\" \"${!__copilot_k}\"; done; fi"),
        ],
    },
    Shape {
        framework: "cline",
        form: "machine-id",
        model: Where::Nowhere,
        pieces: &[
            Text("( cat /var/lib/dbus/machine-id /etc/machine-id 2> /dev/null || hostname ) "),
            Text("| head -n 1 || :"),
        ],
    },
    Shape {
        framework: "swe-rex",
        form: "syntax-check",
        model: Where::Nowhere,
        pieces: &[
            Text("/usr/bin/env bash -n << 'SOUNIQUEEOF'\n"),
            Pasted("\nSOUNIQUEEOF"),
            Text("\nSOUNIQUEEOF"),
        ],
    },
];

/// A text known by its digest, once what differs from call to call is taken out.
#[derive(Clone, Copy, Debug)]
pub struct Long {
    pub framework: &'static str,
    pub form: &'static str,
    begins: &'static str,
    /// SHA-256 of [`without_names`].
    digest: &'static str,
}

const LONG: &[Long] = &[
    Long {
        framework: "claude-code",
        form: "snapshot",
        begins: "SNAPSHOT_FILE=",
        digest: "0f3ce805d387e94427d7a814e37945f3f4c260caf1deee1935b65d8fedf38750",
    },
    Long {
        framework: "codex",
        form: "snapshot",
        begins: "if [ -z \"${BASH_ENV-}\" ]",
        digest: "1b794156681a7ee5657b4b43b9735bcd0a5bd7026a2846a155d6e89fd36d4b5a",
    },
];

/// The long call that a text is.
pub fn long(text: &str) -> Option<&'static Long> {
    let mut digest = None;
    let mut has = |long: &&Long| {
        *digest.get_or_insert_with(|| Digest::of(without_names(text).as_bytes()).to_string()) == *long.digest
    };
    LONG.iter().find(|long| text.starts_with(long.begins) && has(long))
}

/// The text with a dot in place of each word that has a digit or a slash in it: paths, numbers, marks.
fn without_names(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | ':' | '-' | '+' | '@');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (word, after) = rest.split_at(rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
        let differs =
            word.contains(|c: char| c == '/' || c.is_ascii_digit()) || word.starts_with("PATH_END_");
        out.push_str(if differs { "." } else { word });
        let mark = after.find(is_part).unwrap_or(after.len());
        let (marks, after) = after.split_at(mark);
        out.push_str(marks);
        rest = after;
    }
    out
}
