//! Changes that wrappers, transports and editors have been seen to make to texts: faults to inject, and hops
//! to describe.
//!
//! In: one text. Out: one text, often the same. Never: fails where there is nothing to change.

use crate::fidelity::decode::shell_text;
use crate::fidelity::encode::replace;
use crate::fidelity::step::{Cargo, Known, StepError, Takes};

macro_rules! plain {
    ($name:literal, $about:literal, $change:expr) => {
        Known {
            name: $name,
            takes: Takes::Nothing,
            about: $about,
            run: |cargo, _| cargo.map(|text| Ok($change(&text))),
        }
    };
}

macro_rules! with {
    ($name:literal, $about:literal, $change:expr) => {
        Known {
            name: $name,
            takes: Takes::Text,
            about: $about,
            run: |cargo, argument| cargo.map(|text| Ok($change(&text, argument.as_bytes()))),
        }
    };
}

pub const STEPS: &[Known] = &[
    plain!("trim", "white space at both ends removed", |text: &[u8]| text.trim_ascii().to_vec()),
    plain!("trim-end", "white space at the end removed", |text: &[u8]| text.trim_ascii_end().to_vec()),
    plain!("trim-newline", "one newline at the end removed", |text: &[u8]| {
        text.strip_suffix(b"\n").unwrap_or(text).to_vec()
    }),
    plain!("add-newline", "a newline added at the end", |text: &[u8]| [text, b"\n"].concat()),
    plain!("trim-lines", "white space at the start of each line removed", trim_lines),
    plain!("halve-backslashes", "each pair of backslashes becomes one", |text: &[u8]| {
        replace(text, b"\\\\", b"\\")
    }),
    plain!("double-backslashes", "each backslash becomes two", |text: &[u8]| replace(text, b"\\", b"\\\\")),
    plain!("drop-backslashes", "backslashes removed", |text: &[u8]| replace(text, b"\\", b"")),
    plain!("bang", "a backslash put before each exclamation mark", |text: &[u8]| replace(text, b"!", b"\\!")),
    plain!("crlf", "newlines become carriage return and newline", |text: &[u8]| {
        replace(&replace(text, b"\r\n", b"\n"), b"\n", b"\r\n")
    }),
    plain!("strip-cr", "carriage returns removed", |text: &[u8]| replace(text, b"\r", b"")),
    plain!("expand-tabs", "tabs become eight blanks", |text: &[u8]| replace(text, b"\t", b"        ")),
    plain!("drop-tabs", "tabs removed", |text: &[u8]| replace(text, b"\t", b"")),
    plain!("squeeze", "runs of blanks become one", squeeze),
    plain!("join-space", "newlines become blanks", |text: &[u8]| replace(text, b"\n", b" ")),
    plain!("first-line", "all behind the first newline dropped", |text: &[u8]| {
        text.split(|byte| *byte == b'\n').next().unwrap_or_default().to_vec()
    }),
    plain!("drop-quotes", "double quotes removed", |text: &[u8]| replace(text, b"\"", b"")),
    plain!("drop-apostrophes", "single quotes removed", |text: &[u8]| replace(text, b"'", b"")),
    plain!("swap-quotes", "single quotes become double ones", |text: &[u8]| replace(text, b"'", b"\"")),
    plain!("unescape", r"\n and \t become newline and tab", |text: &[u8]| {
        replace(&replace(text, b"\\n", b"\n"), b"\\t", b"\t")
    }),
    plain!("html", "& < > and quotes as HTML entities", html),
    plain!("smart-quotes", "straight quotes become typographic ones", smart),
    plain!("plain-quotes", "typographic quotes and dashes become straight ones", unsmart),
    plain!("ascii", "everything outside ASCII removed", |text: &[u8]| {
        text.iter().copied().filter(u8::is_ascii).collect::<Vec<u8>>()
    }),
    plain!("lossy", "bytes that are not UTF-8 become U+FFFD", |text: &[u8]| {
        String::from_utf8_lossy(text).into_owned().into_bytes()
    }),
    plain!("latin1", "UTF-8 read as Latin-1 and written as UTF-8", |text: &[u8]| {
        text.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes()
    }),
    plain!("bom", "a byte order mark put before it", |text: &[u8]| [b"\xef\xbb\xbf", text].concat()),
    plain!("paste-marks", "put between bracketed-paste marks", |text: &[u8]| {
        [b"\x1b[200~", text, b"\x1b[201~"].concat()
    }),
    plain!("drop-comments", "lines that begin with # removed", drop_comments),
    plain!("drop-fence", "a Markdown fence around it removed", drop_fence),
    Known {
        name: "expand",
        takes: Takes::Nothing,
        about: "read by a shell between double quotes: $ and backquotes are live, in an empty environment",
        run: |cargo, _| {
            let (text, live) = cargo.into_text()?;
            let (text, more) = shell_text(&text)?;
            let cargo = Cargo::text(text).with_live(more);
            Ok(if live { cargo.with_live(crate::fidelity::step::Live::Yes) } else { cargo })
        },
    },
    plain!("lines-and", "newlines become &&", |text: &[u8]| replace(text, b"\n", b" && ")),
    plain!("drop-tab", "a tab at the start removed", |text: &[u8]| {
        text.strip_prefix(b"\t").unwrap_or(text).to_vec()
    }),
    with!("strip", "this text removed from the start", |text: &[u8], which: &[u8]| {
        text.strip_prefix(which).unwrap_or(text).to_vec()
    }),
    with!("prefix", "this text put before it", |text: &[u8], more: &[u8]| [more, text].concat()),
    with!("suffix", "this text put behind it", |text: &[u8], more: &[u8]| [text, more].concat()),
    with!("join-lines", "newlines become this text", |text: &[u8], more: &[u8]| replace(text, b"\n", more)),
    with!("drop", "this text removed everywhere", |text: &[u8], which: &[u8]| {
        if which.is_empty() { text.to_vec() } else { replace(text, which, b"") }
    }),
    Known {
        name: "truncate",
        takes: Takes::Number,
        about: "cut to this many bytes",
        run: |cargo, argument| {
            let most = argument.parse().unwrap_or(usize::MAX);
            cargo.map(|mut text| {
                text.truncate(most);
                Ok(text)
            })
        },
    },
    Known {
        name: "at-most",
        takes: Takes::Number,
        about: "refused if longer than this many bytes",
        run: |cargo, argument| {
            let limit = argument.parse().unwrap_or(usize::MAX);
            cargo.map(|text| if text.len() > limit { Err(StepError::TooLong { limit }) } else { Ok(text) })
        },
    },
];

fn lines(text: &[u8], change: impl Fn(&[u8]) -> Option<Vec<u8>>) -> Vec<u8> {
    text.split_inclusive(|byte| *byte == b'\n').filter_map(change).flatten().collect()
}

fn trim_lines(text: &[u8]) -> Vec<u8> {
    lines(text, |line| {
        let blanks = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        line.get(blanks..).map(<[u8]>::to_vec)
    })
}

fn drop_comments(text: &[u8]) -> Vec<u8> {
    lines(text, |line| (!line.trim_ascii_start().starts_with(b"#")).then(|| line.to_vec()))
}

fn squeeze(text: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    for byte in text {
        let blank = matches!(byte, b' ' | b'\t');
        if blank && matches!(out.last(), Some(b' ' | b'\t')) {
            continue;
        }
        out.push(*byte);
    }
    out
}

fn html(text: &[u8]) -> Vec<u8> {
    let mut out = replace(text, b"&", b"&amp;");
    for (from, to) in [("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&#x27;")] {
        out = replace(&out, from.as_bytes(), to.as_bytes());
    }
    out
}

fn smart(text: &[u8]) -> Vec<u8> {
    replace(&replace(text, b"'", "\u{2019}".as_bytes()), b"\"", "\u{201d}".as_bytes())
}

fn unsmart(text: &[u8]) -> Vec<u8> {
    let mut out = text.to_vec();
    for (from, to) in [
        ("\u{2018}", "'"),
        ("\u{2019}", "'"),
        ("\u{201c}", "\""),
        ("\u{201d}", "\""),
        ("\u{2013}", "-"),
        ("\u{2014}", "-"),
        ("\u{2026}", "..."),
        ("\u{a0}", " "),
    ] {
        out = replace(&out, from.as_bytes(), to.as_bytes());
    }
    out
}

fn drop_fence(text: &[u8]) -> Vec<u8> {
    let trimmed = text.trim_ascii();
    let Some(inner) = trimmed.strip_prefix(b"```").and_then(|rest| rest.strip_suffix(b"```")) else {
        return text.to_vec();
    };
    let body = memchr::memchr(b'\n', inner).and_then(|at| inner.get(at + 1..)).unwrap_or(inner);
    body.strip_suffix(b"\n").unwrap_or(body).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fidelity::step::Step;

    #[test]
    fn changes_do_what_their_names_say() {
        for (step, text, expected) in [
            ("trim", " a\n", "a"),
            ("trim-newline", "a\n\n", "a\n"),
            ("trim-lines", "  a\n\tb", "a\nb"),
            ("halve-backslashes", r"a\\\\b\c\\\", r"a\\b\c\\"),
            ("bang", "!x!", r"\!x\!"),
            ("crlf", "a\r\nb\n", "a\r\nb\r\n"),
            ("squeeze", "a  b\t c", "a b\tc"),
            ("join-lines: && ", "a\nb", "a && b"),
            ("first-line", "a\nb", "a"),
            ("html", "a<'&", "a&lt;&#x27;&amp;"),
            ("smart-quotes", "'a\"", "\u{2019}a\u{201d}"),
            ("plain-quotes", "\u{201c}a\u{2014}\u{a0}", "\"a- "),
            ("ascii", "a\u{e9}b", "ab"),
            ("latin1", "\u{e9}", "\u{c3}\u{a9}"),
            ("drop-comments", "# x\na # b\n  # c\n", "a # b\n"),
            ("drop-fence", "```sh\nls\n```\n", "ls"),
            ("drop-fence", "ls ```", "ls ```"),
            ("truncate:2", "abc", "ab"),
            ("drop:b", "abcb", "ac"),
            ("suffix: < /dev/null", "a", "a < /dev/null"),
            ("unescape", r"a\nb\tc", "a\nb\tc"),
            ("expand", "a $x `id` \\$y 'q'", "a   $y 'q'"),
        ] {
            let cargo = Step::parse(step).unwrap().apply(Cargo::text(text.as_bytes().to_vec())).unwrap();
            assert_eq!(String::from_utf8(cargo.into_text().unwrap().0).unwrap(), expected, "{step} {text}");
        }
    }
}
