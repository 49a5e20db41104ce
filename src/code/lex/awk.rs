//! Awk's tokens.
//!
//! In: source text. Out: tokens; `$1` and its likes are the name `$`.
//! Never: fails.

use crate::code::escape::{Escapes, unescape};
use crate::code::scan::Scan;
use crate::code::token::{Bit, Gap, Quote, Tok, Token};

const OPERATORS: &[&str] = &[
    "**=", "|&", "&&", "||", "==", "!=", "<=", ">=", ">>", "!~", "++", "--", "+=", "-=", "*=", "/=", "%=",
    "^=", "**",
];

pub(crate) fn lex(text: &str) -> Vec<Token<'_>> {
    let mut scan = Scan::new(text);
    loop {
        scan.blanks();
        scan.begin();
        let Some(b) = scan.byte() else { break };
        match b {
            b'\n' => {
                scan.skip(1);
                let goes_on =
                    scan.out.last().is_some_and(|t| matches!(t.tok, Tok::Op("," | "{" | "&&" | "||")));
                if !goes_on {
                    scan.push(Tok::End);
                }
                scan.gap = Gap::Line;
            }
            b';' => {
                scan.skip(1);
                scan.push(Tok::End);
            }
            b'#' => scan.past_line(),
            b'"' => string(&mut scan),
            b'/' if !scan.after_operand() => {
                scan.skip(1);
                let inside = scan.delimited(b'/');
                scan.push(Tok::Regex(inside));
            }
            b'$' => {
                scan.skip(1);
                if scan.byte().is_some_and(Scan::is_name_byte) {
                    scan.word();
                }
                scan.push(Tok::Name("$"));
            }
            b'@' => {
                scan.skip(1);
                let word = scan.word();
                scan.push(Tok::Name(word));
            }
            b'0'..=b'9' => scan.number(),
            b if Scan::is_name_byte(b) => {
                let word = scan.word();
                scan.push(Tok::Name(word));
            }
            _ => scan.operator(OPERATORS),
        }
    }
    scan.out
}

fn string(scan: &mut Scan<'_>) {
    scan.skip(1);
    let inside = scan.delimited(b'"');
    scan.push_text(Quote::Text, vec![Bit::Lit(unescape(inside, Escapes::Full, '"'))]);
}
