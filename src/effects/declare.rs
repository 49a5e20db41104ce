//! Builtins that set names: declare and its kin, unset, let, alias.
//!
//! In: a call. Out: changed state. Never: leaves a subscript or an arithmetic text unjudged, which bash evaluates.

use std::rc::Rc;

use crate::act::{TagSet, tag};
use crate::canonical::arithmetic::evaluate;
use crate::canonical::expand::Expander;
use crate::canonical::state::{Variable, VariableKind};
use crate::canonical::value::{Data, Field, Value};
use crate::effects::call::Call;
use crate::effects::nested::is_name;
use crate::effects::walk::{Outcome, Walk};
use crate::text::Span;

/// `NAME`, `NAME=VALUE`, `NAME+=VALUE`, `NAME[INDEX]=VALUE`.
struct Declared<'t> {
    name: &'t str,
    index: Option<&'t str>,
    append: bool,
    value: Option<&'t str>,
}

impl<'t> Declared<'t> {
    fn read(text: &'t str) -> Self {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let append = name.ends_with('+');
        let name = name.trim_end_matches('+');
        match name.split_once('[') {
            Some((name, index)) => Self { name, index: Some(index.trim_end_matches(']')), append, value },
            None => Self { name, index: None, append, value },
        }
    }
}

/// Whose a declared variable is, in a function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Local,
    Global,
}

/// The kind of variable that option letters ask for; the last one counts.
pub(super) fn kind_of(letters: &str) -> Option<VariableKind> {
    letters.chars().rev().find_map(|letter| match letter {
        'i' => Some(VariableKind::Integer),
        'n' => Some(VariableKind::Reference),
        'l' => Some(VariableKind::Lower),
        'u' => Some(VariableKind::Upper),
        'A' => Some(VariableKind::Map),
        _ => None,
    })
}

impl Walk<'_, '_> {
    /// bash evaluates a subscript: commands in it run.
    pub(super) fn subscript_runs(&mut self, key: &Value, span: Span) {
        Expander { state: &mut self.state, host: self.core }.host_checks_subscript(key, span);
    }

    /// `declare`, `typeset`, `local`, `export`, `readonly`.
    pub(super) fn declare(&mut self, call: &Call<'_>) -> Outcome {
        let lists = call.arguments().iter().all(|f| matches!(f.text.as_str(), "-p" | "-x" | "-px"));
        if lists && call.argv.first().is_some_and(|f| f.text != "local") {
            return Outcome::prints(Data::unknown(TagSet::of(tag::FROM_ENVIRONMENT)));
        }
        let head = call.argv.first().map_or("", |f| f.text.as_str());
        let shows = |f: &Field| f.text.starts_with('-') && f.text.contains('f');
        if matches!(head, "declare" | "typeset") && call.arguments().iter().any(shows) {
            return Outcome::prints(self.definitions(call.arguments()));
        }
        let global = call.arguments().iter().any(|f| f.text.starts_with('-') && f.text.contains('g'));
        let local = head == "local" || matches!(head, "declare" | "typeset") && !global;
        let scope = if local { Scope::Local } else { Scope::Global };
        let fixed = head == "readonly"
            || call.arguments().iter().any(|f| f.text.starts_with('-') && f.text.contains('r'));
        let mut kind = None;
        for field in call.arguments() {
            if let Some(letters) = field.text.strip_prefix(['-', '+']) {
                kind = kind_of(letters).or(kind);
            } else {
                self.declare_one(field, kind, scope);
            }
        }
        if fixed {
            let names = call.arguments().iter().map(|f| Declared::read(&f.text).name.to_owned());
            Rc::make_mut(&mut self.state.readonly).extend(names);
        }
        Outcome::success()
    }

    /// What `declare -f` prints; bash lays the text out anew, which changes nothing in it.
    fn definitions(&self, arguments: &[Field]) -> Data {
        let names = arguments.iter().filter(|f| !f.text.starts_with('-'));
        let source = |field: &Field| match self.state.functions.get(&field.text)?.as_slice() {
            [Some(defined)] => Some(format!("{}\n", defined.source.trim_end())),
            _ => None,
        };
        match names.map(source).collect::<Option<Vec<_>>>() {
            Some(all) if !all.is_empty() => Data::known(all.concat()),
            Some(_) | None => Data::unknown(TagSet::of(tag::FROM_UNKNOWN)),
        }
    }

    fn declare_one(&mut self, field: &Field, kind: Option<VariableKind>, scope: Scope) {
        let Declared { name, index, append, value } = Declared::read(&field.text);
        if !is_name(name) {
            return;
        }
        if let Some(index) = index {
            self.subscript_runs(&Value { text: index.to_owned(), tags: field.tags }, field.span);
        }
        if scope == Scope::Local {
            self.state.localize(name);
        }
        if let Some(kind) = kind {
            self.state.set_kind(name, kind);
        }
        let Some(value) = value else { return };
        let mut value = Value { text: value.to_owned(), tags: field.tags };
        if append {
            let old = self.state.scalar(name).unwrap_or_default();
            value = Value { text: old.text + &value.text, tags: old.tags.union(value.tags) };
        }
        if kind == Some(VariableKind::Reference) {
            let kind = VariableKind::Reference;
            self.state.put(name, Variable { scalar: vec![value], array: None, kind });
        } else if let Some(index) = index {
            self.state.set_element(name, index, value);
        } else {
            self.set_variable(name, value, field.span);
        }
    }

    /// `unset`: variables, and functions of the name.
    pub(super) fn unset(&mut self, call: &Call<'_>) -> Outcome {
        for field in call.arguments().iter().filter(|f| !f.text.starts_with('-')) {
            self.subscript_runs(&field.value(), field.span);
            self.state.unset(&field.text);
            if matches!(field.text.as_str(), "HISTFILE" | "HISTSIZE" | "HISTFILESIZE" | "SAVEHIST") {
                self.history_off(&field.text, field.span);
            }
            if self.state.functions.contains_key(&field.text) {
                let known = self.state.functions.change(&field.text);
                match call.arguments().iter().any(|f| f.text == "-f") {
                    true => *known = vec![None],
                    // only if there is no variable of the name
                    false if !known.contains(&None) => known.push(None),
                    false => {}
                }
            }
        }
        Outcome::success()
    }

    /// `alias NAME=TEXT`
    pub(super) fn define_alias(&mut self, call: &Call<'_>) -> Outcome {
        for field in call.arguments() {
            if let Some((name, text)) = field.text.split_once('=') {
                self.state.aliases.insert(name.to_owned(), text.to_owned());
            }
        }
        Outcome::success()
    }

    /// `hash -p PATH NAME`, `BASH_CMDS[NAME]=PATH`: from here on the name means that.
    pub(super) fn rename(&mut self, name: &str, meaning: &str) {
        self.state.aliases.insert(name.to_owned(), meaning.to_owned());
    }

    /// `let`: arithmetic, whose subscripts are evaluated.
    pub(super) fn let_builtin(&mut self, call: &Call<'_>) -> Outcome {
        for field in call.arguments() {
            let mut expander = Expander { state: &mut self.state, host: self.core };
            evaluate(&mut expander, &field.text, field.span);
        }
        Outcome::silent()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_read_part_by_part() {
        let of = |text| {
            let d = Declared::read(text);
            (d.name, d.index, d.append, d.value)
        };
        assert_eq!(of("a"), ("a", None, false, None));
        assert_eq!(of("a=b=c"), ("a", None, false, Some("b=c")));
        assert_eq!(of("a+=b"), ("a", None, true, Some("b")));
        assert_eq!(of("a[1]=b"), ("a", Some("1"), false, Some("b")));
    }
}
