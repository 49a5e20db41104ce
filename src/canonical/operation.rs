//! The string operations of parameter expansion: removal, replacement, substrings, case, `@` transforms.
//!
//! In: values with or without holes. Out: values; a hole in the subject makes the result unknown.
//! Never: runs a transform's result (the host judges `${x@P}`).

use std::fmt::Write as _;

use crate::act::tag;
use crate::canonical::escape;
use crate::canonical::expand::Expander;
use crate::canonical::parameter::Got;
use crate::canonical::value::{HOLE, Value};
use crate::place::glob::matches;
use crate::syntax::tree::{CaseChange, Extent, Operation, ReplaceAt, Word};
use crate::text::Span;

/// Longest subject that operations are computed on, in characters; beyond it the result is unknown.
const SUBJECT_LIMIT: usize = 4096;

pub fn apply(x: &mut Expander<'_>, found: Got, operation: &Operation, span: Span) -> Got {
    match found {
        Got::Fields(values) => {
            if let Operation::Substring(offset, length) = operation {
                return slice_fields(x, values, offset, length.as_ref(), span);
            }
            Got::Fields(values.into_iter().map(|v| one(x, v, operation, span)).collect())
        }
        Got::Value(value) => Got::Value(one(x, value, operation, span)),
    }
}

fn slice_fields(
    x: &mut Expander<'_>,
    values: Vec<Value>,
    offset: &Word,
    length: Option<&Word>,
    span: Span,
) -> Got {
    let start =
        number(x, offset, span).map(|n| if n < 0 { n + i64::try_from(values.len()).unwrap_or(0) } else { n });
    let start = start.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    let count = length.map(|w| number(x, w, span).and_then(|n| usize::try_from(n).ok()));
    match (start, count) {
        (Some(start), None) => Got::Fields(values.into_iter().skip(start).collect()),
        (Some(start), Some(Some(n))) => Got::Fields(values.into_iter().skip(start).take(n).collect()),
        (None, _) | (_, Some(None)) => Got::Value(Value::unknown(crate::act::TagSet::EMPTY)),
    }
}

fn number(x: &mut Expander<'_>, word: &Word, span: Span) -> Option<i64> {
    let value = x.arithmetic(word, span);
    value.text.trim().parse().ok()
}

fn one(x: &mut Expander<'_>, value: Value, operation: &Operation, span: Span) -> Value {
    let tags = value.tags.with(tag::COMPUTED);
    if let Operation::Transform(letter) = operation {
        return transform(x, value, *letter, span);
    }
    if value.text.chars().count() > SUBJECT_LIMIT {
        return Value::unknown(tags);
    }
    let text = match operation {
        Operation::RemovePrefix(extent, pattern) => {
            let pattern = x.pattern(pattern).text;
            either(x, &pattern, |pattern| remove_prefix(&value.text, pattern, *extent))
        }
        Operation::RemoveSuffix(extent, pattern) => {
            let pattern = x.pattern(pattern).text;
            either(x, &pattern, |pattern| remove_suffix(&value.text, pattern, *extent))
        }
        Operation::Replace(at, pattern, with) => {
            let pattern = x.pattern(pattern);
            let with = with.as_ref().map(|w| x.single(w)).unwrap_or_default();
            if pattern.has_hole() {
                HOLE.to_string()
            } else {
                either(x, &pattern.text, |pattern| replace(&value.text, pattern, &with.text, *at))
            }
        }
        Operation::Substring(offset, length) => {
            let start = number(x, offset, span);
            let count = match length {
                None => Count::Rest,
                Some(word) => number(x, word, span).map_or(Count::Unknown, Count::Known),
            };
            substring(&value.text, start, count)
        }
        Operation::Case(change, pattern) => {
            let pattern = pattern.as_ref().map(|p| x.pattern(p).text);
            change_case(&value.text, *change, pattern.as_deref())
        }
        Operation::None
        | Operation::Length
        | Operation::Default(..)
        | Operation::AssignDefault(..)
        | Operation::Error(..)
        | Operation::Alternative(..)
        | Operation::Transform(_)
        | Operation::Names => return value,
    };
    Value { text, tags }
}

/// The result with bash's extended patterns if they are on. They are off at first, but the caller may have
/// switched them on (`-O extglob`): where that makes a difference, the result is not known.
fn either(x: &Expander<'_>, pattern: &str, result: impl Fn(&str) -> String) -> String {
    let extended = result(pattern);
    if !pattern.contains('(') || x.state.switches.iter().any(|name| name == "extglob") {
        return extended;
    }
    let mut plain = String::with_capacity(pattern.len() + 4);
    let mut escaped = false;
    for c in pattern.chars() {
        if c == '(' && !escaped {
            plain.push('\\');
        }
        escaped = c == '\\' && !escaped;
        plain.push(c);
    }
    if result(&plain) == extended { extended } else { HOLE.to_string() }
}

fn borders(text: &str) -> Vec<usize> {
    text.char_indices().map(|(i, _)| i).chain([text.len()]).collect()
}

fn remove_prefix(text: &str, pattern: &str, extent: Extent) -> String {
    let mut ends = borders(text);
    if extent == Extent::Longest {
        ends.reverse();
    }
    for end in ends {
        if let (Some(head), Some(tail)) = (text.get(..end), text.get(end..))
            && matches(pattern, head)
        {
            return tail.to_owned();
        }
    }
    text.to_owned()
}

fn remove_suffix(text: &str, pattern: &str, extent: Extent) -> String {
    let mut starts = borders(text);
    if extent == Extent::Shortest {
        starts.reverse();
    }
    for start in starts {
        if let (Some(head), Some(tail)) = (text.get(..start), text.get(start..))
            && matches(pattern, tail)
        {
            return head.to_owned();
        }
    }
    text.to_owned()
}

/// Longest match at each place, as bash does. Quadratic, so bounded by the subject's limit and a step count.
#[expect(clippy::too_many_lines, reason = "one arm for each form of the grammar")]
fn replace(text: &str, pattern: &str, with: &str, at: ReplaceAt) -> String {
    if pattern.is_empty() {
        return match at {
            ReplaceAt::Start => format!("{with}{text}"),
            ReplaceAt::End => format!("{text}{with}"),
            ReplaceAt::First | ReplaceAt::All => text.to_owned(),
        };
    }
    if text.is_empty() {
        return if matches(pattern, "") { with.to_owned() } else { String::new() };
    }
    let ends = borders(text);
    let plain = !pattern.contains(['*', '?', '[', '\\', '(']);
    let mut steps = 0_usize;
    let mut longest = |from: usize| -> Option<usize> {
        if plain {
            return text.get(from..).filter(|t| t.starts_with(pattern)).map(|_| from + pattern.len());
        }
        for end in ends.iter().rev().copied().filter(|e| *e > from) {
            steps += 1;
            if steps > 200_000 {
                return None;
            }
            if text.get(from..end).is_some_and(|t| matches(pattern, t)) {
                return Some(end);
            }
        }
        None
    };
    match at {
        ReplaceAt::Start => match longest(0) {
            Some(end) => format!("{with}{}", text.get(end..).unwrap_or("")),
            None => text.to_owned(),
        },
        ReplaceAt::End => {
            for start in &ends {
                if let (Some(head), Some(tail)) = (text.get(..*start), text.get(*start..))
                    && !tail.is_empty()
                    && matches(pattern, tail)
                {
                    return format!("{head}{with}");
                }
            }
            text.to_owned()
        }
        ReplaceAt::First | ReplaceAt::All => {
            let (mut out, mut from) = (String::new(), 0);
            while let Some(c) = text.get(from..).and_then(|t| t.chars().next()) {
                if let Some(end) = longest(from) {
                    out.push_str(with);
                    from = end;
                    if at == ReplaceAt::First {
                        break;
                    }
                } else {
                    out.push(c);
                    from += c.len_utf8();
                }
            }
            out.push_str(text.get(from..).unwrap_or(""));
            out
        }
    }
}

/// A substring's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    /// none is given: to the end
    Rest,
    Known(i64),
    Unknown,
}

fn substring(text: &str, start: Option<i64>, count: Count) -> String {
    let chars: Vec<char> = text.chars().collect();
    let length = i64::try_from(chars.len()).unwrap_or(i64::MAX);
    let Some(start) = start else { return HOLE.to_string() };
    let from = if start < 0 { length.saturating_add(start) } else { start };
    if from < 0 || from > length {
        return String::new();
    }
    let to = match count {
        Count::Rest => length,
        Count::Unknown => return HOLE.to_string(),
        Count::Known(n) if n < 0 => length.saturating_add(n),
        Count::Known(n) => from.saturating_add(n).min(length),
    };
    let (from, to) = (usize::try_from(from).unwrap_or(0), usize::try_from(to.max(from)).unwrap_or(0));
    chars.get(from..to).unwrap_or(&[]).iter().collect()
}

fn change_case(text: &str, change: CaseChange, pattern: Option<&str>) -> String {
    let hits = |c: char| pattern.is_none_or(|p| p.is_empty() || matches(p, c.encode_utf8(&mut [0; 4])));
    let flip = |c: char| {
        if c.is_uppercase() { c.to_lowercase().collect() } else { c.to_uppercase().collect::<String>() }
    };
    text.chars()
        .enumerate()
        .map(|(i, c)| match change {
            CaseChange::UpperFirst if i == 0 && hits(c) => c.to_uppercase().collect(),
            CaseChange::LowerFirst if i == 0 && hits(c) => c.to_lowercase().collect(),
            CaseChange::UpperAll if hits(c) => c.to_uppercase().collect(),
            CaseChange::LowerAll if hits(c) => c.to_lowercase().collect(),
            CaseChange::Toggle if hits(c) => flip(c),
            CaseChange::UpperFirst
            | CaseChange::LowerFirst
            | CaseChange::UpperAll
            | CaseChange::LowerAll
            | CaseChange::Toggle => c.to_string(),
        })
        .collect()
}

fn transform(x: &mut Expander<'_>, value: Value, letter: char, span: Span) -> Value {
    let tags = value.tags.with(tag::COMPUTED);
    let text = match letter {
        'U' => value.text.to_uppercase(),
        'u' => change_case(&value.text, CaseChange::UpperFirst, None),
        'L' => value.text.to_lowercase(),
        'E' => escape::ansi_c(&value.text),
        'P' => {
            // prompt expansion: the text is expanded once more, substitutions in it run
            x.host.hidden(x.state, &value.text, span);
            if value.text.contains(['\\', '$', '`']) { HOLE.to_string() } else { value.text }
        }
        'Q' => requoted(&value.text),
        _ => value.text,
    };
    Value { text, tags }
}

/// `${x@Q}`: always quoted; control characters in `$'…'`.
fn requoted(text: &str) -> String {
    if !text.chars().any(char::is_control) {
        return format!("'{}'", text.replace('\'', r"'\''"));
    }
    let mut out = String::from("$'");
    for c in text.chars() {
        match c {
            '\n' => out.push_str(r"\n"),
            '\t' => out.push_str(r"\t"),
            '\r' => out.push_str(r"\r"),
            '\u{7}' => out.push_str(r"\a"),
            '\u{1b}' => out.push_str(r"\E"),
            '\'' => out.push_str(r"\'"),
            '\\' => out.push_str(r"\\"),
            c if c.is_ascii_control() => drop(write!(out, r"\{:03o}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

/// Single-quoted, as `${x@Q}` and `printf %q` would at least do for words with special characters.
pub fn quote(text: &str) -> String {
    let plain = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '=' | '@' | '%' | '+' | ',')
    };
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn string_operations_match_bash() {
        assert_eq!(remove_prefix("a/b/c", "*/", Extent::Shortest), "b/c");
        assert_eq!(remove_prefix("a/b/c", "*/", Extent::Longest), "c");
        assert_eq!(remove_suffix("a.tar.gz", ".*", Extent::Shortest), "a.tar");
        assert_eq!(remove_suffix("a.tar.gz", ".*", Extent::Longest), "a");
        assert_eq!(replace("xrxmx", "x", "", ReplaceAt::All), "rm");
        assert_eq!(replace("xrxm", "x", "", ReplaceAt::First), "rxm");
        assert_eq!(replace("a-b", "-*", "", ReplaceAt::End), "a");
        assert_eq!(substring("abcdef", Some(-3), Count::Known(2)), "de");
        assert_eq!(substring("abc", Some(1), Count::Rest), "bc");
        assert_eq!(change_case("rm", CaseChange::UpperAll, None), "RM");
    }
}
