//! Assignments: what a target binds, in a variable, a list, a map or the environment.
//!
//! In: targets and values. Out: the machine's variables.
//! Never: forgets a value that a branch not taken would have left.

use std::rc::Rc;

use super::call::{Args, Given};
use super::machine::Machine;
use super::value::V;
use crate::code::found::{Origin, What};
use crate::code::tree::{Id, Node, Operator};
use crate::policy::tables::Lang;

impl Machine<'_, '_> {
    pub(crate) fn assignment(&mut self, target: Id, op: Option<Operator>, value: Id) -> V {
        let mut value = self.eval(value);
        if let Some(op) = op {
            let old = match self.eval(target) {
                // perl's and awk's variables begin empty
                V::Ref(name) if self.begins_empty(&name) => V::text(""),
                old => old,
            };
            value = match op {
                Operator::Or => V::any(vec![old, value]),
                _ => self.combine(op, &[old, value]),
            };
        }
        self.assign(target, value.clone());
        value
    }

    fn begins_empty(&self, name: &str) -> bool {
        let lang = self.language.lang;
        (lang == Lang::Awk || lang == Lang::Perl && name.starts_with('$')) && self.means(name).is_none()
    }

    /// Binds what a target names.
    pub(crate) fn assign(&mut self, target: Id, value: V) {
        let tree = self.tree;
        match tree.node(target) {
            Node::Name(name) => self.set(name, value),
            Node::List(kids) => {
                for (n, kid) in tree.kids(*kids).iter().enumerate() {
                    let index = V::Number(i64::try_from(n).unwrap_or(0));
                    let part = if matches!(tree.node(*kid), Node::Spread(_)) {
                        // `[a, ...rest]`: what is left
                        match &value {
                            V::List(seq) => V::list(seq.items.iter().skip(n).cloned().collect()),
                            other => other.clone(),
                        }
                    } else {
                        self.index(value.clone(), &index, target)
                    };
                    self.assign(*kid, part);
                }
            }
            Node::Dict(kids) => {
                for kid in tree.kids(*kids) {
                    let (key, bound) = match tree.node(*kid) {
                        Node::Pair(key, bound) => (*key, *bound),
                        _ => (*kid, *kid),
                    };
                    let key = match tree.node(key) {
                        Node::Assign(name, ..) => *name,
                        _ => key,
                    };
                    let key = self.key(key);
                    let part = self.index(value.clone(), &key, target);
                    self.assign(bound, part);
                }
            }
            Node::Assign(inner, ..) | Node::Spread(inner) | Node::Pair(inner, _) => {
                self.assign(*inner, value);
            }
            Node::Member(of, name) => {
                let of = self.eval(*of);
                self.set_member(of, name, value, target);
            }
            Node::Index(of, index) => {
                let index = self.eval(*index);
                self.set_index(*of, index, value, target);
            }
            _ => {}
        }
    }

    fn set_index(&mut self, of: Id, index: V, value: V, id: Id) {
        let object = self.eval(of);
        let name = match (self.tree.node(of), object) {
            (_, V::Open(source)) if source.origin == Origin::Environment => {
                return self.act(What::SetVariable, vec![index, value], id);
            }
            (_, V::Ref(name)) => {
                if let Some(key) = index.as_text() {
                    self.set(&format!("{name}.{key}"), value);
                }
                return;
            }
            (Node::Name(name), V::Dict(seq)) if self.spend(seq.items.len().saturating_mul(8)) => {
                let mut items = seq.items.clone();
                items.push(index);
                items.push(value);
                return self.set(name, V::dict(items));
            }
            (Node::Name(name), V::List(seq)) if self.spend(seq.items.len().saturating_mul(8)) => {
                let mut items = seq.items.clone();
                match index.as_number().and_then(|n| usize::try_from(n).ok()).and_then(|n| items.get_mut(n)) {
                    Some(slot) => *slot = value,
                    None => items.push(value),
                }
                return self.set(name, V::list(items));
            }
            (Node::Name(name), V::Nothing) => *name,
            _ => return,
        };
        self.set(name, V::dict(vec![index, value]));
    }

    fn set_member(&mut self, of: V, name: &str, value: V, id: Id) {
        match of {
            V::Open(source) if source.origin == Origin::Environment => {
                self.act(What::SetVariable, vec![V::text(name), value], id);
            }
            V::Ref(object) => self.set(&format!("{object}.{name}"), value),
            _ => {}
        }
    }

    /// A variable's name without what tells perl's kinds apart.
    pub(crate) fn plain_name(name: &str) -> std::borrow::Cow<'_, str> {
        // perl's ${name}
        if let Some(inner) = name
            .strip_prefix(['$', '@', '%'])
            .and_then(|n| n.strip_prefix('{'))
            .and_then(|n| n.strip_suffix('}'))
        {
            return std::borrow::Cow::Owned(format!("${}", inner.trim()));
        }
        match name.strip_prefix(['@', '%']) {
            Some(rest) if rest != "_" && !rest.is_empty() => std::borrow::Cow::Owned(format!("${rest}")),
            _ => std::borrow::Cow::Borrowed(name),
        }
    }

    pub(crate) fn set(&mut self, name: &str, value: V) {
        let name = Self::plain_name(name);
        if self.maybe > 0 {
            if let Some(old) = self.state.vars.get_mut(&*name) {
                let grows = matches!((&*old, &value), (V::List(_), V::List(_)) | (V::Dict(_), V::Dict(_)));
                if grows {
                    *old = value;
                } else if !old.is_alike(&value) {
                    *old = V::any(vec![old.clone(), value]);
                }
                return;
            }
        } else if let Some(old) = self.state.vars.get_mut(&*name) {
            *old = value;
            return;
        }
        self.state.vars.insert(Rc::from(&*name), value);
    }

    /// Binds parameters to arguments.
    pub(crate) fn bind(&mut self, params: &[Id], args: &Args) {
        let tree = self.tree;
        self.state.vars.insert(Rc::from("@_"), V::list(args.items.clone()));
        let mut given = args.items.iter();
        for param in params {
            let (target, default) = match tree.node(*param) {
                Node::Assign(target, _, default) => (*target, Some(*default)),
                Node::Pair(target, kind) => match tree.node(*kind) {
                    Node::Assign(_, _, default) => (*target, Some(*default)),
                    _ => (*target, None),
                },
                _ => (*param, None),
            };
            if matches!(tree.node(target), Node::Name("self" | "cls" | "this")) {
                continue;
            }
            let by_name = match tree.node(target) {
                Node::Name(name) => args.named.iter().find(|(n, _)| **n == **name).map(|(_, v)| v.clone()),
                _ => None,
            };
            let value = match (by_name, tree.node(target)) {
                (Some(value), _) => value,
                (None, Node::Spread(_)) => V::list(given.by_ref().cloned().collect()),
                (None, _) => match (given.next().cloned(), default) {
                    (Some(value), _) => value,
                    (None, Some(default)) => {
                        let value = self.eval(default);
                        if args.given == Given::Anything {
                            V::any(vec![value, V::open(Origin::Unknown)])
                        } else {
                            value
                        }
                    }
                    (None, None) => V::open(Origin::Unknown),
                },
            };
            self.assign(target, value);
        }
        // a block without parameters works on the item itself
        if params.is_empty() && !args.items.is_empty() {
            self.set("$_", args.at(0));
            self.set("it", args.at(0));
        }
    }
}
