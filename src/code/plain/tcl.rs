//! Tcl and expect: commands of words; `exec`, `spawn`, `open |…`, `socket`, `file delete`.
//!
//! In: source text. Out: acts. Never: evaluates variables: words that hold one are not known.

use super::Out;
use crate::code::found::{Grade, What};

/// Most commands that are read.
const MOST: usize = 400;

pub(super) fn read(text: &str, out: &mut Out) {
    let mut network = false;
    let mut runs = false;
    for command in commands(text) {
        let words = words(command);
        let Some((name, args)) = words.split_first() else { continue };
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let plain: Vec<&str> = args.iter().copied().filter(|a| !a.starts_with('-')).collect();
        match name.as_str() {
            "exec" => {
                runs = true;
                let end = args.iter().position(|a| a.starts_with(['<', '>', '|', '&'])).unwrap_or(args.len());
                let start = args.iter().position(|a| !a.starts_with('-')).unwrap_or(0);
                out.act(What::Exec, args.get(start..end).unwrap_or(&[]));
            }
            "spawn" | "system" => {
                runs = true;
                let start = args.iter().position(|a| !a.starts_with('-')).unwrap_or(0);
                if name == "system" {
                    out.act(What::Shell, &[&args.join(" ")]);
                } else {
                    out.act(What::Exec, args.get(start..).unwrap_or(&[]));
                }
            }
            "socket" => {
                network = true;
                match plain.as_slice() {
                    [host, port, ..] => out.act(What::Connect, &[host, port]),
                    _ => out.act(What::Listen, &["", plain.first().copied().unwrap_or("")]),
                }
            }
            "open" => match plain.as_slice() {
                [pipe, ..] if pipe.starts_with('|') => {
                    runs = true;
                    out.act(What::Shell, &[pipe.trim_start_matches('|').trim()]);
                }
                [path, mode, ..] if mode.contains(['w', 'a', '+']) => out.act(What::Write, &[path]),
                [path, ..] => out.act(What::Read, &[path]),
                [] => {}
            },
            "source" | "load" => out.act(What::Load, plain.get(..1).unwrap_or(&[])),
            "file" => match plain.as_slice() {
                ["delete", paths @ ..] => paths.iter().for_each(|p| out.act(What::DeleteTree, &[p])),
                ["copy", from, to, ..] => out.act(What::Copy, &[from, to]),
                ["rename", from, to, ..] => out.act(What::Move, &[from, to]),
                _ => {}
            },
            "eval" | "subst" | "uplevel" if command.contains(['[', '$']) => {
                out.doubt(Grade::Chosen, "eval of computed text");
            }
            _ => {}
        }
    }
    if network && (runs || text.contains("eval") || text.contains("exec")) {
        out.act(What::StreamsToNetwork, &[]);
    }
}

/// Commands at any depth: text between separators and brackets.
fn commands(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', ';', '{', '}', '[', ']']).map(str::trim).filter(|c| !c.is_empty()).take(MOST)
}

/// Words, quotes removed.
fn words(command: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    for c in command.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => {
                if !word.is_empty() {
                    out.push(std::mem::take(&mut word));
                }
            }
            c => word.push(c),
        }
    }
    if !word.is_empty() {
        out.push(word);
    }
    out
}
