//! Format texts: printf's percent signs and python's braces.
//!
//! In: a template and values. Out: the text, in pieces where a value is unknown.
//! Never: rounds or pads; what a number looks like hides nothing.

use super::call::Args;
use super::machine::Machine;
use super::value::{V, joint};
use crate::code::found::{Built, Piece};

impl Machine<'_, '_> {
    /// Texts side by side; alternatives are each followed.
    pub(crate) fn concat(&mut self, values: &[V]) -> V {
        if let Some(at) = values.iter().position(|v| matches!(v, V::Any(_)))
            && let Some(V::Any(seq)) = values.get(at)
        {
            let choices = seq.items.iter().map(|choice| {
                let mut one: Vec<V> = values
                    .iter()
                    .map(|v| if matches!(v, V::Any(_)) { V::Open(v.source()) } else { v.clone() })
                    .collect();
                if let Some(slot) = one.get_mut(at) {
                    *slot = choice.clone();
                }
                one
            });
            let choices: Vec<Vec<V>> = choices.collect();
            return V::any(choices.iter().map(|one| self.concat(one)).collect());
        }
        let built = values.iter().map(V::level).max().unwrap_or_default();
        let parts: Vec<Piece> = values.iter().flat_map(V::parts).collect();
        let size = parts.iter().map(|p| match p {
            Piece::Text(t) => t.len(),
            Piece::Open(_) => 8,
        });
        if !self.spend(size.sum()) {
            return V::Open(joint(values));
        }
        let only_bytes = values.iter().all(|v| matches!(v, V::Bytes(..)));
        match V::pieces(parts, built) {
            V::Text(text, built) if only_bytes && !values.is_empty() => V::Bytes(text, built),
            other => other,
        }
    }

    /// `template % args`, sprintf.
    pub(crate) fn percent(&mut self, template: &V, args: &[V]) -> V {
        let Some(text) = template.as_text() else {
            return V::Open(template.source().worse(super::value::joint(args)));
        };
        let mut parts: Vec<V> = Vec::new();
        let mut next = args.iter();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('%') {
            parts.push(V::text(before));
            if let Some(more) = after.strip_prefix('%') {
                parts.push(V::text("%"));
                rest = more;
                continue;
            }
            let (named, after) = match after.strip_prefix('(').and_then(|a| a.split_once(')')) {
                Some((name, more)) => (Some(name), more),
                None => (None, after),
            };
            let spec = after.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(after.len());
            let letter = after.get(spec..).and_then(|a| a.chars().next()).unwrap_or('s');
            rest = after.get(spec.saturating_add(1)..).unwrap_or("");
            let value = match named {
                Some(name) => args.iter().find_map(|a| {
                    if let V::Dict(s) = a { super::operator::lookup(&s.items, &V::text(name)) } else { None }
                }),
                None => next.next().cloned(),
            };
            let value = value.unwrap_or(V::Nothing);
            parts.push(match (letter, value.as_number()) {
                ('c', Some(n)) => u32::try_from(n)
                    .ok()
                    .and_then(char::from_u32)
                    .map_or(V::Nothing, |c| V::built(c.encode_utf8(&mut [0; 4]), Built::Decoded)),
                _ => super::fold::readable(&value),
            });
        }
        parts.push(V::text(rest));
        self.concat(&parts)
    }

    /// printf-like or brace-like, by what the template holds.
    pub(crate) fn format(&mut self, template: &V, items: &[V], args: &Args) -> V {
        match template.as_text() {
            Some(text) if text.contains('{') && !text.contains('%') => {
                let text = text.to_owned();
                self.braces(&text, items, args)
            }
            _ => self.percent(template, items),
        }
    }

    /// `'{} {0} {name}'.format(…)`.
    fn braces(&mut self, text: &str, items: &[V], args: &Args) -> V {
        let mut parts: Vec<V> = Vec::new();
        let mut auto = 0_usize;
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            parts.push(V::text(rest.get(..at).unwrap_or("")));
            let tail = rest.get(at..).unwrap_or("");
            if tail.starts_with("{{") || tail.starts_with("}}") || tail.starts_with('}') {
                parts.push(V::text(tail.get(..1).unwrap_or("")));
                rest = tail
                    .get(if tail.starts_with('}') && !tail.starts_with("}}") { 1 } else { 2 }..)
                    .unwrap_or("");
                continue;
            }
            let inner = tail.get(1..).unwrap_or("");
            let (field, more) = inner.split_once('}').unwrap_or((inner, ""));
            let name = field.split([':', '!']).next().unwrap_or("");
            let value = if name.is_empty() {
                auto = auto.saturating_add(1);
                items.get(auto.saturating_sub(1)).cloned()
            } else if let Ok(n) = name.parse::<usize>() {
                items.get(n).cloned()
            } else {
                args.named.iter().find(|(n, _)| **n == *name).map(|(_, v)| v.clone())
            };
            parts.push(super::fold::readable(
                &value.unwrap_or_else(|| V::open(crate::code::found::Origin::Unknown)),
            ));
            rest = more;
        }
        parts.push(V::text(rest));
        self.concat(&parts)
    }
}
