//! JavaScript's tokens.
//!
//! In: source text. Out: tokens; line ends are only gaps between them.
//! Never: fails.

use crate::code::escape::{Escapes, unescape};
use crate::code::scan::Scan;
use crate::code::token::{Bit, Gap, Quote, Tok, Token};

const OPERATORS: &[&str] = &[
    ">>>=", "...", "===", "!==", ">>>", "**=", "<<=", ">>=", "&&=", "||=", "??=", "=>", "==", "!=", "<=",
    ">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>",
    "**",
];

/// Words after which a slash begins a regular expression.
const BEFORE_REGEX: &[&str] = &[
    "return", "typeof", "case", "in", "of", "do", "else", "void", "delete", "throw", "new", "await", "yield",
];

pub(crate) fn lex(text: &str) -> Vec<Token<'_>> {
    let mut scan = Scan::new(text);
    if scan.at("#!") {
        scan.past_line();
    }
    loop {
        scan.blanks();
        scan.begin();
        let Some(b) = scan.byte() else { break };
        match b {
            b'\n' => {
                scan.skip(1);
                scan.gap = Gap::Line;
            }
            b';' => {
                scan.skip(1);
                scan.push(Tok::End);
            }
            b'/' if scan.at("//") => scan.past_line(),
            b'/' if scan.at("/*") => {
                scan.skip(2);
                scan.past("*/");
            }
            b'/' if !scan.after_operand() || scan.last_name().is_some_and(|n| BEFORE_REGEX.contains(&n)) => {
                regex(&mut scan);
            }
            b'"' | b'\'' => {
                scan.skip(1);
                let inside = scan.delimited(b);
                scan.push_text(Quote::Text, vec![Bit::Lit(unescape(inside, Escapes::Full, char::from(b)))]);
            }
            b'`' => {
                scan.skip(1);
                let bits = interpolated(&mut scan, b'`', "${");
                scan.push_text(Quote::Text, bits);
            }
            b'0'..=b'9' => scan.number(),
            b'#' => scan.skip(1),
            b if Scan::is_name_byte(b) || b == b'$' => {
                let from = scan.pos;
                while scan.byte().is_some_and(|b| Scan::is_name_byte(b) || b == b'$') {
                    scan.skip(1);
                }
                let word = scan.slice(from, scan.pos);
                scan.push(Tok::Name(word));
            }
            b'\\' if scan.at("\\u") => unicode_name(&mut scan),
            _ => scan.operator(OPERATORS),
        }
    }
    scan.out
}

/// A name that is written with escapes hides what it is; it stays a name that nothing knows.
fn unicode_name(scan: &mut Scan<'_>) {
    let from = scan.pos;
    while scan.byte().is_some_and(|b| Scan::is_name_byte(b) || matches!(b, b'\\' | b'{' | b'}')) {
        scan.skip(1);
    }
    let word = scan.slice(from, scan.pos);
    scan.push(Tok::Name(word));
}

fn regex(scan: &mut Scan<'_>) {
    scan.skip(1);
    let from = scan.pos;
    let mut in_class = false;
    while let Some(b) = scan.byte() {
        match b {
            b'\\' => scan.skip(1),
            b'[' => in_class = true,
            b']' => in_class = false,
            b'/' if !in_class => break,
            b'\n' => break,
            _ => {}
        }
        scan.step();
    }
    let pattern = scan.slice(from, scan.pos.min(scan.text.len()));
    scan.skip(1);
    scan.word();
    scan.push(Tok::Regex(pattern));
}

/// The pieces of a literal in which `mark` (`${`, `#{`) begins code, up to and past `close`.
pub(crate) fn interpolated<'a>(scan: &mut Scan<'a>, close: u8, mark: &str) -> Vec<Bit<'a>> {
    let mut bits = Vec::new();
    let mut from = scan.pos;
    let lit = |scan: &Scan<'a>, from: usize| {
        Bit::Lit(unescape(scan.slice(from, scan.pos.min(scan.text.len())), Escapes::Full, char::from(close)))
    };
    while let Some(b) = scan.byte() {
        if b == close {
            bits.push(lit(scan, from));
            scan.skip(1);
            return bits;
        }
        if b == b'\\' {
            scan.skip(1);
            scan.step();
        } else if b == mark.as_bytes().first().copied().unwrap_or(0) && scan.at(mark) {
            bits.push(lit(scan, from));
            let start = scan.pos.saturating_add(mark.len());
            let end = scan.closing(start, scan.text.len(), (b'{', b'}'));
            bits.push(Bit::Code(scan.slice(start, end), start));
            scan.pos = end.saturating_add(1).min(scan.text.len());
            from = scan.pos;
        } else {
            scan.step();
        }
    }
    bits.push(lit(scan, from));
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_are_divisions_or_patterns() {
        let patterns = lex("a / b; x = /[/\"]'/g; f(/q/) / 2; return /z/ // c\n/* /d/ */")
            .into_iter()
            .filter(|t| matches!(t.tok, Tok::Regex(_)))
            .count();
        assert_eq!(patterns, 3);
    }

    #[test]
    fn templates_hold_code() {
        let tokens = lex("`a${b + `c${d}`}e`");
        assert_eq!(
            tokens.first().map(|t| t.tok.clone()),
            Some(Tok::Text(
                Quote::Text,
                vec![Bit::Lit("a".into()), Bit::Code("b + `c${d}`", 4), Bit::Lit("e".into())]
            ))
        );
    }
}
