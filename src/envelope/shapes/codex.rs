//! Codex: variables put by, the snapshot of the user's shell read, the variables put back, and the shell
//! executed anew with the model's text.
//!
//! In: nothing. Out: [`SHAPES`]. Never: matches by ends.

use crate::envelope::shape::Piece::{Blank, Maybe, Model, Name, Number, Same, SinglePath, Text, Times};
use crate::envelope::shape::{Key, Piece, Shape, Where};

/// `SET_n="${v+x}"` and `n="${v-}"`
const PUT_BY: Piece = Times(&[
    Text("__CODEX_SNAPSHOT_OVERRIDE_SET_"),
    Number,
    Text("=\"${"),
    Name,
    Text("+x}\"\n__CODEX_SNAPSHOT_OVERRIDE_"),
    Same(Key::Number),
    Text("=\"${"),
    Same(Key::Name),
    Text("-}\"\n"),
]);

const PUT_BY_PROXIES: Piece = Times(&[
    Text("__CODEX_SNAPSHOT_PROXY_OVERRIDE_SET_"),
    Number,
    Text("=\"${"),
    Name,
    Text("+x}\"\n__CODEX_SNAPSHOT_PROXY_OVERRIDE_"),
    Same(Key::Number),
    Text("=\"${"),
    Same(Key::Name),
    Text("-}\"\n"),
]);

/// Sets one variable back, or unsets it, and unsets the two that held it.
macro_rules! put_back {
    ($set:literal, $held:literal) => {
        Times(&[
            Text(concat!("if [ -n \"${", $set)),
            Number,
            Text("}\" ]; then\n  if [ -z \"${"),
            Name,
            Text("+x}\" ] || [ \"${"),
            Same(Key::Name),
            Text(concat!("-}\" != \"${", $held)),
            Same(Key::Number),
            Text("}\" ]; then export "),
            Same(Key::Name),
            Text(concat!("=\"${", $held)),
            Same(Key::Number),
            Text("}\"; else export "),
            Same(Key::Name),
            Text("; fi\nelse builtin unset "),
            Same(Key::Name),
            Text(" 2>/dev/null || command unset "),
            Same(Key::Name),
            Text(concat!("; fi\nbuiltin unset ", $set)),
            Same(Key::Number),
            Text(concat!(" ", $held)),
            Same(Key::Number),
            Text(concat!(" 2>/dev/null || command unset ", $set)),
            Same(Key::Number),
            Text(concat!(" ", $held)),
            Same(Key::Number),
            Text("\n"),
        ])
    };
}

pub(super) const SHAPES: &[Shape] = &[Shape {
    framework: "codex",
    form: "snapshot-exec",
    model: Where::Word,
    pieces: &[
        PUT_BY,
        PUT_BY_PROXIES,
        Maybe(&[Text("__CODEX_SNAPSHOT_PROXY_ENV_SET=\"${"), Name, Text("+x}\"\n")]),
        Blank,
        Text("if . "),
        SinglePath,
        Text(" >/dev/null 2>&1; then :; fi\n"),
        Blank,
        put_back!("__CODEX_SNAPSHOT_OVERRIDE_SET_", "__CODEX_SNAPSHOT_OVERRIDE_"),
        Maybe(&[
            Text("if [ -n \"$__CODEX_SNAPSHOT_PROXY_ENV_SET\" ] || [ -n \"${"),
            Name,
            Text("+x}\" ]; then\n"),
            put_back!("__CODEX_SNAPSHOT_PROXY_OVERRIDE_SET_", "__CODEX_SNAPSHOT_PROXY_OVERRIDE_"),
            Text("fi\n"),
        ]),
        Maybe(&[
            Text("if [ -n \"${PATH:-}\" ]; then export PATH="),
            SinglePath,
            Text(":\"$PATH\"; else export PATH="),
            SinglePath,
            Text("; fi\n"),
        ]),
        Blank,
        Text("exec "),
        SinglePath,
        Text(" -c "),
        Model,
    ],
}];
