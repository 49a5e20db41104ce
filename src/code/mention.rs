//! Shells that a text of any kind names where a command would begin: `!/bin/sh`, `execute(/bin/sh -p)`.
//!
//! In: text. Out: command lines. Never: takes a script's first line or an account's shell for a command.

/// Most shells that are looked for in one text.
const MOST: usize = 4;

/// Shells by their file's name.
fn is_shell(name: &str) -> bool {
    matches!(
        name,
        "sh" | "bash"
            | "dash"
            | "zsh"
            | "ksh"
            | "ksh93"
            | "mksh"
            | "ash"
            | "rbash"
            | "csh"
            | "tcsh"
            | "fish"
            | "busybox"
    )
}

/// Command lines in a text that begin with a shell's path: `!/bin/sh`, `execute(/bin/sh -p)`, `--command=/bin/sh`.
pub fn shells_in(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (at, _) in text.match_indices("bin/") {
        let name = text.get(at + 4..).unwrap_or("");
        let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
        let before = text.get(..at).unwrap_or("");
        let start =
            ["/usr/local/", "/usr/", "/"].iter().find(|p| before.ends_with(**p)).map(|p| at - p.len());
        let (Some(start), true) = (start, is_shell(name.get(..end).unwrap_or(""))) else { continue };
        let before = text.get(..start).unwrap_or("");
        let redirected = name.split('\n').next().is_some_and(|l| l.contains(['<', '>']));
        if out.len() >= MOST || is_mention(before) && !(redirected && before.ends_with(' ')) {
            continue;
        }
        let rest = text.get(start..).unwrap_or("");
        let close = match before.chars().next_back() {
            Some('(') => ')',
            Some(quote @ ('"' | '\'' | '`')) => quote,
            Some('{') => '}',
            _ => '\n',
        };
        let line = before_closing(rest.split([close, '\n']).next().unwrap_or(rest));
        // `sh,-c,"…"`: lists as some programs write them
        let line = if line.contains("sh,") { line.replace(',', " ") } else { line.to_owned() };
        out.push(line);
    }
    out
}

/// Texts after which a shell's path is a setting or a script's first line.
fn is_mention(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or(before);
    let near = line.trim_end_matches([' ', '=', ':', '"', '\'', '[']);
    let name = near.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or("");
    line.ends_with("#!")
        || line.ends_with("#! ")
        || line.len() > 2
            && line.ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-'))
        || line.len() <= 2 && line.ends_with(|c: char| c.is_ascii_alphanumeric()) && !line.starts_with('-')
        || name.eq_ignore_ascii_case("shell")
            && line.get(near.len()..).is_some_and(|r| r.contains(['=', ':', '[']))
        || line.matches(':').count() >= 5
}

/// A line up to a bracket that nothing in it has opened.
fn before_closing(line: &str) -> &str {
    let mut open = 0_u32;
    for (at, c) in line.char_indices() {
        match c {
            '(' => open = open.saturating_add(1),
            ')' if open == 0 => return line.get(..at).unwrap_or(line),
            ')' => open = open.saturating_sub(1),
            _ => {}
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_are_found_where_they_would_run() {
        assert_eq!(shells_in("enter:execute(/bin/sh -p)"), ["/bin/sh -p"]);
        assert_eq!(shells_in("exec /bin/sh 0<&1\n"), ["/bin/sh 0<&1"]);
        assert_eq!(shells_in("a (\"/usr/bin/bash\");"), ["/usr/bin/bash"]);
        assert_eq!(shells_in("#!/bin/sh\nls\n"), Vec::<String>::new());
        assert_eq!(shells_in("SHELL=/bin/bash"), Vec::<String>::new());
        assert_eq!(shells_in("u:x:0:0:u:/root:/bin/bash"), Vec::<String>::new());
        assert_eq!(shells_in("./vendor/bin/sh"), Vec::<String>::new());
    }
}
