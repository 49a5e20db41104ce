//! Calls of perl that need code.
//!
//! In: the call's arguments. Out: what it gives; acts by the way.
//! Never: knows paths or policy.

use std::rc::Rc;

use super::acting::opened;
use super::call::Args;
use super::decode;
use super::machine::Machine;
use super::value::V;
use crate::code::found::{Origin, Reach, What};
use crate::code::meaning::{Fold, Special};
use crate::code::tree::{Id, Node};

impl Machine<'_, '_> {
    pub(crate) fn perl_special(&mut self, special: Special, args: &Args, id: Id) -> V {
        match special {
            Special::PerlMode => {
                // the mode (or user and group) stands before the files
                let is_owner = self.callee_is(id, "chown");
                let (what, skip) = if is_owner { (What::Chown, 2) } else { (What::Chmod, 1) };
                let mode = match args.at(0) {
                    V::Number(n) => V::text(&format!("{n:o}")),
                    other => other,
                };
                self.reach(Reach::FILES);
                for path in args.items.iter().skip(skip).flat_map(opened) {
                    self.act(what, vec![path, mode.clone()], id);
                }
                V::open(Origin::Computed)
            }
            Special::PerlSocket => {
                self.reach(Reach::NETWORK);
                V::object("socket", Vec::new())
            }
            Special::PerlConnect => self.perl_connect(args, id),
            Special::PerlAccept => V::open(Origin::Network),
            Special::PerlShift => self.shift(args),
            Special::PerlPrint => {
                if let Some(V::Object(file)) = args.items.first()
                    && file.class == "file"
                {
                    let path = file.args.first().cloned().unwrap_or(V::Nothing);
                    for data in args.items.iter().skip(1) {
                        self.give(&path, data);
                    }
                }
                self.special(Special::Print, None, args, id)
            }
            Special::PerlUnpack => {
                let template = args.at(0);
                let letter = template.as_text().and_then(|t| t.chars().next());
                let of = Args::of(vec![args.at(1)]);
                match letter {
                    Some('u' | 'm') => {
                        self.fold(Fold::Base64, None, &of).map_or(V::Nothing, |v| super::fold::readable(&v))
                    }
                    _ => V::Open(args.source()),
                }
            }
            Special::PerlReverse => {
                let items: Vec<V> = args.items.iter().flat_map(opened).collect();
                match items.as_slice() {
                    [V::Text(text, _)] => {
                        let turned: String = text.chars().rev().collect();
                        self.hidden(&turned)
                    }
                    _ => V::list(items.into_iter().rev().collect()),
                }
            }
            Special::PerlSplit => {
                let separator = args.at(0);
                let separator = if separator.as_text() == Some(" ") { V::Nothing } else { separator };
                self.fold(Fold::Split, None, &Args::of(vec![args.at(1), separator]))
                    .unwrap_or_else(|| V::Open(args.source()))
            }
            _ => args
                .at(0)
                .as_text()
                .and_then(|t| i64::from_str_radix(t.trim_start_matches("0x"), 16).ok())
                .map_or_else(|| V::Open(args.source()), V::Number),
        }
    }

    /// The first of a function's arguments, or of the program's.
    fn shift(&mut self, args: &Args) -> V {
        match (args.items.first(), self.state.vars.get("@_").cloned()) {
            (None, Some(V::List(seq))) if !self.stack.is_empty() => {
                self.state.vars.insert(Rc::from("@_"), V::list(seq.items.iter().skip(1).cloned().collect()));
                seq.items.first().cloned().unwrap_or_else(|| V::open(Origin::Unknown))
            }
            (None, _) => V::from(Origin::Argument, "0"),
            (Some(first), _) => match first {
                V::Open(source) if source.origin == Origin::Argument => V::from(Origin::Argument, "0"),
                other => other.clone(),
            },
        }
    }

    pub(crate) fn callee_is(&self, id: Id, name: &str) -> bool {
        match self.tree.node(id) {
            Node::Call(kids) => self
                .tree
                .kids(*kids)
                .first()
                .is_some_and(|c| matches!(self.tree.node(*c), Node::Name(n) if *n == name)),
            _ => false,
        }
    }

    fn perl_connect(&mut self, args: &Args, id: Id) -> V {
        self.reach(Reach::NETWORK);
        let what = if self.callee_is(id, "bind") { What::Listen } else { What::Connect };
        let (host, port) = match args.items.get(1) {
            Some(V::Object(address)) if address.class == "address" => (
                address.args.get(1).cloned().unwrap_or(V::Nothing),
                address.args.first().cloned().unwrap_or(V::Nothing),
            ),
            Some(other) => (V::Open(other.source()), V::Nothing),
            None => (V::open(Origin::Unknown), V::Nothing),
        };
        self.act(what, vec![host, port], id);
        V::open(Origin::Network)
    }

    /// `$x =~ tr/…/…/` and `$x =~ s/…/…/` change the variable.
    pub(crate) fn changed(&mut self, target: Id, change: Id) -> bool {
        let Node::Call(kids) = self.tree.node(change) else { return false };
        let kids = self.tree.kids(*kids);
        let name = match kids.first().map(|c| self.tree.node(*c)) {
            Some(Node::Name(name @ ("tr///" | "s///"))) => *name,
            _ => return false,
        };
        let parts: Vec<V> = kids.iter().skip(1).map(|k| self.eval(*k)).collect();
        let old = self.eval(target);
        let new = self.replaced(name, &old, &parts);
        self.assign(target, new);
        true
    }

    /// `s/…/…/`, `tr/…/…/` alone change `$_`.
    pub(crate) fn changes_it(&mut self, name: &str, kids: &[Id]) -> V {
        let parts: Vec<V> = kids.iter().map(|k| self.eval(*k)).collect();
        let old = self.name("$_");
        let new = self.replaced(name, &old, &parts);
        self.set("$_", new);
        V::open(Origin::Computed)
    }

    pub(crate) fn replaced(&mut self, name: &str, old: &V, parts: &[V]) -> V {
        let pattern = parts.first().and_then(V::as_text).unwrap_or("");
        match (old.as_text(), parts.get(1).and_then(V::as_text)) {
            (Some(text), Some(to)) if name == "tr///" => {
                let made = decode::translate(text, pattern, to);
                self.hidden(&made)
            }
            (Some(text), Some(to))
                if pattern
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b" -_,:;#@!~%&=<>'\"".contains(&b)) =>
            {
                let made = text.replace(pattern, to);
                if self.spend(made.len()) { V::built(&made, old.level()) } else { V::open(Origin::Computed) }
            }
            _ => V::Open(old.source()),
        }
    }
}
