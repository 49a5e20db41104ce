//! bash's command line, read as bash's shell.c does (`parse_long_options`, `parse_shell_options`, `main`).
//!
//! In: the argument vector. Out: [`CommandLine`].
//! Never: takes a line for inert of which some bash would run something.

use super::form::{CommandLine, Form, Inert, Turn};
use super::options::{self, Names};

/// Long options without a value. They come before all short ones; a single dash is as good as two.
const SWITCHES: &[&str] = &[
    "debug",
    "debugger",
    "dump-po-strings",
    "dump-strings",
    "help",
    "login",
    "noediting",
    "noprofile",
    "norc",
    "posix",
    "pretty-print",
    "restricted",
    "verbose",
    "version",
];
/// Long options whose value is the next word.
const VALUES: &[&str] = &["init-file", "rcfile"];
/// Switches of builds that have them (config.h's wordexp option, Red Hat's patch): expand or read a file.
const OTHER_BUILDS: &[&str] = &["protected", "wordexp", "rpm-requires"];
/// Letters that flags.c knows.
const LETTERS: &[u8] = b"abefhikmnprtuvxBCEHPT";

/// Reads `argv` (entry 0 is the name).
pub fn read(argv: &[&[u8]]) -> CommandLine {
    let mut line = CommandLine::default();
    let index = match long(argv, &mut line) {
        Ok(index) => index,
        Err(end) => return end,
    };
    // shell.c: --help is looked at before --version, both after all long options were read
    if line.named("help") {
        return CommandLine::inert(Inert::Help);
    }
    if line.named("version") {
        return CommandLine::inert(Inert::Version);
    }
    match short(argv, index, &mut line) {
        Ok(index) => finish(line, argv.len(), index),
        Err(end) => end,
    }
}

fn long(argv: &[&[u8]], line: &mut CommandLine) -> Result<usize, CommandLine> {
    let mut index = 1;
    while let Some(word) = argv.get(index) {
        let Some(rest) = word.strip_prefix(b"-") else { break };
        let (name, doubled) = match rest.strip_prefix(b"-") {
            Some(name) if !name.is_empty() => (name, true),
            Some(_) | None => (rest, false),
        };
        let name = std::str::from_utf8(name).unwrap_or("");
        if SWITCHES.contains(&name) {
            switch(line, name);
        } else if VALUES.contains(&name) {
            index += 1;
            if index >= argv.len() {
                return Err(CommandLine::inert(Inert::Usage));
            }
            line.rcfile = Some(index);
        } else if doubled && OTHER_BUILDS.contains(&name) {
            return Err(CommandLine::unclear("this long option means something in some builds of bash only"));
        } else if doubled {
            // "invalid option", usage, exit 2: nothing has been read or run
            return Err(CommandLine::inert(Inert::Usage));
        } else {
            break;
        }
        index += 1;
    }
    Ok(index)
}

fn switch(line: &mut CommandLine, name: &str) {
    match name {
        "login" => line.letter('l', Turn::On),
        "restricted" => line.letter('r', Turn::On),
        "verbose" => line.letter('v', Turn::On),
        "dump-strings" | "dump-po-strings" => line.letter('D', Turn::On),
        other => line.name(other, Turn::On),
    }
}

fn short(argv: &[&[u8]], from: usize, line: &mut CommandLine) -> Result<usize, CommandLine> {
    let mut index = from;
    line.options_end = index;
    while let Some(word) = argv.get(index) {
        let Some((&sign, bundle)) = word.split_first().filter(|(sign, _)| matches!(sign, b'-' | b'+')) else {
            break;
        };
        if options::ends_options(word) {
            return Ok(index + 1);
        }
        let turn = Turn::of(sign);
        // the values of o and O are the words after the bundle, in order: `-abouo emacs ignoreeof`
        let mut next = index + 1;
        for &letter in bundle {
            match letter {
                // these three don't look at the sign
                b'c' | b'l' | b's' | b'D' => line.letter(char::from(letter), Turn::On),
                b'o' | b'O' => {
                    let Some(name) = argv.get(next) else { continue };
                    if letter == b'o' {
                        options::by_name(line, name, turn, Names::Bash);
                    }
                    next += 1;
                }
                b'r' if turn == Turn::Off && line.has('r') => return Err(CommandLine::inert(Inert::Usage)),
                known if LETTERS.contains(&known) => line.letter(char::from(known), turn),
                _ => return Err(CommandLine::inert(Inert::Usage)),
            }
        }
        index = next;
        line.options_end = index;
    }
    Ok(index)
}

/// shell.c, main: `-c` beats a file name, `-s` makes operands of what would be one.
fn finish(mut line: CommandLine, count: usize, index: usize) -> CommandLine {
    line.form = if line.has('c') {
        if index < count { Form::Command { text: index } } else { Form::Inert(Inert::Usage) }
    } else if index < count && !line.has('s') {
        Form::Script { file: index }
    } else {
        Form::Input { operands: index }
    };
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> CommandLine {
        let argv: Vec<&[u8]> =
            std::iter::once(&b"bash"[..]).chain(words.split(' ').map(str::as_bytes)).collect();
        read(&argv)
    }

    #[test]
    fn the_command_string_is_found_behind_any_options() {
        for (words, text) in [
            ("-c S", 2),
            ("-lc S", 2),
            ("-l -c S", 3),
            ("-c -l S", 3),
            ("-ic S", 2),
            ("-ce S A", 2),
            ("-euxo pipefail -c S", 4),
            ("-euxo pipefail -c S A B", 4),
            ("-O extglob -c S -- A", 4),
            ("+O extglob -c S", 4),
            ("+x -c S", 3),
            ("--norc --noprofile -c S", 4),
            ("--login -c S", 3),
            ("-login -c S", 3),
            ("--rcfile F -c S", 4),
            ("--init-file F -c S", 4),
            ("-o posix -c S", 4),
            ("-r -c S", 3),
            ("-D -c S", 3),
            ("-c -- S", 3),
            ("-c - S", 3),
            ("-c +e S", 3),
            ("+c S", 2),
            ("-co pipefail S", 3),
            ("-coO pipefail extglob S", 4),
            ("-s -c S", 3),
            ("-c -o errexit -- S", 5),
            ("-abouo emacs ignoreeof -hPc S", 5),
        ] {
            assert_eq!(parse(words).form, Form::Command { text }, "{words}");
        }
    }

    #[test]
    fn a_script_is_the_first_operand() {
        for (words, file) in
            [("F a", 1), ("-x F", 2), ("-- F", 2), ("- F", 2), ("-n F", 2), ("--posix -e F -c S", 3)]
        {
            assert_eq!(parse(words).form, Form::Script { file }, "{words}");
        }
        assert_eq!(read(&[&b"bash"[..], b"", b"x"]).form, Form::Script { file: 1 });
    }

    #[test]
    fn standard_input_is_read_without_operands_or_with_s() {
        for (words, operands) in
            [("-s a b", 2), ("-s -- a", 3), ("-i", 2), ("-", 2), ("--", 2), ("-o", 2), ("+s", 2)]
        {
            assert_eq!(parse(words).form, Form::Input { operands }, "{words}");
        }
        assert_eq!(read(&[&b"bash"[..]]).form, Form::Input { operands: 1 });
        assert_eq!(read(&[]).form, Form::Input { operands: 1 });
    }

    #[test]
    fn lines_that_only_print_are_inert() {
        for (words, why) in [
            ("-c", Inert::Usage),
            ("-Z", Inert::Usage),
            ("--nosuch -c S", Inert::Usage),
            ("-c S".trim_end_matches(" S"), Inert::Usage),
            ("--rcfile", Inert::Usage),
            ("-e --norc -c S", Inert::Usage),
            ("-r +r -c S", Inert::Usage),
            ("--version", Inert::Version),
            ("--version --help", Inert::Help),
            ("-help", Inert::Help),
            ("--help -c S", Inert::Help),
        ] {
            assert_eq!(parse(words).form, Form::Inert(why), "{words}");
        }
    }

    #[test]
    fn options_are_collected() {
        let line = parse("--posix -euo pipefail +u -c S");
        assert_eq!((line.letters.as_str(), line.named("posix"), line.named("pipefail")), ("ec", true, true));
        assert_eq!(parse("-x -e -- F").options_end, 3);
        assert_eq!(parse("--norc F").options_end, 2);
        assert!(parse("-o noexec F").only_reads() && !parse("-n +n F").only_reads());
        assert_eq!(parse("--rcfile R -ic S").rcfile, Some(2));
    }
}
