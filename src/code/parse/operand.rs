//! Operands: literals, names, brackets, prefix operators, and what may follow an operand: calls,
//! members, indexes.
//!
//! In: tokens. Out: nodes.
//! Never: takes a closing bracket that it did not open.

use super::expression::{ASSIGN, LOWEST, TARGET, UNARY};
use super::parser::{Head, Parser};
use crate::code::token::{Gap, Quote, Tok};
use crate::code::tree::{Id, NOTHING, Node, Operator};
use crate::policy::tables::Lang;

impl Parser<'_> {
    pub(crate) fn unary(&mut self) -> Id {
        let start = self.here();
        let Some(token) = self.peek() else { return NOTHING };
        match token.tok {
            Tok::Op(op) => {
                let operator = match op {
                    "-" => Operator::Negate,
                    "!" => Operator::Not,
                    "~" => Operator::Invert,
                    "*" | "**" | "..." | "*@" if !matches!(self.lang, Lang::Perl) => return self.spread(),
                    "+" | "\\" | "@" | "&" | "++" | "--" | "::" | "*" | "<:" | "?" | "..." => Operator::Other,
                    _ => return self.postfix(),
                };
                if op == "@" && self.lang == Lang::Python {
                    return NOTHING;
                }
                self.skip();
                let operand = self.expression(UNARY);
                if operator == Operator::Other {
                    operand
                } else {
                    self.push(Node::Unary(operator, operand), start)
                }
            }
            Tok::Name("not") => {
                self.skip();
                let operand = self.expression(self.not_binds());
                self.push(Node::Unary(Operator::Not, operand), start)
            }
            Tok::Name("my" | "our" | "local" | "state") if self.lang == Lang::Perl => {
                self.skip();
                self.unary()
            }
            Tok::Name("await" | "typeof" | "void" | "async" | "yield" | "delete" | "throw")
                if self.lang == Lang::Node =>
            {
                self.prefix_word()
            }
            Tok::Name("await" | "yield" | "from") if self.lang == Lang::Python => self.prefix_word(),
            Tok::Name(
                "new" | "clone" | "throw" | "include" | "include_once" | "require" | "require_once" | "print"
                | "echo",
            ) if self.lang == Lang::Php => self.php_prefix(),
            Tok::Name("new") if self.lang == Lang::Node => self.prefix_word(),
            Tok::Name("new")
                if self.lang == Lang::Perl && self.ahead(1).is_some_and(|t| t.name().is_some()) =>
            {
                self.perl_new()
            }
            Tok::Name(_) | Tok::Number(_) | Tok::Text(..) | Tok::Regex(_) | Tok::Code(..) => self.postfix(),
            Tok::End | Tok::Indent | Tok::Dedent => NOTHING,
        }
    }

    fn prefix_word(&mut self) -> Id {
        self.skip();
        self.expression(UNARY)
    }

    fn php_prefix(&mut self) -> Id {
        let start = self.here();
        let word = self.name().unwrap_or("");
        match word {
            "new" | "clone" | "throw" => self.expression(UNARY),
            _ => {
                let argument = self.expression(ASSIGN);
                self.call_name(word, &[argument], start)
            }
        }
    }

    /// `new Class(…)`: the same as `Class->new(…)`.
    fn perl_new(&mut self) -> Id {
        let start = self.here();
        self.skip();
        let class = self.name().unwrap_or("");
        let class = self.push(Node::Name(class), start);
        let callee = self.push(Node::Member(class, "new"), start);
        let args = if self.take_op("(") { self.items(")") } else { Vec::new() };
        let made = self.call(callee, &args, start);
        self.follow(made, start)
    }

    fn spread(&mut self) -> Id {
        let start = self.here();
        self.skip();
        if self.is_op(")") || self.is_op(",") {
            return NOTHING;
        }
        let operand = self.expression(TARGET);
        self.push(Node::Spread(operand), start)
    }

    fn postfix(&mut self) -> Id {
        let start = self.here();
        let first = self.primary();
        self.follow(first, start)
    }

    /// What follows an operand.
    pub(crate) fn follow(&mut self, first: Id, start: usize) -> Id {
        let mut left = first;
        while let Some(token) = self.peek() {
            let tight = token.gap == Gap::Nothing;
            let same_line = token.gap != Gap::Line;
            let next = match token.tok {
                Tok::Op("(") if self.lang == Lang::Awk && !(tight && self.is_callable(left)) => return left,
                Tok::Op("(") if same_line || self.lang == Lang::Node => self.called(left, start),
                Tok::Op("[") if tight || (same_line && !self.takes_bare(left)) => self.indexed(left, start),
                Tok::Op("{") if self.lang == Lang::Perl && tight && self.is_subscripted(left) => {
                    self.keyed(left, start)
                }
                Tok::Op("{") if self.lang == Lang::Lua && same_line && self.is_callable(left) => {
                    self.lua_argument(left, start)
                }
                Tok::Op("{") if self.lang == Lang::Ruby && same_line && self.is_callable(left) => {
                    self.ruby_block(left, start, "}")
                }
                Tok::Name("do")
                    if self.lang == Lang::Ruby && self.head == Head::No && self.is_callable(left) =>
                {
                    self.ruby_block(left, start, "end")
                }
                Tok::Text(Quote::Text, _) if self.lang == Lang::Lua && self.is_callable(left) => {
                    self.lua_argument(left, start)
                }
                Tok::Text(Quote::Text, _) if self.lang == Lang::Node && tight && self.is_callable(left) => {
                    self.lua_argument(left, start)
                }
                Tok::Op("++" | "--") if same_line => {
                    self.skip();
                    left
                }
                Tok::Op(op) if self.joins_member(op) => {
                    self.skip();
                    self.member(left, start)
                }
                _ if self.takes_bare(left) && same_line && self.starts_argument() => {
                    self.bare_call(left, start)
                }
                _ => return left,
            };
            left = next;
        }
        left
    }

    fn joins_member(&self, op: &str) -> bool {
        match self.lang {
            Lang::Php => matches!(op, "->" | "::" | "?->"),
            Lang::Perl => op == "->",
            Lang::Ruby => matches!(op, "." | "::" | "&."),
            Lang::Lua => matches!(op, "." | ":"),
            Lang::R => matches!(op, "::" | ":::" | "$" | "@"),
            Lang::Awk => false,
            _ => matches!(op, "." | "?."),
        }
    }

    fn member(&mut self, left: Id, start: usize) -> Id {
        let Some(token) = self.peek() else { return left };
        match token.tok {
            Tok::Name(name) if name.starts_with('$') => {
                self.skip();
                let name = self.push(Node::Name(name), start);
                self.push(Node::Index(left, name), start)
            }
            Tok::Name(name) => {
                self.skip();
                self.push(Node::Member(left, name), start)
            }
            Tok::Op("{") => self.keyed(left, start),
            Tok::Text(Quote::Text, _) => {
                let name = self.primary();
                self.push(Node::Index(left, name), start)
            }
            Tok::Op("#") => {
                self.skip();
                left
            }
            _ => left,
        }
    }

    fn called(&mut self, left: Id, start: usize) -> Id {
        self.skip();
        let args = self.items(")");
        self.call(left, &args, start)
    }

    fn lua_argument(&mut self, left: Id, start: usize) -> Id {
        let argument = self.primary();
        self.call(left, &[argument], start)
    }

    fn primary(&mut self) -> Id {
        let start = self.here();
        let Some(token) = self.peek() else { return NOTHING };
        match &token.tok {
            Tok::Name(_) => self.word(start),
            Tok::Number(value) => {
                let value = *value;
                self.skip();
                value.map_or(NOTHING, |v| self.push(Node::Number(v), start))
            }
            Tok::Text(..) => self.literal(start),
            Tok::Regex(pattern) => {
                let pattern = *pattern;
                self.skip();
                self.push(Node::Regex(pattern), start)
            }
            Tok::Code(text, at) => {
                let (text, at) = (*text, *at);
                self.skip();
                self.inside(text, at, super::parser::Parser::statements_to_end)
            }
            Tok::Op("(") => self.parenthesis(start),
            Tok::Op("[" | "@[") => {
                self.skip();
                let items = self.items("]");
                self.list_or_each(&items, start)
            }
            Tok::Op("{" | "@{" | "%{" | "${") => self.braces(start),
            Tok::Op(")" | "]" | "}" | "," | ";" | ":") | Tok::End | Tok::Indent | Tok::Dedent => NOTHING,
            Tok::Op("->") if self.lang == Lang::Ruby => self.stabby(start),
            Tok::Op(_) => {
                self.skip();
                NOTHING
            }
        }
    }

    fn parenthesis(&mut self, start: usize) -> Id {
        if self.lang == Lang::Node && self.is_arrow() {
            return self.arrow(start);
        }
        self.skip();
        let before = self.at;
        let items = self.items(")");
        let had_comma = self.tokens.get(before..self.at).is_some_and(|t| t.iter().any(|t| t.is_op(",")));
        match items.as_slice() {
            [one] if matches!(self.tree.node(*one), Node::Each(_)) || !had_comma => *one,
            [.., last] if self.lang == Lang::Node => {
                let last = *last;
                self.push_list(Node::Block, &items, start);
                let kids = self.tree.list(&[items.as_slice(), &[last]].concat());
                self.push(Node::Chain(Operator::Other, kids), start)
            }
            _ => self.push_list(Node::List, &items, start),
        }
    }

    fn list_or_each(&mut self, items: &[Id], start: usize) -> Id {
        match items {
            [one] if matches!(self.tree.node(*one), Node::Each(_)) => *one,
            _ => self.push_list(Node::List, items, start),
        }
    }

    /// The items of a bracket that is open, up to and including its close.
    pub(crate) fn items(&mut self, close: &str) -> Vec<Id> {
        let (brackets, head) = (self.brackets, self.head);
        self.brackets = brackets.saturating_add(1);
        self.head = Head::No;
        let mut items = Vec::new();
        while let Some(token) = self.peek() {
            if token.is_op(close) {
                self.skip();
                break;
            }
            let before = self.at;
            match token.tok {
                Tok::Op(",") | Tok::End | Tok::Indent => self.skip(),
                Tok::Dedent => break,
                _ => {
                    let item = self.item();
                    if item != NOTHING {
                        items.push(item);
                    }
                }
            }
            if self.at == before {
                self.skip();
            }
        }
        self.brackets = brackets;
        self.head = head;
        items
    }

    fn item(&mut self) -> Id {
        let start = self.here();
        let first = self.expression(LOWEST);
        if self.lang == Lang::Python
            && (self.is_name("for")
                || (self.is_name("async") && self.ahead(1).is_some_and(|t| t.is_name("for"))))
        {
            return self.comprehension(first, start);
        }
        if self.is_op(":") {
            self.skip();
            let value = self.expression(ASSIGN);
            let pair = self.push(Node::Pair(first, value), start);
            return if self.lang == Lang::Python && self.is_name("for") {
                self.comprehension(pair, start)
            } else {
                pair
            };
        }
        first
    }

    /// `element for target in source if condition …`
    fn comprehension(&mut self, element: Id, start: usize) -> Id {
        self.take_name("async");
        self.skip();
        let target = self.targets();
        self.take_name("in");
        let source = self.expression(4);
        let mut conditions = Vec::new();
        while self.take_name("if") {
            conditions.push(self.expression(5));
        }
        let inner = if self.is_name("for") { self.comprehension(element, start) } else { element };
        let condition = self.push_list(Node::Block, &conditions, start);
        self.push_list(Node::Each, &[inner, target, source, condition], start)
    }

    /// `a, (b, c)`: what a loop binds.
    pub(crate) fn targets(&mut self) -> Id {
        let start = self.here();
        let mut all = vec![self.expression(TARGET)];
        while self.take_op(",") {
            all.push(self.expression(TARGET));
        }
        match all.as_slice() {
            [one] => *one,
            _ => self.push_list(Node::List, &all, start),
        }
    }
}
