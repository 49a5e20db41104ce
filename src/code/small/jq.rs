//! Jq's filters: they only compute, but they see the environment.
//!
//! In: a filter. Out: acts.
//! Never: takes a text for code.

use super::notes::{Notes, open, value};
use crate::code::found::{Found, Origin, What};
use crate::text::Span;

pub(crate) fn look(text: &str) -> Found {
    let mut notes = Notes::default();
    let bytes = text.as_bytes();
    let mut at = 0_usize;
    let mut member = false;
    while let Some(b) = bytes.get(at).copied() {
        let start = at;
        match b {
            b'"' => {
                at = at.saturating_add(1);
                while bytes.get(at).is_some_and(|b| *b != b'"') {
                    at = at.saturating_add(if bytes.get(at) == Some(&b'\\') { 2 } else { 1 });
                }
                at = at.saturating_add(1);
                member = false;
            }
            b'#' => {
                at = memchr::memchr(b'\n', bytes.get(at..).unwrap_or(b""))
                    .map_or(bytes.len(), |n| at.saturating_add(n));
            }
            b if b.is_ascii_alphabetic() || matches!(b, b'_' | b'$') => {
                while bytes
                    .get(at)
                    .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b':'))
                {
                    at = at.saturating_add(1);
                }
                let word = text.get(start..at).unwrap_or("");
                let is_key = bytes.get(at.saturating_sub(1)) == Some(&b':')
                    || text.get(at..).is_some_and(|r| r.trim_start().starts_with(':'));
                if !member && matches!(word, "env" | "$ENV") && !is_key {
                    environment(&mut notes, text, at, Span::new(start, at));
                } else if !member && matches!(word, "import" | "include") {
                    let file = text
                        .get(at..)
                        .and_then(|r| r.trim_start().strip_prefix('"'))
                        .and_then(|r| r.split_once('"'))
                        .map_or("", |(f, _)| f);
                    notes.on(What::Load, file, Span::new(start, at));
                }
                member = false;
            }
            _ => {
                member = b == b'.';
                at = at.saturating_add(1);
            }
        }
    }
    notes.found
}

/// `env`, `env.NAME`, `$ENV["NAME"]`.
fn environment(notes: &mut Notes, text: &str, at: usize, span: Span) {
    let rest = text.get(at..).unwrap_or("");
    let name = rest
        .strip_prefix('.')
        .map(|r| r.trim_matches('"'))
        .or_else(|| rest.strip_prefix("[\""))
        .unwrap_or("");
    let len = name.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
    match name.get(..len) {
        Some(name) if !name.is_empty() => {
            notes.act(What::Print, vec![value(vec![open(Origin::Variable, name)])], span);
        }
        _ => notes.act(What::Environment, Vec::new(), span),
    }
}

#[cfg(test)]
mod tests {
    use crate::code::tests::lines;
    use crate::policy::tables::Lang;

    #[test]
    fn only_the_environment_is_an_act() {
        let cases: &[(&str, &[&str])] = &[
            (".env | .x.env, {env: 1}, \"env\" # env", &[]),
            ("env", &["Environment"]),
            ("env.TOKEN", &["Print <Variable TOKEN>"]),
            ("$ENV[\"A\"]", &["Print <Variable A>"]),
            (".[] | select(.a == $x) | {a, b: .c}", &[]),
        ];
        for (script, acts) in cases {
            assert_eq!(lines(Lang::Jq, script), *acts, "{script}");
        }
    }
}
