//! Python's tokens.
//!
//! In: source text. Out: tokens, with line ends and indentation.
//! Never: fails; what is no Python becomes tokens of one character.

use crate::code::escape::{Escapes, escape, unescape};
use crate::code::scan::Scan;
use crate::code::token::{Bit, Gap, Quote, Tok, Token};

const OPERATORS: &[&str] = &[
    "**=", "//=", ">>=", "<<=", "...", "**", "//", "<<", ">>", "->", ":=", "==", "!=", "<=", ">=", "<>",
    "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=",
];

pub(crate) fn lex(text: &str) -> Vec<Token<'_>> {
    let mut scan = Scan::new(text);
    let mut columns: Vec<usize> = Vec::new();
    let mut brackets = 0_u32;
    indentation(&mut scan, &mut columns);
    loop {
        scan.blanks();
        scan.begin();
        let Some(b) = scan.byte() else { break };
        match b {
            b'\n' => {
                scan.skip(1);
                if brackets == 0 {
                    scan.push(Tok::End);
                    indentation(&mut scan, &mut columns);
                }
                scan.gap = Gap::Line;
            }
            b'#' => scan.past_line(),
            b';' => {
                scan.skip(1);
                scan.push(Tok::End);
            }
            b'"' | b'\'' => string(&mut scan, ""),
            b'`' => scan.skip(1),
            b'0'..=b'9' => scan.number(),
            b if Scan::is_name_byte(b) => name(&mut scan),
            _ => {
                match b {
                    b'(' | b'[' | b'{' => brackets = brackets.saturating_add(1),
                    b')' | b']' | b'}' => brackets = brackets.saturating_sub(1),
                    _ => {}
                }
                scan.operator(OPERATORS);
            }
        }
    }
    scan.push(Tok::End);
    for _ in 1..columns.len() {
        scan.push(Tok::Dedent);
    }
    scan.out
}

/// Compares the indentation of the next line that holds code with the lines above it.
fn indentation(scan: &mut Scan<'_>, columns: &mut Vec<usize>) {
    let column = loop {
        let from = scan.pos;
        while matches!(scan.byte(), Some(b' ' | b'\t' | 0x0c | b'\r')) {
            scan.skip(1);
        }
        match scan.byte() {
            Some(b'\n') => scan.skip(1),
            Some(b'#') => scan.past_line(),
            Some(_) => break scan.pos.saturating_sub(from),
            None => return,
        }
    };
    scan.begin();
    if columns.is_empty() {
        columns.push(column);
        return;
    }
    if columns.last().is_some_and(|c| column > *c) {
        columns.push(column);
        scan.push(Tok::Indent);
    }
    while columns.len() > 1 && columns.last().is_some_and(|c| column < *c) {
        columns.pop();
        scan.push(Tok::Dedent);
    }
}

fn name<'a>(scan: &mut Scan<'a>) {
    let from = scan.pos;
    let word = scan.word();
    let is_prefix =
        word.len() <= 2 && word.bytes().all(|b| matches!(b | 0x20, b'r' | b'b' | b'u' | b'f' | b't'));
    if is_prefix && matches!(scan.byte(), Some(b'"' | b'\'')) {
        let prefix = word;
        string(scan, prefix);
    } else {
        let word: &'a str = scan.slice(from, scan.pos);
        scan.push(Tok::Name(word));
    }
}

/// A string literal from its opening quote on.
fn string(scan: &mut Scan<'_>, prefix: &str) {
    let has = |letter: u8| prefix.bytes().any(|b| b | 0x20 == letter);
    let escapes = if has(b'r') { Escapes::None } else { Escapes::Full };
    let quote = if scan.byte() == Some(b'\'') { '\'' } else { '"' };
    let mark = match (scan.at("'''"), scan.at("\"\"\"")) {
        (true, _) => "'''",
        (_, true) => "\"\"\"",
        _ if quote == '\'' => "'",
        _ => "\"",
    };
    scan.skip(mark.len());
    let from = scan.pos;
    while let Some(b) = scan.byte() {
        match b {
            b'\\' => {
                scan.skip(1);
                scan.step();
            }
            b'\n' if mark.len() == 1 => break,
            _ if scan.at(mark) => break,
            _ => scan.skip(1),
        }
    }
    let to = scan.pos.min(scan.text.len());
    let inside = scan.slice(from, to);
    if scan.at(mark) {
        scan.skip(mark.len());
    }
    let bits = if has(b'f') || has(b't') {
        formatted(scan, inside, from, escapes)
    } else {
        vec![Bit::Lit(unescape(inside, escapes, quote))]
    };
    scan.push_text(if has(b'b') { Quote::Bytes } else { Quote::Text }, bits);
}

/// The pieces of an f-string.
fn formatted<'a>(scan: &Scan<'a>, inside: &'a str, offset: usize, escapes: Escapes) -> Vec<Bit<'a>> {
    let mut bits = Vec::new();
    let mut lit = String::new();
    let mut at = 0_usize;
    let bytes = inside.as_bytes();
    while let Some(b) = bytes.get(at).copied() {
        let next = bytes.get(at.saturating_add(1)).copied();
        match b {
            b'{' if next == Some(b'{') => {
                lit.push('{');
                at = at.saturating_add(2);
            }
            b'}' => {
                lit.push('}');
                at = at.saturating_add(if next == Some(b'}') { 2 } else { 1 });
            }
            b'{' => {
                let start = offset.saturating_add(at).saturating_add(1);
                let close = scan.closing(start, offset.saturating_add(inside.len()), (b'{', b'}'));
                let code = scan.slice(start, close);
                bits.push(Bit::Lit(std::mem::take(&mut lit)));
                bits.push(Bit::Code(code.get(..expression_end(code)).unwrap_or(code), start));
                at = close.saturating_sub(offset).saturating_add(1);
            }
            b'\\' if escapes == Escapes::Full => {
                let rest = inside.get(at.saturating_add(1)..).unwrap_or("");
                at = at.saturating_add(1).saturating_add(escape(rest, &mut lit));
            }
            _ => {
                let c = inside.get(at..).and_then(|r| r.chars().next()).unwrap_or('\u{fffd}');
                lit.push(c);
                at = at.saturating_add(c.len_utf8());
            }
        }
    }
    bits.push(Bit::Lit(lit));
    bits
}

/// Where the expression in braces ends: before `!r`, `:format` or a final `=`.
fn expression_end(code: &str) -> usize {
    let bytes = code.as_bytes();
    let (mut depth, mut quote, mut at) = (0_u32, None, 0_usize);
    while let Some(b) = bytes.get(at).copied() {
        match (quote, b) {
            (Some(q), b) if q == b => quote = None,
            (None, b'"' | b'\'') => quote = Some(b),
            (None, b'(' | b'[' | b'{') => depth = depth.saturating_add(1),
            (None, b')' | b']' | b'}') => depth = depth.saturating_sub(1),
            (None, b':') if depth == 0 => return at,
            (None, b'!') if depth == 0 && bytes.get(at.saturating_add(1)) != Some(&b'=') => return at,
            (None, b'=') if depth == 0 && at.saturating_add(1) == bytes.len() => return at,
            (Some(_) | None, _) => {}
        }
        at = at.saturating_add(1);
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_comments_hide_what_is_inside() {
        let tokens: Vec<_> = lex("a = '''x\n#y''' # rm\nf'{b!r:>3}c'").into_iter().map(|t| t.tok).collect();
        let text = |s: &str| Bit::Lit(s.to_owned());
        assert_eq!(
            tokens,
            vec![
                Tok::Name("a"),
                Tok::Op("="),
                Tok::Text(Quote::Text, vec![text("x\n#y")]),
                Tok::End,
                Tok::Text(Quote::Text, vec![text(""), Bit::Code("b", 23), text("c")]),
                Tok::End,
            ]
        );
    }

    #[test]
    fn indentation_opens_and_closes() {
        let shape: Vec<_> = lex("if a:\n  b\n\n  # c\nd")
            .into_iter()
            .filter(|t| matches!(t.tok, Tok::Indent | Tok::Dedent))
            .map(|t| t.start)
            .collect();
        assert_eq!(shape.len(), 2);
    }
}
