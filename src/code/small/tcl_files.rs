//! Tcl's commands for files and connections.
//!
//! In: a command's words. Out: acts.
//! Never: knows paths.

use std::rc::Rc;

use super::notes::{known, open, pieces, value};
use super::tcl::{Tcl, Word};
use crate::code::found::{Origin, Piece, Value, What};
use crate::text::Span;

impl Tcl {
    pub(super) fn open(&mut self, args: &[Word<'_>], span: Span) -> Value {
        let Some(path) = args.first() else { return known("") };
        if let Some(command) = path.value.prefix().strip_prefix('|') {
            let command = command.trim().to_owned();
            let rest = match &path.value {
                Value::Known(_) => known(&command),
                Value::Pieced(p) => value(
                    std::iter::once(Piece::Text(Rc::from(command.as_str())))
                        .chain(p.iter().skip(1).cloned())
                        .collect(),
                ),
            };
            return self.run(What::Shell, rest, span);
        }
        let mode = args.get(1).map_or("r", |w| w.text());
        let what = match mode.chars().next() {
            Some('a') => What::Append,
            Some('w') => What::Write,
            _ if mode.contains('+') => What::Write,
            _ => What::Read,
        };
        let detail = path.text().to_owned();
        self.notes.act(what, vec![path.value.clone()], span);
        value(vec![open(Origin::File, &detail)])
    }

    pub(super) fn file(&mut self, args: &[Word<'_>], span: Span) -> Value {
        let Some((sub, rest)) = args.split_first() else { return known("") };
        let force = rest.iter().any(|w| w.text() == "-force");
        let paths: Vec<Value> =
            rest.iter().filter(|w| !matches!(w.text(), "-force" | "--")).map(|w| w.value.clone()).collect();
        match sub.text() {
            "delete" => paths.into_iter().for_each(|p| {
                self.notes.act(if force { What::DeleteTree } else { What::Delete }, vec![p], span);
            }),
            "rename" => self.notes.act(What::Move, paths, span),
            "copy" => self.notes.act(What::Copy, paths, span),
            "mkdir" => paths.into_iter().for_each(|p| self.notes.act(What::Create, vec![p], span)),
            "link" => self.notes.act(What::Link, paths.into_iter().rev().collect(), span),
            "attributes" if rest.iter().any(|w| w.text() == "-permissions") => {
                let mode = rest.last().map(|w| w.value.clone());
                self.notes.act(What::Chmod, paths.into_iter().take(1).chain(mode).collect(), span);
            }
            "join" => {
                let mut all = Vec::new();
                for path in &paths {
                    if !all.is_empty() {
                        all.push(Piece::Text(Rc::from("/")));
                    }
                    all.extend(pieces(path));
                }
                return value(all);
            }
            "normalize" | "nativename" => return paths.into_iter().next().unwrap_or_else(|| known("")),
            _ => {}
        }
        known("")
    }

    pub(super) fn socket(&mut self, args: &[Word<'_>], span: Span) -> Value {
        if args.first().is_some_and(|w| w.text() == "-server") {
            self.notes.act(
                What::Listen,
                vec![known(""), args.last().map_or_else(|| known(""), |w| w.value.clone())],
                span,
            );
        } else {
            let mut plain = args.iter().filter(|w| !w.text().starts_with('-')).map(|w| w.value.clone());
            let (host, port) =
                (plain.next().unwrap_or_else(|| known("")), plain.next().unwrap_or_else(|| known("")));
            self.notes.act(What::Connect, vec![host, port], span);
        }
        value(vec![open(Origin::Network, "")])
    }
}
