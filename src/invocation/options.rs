//! Names of `set -o` options and the letters that they are, shared by the shells' grammars.
//!
//! In: names from a command line. Out: letters. Never: knows positions.

use super::form::{CommandLine, Turn};

/// `set -o` names that have a letter, in bash (flags.c, builtins/set.def) and dash (options.c).
const LETTERS: &[(&str, char)] = &[
    ("allexport", 'a'),
    ("braceexpand", 'B'),
    ("errexit", 'e'),
    ("errtrace", 'E'),
    ("functrace", 'T'),
    ("hashall", 'h'),
    ("histexpand", 'H'),
    ("keyword", 'k'),
    ("monitor", 'm'),
    ("noclobber", 'C'),
    ("noexec", 'n'),
    ("noglob", 'f'),
    ("notify", 'b'),
    ("nounset", 'u'),
    ("onecmd", 't'),
    ("physical", 'P'),
    ("privileged", 'p'),
    ("verbose", 'v'),
    ("xtrace", 'x'),
];

/// dash's own: there these are options like others.
const DASH: &[(&str, char)] = &[("interactive", 'i'), ("stdin", 's')];

/// Which shell's names count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    Bash,
    Dash,
}

/// Applies `-o NAME` or `+o NAME`. A name that the shell doesn't know makes it exit before it runs
/// anything; reading on as if it were known is safe, and right for newer shells.
pub fn by_name(line: &mut CommandLine, name: &[u8], turn: Turn, names: Names) {
    let Ok(name) = std::str::from_utf8(name) else { return };
    let own = match names {
        Names::Bash => &[][..],
        Names::Dash => DASH,
    };
    match LETTERS.iter().chain(own).find(|(known, _)| *known == name) {
        Some((_, letter)) => line.letter(*letter, turn),
        None => line.name(name, turn),
    }
}

/// The first character that ends the options: `-` or `--` alone.
pub fn ends_options(word: &[u8]) -> bool {
    word == b"-" || word == b"--"
}
