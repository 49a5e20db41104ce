//! Printers of names and numbers: which, mktemp, basename, dirname, seq.
//!
//! In: arguments. Out: what is printed, or `None` where it isn't certain. Never: looks at the machine.

/// which(1) of one plain name: a program of that name, wherever it lies.
pub(super) fn which(args: &[&str]) -> Option<String> {
    let [name] = args else { return None };
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+'));
    (plain && !name.starts_with('-')).then(|| format!("/usr/bin/{name}\n"))
}

/// mktemp(1): a new name in the temporary folder, or where the template says.
pub(super) fn mktemp(args: &[&str]) -> Option<String> {
    let (mut folder, mut template, mut in_folder) = (None, None, false);
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match *arg {
            "-p" => folder = Some(*rest.next()?),
            "--suffix" => drop(rest.next()),
            "-t" | "--tmpdir" | "-dt" | "-td" => in_folder = true,
            "-d" | "-q" | "-dq" | "-qd" | "--directory" | "--quiet" => {}
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

/// seq(1) of whole numbers, at most some thousands of them.
pub(super) fn seq(args: &[&str]) -> Option<String> {
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

/// basename(1) of one path.
pub(super) fn basename(args: &[&str]) -> Option<String> {
    let [path, suffix @ ..] = args else { return None };
    if path.starts_with('-') {
        return None;
    }
    let name = path.trim_end_matches('/').rsplit('/').next()?;
    let name = suffix.first().and_then(|s| name.strip_suffix(s)).filter(|n| !n.is_empty()).unwrap_or(name);
    Some(format!("{name}\n"))
}

/// dirname(1) of one path.
pub(super) fn dirname(args: &[&str]) -> Option<String> {
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
