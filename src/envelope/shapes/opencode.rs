//! `OpenCode`: what the user types behind `!`, in a login shell, as one word of `eval`.
//!
//! In: nothing. Out: [`SHAPES`].
//! Never: takes a word in which something expands for the text: it is quoted for JSON, not for a shell.

use crate::envelope::shape::Piece::{Blank, Either, Maybe, Model, Text};
use crate::envelope::shape::{Shape, Where};

pub(super) const SHAPES: &[Shape] = &[Shape {
    framework: "opencode",
    form: "user-eval",
    model: Where::Word,
    pieces: &[
        Blank,
        Either(&[
            &[
                Text("shopt -s expand_aliases\n"),
                Blank,
                Text("[[ -f ~/.bashrc ]] && source ~/.bashrc >/dev/null 2>&1 || true\n"),
            ],
            &[
                Text("[[ -f ~/.zshenv ]] && source ~/.zshenv >/dev/null 2>&1 || true\n"),
                Blank,
                Text("[[ -f \"${ZDOTDIR:-$HOME}/.zshrc\" ]] && source \"${ZDOTDIR:-$HOME}/.zshrc\" "),
                Text(">/dev/null 2>&1 || true\n"),
            ],
        ]),
        Blank,
        Maybe(&[Text("cd -- \"$1\"\n"), Blank]),
        Text("eval "),
        Model,
        Blank,
    ],
}];
