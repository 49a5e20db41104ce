//! Functions that are computed: joins, formats, decoders.
//!
//! In: a function of the tables and its arguments. Out: what it gives, `None` where that is unknown.
//! Never: acts.

use super::call::Args;
use super::decode;
use super::machine::Machine;
use super::value::{V, joint};
use crate::code::found::{Built, Origin};
use crate::code::meaning::Fold;

impl Machine<'_, '_> {
    pub(crate) fn fold(&mut self, fold: Fold, this: Option<&V>, args: &Args) -> Option<V> {
        let mut items: Vec<V> = Vec::with_capacity(args.items.len().saturating_add(1));
        items.extend(this.cloned());
        items.extend(args.items.iter().cloned());
        if items.is_empty() {
            items.extend(args.named.iter().map(|(_, v)| v.clone()));
        }
        if let Some(V::Any(seq)) = items.first() {
            let rest = items.get(1..).unwrap_or(&[]).to_vec();
            let values: Vec<V> = seq
                .items
                .iter()
                .map(|first| {
                    self.folded(fold, &[std::slice::from_ref(first), &rest].concat(), args)
                        .unwrap_or_else(|| V::Open(first.source()))
                })
                .collect();
            return Some(V::any(values));
        }
        self.folded(fold, &items, args)
    }

    fn folded(&mut self, fold: Fold, items: &[V], args: &Args) -> Option<V> {
        let first = items.first().cloned().unwrap_or(V::Nothing);
        let second = items.get(1).cloned().unwrap_or(V::Nothing);
        match fold {
            Fold::Chr => self.chr(items),
            Fold::Ord => {
                first.as_text().and_then(|t| t.chars().next()).map(|c| V::Number(i64::from(u32::from(c))))
            }
            Fold::Base64 => self.bytes_of(&first, decode::base64),
            Fold::Base32 => self.bytes_of(&first, decode::base32),
            Fold::Hex => self.bytes_of(&first, decode::hex),
            Fold::UrlDecode => self.bytes_of(&first, |t| Some(decode::percent(t))).map(|v| readable(&v)),
            Fold::Rot13 => first.as_text().map(|t| self.hidden(&decode::rot13(t))),
            Fold::Opaque => {
                if matches!(first, V::Bytes(..)) {
                    return self.bytes_of(&first, decode::inflate);
                }
                self.state.hiding = self.state.hiding.saturating_add(1);
                Some(first.decoded())
            }
            Fold::Codec => self.codec(&first, second.as_text().unwrap_or("")),
            Fold::Reverse => self.reverse(&first),
            Fold::Concat => {
                Some(self.concat(&items.iter().flat_map(super::acting::opened).collect::<Vec<_>>()))
            }
            // perl's list is the rest of the arguments
            Fold::Join if self.language.lang == crate::policy::tables::Lang::Perl => {
                let rest = items.get(1..).unwrap_or(&[]).iter().flat_map(super::acting::opened).collect();
                self.join(&first, &V::list(rest))
            }
            Fold::Join => self.join(&first, &second),
            Fold::Words => first
                .as_text()
                .and_then(words)
                .map(|w| V::list(w.iter().map(|t| V::built(t, first.level())).collect())),
            Fold::Reduce => self.reduce(items),
            Fold::Implode => {
                if matches!(first, V::List(_)) {
                    self.join(&second, &first)
                } else if items.len() == 2 && matches!(second, V::List(_)) {
                    self.join(&first, &second)
                } else {
                    self.join(&first, &V::list(items.get(1..)?.to_vec()))
                }
            }
            Fold::PathJoin => Some(self.path_join(items)),
            Fold::Same | Fold::This | Fold::Text => {
                Some(if fold == Fold::Text { readable(&first) } else { first })
            }
            Fold::Dirname => first.as_text().map(|t| {
                V::text(t.rsplit_once('/').map_or(".", |(d, _)| if d.is_empty() { "/" } else { d }))
            }),
            Fold::Basename => first.as_text().map(|t| V::text(t.rsplit('/').next().unwrap_or(""))),
            Fold::Number => number(&first, &second),
            Fold::List => listed(&first),
            Fold::Lower => first.as_text().map(|t| V::built(&t.to_lowercase(), first.level())),
            Fold::Upper => first.as_text().map(|t| V::built(&t.to_uppercase(), first.level())),
            Fold::Replace => self.replace(items),
            Fold::Format => Some(self.format(&first, items.get(1..).unwrap_or(&[]), args)),
            // perl's list is the rest of the arguments
            Fold::Map if self.language.lang == crate::policy::tables::Lang::Perl => {
                self.map(&first, &V::list(items.get(1..).unwrap_or(&[]).to_vec()))
            }
            Fold::Map => self.map(&first, &second),
            Fold::MapOver => self.map(&second, &first),
            Fold::Range => range(items),
            Fold::Pack => self.pack(&first, items.get(1..).unwrap_or(&[])),
            Fold::Split => self.split(&first, &second),
            Fold::Bytes => bytes(&first),
            Fold::Repeat => Some(self.combine(crate::code::tree::Operator::Multiply, &[first, second])),
            Fold::Translate => match (first.as_text(), second.as_text(), items.get(2).and_then(V::as_text)) {
                (Some(text), Some(from), Some(to)) => Some(self.hidden(&decode::translate(text, from, to))),
                _ => None,
            },
            Fold::Substr => self.substr(&first, &second, items.get(2)),
            Fold::Harmless => Some(V::open(Origin::Computed)),
            Fold::Enumerate => match &first {
                V::List(seq) => Some(V::list(
                    (0_i64..).zip(&seq.items).map(|(n, v)| V::list(vec![V::Number(n), v.clone()])).collect(),
                )),
                V::Dict(_) => self.fold(Fold::Items, None, &Args::of(vec![first])),
                _ => None,
            },
            Fold::Zip => {
                let lists = items.iter().map(|v| if let V::List(seq) = v { Some(&seq.items) } else { None });
                let lists = lists.collect::<Option<Vec<_>>>()?;
                let length = lists.iter().map(|list| list.len()).min()?;
                let row = |n: usize| V::list(lists.iter().filter_map(|list| list.get(n).cloned()).collect());
                self.spend(length.saturating_mul(lists.len()).saturating_mul(8))
                    .then(|| V::list((0..length).map(row).collect()))
            }
            Fold::Items => match &first {
                V::Dict(seq) => {
                    Some(V::list(seq.items.chunks(2).map(|pair| V::list(pair.to_vec())).collect()))
                }
                _ => None,
            },
        }
    }

    fn chr(&mut self, items: &[V]) -> Option<V> {
        let numbers: Vec<V> = items.iter().flat_map(super::acting::opened).collect();
        let text: Option<String> = numbers
            .iter()
            .map(|v| v.as_number().and_then(|n| u32::try_from(n).ok()).and_then(char::from_u32))
            .collect();
        text.map(|t| self.hidden(&t))
    }

    /// Bytes that a decoder gives; of unknown input, unknown output that was decoded.
    fn bytes_of(&mut self, of: &V, with: impl Fn(&str) -> Option<Vec<u8>>) -> Option<V> {
        self.state.hiding = self.state.hiding.saturating_add(1);
        match of.as_text() {
            Some(text) if self.spend(text.len()) => Some(
                with(text)
                    .map_or_else(|| of.decoded(), |b| V::Bytes(decode::latin(&b).into(), Built::Decoded)),
            ),
            _ => Some(of.decoded()),
        }
    }

    /// python's codecs.decode, node's Buffer.from(text, encoding).
    pub(crate) fn codec(&mut self, of: &V, name: &str) -> Option<V> {
        match name.to_ascii_lowercase().replace('_', "-").trim_end_matches("-codec") {
            "rot13" | "rot-13" => of.as_text().map(|t| self.hidden(&decode::rot13(t))),
            "hex" => self.bytes_of(of, decode::hex),
            "base64" | "base64url" => self.bytes_of(of, decode::base64),
            "zlib" | "zip" | "bz2" | "bzip2" => Some(of.decoded()),
            "unicode-escape" | "unicode-escape-decode" | "string-escape" => of
                .as_text()
                .map(|t| crate::code::escape::unescape(t, crate::code::escape::Escapes::Full, '"'))
                .map(|t| self.hidden(&t)),
            _ => Some(readable(of)),
        }
    }

    fn reverse(&mut self, of: &V) -> Option<V> {
        match of {
            V::Text(text, _) => {
                let turned: String = text.chars().rev().collect();
                Some(self.hidden(&turned))
            }
            V::List(seq) => Some(V::list(seq.items.iter().rev().cloned().collect())),
            _ => None,
        }
    }

    pub(crate) fn join(&mut self, separator: &V, list: &V) -> Option<V> {
        let items = match list {
            V::List(seq) => seq.items.clone(),
            V::Text(text, built) => {
                text.chars().map(|c| V::built(c.encode_utf8(&mut [0; 4]), *built)).collect()
            }
            other => return Some(V::Open(other.source())),
        };
        let separator = if matches!(separator, V::Nothing) { V::text("") } else { separator.clone() };
        let single = items.len() > 1 && items.iter().all(|v| v.as_text().is_some_and(|t| t.len() <= 1));
        let mut parts = Vec::with_capacity(items.len().saturating_mul(2));
        for (n, item) in items.into_iter().enumerate() {
            if n > 0 {
                parts.push(separator.clone());
            }
            parts.push(item);
        }
        let joined = self.concat(&parts);
        // letter by letter is how names are hidden
        Some(match (joined, single) {
            (V::Text(text, built), true) => V::Text(text, built.max(Built::Pieced)),
            (other, _) => other,
        })
    }

    pub(crate) fn path_join(&mut self, items: &[V]) -> V {
        let mut parts: Vec<V> = Vec::new();
        for item in items.iter().flat_map(super::acting::opened) {
            let shown = item.parts();
            let starts_at_root =
                matches!(shown.first(), Some(crate::code::found::Piece::Text(t)) if t.starts_with('/'));
            if starts_at_root {
                parts.clear();
            } else if let Some(last) = parts.last()
                && !last.shown().ends_with('/')
            {
                parts.push(V::text("/"));
            }
            parts.push(item);
        }
        self.concat(&parts)
    }

    fn replace(&mut self, items: &[V]) -> Option<V> {
        let (text, from, to) =
            (items.first()?, items.get(1)?.as_text()?, items.get(2).and_then(V::as_text).unwrap_or(""));
        match text {
            V::Text(t, built) if !from.is_empty() && self.spend(t.len().saturating_mul(to.len().max(1))) => {
                let made = t.replace(from, to);
                Some(V::built(
                    &made,
                    if made == **t { *built } else { Built::Decoded.min((*built).max(Built::Pieced)) },
                ))
            }
            V::Bytes(t, built) if !from.is_empty() && self.spend(t.len().saturating_mul(to.len().max(1))) => {
                Some(V::Bytes(t.replace(from, to).into(), (*built).max(Built::Pieced)))
            }
            _ => None,
        }
    }

    fn map(&mut self, function: &V, list: &V) -> Option<V> {
        let items = match list {
            V::List(seq) => seq.items.clone(),
            V::Text(t, _) => t.chars().map(|c| V::text(c.encode_utf8(&mut [0; 4]))).collect(),
            V::Bytes(t, _) => t.chars().map(|c| V::Number(i64::from(u32::from(c)))).collect(),
            other => {
                let with = V::Open(other.source());
                let given = self.apply(function, &Args::of(vec![with]), crate::code::tree::NOTHING);
                return Some(V::Open(given.source().worse(other.source())));
            }
        };
        let mut out = Vec::with_capacity(items.len());
        self.folding = self.folding.saturating_add(1);
        for item in items {
            if !self.may_repeat() {
                out.push(V::open(Origin::Computed));
                break;
            }
            out.push(self.apply(function, &Args::of(vec![item]), crate::code::tree::NOTHING));
        }
        self.folding = self.folding.saturating_sub(1);
        Some(V::list(out))
    }

    /// A function over a list, two by two.
    fn reduce(&mut self, items: &[V]) -> Option<V> {
        let is_function = |v: &V| matches!(v, V::Function(_) | V::Ref(_) | V::Bound(_));
        let function = items.iter().find(|v| is_function(v))?.clone();
        let V::List(seq) = items.iter().find(|v| matches!(v, V::List(_)))?.clone() else { return None };
        let start = items.iter().filter(|v| !is_function(v)).nth(1).cloned();
        let mut rest = seq.items.iter().cloned();
        let mut value = start.or_else(|| rest.next())?;
        for item in rest {
            if !self.may_repeat() {
                return Some(V::Open(joint(&seq.items)));
            }
            value = self.apply(&function, &Args::of(vec![value, item]), crate::code::tree::NOTHING);
        }
        Some(value)
    }

    fn pack(&mut self, template: &V, data: &[V]) -> Option<V> {
        let template = template.as_text()?;
        match template.chars().next()? {
            'H' => self.bytes_of(data.first()?, decode::hex).map(|v| readable(&v)),
            'm' => self.bytes_of(data.first()?, decode::base64).map(|v| readable(&v)),
            'C' | 'c' | 'U' | 'W' => self.chr(data),
            'A' | 'a' => Some(data.first()?.clone()),
            _ => None,
        }
    }

    fn split(&mut self, text: &V, separator: &V) -> Option<V> {
        let known = text.as_text()?;
        if !self.spend(known.len().saturating_mul(2)) {
            return None;
        }
        let parts: Vec<V> = match separator.as_text() {
            Some("") => known.chars().map(|c| V::built(c.encode_utf8(&mut [0; 4]), text.level())).collect(),
            Some(s) => known.split(s).map(|p| V::built(p, text.level())).collect(),
            None => known.split_whitespace().map(|p| V::built(p, text.level())).collect(),
        };
        Some(V::list(parts))
    }

    fn substr(&mut self, text: &V, offset: &V, length: Option<&V>) -> Option<V> {
        let known: Vec<char> = text.as_text()?.chars().collect();
        if !self.spend(known.len()) {
            return None;
        }
        let len = i64::try_from(known.len()).unwrap_or(0);
        let offset = offset.as_number()?;
        let from = if offset < 0 { offset.saturating_add(len) } else { offset }.clamp(0, len);
        let count = length.and_then(V::as_number).unwrap_or(len).clamp(0, len);
        let out: String =
            known.iter().skip(usize::try_from(from).ok()?).take(usize::try_from(count).ok()?).collect();
        Some(V::built(&out, text.level().max(Built::Pieced)))
    }
}

/// A text's words as a POSIX shell splits them, without expansions (shlex.split).
fn words(text: &str) -> Option<Vec<String>> {
    let mut out = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => out.extend(word.take()),
            '\\' => word.get_or_insert_default().push(chars.next()?),
            '\'' => loop {
                let word = word.get_or_insert_default();
                match chars.next()? {
                    '\'' => break,
                    other => word.push(other),
                }
            },
            '"' => loop {
                let word = word.get_or_insert_default();
                match chars.next()? {
                    '"' => break,
                    '\\' => match chars.next()? {
                        c @ ('"' | '\\') => word.push(c),
                        other => word.extend(['\\', other]),
                    },
                    other => word.push(other),
                }
            },
            other => word.get_or_insert_default().push(other),
        }
    }
    out.extend(word);
    Some(out)
}

/// Bytes read as text.
pub(crate) fn readable(of: &V) -> V {
    match of {
        V::Bytes(text, built) => V::built(&decode::utf8(text), *built),
        V::Number(n) => V::text(&n.to_string()),
        V::Object(o) if matches!(o.class, "path" | "temporary") => {
            o.args.first().cloned().unwrap_or(V::Nothing)
        }
        other => other.clone(),
    }
}

fn number(of: &V, base: &V) -> Option<V> {
    match (of, base.as_number().and_then(|b| u32::try_from(b).ok())) {
        (V::Text(text, _), Some(base @ 2..=36)) => {
            i64::from_str_radix(text.trim_start_matches("0x"), base).ok().map(V::Number)
        }
        (V::Text(text, _), _) => crate::code::scan::whole(text.trim()).map(V::Number),
        (V::Number(n), _) => Some(V::Number(*n)),
        _ => None,
    }
}

fn listed(of: &V) -> Option<V> {
    match of {
        V::List(_) => Some(of.clone()),
        V::Text(text, built) => {
            Some(V::list(text.chars().map(|c| V::built(c.encode_utf8(&mut [0; 4]), *built)).collect()))
        }
        V::Bytes(..) => bytes(of),
        _ => None,
    }
}

/// bytes([…]), bytearray(…), Buffer.from([…]): numbers to bytes, else the text as it is.
fn bytes(of: &V) -> Option<V> {
    match of {
        V::List(seq) => {
            let text: Option<String> = seq
                .items
                .iter()
                .map(|v| v.as_number().and_then(|n| u8::try_from(n).ok()).map(char::from))
                .collect();
            text.map(|t| V::Bytes(t.into(), Built::Decoded))
        }
        V::Text(..) | V::Bytes(..) => Some(of.clone()),
        _ => None,
    }
}

fn range(items: &[V]) -> Option<V> {
    let numbers: Option<Vec<i64>> = items.iter().map(V::as_number).collect();
    let numbers = numbers?;
    let (from, to, step) = match numbers.as_slice() {
        [to] => (0, *to, 1),
        [from, to] => (*from, *to, 1),
        [from, to, step] => (*from, *to, *step),
        _ => return None,
    };
    // long ranges count things; short ones may pick letters
    let count = to.checked_sub(from)?.checked_div(step)?;
    if !(0..=64).contains(&count) {
        return None;
    }
    let mut out = Vec::new();
    let mut at = from;
    while (step > 0 && at < to) || (step < 0 && at > to) {
        out.push(V::Number(at));
        at = at.checked_add(step)?;
    }
    Some(V::list(out))
}
