//! What well-known filters and printers would print, where their input and arguments are known.
//!
//! In: program name, arguments, data. Out: the text, or `None` where it isn't certain.
//! Never: runs anything; prints more than the data limit.

mod coded;
mod format;
mod lines;
mod names;

pub use self::format::printf;

use crate::canonical::decode;
use crate::canonical::value::{DATA_LIMIT, Data, Field, has_hole};
use crate::effects::edit;

use self::coded::{coded, decompresses, tr, undumped};
use self::format::echo;
use self::lines::{End, cut, lines};
use self::names::{basename, dirname, mktemp, seq, which};

/// The printed text, if it is known.
pub fn simulate(program: &str, words: &[Field], input: &Data) -> Option<String> {
    let args: Vec<&str> = words.iter().map(|f| f.text.as_str()).collect();
    let text = match program {
        "echo" => echo(&args),
        "printf" => return printf(words),
        "seq" => seq(&args)?,
        "basename" => basename(&args)?,
        "dirname" => dirname(&args)?,
        "mktemp" => mktemp(&args)?,
        "which" | "pyenv-which" | "rbenv-which" => which(&args)?,
        "tty" if args.is_empty() => "/dev/tty\n".to_owned(),
        _ => filter(program, &args, input.text.as_deref()?)?,
    };
    (text.len() <= DATA_LIMIT).then_some(text)
}

/// Each line with its end.
fn ended<'l>(lines: impl Iterator<Item = &'l str>) -> String {
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// What a filter makes of a known input.
fn filter(program: &str, args: &[&str], input: &str) -> Option<String> {
    let options = args.iter().filter(|a| a.starts_with('-') && a.len() > 1).count();
    if has_hole(input) && !matches!(program, "cat" | "tee" | "tac" | "head" | "tail") {
        return None;
    }
    match program {
        "cat" if options > 0 => None,
        "cat" | "tee" => Some(input.to_owned()),
        "base64" | "gbase64" | "openssl" | "base32" | "basenc" => coded(program, args, input),
        "xxd" => undumped(args, input),
        "rev" => Some(decode::reverse_lines(input)),
        "tac" => Some(ended(input.lines().rev())),
        "tr" => tr(args, input),
        "gzip" | "zcat" | "gunzip" | "pigz" | "zlib-flate" if program != "gzip" || decompresses(args) => {
            decode::inflate(input)
        }
        "fold" => folded(args, input),
        "dd" => skipped(args, input),
        "head" => lines(args, input, End::First),
        "tail" => lines(args, input, End::Last),
        "cut" => cut(args, input),
        "sort" if options == 0 => {
            let mut list: Vec<&str> = input.lines().collect();
            list.sort_unstable();
            Some(ended(list.into_iter()))
        }
        "paste" => Some(format!("{}\n", input.lines().collect::<Vec<_>>().join(delimiter(args)))),
        "sed" => edit::sed(args, input),
        "awk" | "gawk" | "mawk" => edit::awk(args, input),
        _ => None,
    }
}

/// fold(1): lines of at most so many characters.
fn folded(args: &[&str], input: &str) -> Option<String> {
    let width: usize = match args {
        [] => 80,
        ["-w", n] => n.parse().ok()?,
        [one] => one.strip_prefix("-w")?.parse().ok()?,
        _ => return None,
    };
    if width == 0 || !input.is_ascii() {
        return None;
    }
    let mut out = String::new();
    for line in input.split_inclusive('\n') {
        for (i, c) in line.chars().enumerate() {
            if i > 0 && i % width == 0 && c != '\n' {
                out.push('\n');
            }
            out.push(c);
        }
    }
    Some(out)
}

/// dd(1) as a filter: `bs=1 skip=N count=N`.
fn skipped(args: &[&str], input: &str) -> Option<String> {
    let (mut size, mut skip, mut count) = (512_usize, 0_usize, None);
    for arg in args {
        match arg.split_once('=')? {
            ("bs" | "ibs", n) => size = n.parse().ok()?,
            ("skip", n) => skip = n.parse().ok()?,
            ("count", n) => count = Some(n.parse::<usize>().ok()?),
            ("status", _) => {}
            _ => return None,
        }
    }
    let from = skip.checked_mul(size)?;
    let until = count.map_or(Some(input.len()), |n| n.checked_mul(size)?.checked_add(from))?;
    input.get(from..until.min(input.len())).map(str::to_owned)
}

/// paste's delimiter.
fn delimiter<'a>(args: &[&'a str]) -> &'a str {
    args.iter()
        .find_map(|a| a.strip_prefix("-sd").or_else(|| a.strip_prefix("-d")))
        .filter(|d| !d.is_empty())
        .or_else(|| args.iter().skip_while(|a| !matches!(**a, "-sd" | "-d")).nth(1).copied())
        .map_or("\t", |d| if d == "\\0" { "" } else { d })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Span;

    fn run(program: &str, args: &[&str], input: &str) -> Option<String> {
        let words: Vec<Field> = args.iter().map(|a| Field::known(*a, Span::default())).collect();
        simulate(program, &words, &Data::known(input))
    }

    #[test]
    fn printers_print_what_the_tools_print() {
        let cases: &[(&str, &[&str], &str, &str)] = &[
            ("echo", &["-n", "a", "b"], "", "a b"),
            ("echo", &["-e", r"\x72m"], "", "rm\n"),
            ("printf", &[r"%s\n", "a", "b"], "", "a\nb\n"),
            ("printf", &["%b", r"\0162m"], "", "rm"),
            ("printf", &[r"\x72\x6d"], "", "rm"),
            ("printf", &["%03d|%-3s|", "7", "x"], "", "007|x  |"),
            ("base64", &["-d"], "aWQK", "id\n"),
            ("rev", &[], "di\n", "id\n"),
            ("tr", &["a-z", "b-za"], "hc", "id"),
            ("tr", &["-d", "x"], "ixd", "id"),
            ("xxd", &["-r", "-p"], "6964", "id"),
            ("head", &["-n", "1"], "a\nb\n", "a\n"),
            ("tail", &["-n", "+2"], "a\nb\n", "b\n"),
            ("cut", &["-d:", "-f1"], "root:x\n", "root\n"),
            ("cut", &["-c2-3"], "abcd\n", "bc\n"),
            ("seq", &["2", "3"], "", "2\n3\n"),
            ("basename", &["/a/b.c", ".c"], "", "b\n"),
        ];
        for (program, args, input, want) in cases {
            assert_eq!(run(program, args, input).as_deref(), Some(*want), "{program} {args:?}");
        }
    }
}
