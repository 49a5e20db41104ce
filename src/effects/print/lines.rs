//! Filters that pick lines, characters and fields: head, tail, cut.
//!
//! In: arguments and known input. Out: what is printed, or `None` where it isn't certain. Never: guesses at an
//! option that it doesn't know.

/// Which end of the input is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    First,
    Last,
}

/// `head`, `tail` by lines (`-n N`, `-N`, `-n +N`) or bytes (`-c N`).
pub(super) fn lines(args: &[&str], input: &str, end: End) -> Option<String> {
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
pub(super) fn cut(args: &[&str], input: &str) -> Option<String> {
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
