//! Perl's tokens.
//!
//! In: source text. Out: tokens; variables keep their signs.
//! Never: fails.

use super::quoted::{Heredoc, perl_interpolated, quote_end};
use crate::code::escape::{Escapes, unescape};
use crate::code::scan::Scan;
use crate::code::token::{Bit, Gap, Quote, Tok, Token};

const OPERATORS: &[&str] = &[
    "<=>", "**=", "||=", "&&=", "//=", "...", "<<=", ">>=", "->", "=>", "=~", "!~", "==", "!=", "<=", ">=",
    "&&", "||", "//", "..", "++", "--", "+=", "-=", "*=", "/=", ".=", "%=", "x=", "|=", "&=", "^=", "<<",
    ">>", "**", "::",
];

/// Words after which a slash or a less-than sign begins an operand.
const BEFORE_OPERAND: &[&str] = &[
    "split", "grep", "map", "if", "unless", "and", "or", "not", "return", "while", "until", "x", "push",
    "unshift", "join", "print", "for", "foreach", "chomp", "say", "lt", "gt", "eq", "ne",
];

#[expect(clippy::too_many_lines, reason = "one arm for each form of the grammar")]
pub(crate) fn lex(text: &str) -> Vec<Token<'_>> {
    let mut scan = Scan::new(text);
    let mut pending: Vec<Heredoc> = Vec::new();
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
                manual(&mut scan);
                scan.gap = Gap::Line;
            }
            b';' => {
                scan.skip(1);
                scan.push(Tok::End);
            }
            b'#' => scan.past_line(),
            b'\'' => {
                scan.skip(1);
                let inside = scan.delimited(b'\'');
                scan.push_text(Quote::Text, vec![Bit::Lit(unescape(inside, Escapes::Quotes, '\''))]);
            }
            b'"' | b'`' => {
                scan.skip(1);
                let (from, inside) = (scan.pos, scan.delimited(b));
                let bits = perl_interpolated(inside, from);
                scan.push_text(if b == b'`' { Quote::Command } else { Quote::Text }, bits);
            }
            b'$' | b'@' => variable(&mut scan, b),
            b'%' | b'&'
                if !is_operand(&scan)
                    && scan.ahead(1).is_some_and(|n| {
                        n.is_ascii_alphabetic() || matches!(n, b'_' | b'{' | b'$' | b':')
                    }) =>
            {
                variable(&mut scan, b);
            }
            b'*' if !is_operand(&scan) => scan.skip(1),
            b'/' if !is_operand(&scan) => {
                scan.skip(1);
                let inside = scan.delimited(b'/');
                scan.word();
                scan.push(Tok::Regex(inside));
            }
            b'<' if !is_operand(&scan) && line_read(&mut scan) => {}
            b'<' if scan.at("<<")
                && (!is_operand(&scan)
                    || scan.last_name().is_some_and(|n| !n.starts_with(['$', '@', '%']))) =>
            {
                if let Some(heredoc) = Heredoc::open(&mut scan) {
                    pending.push(heredoc);
                } else {
                    scan.operator(OPERATORS);
                }
            }
            b'0'..=b'9' => scan.number(),
            b if Scan::is_name_byte(b) => {
                if word(&mut scan) == Goes::No {
                    break;
                }
            }
            _ => scan.operator(OPERATORS),
        }
    }
    scan.out
}

/// Steps over `=head1` … `=cut`.
fn manual(scan: &mut Scan<'_>) {
    if scan.byte() == Some(b'=') && scan.ahead(1).is_some_and(|b| b.is_ascii_alphabetic()) {
        scan.past("\n=cut");
        scan.past_line();
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goes {
    On,
    No,
}

/// Whether what was read last is an operand, so that an operator follows.
fn is_operand(scan: &Scan<'_>) -> bool {
    match scan.out.last().map(|t| &t.tok) {
        Some(Tok::Name(name)) => name.starts_with(['$', '@', '%']) || !BEFORE_OPERAND.contains(name),
        Some(Tok::Number(_) | Tok::Text(..) | Tok::Regex(_) | Tok::Code(..)) => true,
        Some(Tok::Op(o)) => matches!(*o, ")" | "]" | "}"),
        Some(Tok::End | Tok::Indent | Tok::Dedent) | None => false,
    }
}

/// `$x`, `@x`, `%x`, `&x`, `${x}`, `$$x`, `$!`.
fn variable(scan: &mut Scan<'_>, sign: u8) {
    let from = scan.pos;
    scan.skip(1);
    // $#x, $#{x}: the last index
    let counts = scan.byte() == Some(b'#')
        && scan.ahead(1).is_some_and(|b| matches!(b, b'{' | b'$') || (sign == b'$' && Scan::is_name_byte(b)));
    if counts {
        scan.skip(1);
    }
    match scan.byte() {
        Some(b'$')
            if scan.ahead(1).is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'$' | b'{')) => {}
        Some(b'{') => {
            let end = scan.closing(scan.pos.saturating_add(1), scan.pos.saturating_add(64), (b'{', b'}'));
            let inner = scan.slice(scan.pos.saturating_add(1), end);
            if !inner.is_empty() && inner.trim_start_matches('^').bytes().all(Scan::is_name_byte) {
                scan.pos = end.saturating_add(1).min(scan.text.len());
                let whole = scan.slice(from, scan.pos);
                scan.push(Tok::Name(whole));
            } else {
                scan.skip(1);
                scan.push(Tok::Op(match sign {
                    b'@' => "@{",
                    b'%' => "%{",
                    _ => "${",
                }));
            }
        }
        Some(b) if Scan::is_name_byte(b) || (b == b':' && scan.at("::")) => {
            qualified(scan);
            // `&name` calls what the name says
            let whole = scan.slice(if sign == b'&' { from.saturating_add(1) } else { from }, scan.pos);
            scan.push(Tok::Name(whole));
        }
        Some(_) if sign == b'$' => {
            scan.step();
            let whole = scan.slice(from, scan.pos);
            scan.push(Tok::Name(whole));
        }
        _ => {}
    }
}

/// `A::B::c`.
fn qualified(scan: &mut Scan<'_>) {
    loop {
        scan.word();
        if scan.at("::") && scan.ahead(2).is_some_and(Scan::is_name_byte) {
            scan.skip(2);
        } else {
            if scan.at("::") {
                scan.skip(2);
            }
            return;
        }
    }
}

/// `<STDIN>`, `<$fh>`, `<>`, `<*.c>`.
fn line_read(scan: &mut Scan<'_>) -> bool {
    let from = scan.pos.saturating_add(1);
    let line = scan.text.as_bytes().get(from..scan.text.len().min(from.saturating_add(80))).unwrap_or(b"");
    let Some(len) = line.iter().position(|b| *b == b'>') else { return false };
    let inside = scan.slice(from, from.saturating_add(len));
    if inside.contains([' ', '\n', ';', '=', '(', ')']) || inside.starts_with('<') {
        return false;
    }
    scan.pos = from.saturating_add(len).saturating_add(1);
    let bits = if inside.starts_with('$') {
        vec![Bit::Code(inside, from)]
    } else {
        vec![Bit::Lit(inside.to_owned())]
    };
    if inside.contains(['*', '/', '.']) {
        scan.push_text(Quote::Text, bits);
    } else {
        scan.push_text(Quote::Line, bits);
    }
    true
}

fn word(scan: &mut Scan<'_>) -> Goes {
    let from = scan.pos;
    qualified(scan);
    let word = scan.slice(from, scan.pos);
    let is_key = scan.out.last().is_some_and(|t| t.is_op("->"))
        || (scan.byte() == Some(b'}') && scan.out.last().is_some_and(|t| t.is_op("{")))
        || scan.text.get(scan.pos..).is_some_and(|r| r.trim_start().starts_with("=>"));
    let after_minus = scan.out.last().is_some_and(|t| t.is_op("-") && t.end == from);
    match word {
        "__END__" | "__DATA__" => return Goes::No,
        "q" | "qq" | "qw" | "qx" | "m" | "qr" | "s" | "tr" | "y"
            if !is_key && !after_minus && quote_like(scan, word) => {}
        _ => scan.push(Tok::Name(word)),
    }
    Goes::On
}

/// `q(…)` and its likes; false if no delimiter follows.
fn quote_like(scan: &mut Scan<'_>, word: &str) -> bool {
    let before = scan.pos;
    let mut spaced = false;
    while scan.byte().is_some_and(|b| b.is_ascii_whitespace()) {
        scan.skip(1);
        spaced = true;
    }
    let usable = scan.byte().is_some_and(|b| {
        let separates =
            matches!(b, b',' | b';' | b')') || (spaced && matches!(b, b'=' | b'#')) || scan.at("=>");
        b.is_ascii_punctuation() && !separates
    });
    if !usable {
        scan.pos = before;
        return false;
    }
    let (start, first) = quote_end(scan);
    match word {
        "q" => scan.push_text(Quote::Text, vec![Bit::Lit(unescape(first, Escapes::Quotes, '\''))]),
        "qw" => scan.push_text(Quote::Words, vec![Bit::Lit(first.to_owned())]),
        "qq" => scan.push_text(Quote::Text, perl_interpolated(first, start)),
        "qx" => scan.push_text(Quote::Command, perl_interpolated(first, start)),
        "m" | "qr" => {
            scan.word();
            scan.push(Tok::Regex(first));
        }
        _ => substitution(scan, word, first),
    }
    true
}

/// The second part of `s{…}{…}e` and `tr/…/…/`.
fn substitution<'a>(scan: &mut Scan<'a>, word: &str, pattern: &'a str) {
    let closes = scan.text.as_bytes().get(scan.pos.saturating_sub(1)).copied();
    let paired = matches!(closes, Some(b')' | b']' | b'}' | b'>'));
    if paired {
        while scan.byte().is_some_and(|b| b.is_ascii_whitespace()) {
            scan.skip(1);
        }
    } else {
        // the delimiter between the parts is the one that was just passed
        scan.pos = scan.pos.saturating_sub(1);
    }
    let (start, second) = quote_end(scan);
    let flags = scan.word();
    if word == "s" && flags.contains('e') {
        if flags.matches('e').count() > 1 {
            scan.push(Tok::Name("eval"));
        }
        scan.push(Tok::Code(second, start));
        return;
    }
    // a call that the evaluator knows: pattern and replacement as texts
    let name = if word == "s" { "s///" } else { "tr///" };
    let second =
        if word == "s" { perl_interpolated(second, start) } else { vec![Bit::Lit(second.to_owned())] };
    scan.push(Tok::Name(name));
    scan.push(Tok::Op("("));
    scan.push_text(Quote::Text, vec![Bit::Lit(pattern.to_owned())]);
    scan.push(Tok::Op(","));
    scan.push_text(Quote::Text, second);
    scan.push(Tok::Op(")"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Vec<String> {
        lex(text).into_iter().map(|t| format!("{:?}", t.tok)).collect()
    }

    #[test]
    fn quotes_of_every_kind_are_read() {
        assert_eq!(
            shape("q(a(b)c) qw/x y/"),
            ["Text(Text, [Lit(\"a(b)c\")])", "Text(Words, [Lit(\"x y\")])"]
        );
        assert_eq!(
            shape("\"a$x->{k}b@{[f()]}\""),
            ["Text(Text, [Lit(\"a\"), Code(\"$x->{k}\", 2), Lit(\"b\"), Code(\"@{[f()]}\", 10), Lit(\"\")])"]
        );
        assert_eq!(
            shape("$x = $y / 2; split /,/"),
            [
                "Name(\"$x\")",
                "Op(\"=\")",
                "Name(\"$y\")",
                "Op(\"/\")",
                "Number(Some(2))",
                "End",
                "Name(\"split\")",
                "Regex(\",\")"
            ]
        );
        assert_eq!(shape("s/a/f()/e; <STDIN>"), ["Code(\"f()\", 4)", "End", "Text(Line, [Lit(\"STDIN\")])"]);
    }

    #[test]
    fn heredocs_end_at_their_word() {
        assert_eq!(
            shape("print <<'E';\nrm x\nE\n1"),
            ["Name(\"print\")", "Text(Text, [Lit(\"rm x\\n\")])", "End", "Number(Some(1))"]
        );
    }
}
