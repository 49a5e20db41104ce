//! Command lines of gdb and lldb: `!cmd`, `shell cmd`, `python code`, `call system("…")`, `dump value file …`.
//!
//! In: commands, one a line. Out: acts. Never: takes a breakpoint for a deed.

use super::{Out, calls, first_word};
use crate::code::found::What;
use crate::policy::tables::Lang;

pub(super) fn read(text: &str, out: &mut Out) {
    for line in text.lines() {
        one(line.trim(), out);
    }
}

fn one(line: &str, out: &mut Out) {
    if let Some(text) = line.strip_prefix('!') {
        return shell(text.trim(), out);
    }
    let (word, rest) = first_word(line);
    match word {
        "shell" | "she" | "shel" | "make" => {
            let text = if word == "make" { line } else { rest };
            shell(text, out);
        }
        "platform" => shell(rest.trim_start_matches("shell").trim(), out),
        "pipe" | "|" => {
            let text = rest.rsplit('|').next().unwrap_or(rest);
            shell(text.trim(), out);
        }
        "python" | "py" | "python-interactive" | "pi" | "script" if rest.is_empty() => {
            out.act(What::Interactive, &[]);
        }
        "python" | "py" | "script" => out.read(Lang::Python, rest),
        "guile" | "gu" => calls::read(Lang::Other, rest, out),
        "dump" | "append" | "generate-core-file" | "gcore" => {
            let path = rest.split_whitespace().find(|w| w.starts_with(['/', '~', '.']));
            if let Some(path) = path {
                out.act(What::Write, &[path]);
            }
        }
        "restore" | "file" | "exec-file" | "symbol-file" | "core-file" | "add-symbol-file" | "directory" => {
            out.act(What::Read, &[first_word(rest).0]);
        }
        "source" | "so" | "command" if !rest.is_empty() => out.act(What::Load, &[rest]),
        "attach" => out.act(What::Trace, &[rest]),
        "call" | "print" | "p" | "compile" | "expr" | "expression" => calls::read(Lang::Gdb, rest, out),
        "save" => out.act(What::Write, &[rest.rsplit(' ').next().unwrap_or(rest)]),
        _ => {}
    }
}

fn shell(text: &str, out: &mut Out) {
    if text.is_empty() { out.act(What::Interactive, &[]) } else { out.act(What::Shell, &[text]) }
}
