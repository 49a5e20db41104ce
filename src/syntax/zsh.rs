//! zsh's short forms that bash refuses, said in bash's words: `for f (a b) cmd`, `=(cmd)`, `^(a|b)`, `{ cmd }`.
//!
//! In: text that bash does not read. Out: text that it may read, for judging only. Never: stands in for a reading
//! that bash itself has.

/// The text in bash's words; `None` where nothing of zsh stands in it.
pub fn in_bash(text: &str) -> Option<String> {
    let mut out = loops(text);
    out = substitutions(&out);
    out = braces(&out);
    (out != text).then_some(out)
}

/// `for NAME (WORDS) COMMAND` to the end of the line.
fn loops(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        out.push_str(&one_loop(line).unwrap_or_else(|| line.to_owned()));
    }
    out
}

fn one_loop(line: &str) -> Option<String> {
    let at = ["for ", "foreach "].iter().filter_map(|w| line.find(w).map(|at| (at, w.len()))).min()?;
    let (start, skip) = at;
    let rest = line.get(start.checked_add(skip)?..)?;
    let (name, after) = rest.split_once('(')?;
    let name = name.trim();
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return None;
    }
    let (words, command) = after.split_once(')')?;
    let command =
        command.trim().trim_start_matches("do ").trim_end_matches("; done").trim_end_matches("; end");
    Some(format!("{}for {name} in {words}; do {command}; done\n", line.get(..start)?))
}

/// `=(cmd)` is a file that holds what a command prints; `^(a|b)` and `(a|b)` in a path are globs.
fn substitutions(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or("");
        if c == '=' && before.is_whitespace() && after.starts_with('(') {
            out.push('<');
        } else if matches!(c, '^' | '/' | '~') && (after.starts_with('(') || c != '/' && before == '/') {
            if c == '/' {
                out.push('/');
            }
            out.push('*');
            before = '*';
            rest = match after.strip_prefix('(').and_then(|r| r.split_once(')')) {
                Some((_, later)) => later,
                None => after,
            };
            continue;
        } else {
            out.push(c);
        }
        before = c;
        rest = after;
    }
    out
}

/// `{ cmd }` without the semicolon.
fn braces(text: &str) -> String {
    if !text.contains("{ ") || text.contains("; }") || text.contains("${") {
        return text.to_owned();
    }
    text.replace(" }", "; }")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_forms_are_said_in_bash_s_words() {
        assert_eq!(in_bash("for f (a b) echo $f").as_deref(), Some("for f in a b; do echo $f; done\n"));
        assert_eq!(in_bash("zsh =(date)").as_deref(), Some("zsh <(date)"));
        assert_eq!(in_bash("ls /^(a|b)").as_deref(), Some("ls /*"));
        assert_eq!(in_bash("coproc { cat }; x").as_deref(), Some("coproc { cat; }; x"));
        assert_eq!(in_bash("a=(1 2"), None);
    }
}
