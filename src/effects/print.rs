//! What well-known filters and printers would print, where their input and arguments are known.
//!
//! In: program name, arguments, data. Out: the text, or `None` where it isn't certain.
//! Never: runs anything; prints more than the data limit.

use crate::canonical::decode::{self, Choice, Code, Translate};
use crate::canonical::escape::{Ended, Escapes, decode as unescape};
use crate::canonical::value::{DATA_LIMIT, Data, Field, has_hole};

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
        "which" => which(&args)?,
        "tty" if args.is_empty() => "/dev/tty\n".to_owned(),
        "yes" => return None,
        _ => filter(program, &args, input.text.as_deref()?)?,
    };
    (text.len() <= DATA_LIMIT).then_some(text)
}

/// which(1) of one plain name: a program of that name, wherever it lies.
fn which(args: &[&str]) -> Option<String> {
    let [name] = args else { return None };
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+'));
    (plain && !name.starts_with('-')).then(|| format!("/usr/bin/{name}\n"))
}

/// mktemp(1): a new name in the temporary folder, or where the template says.
fn mktemp(args: &[&str]) -> Option<String> {
    let (mut folder, mut template, mut in_folder) = (None, None, false);
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match *arg {
            "-p" => folder = Some(*rest.next()?),
            "--suffix" => drop(rest.next()),
            "-t" | "--tmpdir" => in_folder = true,
            "-d" | "-q" | "-dq" | "-qd" | "--directory" | "--quiet" => {}
            "-dt" | "-td" => in_folder = true,
            text if text.starts_with("--suffix=") => {}
            text => match text.strip_prefix("--tmpdir=") {
                Some(path) => folder = Some(path),
                None if text.starts_with('-') || template.is_some() => return None,
                None => template = Some(text),
            },
        }
    }
    let name = template.unwrap_or("tmp.XXXXXXXXXX");
    Some(match folder {
        Some(folder) => format!("{folder}/{name}\n"),
        None if in_folder || template.is_none() => format!("/tmp/{name}\n"),
        None => format!("{name}\n"),
    })
}

fn filter(program: &str, args: &[&str], input: &str) -> Option<String> {
    let has = |names: &[&str]| args.iter().any(|a| names.contains(a));
    let options = args.iter().filter(|a| a.starts_with('-') && a.len() > 1).count();
    if has_hole(input) && !matches!(program, "cat" | "tee" | "tac" | "head" | "tail") {
        return None;
    }
    match program {
        "cat" if options == 0 => Some(input.to_owned()),
        "tee" => Some(input.to_owned()),
        "base64" | "gbase64" | "openssl" | "base32" | "basenc" => coded(program, args, input),
        "xxd" => {
            let letters: String = args.iter().filter_map(|a| a.strip_prefix('-')).collect();
            match (letters.contains('r'), letters.contains('p')) {
                (true, true) => decode::decode(Code::Hex, input),
                (true, false) => decode::undump(input),
                (false, _) => None,
            }
        }
        "rev" => Some(decode::reverse_lines(input)),
        "tac" => Some(input.lines().rev().map(|l| format!("{l}\n")).collect()),
        "tr" => tr(args, input),
        "gzip" | "zcat" | "gunzip" | "pigz" | "zlib-flate" if program != "gzip" || decompresses(args) => {
            decode::inflate(input)
        }
        "head" => lines(args, input, End::First),
        "tail" => lines(args, input, End::Last),
        "cut" => cut(args, input),
        "sort" if options == 0 => {
            let mut list: Vec<&str> = input.lines().collect();
            list.sort_unstable();
            Some(list.iter().map(|l| format!("{l}\n")).collect())
        }
        "uniq" | "nl" | "fold" | "column" | "grep" => None,
        "paste" => Some(format!("{}\n", input.lines().collect::<Vec<_>>().join(delimiter(args)))),
        "sed" => crate::effects::edit::sed(args, input),
        "awk" | "gawk" | "mawk" => crate::effects::edit::awk(args, input),
        _ => None,
    }
}

fn delimiter<'a>(args: &[&'a str]) -> &'a str {
    args.iter()
        .find_map(|a| a.strip_prefix("-sd").or_else(|| a.strip_prefix("-d")))
        .filter(|d| !d.is_empty())
        .unwrap_or("\t")
}

fn decompresses(args: &[&str]) -> bool {
    args.iter().any(|a| {
        *a == "--decompress"
            || *a == "--uncompress"
            || (a.starts_with('-') && !a.starts_with("--") && a.contains('d'))
    })
}

fn coded(program: &str, args: &[&str], input: &str) -> Option<String> {
    let short = |c: char| args.iter().any(|a| a.starts_with('-') && !a.starts_with("--") && a.contains(c));
    let long = |n: &str| args.iter().any(|a| a.len() > 4 && n.starts_with(*a));
    if program == "openssl" {
        let base64 = args.iter().any(|a| matches!(*a, "base64" | "-base64" | "-a"));
        let decrypts = args.contains(&"-d");
        let cipher = args.iter().any(|a| {
            a.starts_with("-aes") || a.starts_with("-des") || a.starts_with("-k") || a.starts_with("-pass")
        });
        return match (base64 && !cipher, decrypts) {
            (true, true) => decode::decode(Code::Base64, input),
            (true, false) => decode::encode(Code::Base64, input),
            (false, _) => None,
        };
    }
    let code = match program {
        "base32" => Code::Base32,
        "basenc" if long("--base16") => Code::Hex,
        "basenc" if long("--base32") => Code::Base32,
        "basenc" if long("--base64url") && args.contains(&"--base64url") => Code::Base64Url,
        _ => Code::Base64,
    };
    if short('d') || short('D') || long("--decode") {
        decode::decode(code, input)
    } else {
        decode::encode(code, input).map(|t| t + "\n")
    }
}

fn tr(args: &[&str], input: &str) -> Option<String> {
    let mut options = Translate::default();
    let mut sets = Vec::new();
    for arg in args {
        match arg.strip_prefix('-') {
            Some(letters)
                if sets.is_empty() && !letters.is_empty() && letters.chars().all(|c| "dscCt".contains(c)) =>
            {
                for letter in letters.chars() {
                    match letter {
                        'd' => options.delete = Choice::On,
                        's' => options.squeeze = Choice::On,
                        'c' | 'C' => options.complement = Choice::On,
                        _ => {}
                    }
                }
            }
            _ => sets.push(*arg),
        }
    }
    decode::translate(input, options, sets.first()?, sets.get(1).copied())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    First,
    Last,
}

/// `head`, `tail` by lines (`-n N`, `-N`, `-n +N`) or bytes (`-c N`).
fn lines(args: &[&str], input: &str, end: End) -> Option<String> {
    let (mut unit, mut count) = ('n', "10");
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let body = arg.strip_prefix('-')?;
        match body.chars().next()? {
            c @ ('n' | 'c') => {
                unit = c;
                count = match body.get(1..)? {
                    "" => rest.next()?,
                    attached => attached,
                };
            }
            c if c.is_ascii_digit() => count = body,
            _ => return None,
        }
    }
    let from_start = count.strip_prefix('+').map(|n| n.parse::<usize>().ok());
    let n = count.trim_start_matches('+').parse::<usize>().ok()?;
    let pieces: Vec<&str> = match unit {
        'n' => input.split_inclusive('\n').collect(),
        _ => input.char_indices().map(|(i, c)| input.get(i..i + c.len_utf8()).unwrap_or("")).collect(),
    };
    let range = match (end, from_start) {
        (End::First, _) => 0..n.min(pieces.len()),
        (End::Last, Some(_)) => n.saturating_sub(1).min(pieces.len())..pieces.len(),
        (End::Last, None) => pieces.len().saturating_sub(n)..pieces.len(),
    };
    Some(pieces.get(range)?.concat())
}

/// `cut -c LIST`, `cut -d X -f LIST`.
fn cut(args: &[&str], input: &str) -> Option<String> {
    let (mut separator, mut list, mut unit) = ('\t', None, 'f');
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let body = arg.strip_prefix('-')?;
        let letter = body.chars().next()?;
        let attached = body.get(1..)?;
        let value = if attached.is_empty() && letter != 's' { rest.next().copied()? } else { attached };
        match letter {
            'd' => separator = value.chars().next()?,
            'f' | 'c' | 'b' => {
                unit = letter;
                list = Some(value);
            }
            's' => {}
            _ => return None,
        }
    }
    let list = list?;
    let picks = |total: usize| -> Option<Vec<usize>> {
        let mut out = Vec::new();
        for part in list.split(',') {
            let (a, b) = part.split_once('-').unwrap_or((part, part));
            let a = if a.is_empty() { 1 } else { a.parse::<usize>().ok()? };
            let b = if b.is_empty() { total } else { b.parse::<usize>().ok()? };
            out.extend((a..=b.min(total)).map(|i| i.saturating_sub(1)));
        }
        Some(out)
    };
    let mut out = String::new();
    for line in input.lines() {
        if unit == 'f' {
            let fields: Vec<&str> = line.split(separator).collect();
            if fields.len() == 1 {
                out.push_str(line);
            } else {
                let chosen: Vec<&str> =
                    picks(fields.len())?.iter().filter_map(|i| fields.get(*i).copied()).collect();
                out.push_str(&chosen.join(separator.encode_utf8(&mut [0; 4])));
            }
        } else {
            let chars: Vec<char> = line.chars().collect();
            out.extend(picks(chars.len())?.iter().filter_map(|i| chars.get(*i)));
        }
        out.push('\n');
    }
    Some(out)
}

/// bash's `echo`.
fn echo(args: &[&str]) -> String {
    let (mut newline, mut escapes) = (true, false);
    let mut rest = args;
    while let [first, tail @ ..] = rest {
        let Some(letters) =
            first.strip_prefix('-').filter(|l| !l.is_empty() && l.chars().all(|c| "neE".contains(c)))
        else {
            break;
        };
        for letter in letters.chars() {
            match letter {
                'n' => newline = false,
                'e' => escapes = true,
                _ => escapes = false,
            }
        }
        rest = tail;
    }
    let joined = rest.join(" ");
    let (mut text, ended) = if escapes { unescape(&joined, Escapes::Echo) } else { (joined, Ended::No) };
    if newline && ended == Ended::No {
        text.push('\n');
    }
    text
}

/// `printf FORMAT ARGUMENTS`, the format used again while arguments are left.
pub fn printf(words: &[Field]) -> Option<String> {
    let (format, args) = words.split_first()?;
    let (format, args) = if format.text == "--" { args.split_first()? } else { (format, args) };
    if has_hole(&format.text) {
        return None;
    }
    let mut rest = args.iter().map(|f| f.text.as_str());
    let mut out = String::new();
    let mut left = args.len();
    for _ in 0..256 {
        let used = once(&format.text, &mut rest, &mut out)?;
        left = left.saturating_sub(used);
        if left == 0 || used == 0 {
            return Some(out);
        }
        if out.len() > DATA_LIMIT {
            return None;
        }
    }
    None
}

/// One pass over the format; number of arguments used.
fn once<'a>(format: &str, args: &mut impl Iterator<Item = &'a str>, out: &mut String) -> Option<usize> {
    let mut used = 0;
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        let (plain, tail) = rest.split_at(at);
        let (text, ended) = unescape(plain, Escapes::Printf);
        out.push_str(&text);
        if ended == Ended::Yes {
            return Some(0);
        }
        let tail = tail.strip_prefix('%')?;
        if let Some(next) = tail.strip_prefix('%') {
            out.push('%');
            rest = next;
            continue;
        }
        let letter_at = tail.find(|c: char| c.is_ascii_alphabetic())?;
        let spec = tail.get(..letter_at)?;
        let letter = tail.get(letter_at..)?.chars().next()?;
        rest = tail.get(letter_at + 1..)?;
        if spec.contains('*') {
            return None;
        }
        let arg = args.next().unwrap_or("");
        used += 1;
        let (flags, precision) = spec.split_once('.').unwrap_or((spec, ""));
        let mut text = match letter {
            's' => arg.to_owned(),
            'b' => unescape(arg, Escapes::Echo).0,
            'q' => crate::canonical::operation::quote(arg),
            'c' => arg.chars().next().map(String::from).unwrap_or_default(),
            'd' | 'i' | 'u' => number(arg)?.to_string(),
            'x' => format!("{:x}", number(arg)?),
            'X' => format!("{:X}", number(arg)?),
            'o' => format!("{:o}", number(arg)?),
            _ => return None,
        };
        if let Ok(n) = precision.parse::<usize>()
            && letter == 's'
        {
            text = text.chars().take(n).collect();
        }
        let width =
            flags.trim_start_matches(['-', '+', ' ', '#', '0']).parse::<usize>().unwrap_or(0).min(4096);
        let pad = width.saturating_sub(text.chars().count());
        let filler = if flags.starts_with('0') && letter != 's' { "0" } else { " " };
        if flags.starts_with('-') {
            out.push_str(&text);
            out.push_str(&" ".repeat(pad));
        } else {
            out.push_str(&filler.repeat(pad));
            out.push_str(&text);
        }
    }
    let (text, ended) = unescape(rest, Escapes::Printf);
    out.push_str(&text);
    Some(if ended == Ended::Yes { 0 } else { used })
}

/// A number of printf: decimal, octal, hexadecimal, or `'c`.
fn number(arg: &str) -> Option<i64> {
    if arg.is_empty() {
        return Some(0);
    }
    if let Some(c) = arg.strip_prefix(['\'', '"']) {
        return c.chars().next().map(|c| i64::from(u32::from(c)));
    }
    if let Some(hex) = arg.strip_prefix("0x") {
        return i64::from_str_radix(hex, 16).ok();
    }
    if arg.len() > 1 && arg.starts_with('0') {
        return i64::from_str_radix(arg, 8).ok();
    }
    arg.parse().ok()
}

fn seq(args: &[&str]) -> Option<String> {
    let numbers: Option<Vec<i64>> = args.iter().map(|a| a.parse().ok()).collect();
    let (a, step, b) = match numbers?.as_slice() {
        [b] => (1, 1, *b),
        [a, b] => (*a, 1, *b),
        [a, s, b] => (*a, *s, *b),
        _ => return None,
    };
    if step == 0 || (b.checked_sub(a)?.checked_div(step)?) > 4096 {
        return None;
    }
    let mut out = String::new();
    let mut at = a;
    while (step > 0 && at <= b) || (step < 0 && at >= b) {
        out.push_str(&at.to_string());
        out.push('\n');
        at = at.checked_add(step)?;
    }
    Some(out)
}

fn basename(args: &[&str]) -> Option<String> {
    let [path, suffix @ ..] = args else { return None };
    if path.starts_with('-') {
        return None;
    }
    let name = path.trim_end_matches('/').rsplit('/').next()?;
    let name = suffix.first().and_then(|s| name.strip_suffix(s)).filter(|n| !n.is_empty()).unwrap_or(name);
    Some(format!("{name}\n"))
}

fn dirname(args: &[&str]) -> Option<String> {
    let [path] = args else { return None };
    let path = path.trim_end_matches('/');
    let folder = match path.rsplit_once('/') {
        Some(("", _)) => "/",
        Some((folder, _)) => folder,
        None if path.is_empty() => "/",
        None => ".",
    };
    Some(format!("{folder}\n"))
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
