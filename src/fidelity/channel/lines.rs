//! Channels that read a line of their own syntax: cron, at, make, xargs, find, parallel.
//!
//! In: an [`Order`]. Out: a [`Rendering`], raw where the syntax can say the text, else a capsule; and the way back.
//! Never: writes a byte that the hop would take for its own.

use crate::fidelity::channel::capsule::{self, Capsule};
use crate::fidelity::channel::domain::{Refusal, Why};
use crate::fidelity::channel::local::{bash, bash_text, owned};
use crate::fidelity::channel::name::{Channel, Reach, StdinPolicy};
use crate::fidelity::channel::remote::target;
use crate::fidelity::channel::rendering::{Form, Input, Mode, Order, Rendering, Staged};
use crate::fidelity::channel::words;

/// Longest command in a crontab that every cron takes (Debian's refuses 1023).
const CRON: usize = 900;
/// Longest line for a command that is built by another program.
const LONG: usize = 100_000;

/// A job is text for sh on standard input.
pub fn at(order: &Order<'_>) -> Result<Rendering, Refusal> {
    let (line, files) = raw_or_capsule(Channel::At, order, |t| t.len() <= LONG)?;
    let words = [owned(&[b"at"]), target(order)].concat();
    let job = [&line[..], b"\n"].concat();
    Ok(Rendering { files, ..Rendering::of_words(words, Input::Bytes(job)) })
}

/// The text as the one item, ended by a null byte.
pub fn xargs(order: &Order<'_>) -> Result<Rendering, Refusal> {
    let (mut words, mut item) = (owned(&[b"xargs", b"-0", b"bash", b"-c", b"--"]), order.text.to_vec());
    let mut files = Vec::new();
    if item.len() > LONG {
        // without the two dashes: so its reader knows a capsule
        words.truncate(4);
        Capsule { line: item, files } = capsule::capsule(Channel::Xargs, order, LONG)?;
    }
    item.push(0);
    Ok(Rendering { files, ..Rendering::of_words(words, Input::Bytes(item)) })
}

/// parallel gives its line to a shell after it has looked for its own strings in it.
pub fn parallel(order: &Order<'_>) -> Result<Rendering, Refusal> {
    let Capsule { line, files } = capsule::capsule(Channel::Parallel, order, LONG)?;
    let words = owned(&[b"parallel", b"--will-cite", b":::", &line]);
    Ok(Rendering { files, ..Rendering::of_words(words, Input::Null) })
}

/// A line for sh: bash with the text as its argument where `fits`, else a capsule.
fn raw_or_capsule(
    channel: Channel,
    order: &Order<'_>,
    fits: impl Fn(&[u8]) -> bool,
) -> Result<(Vec<u8>, Vec<Staged>), Refusal> {
    let mut line = words::join(&bash(order.text));
    if order.stdin == StdinPolicy::Null {
        line.extend_from_slice(b" </dev/null");
    }
    if fits(&line) {
        return Ok((line, Vec::new()));
    }
    let limit = if channel == Channel::Cron { CRON } else { LONG };
    let made = capsule::capsule(channel, order, limit)?;
    Ok((made.line, made.files))
}

/// A crontab's line: five fields or a word with `@`, then the command.
pub fn cron(order: &Order<'_>) -> Result<Rendering, Refusal> {
    let time = target(order);
    let is_time = match time.as_slice() {
        [word] => word.starts_with(b"@"),
        fields => fields.len() == 5,
    };
    if !is_time {
        return Err(Refusal::new(Channel::Cron, Why::Target("TIME"), "five fields, or a word like @daily"));
    }
    let is_safe = |line: &[u8]| {
        line.len() <= CRON
            && line.iter().all(|b| (b.is_ascii_graphic() || *b == b' ') && !matches!(b, b'%' | b'\\'))
    };
    let (line, files) = raw_or_capsule(Channel::Cron, order, is_safe)?;
    let whole = [&time.join(&b' ')[..], b" ", &line, b"\n"].concat();
    Ok(Rendering { files, ..Rendering::of_document(whole) })
}

/// A makefile of one silent recipe, by standard input or, where that is to be kept, by file.
pub fn make(order: &Order<'_>) -> Result<Rendering, Refusal> {
    let is_line = |line: &[u8]| line.len() <= LONG && !line.iter().any(|b| matches!(b, b'\n' | b'\r'));
    let (line, mut files) = raw_or_capsule(Channel::Make, order, is_line)?;
    let mut makefile = b"SHELL = /bin/sh\n.PHONY: all\nall:\n\t@".to_vec();
    for byte in line {
        if byte == b'$' {
            makefile.push(b'$');
        }
        makefile.push(byte);
    }
    makefile.push(b'\n');
    if order.stdin == StdinPolicy::Null {
        let words = owned(&[b"make", b"-s", b"-f", b"-", b"all"]);
        return Ok(Rendering { files, ..Rendering::of_words(words, Input::Bytes(makefile)) });
    }
    if order.reach == Reach::OtherFiles {
        return Err(Refusal::new(Channel::Make, Why::Stdin, "use --stdin-policy null"));
    }
    let path = [order.place, b".mk"].concat();
    files.push(Staged { path: path.clone(), bytes: makefile, mode: Mode::Data });
    let words = owned(&[b"make", b"-s", b"-f", &path, b"all"]);
    Ok(Rendering { files, ..Rendering::of_words(words, Input::Inherit) })
}

/// `find / -maxdepth 0 -exec bash -c -- TEXT ';'`; find replaces `{}` wherever it stands in a word.
pub fn find(order: &Order<'_>) -> Result<Rendering, Refusal> {
    let is_safe =
        order.text.len() <= LONG && order.text != b";" && memchr::memmem::find(order.text, b"{}").is_none();
    let (command, files) = if is_safe {
        (bash(order.text), Vec::new())
    } else {
        let Capsule { line, files } = capsule::capsule(Channel::Find, order, LONG)?;
        (if files.is_empty() { owned(&[b"bash", b"-c", &line]) } else { vec![line] }, files)
    };
    let words = [owned(&[b"find", b"/", b"-maxdepth", b"0", b"-exec"]), command, owned(&[b";"])].concat();
    Ok(Rendering { files, ..Rendering::of_words(words, Input::of(order.stdin)) })
}

/// The text that the receiver gets.
pub fn decode(channel: Channel, rendering: &Rendering) -> Option<Vec<u8>> {
    let files = &rendering.files;
    match (channel, &rendering.form, &rendering.input) {
        (Channel::Cron, Form::Document(whole), _) => from_shell(&cron_command(whole)?, files),
        (Channel::At, Form::Words(words), Input::Bytes(job)) if words.first()? == b"at" => {
            from_shell(job.strip_suffix(b"\n")?, files)
        }
        (Channel::Make, Form::Words(words), input) => {
            let makefile = match (words.as_slice(), input) {
                ([_, _, _, dash, _], Input::Bytes(bytes)) if dash == b"-" => bytes,
                ([_, _, _, path, _], _) => &files.iter().find(|f| f.path == *path)?.bytes,
                _ => return None,
            };
            from_shell(&recipe(makefile)?, files)
        }
        (Channel::Xargs, Form::Words(words), Input::Bytes(items)) => {
            let mut items = items.split(|b| *b == 0);
            let (item, end) = (items.next()?, items.next()?);
            let called =
                [words.strip_prefix(owned(&[b"xargs", b"-0"]).as_slice())?, &[item.to_vec()]].concat();
            if !end.is_empty() || items.next().is_some() {
                return None;
            }
            if words.len() == 4 { capsule::open(item, files) } else { bash_text(&called) }
        }
        (Channel::Find, Form::Words(words), _) => {
            let call =
                words.strip_prefix(owned(&[b"find", b"/", b"-maxdepth", b"0", b"-exec"]).as_slice())?;
            let end = call.iter().position(|w| w == b";")?;
            // as GNU find does: every `{}` in every word becomes the path
            let held: Vec<Vec<u8>> = call.get(..end)?.iter().map(|w| replaced(w, b"{}", b"/")).collect();
            match held.as_slice() {
                [path] => capsule::open(path, files),
                // without the two dashes it is a capsule
                [_, _, line] => capsule::open(line, files),
                words => bash_text(words),
            }
        }
        (Channel::Parallel, Form::Words(words), _) => {
            let [_, _, separator, line] = words.as_slice() else { return None };
            if separator == b":::" { capsule::open(line, files) } else { None }
        }
        _ => None,
    }
}

fn from_shell(line: &[u8], files: &[Staged]) -> Option<Vec<u8>> {
    if let Some(text) = capsule::open(line, files) {
        return Some(text);
    }
    let read = words::read(line)?;
    if read.feeder.is_some() { None } else { bash_text(&read.words) }
}

fn replaced(word: &[u8], what: &[u8], by: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = word;
    while let Some(at) = memchr::memmem::find(rest, what) {
        out.extend_from_slice(rest.get(..at).unwrap_or_default());
        out.extend_from_slice(by);
        rest = rest.get(at + what.len()..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}

/// The command of a crontab's line, by crontab(5): an unescaped `%` is a newline and ends the command.
fn cron_command(whole: &[u8]) -> Option<Vec<u8>> {
    let line = whole.strip_suffix(b"\n")?;
    if line.contains(&b'\n') {
        return None;
    }
    let fields = if line.starts_with(b"@") { 1 } else { 5 };
    let mut rest = line;
    for _ in 0..fields {
        let end = rest.iter().position(|b| *b == b' ')?;
        rest = rest.get(end + 1..)?;
    }
    if rest.iter().any(|b| matches!(b, b'%' | b'\\')) { None } else { Some(rest.to_vec()) }
}

/// The command of the only recipe, by make's rules: `$$` is a dollar, another `$` expands, a leading `@` is dropped.
fn recipe(makefile: &[u8]) -> Option<Vec<u8>> {
    let mut lines = makefile.split(|b| *b == b'\n').skip_while(|l| *l != b"all:");
    lines.next()?;
    let line = lines.next()?.strip_prefix(b"\t@")?;
    if lines.any(|l| !l.is_empty()) || line.ends_with(b"\\") {
        return None;
    }
    let mut out = Vec::new();
    let mut bytes = line.iter();
    while let Some(byte) = bytes.next() {
        if *byte == b'$' && bytes.next() != Some(&b'$') {
            return None;
        }
        out.push(*byte);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cron_and_make_read_their_own_bytes() {
        assert_eq!(cron_command(b"* * * * * date\n").unwrap(), b"date");
        assert_eq!(cron_command(b"@daily date +%F\n"), None);
        assert_eq!(recipe(b"all:\n\t@echo $$x\n").unwrap(), b"echo $x");
        assert_eq!(recipe(b"all:\n\t@echo $x\n"), None);
        assert_eq!(recipe(b"all:\n\t@a\n\t@b\n"), None);
    }

    #[test]
    fn find_replaces_its_braces_in_any_word() {
        assert_eq!(replaced(b"a{}b{}", b"{}", b"/"), b"a/b/");
    }
}
