//! Values of the abstract evaluation: what is known of what a variable holds.
//!
//! In: texts, numbers, lists, and where the unknown comes from. Out: values of bounded depth and size.
//! Never: nests deeper than [`DEPTH_LIMIT`], so that walking and dropping are bounded.

use std::rc::Rc;

use crate::code::found::{Built, Decoded, Origin, Piece, Source, Value};
use crate::code::tree::Id;

const DEPTH_LIMIT: u8 = 24;
const TEXT_LIMIT: usize = 64 * 1024;
pub(crate) const LIST_LIMIT: usize = 8 * 1024;
/// Alternatives that are followed.
const ANY_LIMIT: usize = 12;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum V {
    /// None, undefined, nil
    Nothing,
    Text(Rc<str>, Built),
    /// characters U+0000 to U+00FF stand for bytes
    Bytes(Rc<str>, Built),
    Number(i64),
    List(Rc<Seq>),
    /// keys and values in turn
    Dict(Rc<Seq>),
    /// text of which a part is unknown
    Mixed(Rc<[Piece]>, Built),
    Open(Source),
    /// a name that nothing in the text binds: a module, a member of one, a builtin
    Ref(Rc<str>),
    /// method of a value
    Bound(Rc<(V, Rc<str>, u8)>),
    Function(Id),
    Object(Rc<Object>),
    /// one of these
    Any(Rc<Seq>),
}

#[derive(Debug, PartialEq)]
pub(crate) struct Seq {
    pub(crate) items: Vec<V>,
    depth: u8,
}

/// Something made by a call: its class and what it was made with.
#[derive(Debug, PartialEq)]
pub(crate) struct Object {
    pub(crate) class: &'static str,
    pub(crate) args: Vec<V>,
    depth: u8,
}

fn deepest(items: &[V]) -> u8 {
    items.iter().map(V::depth).max().unwrap_or(0).saturating_add(1)
}

impl V {
    fn depth(&self) -> u8 {
        match self {
            Self::List(s) | Self::Dict(s) | Self::Any(s) => s.depth,
            Self::Object(o) => o.depth,
            Self::Bound(b) => b.2,
            Self::Nothing
            | Self::Text(..)
            | Self::Bytes(..)
            | Self::Number(_)
            | Self::Mixed(..)
            | Self::Open(_)
            | Self::Ref(_)
            | Self::Function(_) => 0,
        }
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::built(text, Built::Plain)
    }

    pub(crate) fn built(text: &str, built: Built) -> Self {
        if text.len() > TEXT_LIMIT {
            return Self::open(Origin::Computed);
        }
        Self::Text(Rc::from(text), built)
    }

    pub(crate) fn open(origin: Origin) -> Self {
        Self::Open(Source::of(origin))
    }

    pub(crate) fn from(origin: Origin, detail: &str) -> Self {
        Self::Open(Source::named(origin, detail))
    }

    pub(crate) fn list(items: Vec<Self>) -> Self {
        Self::seq(items, Self::List)
    }

    pub(crate) fn dict(items: Vec<Self>) -> Self {
        Self::seq(items, Self::Dict)
    }

    fn seq(items: Vec<Self>, make: fn(Rc<Seq>) -> Self) -> Self {
        let depth = deepest(&items);
        if depth > DEPTH_LIMIT || items.len() > LIST_LIMIT {
            return Self::Open(joint(&items));
        }
        make(Rc::new(Seq { items, depth }))
    }

    /// Whether knowing it can make a difference to what a function does.
    pub(crate) fn tells(&self) -> bool {
        match self {
            Self::Nothing | Self::Number(_) => false,
            Self::Open(source) => source.origin > Origin::Unknown,
            Self::Text(..)
            | Self::Bytes(..)
            | Self::Mixed(..)
            | Self::Ref(_)
            | Self::Bound(_)
            | Self::Function(_)
            | Self::Object(_) => true,
            Self::List(s) | Self::Dict(s) | Self::Any(s) => s.items.iter().take(32).any(Self::tells),
        }
    }

    /// Whether two values are the same, without looking into long or deep ones.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::List(a), Self::List(b))
            | (Self::Dict(a), Self::Dict(b))
            | (Self::Any(a), Self::Any(b)) => {
                Rc::ptr_eq(a, b)
                    || (a.depth <= 2
                        && b.depth <= 2
                        && a.items.len() == b.items.len()
                        && a.items.len() <= 16
                        && a.items == b.items)
            }
            (Self::Object(a), Self::Object(b)) => {
                Rc::ptr_eq(a, b) || (a.class == b.class && a.depth <= 2 && a.args == b.args)
            }
            (Self::Bound(a), Self::Bound(b)) => Rc::ptr_eq(a, b),
            _ => self == other,
        }
    }

    /// One of several; the same ones once.
    pub(crate) fn any(items: Vec<Self>) -> Self {
        let mut flat: Vec<Self> = Vec::with_capacity(items.len());
        for item in items {
            let parts = match &item {
                Self::Any(seq) => seq.items.clone(),
                _ => vec![item],
            };
            for part in parts {
                let limit = if part.depth() > 0 { ANY_LIMIT / 4 } else { ANY_LIMIT };
                if flat.len() < limit && !flat.iter().any(|f| f.is_alike(&part)) {
                    flat.push(part);
                }
            }
        }
        match flat.len() {
            0 => Self::Nothing,
            1 => flat.pop().unwrap_or(Self::Nothing),
            _ => Self::seq(flat, Self::Any),
        }
    }

    pub(crate) fn object(class: &'static str, args: Vec<Self>) -> Self {
        let depth = deepest(&args);
        if depth > DEPTH_LIMIT {
            return Self::Open(joint(&args));
        }
        Self::Object(Rc::new(Object { class, args, depth }))
    }

    pub(crate) fn bound(of: Self, name: &str) -> Self {
        let depth = of.depth().saturating_add(1);
        if depth > DEPTH_LIMIT {
            return Self::Open(of.source());
        }
        Self::Bound(Rc::new((of, Rc::from(name), depth)))
    }

    /// Text from pieces; neighbours are joined.
    pub(crate) fn pieces(pieces: Vec<Piece>, built: Built) -> Self {
        let mut out: Vec<Piece> = Vec::with_capacity(pieces.len());
        let mut text = String::new();
        let mut size = 0_usize;
        for piece in pieces {
            match piece {
                Piece::Text(t) => text.push_str(&t),
                Piece::Open(s) => {
                    size = size.saturating_add(1);
                    if !text.is_empty() {
                        out.push(Piece::Text(Rc::from(text.as_str())));
                        text.clear();
                    }
                    out.push(Piece::Open(s));
                }
            }
        }
        if out.is_empty() {
            return Self::built(&text, built);
        }
        if !text.is_empty() {
            out.push(Piece::Text(Rc::from(text.as_str())));
        }
        if size > 64 || text.len() > TEXT_LIMIT {
            return Self::Open(out.iter().fold(Source::default(), |worst, p| match p {
                Piece::Text(_) => worst,
                Piece::Open(s) => worst.worse(s.clone()),
            }));
        }
        match out.as_slice() {
            [Piece::Open(source)] => Self::Open(source.clone()),
            _ => Self::Mixed(Rc::from(out), built),
        }
    }

    /// The text, if it is known.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(t, _) | Self::Bytes(t, _) => Some(t),
            _ => None,
        }
    }

    pub(crate) fn as_number(&self) -> Option<i64> {
        match self {
            Self::Number(n) => Some(*n),
            Self::Text(t, _) => t.trim().parse().ok(),
            _ => None,
        }
    }

    pub(crate) fn level(&self) -> Built {
        match self {
            Self::Text(_, b) | Self::Bytes(_, b) | Self::Mixed(_, b) => *b,
            Self::List(s) | Self::Any(s) | Self::Dict(s) => {
                s.items.iter().take(16).map(Self::level).max().unwrap_or_default()
            }
            Self::Object(o) => o.args.iter().map(Self::level).max().unwrap_or_default(),
            Self::Nothing
            | Self::Number(_)
            | Self::Open(_)
            | Self::Ref(_)
            | Self::Bound(_)
            | Self::Function(_) => Built::Plain,
        }
    }

    /// Where what is unknown in it comes from.
    pub(crate) fn source(&self) -> Source {
        match self {
            Self::Open(source) => source.clone(),
            Self::Mixed(pieces, _) => pieces.iter().fold(Source::default(), |worst, p| match p {
                Piece::Text(_) => worst,
                Piece::Open(s) => worst.worse(s.clone()),
            }),
            Self::List(s) | Self::Dict(s) | Self::Any(s) => joint(&s.items),
            Self::Object(o) => match o.class {
                "file" => Source::named(Origin::File, &o.args.first().map(Self::shown).unwrap_or_default()),
                "response" => o.args.first().map(Self::source).unwrap_or_default(),
                "socket" | "server" => Source::of(Origin::Network),
                "process" => Source::of(Origin::Command),
                _ => joint(&o.args),
            },
            Self::Bound(b) => b.0.source(),
            Self::Ref(_)
            | Self::Nothing
            | Self::Text(..)
            | Self::Bytes(..)
            | Self::Number(_)
            | Self::Function(_) => Source::default(),
        }
    }

    /// As text in pieces.
    pub(crate) fn parts(&self) -> Vec<Piece> {
        match self {
            Self::Text(t, _) | Self::Bytes(t, _) => vec![Piece::Text(Rc::clone(t))],
            Self::Number(n) => vec![Piece::Text(Rc::from(n.to_string()))],
            Self::Mixed(pieces, _) => pieces.to_vec(),
            Self::Object(o) if matches!(o.class, "path" | "temporary") => {
                o.args.first().map_or_else(|| vec![Piece::Open(Source::default())], Self::parts)
            }
            Self::Object(_)
            | Self::List(_)
            | Self::Dict(_)
            | Self::Any(_)
            | Self::Bound(_)
            | Self::Open(_) => vec![Piece::Open(self.source())],
            Self::Nothing | Self::Ref(_) | Self::Function(_) => {
                vec![Piece::Open(Source::of(Origin::Unknown))]
            }
        }
    }

    /// As the public value.
    pub(crate) fn value(&self) -> Value {
        let parts = self.parts();
        match parts.as_slice() {
            [Piece::Text(text)] => Value::Known(Rc::clone(text)),
            _ => Value::Pieced(Rc::from(parts)),
        }
    }

    /// For details: the text with `…` where it is unknown.
    pub(crate) fn shown(&self) -> String {
        self.parts()
            .iter()
            .map(|p| match p {
                Piece::Text(t) => t.to_string(),
                Piece::Open(s) if s.origin == Origin::Variable => format!("${}", s.detail),
                Piece::Open(_) => "\u{2026}".to_owned(),
            })
            .collect()
    }

    /// The value without knowledge of what it says, after a decoding step.
    pub(crate) fn decoded(&self) -> Self {
        let source = self.source();
        Self::Open(Source { decoded: Decoded::Yes, ..source })
    }
}

impl Default for Source {
    fn default() -> Self {
        Self::of(Origin::Computed)
    }
}

/// The gravest source of several values.
pub(crate) fn joint(items: &[V]) -> Source {
    items.iter().take(64).map(V::source).fold(Source::default(), Source::worse)
}
