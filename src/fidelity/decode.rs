//! What receivers read out of what they got: words of an argument vector, a shell's command line, strings of
//! formats.
//!
//! In: what is under way. Out: the same, decoded. Never: knows the receiver's variables or files: expansions
//! give nothing, and are marked.

use crate::fidelity::encode::replace;
use crate::fidelity::step::{Cargo, Known, Live, StepError, Takes, utf8};
use crate::syntax::bounds::Limits;
use crate::syntax::grammar::{self, Dialect};
use crate::syntax::tree::{Command, Compound, Piece, Script, Simple, Word};
use crate::text;

type Result<T> = std::result::Result<T, StepError>;

macro_rules! step {
    ($name:literal, $takes:ident, $about:literal, $run:expr) => {
        Known { name: $name, takes: Takes::$takes, about: $about, run: $run }
    };
}

pub const STEPS: &[Known] = &[
    step!("join", Nothing, "the words joined by blanks", |cargo, _| {
        cargo.map_words(|words| Ok(vec![words.join(&b' ')]))
    }),
    step!("skip", Number, "without this many words at the front", |cargo, argument| {
        let count = argument.parse().unwrap_or(0);
        cargo.map_words(|words| Ok(words.into_iter().skip(count).collect()))
    }),
    step!("argument", Number, "the word at this place, from 0", |cargo, argument| {
        let at = argument.parse().unwrap_or(usize::MAX);
        let missing = StepError::Outside("the receiver got fewer words than it needs");
        cargo.map_words(|words| words.into_iter().nth(at).map(|word| vec![word]).ok_or(missing))
    }),
    step!("after", Text, "the word behind the first word that is this one", |cargo, argument| {
        let missing = StepError::Outside("the receiver got no text behind its option");
        cargo.map_words(|words| {
            let at = words.iter().position(|word| word == argument.as_bytes());
            at.and_then(|at| words.get(at + 1)).map(|word| vec![word.clone()]).ok_or(missing)
        })
    }),
    step!(
        "sudo-escape",
        Nothing,
        "sudo -i and -s: a backslash before all but letters, digits, _ - $",
        |cargo, _| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-$".contains(&byte);
            let escape = |word: Vec<u8>| -> Vec<u8> {
                word.into_iter().flat_map(|b| if plain(b) { vec![b] } else { vec![b'\\', b] }).collect()
            };
            cargo.map_words(|words| Ok(words.into_iter().map(escape).collect()))
        }
    ),
    step!("program-name", Nothing, "the receiver takes all of it for a program's name", |cargo, _| {
        cargo.map(|text| {
            let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./+".contains(byte);
            let no_program =
                StepError::Outside("the receiver takes all of it for a program's name, which it isn't");
            if text.iter().all(plain) { Ok(text) } else { Err(no_program) }
        })
    }),
    step!(
        "screen-stuff",
        Nothing,
        "screen's stuff: \\NNN and ^X are characters, $NAME is expanded",
        |cargo, _| {
            let (text, before) = cargo.into_text()?;
            let live = if before || memchr::memchr(b'$', &text).is_some() { Live::Yes } else { Live::No };
            Ok(Cargo::text(stuffed(&text)).with_live(live))
        }
    ),
    step!("shell", Nothing, "a shell reads it: the words of its first command", |cargo, _| shell(
        cargo, None
    )),
    step!(
        "command",
        Text,
        "a shell reads it: the words of the first command of this name",
        |cargo, argument| { shell(cargo, Some(argument)) }
    ),
    step!(
        "frame",
        Text,
        "a shell reads it: what stands in BEFORE…AFTER as one list, else all of it",
        |cargo, argument| { cargo.map(|whole| frame(whole, argument)) }
    ),
    step!("readable", Nothing, "a shell must be able to read it", |cargo, _| {
        cargo.map(|whole| read(&whole).map(|_| whole))
    }),
    step!("words", Nothing, "split as Python's shlex.split does", |cargo, _| {
        let (text, _) = cargo.into_text()?;
        split(&text, b"\"\\").map(Cargo::words)
    }),
    step!("env-s", Nothing, "split as env -S does", |cargo, _| {
        let (text, live) = cargo.into_text()?;
        let mark = if live || memchr::memchr(b'$', &text).is_some() { Live::Yes } else { Live::No };
        env_split(&text).map(|words| Cargo::words(words).with_live(mark))
    }),
    step!("json-string", Nothing, "decoded as a JSON string", |cargo, _| cargo.map(json)),
    step!("base64-decode", Nothing, "decoded from base64", |cargo, _| {
        let broken = StepError::Malformed("this is no base64");
        cargo.map(|text| data_encoding::BASE64.decode(&text).map_err(|_| broken))
    }),
    step!("html-decode", Nothing, "HTML entities decoded", |cargo, _| {
        cargo.map(|text| {
            let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#x27;", "'"), ("&amp;", "&")];
            Ok(pairs.iter().fold(text, |text, (from, to)| replace(&text, from.as_bytes(), to.as_bytes())))
        })
    }),
];

/// One pass of a receiving shell over a whole text.
fn read(text: &[u8]) -> Result<Script> {
    let judged = text::judged(text);
    let parsed = grammar::parse(&judged, Dialect::Bash, &Limits::default());
    match parsed.error {
        None => Ok(parsed.script),
        Some(_) => Err(StepError::Malformed("the receiving shell can't read it")),
    }
}

fn shell(cargo: Cargo, name: Option<&str>) -> Result<Cargo> {
    let (text, before) = cargo.into_text()?;
    // of a malformed text bash runs the complete commands before the error
    let judged = text::judged(&text);
    let script = grammar::parse(&judged, Dialect::Bash, &Limits::default()).script;
    let malformed = StepError::Malformed("the receiving shell can't read it");
    let mut calls = Vec::new();
    simple_commands(&script, &mut calls);
    let wanted = |call: &&Simple| {
        let head = call.words.first().and_then(Word::literal);
        name.is_none_or(|name| head.as_deref() == Some(name))
    };
    let call = calls.into_iter().find(wanted).ok_or(malformed)?;
    let (words, live) = expand_all(&call.words);
    Ok(Cargo::words(words).with_live(live).with_live(if before { Live::Yes } else { Live::No }))
}

/// The simple commands that run in any case or after one another, groups looked into.
fn simple_commands<'s>(script: &'s Script, out: &mut Vec<&'s Simple>) {
    for item in &script.items {
        for pipeline in std::iter::once(&item.first).chain(item.rest.iter().map(|(_, next)| next)) {
            for command in &pipeline.commands {
                match command {
                    Command::Simple(simple) => out.push(simple),
                    Command::Compound(Compound::Brace(inner) | Compound::Subshell(inner), _) => {
                        simple_commands(inner, out);
                    }
                    Command::Compound(..) | Command::Function(_) => {}
                }
            }
        }
    }
}

/// The words of a command in an empty environment and an empty directory.
fn expand_all(words: &[Word]) -> (Vec<Vec<u8>>, Live) {
    let mut live = Live::No;
    let mut out = Vec::new();
    for word in words {
        let mut text = String::new();
        let mut quoted = false;
        for piece in &word.pieces {
            match piece {
                Piece::Bare(part) => {
                    // braces make several words of one, globs ask the directory
                    if part.contains(['*', '?', '[']) || part.contains('{') && part.contains('}') {
                        live = Live::Yes;
                    }
                    text.push_str(part);
                }
                Piece::Quoted(part, _) => {
                    quoted = true;
                    text.push_str(part);
                }
                Piece::Tilde(user) => {
                    live = Live::Yes;
                    text.push('~');
                    text.push_str(user);
                }
                Piece::Parameter(_, quoting) | Piece::Command(_, quoting) | Piece::Arithmetic(_, quoting) => {
                    live = Live::Yes;
                    quoted |= *quoting == crate::syntax::tree::Quoting::Double;
                }
                Piece::Process(..) => live = Live::Yes,
            }
        }
        if quoted || !text.is_empty() {
            out.push(text::raw(&text).into_owned());
        }
    }
    (out, live)
}

/// What a shell makes of a text between double quotes, in an empty environment.
///
/// # Errors
/// Something in it isn't closed.
pub fn shell_text(text: &[u8]) -> Result<(Vec<u8>, Live)> {
    let judged = text::judged(text);
    let word = grammar::parse_word_text(&judged, Dialect::Bash, &Limits::default())
        .map_err(|_| StepError::Malformed("an expansion in it is not closed"))?;
    let (words, live) = expand_all(&[word]);
    Ok((words.into_iter().next().unwrap_or_default(), live))
}

/// What stands between the frame's parts, if the shell reads it as a list of its own there.
fn frame(whole: Vec<u8>, argument: &str) -> Result<Vec<u8>> {
    let (before, after) = argument.split_once('…').unwrap_or((argument, ""));
    let script = read(&whole)?;
    let inner = whole.strip_prefix(before.as_bytes()).and_then(|rest| rest.strip_suffix(after.as_bytes()));
    let Some(inner) = inner else { return Ok(whole) };
    let Ok(alone) = read(inner) else { return Ok(whole) };
    let (all, own) = (crate::fidelity::normal::of(&script), crate::fidelity::normal::of(&alone));
    // the first and the last command of the text must be whole commands of the frame
    Ok(if all.contains(own.trim_end_matches(crate::fidelity::normal::END)) { inner.to_vec() } else { whole })
}

fn json(text: Vec<u8>) -> Result<Vec<u8>> {
    serde_json::from_str::<String>(&utf8(text)?)
        .map(String::into_bytes)
        .map_err(|_| StepError::Malformed("this is no JSON string"))
}

/// shlex.split in POSIX mode, comments off: quotes, and backslashes which within double quotes only escape
/// `escapes`.
pub fn split(text: &[u8], escapes: &[u8]) -> Result<Vec<Vec<u8>>> {
    let unclosed = StepError::Malformed("a quote in it is not closed");
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => words.extend(word.take()),
            b'\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match bytes.next().ok_or_else(|| unclosed.clone())? {
                        b'\'' => break,
                        byte => word.push(byte),
                    }
                }
            }
            b'"' => {
                let word = word.get_or_insert_default();
                loop {
                    match bytes.next().ok_or_else(|| unclosed.clone())? {
                        b'"' => break,
                        b'\\' => {
                            let next = bytes.next().ok_or_else(|| unclosed.clone())?;
                            if !escapes.contains(&next) {
                                word.push(b'\\');
                            }
                            word.push(next);
                        }
                        byte => word.push(byte),
                    }
                }
            }
            b'\\' => {
                let next = bytes.next().ok_or(StepError::Malformed("it ends in a backslash"))?;
                word.get_or_insert_default().push(next);
            }
            byte => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    Ok(words)
}

/// GNU env's `-S` (env(1)): `${NAME}` is expanded, `#` at the start of a word begins a comment, `\c` ends it,
/// other escapes as in C.
fn env_split(text: &[u8]) -> Result<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let (mut single, mut double) = (false, false);
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'\'' if !double => {
                single = !single;
                word.get_or_insert_default();
            }
            b'"' if !single => {
                double = !double;
                word.get_or_insert_default();
            }
            b' ' | b'\t' | b'\n' | b'\x0b' | b'\x0c' | b'\r' if !single && !double => {
                words.extend(word.take());
            }
            b'#' if word.is_none() && !single && !double => break,
            b'\\' => {
                let next = *text.get(at).ok_or(StepError::Malformed("it ends in a backslash"))?;
                at += 1;
                if single && next != b'\\' && next != b'\'' {
                    word.get_or_insert_default().extend_from_slice(&[b'\\', next]);
                    continue;
                }
                match env_escape(next, double)? {
                    Some(byte) => word.get_or_insert_default().push(byte),
                    None if next == b'c' => break,
                    None => words.extend(word.take()),
                }
            }
            b'$' if !single => {
                let rest = text.get(at..).unwrap_or_default();
                let end = rest.first().filter(|byte| **byte == b'{').and_then(|_| memchr::memchr(b'}', rest));
                at += end.ok_or(StepError::Malformed("env -S takes ${NAME} only"))? + 1;
                word.get_or_insert_default();
            }
            byte => word.get_or_insert_default().push(byte),
        }
    }
    if single || double {
        return Err(StepError::Malformed("a quote in it is not closed"));
    }
    words.extend(word);
    Ok(words)
}

/// The byte that an escape stands for; `None`: it separates words, or ends the text.
fn env_escape(letter: u8, double: bool) -> Result<Option<u8>> {
    Ok(Some(match letter {
        b'"' | b'#' | b'$' | b'\'' | b'\\' => letter,
        b'_' if double => b' ',
        b'_' | b'c' if !double => return Ok(None),
        b'f' => 12,
        b'n' => 10,
        b'r' => 13,
        b't' => 9,
        b'v' => 11,
        _ => return Err(StepError::Malformed("env -S knows no such escape")),
    }))
}

/// screen(1), "stuff": octal escapes, `^` with a letter, and a backslash before any other character.
fn stuffed(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    loop {
        match rest {
            [b'\\', a @ b'0'..=b'7', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..] => {
                let value = u32::from(a - b'0') * 64 + u32::from(b - b'0') * 8 + u32::from(c - b'0');
                out.push(u8::try_from(value & 0xff).unwrap_or(0));
                rest = after;
            }
            [b'^', byte @ b'@'..=b'_', after @ ..] => {
                out.push(byte & 0x1f);
                rest = after;
            }
            [b'\\', byte, after @ ..] | [byte, after @ ..] => {
                out.push(*byte);
                rest = after;
            }
            [] => return out,
        }
    }
}

/// Lines of a text, without their newlines; a last empty one does not count.
pub fn lines_of(text: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fidelity::step::Step;

    fn run(steps: &[&str], text: &str) -> std::result::Result<(String, bool), StepError> {
        let mut cargo = Cargo::text(text.as_bytes().to_vec());
        for step in steps {
            cargo = Step::parse(step)?.apply(cargo)?;
        }
        let (text, live) = cargo.into_text()?;
        Ok((String::from_utf8(text).unwrap(), live))
    }

    #[test]
    fn a_shell_s_words_are_its_words() {
        for (steps, text, expected, live) in [
            (&["shell", "argument:2"][..], "bash -c 'a b'", "a b", false),
            (&["shell", "argument:2"], "bash -c a b", "a", false),
            (&["shell", "argument:2"], "bash -c \"echo $x\"", "echo ", true),
            (&["shell", "argument:2"], "bash -c 'it'\\''s'", "it's", false),
            (&["shell", "after:-c"], "x -c a\nmore", "a", false),
            (&["command:eval", "skip:1", "join"], "cd /x && eval 'a  b' < /dev/null && pwd", "a  b", false),
            (&["command:eval", "skip:1", "join"], "eval a  b", "a b", false),
            (&["frame:{ …; }"], "{ a | b; }", "a | b", false),
            (&["frame:{ …; }"], "{ a # b\n; }", "{ a # b\n; }", false),
            (&["frame:… < /dev/null"], "a; b < /dev/null", "a; b < /dev/null", false),
            (&["words", "argument:1"], r#"x "a\n\"b""#, r#"a\n"b"#, false),
            (&["env-s", "argument:2"], r"bash -c 'a\tb\\'", r"a\tb\", false),
            (&["env-s", "argument:2"], r#"bash -c "a\tb""#, "a\tb", false),
            (&["env-s", "argument:2"], "bash -c \"a${X}\"", "a", true),
            (&["json-string"], r#""a\u00e9\n""#, "a\u{e9}\n", false),
        ] {
            if text.contains("# b") {
                assert!(matches!(run(steps, text), Err(StepError::Malformed(_))), "{text}");
                continue;
            }
            assert_eq!(run(steps, text), Ok((expected.to_owned(), live)), "{steps:?} {text}");
        }
    }

    #[test]
    fn what_the_receiver_cannot_read_runs_nothing() {
        for (steps, text) in [
            (&["shell", "argument:2"][..], "bash -c 'a"),
            (&["words", "join"], "a 'b"),
            (&["env-s", "join"], r"a \q"),
            (&["env-s", "join"], "a $x"),
            (&["json-string"], "\"a\"b\""),
            (&["readable"], "if a"),
            (&["base64-decode"], "?"),
        ] {
            assert!(matches!(run(steps, text), Err(StepError::Malformed(_))), "{steps:?} {text}");
        }
    }
}
