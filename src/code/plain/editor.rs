//! Command lines of vi, ex and ed: `:!cmd`, `:shell`, `:w path`, `:py code`, `:call system("…")`.
//!
//! In: commands, one a line or separated by `|`. Out: acts. Never: takes a pattern's bar for the end of a `!`.

use super::{Out, calls, first_word};
use crate::code::found::What;
use crate::policy::tables::Lang;

pub(super) fn read(text: &str, out: &mut Out) {
    for line in text.lines() {
        let mut rest = line;
        loop {
            let command = rest.trim_start_matches([':', ' ', '\t']);
            // what follows a bang runs to the end of the line
            if command.starts_with('!') || bang(command).is_some() {
                one(command, out);
                break;
            }
            let (now, later) = split_bar(command);
            one(now, out);
            match later {
                Some(later) => rest = later,
                None => break,
            }
        }
    }
}

/// The first bar that isn't escaped or in a search pattern.
fn split_bar(line: &str) -> (&str, Option<&str>) {
    let code = [
        "py", "lua", "perl", "ruby", "rub", "tcl", "call", "exe", "s/", "%s", "g/", "v/", "norm", "autocmd",
        "au ",
    ];
    if code.iter().any(|c| line.starts_with(c)) {
        return (line, None);
    }
    let mut from = 0;
    while let Some(at) = line.get(from..).and_then(|r| r.find('|')).map(|n| n.saturating_add(from)) {
        if !line.get(..at).is_some_and(|b| b.ends_with('\\')) {
            return (line.get(..at).unwrap_or(line), line.get(at.saturating_add(1)..));
        }
        from = at.saturating_add(1);
    }
    (line, None)
}

/// `r !cmd`, `w !cmd`, `%!cmd`, `.,$!cmd`: the shell text.
fn bang(command: &str) -> Option<&str> {
    let (before, text) = command.split_once('!')?;
    let range = before.trim();
    let plain = range.chars().all(|c| {
        c.is_ascii_digit() || matches!(c, '%' | '.' | ',' | '$' | '\'' | '<' | '>' | '+' | '-' | ' ')
    });
    let word = range.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '%' | '.' | ',' | '$'));
    (plain
        || matches!(
            word,
            "r" | "read"
                | "re"
                | "w"
                | "write"
                | "sil"
                | "silent"
                | "sil exe"
                | "0r"
                | "te"
                | "ter"
                | "term"
                | "terminal"
                | "sp|ter"
        ))
    .then_some(text)
    .filter(|_| before.len() < command.len())
}

fn one(command: &str, out: &mut Out) {
    let command =
        ["silent!", "silent", "sil!", "sil", "noautocmd", "keepjumps", "verbose", "tab", "bo", "vert"]
            .iter()
            .fold(command.trim(), |c, modifier| {
                c.strip_prefix(*modifier)
                    .filter(|r| r.starts_with([' ', '!', ':']))
                    .map_or(c, |r| r.trim_start_matches([' ', ':']))
            });
    if let Some(text) = command.strip_prefix('!').or_else(|| bang(command)) {
        return shell(text.trim(), out);
    }
    let (word, rest) = first_word(command);
    let word = word.trim_end_matches('!');
    let range = word.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '%' | '.' | ',' | '$'));
    match range {
        "sh" | "shell" | "she" | "shel" => out.act(What::Interactive, &[]),
        "ter" | "term" | "terminal" | "te" | "termi" | "termin" => {
            let text = rest.trim_start_matches(['+', ' ']);
            if text.is_empty() { out.act(What::Interactive, &[]) } else { out.act(What::Shell, &[text]) }
        }
        "py" | "python" | "py3" | "python3" | "pyx" | "pythonx" | "pydo" | "py3do" => {
            out.read(Lang::Python, code(rest));
        }
        "pyfile" | "py3file" | "pyxfile" | "luafile" | "rubyfile" | "so" | "source" | "ru" | "runtime" => {
            out.act(What::Load, &[rest]);
        }
        "lua" | "luado" => out.read(Lang::Lua, code(rest)),
        "perl" | "pe" | "perldo" => out.read(Lang::Perl, code(rest)),
        "ruby" | "rub" | "rubydo" => out.read(Lang::Ruby, code(rest)),
        "tcl" | "tcldo" => out.read(Lang::Tcl, code(rest)),
        "exe" | "execute" | "exec" | "norm" | "normal" => {
            calls::read(Lang::Vim, rest, out);
            out.read(Lang::Vim, super::unquoted(rest));
        }
        "g" | "v" | "windo" | "bufdo" | "argdo" | "tabdo" => out.read(Lang::Vim, rest),
        "w" | "write" | "sav" | "saveas" | "wq" | "x" | "W" | "up" if !rest.is_empty() => {
            let (path, kind) = match rest.strip_prefix(">>") {
                Some(path) => (path.trim(), What::Append),
                None => (rest, What::Write),
            };
            out.act(kind, &[path]);
        }
        "e" | "edit" | "r" | "read" | "sp" | "split" | "vs" | "vsplit" | "tabe" | "tabnew" | "f" | "view"
        | "find" | "diffs" | "0r"
            if !rest.is_empty() =>
        {
            out.act(What::Read, &[rest]);
        }
        "Nread" | "Explore" | "Nwrite" => out.act(What::Fetch, &[rest]),
        _ => calls::read(Lang::Vim, command, out),
    }
}

/// A command line after a bang: nothing is the shell itself.
fn shell(text: &str, out: &mut Out) {
    if text.is_empty() { out.act(What::Interactive, &[]) } else { out.act(What::Shell, &[text]) }
}

/// Code after `py3 `, `py3 << EOF`.
fn code(rest: &str) -> &str {
    rest.trim_start_matches("<<").trim_start_matches('!')
}
