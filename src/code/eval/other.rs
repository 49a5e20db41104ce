//! Calls of ruby, lua and R that need code.
//!
//! In: the call's arguments. Out: what it gives; acts by the way.
//! Never: knows paths or policy.

use std::rc::Rc;

use super::acting::opened;
use super::call::Args;
use super::machine::Machine;
use super::value::V;
use crate::code::found::{Origin, Reach, What};
use crate::code::meaning::{Fold, Special};
use crate::code::tree::Id;

impl Machine<'_, '_> {
    pub(crate) fn other_special(&mut self, special: Special, this: Option<&V>, args: &Args, id: Id) -> V {
        match special {
            Special::RubyMode => self.ruby_mode(args, id),
            Special::RubyMethod => {
                let of = this.cloned().unwrap_or_else(|| V::Ref(Rc::from("Kernel")));
                if let Some(name) = args.at(0).as_text() {
                    self.member(of, name, id)
                } else {
                    self.chosen("Kernel", &args.at(0), id);
                    V::open(Origin::Unknown)
                }
            }
            Special::RubyPopen => {
                let is_mode = args.items.get(1).and_then(V::as_text).is_some_and(|m| m.len() <= 3);
                let items = args
                    .items
                    .iter()
                    .enumerate()
                    .filter(|(n, _)| !(is_mode && *n == 1))
                    .map(|(_, v)| v.clone())
                    .collect();
                self.system(&Args { items, ..args.clone() }, id)
            }
            Special::LuaConcat => {
                let separator = args.items.get(1).cloned().unwrap_or_else(|| V::text(""));
                self.join(&separator, &args.at(0)).unwrap_or_else(|| V::Open(args.source()))
            }
            Special::LuaSub => {
                let from = args.at(1).as_number().unwrap_or(1);
                let start = if from > 0 { from.saturating_sub(1) } else { from };
                let length = args
                    .items
                    .get(2)
                    .and_then(V::as_number)
                    .filter(|n| *n > 0)
                    .map(|n| V::Number(n.saturating_sub(start)));
                let items = [V::Number(start)].into_iter().chain(length);
                self.fold(Fold::Substr, None, &Args::of(std::iter::once(args.at(0)).chain(items).collect()))
                    .unwrap_or_else(|| V::Open(args.source()))
            }
            Special::RUnlink => {
                let recursive = args
                    .option("recursive")
                    .is_some_and(|v| matches!(&v, V::Ref(n) if matches!(&**n, "TRUE" | "T")));
                self.reach(Reach::FILES);
                for path in opened(&args.at(0)) {
                    self.act(if recursive { What::DeleteTree } else { What::Delete }, vec![path], id);
                }
                V::Nothing
            }
            Special::RFile => self.r_file(args, id),
            Special::RCat => {
                if let Some(path) = args.named.iter().find(|(n, _)| &**n == "file").map(|(_, v)| v.clone()) {
                    let appends = args.named.iter().any(|(n, v)| {
                        &**n == "append" && matches!(v, V::Ref(t) if matches!(&**t, "TRUE" | "T"))
                    });
                    let data = args.at(0);
                    self.act(if appends { What::Append } else { What::Write }, vec![path, data], id);
                }
                self.special(Special::Print, None, args, id)
            }
            Special::RParse => match args.named.iter().find(|(n, _)| &**n == "text") {
                Some((_, text)) => self.special(Special::Eval, None, &Args::of(vec![text.clone()]), id),
                None => V::Nothing,
            },
            Special::RGet => {
                args.at(0).as_text().map_or_else(|| V::open(Origin::Unknown), |name| self.name(name))
            }
            Special::RPaste => {
                let separator = args
                    .named
                    .iter()
                    .find(|(n, _)| matches!(&**n, "sep" | "collapse"))
                    .map_or_else(|| V::text(" "), |(_, v)| v.clone());
                let items = args.items.iter().flat_map(opened).collect();
                self.join(&separator, &V::list(items)).unwrap_or_else(|| V::Open(args.source()))
            }
            _ => self.fold(Fold::MapOver, None, args).unwrap_or_else(|| V::Open(args.source())),
        }
    }

    /// `file()`, `url()`: a connection to a file or a URL.
    fn r_file(&mut self, args: &Args, id: Id) -> V {
        let path = args.at(0);
        let shown = path.shown();
        if shown.starts_with("http") || self.callee_is(id, "url") {
            self.act(What::Fetch, vec![path], id);
            return V::from(Origin::Network, &shown);
        }
        if shown == "stdin" {
            return V::open(Origin::Stdin);
        }
        self.open(None, &Args::of(vec![path, args.slot(1, "open").unwrap_or(V::Nothing)]), id)
    }

    /// Mode or owner, then files; lists are opened.
    fn ruby_mode(&mut self, args: &Args, id: Id) -> V {
        let first = args.at(0);
        let owner = self.member_called(id).is_some_and(|name| name.starts_with("chown"));
        let mode = match first {
            V::Number(n) => V::text(&format!("{n:o}")),
            other => other,
        };
        self.reach(Reach::FILES);
        for path in args.items.iter().skip(if owner { 2 } else { 1 }).flat_map(opened) {
            self.act(if owner { What::Chown } else { What::Chmod }, vec![path, mode.clone()], id);
        }
        V::open(Origin::Computed)
    }

    /// The name of the method that a call calls.
    fn member_called(&self, id: Id) -> Option<&str> {
        use crate::code::tree::Node;
        let Node::Call(kids) = self.tree.node(id) else { return None };
        match self.tree.kids(*kids).first().map(|c| self.tree.node(*c)) {
            Some(Node::Member(_, name)) => Some(*name),
            _ => None,
        }
    }
}
