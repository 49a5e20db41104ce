//! Operators, indexes and slices over values.
//!
//! In: values. Out: values.
//! Never: acts.

use super::machine::Machine;
use super::value::{LIST_LIMIT, V, joint};
use crate::code::found::{Built, Origin, What};
use crate::code::tree::{Id, NOTHING, Operator};
use crate::policy::tables::Lang;

/// Repetitions of a text past which memory is what it is for.
const FLOOD: i64 = 1_000_000_000;

impl Machine<'_, '_> {
    pub(crate) fn chain(&mut self, op: Operator, kids: &[Id]) -> V {
        if let (Operator::Test, [target, change]) = (op, kids)
            && self.changed(*target, *change)
        {
            return V::open(Origin::Computed);
        }
        let values: Vec<V> = kids.iter().map(|k| self.eval(*k)).collect();
        if op == Operator::Multiply
            && values.iter().any(|v| v.as_number().is_some_and(|n| n >= FLOOD))
            && values.iter().any(|v| matches!(v, V::Text(..) | V::List(_) | V::Bytes(..)))
            && let Some(id) = kids.first()
        {
            self.act(What::Exhaust, vec![V::text("memory")], *id);
        }
        self.combine(op, &values)
    }

    pub(crate) fn combine(&mut self, op: Operator, values: &[V]) -> V {
        let numbers: Option<Vec<i64>> =
            values.iter().map(|v| if let V::Number(n) = v { Some(*n) } else { None }).collect();
        if let Some(value) = numbers.as_deref().and_then(|n| arithmetic(op, n)) {
            return V::Number(value);
        }
        match op {
            Operator::Add => self.add(values),
            Operator::Concat => self.concat(values),
            Operator::Multiply => self.repeated(values),
            Operator::Percent => match values {
                [V::Text(..) | V::Mixed(..) | V::Bytes(..), args] => {
                    let args = match args {
                        V::List(seq) => seq.items.clone(),
                        other => vec![other.clone()],
                    };
                    self.percent(&values.first().cloned().unwrap_or(V::Nothing), &args)
                }
                _ => V::Open(joint(values)),
            },
            Operator::Divide => self.divided(values),
            Operator::Or => {
                let first_known = values
                    .first()
                    .filter(|v| {
                        matches!(v, V::Text(t, _) if !t.is_empty()) || matches!(v, V::Number(n) if *n != 0)
                    })
                    .cloned();
                first_known.unwrap_or_else(|| {
                    V::any(values.iter().filter(|v| !matches!(v, V::Nothing)).cloned().collect())
                })
            }
            Operator::And | Operator::Other => values.last().cloned().unwrap_or(V::Nothing),
            Operator::Range => range(values),
            Operator::Test => V::open(Origin::Computed),
            Operator::BitOr
                if self.language.lang == Lang::Python && values.iter().all(|v| matches!(v, V::Dict(_))) =>
            {
                V::dict(
                    values
                        .iter()
                        .flat_map(|v| if let V::Dict(s) = v { s.items.clone() } else { Vec::new() })
                        .collect(),
                )
            }
            Operator::ShiftLeft if matches!(values.first(), Some(V::List(_) | V::Text(..))) => {
                self.add(values)
            }
            Operator::Subtract
            | Operator::Xor
            | Operator::BitAnd
            | Operator::BitOr
            | Operator::ShiftLeft
            | Operator::ShiftRight
            | Operator::Power
            | Operator::Not
            | Operator::Negate
            | Operator::Invert => V::Open(joint(values)),
        }
    }

    fn add(&mut self, values: &[V]) -> V {
        if values.iter().all(|v| matches!(v, V::List(_))) {
            let items: Vec<V> = values
                .iter()
                .flat_map(|v| if let V::List(s) = v { s.items.clone() } else { Vec::new() })
                .collect();
            return if self.spend(items.len().saturating_mul(8)) {
                V::list(items)
            } else {
                V::open(Origin::Computed)
            };
        }
        if values.iter().any(|v| matches!(v, V::List(_))) && self.language.lang != Lang::Node {
            let items = values
                .iter()
                .flat_map(|v| if let V::List(s) = v { s.items.clone() } else { vec![v.clone()] })
                .collect();
            return V::list(items);
        }
        self.concat(values)
    }

    fn repeated(&mut self, values: &[V]) -> V {
        let (Some(what), Some(count)) = (values.first(), values.get(1).and_then(V::as_number)) else {
            return V::Open(joint(values));
        };
        let (what, count) = match (what, values.get(1)) {
            (V::Number(n), Some(text)) if !matches!(text, V::Number(_)) => (text.clone(), *n),
            _ => (what.clone(), count),
        };
        let count = usize::try_from(count).unwrap_or(0);
        match &what {
            V::Text(t, b) | V::Bytes(t, b)
                if t.len().saturating_mul(count) <= 64 * 1024
                    && self.spend(t.len().saturating_mul(count)) =>
            {
                let text = t.repeat(count);
                if matches!(what, V::Bytes(..)) { V::Bytes(text.into(), *b) } else { V::built(&text, *b) }
            }
            V::List(seq)
                if seq.items.len().saturating_mul(count) <= LIST_LIMIT
                    && self.spend(seq.items.len().saturating_mul(count).saturating_mul(8)) =>
            {
                V::list(std::iter::repeat_n(seq.items.iter().cloned(), count).flatten().collect())
            }
            _ => V::Open(joint(values)),
        }
    }

    /// pathlib's `a / b`.
    fn divided(&mut self, values: &[V]) -> V {
        let is_path =
            values.iter().any(|v| matches!(v, V::Object(o) if o.class == "path") || matches!(v, V::Text(..)));
        if !is_path {
            return V::Open(joint(values));
        }
        let joined = self.path_join(values);
        V::object("path", vec![joined])
    }

    pub(crate) fn unary(op: Operator, of: &V) -> V {
        match (op, of) {
            (Operator::Negate, V::Number(n)) => V::Number(n.wrapping_neg()),
            (Operator::Negate, V::Text(t, b)) => V::built(&format!("-{t}"), *b),
            (Operator::Invert, V::Number(n)) => V::Number(!n),
            _ => V::Open(of.source()),
        }
    }

    pub(crate) fn index(&mut self, of: V, index: &V, id: Id) -> V {
        if let V::Any(seq) = &of {
            return V::any(seq.items.iter().map(|o| self.index(o.clone(), index, id)).collect());
        }
        if let (V::Any(seq), false) = (index, matches!(of, V::Open(_))) {
            return V::any(seq.items.iter().map(|i| self.index(of.clone(), i, id)).collect());
        }
        match (&of, index) {
            (V::List(seq), _) if index.as_number().is_some() => {
                at(&seq.items, index.as_number().unwrap_or(0)).unwrap_or(V::Nothing)
            }
            // perl's maps are lists of keys and values until they are looked into
            (V::List(seq), V::Text(..)) if self.language.lang == Lang::Perl => {
                lookup(&seq.items, index).unwrap_or(V::Nothing)
            }
            (V::Dict(seq), _) => lookup(&seq.items, index).unwrap_or_else(|| V::Open(of.source())),
            (V::Text(text, built), V::Number(n)) => {
                let len = i64::try_from(text.len()).unwrap_or(0);
                let n = if *n < 0 { n.saturating_add(len) } else { *n };
                usize::try_from(n)
                    .ok()
                    .and_then(|n| {
                        if text.is_ascii() {
                            text.get(n..n.saturating_add(1)).map(ToOwned::to_owned)
                        } else {
                            text.chars().nth(n).map(String::from)
                        }
                    })
                    .map_or(V::Nothing, |c| V::built(&c, (*built).max(Built::Pieced)))
            }
            (V::Bytes(text, _), V::Number(n)) => usize::try_from(*n)
                .ok()
                .and_then(|n| text.chars().nth(n))
                .map_or(V::Nothing, |c| V::Number(i64::from(u32::from(c)))),
            (V::Open(source), _) => match (source.origin, index.as_text(), index.as_number()) {
                (Origin::Environment, Some(name), _) => V::from(Origin::Variable, name),
                (Origin::Argument, _, Some(n)) if source.detail.is_empty() => {
                    V::from(Origin::Argument, &n.to_string())
                }
                _ => of,
            },
            (V::Ref(name), V::Text(key, _))
                if matches!(&**name, "sys.modules" | "globals()" | "__globals__") =>
            {
                // the globals of a function of `os` hold its members
                let of_os = format!("os.{key}");
                if &**name == "__globals__" && self.means(key).is_none() && self.means(&of_os).is_some() {
                    self.reference(&of_os)
                } else {
                    self.name(key)
                }
            }
            (V::Ref(_) | V::Object(_) | V::Function(_), V::Text(key, _)) => self.member(of.clone(), key, id),
            (V::Ref(name), _) => {
                let name = name.clone();
                self.chosen(&name, index, id);
                V::open(Origin::Unknown)
            }
            (V::Bound(_) | V::List(_) | V::Text(..) | V::Number(_), V::Text(key, _))
                if self.language.lang == Lang::Node =>
            {
                self.member(of.clone(), key, id)
            }
            (V::Object(o), _) if o.class == "temporary" => of,
            _ => V::Open(of.source()),
        }
    }

    pub(crate) fn slice(&mut self, kids: &[Id]) -> V {
        let mut values = kids.iter().map(|k| if *k == NOTHING { V::Nothing } else { self.eval(*k) });
        let of = values.next().unwrap_or(V::Nothing);
        let bounds: Vec<Option<i64>> = values.map(|v| v.as_number()).collect();
        let bound = |n: usize| bounds.get(n).copied().flatten();
        let step = bound(2).unwrap_or(1);
        match &of {
            V::Text(text, built) => {
                let chars: Vec<char> = text.chars().collect();
                let out: String = sliced(&chars, bound(0), bound(1), step).into_iter().collect();
                if step == 1 && self.spend(out.len()) { V::built(&out, *built) } else { self.hidden(&out) }
            }
            V::Bytes(text, built) => {
                let chars: Vec<char> = text.chars().collect();
                let out: String = sliced(&chars, bound(0), bound(1), step).into_iter().collect();
                V::Bytes(out.into(), if step == 1 { *built } else { Built::Decoded })
            }
            V::List(seq) => V::list(sliced(&seq.items, bound(0), bound(1), step)),
            V::Open(source) if source.origin == Origin::Argument => V::open(Origin::Argument),
            _ => V::Open(of.source()),
        }
    }
}

fn arithmetic(op: Operator, numbers: &[i64]) -> Option<i64> {
    let step: fn(i64, i64) -> Option<i64> = match op {
        Operator::Add => i64::checked_add,
        Operator::Subtract => i64::checked_sub,
        Operator::Multiply => i64::checked_mul,
        Operator::Xor => |a, b| Some(a ^ b),
        Operator::BitAnd => |a, b| Some(a & b),
        Operator::BitOr => |a, b| Some(a | b),
        Operator::Divide => i64::checked_div,
        Operator::Percent => i64::checked_rem,
        Operator::ShiftLeft => |a, b| u32::try_from(b).ok().and_then(|b| a.checked_shl(b)),
        Operator::ShiftRight => |a, b| u32::try_from(b).ok().and_then(|b| a.checked_shr(b)),
        Operator::Power => |a, b| u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
        Operator::Concat
        | Operator::And
        | Operator::Or
        | Operator::Not
        | Operator::Negate
        | Operator::Invert
        | Operator::Test
        | Operator::Range
        | Operator::Other => return None,
    };
    let (first, rest) = numbers.split_first()?;
    rest.iter().try_fold(*first, |a, b| step(a, *b))
}

fn range(values: &[V]) -> V {
    match (values.first().and_then(V::as_number), values.get(1).and_then(V::as_number)) {
        (Some(from), Some(to)) if to.saturating_sub(from) < 64 => {
            V::list((from..=to).map(V::Number).collect())
        }
        _ => V::open(Origin::Computed),
    }
}

fn at(items: &[V], n: i64) -> Option<V> {
    let n = if n < 0 { n.saturating_add(i64::try_from(items.len()).unwrap_or(0)) } else { n };
    items.get(usize::try_from(n).ok()?).cloned()
}

/// The value of a key; the last one counts.
pub(crate) fn lookup(items: &[V], key: &V) -> Option<V> {
    let same = |k: &V| match (k.as_text(), key.as_text()) {
        (Some(a), Some(b)) => a == b,
        _ => k == key,
    };
    items.chunks(2).rev().find(|pair| pair.first().is_some_and(same)).and_then(|pair| pair.get(1).cloned())
}

/// python's slice.
fn sliced<T: Clone>(items: &[T], from: Option<i64>, to: Option<i64>, step: i64) -> Vec<T> {
    let len = i64::try_from(items.len()).unwrap_or(0);
    let place = |n: i64| if n < 0 { n.saturating_add(len) } else { n };
    let stride = usize::try_from(step.unsigned_abs()).unwrap_or(1).max(1);
    let index = |n: i64| usize::try_from(n.clamp(0, len)).unwrap_or(0);
    if step > 0 {
        let (from, to) = (index(place(from.unwrap_or(0))), index(place(to.unwrap_or(len))));
        items.get(from..to.max(from)).unwrap_or(&[]).iter().step_by(stride).cloned().collect()
    } else {
        let high = from.map_or(len, |n| place(n).saturating_add(1));
        let low = to.map_or(0, |n| place(n).saturating_add(1));
        let (low, high) = (index(low), index(high));
        items.get(low..high.max(low)).unwrap_or(&[]).iter().rev().step_by(stride).cloned().collect()
    }
}
