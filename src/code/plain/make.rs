//! make: functions that run or write while it reads (`$(shell …)`, `$(file >path,…)`), and recipes.
//!
//! In: makefile text. Out: acts. Never: takes make's own variables for command substitutions.

use super::Out;
use crate::code::found::What;

/// Most functions that are read in one text.
const MOST: usize = 64;

pub(super) fn read(text: &str, out: &mut Out) {
    for (at, _) in text.match_indices("$(").take(MOST) {
        let inside = balanced(text.get(at.saturating_add(2)..).unwrap_or(""));
        if let Some(command) = inside.strip_prefix("shell ") {
            out.act(What::Shell, &[&plain(command)]);
        } else if let Some(rest) = inside.strip_prefix("file ") {
            let (path, data) = rest.split_once(',').unwrap_or((rest, ""));
            let path = path.trim();
            match (path.strip_prefix(">>"), path.strip_prefix('>'), path.strip_prefix('<')) {
                (Some(path), ..) => out.act(What::Append, &[path.trim(), data]),
                (None, Some(path), _) => out.act(What::Write, &[path.trim(), data]),
                (None, None, Some(path)) => out.act(What::Read, &[path.trim()]),
                (None, None, None) => {}
            }
        } else if let Some(code) = inside.strip_prefix("guile ") {
            out.act(What::Eval, &[code]);
        }
    }
    let logical = text.replace("\\\n", " ");
    for line in logical.lines() {
        recipe(line, out);
    }
}

/// The text up to the bracket that closes.
fn balanced(text: &str) -> &str {
    let mut depth = 0_u32;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth = depth.saturating_add(1),
            ')' if depth == 0 => return text.get(..at).unwrap_or(text),
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    text
}

/// A line of a recipe, `target: ; command`, or `NAME != command`.
fn recipe(line: &str, out: &mut Out) {
    let command = if let Some(command) = line.strip_prefix('\t') {
        command
    } else if let Some((_, command)) = line.split_once("!=") {
        command
    } else if let Some((head, command)) = line.split_once(';')
        && head.contains(':')
        && !head.contains('=')
    {
        command
    } else {
        return;
    };
    let command = command.trim_start_matches(['@', '-', '+', ' ', '\t']);
    if !command.is_empty() && !command.starts_with('#') {
        out.act(What::Shell, &[&plain(command)]);
    }
}

/// Shell text of a recipe: `$$` is a dollar, make's variables are words that nobody knows here.
fn plain(command: &str) -> String {
    let mut text = String::with_capacity(command.len());
    let mut rest = command;
    while let Some((before, after)) = rest.split_once('$') {
        text.push_str(before);
        rest = if let Some(after) = after.strip_prefix('$') {
            text.push('$');
            after
        } else if let Some(inside) = after.strip_prefix('(') {
            text.push_str("make_value");
            inside.get(balanced(inside).len().saturating_add(1)..).unwrap_or("")
        } else if let Some(inside) = after.strip_prefix('{') {
            text.push_str("make_value");
            inside.split_once('}').map_or("", |(_, r)| r)
        } else {
            text.push_str("make_value");
            let mut chars = after.chars();
            chars.next();
            chars.as_str()
        };
    }
    text.push_str(rest);
    text
}
