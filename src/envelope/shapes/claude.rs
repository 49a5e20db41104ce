//! Claude Code: the snapshot of the user's shell, the model's text as one word of `eval`, the directory
//! written down for the next call.
//!
//! In: nothing. Out: [`SHAPES`]. Never: matches by ends.

use crate::envelope::shape::Piece::{Either, File, Maybe, Model, Path, Text};
use crate::envelope::shape::{Piece, Shape, Where};

const NO_EXTENDED_PATTERNS: Piece = Either(&[
    &[Text("shopt -u extglob 2>/dev/null || true && ")],
    &[Text("setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL 2>/dev/null || true && ")],
    // with CLAUDE_CODE_SHELL_PREFIX it does not know which shell it talks to
    &[Text("{ shopt -u extglob || setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL; } >/dev/null 2>&1 || true && ")],
]);

pub(super) const SHAPES: &[Shape] = &[Shape {
    framework: "claude-code",
    form: "eval",
    model: Where::Word,
    pieces: &[
        Maybe(&[Text("source "), Path, Text(" 2>/dev/null || true && ")]),
        Maybe(&[NO_EXTENDED_PATTERNS]),
        Text("eval "),
        Model,
        Maybe(&[Text(" < /dev/null")]),
        Text(" && pwd -P >| "),
        Either(&[&[File("claude-", "-cwd")], &[File("cwd-", "")]]),
    ],
}];
