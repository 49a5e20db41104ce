//! Awk's names. `>`, `>>`, `|`, `getline<` and `getline|` stand for its redirections.
//!
//! In: nothing. Out: a table.
//! Never: code.

use super::act;
use crate::code::found::{Origin, What};
use crate::code::meaning::{Fold, Gives, Means, Slot, Special};

/// Sorted by name.
pub(crate) const WORDS: &[(&str, Means)] = &[
    ("$", Means::From(Origin::Stdin)),
    (">", Means::Special(Special::AwkWrite)),
    (">>", act(What::Append, &[Slot::At(0, ""), Slot::At(1, "")], Gives::Nothing)),
    ("@include", act(What::Load, &[Slot::At(0, "")], Gives::Nothing)),
    ("@load", act(What::LoadNative, &[Slot::At(0, "")], Gives::Nothing)),
    ("ARGV", Means::From(Origin::Argument)),
    ("ENVIRON", Means::From(Origin::Environment)),
    ("FILENAME", Means::From(Origin::Argument)),
    ("getline", Means::From(Origin::Stdin)),
    ("getline<", Means::Special(Special::AwkRead)),
    ("getline|", Means::Special(Special::AwkPipe)),
    ("index", Means::Fold(Fold::Harmless)),
    ("length", Means::Fold(Fold::Harmless)),
    ("print", Means::Special(Special::Print)),
    ("sprintf", Means::Fold(Fold::Format)),
    ("substr", Means::Special(Special::AwkSubstr)),
    ("system", act(What::Shell, &[Slot::At(0, "")], Gives::From(Origin::Command))),
    ("tolower", Means::Fold(Fold::Lower)),
    ("toupper", Means::Fold(Fold::Upper)),
    ("|", Means::Special(Special::AwkPipe)),
];
