//! Calls: functions of the text itself, of the tables, and methods of values.
//!
//! In: a callee and arguments. Out: what the call gives; acts by the way.
//! Never: follows a function into itself.

use std::rc::Rc;

use super::machine::Machine;
use super::value::{V, joint};
use crate::code::found::{Origin, Source, What};
use crate::code::meaning::Means;
use crate::code::tree::{Id, NOTHING, Node};
use crate::policy::tables::Lang;

/// Functions that are followed into functions.
const CALL_LIMIT: usize = 6;

/// Items of a list that a function which is handed over is called with.
const CALLBACK_LIMIT: usize = 64;

/// The arguments of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Args {
    pub(crate) items: Vec<V>,
    pub(crate) named: Vec<(Rc<str>, V)>,
    pub(crate) given: Given,
}

/// Whether a call's arguments are known to be these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Given {
    #[default]
    These,
    Anything,
}

impl Args {
    pub(crate) fn of(items: Vec<V>) -> Self {
        Self { items, ..Self::default() }
    }

    pub(crate) fn at(&self, n: usize) -> V {
        self.items.get(n).cloned().unwrap_or(V::Nothing)
    }

    /// A named argument, or an entry of a map among the arguments.
    pub(crate) fn option(&self, name: &str) -> Option<V> {
        if let Some((_, value)) = self.named.iter().find(|(n, _)| &**n == name) {
            return Some(value.clone());
        }
        let key = V::text(name);
        self.items
            .iter()
            .rev()
            .find_map(|v| if let V::Dict(seq) = v { super::operator::lookup(&seq.items, &key) } else { None })
    }

    pub(crate) fn slot(&self, at: usize, name: &str) -> Option<V> {
        self.items
            .get(at)
            .cloned()
            .or_else(|| self.named.iter().find(|(n, _)| &**n == name).map(|(_, v)| v.clone()))
    }

    pub(crate) fn source(&self) -> Source {
        self.named.iter().map(|(_, v)| v.source()).fold(joint(&self.items), Source::worse)
    }

    pub(crate) fn all(&self) -> Vec<V> {
        self.items.iter().cloned().chain(self.named.iter().map(|(_, v)| v.clone())).collect()
    }
}

impl Machine<'_, '_> {
    pub(crate) fn call(&mut self, kids: &[Id], id: Id) -> V {
        let (callee, args) = kids.split_first().map_or((NOTHING, kids), |(c, r)| (*c, r));
        let node = callee;
        if self.language.lang == Lang::Perl
            && let Node::Name(name @ ("tr///" | "s///")) = self.tree.node(callee)
        {
            return self.changes_it(name, args);
        }
        if self.language.lang == Lang::Awk
            && let (Node::Name("gsub" | "sub"), [pattern, to, target]) = (self.tree.node(callee), args)
        {
            let parts = vec![self.eval(*pattern), self.eval(*to)];
            let old = self.eval(*target);
            let new = self.replaced("s///", &old, &parts);
            self.assign(*target, new);
            return V::open(Origin::Computed);
        }
        let first = args.first().copied().unwrap_or(NOTHING);
        let callee = match self.tree.node(callee) {
            Node::Name(name) => self.name(name),
            Node::Member(of, name) => {
                let of = self.eval(*of);
                self.member(of, name, id)
            }
            _ => self.eval(callee),
        };
        let args = self.args(args);
        self.grow(node, first, &callee, &args);
        self.calling = id;
        self.apply(&callee, &args, id)
    }

    /// `list.append(x)`, `push(@list, x)`: the variable holds more afterwards.
    fn grow(&mut self, callee: Id, first: Id, value: &V, args: &Args) {
        let tree = self.tree;
        let (of, old, new) = match (tree.node(callee), value) {
            (
                Node::Member(of, "append" | "push" | "add" | "extend" | "update" | "concat" | "insert"),
                V::Bound(b),
            ) if matches!(self.language.lang, Lang::Python | Lang::Node | Lang::Ruby) => {
                (*of, b.0.clone(), args.items.as_slice())
            }
            (Node::Name("push" | "array_push" | "unshift"), _) => {
                let old = args.at(0);
                (first, old, args.items.get(1..).unwrap_or(&[]))
            }
            _ => return,
        };
        let (Node::Name(name), V::List(seq)) = (tree.node(of), &old) else { return };
        if self.spend(seq.items.len().saturating_mul(8)) {
            let mut items = seq.items.clone();
            items.extend(new.iter().flat_map(|v| {
                if let (V::List(s), true) =
                    (v, matches!(tree.node(callee), Node::Member(_, "extend" | "concat")))
                {
                    s.items.clone()
                } else {
                    vec![v.clone()]
                }
            }));
            self.set(name, V::list(items));
        }
    }

    fn args(&mut self, kids: &[Id]) -> Args {
        let tree = self.tree;
        let mut args = Args::default();
        for kid in kids {
            match tree.node(*kid) {
                Node::Pair(key, value) | Node::Assign(key, None, value)
                    if self.language.lang != Lang::Perl
                        && matches!(tree.node(*key), Node::Name(_) | Node::Text(_))
                        && (self.language.lang != Lang::Node) =>
                {
                    let name = match tree.node(*key) {
                        Node::Name(name) => Rc::from(*name),
                        Node::Text(text) => Rc::from(text.as_str()),
                        _ => Rc::from(""),
                    };
                    let value = self.eval(*value);
                    if matches!(tree.node(*kid), Node::Assign(..))
                        && !matches!(self.language.lang, Lang::Python | Lang::R)
                    {
                        self.set(&name, value.clone());
                        args.items.push(value);
                    } else {
                        args.named.push((name, value));
                    }
                }
                _ => args.items.extend(self.items(&[*kid])),
            }
        }
        args
    }

    pub(crate) fn apply(&mut self, callee: &V, args: &Args, id: Id) -> V {
        match callee {
            V::Ref(name) => self.apply_name(name, args, id),
            V::Bound(bound) => self.method(&bound.0, &bound.1, args, id),
            V::Function(function) => self.invoke(*function, args),
            V::Any(seq) => {
                let values = seq.items.iter().map(|c| self.apply(c, args, id)).collect();
                V::any(values)
            }
            V::Text(name, built) if matches!(self.language.lang, Lang::Php | Lang::Perl | Lang::R) => {
                if *built > crate::code::found::Built::Plain {
                    self.state.hiding = self.state.hiding.saturating_add(1);
                }
                let target = self.name(name);
                if matches!(target, V::Text(..)) {
                    V::open(Origin::Unknown)
                } else {
                    self.apply(&target, args, id)
                }
            }
            V::Open(source) => {
                if source.origin == Origin::Unknown && source.decoded == crate::code::found::Decoded::Yes {
                    self.chosen("globals()", callee, id);
                }
                self.unknown_call(source.clone(), args)
            }
            V::Nothing
            | V::Text(..)
            | V::Bytes(..)
            | V::Number(_)
            | V::List(_)
            | V::Dict(_)
            | V::Mixed(..)
            | V::Object(_) => self.unknown_call(callee.source(), args),
        }
    }

    fn apply_name(&mut self, name: &Rc<str>, args: &Args, id: Id) -> V {
        if let Some(means) = self.means(name) {
            return self.do_means(means, None, args, id);
        }
        let (object, last) = name.rsplit_once('.').map_or(("", &**name), |(o, l)| (o, l));
        if let Some(V::Function(function)) = self.state.vars.get(last).cloned() {
            return self.invoke(function, args);
        }
        if !object.is_empty() {
            return self.method(&V::Ref(Rc::from(object)), last, args, id);
        }
        if self.language.lang == Lang::Perl {
            // print HANDLE data
            if let Some(V::Object(file)) = self.state.vars.get(format!("*{name}").as_str()).cloned() {
                let path = file.args.first().cloned().unwrap_or(V::Nothing);
                args.items.iter().for_each(|data| self.give(&path, data));
                return V::Open(args.source());
            }
        }
        if let Some(V::Function(function)) = self.state.vars.get(format!("class {last}").as_str()).cloned() {
            self.invoke(function, args);
            return V::open(Origin::Unknown);
        }
        self.unknown_call(Source::of(Origin::Unknown), args)
    }

    /// A method of a value: of its class, of texts and lists, of the text's own classes, of anything.
    pub(crate) fn method(&mut self, of: &V, name: &str, args: &Args, id: Id) -> V {
        if let V::Any(seq) = of {
            let values = seq.items.iter().map(|o| self.method(o, name, args, id)).collect();
            return V::any(values);
        }
        if let V::Object(object) = of
            && let Some(means) = self.means(&format!("%{}.{name}", object.class))
        {
            return self.do_means(means, Some(of), args, id);
        }
        if let V::Open(source) = of {
            if source.origin == Origin::Environment
                && matches!(name, "get" | "fetch" | "pop" | "setdefault" | "dig" | "delete")
            {
                let value = self.index(of.clone(), &args.at(0), id);
                return args
                    .items
                    .get(1)
                    .map_or(value.clone(), |default| V::any(vec![value, default.clone()]));
            }
            if source.origin == Origin::Argument && matches!(name, "shift" | "pop" | "first" | "at" | "fetch")
            {
                return V::from(Origin::Argument, "0");
            }
        }
        if let (V::Function(function), "call" | "apply" | "bind" | "()" | "yield") = (of, name) {
            let rest = Args::of(
                args.items.iter().skip(usize::from(self.language.lang == Lang::Node)).cloned().collect(),
            );
            return self.invoke(*function, &rest);
        }
        if let (V::Ref(_) | V::Bound(_), "call" | "apply" | "bind") = (of, name) {
            let skip = usize::from(self.language.lang == Lang::Node);
            let items: Vec<V> = args
                .items
                .iter()
                .skip(skip)
                .flat_map(|v| {
                    if let (V::List(s), "apply") = (v, name) { s.items.clone() } else { vec![v.clone()] }
                })
                .collect();
            let made = self.apply(of, &Args::of(items), id);
            return if name == "bind" { of.clone() } else { made };
        }
        if let Some(value) = self.value_method(of, name, args) {
            return value;
        }
        if let Some(V::Function(function)) = self.state.vars.get(name).cloned() {
            return self.invoke(function, args);
        }
        if let Some(means) = self.means(&format!("*.{name}")) {
            return self.do_means(means, Some(of), args, id);
        }
        self.unknown_call(of.source(), args)
    }

    /// A call of what is not known: callbacks run with what it may give them.
    pub(crate) fn unknown_call(&mut self, from: Source, args: &Args) -> V {
        let source = from.worse(args.source());
        self.callbacks(args, &V::Open(source.clone()));
        V::Open(source)
    }

    /// Evaluates functions among the arguments with a value for each of their parameters.
    pub(crate) fn callbacks(&mut self, args: &Args, with: &V) {
        let has_function = |v: &V| matches!(v, V::Function(_) | V::Dict(_));
        if self.language.lang == Lang::Node
            && args.items.iter().any(has_function)
            && matches!(with, V::Object(_))
        {
            let before = self.state.vars.insert(Rc::from("this"), with.clone());
            self.run_callbacks(args, with);
            match before {
                Some(before) => drop(self.state.vars.insert(Rc::from("this"), before)),
                None => drop(self.state.vars.remove("this")),
            }
            return;
        }
        self.run_callbacks(args, with);
    }

    fn run_callbacks(&mut self, args: &Args, with: &V) {
        for (n, value) in args.items.iter().enumerate() {
            if let V::Ref(name) = value
                && matches!(self.means(name), Some(Means::Act(..)))
            {
                let behind = args.items.get(n.saturating_add(1)..).unwrap_or(&[]);
                self.hand_over(value, behind);
            }
        }
        for value in args.items.iter().chain(args.named.iter().map(|(_, v)| v)) {
            match value {
                V::Function(function) => drop(self.invoke(*function, &Args::of(vec![with.clone(); 3]))),
                V::Dict(seq) => {
                    for item in seq.items.iter().skip(1).step_by(2) {
                        if let V::Function(function) = item {
                            self.invoke(*function, &Args::of(vec![with.clone(); 3]));
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// `executor.submit(os.system, text)`, `pool.map(os.remove, files)`: whoever gets a function and its arguments
    /// calls it with them.
    fn hand_over(&mut self, function: &V, behind: &[V]) {
        let id = self.calling;
        match behind {
            [] => {}
            [V::List(seq)] => {
                for item in seq.items.iter().take(CALLBACK_LIMIT) {
                    self.apply(function, &Args::of(vec![item.clone()]), id);
                }
            }
            all => drop(self.apply(function, &Args::of(all.to_vec()), id)),
        }
    }

    /// Evaluates a function of the text with arguments.
    pub(crate) fn invoke(&mut self, function: Id, args: &Args) -> V {
        let tree = self.tree;
        let Node::Function(kids) = tree.node(function) else { return V::Open(args.source()) };
        let Some((body, params)) = tree.kids(*kids).split_last() else { return V::Nothing };
        let visited = self.visited.get(function.0 as usize).copied().unwrap_or(true);
        // a second look with nothing more known finds nothing more
        let tells = !visited
            || self.folding > 0
            || args.items.iter().chain(args.named.iter().map(|(_, v)| v)).any(V::tells);
        if !tells {
            return V::Open(args.source());
        }
        if self.stack.contains(&function) || self.stack.len() >= CALL_LIMIT || (visited && !self.may_repeat())
        {
            if self.stack.last() == Some(&function) && self.state.forks > 0 {
                self.act(What::Exhaust, vec![V::text("fork in a function that calls itself")], function);
            }
            return V::Open(args.source());
        }
        if let Some(slot) = self.visited.get_mut(function.0 as usize) {
            *slot = true;
        }
        self.stack.push(function);
        let repeating = self.repeating;
        self.repeating = repeating.saturating_add(u32::from(visited));
        let returned = self.returned.take();
        let maybe = std::mem::replace(&mut self.maybe, 0);
        self.bind(params, args);
        let last = self.eval(*body);
        self.maybe = maybe;
        let value = std::mem::replace(&mut self.returned, returned);
        self.repeating = repeating;
        self.stack.pop();
        value.unwrap_or(last)
    }

    /// What the tables say that a call does.
    pub(crate) fn do_means(&mut self, means: Means, this: Option<&V>, args: &Args, id: Id) -> V {
        match means {
            Means::Act(what, slots, gives) => self.act_of((what, slots, gives), this, args, id),
            Means::Fold(fold) => self
                .fold(fold, this, args)
                .unwrap_or_else(|| self.unknown_call(this.map(V::source).unwrap_or_default(), args)),
            Means::Object(class) => V::object(class, args.all()),
            Means::From(origin) => {
                let detail = args.items.first().map(V::shown).unwrap_or_default();
                let value = V::from(origin, &detail);
                self.callbacks(args, &value);
                value
            }
            Means::Is(name) => match this {
                Some(of) => self.method(of, name, args, id),
                None => self.apply_name(&Rc::from(name), args, id),
            },
            Means::Constant(text) => V::text(text),
            Means::Special(special) => self.special(special, this, args, id),
        }
    }
}
