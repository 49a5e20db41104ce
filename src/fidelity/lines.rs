//! Receivers that read lines: make, cron, xargs, parallel, terminals, tmux, Dockerfiles, YAML blocks.
//!
//! In: one text. Out: the text that the first shell of such a line gets. Never: runs two lines where the
//! receiver runs two shells: the first is what is followed, the others are lost to it.

use crate::fidelity::decode::{lines_of, split};
use crate::fidelity::encode::replace;
use crate::fidelity::step::{Cargo, Known, Live, StepError, Takes};

type Result<T> = std::result::Result<T, StepError>;

macro_rules! plain {
    ($name:literal, $about:literal, $change:expr) => {
        Known { name: $name, takes: Takes::Nothing, about: $about, run: |cargo, _| cargo.map($change) }
    };
}

pub const STEPS: &[Known] = &[
    Known {
        name: "make-recipe",
        takes: Takes::Nothing,
        about: "make reads it behind a recipe's tab: $ is expanded, each line is a shell of its own",
        run: make,
    },
    Known {
        name: "make-oneshell",
        takes: Takes::Nothing,
        about: "as make-recipe, with .ONESHELL: all lines are one shell's, a tab at their start goes",
        run: |cargo, _| expand_dollars(cargo.map(|text| Ok(replace(&text, b"\n\t", b"\n")))?),
    },
    plain!(
        "cron-line",
        "cron reads it: % ends the command, \\% is %, one line of at most 998 bytes",
        |text| cron(&text)
    ),
    plain!("xargs-words", "xargs reads it by default: quotes and backslashes; the first word", |text| {
        let words = split(&text, b"")?;
        words.into_iter().next().ok_or(StepError::Outside("xargs got no word, so nothing starts"))
    }),
    plain!("xargs-line", "xargs -I reads it: quotes and backslashes, leading blanks go, one line", |text| {
        xargs_line(&text)
    }),
    plain!("line", "the receiver reads one line at a time: the first", |text| {
        let first = lines_of(&text).first().map(|line| line.to_vec());
        first.ok_or(StepError::Outside("there is no line, so nothing starts"))
    }),
    plain!(
        "terminal",
        "typed at a terminal in cooked mode: lines of at most 4095 bytes, no control bytes",
        |text| Ok(terminal(&text))
    ),
    plain!("tmux-keys", "tmux send-keys: a last ; is tmux's own", |text| {
        Ok(match text.strip_suffix(b"\\;") {
            Some(_) => text,
            None => text.strip_suffix(b";").map_or(text.clone(), <[u8]>::to_vec),
        })
    }),
    plain!(
        "docker-run",
        "a Dockerfile's RUN: goes on over lines that end in a backslash, without comments",
        |text| docker(&text)
    ),
    plain!("find-braces", "find -exec: {} is a file's name", |text| { Ok(replace(&text, b"{}", b".")) }),
    plain!(
        "yaml-literal",
        "a YAML block after `|`: indentation goes, one newline at the end stays",
        |text| { yaml_block(&text, false) }
    ),
    plain!("yaml-folded", "a YAML block after `>`: as literal, single newlines become blanks", |text| {
        yaml_block(&text, true)
    }),
    plain!("yaml-plain", "a YAML plain scalar: ` #` and `: ` end it, lines are folded", |text| yaml_plain(
        &text
    )),
];

fn make(cargo: Cargo, _: &str) -> Result<Cargo> {
    let cargo = cargo.map(|text| {
        // a line that ends in a backslash goes on; the shell gets both, a tab at the next one's start goes
        let mut out: Vec<u8> = Vec::new();
        for line in text.split(|byte| *byte == b'\n') {
            let goes_on = out.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
            if goes_on {
                out.push(b'\n');
                out.extend_from_slice(line.strip_prefix(b"\t").unwrap_or(line));
            } else if out.is_empty() {
                out.extend_from_slice(line);
            } else {
                break;
            }
        }
        let start = out.iter().take_while(|byte| b"@-+ \t".contains(byte)).count();
        Ok(out.split_off(start))
    })?;
    expand_dollars(cargo)
}

/// make's expansion without any variable set: `$$` is `$`, `$(…)`, `${…}` and `$x` are empty.
fn expand_dollars(cargo: Cargo) -> Result<Cargo> {
    let (text, before) = cargo.into_text()?;
    let mut live = if before { Live::Yes } else { Live::No };
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        if byte != b'$' {
            out.push(byte);
            continue;
        }
        match text.get(at) {
            Some(b'$') => {
                out.push(b'$');
                at += 1;
            }
            Some(open @ (b'(' | b'{')) => {
                live = Live::Yes;
                let close = if *open == b'(' { b')' } else { b'}' };
                let rest = text.get(at..).unwrap_or_default();
                let mut depth = 0_usize;
                let end = rest.iter().position(|byte| {
                    depth = depth + usize::from(byte == open) - usize::from(*byte == close && depth > 0);
                    depth == 0
                });
                at += end.ok_or(StepError::Malformed("make: unterminated variable reference"))? + 1;
            }
            Some(_) => {
                live = Live::Yes;
                at += 1;
            }
            None => {}
        }
    }
    Ok(Cargo::text(out).with_live(live))
}

/// crontab(5), cron's `load_entry` (entry.c, `MAX_COMMAND` 1000) and `child_process` (`do_command.c`).
fn cron(text: &[u8]) -> Result<Vec<u8>> {
    let line = lines_of(text).first().copied().unwrap_or_default();
    if line.len() > 998 {
        return Err(StepError::TooLong { limit: 998 });
    }
    if lines_of(text).len() > 1 {
        return Err(StepError::Malformed("crontab takes the second line for an entry of its own"));
    }
    let mut out: Vec<u8> = Vec::with_capacity(line.len());
    for byte in line {
        if *byte == b'%' {
            if out.last() == Some(&b'\\') {
                out.pop();
            } else {
                break;
            }
        }
        out.push(*byte);
    }
    Ok(out)
}

fn xargs_line(text: &[u8]) -> Result<Vec<u8>> {
    let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let line = text.get(blanks..).unwrap_or_default().split(|byte| *byte == b'\n').next().unwrap_or_default();
    // blanks within the line stay: only quotes and backslashes are read
    let held = replace(&replace(line, b" ", b"\\ "), b"\t", b"\\\t");
    if line.contains(&b'\'') || line.contains(&b'"') || line.contains(&b'\\') {
        return xargs_quotes(line);
    }
    split(&held, b"").map(|words| words.concat())
}

/// Quotes and backslashes of an xargs line; blanks stay.
fn xargs_quotes(line: &[u8]) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(line.len());
    let mut quote = None;
    let mut bytes = line.iter().copied();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (None, b'\'' | b'"') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            (None, b'\\') => out.extend(bytes.next()),
            (_, byte) => out.push(byte),
        }
    }
    if quote.is_some() { Err(StepError::Malformed("xargs: a quote is not closed")) } else { Ok(out) }
}

/// What a line discipline in cooked mode lets through to a reader (termios(3); `MAX_CANON` 4096 on Linux).
fn terminal(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let mut kept = Vec::with_capacity(line.len());
        for byte in line {
            match byte {
                // end of file, interrupt, quit, suspend, stop and start are the terminal's own
                3 | 4 | 17 | 19 | 26 | 28 => {}
                // erase, kill, word erase
                8 | 0x7f => drop(kept.pop()),
                21 => kept.clear(),
                b'\r' => kept.push(b'\n'),
                byte => kept.push(*byte),
            }
        }
        if kept.len() > 4095 {
            let newline = kept.last() == Some(&b'\n');
            kept.truncate(4095);
            if newline {
                kept.push(b'\n');
            }
        }
        out.append(&mut kept);
    }
    out
}

/// `BuildKit`'s parser: a backslash at a line's end joins the next, comment lines in between go, the first line
/// that ends without one ends the instruction.
fn docker(text: &[u8]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        if !out.is_empty() && line.trim_ascii_start().starts_with(b"#") {
            continue;
        }
        if let Some(part) = line.trim_ascii_end().strip_suffix(b"\\") {
            out.extend_from_slice(part);
        } else {
            out.extend_from_slice(line);
            break;
        }
    }
    let out = out.trim_ascii().to_vec();
    if lines_of(text).len() > 1 && !text.contains(&b'\\') {
        return Err(StepError::Malformed("the Dockerfile's second line is no instruction"));
    }
    Ok(out)
}

/// A block scalar (YAML 1.2.2, 8.1) whose lines are indented by two blanks, clipped.
fn yaml_block(text: &[u8], folded: bool) -> Result<Vec<u8>> {
    let first =
        text.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    let indent = first.iter().take_while(|byte| **byte == b' ').count();
    if indent < 1 {
        return Err(StepError::Malformed("the YAML block is empty"));
    }
    let mut lines = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        let own = line.iter().take_while(|byte| **byte == b' ').count();
        if own < indent && !line.trim_ascii().is_empty() {
            return Err(StepError::Malformed("a line of the YAML block is indented less than the first"));
        }
        if line.contains(&b'\t') && line.iter().take(own + 1).any(|byte| *byte == b'\t') && own < indent {
            return Err(StepError::Malformed("a tab indents the YAML block"));
        }
        if line.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t' && *byte != b'\r') {
            return Err(StepError::Malformed("YAML takes no control characters"));
        }
        lines.push(line.get(indent.min(line.len())..).unwrap_or_default());
    }
    while lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    for (at, line) in lines.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| lines.get(before));
        let special = |line: &[u8]| line.is_empty() || line.starts_with(b" ") || line.starts_with(b"\t");
        if let Some(before) = before {
            let fold = folded && !special(line) && !special(before);
            // a folded paragraph's blank line stands for the one newline before it
            let eaten = folded && before.is_empty() && !special(line) && at > 1;
            if fold {
                out.push(b' ');
            } else if !eaten {
                out.push(b'\n');
            }
        }
        out.extend_from_slice(line);
    }
    out.push(b'\n');
    Ok(out)
}

/// A plain scalar in a block mapping (YAML 1.2.2, 7.3.3).
fn yaml_plain(text: &[u8]) -> Result<Vec<u8>> {
    let indicator = |byte: &u8| b",[]{}#&*!|>'\"%@`".contains(byte);
    let dashed = matches!(text, [b'-' | b'?' | b':', b' ', ..]);
    if text.first().is_none_or(indicator) || dashed {
        return Err(StepError::Malformed("YAML reads the first character as its own"));
    }
    if text.contains(&b'\n') {
        return Err(StepError::Malformed("the next line is no part of the YAML value"));
    }
    if memchr::memmem::find(text, b": ").is_some() || text.ends_with(b":") {
        return Err(StepError::Malformed("`: ` makes a mapping of the YAML value"));
    }
    let end = memchr::memmem::find(text, b" #").unwrap_or(text.len());
    Ok(text.get(..end).unwrap_or_default().trim_ascii().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fidelity::step::Step;

    fn run(step: &str, text: &str) -> Option<String> {
        let cargo = Step::parse(step).unwrap().apply(Cargo::text(text.as_bytes().to_vec())).ok()?;
        Some(String::from_utf8(cargo.into_text().ok()?.0).unwrap())
    }

    #[test]
    fn line_receivers_hand_on_what_they_are_known_to() {
        for (step, text, expected) in [
            ("make-recipe", "echo $$x $(y) ${z}w $a", Some("echo $x  w ")),
            ("make-recipe", "@-echo a\necho b", Some("echo a")),
            ("make-recipe", "echo a \\\n\tb", Some("echo a \\\nb")),
            ("make-recipe", "echo $(x", None),
            ("make-oneshell", "echo a\n\techo b", Some("echo a\necho b")),
            ("cron-line", "date +\\%s", Some("date +%s")),
            ("cron-line", "cat%in", Some("cat")),
            ("cron-line", "a\nb", None),
            ("xargs-words", "a\\ b 'c d'", Some("a b")),
            ("xargs-line", "  a  'b c' \\d", Some("a  b c d")),
            ("xargs-line", "it's", None),
            ("line", "a\nb", Some("a")),
            ("terminal", "ab\x7fc\x04\n", Some("ac\n")),
            ("tmux-keys", "a;", Some("a")),
            ("tmux-keys", "a\\;", Some("a\\;")),
            ("docker-run", "a \\\n# c\n b", Some("a  b")),
            ("docker-run", "a\nb", None),
            ("yaml-literal", "  a\n\n    b\n  c\n\n", Some("a\n\n  b\nc\n")),
            ("yaml-folded", "  a\n  b\n\n  c", Some("a b\nc\n")),
            ("yaml-folded", "  a\n    b\n  c", Some("a\n  b\nc\n")),
            ("yaml-literal", "  a\n b", None),
            ("yaml-plain", "echo a #b", Some("echo a")),
            ("yaml-plain", "echo a: b", None),
            ("yaml-plain", "'a'", None),
            ("find-braces", "a {} b", Some("a . b")),
        ] {
            assert_eq!(run(step, text).as_deref(), expected, "{step} {text:?}");
        }
        assert_eq!(run("terminal", &format!("{}\n", "a".repeat(5000))).unwrap().len(), 4096);
        assert_eq!(run("cron-line", &"a".repeat(999)), None);
    }
}
