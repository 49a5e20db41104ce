//! A notebook for the readers of small languages: acts in order, each once.
//!
//! In: acts. Out: [`Found`].
//! Never: holds more than [`ACT_LIMIT`] acts; past that it is a doubt.

use std::rc::Rc;

use crate::code::found::{Act, Built, Doubt, Found, Grade, Origin, Piece, Source, Value, What};
use crate::text::Span;

const ACT_LIMIT: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) found: Found,
    /// Names of tables that the text has made.
    pub(super) made: Vec<String>,
}

impl Notes {
    pub(super) fn act(&mut self, what: What, args: Vec<Value>, span: Span) {
        let acts = &mut self.found.acts;
        if acts.len() >= ACT_LIMIT {
            self.doubt(Grade::Limit, "more acts than are followed", span);
        } else if !acts.iter().any(|a| a.what == what && a.args == args) {
            acts.push(Act { what, args, built: Built::Plain, span });
        }
    }

    /// An act on one known text; nothing if it is empty.
    pub(super) fn on(&mut self, what: What, text: &str, span: Span) {
        let text = text.trim();
        if !text.is_empty() {
            self.act(what, vec![known(text)], span);
        }
    }

    pub(super) fn doubt(&mut self, grade: Grade, detail: &str, span: Span) {
        let old = &mut self.found.unknown;
        if old.as_ref().is_none_or(|d| d.grade < grade) {
            *old = Some(Doubt { grade, detail: Rc::from(detail), span });
        }
    }

    /// What code of another language inside this one does; its acts stand where it stands.
    pub(super) fn inner(&mut self, found: Found, span: Span) {
        for act in found.acts {
            self.act(act.what, act.args, span);
            if let Some(last) = self.found.acts.last_mut() {
                last.built = last.built.max(act.built);
            }
        }
        if let Some(doubt) = found.unknown {
            self.doubt(doubt.grade, &doubt.detail, span);
        }
        self.found.reach = self.found.reach.with(found.reach);
    }
}

pub(super) fn known(text: &str) -> Value {
    Value::Known(Rc::from(text))
}

/// Pieces as a value: neighbours joined, empty ones dropped.
pub(super) fn value(pieces: Vec<Piece>) -> Value {
    let mut out: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match (out.last_mut(), piece) {
            (_, Piece::Text(t)) if t.is_empty() => {}
            (Some(Piece::Text(last)), Piece::Text(t)) => *last = Rc::from(format!("{last}{t}")),
            (_, piece) => out.push(piece),
        }
    }
    match out.as_slice() {
        [] => known(""),
        [Piece::Text(text)] => Value::Known(Rc::clone(text)),
        _ => Value::Pieced(Rc::from(out)),
    }
}

pub(super) fn open(origin: Origin, detail: &str) -> Piece {
    Piece::Open(Source::named(origin, detail))
}

pub(super) fn pieces(value: &Value) -> Vec<Piece> {
    match value {
        Value::Known(text) => vec![Piece::Text(Rc::clone(text))],
        Value::Pieced(pieces) => pieces.to_vec(),
    }
}
