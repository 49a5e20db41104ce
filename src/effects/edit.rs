//! The two commonest one-liners that rebuild text: `sed 's/a/b/'` and `awk '{print $n}'`.
//!
//! In: arguments and known input. Out: the printed text, or `None` for anything that isn't that simple.
//! Never: guesses at a regular expression: only literal patterns are done.

/// `sed s/literal/text/[g]`, also several with `;` or `-e`.
pub fn sed(args: &[&str], input: &str) -> Option<String> {
    let mut scripts = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match *arg {
            "-e" => scripts.push(*rest.next()?),
            "-E" | "-r" => {}
            text if text.starts_with('-') => return None,
            text if scripts.is_empty() => scripts.push(text),
            _ => return None,
        }
    }
    let mut text = input.to_owned();
    for script in scripts {
        for command in script.split(';').map(str::trim).filter(|c| !c.is_empty()) {
            text = substitute(command, &text)?;
        }
    }
    Some(text)
}

fn substitute(command: &str, input: &str) -> Option<String> {
    let body = command.strip_prefix('s')?;
    let separator = body.chars().next()?;
    let parts: Vec<&str> = body.get(separator.len_utf8()..)?.split(separator).collect();
    let [pattern, with, flags] = parts.as_slice() else { return None };
    let special = ['.', '*', '[', '^', '$', '\\', '+', '?', '(', '{', '|'];
    if pattern.is_empty() || pattern.contains(special) || with.contains(['&', '\\']) {
        return None;
    }
    match *flags {
        "g" => Some(input.replace(pattern, with)),
        "" => Some(input.split_inclusive('\n').map(|line| line.replacen(pattern, with, 1)).collect()),
        _ => None,
    }
}

/// `awk '{print $n}'`, `awk '{print "text"}'`, with `-F x`.
pub fn awk(args: &[&str], input: &str) -> Option<String> {
    let (mut separator, mut program) = (None, None);
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match *arg {
            "-F" => separator = rest.next().copied(),
            text if text.starts_with("-F") => separator = text.strip_prefix("-F"),
            text if text.starts_with('-') => return None,
            text if program.is_none() => program = Some(text),
            _ => return None,
        }
    }
    let program = program?.trim();
    let begin = program.strip_prefix("BEGIN").map(str::trim_start);
    let body = begin.unwrap_or(program).strip_prefix('{')?.strip_suffix('}')?.trim().trim_end_matches(';');
    let what = body.strip_prefix("print")?.trim();
    let mut out = String::new();
    let lines: Vec<&str> = if begin.is_some() { vec![""] } else { input.lines().collect() };
    for line in lines {
        let fields: Vec<&str> = match separator {
            None | Some(" ") => line.split_whitespace().collect(),
            Some(s) if s.len() == 1 => line.split(s).collect(),
            Some(_) => return None,
        };
        let mut printed = Vec::new();
        if what.is_empty() {
            printed.push(line.to_owned());
        }
        for item in what.split(',').map(str::trim).filter(|i| !i.is_empty()) {
            printed.push(expression(item, line, &fields)?);
        }
        out.push_str(&printed.join(" "));
        out.push('\n');
    }
    Some(out)
}

/// A juxtaposition of `$n` and string literals.
fn expression(item: &str, line: &str, fields: &[&str]) -> Option<String> {
    let (mut out, mut rest) = (String::new(), item.trim());
    while !rest.is_empty() {
        if let Some(tail) = rest.strip_prefix('$') {
            let end = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
            match tail.get(..end)?.parse::<usize>().ok()? {
                0 => out.push_str(line),
                n => out.push_str(fields.get(n - 1).copied().unwrap_or("")),
            }
            rest = tail.get(end..)?.trim_start();
        } else if let Some(tail) = rest.strip_prefix('"') {
            let (text, after) = tail.split_once('"')?;
            if text.contains('\\') {
                return None;
            }
            out.push_str(text);
            rest = after.trim_start();
        } else {
            return None;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_programs_are_done_and_others_are_not() {
        assert_eq!(sed(&["s/x//g"], "ixdx\n").as_deref(), Some("id\n"));
        assert_eq!(sed(&["s/a.b//"], "ab"), None);
        assert_eq!(awk(&["{print $2}"], "a b c\n").as_deref(), Some("b\n"));
        assert_eq!(awk(&["BEGIN{print \"r\" \"m\"}"], "").as_deref(), Some("rm\n"));
        assert_eq!(awk(&["-F:", "{print $1}"], "root:x\n").as_deref(), Some("root\n"));
    }
}
