//! Lua's tokens, and R's.
//!
//! In: source text. Out: tokens.
//! Never: fails.

use crate::code::escape::{Escapes, unescape};
use crate::code::scan::Scan;
use crate::code::token::{Bit, Gap, Quote, Tok, Token};

const OPERATORS: &[&str] = &["...", "..", "==", "~=", "<=", ">=", "<<", ">>", "//", "::"];
const R_OPERATORS: &[&str] =
    &["<<-", ":::", "->>", "%in%", "%o%", "%%", "<-", "->", "==", "!=", "<=", ">=", "&&", "||", "::", "|>"];

pub(crate) fn lex(text: &str) -> Vec<Token<'_>> {
    let mut scan = Scan::new(text);
    if scan.at("#") {
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
            b'-' if scan.at("--") => {
                scan.skip(2);
                match long_bracket(&scan) {
                    Some(level) => drop(long_text(&mut scan, level)),
                    None => scan.past_line(),
                }
            }
            b'[' if long_bracket(&scan).is_some() => {
                let level = long_bracket(&scan).unwrap_or(0);
                let inside = long_text(&mut scan, level);
                scan.push_text(Quote::Text, vec![Bit::Lit(inside.to_owned())]);
            }
            b'"' | b'\'' => {
                scan.skip(1);
                let inside = scan.delimited(b);
                scan.push_text(Quote::Text, vec![Bit::Lit(decimal(inside))]);
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

/// Lua's `\ddd` is decimal.
fn decimal(inside: &str) -> String {
    let mut out = String::new();
    let mut rest = inside;
    while let Some(at) = rest.find('\\') {
        out.push_str(rest.get(..at).unwrap_or(""));
        let after = rest.get(at.saturating_add(1)..).unwrap_or("");
        let digits = after.bytes().take(3).take_while(u8::is_ascii_digit).count();
        if let Some(c) = after.get(..digits).and_then(|d| d.parse::<u8>().ok()) {
            out.push(char::from(c));
            rest = after.get(digits..).unwrap_or("");
        } else {
            rest = after.get(crate::code::escape::escape(after, &mut out)..).unwrap_or("");
        }
    }
    out.push_str(rest);
    out
}

/// The level of `[[`, `[=[` that starts here.
fn long_bracket(scan: &Scan<'_>) -> Option<usize> {
    let rest = scan.rest().strip_prefix('[')?;
    let level = rest.bytes().take(16).take_while(|b| *b == b'=').count();
    rest.get(level..)?.starts_with('[').then_some(level)
}

fn long_text<'a>(scan: &mut Scan<'a>, level: usize) -> &'a str {
    scan.skip(level.saturating_add(2));
    let from = scan.pos;
    let close = format!("]{}]", "=".repeat(level));
    scan.past(&close);
    let inside = scan.slice(from, scan.pos);
    inside.strip_suffix(close.as_str()).unwrap_or(inside)
}

/// R: names may hold dots, line ends end statements.
pub(crate) fn lex_r(text: &str) -> Vec<Token<'_>> {
    let mut scan = Scan::new(text);
    let mut brackets = 0_u32;
    loop {
        scan.blanks();
        scan.begin();
        let Some(b) = scan.byte() else { break };
        match b {
            b'\n' => {
                scan.skip(1);
                if brackets == 0 && scan.after_operand() {
                    scan.push(Tok::End);
                }
                scan.gap = Gap::Line;
            }
            b';' => {
                scan.skip(1);
                scan.push(Tok::End);
            }
            b'#' => scan.past_line(),
            b'"' | b'\'' => {
                scan.skip(1);
                let inside = scan.delimited(b);
                scan.push_text(Quote::Text, vec![Bit::Lit(unescape(inside, Escapes::Full, char::from(b)))]);
            }
            b'`' => {
                scan.skip(1);
                let inside = scan.delimited(b'`');
                scan.push(Tok::Name(inside));
            }
            b'0'..=b'9' => scan.number(),
            b if Scan::is_name_byte(b) || (b == b'.' && scan.ahead(1).is_some_and(Scan::is_name_byte)) => {
                let from = scan.pos;
                while scan.byte().is_some_and(|b| Scan::is_name_byte(b) || b == b'.') {
                    scan.skip(1);
                }
                let word = scan.slice(from, scan.pos);
                scan.push(Tok::Name(word));
            }
            _ => {
                match b {
                    b'(' | b'[' => brackets = brackets.saturating_add(1),
                    b')' | b']' => brackets = brackets.saturating_sub(1),
                    _ => {}
                }
                scan.operator(R_OPERATORS);
            }
        }
    }
    scan.out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_brackets_and_decimal_escapes_are_read() {
        let shape: Vec<String> = lex("--[[ os.x() ]] f[==[a]]b]==] '\\114m' -- c")
            .into_iter()
            .map(|t| format!("{:?}", t.tok))
            .collect();
        assert_eq!(shape, ["Name(\"f\")", "Text(Text, [Lit(\"a]]b\")])", "Text(Text, [Lit(\"rm\")])"]);
    }
}
