//! Cursor and Grok: the shell's state comes in by descriptor 3 and goes out by descriptor 4, the model's
//! text is the first parameter.
//!
//! In: nothing. Out: [`SHAPES`].
//! Never: judges the state: it is a pipe that nobody can read beforehand, filled by the client from what the
//! call before printed. What an earlier call defined is not seen (.github/SECURITY.md says so).

use crate::envelope::shape::Piece::{Either, Maybe, Restore, Text};
use crate::envelope::shape::{Piece, Shape, Where};

const RESTORE: Piece = Either(&[
    &[
        Restore("snap=$(command cat <&3) && "),
        Text("builtin shopt -s extglob && "),
        Restore("builtin eval -- \"$snap\" && "),
    ],
    &[
        Restore("snap=$(command cat <&3) && "),
        Text("builtin shopt -s extglob && "),
        Restore("builtin eval \"$snap\" && "),
    ],
]);

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        framework: "cursor",
        form: "state-eval",
        model: Where::Parameter(1),
        pieces: &[
            RESTORE,
            Text("{ "),
            Maybe(&[Text("builtin set +u 2>/dev/null || true; ")]),
            Maybe(&[Text("builtin eval \"${__CURSOR_SANDBOX_ENV_RESTORE:-}\" 2>/dev/null; ")]),
            Text("builtin export PWD=\"$(builtin pwd)\"; "),
            Maybe(&[Text("builtin shopt -s expand_aliases 2>/dev/null; ")]),
            Maybe(&[Text("alias sudo='sudo -A'; ")]),
            Text("builtin eval \"$1\""),
            Maybe(&[Text(" < /dev/null")]),
            Text("; }; COMMAND_EXIT_CODE=$?; "),
            Restore("dump_bash_state >&4; "),
            Text("builtin exit $COMMAND_EXIT_CODE"),
        ],
    },
    Shape {
        framework: "grok",
        form: "state-eval",
        model: Where::Parameter(1),
        pieces: &[
            RESTORE,
            Text("{ builtin set +u 2>/dev/null || true; "),
            Maybe(&[Text("builtin export GROK_AGENT=1; ")]),
            Text("builtin export PWD=\"$(builtin pwd)\"; "),
            Maybe(&[Text("builtin shopt -s expand_aliases 2>/dev/null; ")]),
            Maybe(&[Text("builtin printf '%s' \"${2:-}\"; ")]),
            Text("__grok_user_cmd=\"$1\"; builtin declare +x __grok_user_cmd 2>/dev/null; builtin set --; "),
            Text("builtin eval \"$__grok_user_cmd\" 2>&1; }; COMMAND_EXIT_CODE=$?; "),
            Text("builtin unset __grok_user_cmd 2>/dev/null; "),
            Maybe(&[Restore("dump_bash_state >&4; ")]),
            Text("builtin exit $COMMAND_EXIT_CODE"),
        ],
    },
];
