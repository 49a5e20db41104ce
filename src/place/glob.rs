//! Shell pattern matching on strings (POSIX XCU 2.14, bash's extended patterns).
//!
//! In: a pattern whose quoted characters are escaped by backslashes, and a text. Out: whether it
//! matches, and which prefixes and suffixes do (`case`, `[[ == ]]`, `${x#p}`, `${x%p}`, `${x/p/r}`).
//! Never: backtracks: a pattern maps the set of places where a match may begin to those where it may
//! end, so time is pattern × text (× text for each level of `!(…)`, of which there are two at most);
//! what would take more than `WORK_LIMIT` steps is not answered.

use super::glob_syntax::{Repeat, Token, read};

pub use super::glob_syntax::Extended;

/// A pattern, read.
#[derive(Clone, Debug)]
pub struct Glob(Vec<Token>);

/// Steps that a match may take.
const WORK_LIMIT: usize = 1 << 22;

/// Whether `pattern` matches the whole of `text`, extended patterns included; a match that would take
/// too long counts as one ([`Glob::matches`] tells them apart).
pub fn matches(pattern: &str, text: &str) -> bool {
    if !pattern.contains(['*', '?', '[', '\\', '(']) {
        return pattern == text;
    }
    Glob::parse(pattern, Extended::Yes).matches(text).unwrap_or(true)
}

/// Whether an unescaped character of `pattern` makes it more than a literal.
pub fn is_pattern(pattern: &str, extended: Extended) -> bool {
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '*' | '?' | '[' => return true,
            '@' | '+' | '!' if extended == Extended::Yes && chars.peek() == Some(&'(') => return true,
            _ => {}
        }
    }
    false
}

/// The pattern's text as a literal: escapes removed.
pub fn unescape(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        out.push(if c == '\\' { chars.next().unwrap_or('\\') } else { c });
    }
    out
}

impl Glob {
    pub fn parse(pattern: &str, extended: Extended) -> Self {
        Self(read(pattern, extended))
    }

    /// Whether the whole text matches; `None`: would take too long.
    pub fn matches(&self, text: &str) -> Option<bool> {
        let chars: Vec<char> = text.chars().collect();
        Some(ends_from_start(&self.0, &chars)?.last().copied().unwrap_or(false))
    }

    /// Byte lengths of the text's prefixes that match, rising (`${x#p}` takes the first, `##` the last);
    /// `None`: would take too long.
    pub fn prefixes(&self, text: &str) -> Option<Vec<usize>> {
        let chars: Vec<char> = text.chars().collect();
        Some(lengths(&ends_from_start(&self.0, &chars)?, chars.iter().copied()))
    }

    /// Byte lengths of the text's suffixes that match, rising; `None`: would take too long.
    pub fn suffixes(&self, text: &str) -> Option<Vec<usize>> {
        let chars: Vec<char> = text.chars().rev().collect();
        Some(lengths(&ends_from_start(&reversed(&self.0), &chars)?, chars.iter().copied()))
    }
}

/// Steps for a text of `length` characters.
fn work(tokens: &[Token], length: usize) -> usize {
    let cost = |token: &Token| match token {
        Token::Char(_) | Token::One | Token::Many | Token::Bracket(_) => length,
        Token::Group(repeat, arms) => {
            let once = arms.iter().fold(length, |sum, arm| sum.saturating_add(work(arm, length)));
            match repeat {
                Repeat::Once | Repeat::Optional => once,
                Repeat::Any | Repeat::Some | Repeat::Not => once.saturating_mul(length),
            }
        }
    };
    tokens.iter().fold(0, |sum: usize, token| sum.saturating_add(cost(token)))
}

fn lengths(ends: &[bool], chars: impl Iterator<Item = char>) -> Vec<usize> {
    let mut bytes = 0;
    let places = std::iter::once(0).chain(chars.map(|c| {
        bytes += c.len_utf8();
        bytes
    }));
    places.zip(ends).filter_map(|(at, end)| end.then_some(at)).collect()
}

fn reversed(tokens: &[Token]) -> Vec<Token> {
    let turn = |t: &Token| match t {
        Token::Group(repeat, arms) => Token::Group(*repeat, arms.iter().map(|a| reversed(a)).collect()),
        Token::Char(_) | Token::One | Token::Many | Token::Bracket(_) => t.clone(),
    };
    tokens.iter().rev().map(turn).collect()
}

fn ends_from_start(tokens: &[Token], text: &[char]) -> Option<Vec<bool>> {
    if work(tokens, text.len() + 1) > WORK_LIMIT {
        return None;
    }
    let mut starts = vec![false; text.len() + 1];
    if let Some(first) = starts.first_mut() {
        *first = true;
    }
    Some(ends(tokens, text, starts))
}

/// The places where a match of `tokens` that begins at one of `at` may end.
fn ends(tokens: &[Token], text: &[char], mut at: Vec<bool>) -> Vec<bool> {
    for token in tokens {
        at = match token {
            Token::Char(c) => step(text, &at, |x| x == *c),
            Token::One => step(text, &at, |_| true),
            Token::Bracket(bracket) => step(text, &at, |x| bracket.has(x)),
            Token::Many => from_first(&at),
            Token::Group(repeat, arms) => group(*repeat, arms, text, at),
        };
        if !at.contains(&true) {
            break;
        }
    }
    at
}

fn step(text: &[char], at: &[bool], fits: impl Fn(char) -> bool) -> Vec<bool> {
    std::iter::once(false).chain(text.iter().zip(at).map(|(c, here)| *here && fits(*c))).collect()
}

/// All places from the first one on.
fn from_first(at: &[bool]) -> Vec<bool> {
    let mut seen = false;
    let reach = |here: &bool| {
        seen |= *here;
        seen
    };
    at.iter().map(reach).collect()
}

fn unite(into: &mut [bool], other: &[bool]) {
    for (a, b) in into.iter_mut().zip(other) {
        *a |= *b;
    }
}

fn group(repeat: Repeat, arms: &[Vec<Token>], text: &[char], at: Vec<bool>) -> Vec<bool> {
    let once = |from: &[bool]| {
        let mut out = vec![false; from.len()];
        for arm in arms {
            unite(&mut out, &ends(arm, text, from.to_vec()));
        }
        out
    };
    match repeat {
        Repeat::Once => once(&at),
        Repeat::Optional => {
            let mut out = once(&at);
            unite(&mut out, &at);
            out
        }
        Repeat::Any => closure(at, once),
        Repeat::Some => closure(once(&at), once),
        Repeat::Not => {
            let mut out = vec![false; at.len()];
            for start in at.iter().enumerate().filter_map(|(i, here)| here.then_some(i)) {
                let alone: Vec<bool> = (0..at.len()).map(|i| i == start).collect();
                let taken = once(&alone);
                for (place, (to, no)) in out.iter_mut().zip(taken).enumerate() {
                    *to |= place >= start && !no;
                }
            }
            out
        }
    }
}

/// Repeats until nothing new is reached; each round reaches further, so rounds are bounded by the text,
/// and only the new places are followed.
fn closure(start: Vec<bool>, once: impl Fn(&[bool]) -> Vec<bool>) -> Vec<bool> {
    let mut all = start.clone();
    let mut new = start;
    while new.contains(&true) {
        let reached = once(&new);
        new = reached.iter().zip(&all).map(|(r, a)| *r && !*a).collect();
        unite(&mut all, &new);
    }
    all
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn patterns_match_as_in_bash() {
        let cases = [
            ("a*c", "abbc", true),
            ("a*c", "abbd", false),
            ("?", "é", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[]a]", "]", true),
            ("[[:digit:]-]", "-", true),
            ("[[:digit:]]", "7", true),
            ("[[=a=]b]", "a", true),
            ("[a", "[a", true),
            ("\\*", "*", true),
            ("\\*", "x", false),
            ("@(a|b)c", "bc", true),
            ("@(a|b)c", "abc", false),
            ("?(a)b", "b", true),
            ("*(ab)", "ababab", true),
            ("+(ab)", "", false),
            ("+([0-9])", "123", true),
            ("!(*.txt)", "a.md", true),
            ("!(*.txt)", "a.txt", false),
            ("a!(b)c", "ac", true),
            ("a!(b)c", "abc", false),
            ("@(a|*(b|c))d", "bcbd", true),
            ("@(a", "@(a", true),
            ("", "", true),
            ("*", "", true),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn prefixes_and_suffixes_are_in_bytes() {
        let glob = |p| Glob::parse(p, Extended::Yes);
        assert_eq!(glob("*/").prefixes("a/é/c"), Some(vec![2, 5]));
        assert_eq!(glob(".*").suffixes("x.tar.gz"), Some(vec![3, 7]));
        assert_eq!(glob("+(a|bc)").suffixes("xbca"), Some(vec![1, 3]));
    }

    #[test]
    fn long_patterns_end_soon_or_are_not_answered() {
        let text = "a".repeat(3000);
        assert_eq!(Glob::parse(&"a*".repeat(400), Extended::Yes).matches(&text), Some(true));
        assert_eq!(Glob::parse("!(!(!(+(a|aa))))", Extended::Yes).matches(&text), None);
        for hostile in ["[[:alpha:]".repeat(20_000), "@(".repeat(20_000), "!(*(a|".repeat(300)] {
            assert_eq!(Glob::parse(&hostile, Extended::Yes).matches("b"), Some(false), "{}", hostile.len());
        }
    }

    #[test]
    fn escaped_characters_are_no_patterns() {
        assert!(!is_pattern("a\\*b", Extended::No) && is_pattern("a*", Extended::No));
        assert!(is_pattern("+(x)", Extended::Yes) && !is_pattern("+(x)", Extended::No));
        assert_eq!(unescape("a\\*b\\"), "a*b\\");
    }

    #[test]
    fn patterns_agree_with_bash() {
        let mut seed = 7_u64;
        let mut pick = |from: &[&str]| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            from[usize::try_from(seed >> 33).unwrap() % from.len()].to_owned()
        };
        let parts = [
            "a",
            "b",
            "ab",
            "*",
            "?",
            "[ab]",
            "[!a]",
            "[a-c]",
            "[[:alpha:]]",
            "\\*",
            "-",
            "[]a]",
            "[",
            "]",
            "@(a|b)",
            "?(ab)",
            "*(a|b)",
            "+(b)",
            "!(a)",
            "!(a|*b)",
            "@(a|!(b))",
            "+(a|*)",
            "@(",
            "|",
            ")",
            "*(?(a)b)",
            "[^b]",
            "[a-]",
        ];
        let mut script = "shopt -s extglob; export LC_ALL=C.UTF-8; IFS=; ".to_owned();
        let mut cases = Vec::new();
        for _ in 0..2000 {
            let count = pick(&["1", "2", "3", "4"]).parse().unwrap();
            let pattern: String = (0..count).map(|_| pick(&parts)).collect();
            let text: String =
                (0..count).map(|_| pick(&["a", "b", "c", "ab", "-", "*", "", "]", "["])).collect();
            let _ = writeln!(script, "p='{pattern}'; t='{text}'; [[ $t == $p ]] && echo 1 || echo 0");
            cases.push((pattern, text));
        }
        let Ok(output) = std::process::Command::new("bash").args(["--norc", "-c", &script]).output() else {
            eprintln!("skipped: bash is not installed");
            return;
        };
        let answers = String::from_utf8(output.stdout).unwrap();
        assert_eq!(answers.lines().count(), cases.len());
        for ((pattern, text), answer) in cases.iter().zip(answers.lines()) {
            assert_eq!(matches(pattern, text), answer == "1", "{pattern} {text}");
        }
    }
}
