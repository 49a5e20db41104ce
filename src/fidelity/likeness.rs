//! Which of several intents a changed text most likely came from.
//!
//! In: texts that were meant, the text that arrived. Out: [`Likely`]. Never: chooses between two that explain
//! it about as well.

use std::collections::HashMap;

use crate::fidelity::mechanism::{embedded, explained};

/// Candidates that are looked at, the newest first.
pub const MOST: usize = 32;
/// Share of common tokens, in thousandths, from which a text is taken for a changed form of another.
const LEAST: usize = 500;
/// By how much the best must lead.
const LEAD: usize = 150;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likely {
    None,
    /// this candidate's place
    One(usize),
    Several,
}

/// Chooses among candidates none of which is equal to the text.
pub fn choose(candidates: &[&[u8]], body: &[u8], whole: &[u8]) -> Likely {
    let exactly: Vec<usize> = places(candidates, |meant| explains(meant, body) || explains(meant, whole));
    match exactly.as_slice() {
        [one] => return Likely::One(*one),
        [first, rest @ ..] => {
            // the same text meant twice: whichever is taken
            let same = rest.iter().all(|at| candidates.get(*at) == candidates.get(*first));
            return if same { Likely::One(*first) } else { Likely::Several };
        }
        [] => {}
    }
    let received = tokens(body);
    let mut scores: Vec<(usize, usize)> =
        candidates.iter().enumerate().map(|(at, meant)| (common(&tokens(meant), &received), at)).collect();
    scores.sort_unstable_by_key(|(score, at)| (std::cmp::Reverse(*score), *at));
    match scores.as_slice() {
        [(best, at), rest @ ..] if *best >= LEAST => {
            let rival = rest.iter().find(|(_, other)| candidates.get(*other) != candidates.get(*at));
            match rival {
                Some((second, _)) if best.saturating_sub(*second) < LEAD => Likely::Several,
                Some(_) | None => Likely::One(*at),
            }
        }
        _ => Likely::None,
    }
}

fn places(candidates: &[&[u8]], is: impl Fn(&[u8]) -> bool) -> Vec<usize> {
    candidates.iter().enumerate().filter(|(_, meant)| is(meant)).map(|(at, _)| at).collect()
}

/// Whether a known change makes the received text of what was meant: all bytes, a part, or all and more.
fn explains(meant: &[u8], received: &[u8]) -> bool {
    // a piece of a few bytes is a piece of many texts
    let telling = |piece: &[u8]| piece.len() >= 12;
    explained(meant, received).is_some()
        || telling(received) && (meant.starts_with(received) || meant.ends_with(received))
        || telling(meant) && memchr::memmem::find(received, meant).is_some()
        || embedded(meant, received).is_some()
}

/// Runs of letters and digits, and each other byte but white space, counted.
fn tokens(text: &[u8]) -> HashMap<&[u8], usize> {
    let mut out: HashMap<&[u8], usize> = HashMap::new();
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let text = text.get(..16 << 10).unwrap_or(text);
    for piece in text.chunk_by(|a, b| word(a) && word(b)) {
        if !piece.trim_ascii().is_empty() {
            *out.entry(piece).or_default() += 1;
        }
    }
    out
}

/// Dice's measure of two bags of tokens, in thousandths.
fn common(one: &HashMap<&[u8], usize>, other: &HashMap<&[u8], usize>) -> usize {
    let all: usize = one.values().sum::<usize>() + other.values().sum::<usize>();
    let both: usize =
        one.iter().map(|(token, count)| other.get(token).map_or(0, |others| *count.min(others))).sum();
    (2000 * both).checked_div(all).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(candidates: &[&str], received: &str) -> Likely {
        let candidates: Vec<&[u8]> = candidates.iter().map(|text| text.as_bytes()).collect();
        choose(&candidates, received.as_bytes(), received.as_bytes())
    }

    #[test]
    fn the_one_that_explains_the_text_is_chosen() {
        for (candidates, received, expected) in [
            (&[r"grep 'a\\b' x", r"grep 'a\\c' x"][..], r"grep 'a\b' x", Likely::One(0)),
            (&["cat <<E\nx\nE\n", "cat <<E\ny\nE\n"], "cat <<E\ny\nE", Likely::One(1)),
            (&["git log --oneline -n 5", "ls -la"], "git log --oneline -n 6", Likely::One(0)),
            (&["git log -n 5 a", "git log -n 5 b"], "git log -n 5 c", Likely::Several),
            (&["git log -n 5 a", "git log -n 5 a"], "git log -n 5 c", Likely::One(0)),
            (&["make test"], "uname -a", Likely::None),
            (&["make test && make install"], "make test &&", Likely::One(0)),
            (&[], "uname -a", Likely::None),
            (&["\\a\\\\", "\\a\\\\"], "\\a\\", Likely::One(0)),
        ] {
            assert_eq!(chosen(candidates, received), expected, "{candidates:?} {received}");
        }
    }
}
