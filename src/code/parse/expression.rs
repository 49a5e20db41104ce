//! Expressions: binary operators by precedence, assignments, choices.
//!
//! In: tokens. Out: nodes.
//! Never: decides what a name means.

use super::parser::{Head, Parser};
use crate::code::token::{Gap, Tok, Token};
use crate::code::tree::{Id, NOTHING, Node, Operator};
use crate::policy::tables::Lang;

/// Precedences; higher binds tighter.
pub(crate) const LOWEST: u8 = 1;
pub(crate) const ASSIGN: u8 = 3;
const CHOICE: u8 = 4;
const OR: u8 = 5;
const AND: u8 = 6;
const NOT: u8 = 7;
const RANGE: u8 = 8;
const TEST: u8 = 9;
/// Above comparisons: the targets of `for x in`.
pub(crate) const TARGET: u8 = 10;
const SUM: u8 = 15;
const PRODUCT: u8 = 16;
pub(crate) const UNARY: u8 = 17;
const POWER: u8 = 18;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Infix {
    Assign(Option<Operator>),
    Pair,
    /// `a ? b : c`
    Question,
    /// `b if a else c`
    IfElse,
    Chain(Operator),
    /// awk's `command | getline`
    Getline,
}

impl<'a> Parser<'a> {
    /// An expression whose operators bind at least as tightly as `least`.
    pub(crate) fn expression(&mut self, least: u8) -> Id {
        self.deeper(|p| p.operators(least))
    }

    fn operators(&mut self, least: u8) -> Id {
        let start = self.here();
        let mut left = self.unary();
        while let Some((infix, binds, tokens)) = self.infix() {
            if binds < least {
                break;
            }
            let before = self.at;
            self.at = self.at.saturating_add(tokens);
            left = self.infix_with(left, infix, binds, start);
            if self.at == before {
                break;
            }
        }
        left
    }

    fn infix_with(&mut self, left: Id, infix: Infix, binds: u8, start: usize) -> Id {
        match infix {
            Infix::Assign(op) => {
                self.skip_line_ends();
                let value = self.assigned();
                self.push(Node::Assign(left, op, value), start)
            }
            Infix::Pair => {
                self.skip_line_ends();
                let value = self.expression(ASSIGN);
                self.push(Node::Pair(left, value), start)
            }
            Infix::Getline => self.getline(left, start),
            Infix::Question => {
                self.skip_line_ends();
                let yes = if self.is_op(":") { left } else { self.expression(ASSIGN) };
                self.skip_line_ends();
                let no = if self.take_op(":") { self.expression(ASSIGN) } else { NOTHING };
                self.push(Node::Choice(left, yes, no), start)
            }
            Infix::IfElse => {
                let condition = self.expression(CHOICE.saturating_add(1));
                let no = if self.take_name("else") { self.expression(CHOICE) } else { NOTHING };
                self.push(Node::Choice(condition, left, no), start)
            }
            Infix::Chain(op) => {
                let mut operands = vec![left];
                loop {
                    self.skip_line_ends();
                    // a right-associative operator has its chain on the right
                    let next = if op == Operator::Power { binds } else { binds.saturating_add(1) };
                    let before = self.at;
                    operands.push(self.expression(next));
                    match self.infix() {
                        Some((Infix::Chain(o), b, tokens)) if o == op && b == binds && self.at > before => {
                            self.at = self.at.saturating_add(tokens);
                        }
                        _ => break,
                    }
                }
                let kids = self.tree.list(&operands);
                self.push(Node::Chain(op, kids), start)
            }
        }
    }

    /// What stands right of an assignment: in python and lua a list without brackets.
    fn assigned(&mut self) -> Id {
        let start = self.here();
        let value = self.expression(ASSIGN);
        let is_bare_list =
            matches!(self.lang, Lang::Python | Lang::Lua | Lang::Ruby) && self.nesting_is_statement();
        if !is_bare_list || !self.is_op(",") {
            return value;
        }
        let mut items = vec![value];
        while self.take_op(",") && !self.is_end() {
            items.push(self.expression(ASSIGN));
        }
        self.push_list(Node::List, &items, start)
    }

    /// Whether a comma here could only belong to the statement. Inside brackets the list reader owns it.
    fn nesting_is_statement(&self) -> bool {
        self.brackets == 0
    }

    /// Line ends that cannot end a statement, as something must follow.
    fn skip_line_ends(&mut self) {
        while self.peek().is_some_and(|t| matches!(t.tok, Tok::End) && t.start < t.end)
            && self.lang != Lang::Python
        {
            self.skip();
        }
    }

    /// The operator that comes next: what it is, how it binds, how many tokens it takes.
    fn infix(&self) -> Option<(Infix, u8, usize)> {
        let token = self.peek()?;
        if self.lang == Lang::Awk {
            let joins = match token.tok {
                Tok::Text(..) | Tok::Number(_) => true,
                Tok::Name(name) => !matches!(name, "in" | "getline" | "while" | "else"),
                Tok::Op("(") => token.gap != Gap::Line,
                Tok::Op("|" | "|&") if self.ahead(1).is_some_and(|t| t.is_name("getline")) => {
                    return Some((Infix::Getline, TARGET, 2));
                }
                Tok::Op(_) | Tok::Regex(_) | Tok::Code(..) | Tok::End | Tok::Indent | Tok::Dedent => false,
            };
            if joins {
                return Some((Infix::Chain(Operator::Concat), 14, 0));
            }
        }
        match token.tok {
            Tok::Op(op) => self.infix_sign(op, token).map(|(i, b)| (i, b, 1)),
            Tok::Name(name) => self.infix_word(name),
            Tok::Number(_)
            | Tok::Text(..)
            | Tok::Regex(_)
            | Tok::Code(..)
            | Tok::End
            | Tok::Indent
            | Tok::Dedent => None,
        }
    }

    fn infix_word(&self, name: &str) -> Option<(Infix, u8, usize)> {
        let low = matches!(self.lang, Lang::Perl | Lang::Ruby | Lang::Php);
        let is_perl = self.lang == Lang::Perl;
        let chain = |op, binds| Some((Infix::Chain(op), binds, 1));
        match name {
            "or" | "xor" => chain(Operator::Or, if low { LOWEST } else { OR }),
            "and" => chain(Operator::And, if low { LOWEST } else { AND }),
            "if" if self.lang == Lang::Python => Some((Infix::IfElse, CHOICE, 1)),
            "not" if self.ahead(1).is_some_and(|t| t.is_name("in")) => {
                Some((Infix::Chain(Operator::Test), TEST, 2))
            }
            "is" if self.ahead(1).is_some_and(|t| t.is_name("not")) => {
                Some((Infix::Chain(Operator::Test), TEST, 2))
            }
            "in" | "is" if matches!(self.lang, Lang::Python | Lang::Node | Lang::Awk) => {
                chain(Operator::Test, TEST)
            }
            "instanceof" => chain(Operator::Test, TEST),
            "eq" | "ne" | "lt" | "gt" | "le" | "ge" | "cmp" if is_perl => chain(Operator::Test, TEST),
            "x" if is_perl => chain(Operator::Multiply, PRODUCT),
            _ => None,
        }
    }

    fn infix_sign(&self, op: &str, token: &Token<'a>) -> Option<(Infix, u8)> {
        let chain = |op, binds| Some((Infix::Chain(op), binds));
        match op {
            "=" | ":=" | "<-" | "<<-" => Some((Infix::Assign(None), ASSIGN)),
            "+=" => Some((Infix::Assign(Some(Operator::Add)), ASSIGN)),
            ".=" | "..=" => Some((Infix::Assign(Some(Operator::Concat)), ASSIGN)),
            "^=" => Some((Infix::Assign(Some(Operator::Xor)), ASSIGN)),
            "||=" | "??=" | "&&=" => Some((Infix::Assign(Some(Operator::Or)), ASSIGN)),
            "*=" | "x=" => Some((Infix::Assign(Some(Operator::Multiply)), ASSIGN)),
            "-=" => Some((Infix::Assign(Some(Operator::Subtract)), ASSIGN)),
            "/=" | "%=" | "**=" | "//=" | ">>=" | "<<=" | "&=" | "|=" | "@=" | ">>>=" => {
                Some((Infix::Assign(Some(Operator::Other)), ASSIGN))
            }
            "=>" => Some((Infix::Pair, ASSIGN)),
            "?" if !matches!(self.lang, Lang::Python | Lang::Lua | Lang::R) => {
                Some((Infix::Question, CHOICE))
            }
            "?:" => chain(Operator::Or, OR),
            "//" if self.lang == Lang::Perl => chain(Operator::Or, OR),
            "||" | "??" => chain(Operator::Or, OR),
            "&&" => chain(Operator::And, AND),
            ".." if self.lang == Lang::Lua => chain(Operator::Concat, SUM),
            ".." | "..." => chain(Operator::Range, RANGE),
            "==" | "!=" | "===" | "!==" | "<" | ">" | "<=" | ">=" | "<>" | "<=>" | "=~" | "!~" | "~="
                if self.head == Head::No || self.lang != Lang::Awk || op != ">" =>
            {
                chain(Operator::Test, TEST)
            }
            "~" if self.lang == Lang::Awk => chain(Operator::Test, TEST),
            "|" if self.lang != Lang::Awk && self.bars == 0 => chain(Operator::BitOr, 11),
            "^" => chain(Operator::Xor, 12),
            "&" => chain(Operator::BitAnd, 13),
            "<<" => chain(Operator::ShiftLeft, 14),
            ">>" if self.lang == Lang::Awk => None,
            ">>" | ">>>" => chain(Operator::ShiftRight, 14),
            "." if matches!(self.lang, Lang::Php | Lang::Perl) => chain(Operator::Concat, SUM),
            "+" => chain(Operator::Add, SUM),
            "-" => chain(Operator::Subtract, SUM),
            "*" => chain(Operator::Multiply, PRODUCT),
            "%" => chain(Operator::Percent, PRODUCT),
            "/" | "//" | "%%" | "%/%" => chain(Operator::Divide, PRODUCT),
            "@" if self.lang == Lang::Python && token.gap != Gap::Line => chain(Operator::Other, PRODUCT),
            "**" => chain(Operator::Power, POWER),
            "|>" => chain(Operator::Other, TEST),
            _ => None,
        }
    }

    /// The precedence at which `not` takes its operand.
    pub(crate) fn not_binds(&self) -> u8 {
        if matches!(self.lang, Lang::Perl | Lang::Ruby) { LOWEST } else { NOT }
    }
}
