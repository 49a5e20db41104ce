//! Brace expansion (bash manual, "Brace Expansion"), over a word's pieces.
//!
//! In: pieces of one word. Out: the pieces of each resulting word, bounded in number.
//! Never: looks into quoted pieces.

use crate::canonical::respell;
use crate::canonical::value::HOLE;
use crate::syntax::tree::{Piece, QuoteForm};

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
pub(super) enum Atom {
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
    if matches!(group(&atoms), Found::Nothing) {
        return Braces::None;
    }
    let words = words(&atoms, 0);
    let pieces = words.and_then(|list| list.iter().map(|w| respell::pieces(w)).collect::<Option<Vec<_>>>());
    pieces.map_or(Braces::TooMany, Braces::Words)
}

fn is(atom: &Atom, c: char) -> bool {
    matches!(atom, Atom::Char(x) if *x == c)
}

/// Longest text between braces that may be a range.
const RANGE_LENGTH: usize = 64;

/// Most opening braces that are tried in vain; each may cost a look at the whole word.
const TRIES: usize = 256;

/// A group of braces: where it opens and closes, and the commas on its level.
#[derive(Debug)]
struct Group {
    start: usize,
    end: usize,
    commas: Vec<usize>,
}

/// What braces a word has.
enum Found {
    Nothing,
    Group(Group),
    /// more openings than are tried
    TooMany,
}

/// The first brace that bash closes: at the first closing one of its level that has a comma or `..` before it.
fn group(atoms: &[Atom]) -> Found {
    let openings = atoms.iter().enumerate().filter(|(_, atom)| is(atom, '{'));
    for (tries, (start, _)) in openings.enumerate() {
        if tries >= TRIES {
            return Found::TooMany;
        }
        // `{}` at the beginning is find's and xargs'; behind a blank with a backslash, too
        let before = start.checked_sub(1).and_then(|at| atoms.get(at));
        let begins = before.is_none_or(|atom| {
            matches!(atom, Atom::Whole(Piece::Quoted(text, QuoteForm::Backslash)) if text.ends_with([' ', '\t']))
        });
        let empty = begins && atoms.get(start + 1).is_some_and(|a| is(a, '}'));
        if !empty && let Some(group) = closed(atoms, start) {
            return Found::Group(group);
        }
    }
    Found::Nothing
}

fn closed(atoms: &[Atom], start: usize) -> Option<Group> {
    let (mut level, mut commas, mut dots) = (0_usize, Vec::new(), false);
    for (at, atom) in atoms.iter().enumerate().skip(start + 1) {
        let Atom::Char(c) = atom else { continue };
        match c {
            '{' => level += 1,
            '}' if level > 0 => level -= 1,
            '}' if dots || !commas.is_empty() => return Some(Group { start, end: at, commas }),
            ',' if level == 0 => commas.push(at),
            '.' if level == 0 => {
                let next = |ahead: usize, c: char| atoms.get(at + ahead).is_some_and(|a| is(a, c));
                dots |= next(1, '.') && !next(2, '}');
            }
            _ => {}
        }
    }
    None
}

fn text_of(atoms: &[Atom]) -> Option<String> {
    atoms.iter().map(|a| if let Atom::Char(c) = a { Some(*c) } else { None }).collect()
}

fn words(atoms: &[Atom], depth: usize) -> Option<Vec<Vec<Atom>>> {
    if depth > 32 {
        return None;
    }
    let Group { start, end, commas } = match group(atoms) {
        Found::Nothing => return Some(vec![atoms.to_vec()]),
        Found::TooMany => return None,
        Found::Group(group) => group,
    };
    let inner = atoms.get(start + 1..end)?;
    let mut middles: Vec<Vec<Atom>> = Vec::new();
    if commas.is_empty() && !inner.iter().any(|a| is(a, ',')) {
        let text = if inner.len() <= RANGE_LENGTH { text_of(inner) } else { None };
        match text.map_or(Range::None, |text| range(&text)) {
            Range::Items(items) => middles.extend(items.iter().map(|i| i.chars().map(Atom::Char).collect())),
            // any number stands for those between
            Range::Numbers(ends) => {
                middles.extend(ends.iter().map(|i| i.chars().map(Atom::Char).collect()));
                middles.push(vec![Atom::Char(HOLE)]);
            }
            Range::None => middles.push(atoms.get(start..=end)?.to_vec()),
            Range::Unclear => return None,
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

/// What stands between braces without a comma.
#[derive(Debug, PartialEq, Eq)]
enum Range {
    /// nothing that expands
    None,
    Items(Vec<String>),
    /// more than are looked at: the first and the last
    Numbers([String; 2]),
    /// characters between the letters' blocks: bash takes its own backslash and backquote for quotes
    Unclear,
}

/// `a..z`, `1..10`, `01..10..2`
fn range(text: &str) -> Range {
    let parts: Vec<&str> = text.split("..").collect();
    let (first, last, step) = match parts.as_slice() {
        [a, b] => (*a, *b, Some(1_i64)),
        [a, b, s] => (*a, *b, s.parse::<i64>().ok().and_then(i64::checked_abs).map(|s| s.max(1))),
        _ => return Range::None,
    };
    let Some(step) = step else { return Range::None };
    if let (Ok(a), Ok(b)) = (first.parse::<i64>(), last.parse::<i64>()) {
        let padded =
            |t: &str| t.trim_start_matches('-').len() > 1 && t.trim_start_matches('-').starts_with('0');
        let width = if padded(first) || padded(last) { first.len().max(last.len()) } else { 0 };
        let written = |n: i64| format!("{n:0width$}");
        return match numbers(a, b, step) {
            Some(all) => Range::Items(all.into_iter().map(written).collect()),
            None => Range::Numbers([written(a), written(b)]),
        };
    }
    let (mut head, mut tail) = (first.chars(), last.chars());
    match (head.next(), head.next(), tail.next(), tail.next()) {
        (Some(x), None, Some(y), None) if x.is_ascii_alphabetic() && y.is_ascii_alphabetic() => {
            let codes = numbers(i64::from(u32::from(x)), i64::from(u32::from(y)), step).unwrap_or_default();
            let letters = codes
                .iter()
                .filter_map(|n| u32::try_from(*n).ok().and_then(char::from_u32))
                .collect::<Vec<_>>();
            if letters.iter().all(char::is_ascii_alphabetic) {
                Range::Items(letters.into_iter().map(String::from).collect())
            } else {
                Range::Unclear
            }
        }
        _ => Range::None,
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
            ("{1..100000}", "1|100000|\u{10FE00}"),
            ("/et{c..c}", "/etc"),
            ("{1..1}{a,b}", "1a|1b"),
            ("{a..C}", "<too many>"),
            ("{a..c..x}", "{a..c..x}"),
            ("{x},/etc}", "x}|/etc"),
            ("{{a},b}", "{a}|b"),
            ("{a,b}}", "a}|b}"),
            ("{a,b{,c}", "{a,b|{a,bc"),
            ("{a..{b,c}}", "a..b|a..c"),
            ("{a..}b,c}", "a..}b|c"),
            ("{1..2}..3}", "1..3}|2..3}"),
            ("x{a},b}y{c,d}", "xa}yc|xa}yd|xbyc|xbyd"),
            ("{},a}", "{},a}"),
            ("{}{a,b}", "{}a|{}b"),
            ("{a}{b},c}", "a}{b}|c"),
            ("{1..2x}{a,b}", "{1..2x}a|{1..2x}b"),
        ] {
            assert_eq!(bare(text).join("|"), want, "{text}");
        }
    }
}
