//! The walk over the tree: what each node evaluates to, in the order in which the text would run.
//!
//! In: nodes. Out: values; acts by the way.
//! Never: decides what a called name means (`call`), nor recurses past its bound.

use std::rc::Rc;

use super::call::Args;
use super::machine::Machine;
use super::value::V;
use crate::code::found::{Grade, Origin, What};
use crate::code::meaning::{Means, Special};
use crate::code::tree::{Id, NOTHING, Node};
use crate::policy::tables::Lang;

const DEPTH_LIMIT: u16 = 220;
/// Items that a loop is followed through.
const LOOP_LIMIT: usize = 256;

impl Machine<'_, '_> {
    pub(crate) fn eval(&mut self, id: Id) -> V {
        if self.depth >= DEPTH_LIMIT || (self.repeating > 0 && !self.may_repeat()) {
            if self.depth >= DEPTH_LIMIT {
                let span = self.span(id);
                self.doubt(Grade::Limit, "code nested too deeply", span);
            }
            return V::open(Origin::Unknown);
        }
        self.depth = self.depth.saturating_add(1);
        let value = self.node(id);
        self.depth = self.depth.saturating_sub(1);
        value
    }

    fn kid(&self, kids: crate::code::tree::Kids, at: usize) -> Id {
        self.tree.kids(kids).get(at).copied().unwrap_or(NOTHING)
    }

    fn node(&mut self, id: Id) -> V {
        let tree = self.tree;
        match tree.node(id) {
            Node::Nothing => V::Nothing,
            Node::Text(text) => V::text(text),
            Node::Bytes(text) => V::Bytes(Rc::from(text.as_str()), crate::code::found::Built::Plain),
            Node::Number(n) => V::Number(*n),
            Node::Joined(kids) => self.joined(tree.kids(*kids)),
            Node::Command(text) => self.command(*text, id),
            Node::Line(handle) => self.line(*handle),
            Node::Name(name) => self.bare(name, id),
            // a pattern without signs is the text that it finds
            Node::Regex(pattern)
                if pattern
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b" -_,:;#@!~%&=<>'\"".contains(&b)) =>
            {
                V::text(pattern)
            }
            Node::Regex(_) => V::open(Origin::Computed),
            Node::List(kids) => {
                let items = self.items(tree.kids(*kids));
                V::list(items)
            }
            Node::Dict(kids) => self.dict(tree.kids(*kids)),
            Node::Pair(key, value) => {
                let key = self.key(*key);
                let value = self.eval(*value);
                V::dict(vec![key, value])
            }
            Node::Spread(of) => self.eval(*of),
            Node::Class(name, body) => self.class(name, *body),
            Node::Call(kids) => self.call(tree.kids(*kids), id),
            Node::Member(of, name) => {
                let of = self.eval(*of);
                let value = self.member(of, name, id);
                // ruby's methods are called without parentheses too
                match &value {
                    V::Bound(_) if self.language.lang == Lang::Ruby => {
                        self.apply(&value, &Args::default(), id)
                    }
                    V::Ref(full) if self.language.lang == Lang::Ruby && self.means(full).is_some() => {
                        self.apply(&value, &Args::default(), id)
                    }
                    _ => value,
                }
            }
            Node::Index(of, index) => {
                let of = self.eval(*of);
                let index = self.eval(*index);
                self.index(of, &index, id)
            }
            Node::Slice(kids) => self.slice(tree.kids(*kids)),
            Node::Unary(op, of) => {
                let of = self.eval(*of);
                Self::unary(*op, &of)
            }
            Node::Chain(op, kids) => self.chain(*op, tree.kids(*kids)),
            _ => self.statement(id),
        }
    }

    /// Nodes that choose, bind, repeat and define.
    fn statement(&mut self, id: Id) -> V {
        let tree = self.tree;
        match tree.node(id) {
            Node::Choice(condition, yes, no) => {
                self.eval(*condition);
                let values = vec![self.eval(*yes), self.eval(*no)];
                V::any(values)
            }
            Node::Assign(target, op, value) => self.assignment(*target, *op, *value),
            Node::Function(_) => {
                self.seen(id);
                V::Function(id)
            }
            Node::Each(kids) => self.each(*kids),
            Node::Block(kids) => tree.kids(*kids).iter().fold(V::Nothing, |_, kid| self.eval(*kid)),
            Node::If(kids) => self.branch(tree.kids(*kids)),
            Node::Loop(condition, body) => self.endless(*condition, *body, id),
            Node::For(target, source, body) => self.counted(*target, *source, *body),
            Node::Define(name, function) => {
                self.seen(*function);
                self.set(name, V::Function(*function));
                V::Function(*function)
            }
            Node::Return(value) => {
                let value = self.eval(*value);
                let before = self.returned.take();
                self.returned =
                    Some(before.map_or_else(|| value.clone(), |b| V::any(vec![b, value.clone()])));
                value
            }
            Node::Import(module, member, alias) => {
                let root = module.split('.').next().unwrap_or(module);
                let brought = self.language.modules.iter().any(|(known, _)| *known == root);
                if self.language.lang == Lang::Python && !brought && !root.is_empty() {
                    self.state.found.bring(root);
                }
                self.import(module, member, alias)
            }
            _ => V::Nothing,
        }
    }

    /// A name on its own: in perl and ruby it may be a call without arguments.
    fn bare(&mut self, name: &str, id: Id) -> V {
        let value = self.name(name);
        if !matches!(self.language.lang, Lang::Perl | Lang::Ruby) || name.starts_with(['$', '@', '%']) {
            return value;
        }
        match &value {
            V::Function(_) => self.apply(&value, &Args::default(), id),
            V::Ref(full) => match self.means(full) {
                Some(Means::Fold(_)) if self.language.lang == Lang::Perl => {
                    let it = self.name("$_");
                    self.apply(&value, &Args::of(vec![it]), id)
                }
                Some(
                    Means::Special(Special::Fork | Special::PerlShift | Special::PerlAccept)
                    | Means::Act(_, [], _),
                ) => self.apply(&value, &Args::default(), id),
                _ => value,
            },
            _ => value,
        }
    }

    fn seen(&mut self, function: Id) {
        if !self.functions.contains(&function) || self.functions.len() > 256 {
            self.functions.push(function);
        }
    }

    /// A class: its methods, and what makes an instance.
    fn class(&mut self, name: &str, body: Id) -> V {
        self.eval(body);
        if let Node::Block(kids) = self.tree.node(body) {
            let made_by = self.tree.kids(*kids).iter().find_map(|k| match self.tree.node(*k) {
                Node::Define("__init__" | "initialize" | "constructor" | "__construct", function) => {
                    Some(*function)
                }
                _ => None,
            });
            if let Some(function) = made_by {
                self.state.vars.insert(Rc::from(format!("class {name}")), V::Function(function));
            }
        }
        V::Nothing
    }

    fn joined(&mut self, kids: &[Id]) -> V {
        let values: Vec<V> = kids
            .iter()
            .map(|k| match self.eval(*k) {
                list @ V::List(_) if self.language.lang == Lang::Perl => {
                    self.join(&V::text(" "), &list).unwrap_or(list)
                }
                other => other,
            })
            .collect();
        self.concat(&values)
    }

    fn command(&mut self, text: Id, id: Id) -> V {
        let text = self.eval(text);
        let detail = text.shown();
        self.shell(text, id);
        V::from(Origin::Command, &detail)
    }

    /// `<STDIN>`, `<$file>`, `<>`.
    fn line(&mut self, handle: Id) -> V {
        let handle = self.eval(handle);
        match handle.as_text() {
            Some(name) => {
                let key = format!("*{name}");
                match self.state.vars.get(key.as_str()) {
                    Some(value) => V::Open(value.source()),
                    None => V::open(Origin::Stdin),
                }
            }
            None => V::Open(handle.source()),
        }
    }

    /// The values of a list's items; spread lists in place.
    pub(crate) fn items(&mut self, kids: &[Id]) -> Vec<V> {
        let mut items = Vec::with_capacity(kids.len());
        for kid in kids {
            let value = self.eval(*kid);
            let opens = matches!(self.tree.node(*kid), Node::Spread(_))
                || (self.language.lang == Lang::Perl && matches!(value, V::List(_)));
            match value {
                V::List(seq) if opens => items.extend(seq.items.iter().cloned()),
                V::Dict(seq) if self.language.lang == Lang::Perl => items.extend(seq.items.iter().cloned()),
                other => items.push(other),
            }
        }
        items
    }

    /// A key of a map: a bare name is a text where the language says so.
    pub(crate) fn key(&mut self, key: Id) -> V {
        match self.tree.node(key) {
            Node::Name(name) if !name.starts_with('$') && self.language.lang != Lang::Python => V::text(name),
            _ => self.eval(key),
        }
    }

    fn dict(&mut self, kids: &[Id]) -> V {
        let mut items = Vec::with_capacity(kids.len().saturating_mul(2));
        let mut count = 0_i64;
        for kid in kids {
            let (key, value) = match self.tree.node(*kid) {
                Node::Pair(key, value) | Node::Assign(key, None, value) => {
                    (self.key(*key), self.eval(*value))
                }
                Node::Name(name) => (V::text(name), self.eval(*kid)),
                _ => {
                    let value = self.eval(*kid);
                    match value {
                        V::Dict(seq) => {
                            items.extend(seq.items.iter().cloned());
                            continue;
                        }
                        // an unknown map that is spread: what it hides must stay visible
                        V::Open(_) => (V::Nothing, value),
                        other => {
                            count = count.saturating_add(1);
                            (V::Number(count), other)
                        }
                    }
                }
            };
            items.push(key);
            items.push(value);
        }
        if self.language.lang == Lang::Lua
            && count > 0
            && items.chunks(2).all(|p| matches!(p.first(), Some(V::Number(_))))
        {
            return V::list(items.into_iter().skip(1).step_by(2).collect());
        }
        V::dict(items)
    }

    fn branch(&mut self, kids: &[Id]) -> V {
        let (condition, rest) = kids.split_first().map_or((NOTHING, kids), |(c, r)| (*c, r));
        self.eval(condition);
        self.maybe = self.maybe.saturating_add(1);
        let value = rest.iter().fold(V::Nothing, |_, kid| self.eval(*kid));
        self.maybe = self.maybe.saturating_sub(1);
        value
    }

    /// A loop whose end is not known. One that only forks uses the machine up.
    fn endless(&mut self, condition: Id, body: Id, id: Id) -> V {
        let before = self.state.forks;
        let test = self.eval(condition);
        let in_test = self.state.forks > before;
        let always = in_test
            || matches!(test, V::Number(n) if n != 0)
            || matches!(&test, V::Ref(n) if matches!(&**n, "True" | "true" | "TRUE"))
            || matches!(&test, V::Text(t, _) if !t.is_empty());
        self.maybe = self.maybe.saturating_add(1);
        let middle = self.state.forks;
        self.eval(body);
        self.maybe = self.maybe.saturating_sub(1);
        if always && (self.state.forks > middle) {
            self.act(What::Exhaust, vec![V::text("fork in a loop without end")], id);
        }
        V::Nothing
    }

    /// The values that a loop over `source` would see; `None` if they are not known.
    fn run_through(&mut self, source: &V) -> Option<Vec<V>> {
        let items = match source {
            V::List(seq) => seq.items.clone(),
            V::Dict(seq) => seq.items.iter().step_by(2).cloned().collect(),
            V::Text(text, built) => text
                .chars()
                .take(LOOP_LIMIT.saturating_add(1))
                .map(|c| V::built(c.encode_utf8(&mut [0; 4]), *built))
                .collect(),
            V::Bytes(text, _) => text
                .chars()
                .take(LOOP_LIMIT.saturating_add(1))
                .map(|c| V::Number(i64::from(u32::from(c))))
                .collect(),
            V::Any(seq) => seq
                .items
                .iter()
                .flat_map(|v| self.run_through(v).unwrap_or_else(|| vec![V::Open(v.source())]))
                .collect(),
            V::Nothing
            | V::Number(_)
            | V::Mixed(..)
            | V::Open(_)
            | V::Ref(_)
            | V::Bound(_)
            | V::Function(_)
            | V::Object(_) => return None,
        };
        (items.len() <= LOOP_LIMIT).then_some(items)
    }

    fn item_of(source: &V) -> V {
        match source {
            V::Ref(_) => V::open(Origin::Unknown),
            _ => V::Open(source.source()),
        }
    }

    fn counted(&mut self, target: Id, source: Id, body: Id) -> V {
        let source = match self.eval(source) {
            // perl's `for $c ("text")` has one item, not its characters
            one @ (V::Text(..) | V::Bytes(..)) if self.language.lang == Lang::Perl => V::list(vec![one]),
            other => other,
        };
        match self.run_through(&source) {
            Some(items) if !items.is_empty() => {
                self.repeating = self.repeating.saturating_add(1);
                for item in items {
                    self.assign(target, item);
                    self.eval(body);
                }
                self.repeating = self.repeating.saturating_sub(1);
            }
            _ => {
                self.assign(target, Self::item_of(&source));
                self.maybe = self.maybe.saturating_add(1);
                self.eval(body);
                self.maybe = self.maybe.saturating_sub(1);
            }
        }
        V::Nothing
    }

    /// A comprehension: the list of its elements.
    fn each(&mut self, kids: crate::code::tree::Kids) -> V {
        let (element, target, source, condition) =
            (self.kid(kids, 0), self.kid(kids, 1), self.kid(kids, 2), self.kid(kids, 3));
        let source = self.eval(source);
        let Some(items) = self.run_through(&source).filter(|i| !i.is_empty()) else {
            self.assign(target, Self::item_of(&source));
            self.eval(condition);
            let element = self.eval(element);
            return V::Open(element.source().worse(source.source()));
        };
        self.repeating = self.repeating.saturating_add(1);
        let mut out = Vec::with_capacity(items.len());
        for item in items {
            self.assign(target, item);
            self.eval(condition);
            let value = self.eval(element);
            match value {
                V::List(seq) if matches!(self.tree.node(element), Node::Each(_)) => {
                    out.extend(seq.items.iter().cloned());
                }
                other => out.push(other),
            }
        }
        self.repeating = self.repeating.saturating_sub(1);
        V::list(out)
    }
}
