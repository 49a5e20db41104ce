//! What the shell would know while it runs a script: variables, functions, directory, files written.
//!
//! In: a [`Context`]. Out: [`State`], cheap to clone (copy on write) for subshells and branches.
//! Never: touches the machine.

use std::collections::HashMap;
use std::rc::Rc;

use crate::act::TagSet;
use crate::canonical::links::Links;
use crate::canonical::table::Table;
use crate::canonical::value::{Data, Value};
use crate::canonical::written::Files;
pub use crate::canonical::written::{Reach, Written};
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

/// A function, and its definition as it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defined {
    pub function: Function,
    pub source: String,
}

/// What a name may be defined as: a function, or (`None`) none.
pub type Definitions = Vec<Option<Rc<Defined>>>;

/// A variable that a function made its own, and what it was before; restored at the function's end.
#[derive(Clone, Debug)]
pub struct Local {
    pub name: String,
    pub outer: Option<Variable>,
    pub certainty: Certainty,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    Certain,
    /// on some ways only
    Possible,
}

/// How many different values of one variable are kept apart.
pub const ALTERNATIVES: usize = 8;

/// Whether control still reaches the next command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Control {
    #[default]
    Goes,
    /// `exit`, `exec`, or `return` at the top: certain
    Ended,
    /// `return` from a function
    Returned,
    /// `break`
    Broke,
    /// `continue`
    Skipped,
    /// `break` or `continue` of a loop further out
    Deep,
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
    pub(super) environment: Rc<HashMap<String, String>>,
    pub(super) variables: Table<Variable>,
    pub functions: Table<Definitions>,
    pub aliases: Table<String>,
    pub written: Files,
    pub descriptors: Rc<HashMap<u32, Endpoint>>,
    /// Inside a container: folder there, folder of the host.
    pub mounts: Rc<Vec<(String, String)>>,
    /// Links that the script has made: place, and what they lead to.
    pub links: Links,
    pub traps: Rc<Vec<String>>,
    pub positional: Rc<Vec<Value>>,
    pub zero: Value,
    /// `BASH_SOURCE`: the script file, while nothing was read from another; none: not known.
    pub source: Option<Rc<Value>>,
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
    /// States in which a loop, function or sourced file may have been left early; its end takes them in again.
    pub left: Rc<Vec<Rc<State>>>,
    /// Variables that can't be changed.
    pub readonly: Rc<Vec<String>>,
    /// Variables of the function that is called.
    pub locals: Rc<Vec<Local>>,
    /// Loops around this command, in this function and shell.
    pub loops: u16,
    /// Functions and sourced files around it, in this shell.
    pub returns: u16,
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
            variables: Table::default(),
            functions: Table::default(),
            aliases: Table::default(),
            written: Files::default(),
            descriptors: Rc::default(),
            mounts: Rc::default(),
            links: Links::default(),
            traps: Rc::default(),
            zero: Value::known(arguments.next().unwrap_or_else(|| "bash".to_owned())),
            source: context.source.clone().map(|name| Rc::new(Value::known(name))),
            positional: Rc::new(arguments.map(Value::known).collect()),
            cwd: context.cwd.clone(),
            home: context.home.clone(),
            options: context.options.clone(),
            switches: Rc::default(),
            ambient: TagSet::EMPTY,
            control: Control::Goes,
            left: Rc::default(),
            readonly: Rc::default(),
            locals: Rc::default(),
            loops: 0,
            returns: 0,
            calls: 0,
            last: None,
            choices: Vec::new(),
        }
    }

    pub fn option(&self, letter: char) -> bool {
        self.options.contains(letter)
    }

    /// Another process: no loop or function is left from there.
    pub fn enter_subshell(&mut self) {
        self.left = Rc::default();
        (self.loops, self.returns) = (0, 0);
    }

    /// Makes a variable the called function's own, unset at first.
    pub fn localize(&mut self, name: &str) {
        if self.returns == 0 || self.locals.iter().any(|local| local.name == name) {
            return;
        }
        let outer = self.variables.get(name).cloned();
        let local = Local { name: name.to_owned(), outer, certainty: Certainty::Certain };
        Rc::make_mut(&mut self.locals).push(local);
        self.unset(name);
    }

    /// Gives variables back what they were before a function was called.
    pub fn restore(&mut self, locals: &[Local]) {
        for Local { name, outer, certainty } in locals.iter().rev() {
            let inner = (*certainty == Certainty::Possible).then(|| self.clone());
            match outer {
                Some(outer) => self.variables.insert(name.clone(), outer.clone()),
                None => self.variables.remove(name),
            }
            if let Some(inner) = inner {
                self.join(inner);
            }
        }
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

    /// Whether a variable has several values here, and none is chosen.
    pub fn is_varying(&self, name: &str) -> bool {
        self.alternatives(name) > 1 && !self.choices.iter().any(|(n, _)| n == name)
    }

    /// What stands for all the values that a variable may have.
    pub fn any_value(&self, name: &str) -> Value {
        let values = self.variable(name).map(|v| v.scalar.as_slice()).unwrap_or_default();
        Value::unknown(values.iter().fold(TagSet::EMPTY, |tags, v| tags.union(v.tags)))
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
        let mut scalar = vec![value];
        if self.readonly.iter().any(|n| n == name) {
            // an error, behind which a shell may go on
            let old = self.variables.get(name).map(|v| v.scalar.clone()).unwrap_or_default();
            scalar.extend(old.into_iter().filter(|v| !scalar.contains(v)).take(1).collect::<Vec<_>>());
        }
        self.put(name, Variable { scalar, array: None, kind });
    }

    pub fn put(&mut self, name: &str, variable: Variable) {
        self.variables.insert(name.to_owned(), variable);
    }

    pub fn set_kind(&mut self, name: &str, kind: VariableKind) {
        self.variables.change(name).kind = kind;
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
        let variable = self.variables.change(name);
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
        let variables = self.variables.entries();
        let mut names: Vec<String> = variables
            .iter()
            .filter(|(_, v)| v.kind != VariableKind::Unset)
            .map(|(n, _)| *n)
            .chain(self.environment.keys().map(String::as_str).filter(|n| !variables.contains_key(n)))
            .filter(|n| n.starts_with(prefix))
            .map(str::to_owned)
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// What is known of a file that the script has written.
    pub fn written_at(&self, path: &str) -> Option<&Written> {
        self.written.at(path)
    }

    pub fn note_written(&mut self, path: &str, data: Data, tree: Reach) {
        self.written.note(path, Written { data, tree });
    }
}
