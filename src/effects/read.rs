//! Builtins that read lines into variables and print formatted text: read, mapfile, printf.
//!
//! In: a call with its input. Out: changed state, what is printed. Never: takes input of unknown text for empty.

use std::rc::Rc;

use crate::act::tag;
use crate::canonical::value::{Data, Value};
use crate::effects::call::Call;
use crate::effects::fields::tags_of;
use crate::effects::print::printf;
use crate::effects::walk::{Outcome, Status, Walk};

/// Most lines that mapfile takes.
const LINES: usize = 512;

/// Where `read` puts the words of a line.
#[derive(Debug, Default, PartialEq, Eq)]
struct Into {
    names: Vec<String>,
    /// `-a`
    array: Option<String>,
    /// `-d`: what ends the line; an empty word is a null
    end: Option<char>,
}

impl Into {
    fn read(call: &Call<'_>) -> Self {
        let mut into = Self::default();
        let mut words = call.arguments().iter();
        while let Some(field) = words.next() {
            match field.text.as_str() {
                text if text.starts_with('-') && text.ends_with('a') => {
                    into.array = words.next().map(|f| f.text.clone());
                }
                text if text.starts_with('-') => {
                    if text.ends_with('d') {
                        let word = words.next().map(|f| f.text.chars().next().unwrap_or('\0'));
                        into.end = word;
                    } else if let Some((_, end)) = text.split_once('d').filter(|(_, e)| e.len() == 1) {
                        into.end = end.chars().next();
                    } else if text.ends_with(['n', 'N', 'p', 't', 'u', 'i']) {
                        words.next();
                    }
                }
                text => into.names.push(text.to_owned()),
            }
        }
        if into.names.is_empty() && into.array.is_none() {
            into.names.push("REPLY".to_owned());
        }
        into
    }
}

impl Walk<'_, '_> {
    /// `read`: the first line of the input, split by IFS.
    pub(super) fn read_builtin(&mut self, call: &Call<'_>) -> Outcome {
        let into = Into::read(call);
        let tags = call.stdin.tags;
        let Some(text) = call.stdin.text.as_deref() else {
            for name in into.names.iter().chain(into.array.iter()) {
                self.state.set(name, Value::unknown(tags));
            }
            return Outcome::silent();
        };
        let line = match into.end {
            Some(end) => text.split(end).next().unwrap_or(""),
            None => text.lines().next().unwrap_or(""),
        };
        // `IFS=: read …` holds for this call
        let own = call.environment.iter().rev().find(|(n, _)| n == "IFS").map(|(_, v)| v.clone());
        let separators =
            own.or_else(|| self.state.scalar("IFS")).map_or_else(|| " \t\n".to_owned(), |v| v.text);
        let value = |text: &str| Value { text: text.to_owned(), tags };
        if let Some(array) = into.array {
            let parts = line.split(|c| separators.contains(c)).filter(|p| !p.is_empty());
            let elements = parts.enumerate().map(|(i, p)| (i.to_string(), value(p))).collect();
            self.state.set_array(&array, elements);
            return Outcome::silent();
        }
        let mut rest = line.trim_matches(|c: char| separators.contains(c) && c.is_whitespace());
        let last = into.names.len().saturating_sub(1);
        for (i, name) in into.names.iter().enumerate() {
            let (part, tail) = match rest.find(|c| separators.contains(c)) {
                Some(at) if i < last => {
                    let (a, b) = rest.split_at(at);
                    (a, b.trim_start_matches(|c| separators.contains(c)))
                }
                Some(_) | None => (rest, ""),
            };
            self.state.set(name, value(part));
            rest = tail;
        }
        Outcome::silent()
    }

    /// `mapfile`, `readarray`: all lines of the input.
    pub(super) fn mapfile(&mut self, call: &Call<'_>) -> Outcome {
        let mut name = "MAPFILE".to_owned();
        let mut words = call.arguments().iter();
        while let Some(field) = words.next() {
            match field.text.as_str() {
                "-C" => {
                    if let Some(code) = words.next() {
                        let mut child = self.fork();
                        child.opaque_or_text(code, &Rc::from("mapfile"));
                    }
                }
                "-d" | "-n" | "-O" | "-s" | "-u" | "-c" => drop(words.next()),
                text if text.starts_with('-') => {}
                text => text.clone_into(&mut name),
            }
        }
        match call.stdin.text.clone() {
            Some(text) => {
                let tags = call.stdin.tags;
                let lines = text.lines().take(LINES).enumerate();
                let elements =
                    lines.map(|(i, l)| (i.to_string(), Value { text: l.to_owned(), tags })).collect();
                self.state.set_array(&name, elements);
            }
            None => self.state.set(&name, Value::unknown(call.stdin.tags)),
        }
        Outcome::silent()
    }

    /// `printf -v NAME …` sets a variable (and evaluates a subscript); else it prints.
    pub(super) fn printf(&mut self, call: &Call<'_>) -> Outcome {
        let words = call.arguments();
        let tags = tags_of(words);
        let (name, rest) = match words.first().map(|f| f.text.as_str()) {
            Some("-v") => (words.get(1), words.get(2..).unwrap_or(&[])),
            Some("--") => (None, words.get(1..).unwrap_or(&[])),
            _ => (None, words),
        };
        let text = printf(rest);
        if let Some(name) = name {
            let key = name.value();
            let span = name.span;
            self.subscript_runs(&key, span);
            let value = text.map_or_else(|| Value::unknown(tags), |text| Value { text, tags });
            self.set_variable(&key.text, value, span);
            return Outcome::success();
        }
        let mut data = Data { text, ..Data::unknown(tags.with(tag::FROM_LITERAL)) };
        if rest.first().is_some_and(|f| f.text.contains("\\x") || f.text.contains("\\1")) {
            data.tags = data.tags.with(tag::FROM_DECODED);
        }
        Outcome { data, status: Status::Success }
    }
}
