//! dash's command line, as options.c reads it (`procargs`, `options`); the POSIX part of it for other
//! shells called sh (busybox, ksh, mksh).
//!
//! In: the argument vector. Out: [`CommandLine`].
//! Never: takes a line for inert of which another sh would run something.

use super::form::{CommandLine, Form, Inert, Turn};
use super::options::{self, Names};

/// How well we know the shell that will read the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// it is dash
    Exactly,
    /// some sh: what POSIX does not say is unclear
    Roughly,
}

/// optletters in options.c.
const DASH: &[u8] = b"efIimnsxvVECabu";
/// POSIX XCU sh, and `l` which all have.
const POSIX: &[u8] = b"abCefhimnsuvx";

const UNCLEAR: &str = "shells called sh differ in what this option means";
const TWO_SOURCES: &str = "with both -c and -s, dash runs the command string and then standard input";

/// Reads `argv` (entry 0 is the name).
pub fn read(argv: &[&[u8]], known: Known) -> CommandLine {
    let mut line = CommandLine::default();
    let index = match letters(argv, known, &mut line) {
        Ok(index) => index,
        Err(end) => return end,
    };
    line.form = match (line.has('c'), index < argv.len()) {
        (true, false) => Form::Inert(Inert::Usage),
        (true, true) if line.has('s') => Form::Unclear(TWO_SOURCES),
        (true, true) => Form::Command { text: index },
        (false, true) if !line.has('s') => Form::Script { file: index },
        (false, _) => Form::Input { operands: index },
    };
    line
}

fn letters(argv: &[&[u8]], known: Known, line: &mut CommandLine) -> Result<usize, CommandLine> {
    let mut index = 1;
    while let Some(word) = argv.get(index) {
        let Some((&sign, bundle)) = word.split_first().filter(|(sign, _)| matches!(sign, b'-' | b'+')) else {
            break;
        };
        if options::ends_options(word) {
            return Ok(index + 1);
        }
        let mut next = index + 1;
        for &letter in bundle {
            match (letter, known) {
                // options.c looks at neither's sign
                (b'c' | b'l', _) => line.letter(char::from(letter), Turn::On),
                (b'o', _) => {
                    let Some(name) = argv.get(next) else { continue };
                    options::by_name(line, name, Turn::of(sign), Names::Dash);
                    next += 1;
                }
                (one, Known::Exactly) if DASH.contains(&one) => line.letter(char::from(one), Turn::of(sign)),
                (one, Known::Roughly) if POSIX.contains(&one) => line.letter(char::from(one), Turn::of(sign)),
                // "Illegal option", exit 2: nothing has been read or run
                (_, Known::Exactly) => return Err(CommandLine::inert(Inert::Usage)),
                (_, Known::Roughly) => return Err(CommandLine::unclear(UNCLEAR)),
            }
        }
        index = next;
        line.options_end = index;
    }
    Ok(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str, known: Known) -> Form {
        let argv: Vec<&[u8]> =
            std::iter::once(&b"sh"[..]).chain(words.split(' ').map(str::as_bytes)).collect();
        read(&argv, known).form
    }

    #[test]
    fn dash_forms() {
        for (words, form) in [
            ("-c S", Form::Command { text: 2 }),
            ("-ce S", Form::Command { text: 2 }),
            ("-c -e S", Form::Command { text: 3 }),
            ("-lc S a", Form::Command { text: 2 }),
            ("-o errexit -c S", Form::Command { text: 4 }),
            ("-c -- S", Form::Command { text: 3 }),
            ("F a", Form::Script { file: 1 }),
            ("-x F", Form::Script { file: 2 }),
            ("- F", Form::Script { file: 2 }),
            ("-s a", Form::Input { operands: 2 }),
            ("-o stdin a", Form::Input { operands: 3 }),
            ("-c", Form::Inert(Inert::Usage)),
            ("--version", Form::Inert(Inert::Usage)),
            ("-Z -c S", Form::Inert(Inert::Usage)),
            ("-h -c S", Form::Inert(Inert::Usage)),
            ("-sc S", Form::Unclear(TWO_SOURCES)),
        ] {
            assert_eq!(parse(words, Known::Exactly), form, "{words}");
        }
    }

    #[test]
    fn what_posix_does_not_say_is_unclear_in_an_unknown_sh() {
        assert_eq!(parse("--version -c S", Known::Roughly), Form::Unclear(UNCLEAR));
        assert_eq!(parse("-p -c S", Known::Roughly), Form::Unclear(UNCLEAR));
        assert_eq!(parse("-euc S", Known::Roughly), Form::Command { text: 2 });
    }
}
