//! Brace expansion (bash manual, "Brace Expansion"), over a word's pieces.
//!
//! In: pieces of one word. Out: the pieces of each resulting word, bounded in number.
//! Never: looks into quoted pieces.

use crate::syntax::tree::Piece;

/// How many words one word may become.
const LIMIT: usize = 512;

#[derive(Debug, PartialEq, Eq)]
pub enum Braces {
    None,
    Words(Vec<Vec<Piece>>),
    TooMany,
}

/// One live character, or a piece that is taken whole.
#[derive(Clone, Debug)]
enum Atom {
    Char(char),
    Whole(Piece),
}

pub fn expand(pieces: &[Piece]) -> Braces {
    let live = pieces.iter().any(|p| matches!(p, Piece::Bare(t) if t.contains('{')));
    if !live {
        return Braces::None;
    }
    let mut atoms = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Bare(text) => atoms.extend(text.chars().map(Atom::Char)),
            Piece::Quoted(..)
            | Piece::Tilde(_)
            | Piece::Parameter(..)
            | Piece::Command(..)
            | Piece::Arithmetic(..)
            | Piece::Process(..) => atoms.push(Atom::Whole(piece.clone())),
        }
    }
    match words(&atoms, 0) {
        Some(list) if list.len() == 1 => Braces::None,
        Some(list) => Braces::Words(list.into_iter().map(|w| pieces_of(&w)).collect()),
        None => Braces::TooMany,
    }
}

fn pieces_of(atoms: &[Atom]) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    for atom in atoms {
        match (atom, out.last_mut()) {
            (Atom::Char(c), Some(Piece::Bare(text))) => text.push(*c),
            (Atom::Char(c), _) => out.push(Piece::Bare(c.to_string())),
            (Atom::Whole(piece), _) => out.push(piece.clone()),
        }
    }
    out
}

fn is(atom: &Atom, c: char) -> bool {
    matches!(atom, Atom::Char(x) if *x == c)
}

/// Longest text between braces that may be a range.
const RANGE_LENGTH: usize = 64;

/// The first brace group: positions of `{` and `}` and of the commas on its level. Looks at each atom once.
fn group(atoms: &[Atom]) -> Option<(usize, usize, Vec<usize>)> {
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut first: Option<(usize, usize, Vec<usize>)> = None;
    for (i, atom) in atoms.iter().enumerate() {
        if is(atom, '{') {
            open.push((i, Vec::new()));
        } else if is(atom, ',') {
            if let Some((_, commas)) = open.last_mut() {
                commas.push(i);
            }
        } else if is(atom, '}')
            && let Some((start, commas)) = open.pop()
        {
            let expands = !commas.is_empty() || is_range(atoms.get(start + 1..i)?);
            // a group that closes later but began earlier holds this one
            if expands && first.as_ref().is_none_or(|(other, ..)| start < *other) {
                first = Some((start, i, commas));
            }
            if first.is_some() && open.is_empty() {
                break;
            }
        }
    }
    first
}

fn text_of(atoms: &[Atom]) -> Option<String> {
    atoms.iter().map(|a| if let Atom::Char(c) = a { Some(*c) } else { None }).collect()
}

fn is_range(atoms: &[Atom]) -> bool {
    atoms.len() <= RANGE_LENGTH && text_of(atoms).is_some_and(|t| range(&t).is_some())
}

fn words(atoms: &[Atom], depth: usize) -> Option<Vec<Vec<Atom>>> {
    if depth > 32 {
        return None;
    }
    let Some((start, end, commas)) = group(atoms) else {
        return Some(vec![atoms.to_vec()]);
    };
    let mut middles: Vec<Vec<Atom>> = Vec::new();
    if commas.is_empty() {
        let text = text_of(atoms.get(start + 1..end)?)?;
        for item in range(&text)? {
            middles.push(item.chars().map(Atom::Char).collect());
        }
    } else {
        let mut from = start + 1;
        for comma in commas.iter().copied().chain([end]) {
            middles.extend(words(atoms.get(from..comma)?, depth + 1)?);
            from = comma + 1;
        }
    }
    let tails = words(atoms.get(end + 1..)?, depth + 1)?;
    if middles.len().saturating_mul(tails.len()) > LIMIT {
        return None;
    }
    let mut out = Vec::new();
    for middle in &middles {
        for tail in &tails {
            let mut word = atoms.get(..start)?.to_vec();
            word.extend(middle.iter().cloned());
            word.extend(tail.iter().cloned());
            out.push(word);
        }
    }
    Some(out)
}

/// `a..z`, `1..10`, `01..10..2`: the items; `None` where it is no range or has too many.
fn range(text: &str) -> Option<Vec<String>> {
    let parts: Vec<&str> = text.split("..").collect();
    let (first, last, step) = match parts.as_slice() {
        [a, b] => (*a, *b, 1_i64),
        [a, b, s] => (*a, *b, s.parse::<i64>().ok()?.checked_abs()?.max(1)),
        _ => return None,
    };
    if let (Ok(a), Ok(b)) = (first.parse::<i64>(), last.parse::<i64>()) {
        let padded =
            |t: &str| t.trim_start_matches('-').len() > 1 && t.trim_start_matches('-').starts_with('0');
        let width = if padded(first) || padded(last) { first.len().max(last.len()) } else { 0 };
        return numbers(a, b, step).map(|n| n.iter().map(|i| format!("{i:0width$}")).collect());
    }
    let (mut head, mut tail) = (first.chars(), last.chars());
    match (head.next(), head.next(), tail.next(), tail.next()) {
        (Some(x), None, Some(y), None) if x.is_ascii_alphabetic() && y.is_ascii_alphabetic() => {
            let codes = numbers(i64::from(u32::from(x)), i64::from(u32::from(y)), step)?;
            codes.iter().map(|n| u32::try_from(*n).ok().and_then(char::from_u32).map(String::from)).collect()
        }
        _ => None,
    }
}

fn numbers(a: i64, b: i64, step: i64) -> Option<Vec<i64>> {
    let count = usize::try_from(a.abs_diff(b) / step.unsigned_abs()).ok()?;
    if count >= LIMIT {
        return None;
    }
    let sign = if a <= b { step } else { step.checked_neg()? };
    let mut out = vec![a];
    let mut at = a;
    for _ in 0..count {
        at = at.checked_add(sign)?;
        out.push(at);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bare(text: &str) -> Vec<String> {
        match expand(&[Piece::Bare(text.to_owned())]) {
            Braces::None => vec![text.to_owned()],
            Braces::TooMany => vec!["<too many>".to_owned()],
            Braces::Words(words) => words
                .iter()
                .map(|w| {
                    w.iter().map(|p| if let Piece::Bare(t) = p { t.clone() } else { String::new() }).collect()
                })
                .collect(),
        }
    }

    #[test]
    fn braces_expand_as_in_bash() {
        for (text, want) in [
            ("{rm,-rf,/etc}", "rm|-rf|/etc"),
            ("a{b,c}d{1..3}", "abd1|abd2|abd3|acd1|acd2|acd3"),
            ("{a,{b,c}}", "a|b|c"),
            ("{}", "{}"),
            ("{a}", "{a}"),
            ("{01..03}", "01|02|03"),
            ("{c..a}", "c|b|a"),
            ("{5..1..2}", "5|3|1"),
            ("a{,b}", "a|ab"),
            ("{{a,b}", "{a|{b"),
            ("{1..100000}", "{1..100000}"),
        ] {
            assert_eq!(bare(text).join("|"), want, "{text}");
        }
    }
}
