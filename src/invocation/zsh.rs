//! zsh's command line, as Src/init.c reads it (`parseopts`, `parseargs`).
//!
//! In: the argument vector. Out: [`CommandLine`].
//! Never: takes a line for inert of which zsh would run something.

use super::form::{CommandLine, Form, Inert, Turn};

/// The letters that mean the same in zsh and in the other shells, and `f`, which is `NO_RCS` here.
const LETTERS: &[u8] = b"efilmnprstuvx";

/// Reads `argv` (entry 0 is the name). Letters and names that zsh doesn't know make it exit before it
/// runs anything; they are read on as switches.
pub fn read(argv: &[&[u8]]) -> CommandLine {
    let mut line = CommandLine::default();
    let index = match options(argv, &mut line) {
        Ok(index) => index,
        Err(end) => return end,
    };
    line.form = if line.has('c') {
        if index < argv.len() { Form::Command { text: index } } else { Form::Inert(Inert::Usage) }
    } else if index < argv.len() && !line.has('s') {
        Form::Script { file: index }
    } else {
        Form::Input { operands: index }
    };
    line
}

const UNCLEAR: &str = "with -b, zsh reads its command line in another way when it stands in for sh";

/// Whether zsh behaves as another shell: by `--emulate` or by the first letter of its name (`emulate` in
/// Src/options.c).
fn emulates(argv: &[&[u8]], line: &CommandLine) -> bool {
    let name = argv.first().map_or(&b""[..], |name| super::shell::program(name));
    line.named("emulate") || !name.strip_prefix(b"r").unwrap_or(name).starts_with(b"z")
}

/// What reading one word of options leads to.
enum Word {
    /// the next word is at this index
    Next(usize),
    /// options end; the operands begin at this index
    End(usize),
}

fn options(argv: &[&[u8]], line: &mut CommandLine) -> Result<usize, CommandLine> {
    let mut index = 1;
    while let Some(word) = argv.get(index) {
        let Some((&sign, bundle)) = word.split_first().filter(|(sign, _)| matches!(sign, b'-' | b'+')) else {
            break;
        };
        if matches!(bundle, b"" | b"-") {
            return Ok(index + 1);
        }
        match one(argv, index, bundle, Turn::of(sign), line)? {
            Word::Next(next) => index = next,
            Word::End(next) => return Ok(next),
        }
        line.options_end = index;
    }
    Ok(index)
}

fn one(
    argv: &[&[u8]],
    index: usize,
    bundle: &[u8],
    turn: Turn,
    line: &mut CommandLine,
) -> Result<Word, CommandLine> {
    if let Some(name) = bundle.strip_prefix(b"-") {
        return long(argv, index, name, turn, line);
    }
    let mut ends = false;
    for (place, &letter) in bundle.iter().enumerate() {
        match letter {
            b'c' => line.letter('c', Turn::On),
            // ends the options with this word, but not in the emulation of sh or ksh
            b'b' if emulates(argv, line) => return Err(CommandLine::unclear(UNCLEAR)),
            b'b' => ends = true,
            b'-' if place + 1 == bundle.len() => return Ok(Word::End(index + 1)),
            b'-' => return Err(CommandLine::inert(Inert::Usage)),
            b'o' => {
                let attached = bundle.get(place + 1..).unwrap_or_default();
                let (name, next) = match attached {
                    [] => (argv.get(index + 1).copied(), index + 2),
                    name => (Some(name), index + 1),
                };
                let Some(name) = name else { return Err(CommandLine::inert(Inert::Usage)) };
                set(line, name, turn);
                return Ok(if ends { Word::End(next) } else { Word::Next(next) });
            }
            space if space.is_ascii_whitespace() => break,
            letter if LETTERS.contains(&letter) => line.letter(char::from(letter), turn),
            // capitals and digits mean other things than in bash, nothing that matters here
            _ => {}
        }
    }
    Ok(if ends { Word::End(index + 1) } else { Word::Next(index + 1) })
}

fn long(
    argv: &[&[u8]],
    index: usize,
    name: &[u8],
    turn: Turn,
    line: &mut CommandLine,
) -> Result<Word, CommandLine> {
    match name {
        b"version" => Err(CommandLine::inert(Inert::Version)),
        b"help" => Err(CommandLine::inert(Inert::Help)),
        b"emulate" if index + 1 < argv.len() => {
            line.name("emulate", Turn::On);
            Ok(Word::Next(index + 2))
        }
        b"emulate" => Err(CommandLine::inert(Inert::Usage)),
        name => {
            set(line, name, turn);
            Ok(Word::Next(index + 1))
        }
    }
}

/// Option names: case, `_` and `-` don't count, `no` in front reverses.
fn set(line: &mut CommandLine, name: &[u8], turn: Turn) {
    let name: Vec<u8> =
        name.iter().filter(|b| !matches!(b, b'_' | b'-')).map(u8::to_ascii_lowercase).collect();
    let name = String::from_utf8_lossy(&name).into_owned();
    let letter = |name: &str| match name {
        "shinstdin" | "stdin" => Some('s'),
        "interactive" => Some('i'),
        "login" | "loginshell" => Some('l'),
        "privileged" => Some('p'),
        "singlecommand" | "onecmd" => Some('t'),
        _ => None,
    };
    match (name.as_str(), letter(&name)) {
        // NO_EXEC is -n, NO_RCS is -f
        ("exec", _) => line.letter('n', turn.reversed()),
        ("noexec", _) => line.letter('n', turn),
        ("rcs", _) => line.letter('f', turn.reversed()),
        ("norcs", _) => line.letter('f', turn),
        (_, Some(letter)) => line.letter(letter, turn),
        (plain, None) => match plain.strip_prefix("no").and_then(letter) {
            Some(letter) => line.letter(letter, turn.reversed()),
            None => line.name(plain, turn),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Form {
        let argv: Vec<&[u8]> =
            std::iter::once(&b"zsh"[..]).chain(words.split(' ').map(str::as_bytes)).collect();
        read(&argv).form
    }

    #[test]
    fn zsh_forms() {
        for (words, form) in [
            ("-c S", Form::Command { text: 2 }),
            ("-fc S a", Form::Command { text: 2 }),
            ("-c -f S", Form::Command { text: 3 }),
            ("-opipefail -c S", Form::Command { text: 3 }),
            ("-o pipefail -c S", Form::Command { text: 4 }),
            ("--no-rcs -c S", Form::Command { text: 3 }),
            ("--emulate sh -c S", Form::Command { text: 4 }),
            ("--emulate sh -bc S", Form::Unclear(UNCLEAR)),
            ("-cb -x S", Form::Command { text: 2 }),
            ("-c -- S", Form::Command { text: 3 }),
            ("F a", Form::Script { file: 1 }),
            ("-f F", Form::Script { file: 2 }),
            ("- F", Form::Script { file: 2 }),
            ("-s a", Form::Input { operands: 2 }),
            ("-o shinstdin a", Form::Input { operands: 3 }),
            ("--version", Form::Inert(Inert::Version)),
            ("-f --help", Form::Inert(Inert::Help)),
            ("-c", Form::Inert(Inert::Usage)),
        ] {
            assert_eq!(parse(words), form, "{words}");
        }
    }
}
