//! Methods that values of every language have: of texts, lists, maps.
//!
//! In: a value, a method's name, arguments. Out: what it gives; `None` if it is none of these.
//! Never: acts.

use super::call::Args;
use super::machine::Machine;
use super::value::V;
use crate::code::found::Built;
use crate::code::meaning::Fold;
use crate::policy::tables::Lang;

/// Sorted by name.
const METHODS: &[(&str, Fold)] = &[
    ("bytes", Fold::Bytes),
    ("charAt", Fold::Substr),
    ("charCodeAt", Fold::Ord),
    ("chars", Fold::List),
    ("chr", Fold::Chr),
    ("codePointAt", Fold::Ord),
    ("decode64", Fold::Base64),
    ("downcase", Fold::Lower),
    ("encode", Fold::Same),
    ("flatten", Fold::Same),
    ("format", Fold::Format),
    ("gsub", Fold::Replace),
    ("hex", Fold::Number),
    ("items", Fold::Items),
    ("lower", Fold::Lower),
    ("map", Fold::MapOver),
    ("ord", Fold::Ord),
    ("pack", Fold::Pack),
    ("rep", Fold::Repeat),
    ("repeat", Fold::Repeat),
    ("replace", Fold::Replace),
    ("replaceAll", Fold::Replace),
    ("reverse", Fold::Reverse),
    ("rot13", Fold::Rot13),
    ("rstrip", Fold::Same),
    ("split", Fold::Split),
    ("sub", Fold::Replace),
    ("substr", Fold::Substr),
    ("substring", Fold::Substr),
    ("swapcase", Fold::Same),
    ("toLowerCase", Fold::Lower),
    ("toUpperCase", Fold::Upper),
    ("to_i", Fold::Number),
    ("to_s", Fold::Text),
    ("tr", Fold::Translate),
    ("upcase", Fold::Upper),
    ("upper", Fold::Upper),
];

impl Machine<'_, '_> {
    pub(crate) fn value_method(&mut self, of: &V, name: &str, args: &Args) -> Option<V> {
        let is_text = matches!(of, V::Text(..) | V::Bytes(..) | V::Mixed(..));
        if !is_text && !matches!(of, V::List(_) | V::Dict(_) | V::Number(_)) {
            return None;
        }
        match (name, of) {
            ("join", V::List(_)) => return self.fold(Fold::Implode, Some(of), args),
            ("join", _) => return self.fold(Fold::Join, Some(of), args),
            ("decode" | "toString" | "force_encoding", _) => {
                return self.codec(of, args.at(0).as_text().unwrap_or(""));
            }
            ("strip" | "trim" | "chomp" | "strip!" | "lstrip" | "trimEnd", V::Text(text, built))
                if args.items.is_empty() =>
            {
                return Some(V::built(text.trim(), *built));
            }
            (
                "map" | "collect" | "each" | "forEach" | "flatMap" | "filter" | "select" | "each_with_index",
                _,
            ) if matches!(args.items.last(), Some(V::Function(_) | V::Ref(_) | V::Bound(_))) => {
                let function = args.items.last().cloned().unwrap_or(V::Nothing);
                return self.fold(Fold::Map, None, &Args::of(vec![function, of.clone()]));
            }
            ("unpack" | "unpack1", V::Text(..)) => {
                let template = args.at(0);
                return if template.as_text().is_some_and(|t| t.starts_with(['m', 'u'])) {
                    self.fold(Fold::Base64, Some(of), &Args::default()).map(|v| super::fold::readable(&v))
                } else {
                    None
                };
            }
            ("pack", V::List(seq)) => {
                return self.fold(
                    Fold::Pack,
                    None,
                    &Args::of([&[args.at(0)], seq.items.as_slice()].concat()),
                );
            }
            ("get" | "fetch" | "dig", V::Dict(seq)) => {
                return super::operator::lookup(&seq.items, &args.at(0))
                    .or_else(|| args.items.get(1).cloned());
            }
            ("values", V::Dict(seq)) => {
                return Some(V::list(seq.items.iter().skip(1).step_by(2).cloned().collect()));
            }
            ("keys", V::Dict(seq)) => return Some(V::list(seq.items.iter().step_by(2).cloned().collect())),
            ("concat" | "push" | "append" | "unshift" | "+", _) => {
                let items = [std::slice::from_ref(of), args.items.as_slice()].concat();
                return Some(self.combine(crate::code::tree::Operator::Add, &items));
            }
            ("reduce" | "inject", V::List(_)) => {
                let items = [std::slice::from_ref(of), args.items.as_slice()].concat();
                return self.fold(Fold::Reduce, None, &Args::of(items));
            }
            ("slice", V::List(seq)) => {
                let from = args.items.first().map_or(Some(0), V::as_number)?;
                let from = usize::try_from(from).ok()?;
                let until = match args.items.get(1) {
                    Some(end) => usize::try_from(end.as_number()?).ok()?,
                    None => seq.items.len(),
                };
                let until = until.min(seq.items.len());
                return Some(V::list(seq.items.get(from.min(until)..until).unwrap_or(&[]).to_vec()));
            }
            ("slice", V::Text(text, built)) => {
                let from = args.at(0).as_number().and_then(|n| usize::try_from(n).ok());
                return from.and_then(|n| text.get(n..)).map(|t| V::built(t, (*built).max(Built::Pieced)));
            }
            ("charAt", _) => return Some(self.index(of.clone(), &args.at(0), crate::code::tree::NOTHING)),
            ("gsub" | "sub" | "replace" | "replaceAll", _)
                if args.items.is_empty() || !matches!(args.at(0), V::Text(..) | V::Bytes(..)) =>
            {
                return None;
            }
            ("split", _) if args.items.is_empty() && self.language.lang == Lang::Node => {
                return Some(V::list(vec![of.clone()]));
            }
            _ => {}
        }
        let fold = METHODS
            .binary_search_by(|(n, _)| (*n).cmp(name))
            .ok()
            .and_then(|i| METHODS.get(i))
            .map(|(_, f)| *f)?;
        self.fold(fold, Some(of), args)
    }
}

#[cfg(test)]
mod tests {
    use super::METHODS;

    #[test]
    fn methods_are_sorted() {
        assert!(METHODS.is_sorted_by_key(|(name, _)| *name));
    }
}
