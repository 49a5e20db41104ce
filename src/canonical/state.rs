//! What the shell would know while it runs a script: variables, functions, directory, files written.
//!
//! In: a [`Context`]. Out: [`State`], cheap to clone (copy on write) for subshells and branches.
//! Never: touches the machine.

use std::collections::HashMap;
use std::rc::Rc;

use crate::act::{TagSet, tag};
use crate::canonical::value::{Data, HOLE, Value};
use crate::invocation::context::Context;
use crate::syntax::tree::Function;

/// A variable: the values that it may have here (usually one), or an array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variable {
    /// Possible values; more than one after branches that differ.
    pub scalar: Vec<Value>,
    /// Elements by subscript, in order of assignment.
    pub array: Option<Vec<(String, Value)>>,
    pub kind: VariableKind,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VariableKind {
    #[default]
    Plain,
    /// `declare -i`: values are arithmetic
    Integer,
    /// `declare -n`: the value is the name of another
    Reference,
    Lower,
    Upper,
    /// `declare -A`: subscripts are texts
    Map,
    /// `unset`
    Unset,
}

/// How many different values of one variable are kept apart.
pub const ALTERNATIVES: usize = 8;

/// What is known of a file that the script itself has written.
#[derive(Clone, Debug)]
pub struct Written {
    pub data: Data,
    /// Everything below this path, too (an unpacked archive).
    pub tree: Reach,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    File,
    Tree,
}

/// Whether control still reaches the next command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Control {
    #[default]
    Goes,
    /// `exit`, `exec`, or `return` at the top: certain
    Ended,
    /// `return` from a function
    Returned,
    /// `break` or `continue`
    Broke,
}

/// Where a descriptor leads, as far as it isn't the inherited one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A file by its resolved path.
    File(String),
    /// A network peer.
    Network(String),
    /// Data to be read.
    Data(Data),
    Closed,
}

#[derive(Clone, Debug)]
pub struct State {
    environment: Rc<HashMap<String, String>>,
    variables: Rc<HashMap<String, Variable>>,
    pub functions: Rc<HashMap<String, Rc<Function>>>,
    pub aliases: Rc<HashMap<String, String>>,
    pub written: Rc<HashMap<String, Written>>,
    pub descriptors: Rc<HashMap<u32, Endpoint>>,
    /// Inside a container: folder there, folder of the host.
    pub mounts: Rc<Vec<(String, String)>>,
    /// Links that the script has made: place, and what they lead to.
    pub links: Rc<Vec<(String, String)>>,
    pub traps: Rc<Vec<String>>,
    pub positional: Rc<Vec<Value>>,
    pub zero: Value,
    /// Absolute path; holes where unknown, empty where it does not exist.
    pub cwd: String,
    pub home: String,
    /// Option letters that are on (`u`, `e`, `f` …).
    pub options: String,
    /// `shopt` and `set -o` names that are on.
    pub switches: Rc<Vec<String>>,
    /// Tags of every effect here (in a function, a loop, on another host …).
    pub ambient: TagSet,
    pub control: Control,
    /// Depth of function calls.
    pub calls: u16,
    /// `$_`: the last word of the command before.
    pub last: Option<Rc<Value>>,
    /// Value chosen for variables that have several, while one simple command is judged.
    pub choices: Vec<(String, usize)>,
}

impl State {
    pub fn new(context: &Context) -> Self {
        let mut arguments = context.arguments.iter().cloned();
        Self {
            environment: Rc::clone(&context.environment),
            variables: Rc::default(),
            functions: Rc::default(),
            aliases: Rc::default(),
            written: Rc::default(),
            descriptors: Rc::default(),
            mounts: Rc::default(),
            links: Rc::default(),
            traps: Rc::default(),
            zero: Value::known(arguments.next().unwrap_or_else(|| "bash".to_owned())),
            positional: Rc::new(arguments.map(Value::known).collect()),
            cwd: context.cwd.clone(),
            home: context.home.clone(),
            options: context.options.clone(),
            switches: Rc::default(),
            ambient: TagSet::EMPTY,
            control: Control::Goes,
            calls: 0,
            last: None,
            choices: Vec::new(),
        }
    }

    pub fn option(&self, letter: char) -> bool {
        self.options.contains(letter)
    }

    /// A variable's entry, references followed.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        let mut name = name;
        for _ in 0..8 {
            let found = self.variables.get(name)?;
            match (found.kind, found.scalar.first()) {
                (VariableKind::Reference, Some(target)) => name = &target.text,
                (VariableKind::Unset, _) => return None,
                _ => return Some(found),
            }
        }
        None
    }

    /// Whether the script itself (not the environment) has said something of the name.
    pub fn mentions(&self, name: &str) -> bool {
        self.variables.contains_key(name)
    }

    /// A scalar's value; of several, the chosen one. `None`: unset.
    pub fn scalar(&self, name: &str) -> Option<Value> {
        if let Some(found) = self.variable(name) {
            if let Some(array) = &found.array {
                return array
                    .iter()
                    .find(|(k, _)| k == "0")
                    .or_else(|| array.first())
                    .map(|(_, v)| v.clone());
            }
            let chosen = self.choices.iter().find(|(n, _)| n == name).map_or(0, |(_, i)| *i);
            return found.scalar.get(chosen).or_else(|| found.scalar.first()).cloned();
        }
        if self.variables.contains_key(name) {
            return None;
        }
        if let Some(text) = self.environment.get(name) {
            return Some(Value::known(text.clone()));
        }
        self.built_in(name)
    }

    /// Variables that bash sets itself.
    fn built_in(&self, name: &str) -> Option<Value> {
        let hole = || Some(Value::unknown(TagSet::EMPTY));
        match name {
            "PWD" => Some(Value::known(self.cwd.clone())),
            "HOME" if self.environment.is_empty() => Some(Value::known(self.home.clone())),
            "IFS" => Some(Value::known(" \t\n")),
            "OSTYPE" => Some(Value::known("linux-gnu")),
            "BASH" | "SHELL" => Some(Value::known("/bin/bash")),
            "OPTIND" => Some(Value::known("1")),
            "RANDOM"
            | "SRANDOM"
            | "SECONDS"
            | "LINENO"
            | "EPOCHSECONDS"
            | "EPOCHREALTIME"
            | "BASHPID"
            | "PPID"
            | "UID"
            | "EUID"
            | "HOSTNAME"
            | "HOSTTYPE"
            | "MACHTYPE"
            | "BASH_VERSION"
            | "SHLVL"
            | "REPLY"
            | "OLDPWD"
            | "USER"
            | "LOGNAME"
            | "PIPESTATUS"
            | "GROUPS"
            | "COLUMNS"
            | "LINES"
            | "BASH_SOURCE"
            | "FUNCNAME"
            | "BASH_REMATCH"
            | "OPTARG"
            | "BASH_EXECUTION_STRING"
            | "BASH_SUBSHELL"
            | "SHELLOPTS"
            | "BASHOPTS"
            | "BASH_VERSINFO"
            | "DIRSTACK"
            | "COPROC"
            | "_" => hole(),
            "PATH" => Some(Value::known("/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")),
            _ => None,
        }
    }

    /// Number of different values that a variable may have here.
    pub fn alternatives(&self, name: &str) -> usize {
        self.variables.get(name).map_or(1, |v| if v.array.is_some() { 1 } else { v.scalar.len().max(1) })
    }

    pub fn set(&mut self, name: &str, value: Value) {
        let kind = self.variables.get(name).map_or(VariableKind::Plain, |v| v.kind);
        if kind == VariableKind::Reference {
            let target = self.variables.get(name).and_then(|v| v.scalar.first()).map(|v| v.text.clone());
            if let Some(target) = target.filter(|t| t != name) {
                return self.put(&target, Variable { scalar: vec![value], ..Variable::default() });
            }
        }
        let value = match kind {
            VariableKind::Lower => Value { text: value.text.to_lowercase(), tags: value.tags },
            VariableKind::Upper => Value { text: value.text.to_uppercase(), tags: value.tags },
            VariableKind::Plain
            | VariableKind::Integer
            | VariableKind::Reference
            | VariableKind::Map
            | VariableKind::Unset => value,
        };
        let kind = if kind == VariableKind::Unset { VariableKind::Plain } else { kind };
        self.put(name, Variable { scalar: vec![value], array: None, kind });
    }

    pub fn put(&mut self, name: &str, variable: Variable) {
        Rc::make_mut(&mut self.variables).insert(name.to_owned(), variable);
    }

    pub fn set_kind(&mut self, name: &str, kind: VariableKind) {
        Rc::make_mut(&mut self.variables).entry(name.to_owned()).or_default().kind = kind;
    }

    /// Whether a variable was declared as an associative array.
    pub fn is_map(&self, name: &str) -> bool {
        self.variable(name).is_some_and(|v| v.kind == VariableKind::Map)
    }

    pub fn set_array(&mut self, name: &str, elements: Vec<(String, Value)>) {
        let kind = if self.is_map(name) { VariableKind::Map } else { VariableKind::Plain };
        self.put(name, Variable { array: Some(elements), kind, ..Variable::default() });
    }

    pub fn set_element(&mut self, name: &str, key: &str, value: Value) {
        let variable = Rc::make_mut(&mut self.variables).entry(name.to_owned()).or_default();
        let array = variable.array.get_or_insert_with(Vec::new);
        match array.iter_mut().find(|(k, _)| k == key) {
            Some((_, old)) => *old = value,
            None => array.push((key.to_owned(), value)),
        }
    }

    pub fn unset(&mut self, name: &str) {
        self.put(name, Variable { kind: VariableKind::Unset, ..Variable::default() });
    }

    /// Names of variables that begin with a prefix.
    pub fn names(&self, prefix: &str) -> Vec<String> {
        let mut names: Vec<String> = self
            .variables
            .iter()
            .filter(|(_, v)| v.kind != VariableKind::Unset)
            .map(|(n, _)| n)
            .chain(self.environment.keys().filter(|n| !self.variables.contains_key(*n)))
            .filter(|n| n.starts_with(prefix))
            .cloned()
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// What is known of a file that the script has written.
    pub fn written_at(&self, path: &str) -> Option<&Written> {
        if self.written.is_empty() {
            return None;
        }
        if let Some(found) = self.written.get(path) {
            return Some(found);
        }
        self.written
            .iter()
            .filter(|(p, w)| {
                w.tree == Reach::Tree && path.strip_prefix(p.as_str()).is_some_and(|r| r.starts_with('/'))
            })
            .max_by_key(|(p, _)| p.len())
            .map(|(_, w)| w)
    }

    pub fn note_written(&mut self, path: &str, data: Data, tree: Reach) {
        if self.written.len() < 512 {
            Rc::make_mut(&mut self.written).insert(path.to_owned(), Written { data, tree });
        }
    }

    /// This state or that one: what differs has several values (INVARIANT(I5): nothing is forgotten).
    pub fn join(&mut self, other: Self) {
        match (self.control, other.control) {
            (_, Control::Ended | Control::Returned) if self.control == Control::Goes => return,
            (Control::Ended | Control::Returned, Control::Goes) => {
                *self = other;
                return;
            }
            _ => {}
        }
        if self.control != other.control {
            self.control = Control::Goes;
        }
        if !Rc::ptr_eq(&self.variables, &other.variables) {
            self.join_variables(&other);
        }
        if self.cwd != other.cwd {
            self.cwd = HOLE.to_string();
        }
        merge(&mut self.functions, &other.functions);
        merge(&mut self.aliases, &other.aliases);
        merge(&mut self.written, &other.written);
        merge(&mut self.descriptors, &other.descriptors);
        if other.links.len() > self.links.len() {
            self.links = other.links;
        }
        if other.traps.len() > self.traps.len() {
            self.traps = other.traps;
        }
    }

    fn join_variables(&mut self, other: &Self) {
        let environment = Rc::clone(&self.environment);
        let mine = Rc::make_mut(&mut self.variables);
        for (name, entry) in mine.iter_mut().filter(|(n, _)| !other.variables.contains_key(*n)) {
            // assigned on this side only: on the other it has what the environment says, or is unset
            let other = environment.get(name).map_or_else(
                || Value { text: String::new(), tags: TagSet::of(tag::UNSET_VARIABLE) },
                |text| Value::known(text.clone()),
            );
            if entry.array.is_none() && entry.scalar.len() < ALTERNATIVES && !entry.scalar.contains(&other) {
                entry.scalar.push(other);
            }
        }
        for (name, theirs) in other.variables.iter() {
            let entry = mine.entry(name.clone()).or_insert_with(|| Variable {
                scalar: environment.get(name).map(|t| Value::known(t.clone())).into_iter().collect(),
                ..Variable::default()
            });
            if entry == theirs {
                continue;
            }
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
                let tags = entry.scalar.iter().fold(TagSet::EMPTY, |t, v| t.union(v.tags));
                entry.scalar = vec![Value::unknown(tags)];
            }
            if theirs.array.is_some() && entry.array != theirs.array {
                entry.array.clone_from(&theirs.array);
            }
            if entry.kind == VariableKind::Unset {
                entry.kind = theirs.kind;
            }
        }
    }
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
