//! Ruby's tokens.
//!
//! In: source text. Out: tokens; line ends end statements unless something must follow.
//! Never: fails.

use super::quoted::{Heredoc, Replaces, hash_interpolated, quote_end};
use crate::code::escape::{Escapes, unescape};
use crate::code::scan::Scan;
use crate::code::token::{Bit, Gap, Quote, Tok, Token};

const OPERATORS: &[&str] = &[
    "**=", "<=>", "===", "...", "<<=", ">>=", "&&=", "||=", "&.", "=>", "==", "!=", "=~", "!~", "<=", ">=",
    "&&", "||", "..", "::", "->", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<", ">>", "**",
];

#[expect(clippy::too_many_lines, reason = "one arm for each form of the grammar")]
pub(crate) fn lex(text: &str) -> Vec<Token<'_>> {
    let mut scan = Scan::new(text);
    let mut pending: Vec<Heredoc> = Vec::new();
    let mut brackets = 0_u32;
    loop {
        scan.blanks();
        scan.begin();
        let Some(b) = scan.byte() else { break };
        match b {
            b'\n' => line_end(&mut scan, &mut pending, brackets),
            b';' => {
                scan.skip(1);
                scan.push(Tok::End);
            }
            b'#' => scan.past_line(),
            b'"' | b'`' => {
                scan.skip(1);
                let (from, inside) = (scan.pos, scan.delimited(b));
                let bits = hash_interpolated(inside, from, Escapes::Full);
                scan.push_text(if b == b'`' { Quote::Command } else { Quote::Text }, bits);
            }
            b'\'' => {
                scan.skip(1);
                let inside = scan.delimited(b'\'');
                scan.push_text(Quote::Text, vec![Bit::Lit(unescape(inside, Escapes::Quotes, '\''))]);
            }
            b'/' if starts_operand(&scan) => {
                scan.skip(1);
                let inside = scan.delimited(b'/');
                scan.word();
                scan.push(Tok::Regex(inside));
            }
            b'%' if starts_operand(&scan) && percent(&mut scan) => {}
            b'<' if scan.at("<<")
                && (scan.at("<<~")
                    || scan.at("<<-")
                    || scan.at("<<'")
                    || scan.at("<<\"")
                    || (starts_operand(&scan) && scan.ahead(2).is_some_and(|b| b.is_ascii_uppercase()))) =>
            {
                match Heredoc::open_with(&mut scan, Replaces::Hash) {
                    Some(heredoc) => pending.push(heredoc),
                    None => scan.operator(OPERATORS),
                }
            }
            b':' if scan.ahead(1).is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'"'))
                && !scan.at("::")
                && (!scan.after_operand() || scan.gap != Gap::Nothing) =>
            {
                symbol(&mut scan);
            }
            b'?' if starts_operand(&scan)
                && scan.ahead(1).is_some_and(|b| b.is_ascii_graphic())
                && !scan.ahead(2).is_some_and(Scan::is_name_byte) =>
            {
                scan.skip(2);
                let letter = scan.slice(scan.pos.saturating_sub(1), scan.pos);
                scan.push_text(Quote::Text, vec![Bit::Lit(letter.to_owned())]);
            }
            b'$' | b'@' => variable(&mut scan),
            b'0'..=b'9' => scan.number(),
            b if Scan::is_name_byte(b) => name(&mut scan),
            _ => {
                match b {
                    b'(' | b'[' => brackets = brackets.saturating_add(1),
                    b')' | b']' => brackets = brackets.saturating_sub(1),
                    _ => {}
                }
                scan.operator(OPERATORS);
            }
        }
    }
    scan.out
}

fn line_end(scan: &mut Scan<'_>, pending: &mut Vec<Heredoc>, brackets: u32) {
    scan.skip(1);
    for heredoc in pending.drain(..) {
        heredoc.read(scan);
        scan.past_line();
    }
    if scan.at("=begin") {
        scan.past("\n=end");
        scan.past_line();
    }
    if scan.at("__END__") {
        scan.pos = scan.text.len();
    }
    let goes_on = brackets > 0
        || scan
            .out
            .last()
            .is_some_and(|t| matches!(t.tok, Tok::Op(o) if !matches!(o, ")" | "]" | "}" | "|")));
    let rest = scan.text.get(scan.pos..).unwrap_or("").trim_start_matches([' ', '\t', '\r', '\n']);
    let chained = (rest.starts_with('.') && !rest.starts_with("..")) || rest.starts_with("&.");
    if !goes_on && !chained {
        scan.push(Tok::End);
        scan.gap = Gap::Line;
    } else {
        scan.gap = scan.gap.max(Gap::Blank);
    }
}

/// Whether an operand may start here: after an operator, or spaced after a name that takes arguments.
fn starts_operand(scan: &Scan<'_>) -> bool {
    let spaced = scan.gap != Gap::Nothing;
    let tight_after = scan.ahead(1).is_some_and(|b| !b.is_ascii_whitespace() && b != b'=');
    match scan.out.last() {
        Some(last)
            if last.name().is_some_and(|n| {
                matches!(
                    n,
                    "if" | "unless"
                        | "while"
                        | "until"
                        | "and"
                        | "or"
                        | "not"
                        | "return"
                        | "when"
                        | "puts"
                        | "then"
                        | "in"
                )
            }) =>
        {
            true
        }
        Some(last) if last.name().is_some_and(|n| !n.starts_with(['$', '@'])) => spaced && tight_after,
        Some(last) => !last.ends_operand(),
        None => true,
    }
}

fn name(scan: &mut Scan<'_>) {
    let from = scan.pos;
    scan.word();
    if matches!(scan.byte(), Some(b'?' | b'!'))
        && scan.ahead(1) != Some(b'=')
        && !(scan.byte() == Some(b'?') && scan.ahead(1) == Some(b':'))
    {
        scan.skip(1);
    }
    let word = scan.slice(from, scan.pos);
    scan.push(Tok::Name(word));
}

/// `$x`, `@x`, `@@x`.
fn variable(scan: &mut Scan<'_>) {
    let from = scan.pos;
    scan.skip(1);
    if scan.byte() == Some(b'@') {
        scan.skip(1);
    }
    if scan.word().is_empty() {
        scan.step();
    }
    let name = scan.slice(from, scan.pos);
    scan.push(Tok::Name(name));
}

fn symbol(scan: &mut Scan<'_>) {
    scan.skip(1);
    if scan.byte() == Some(b'"') {
        scan.skip(1);
        let (from, inside) = (scan.pos, scan.delimited(b'"'));
        let bits = hash_interpolated(inside, from, Escapes::Full);
        return scan.push_text(Quote::Text, bits);
    }
    let from = scan.pos;
    scan.word();
    if matches!(scan.byte(), Some(b'?' | b'!')) {
        scan.skip(1);
    }
    let word = scan.slice(from, scan.pos).to_owned();
    scan.push_text(Quote::Text, vec![Bit::Lit(word)]);
}

/// `%q()`, `%w[]`, `%x()`, `%(…)`; false if it is the operator.
fn percent(scan: &mut Scan<'_>) -> bool {
    let kind = scan.ahead(1).unwrap_or(b' ');
    let letter = matches!(kind, b'q' | b'Q' | b'w' | b'W' | b'x' | b'i' | b'I' | b'r' | b's');
    let delimiter = if letter { scan.ahead(2) } else { Some(kind) };
    if !delimiter.is_some_and(|b| b.is_ascii_punctuation() && !matches!(b, b'=' | b',' | b';')) {
        return false;
    }
    scan.skip(if letter { 2 } else { 1 });
    let (start, inside) = quote_end(scan);
    match if letter { kind } else { b'Q' } {
        b'q' | b's' => scan.push_text(Quote::Text, vec![Bit::Lit(unescape(inside, Escapes::Quotes, '\''))]),
        b'w' | b'W' | b'i' | b'I' => scan.push_text(Quote::Words, vec![Bit::Lit(inside.to_owned())]),
        b'x' => scan.push_text(Quote::Command, hash_interpolated(inside, start, Escapes::Full)),
        b'r' => {
            scan.word();
            scan.push(Tok::Regex(inside));
        }
        _ => scan.push_text(Quote::Text, hash_interpolated(inside, start, Escapes::Full)),
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_of_every_kind_are_read() {
        let shape: Vec<String> = lex("%x(ls #{a}) + %w[a b] ; f ?r, :in, x: 1")
            .into_iter()
            .map(|t| format!("{:?}", t.tok))
            .collect();
        assert_eq!(
            shape,
            [
                "Text(Command, [Lit(\"ls \"), Code(\"a\", 8), Lit(\"\")])",
                "Op(\"+\")",
                "Text(Words, [Lit(\"a b\")])",
                "End",
                "Name(\"f\")",
                "Text(Text, [Lit(\"r\")])",
                "Op(\",\")",
                "Text(Text, [Lit(\"in\")])",
                "Op(\",\")",
                "Name(\"x\")",
                "Op(\":\")",
                "Number(Some(1))"
            ]
        );
    }
}
