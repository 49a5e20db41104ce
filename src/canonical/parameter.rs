//! Parameter expansion (POSIX XCU 2.6.2 and bash's extensions).
//!
//! In: a [`Parameter`] and the state. Out: [`Got`]. Never: treats "unset" as "unknown": the environment is the
//! true one, and an unset variable in front of a slash is the slash.

use crate::act::{TagSet, tag};
use crate::canonical::expand::{Expander, joined};
use crate::canonical::operation;
use crate::canonical::state::{State, Variable};
use crate::canonical::value::{HOLE, Value};
use crate::syntax::tree::{Colon, Operation, Parameter, Reference, Word};
use crate::text::Span;

/// What a parameter expands to: one value, or a list (`$@`, `${a[@]}`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Got {
    Value(Value),
    Fields(Vec<Value>),
}

// How such names end, what stands in them, and what shows that they only name a place or a count.
const ENDS: [&str; 14] = [
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIALS",
    "CREDENTIAL",
    "API_KEY",
    "APIKEY",
    "ACCESS_KEY",
    "ACCESS_KEY_ID",
    "PRIVATE_KEY",
    "SECRET_KEY",
    "_PAT",
];
const ANYWHERE: [&str; 5] = ["SECRET", "PASSWORD", "_TOKEN", "API_KEY", "PRIVATE_KEY"];
const NOT: [&str; 6] = ["_FILE", "_PATH", "_DIR", "_COUNT", "TOKENIZER", "MAX_TOKEN"];

/// Whether a variable's name says that it holds a credential.
pub fn is_secret_name(name: &str) -> bool {
    if name.len() < 3 || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return false;
    }
    let upper = name.to_ascii_uppercase();
    if NOT.iter().any(|n| upper.contains(n)) {
        return false;
    }
    let all_upper = name.bytes().all(|b| !b.is_ascii_lowercase());
    all_upper && (ENDS.iter().any(|e| upper.ends_with(e)) || ANYWHERE.iter().any(|e| upper.contains(e)))
}

/// The raw value of a parameter: `None` where it is unset.
fn raw(x: &mut Expander<'_>, name: &str, index: Option<&Word>, span: Span) -> Option<Got> {
    if let Some(index) = index {
        return element(x, name, index, span);
    }
    special(x.state, name).or_else(|| {
        let mut value =
            if x.state.is_varying(name) { x.state.any_value(name) } else { x.state.scalar(name)? };
        if is_secret_name(name) {
            value.tags = value.tags.with(tag::FROM_SECRET_VARIABLE);
        }
        Some(Got::Value(value))
    })
}

fn special(state: &State, name: &str) -> Option<Got> {
    let hole = |tags| Some(Got::Value(Value::unknown(tags)));
    match name {
        "@" | "*" => Some(Got::Fields(state.positional.as_ref().clone())),
        "#" if state.positional.iter().any(Value::has_hole) => hole(TagSet::EMPTY),
        "#" => Some(Got::Value(Value::known(state.positional.len().to_string()))),
        "0" => Some(Got::Value(state.zero.clone())),
        "_" => Some(Got::Value(state.last.as_deref()?.clone())),
        // bash takes no assignment to it
        "BASH_SOURCE" => Some(Got::Value(state.source.as_deref()?.clone())),
        "!" => hole(TagSet::of(tag::OWN)),
        "$" | "?" => hole(TagSet::EMPTY),
        "-" => Some(Got::Value(Value::known(state.options.clone()))),
        number if number.bytes().all(|b| b.is_ascii_digit()) && !number.is_empty() => {
            let position = number.parse::<usize>().ok()?;
            let known = state.positional.get(position.checked_sub(1)?).cloned().map(Got::Value);
            // an unknown one may be several
            known.or_else(|| hole(TagSet::EMPTY).filter(|_| state.positional.iter().any(Value::has_hole)))
        }
        _ => None,
    }
}

fn element(x: &mut Expander<'_>, name: &str, index: &Word, span: Span) -> Option<Got> {
    let key = x.single(index);
    if name == "BASH_SOURCE" && x.state.source.is_some() {
        // one for each function that is called, all from the one file
        let is_first = key.text == "0";
        return special(x.state, name)
            .filter(|_| is_first)
            .or_else(|| Some(Got::Value(Value::unknown(TagSet::EMPTY))));
    }
    let array = x.state.variable(name).and_then(|v| v.array.clone());
    let Some(array) = array else {
        return match key.text.as_str() {
            "@" | "*" => x.state.scalar(name).map(|v| Got::Fields(vec![v])),
            "0" => x.state.scalar(name).map(Got::Value),
            _ if x.state.scalar(name).is_some_and(|v| v.has_hole()) => {
                Some(Got::Value(Value::unknown(TagSet::EMPTY)))
            }
            _ => None,
        };
    };
    if key.text == "@" || key.text == "*" {
        return Some(Got::Fields(array.into_iter().map(|(_, v)| v).collect()));
    }
    let all = || Value::unknown(array.iter().fold(key.tags, |t, (_, v)| t.union(v.tags)));
    // it may have elements that aren't known
    let open = array.iter().any(|(n, _)| n.starts_with(HOLE));
    let found = |k: &str| {
        let known = array.iter().find(|(n, _)| n == k).map(|(_, v)| v.clone());
        known.or_else(|| open.then(all))
    };
    if x.state.is_map(name) && !key.has_hole() {
        return found(&key.text).map(Got::Value);
    }
    x.host_checks_subscript(&key, span);
    let wanted = crate::canonical::arithmetic::evaluate(x, &key.text, span).map(|n| n.to_string());
    if let Some((_, value)) = array.iter().find(|(n, _)| *n == key.text) {
        return Some(Got::Value(value.clone()));
    }
    let Some(text) = wanted else { return Some(Got::Value(all())) };
    let text = match text.parse::<i64>() {
        Ok(n) if n < 0 && open => return Some(Got::Value(all())),
        Ok(n) if n < 0 => i64::try_from(array.len()).ok().map_or(text, |l| (l + n).to_string()),
        Ok(_) | Err(_) => text,
    };
    found(&text).map(Got::Value)
}

fn flat(got: Got) -> Value {
    match got {
        Got::Value(value) => value,
        Got::Fields(values) => joined(&values, " "),
    }
}

fn unset() -> Got {
    Got::Value(Value { text: String::new(), tags: TagSet::of(tag::UNSET_VARIABLE) })
}

/// Expands one parameter.
pub fn expand(x: &mut Expander<'_>, parameter: &Parameter, span: Span) -> Got {
    if let Operation::Names = parameter.operation {
        return names(x.state, parameter);
    }
    let mut name = parameter.name.clone();
    let mut index = parameter.index.clone();
    if parameter.reference == Reference::Indirect {
        let Some(target) = raw(x, &name, index.as_ref(), span).map(flat) else { return unset() };
        if target.has_hole() {
            return Got::Value(Value::unknown(target.tags));
        }
        if let Some((array, key)) = target.text.split_once('[') {
            index = Some(Word::quoted(key.trim_end_matches(']'), span));
            x.host_checks_subscript(&Value::known(key), span);
            array.clone_into(&mut name);
        } else {
            name = target.text;
            index = None;
        }
    }
    let found = raw(x, &name, index.as_ref(), span);
    let known_secret = is_secret_name(&name);
    let mut got = operate(x, &name, found, &parameter.operation, span);
    if let (true, Got::Value(value)) = (known_secret && parameter.operation != Operation::Length, &mut got) {
        // set or not: what the text asks for is a credential
        value.tags = value.tags.with(tag::FROM_SECRET_VARIABLE);
    }
    got
}

fn names(state: &State, parameter: &Parameter) -> Got {
    if parameter.index.is_some() {
        let keys = state.variable(&parameter.name).and_then(|v| v.array.as_ref());
        return Got::Fields(keys.into_iter().flatten().map(|(k, _)| Value::known(k.clone())).collect());
    }
    Got::Fields(state.names(&parameter.name).into_iter().map(Value::known).collect())
}

/// Whether a value counts as there for `:-` and its like.
fn present(found: Option<&Got>, colon: Colon) -> bool {
    match (found, colon) {
        (None, _) => false,
        (Some(_), Colon::No) => true,
        (Some(Got::Value(v)), Colon::Yes) => !v.text.is_empty(),
        (Some(Got::Fields(v)), Colon::Yes) => v.iter().any(|v| !v.text.is_empty()),
    }
}

fn operate(x: &mut Expander<'_>, name: &str, found: Option<Got>, operation: &Operation, span: Span) -> Got {
    match operation {
        Operation::None | Operation::Names => found.unwrap_or_else(|| missing(name)),
        Operation::Length => length(found),
        Operation::Default(colon, word) | Operation::Error(colon, word)
            if !present(found.as_ref(), *colon) =>
        {
            if let Operation::Error(..) = operation {
                // the shell stops here, unless somebody types to it
                if !x.state.option('i') {
                    x.state.control = crate::canonical::state::Control::Ended;
                }
            }
            Got::Value(x.single(word))
        }
        Operation::AssignDefault(colon, word) if !present(found.as_ref(), *colon) => {
            let value = x.single(word);
            x.state.set(name, value.clone());
            Got::Value(value)
        }
        Operation::Alternative(colon, word) => {
            if present(found.as_ref(), *colon) {
                Got::Value(x.single(word))
            } else {
                Got::Value(Value::default())
            }
        }
        Operation::Default(..) | Operation::Error(..) | Operation::AssignDefault(..) => {
            found.unwrap_or_else(unset)
        }
        Operation::RemovePrefix(..)
        | Operation::RemoveSuffix(..)
        | Operation::Replace(..)
        | Operation::Substring(..)
        | Operation::Case(..)
        | Operation::Transform(_) => {
            let Some(found) = found else { return missing(name) };
            if let (Operation::Substring(..), "@" | "*", Got::Fields(values)) = (operation, name, &found) {
                // positional parameters begin with `$0` here
                let all = std::iter::once(x.state.zero.clone()).chain(values.iter().cloned()).collect();
                return operation::apply(x, Got::Fields(all), operation, span);
            }
            operation::apply(x, found, operation, span)
        }
    }
}

/// An unset parameter: empty. Positional ones are no mistake of the writer's, a variable may be.
fn missing(name: &str) -> Got {
    match name {
        "@" | "*" => Got::Fields(Vec::new()),
        _ => unset(),
    }
}

fn length(found: Option<Got>) -> Got {
    let text = match found {
        None => "0".to_owned(),
        Some(Got::Fields(values)) if values.iter().any(Value::has_hole) => HOLE.to_string(),
        Some(Got::Fields(values)) => values.len().to_string(),
        Some(Got::Value(value)) if value.has_hole() => HOLE.to_string(),
        Some(Got::Value(value)) => value.text.chars().count().to_string(),
    };
    Got::Value(Value::known(text))
}

impl Expander<'_> {
    /// Subscripts are arithmetic: text in them that holds a substitution is run (bash's hidden evaluator).
    pub fn host_checks_subscript(&mut self, key: &Value, span: Span) {
        if key.text.contains("$(") || key.text.contains('`') {
            self.host.hidden(self.state, &key.text, span);
        }
    }
}

/// `$*`, `${a[*]}`: in double quotes one field, else as `$@`.
pub fn is_star(parameter: &Parameter) -> bool {
    let index = parameter.index.as_ref().and_then(Word::literal);
    (parameter.name == "*" && parameter.index.is_none()) || index.as_deref() == Some("*")
}

/// Whether a variable is an array (for declarations).
pub fn is_array(variable: Option<&Variable>) -> bool {
    variable.is_some_and(|v| v.array.is_some())
}
