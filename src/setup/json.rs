//! Changes a client's JSON settings in place: comments, order, indentation and line ends of what is there survive.
//!
//! In: a file's text, a path of keys, a value. Out: the changed text. Never: replaces something of another kind
//! than it needs there; adds what the client's parser may not know (comments, trailing commas) of its own.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;

/// What an empty or missing file counts as.
const EMPTY: &str = "{}\n";

/// Appends an item to the array at a path of keys; `None`: it is there already.
///
/// # Errors
/// The text is no JSON, or something else than an array is there.
pub fn append(text: &str, path: &[String], item: &Value) -> Result<Option<String>, String> {
    let root = parse(text)?;
    let (last, folders) = path.split_last().ok_or("no path")?;
    let object = descend(&root, folders)?;
    let array = object.array_value_or_create(last).ok_or_else(|| wrong(path, "an array"))?;
    if position(&array, item).is_some() {
        return Ok(None);
    }
    array.append(input(item));
    Ok(Some(root.to_string()))
}

/// Sets a key; `None`: it has that value already. Gives the value that it had.
///
/// # Errors
/// The text is no JSON, or a part of the path is no object.
pub fn set(text: &str, path: &[String], value: &Value) -> Result<Option<(String, Option<Value>)>, String> {
    let root = parse(text)?;
    let (last, folders) = path.split_last().ok_or("no path")?;
    let object = descend(&root, folders)?;
    let old = match object.get(last) {
        None => {
            object.append(last, input(value));
            None
        }
        Some(property) => {
            let old = property.value().and_then(|node| node.to_serde_value());
            if old.as_ref() == Some(value) {
                return Ok(None);
            }
            property.set_value(input(value));
            old
        }
    };
    Ok(Some((root.to_string(), old)))
}

/// Takes an item out of the array at a path, and what is empty then; `None`: it isn't there.
pub fn remove(text: &str, path: &[String], item: &Value) -> Option<String> {
    let root = parse(text).ok()?;
    let (last, folders) = path.split_last()?;
    let object = walk(&root, folders)?;
    let array = object.array_value(last)?;
    let at = position(&array, item)?;
    array.elements().into_iter().nth(at)?.remove();
    if array.elements().is_empty() {
        object.get(last)?.remove();
        prune(&root, folders);
    }
    Some(root.to_string())
}

/// Puts a key's earlier value back where it still has ours; `None`: it hasn't.
pub fn unset(text: &str, path: &[String], value: &Value, old: Option<&Value>) -> Option<String> {
    let root = parse(text).ok()?;
    let (last, folders) = path.split_last()?;
    let property = walk(&root, folders)?.get(last)?;
    if property.value()?.to_serde_value().as_ref() != Some(value) {
        return None;
    }
    if let Some(old) = old {
        property.set_value(input(old));
    } else {
        property.remove();
        prune(&root, folders);
    }
    Some(root.to_string())
}

/// The value at a path.
pub fn get(text: &str, path: &[&str]) -> Option<Value> {
    let root = parse(text).ok()?.to_serde_value()?;
    path.iter().try_fold(&root, |value, key| value.get(key)).cloned()
}

fn parse(text: &str) -> Result<CstRootNode, String> {
    let text = if text.trim().is_empty() { EMPTY } else { text };
    let root =
        CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| format!("is no JSON: {error}"))?;
    if root.object_value().is_some() { Ok(root) } else { Err("holds no JSON object".to_owned()) }
}

fn descend(root: &CstRootNode, path: &[String]) -> Result<CstObject, String> {
    let mut object = root.object_value().ok_or("holds no JSON object")?;
    for key in path {
        object = object.object_value_or_create(key).ok_or_else(|| wrong(path, "an object"))?;
    }
    Ok(object)
}

fn walk(root: &CstRootNode, path: &[String]) -> Option<CstObject> {
    path.iter().try_fold(root.object_value()?, |object, key| object.object_value(key))
}

/// Removes the objects along a path that are empty, from the innermost on.
fn prune(root: &CstRootNode, path: &[String]) {
    for length in (1..=path.len()).rev() {
        let (Some(folders), Some(last)) = (path.get(..length - 1), path.get(length - 1)) else { return };
        let Some(parent) = walk(root, folders) else { return };
        match parent.object_value(last) {
            Some(object) if object.properties().is_empty() => {
                if let Some(property) = parent.get(last) {
                    property.remove();
                }
            }
            Some(_) | None => return,
        }
    }
}

fn position(array: &CstArray, item: &Value) -> Option<usize> {
    array.elements().iter().position(|node: &CstNode| node.to_serde_value().as_ref() == Some(item))
}

fn wrong(path: &[String], needed: &str) -> String {
    format!("has something else than {needed} at {}", crate::text::escape(&path.join(".")))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(on) => CstInputValue::Bool(*on),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(map) => {
            CstInputValue::Object(map.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn path(text: &str) -> Vec<String> {
        text.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn what_is_there_survives_and_comes_back() {
        let text = "{\n    // mine\n    \"env\": { \"A\": \"1\" }, /* and */\n    \"hooks\": {\n        \"Stop\": [], // keep\n    }\n}\n";
        let item = json!({"matcher": "Bash", "hooks": [{"type": "command", "command": "x"}]});
        let changed = append(text, &path("hooks.PreToolUse"), &item).unwrap().unwrap();
        assert!(
            changed.contains("// mine\n") && changed.contains("/* and */") && changed.contains("// keep"),
            "{changed}"
        );
        assert_eq!(get(&changed, &["hooks", "PreToolUse"]), Some(json!([item])));
        assert_eq!(append(&changed, &path("hooks.PreToolUse"), &item), Ok(None));
        let (changed, old) = set(&changed, &path("env.SHELL"), &json!("/b")).unwrap().unwrap();
        assert_eq!((get(&changed, &["env", "SHELL"]), old), (Some(json!("/b")), None));
        let back = unset(&changed, &path("env.SHELL"), &json!("/b"), None).unwrap();
        let back = remove(&back, &path("hooks.PreToolUse"), &item).unwrap();
        assert!(back.contains("// mine\n") && back.contains("// keep"), "{back}");
        assert_eq!(get(&back, &["hooks"]), Some(json!({"Stop": []})));
    }

    #[test]
    fn nothing_is_replaced_by_another_kind_and_nothing_but_ours_is_removed() {
        for text in ["[]", "7", "{\"hooks\": 7}", "{\"hooks\": {\"PreToolUse\": {}}}", "{\"hooks\": "] {
            assert!(append(text, &path("hooks.PreToolUse"), &json!("x")).is_err(), "{text}");
        }
        assert_eq!(remove("{\"a\": [1]}", &path("a"), &json!(2)), None);
        assert_eq!(unset("{\"a\": 1}", &path("a"), &json!(2), None), None);
        let text = remove("{\"a\": {\"b\": {\"c\": [1]}}, \"d\": 2}", &path("a.b.c"), &json!(1)).unwrap();
        assert_eq!(get(&text, &[]), Some(json!({"d": 2})));
    }

    #[test]
    fn an_empty_file_becomes_an_object() {
        let text = append("", &path("a.b"), &json!("x")).unwrap().unwrap();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), json!({"a": {"b": ["x"]}}));
    }

    #[test]
    fn a_value_that_was_there_comes_back() {
        let (text, old) =
            set("{\"shell\": \"zsh\" /* why */}", &path("shell"), &json!("/b")).unwrap().unwrap();
        assert_eq!(old, Some(json!("zsh")));
        assert_eq!(
            unset(&text, &path("shell"), &json!("/b"), old.as_ref()).unwrap(),
            "{\"shell\": \"zsh\" /* why */}"
        );
    }
}
