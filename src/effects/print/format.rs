//! Printers of formatted text: bash's echo and printf.
//!
//! In: arguments. Out: what is printed, or `None` where it isn't certain. Never: prints more than the data limit
//! by far.

use crate::canonical::escape::{Ended, Escapes, decode as unescape};
use crate::canonical::operation::quote;
use crate::canonical::value::{DATA_LIMIT, Field, has_hole};

/// bash's `echo`.
pub(super) fn echo(args: &[&str]) -> String {
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
            'q' => quote(arg),
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
