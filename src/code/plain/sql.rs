//! SQL and the command lines of its shells: `.shell`, `\!`, `COPY … FROM PROGRAM`, `INTO OUTFILE`, `LOAD_FILE(…)`.
//!
//! In: statements and meta commands. Out: acts. Never: takes a query for a deed.

use super::{Out, calls, first_word, unquoted};
use crate::code::found::What;
use crate::policy::tables::Lang;

pub(super) fn read(text: &str, out: &mut Out) {
    for line in text.lines() {
        meta(line.trim(), out);
    }
    let upper = text.to_ascii_uppercase();
    for mark in ["FROM PROGRAM", "TO PROGRAM"] {
        for (at, _) in upper.match_indices(mark).take(8) {
            if let Some(command) = literal(text.get(at.saturating_add(mark.len())..).unwrap_or("")) {
                out.act(What::Shell, &[command]);
            }
        }
    }
    for (mark, what) in [
        ("INTO OUTFILE", What::Write),
        ("INTO DUMPFILE", What::Write),
        ("INFILE", What::Read),
        ("ATTACH DATABASE", What::Write),
        ("ATTACH", What::Write),
    ] {
        for (at, _) in upper.match_indices(mark).take(8) {
            if let Some(path) = literal(text.get(at.saturating_add(mark.len())..).unwrap_or("")) {
                out.act(what, &[path]);
            }
        }
    }
    copies(text, &upper, out);
    for statement in upper.split(';') {
        drops(statement.trim(), out);
    }
    calls::read(Lang::Sql, text, out);
}

/// `COPY t FROM '/path'`, `COPY t TO '/path'`.
fn copies(text: &str, upper: &str, out: &mut Out) {
    if !upper.contains("COPY") {
        return;
    }
    for (mark, what) in [(" FROM '", What::Read), (" TO '", What::Write)] {
        for (at, _) in upper.match_indices(mark).take(8) {
            if let Some(path) =
                literal(text.get(at.saturating_add(mark.len()).saturating_sub(1)..).unwrap_or(""))
            {
                out.act(what, &[path]);
            }
        }
    }
}

fn drops(statement: &str, out: &mut Out) {
    let words: Vec<&str> = statement.split_whitespace().take(4).collect();
    let whole = matches!(words.as_slice(), ["DROP", "DATABASE" | "SCHEMA" | "TABLE", ..] | ["TRUNCATE", ..])
        || matches!(words.as_slice(), ["DELETE", "FROM", ..]) && !statement.contains("WHERE");
    if whole {
        out.act(What::DropData, &[statement]);
    }
}

/// The first quoted text, if nothing but blanks stands before it.
fn literal(text: &str) -> Option<&str> {
    text.trim_start().strip_prefix('\'').and_then(|r| r.split_once('\'')).map(|(inside, _)| inside)
}

fn meta(line: &str, out: &mut Out) {
    if let Some(text) = line.strip_prefix("\\!") {
        return shell(text.trim(), out);
    }
    if let Some(at) = line.find("\\g |").or_else(|| line.find("\\o |")) {
        return shell(line.get(at.saturating_add(4)..).unwrap_or("").trim(), out);
    }
    let (word, rest) = first_word(line);
    let path = unquoted(first_word(rest).0);
    match word {
        ".shell" | ".system" | ".sh" | ".sys" | "system" => shell(unquoted(rest), out),
        ".output" | ".once" | ".excel" | ".out" | "\\o" | "\\w" | "tee" | "\\T" if path.starts_with('|') => {
            shell(rest.trim_start_matches('|'), out);
        }
        ".output" | ".once" | ".out" | ".save" | ".backup" | ".log" | ".trace" | "\\o" | "\\w" | "tee"
        | "\\T"
            if !path.is_empty() =>
        {
            out.act(What::Write, &[path]);
        }
        ".import" if path.starts_with('|') => shell(unquoted(rest).trim_start_matches('|'), out),
        ".import" | ".restore" | ".open" | "\\i" | "\\ir" | "\\include" | ".read" | "source" | "\\."
        | "@"
            if !path.is_empty() =>
        {
            out.act(What::Read, &[path]);
        }
        ".load" => out.act(What::LoadNative, &[path]),
        "edit" | "\\e" | "\\ef" => out.act(What::Interactive, &[]),
        _ => {}
    }
}

fn shell(text: &str, out: &mut Out) {
    if text.is_empty() { out.act(What::Interactive, &[]) } else { out.act(What::Shell, &[text]) }
}
