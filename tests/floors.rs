//! The house's floors: imports run downwards in the order of the module list of `src/lib.rs`, a module's
//! children don't import it, and files and folders keep their size.

// a test program: what is not there may stop it
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::wildcard_enum_match_arm,
    clippy::format_collect,
    clippy::format_push_string
)]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Floors from the top to the bottom, as `src/lib.rs` lists them.
fn floors() -> Vec<String> {
    let text = fs::read_to_string("src/lib.rs").unwrap();
    text.lines()
        .filter_map(|line| line.strip_prefix("pub mod "))
        .filter_map(|rest| rest.strip_suffix(';'))
        .map(str::to_owned)
        .collect()
}

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

fn all() -> Vec<PathBuf> {
    let mut out = Vec::new();
    sources(Path::new("src"), &mut out);
    out.sort();
    out
}

/// The floor that a file belongs to; doors and the list itself have none.
fn floor_of(path: &Path) -> Option<String> {
    let mut parts = path.strip_prefix("src").ok()?.components();
    let first = parts.next()?.as_os_str().to_str()?.to_owned();
    let name = first.strip_suffix(".rs").unwrap_or(&first).to_owned();
    (!matches!(name.as_str(), "main" | "lib" | "bin")).then_some(name)
}

/// Names of floors that a text imports or names by `crate::`; tests at the file's foot don't count.
fn named(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or(text);
    let mut out = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let line = &code[code[..at].rfind('\n').map_or(0, |i| i + 1)..at];
        if line.trim_start().starts_with("//") {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let group = group.split('}').next().unwrap_or("");
            out.extend(group.split(',').map(|part| part.trim().split("::").next().unwrap_or("").to_owned()));
        } else {
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
            out.push(rest[..end].to_owned());
        }
    }
    out
}

#[test]
fn imports_run_downwards_only() {
    let floors = floors();
    let height: HashMap<&str, usize> = floors.iter().enumerate().map(|(i, f)| (f.as_str(), i)).collect();
    let mut wrong = Vec::new();
    for path in all() {
        let Some(own) = floor_of(&path) else { continue };
        let here = *height.get(own.as_str()).unwrap_or_else(|| panic!("{own} is in no floor"));
        for name in named(&fs::read_to_string(&path).unwrap()) {
            if let Some(there) = height.get(name.as_str())
                && *there < here
            {
                wrong.push(format!("{}: {own} imports {name}, which lies above it", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_keep_their_size() {
    let mut wrong = Vec::new();
    for path in all() {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        if lines > 450 {
            wrong.push(format!("{}: {lines} lines", path.display()));
        }
    }
    assert!(wrong.is_empty(), "two things in one room?\n{}", wrong.join("\n"));
}

#[test]
fn every_module_says_what_it_is_for() {
    let mut wrong = Vec::new();
    for path in all() {
        let text = fs::read_to_string(&path).unwrap();
        let first = text.lines().next().unwrap_or("");
        if !first.starts_with("//!") {
            wrong.push(format!("{}: does not open with `//!`", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn parsers_and_the_kernel_are_named_in_their_own_rooms() {
    for (word, rooms) in [
        ("brush_parser", &["src/syntax/bash.rs", "src/syntax/bash/"][..]),
        ("yash_syntax", &["src/syntax/posix.rs", "src/syntax/posix/"][..]),
        ("landlock::", &["src/confine/"][..]),
    ] {
        for path in all() {
            let shown = path.display().to_string();
            let text = fs::read_to_string(&path).unwrap();
            let code: Vec<&str> = text.lines().filter(|l| !l.trim_start().starts_with("//")).collect();
            let uses = code.iter().any(|l| l.contains(word));
            assert!(!uses || rooms.iter().any(|r| shown.starts_with(r)), "{shown} names {word}");
        }
    }
}
