//! Branches that meet and loops that go on: one state that stands for all.
//!
//! In: the [`State`]s at the ends of the branches, or of a loop's rounds. Out: one of which each is a case.
//! Never: forgets a value that a variable may have (INVARIANT(I5)), or takes a counter's for the last.

use std::collections::HashMap;
use std::rc::Rc;

use crate::act::{TagSet, tag};
use crate::canonical::state::{
    ALTERNATIVES, Certainty, Control, Definitions, Local, State, Variable, VariableKind,
};
use crate::canonical::table::Table;
use crate::canonical::value::{HOLE, Value};

/// Most early ways out that are kept apart.
const LEFT: usize = 8;

type Elements = Vec<(String, Value)>;

impl State {
    /// This state or that one: what differs has several values.
    pub fn join(&mut self, other: Self) {
        self.remember(&other.left);
        match (self.control, other.control) {
            (mine, theirs) if mine == theirs => {}
            (Control::Ended, _) => return self.become_one(other),
            (_, Control::Ended) => return,
            (Control::Goes, _) => return self.leave(other),
            (_, Control::Goes) => {
                let mine = self.clone();
                self.become_one(other);
                return self.leave(mine);
            }
            _ => return self.leave(other),
        }
        for name in self.variables.parted(&other.variables) {
            self.join_variable(&name, &other);
        }
        if self.cwd != other.cwd {
            self.cwd = HOLE.to_string();
        }
        if self.positional != other.positional {
            self.positional = Rc::new(joined_list(&self.positional, &other.positional));
        }
        if self.last != other.last {
            self.last = None;
        }
        if self.source != other.source {
            self.source = None;
        }
        merge_definitions(&mut self.functions, &other.functions);
        if !Rc::ptr_eq(&self.locals, &other.locals) {
            self.locals = Rc::new(joined_locals(&self.locals, &other.locals));
        }
        for name in self.aliases.parted(&other.aliases) {
            if let Some(text) = other.aliases.get(&name).filter(|_| !self.aliases.contains_key(&name)) {
                self.aliases.insert(name, text.clone());
            }
        }
        self.written.join(&other.written);
        merge(&mut self.descriptors, &other.descriptors);
        if other.readonly.len() > self.readonly.len() {
            self.readonly = other.readonly;
        }
        self.links.join(&other.links);
        if other.traps.len() > self.traps.len() {
            self.traps = other.traps;
        }
    }

    /// The other state where this one stands, with the early ways out of both.
    fn become_one(&mut self, other: Self) {
        let left = std::mem::take(&mut self.left);
        let choices = std::mem::take(&mut self.choices);
        let (ambient, calls, loops, returns) = (self.ambient, self.calls, self.loops, self.returns);
        *self = Self { ambient, left, loops, returns, calls, choices, ..other };
    }

    /// Control may be elsewhere, in this state (whose `control` says how): the end of what it left takes it in.
    pub fn leave(&mut self, mut state: Self) {
        state.left = Rc::default();
        state.choices = Vec::new();
        if self.left.len() < LEFT {
            return Rc::make_mut(&mut self.left).push(Rc::new(state));
        }
        let same = self.left.iter().position(|s| s.control == state.control);
        let Some(one) = same.and_then(|at| Rc::make_mut(&mut self.left).get_mut(at)) else {
            return Rc::make_mut(&mut self.left).push(Rc::new(state));
        };
        Rc::make_mut(one).join(state);
    }

    /// Goes on, though it may also have left in this state.
    pub fn may_leave(&mut self, how: Control) {
        let state = Self { control: how, ..self.clone() };
        self.leave(state);
    }

    fn remember(&mut self, left: &Rc<Vec<Rc<Self>>>) {
        if left.is_empty() || Rc::ptr_eq(&self.left, left) {
            return;
        }
        for state in left.iter() {
            if self.left.iter().any(|mine| Rc::ptr_eq(mine, state)) {
                continue;
            }
            if self.left.len() < LEFT {
                Rc::make_mut(&mut self.left).push(Rc::clone(state));
            } else {
                self.leave(state.as_ref().clone());
            }
        }
    }

    /// Takes the states out that left in this way, as one.
    pub fn take_left(&mut self, how: Control) -> Option<Self> {
        if self.left.is_empty() {
            return None;
        }
        let (out, rest): (Vec<_>, Vec<_>) = self.left.iter().cloned().partition(|s| s.control == how);
        self.left = Rc::new(rest);
        let mut states = out.into_iter().map(Rc::unwrap_or_clone);
        let mut one = states.next()?;
        for other in states {
            one.join(other);
        }
        one.control = Control::Goes;
        Some(one)
    }

    /// What has changed since a round of a loop began may change in each: its value isn't known. Whether anything has.
    pub fn widen(&mut self, before: &Self) -> bool {
        let mut changed = false;
        for name in self.variables.parted(&before.variables) {
            let Some(entry) = self.variables.get(&name) else { continue };
            if before.variables.get(&name) == Some(entry) || is_unknown(entry) {
                continue;
            }
            changed = true;
            let tags = tags_of(entry.scalar.iter().chain(entry.array.iter().flatten().map(|(_, v)| v)));
            let unknown = Value::unknown(tags);
            let entry = self.variables.change(&name);
            match &mut entry.array {
                Some(array) => *array = with_unknown(array, unknown),
                None => entry.scalar = vec![unknown],
            }
        }
        if self.positional != before.positional && !self.positional.iter().all(Value::has_hole) {
            self.positional = Rc::new(vec![Value::unknown(tags_of(self.positional.iter()))]);
            changed = true;
        }
        changed
    }

    /// A variable that may differ on the two sides.
    fn join_variable(&mut self, name: &str, other: &Self) {
        let environment = self.environment.get(name);
        let Some(theirs) = other.variables.get(name) else {
            // assigned on this side only: on the other it has what the environment says, or is unset
            let other = environment.map_or_else(
                || Value { text: String::new(), tags: TagSet::of(tag::UNSET_VARIABLE) },
                |text| Value::known(text.clone()),
            );
            let differs = |entry: &Variable| {
                entry.array.is_none() && entry.scalar.len() < ALTERNATIVES && !entry.scalar.contains(&other)
            };
            if self.variables.get(name).is_some_and(differs) {
                self.variables.change(name).scalar.push(other);
            }
            return;
        };
        let mine = self.variables.get(name);
        let mut entry = mine.cloned().unwrap_or_else(|| Variable {
            scalar: environment.map(|t| Value::known(t.clone())).into_iter().collect(),
            ..Variable::default()
        });
        if entry != *theirs {
            join_variable(&mut entry, theirs);
        }
        if mine != Some(&entry) {
            self.variables.insert(name.to_owned(), entry);
        }
    }
}

fn join_variable(entry: &mut Variable, theirs: &Variable) {
    if entry.scalar.is_empty() && entry.array.is_none() && theirs.kind != VariableKind::Unset {
        // unset on this side: both "unset" (empty, tagged) and the other's values
        entry.scalar.push(Value { text: String::new(), tags: TagSet::of(tag::UNSET_VARIABLE) });
    }
    for value in &theirs.scalar {
        if !entry.scalar.contains(value) {
            entry.scalar.push(value.clone());
        }
    }
    if entry.scalar.len() > ALTERNATIVES {
        entry.scalar = vec![Value::unknown(tags_of(entry.scalar.iter()))];
    }
    match (&mut entry.array, &theirs.array) {
        (Some(mine), Some(theirs)) if mine != theirs => *mine = joined_elements(mine, theirs),
        (None, Some(theirs)) => entry.array = Some(with_unknown(theirs, Value::unknown(TagSet::EMPTY))),
        (Some(mine), None) => *mine = with_unknown(mine, Value::unknown(TagSet::EMPTY)),
        (Some(_), Some(_)) | (None, None) => {}
    }
    if entry.kind == VariableKind::Unset {
        entry.kind = theirs.kind;
    }
}

/// The key of what an array may hold besides.
fn other_key(count: usize) -> String {
    format!("{HOLE}{count}")
}

/// An array of whose elements none is certain, nor how many there are.
fn with_unknown(array: &Elements, unknown: Value) -> Elements {
    let mut out: Elements = Vec::with_capacity(array.len() + 1);
    for (key, value) in array {
        if !key.starts_with(HOLE) {
            out.push((key.clone(), Value::unknown(value.tags)));
        }
        if !value.has_hole() && !out.iter().any(|(_, v)| v == value) {
            out.push((other_key(out.len()), value.clone()));
        }
    }
    out.push((other_key(out.len()), unknown));
    out
}

/// What both have in common is certain; the rest may be there.
fn joined_elements(mine: &Elements, theirs: &Elements) -> Elements {
    let find = |list: &Elements, key: &str| list.iter().find(|(k, _)| k == key).map(|(_, v)| v.clone());
    let mut out: Elements = Vec::new();
    let mut besides: Vec<Value> = Vec::new();
    for (key, value) in mine.iter().chain(theirs.iter().filter(|(k, _)| find(mine, k).is_none())) {
        let agreed = find(mine, key) == find(theirs, key);
        if key.starts_with(HOLE) || !agreed {
            besides.extend([find(mine, key), find(theirs, key)].into_iter().flatten());
        }
        if !key.starts_with(HOLE) {
            out.push((key.clone(), if agreed { value.clone() } else { Value::unknown(value.tags) }));
        }
    }
    besides.push(Value::unknown(TagSet::EMPTY));
    for value in besides {
        if !out.iter().any(|(k, v)| k.starts_with(HOLE) && *v == value)
            && out.len() < 4 * ALTERNATIVES + mine.len()
        {
            out.push((other_key(out.len()), value));
        }
    }
    out
}

/// Positional parameters of two branches: what differs is unknown, and so is what stands behind.
fn joined_list(mine: &[Value], theirs: &[Value]) -> Vec<Value> {
    let length = mine.len().max(theirs.len());
    let mut out = Vec::with_capacity(length);
    for at in 0..length {
        match (mine.get(at), theirs.get(at)) {
            (Some(a), Some(b)) if a == b => out.push(a.clone()),
            (a, b) => out.push(Value::unknown(tags_of(a.into_iter().chain(b)))),
        }
    }
    out
}

/// A variable that is a function's own on one way only may have been the caller's.
fn joined_locals(mine: &[Local], theirs: &[Local]) -> Vec<Local> {
    let has =
        |list: &[Local], name: &str| list.iter().any(|l| l.name == name && l.certainty == Certainty::Certain);
    let all = mine.iter().chain(theirs.iter().filter(|t| !mine.iter().any(|m| m.name == t.name)));
    let certainty = |name: &str| {
        if has(mine, name) && has(theirs, name) { Certainty::Certain } else { Certainty::Possible }
    };
    all.map(|local| Local { certainty: certainty(&local.name), ..local.clone() }).collect()
}

fn merge_definitions(mine: &mut Table<Definitions>, theirs: &Table<Definitions>) {
    let absent: Definitions = vec![None];
    for name in mine.parted(theirs) {
        let mut list = mine.get(&name).unwrap_or(&absent).clone();
        add_definitions(&mut list, theirs.get(&name).unwrap_or(&absent));
        mine.insert(name, list);
    }
}

fn add_definitions(list: &mut Definitions, more: &Definitions) {
    for definition in more {
        if list.len() < ALTERNATIVES && !list.contains(definition) {
            list.push(definition.clone());
        }
    }
}

fn is_unknown(variable: &Variable) -> bool {
    match &variable.array {
        Some(array) => {
            array.iter().all(|(k, v)| k.starts_with(HOLE) || v.has_hole())
                && array.iter().any(|(k, _)| k.starts_with(HOLE))
        }
        None => variable.scalar.iter().all(|v| v.text.chars().eq([HOLE])) && !variable.scalar.is_empty(),
    }
}

fn tags_of<'v>(values: impl Iterator<Item = &'v Value>) -> TagSet {
    values.fold(TagSet::EMPTY, |tags, value| tags.union(value.tags))
}

fn merge<K: Clone + Eq + std::hash::Hash, V: Clone>(
    mine: &mut Rc<HashMap<K, V>>,
    theirs: &Rc<HashMap<K, V>>,
) {
    if Rc::ptr_eq(mine, theirs) {
        return;
    }
    let mine = Rc::make_mut(mine);
    for (key, value) in theirs.iter() {
        mine.entry(key.clone()).or_insert_with(|| value.clone());
    }
}
