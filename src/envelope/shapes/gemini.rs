//! Gemini CLI: the model's text pasted into a subshell whose end writes down the background jobs; in older
//! versions into braces, with pgrep behind them.
//!
//! In: nothing. Out: [`SHAPES`]. Never: says whether a pasted text stays within its place.

use crate::envelope::shape::Piece::{Maybe, Pasted, Path, Text};
use crate::envelope::shape::{Joint, Piece, Shape, Where};

const PLAIN_PATTERNS: Piece = Maybe(&[Text("shopt -u promptvars nullglob extglob nocaseglob dotglob; ")]);

macro_rules! braces {
    ($form:literal, $between:literal) => {
        Shape {
            framework: "gemini",
            form: $form,
            model: Where::Pasted(Joint { between: $between, closer: "}" }),
            pieces: &[
                PLAIN_PATTERNS,
                Text("{ "),
                Pasted(concat!($between, "}; __code=$?; pgrep -g 0 >")),
                Text(concat!($between, "}; __code=$?; pgrep -g 0 >")),
                Path,
                Text(" 2>&1; exit $__code;"),
            ],
        }
    };
}

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        framework: "gemini",
        form: "subshell",
        model: Where::Pasted(Joint { between: "\n", closer: ")" }),
        pieces: &[
            PLAIN_PATTERNS,
            Text("_bgpids_file="),
            Path,
            Text("\n(\n  trap 'jobs -p > \"$_bgpids_file\"' EXIT\n"),
            Pasted("\n)\n__code=$?\nexit $__code"),
            Text("\n)\n__code=$?\nexit $__code"),
        ],
    },
    braces!("braces", "; "),
    braces!("braces-lines", "\n"),
    // behind `&`
    braces!("braces-background", " "),
];
