//! PHP's tokens. Text before `<?php` is output, not code; without any such mark all is code (`php -r`).
//!
//! In: source text. Out: tokens.
//! Never: fails.

use super::quoted::{Heredoc, perl_interpolated};
use crate::code::escape::{Escapes, unescape};
use crate::code::scan::Scan;
use crate::code::token::{Bit, Gap, Quote, Tok, Token};

const OPERATORS: &[&str] = &[
    "<=>", "**=", "...", "===", "!==", "<<=", ">>=", "??=", "?->", "->", "=>", "::", "==", "!=", "<>", "<=",
    ">=", "&&", "||", "??", "?:", "++", "--", "+=", "-=", "*=", "/=", ".=", "%=", "|=", "&=", "^=", "<<",
    ">>", "**",
];

pub(crate) fn lex(text: &str) -> Vec<Token<'_>> {
    let mut scan = Scan::new(text);
    let mut pending: Vec<Heredoc> = Vec::new();
    if let Some(start) = memchr::memmem::find(text.as_bytes(), b"<?") {
        scan.pos = start;
    }
    loop {
        scan.blanks();
        scan.begin();
        let Some(b) = scan.byte() else { break };
        match b {
            b'\n' => {
                scan.skip(1);
                for heredoc in pending.drain(..) {
                    heredoc.read(&mut scan);
                }
                scan.gap = Gap::Line;
            }
            b'<' if scan.at("<?") => opening(&mut scan),
            b'?' if scan.at("?>") => {
                scan.push(Tok::End);
                scan.past("<?");
                scan.pos =
                    if scan.pos >= scan.text.len() { scan.text.len() } else { scan.pos.saturating_sub(2) };
            }
            b';' => {
                scan.skip(1);
                scan.push(Tok::End);
            }
            b'#' if !scan.at("#[") => scan.past_line(),
            b'/' if scan.at("//") => scan.past_line(),
            b'/' if scan.at("/*") => {
                scan.skip(2);
                scan.past("*/");
            }
            b'\'' => {
                scan.skip(1);
                let inside = scan.delimited(b'\'');
                scan.push_text(Quote::Text, vec![Bit::Lit(unescape(inside, Escapes::Quotes, '\''))]);
            }
            b'"' | b'`' => {
                scan.skip(1);
                let (from, inside) = (scan.pos, scan.delimited(b));
                let bits = interpolated(inside, from);
                scan.push_text(if b == b'`' { Quote::Command } else { Quote::Text }, bits);
            }
            b'<' if scan.at("<<<") => match Heredoc::open(&mut scan) {
                Some(heredoc) => pending.push(heredoc),
                None => scan.operator(OPERATORS),
            },
            b'$' => variable(&mut scan),
            b'0'..=b'9' => scan.number(),
            b'\\' if scan.ahead(1).is_some_and(Scan::is_name_byte) => {
                scan.skip(1);
                qualified(&mut scan);
            }
            b if Scan::is_name_byte(b) => qualified(&mut scan),
            _ => scan.operator(OPERATORS),
        }
    }
    scan.out
}

/// `<?php`, `<?=`.
fn opening(scan: &mut Scan<'_>) {
    scan.skip(2);
    if scan.at("php") {
        scan.skip(3);
    }
    if scan.at("=") {
        scan.skip(1);
        scan.push(Tok::Name("echo"));
    }
}

/// `$x`, `$$x`, `${`.
fn variable(scan: &mut Scan<'_>) {
    let from = scan.pos;
    while scan.byte() == Some(b'$') {
        scan.skip(1);
    }
    if scan.byte() == Some(b'{') {
        scan.skip(1);
        scan.push(Tok::Op("${"));
    } else {
        scan.word();
        let from = if scan.slice(from, scan.pos).starts_with("$$") { from.saturating_add(1) } else { from };
        let name = scan.slice(from, scan.pos);
        scan.push(Tok::Name(name));
    }
}

/// `A\B\name`: the last part is enough to know a function by.
fn qualified(scan: &mut Scan<'_>) {
    let mut from = scan.pos;
    scan.word();
    while scan.byte() == Some(b'\\') && scan.ahead(1).is_some_and(Scan::is_name_byte) {
        scan.skip(1);
        from = scan.pos;
        scan.word();
    }
    let name = scan.slice(from, scan.pos);
    scan.push(Tok::Name(name));
}

/// As perl's, and `{$x->y}`: the braces go.
fn interpolated(inside: &str, offset: usize) -> Vec<Bit<'_>> {
    if !inside.contains("{$") {
        return perl_interpolated(inside, offset);
    }
    let mut bits = Vec::new();
    let mut rest = inside;
    let mut at = offset;
    while let Some(open) = rest.find("{$") {
        bits.extend(perl_interpolated(rest.get(..open).unwrap_or(""), at));
        let tail = rest.get(open.saturating_add(1)..).unwrap_or("");
        let end = crate::code::scan::closing(tail, 0, tail.len(), (b'{', b'}'));
        bits.push(Bit::Code(tail.get(..end).unwrap_or(""), at.saturating_add(open).saturating_add(1)));
        let taken = open.saturating_add(end).saturating_add(2);
        rest = rest.get(taken..).unwrap_or("");
        at = at.saturating_add(taken);
    }
    bits.extend(perl_interpolated(rest, at));
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_outside_of_the_marks_is_no_code() {
        let names: Vec<_> = lex("system('x') <?php f(\"a{$b['c']}d\") ?> g() <?= h() ?>")
            .iter()
            .filter_map(Token::name)
            .collect();
        assert_eq!(names, ["f", "echo", "h"]);
    }
}
