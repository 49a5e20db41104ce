//! Names where an operand may stand: functions without a name, calls without parentheses, blocks
//! given to calls.
//!
//! In: tokens. Out: nodes.
//! Never: decides what a name means.

use super::expression::{ASSIGN, LOWEST};
use super::parser::{Head, Parser};
use crate::code::token::{Gap, Quote, Tok};
use crate::code::tree::{Id, NOTHING, Node};
use crate::policy::tables::Lang;

/// Words that never begin an argument, nor are called without parentheses.
const INFIX_WORDS: &[&str] = &[
    "if",
    "unless",
    "while",
    "until",
    "for",
    "foreach",
    "and",
    "or",
    "xor",
    "do",
    "then",
    "end",
    "x",
    "eq",
    "ne",
    "lt",
    "gt",
    "le",
    "ge",
    "cmp",
    "rescue",
    "in",
    "else",
    "elsif",
    "when",
    "ensure",
    "instanceof",
    "as",
    "isa",
    "return",
    "not",
];

impl<'a> Parser<'a> {
    /// A name, or what a word begins.
    pub(crate) fn word(&mut self, start: usize) -> Id {
        let Some(word) = self.name() else { return NOTHING };
        match (word, self.lang) {
            ("lambda", Lang::Python) => self.python_lambda(start),
            ("function", Lang::Node | Lang::Php | Lang::Lua | Lang::R | Lang::Awk)
            | ("sub", Lang::Perl)
            | ("fn", Lang::Php)
            | ("func", Lang::Awk) => self.anonymous(start),
            ("class", Lang::Node | Lang::Php) => self.class(start),
            (
                "def" | "class" | "module" | "begin" | "case" | "if" | "unless" | "while" | "until" | "for",
                Lang::Ruby,
            ) => {
                self.at = self.at.saturating_sub(1);
                self.statement()
            }
            ("getline", Lang::Awk) => self.getline(NOTHING, start),
            ("if" | "for" | "while" | "repeat", Lang::R) => {
                self.at = self.at.saturating_sub(1);
                self.statement()
            }
            ("do", Lang::Perl) if self.is_op("{") => {
                self.skip();
                self.block("}")
            }
            ("do", Lang::Perl)
                if self.peek().is_some_and(|t| {
                    matches!(t.tok, Tok::Text(..)) || t.name().is_some_and(|n| n.starts_with('$'))
                }) =>
            {
                let file = self.expression(ASSIGN);
                self.call_name(word, &[file], start)
            }
            ("eval", Lang::Perl) if self.is_op("{") => {
                self.skip();
                self.block("}")
            }
            (_, Lang::Node | Lang::Php) if self.is_op("=>") && self.lang == Lang::Node => {
                self.skip();
                let param = self.push(Node::Name(word), start);
                self.arrow_body(&[param], start)
            }
            (_, Lang::Perl) if self.is_op("=>") => self.text(word, start),
            (_, Lang::Perl) if word.starts_with('-') => self.text(word, start),
            _ => self.push(Node::Name(word), start),
        }
    }

    fn python_lambda(&mut self, start: usize) -> Id {
        let mut params = Vec::new();
        while !self.is_op(":") && !self.is_end() {
            let before = self.at;
            params.push(self.expression(ASSIGN));
            self.take_op(",");
            if self.at == before {
                self.skip();
            }
        }
        self.take_op(":");
        let body = self.expression(ASSIGN);
        self.function(&params, body, start)
    }

    /// `function name(a, b) { … }`, `function(a) … end`, `sub { … }`, `fn($x) => …`, from after the word.
    pub(crate) fn anonymous(&mut self, start: usize) -> Id {
        self.take_op("*");
        self.take_op("&");
        let name = self.dotted_name();
        let params = if self.take_op("(") { self.items(")") } else { Vec::new() };
        if self.take_name("use") && self.take_op("(") {
            self.items(")");
        }
        while self.is_op(":") || self.is_op("?") {
            self.skip();
            self.name();
        }
        let body = if self.take_op("{") {
            self.block("}")
        } else if self.lang == Lang::Lua {
            self.block("end")
        } else {
            self.take_op("=>");
            self.expression(ASSIGN)
        };
        let function = self.function(&params, body, start);
        match name {
            Some(name) => self.push(Node::Define(name, function), start),
            None => function,
        }
    }

    /// The last part of `a.b:c`.
    fn dotted_name(&mut self) -> Option<&'a str> {
        let mut name = self.name();
        while (self.is_op(".") || self.is_op(":"))
            && name.is_some()
            && self.ahead(1).is_some_and(|t| t.name().is_some())
        {
            self.skip();
            name = self.name();
        }
        name
    }

    /// A class's head and methods, from after the word.
    pub(crate) fn class(&mut self, start: usize) -> Id {
        let name = if self.is_op("{") { None } else { self.name() };
        while !self.is_op("{") && !self.is_end() {
            self.skip();
        }
        let body = if self.take_op("{") { self.block("}") } else { NOTHING };
        self.push(Node::Class(name.unwrap_or(""), body), start)
    }

    pub(crate) fn is_callable(&self, id: Id) -> bool {
        match self.tree.node(id) {
            Node::Name(name) => !INFIX_WORDS.contains(name),
            Node::Member(..) | Node::Call(_) | Node::Index(..) => true,
            _ => false,
        }
    }

    /// Whether this may be a variable that `{` subscripts.
    pub(crate) fn is_subscripted(&self, id: Id) -> bool {
        match self.tree.node(id) {
            Node::Name(name) => name.starts_with('$'),
            Node::Index(..) | Node::Member(..) => true,
            _ => false,
        }
    }

    /// Whether this is a name that takes arguments without parentheses.
    pub(crate) fn takes_bare(&self, id: Id) -> bool {
        match (self.tree.node(id), self.lang) {
            (Node::Name(name), Lang::Perl | Lang::Ruby) => {
                !name.starts_with(['$', '@', '%', '&'])
                    && !INFIX_WORDS.contains(name)
                    && !matches!(
                        *name,
                        "self" | "true" | "false" | "nil" | "undef" | "__FILE__" | "wantarray"
                    )
            }
            (Node::Name(name), Lang::Php) => matches!(
                *name,
                "echo" | "print" | "include" | "require" | "include_once" | "require_once" | "exit" | "die"
            ),
            (Node::Name(name), Lang::Python) => matches!(*name, "print" | "exec"),
            (Node::Member(_, name), Lang::Ruby) => !matches!(*name, "freeze"),
            _ => false,
        }
    }

    /// Whether the next token can begin an argument of a call without parentheses.
    pub(crate) fn starts_argument(&self) -> bool {
        let Some(token) = self.peek() else { return false };
        let spaced = token.gap != Gap::Nothing;
        let next_is_tight = self.ahead(1).is_some_and(|t| t.gap == Gap::Nothing);
        match token.tok {
            Tok::Text(Quote::Text | Quote::Bytes, _) => true,
            _ if matches!(self.lang, Lang::Python) => false,
            Tok::Text(..) | Tok::Number(_) => true,
            Tok::Regex(_) | Tok::Code(..) => spaced,
            Tok::Name(name) => {
                let is_variable = name.starts_with(['$', '@', '%']);
                (spaced || is_variable) && !INFIX_WORDS.contains(&name)
            }
            Tok::Op("[" | "-" | "*" | "&" | "::" | "**" | ":") => {
                spaced && next_is_tight && (self.lang == Lang::Ruby || token.is_op("-"))
            }
            Tok::Op("->") => spaced && self.lang == Lang::Ruby,
            Tok::Op("!") => spaced && next_is_tight,
            Tok::Op("\\" | "@{" | "%{" | "${" | "+") => self.lang == Lang::Perl,
            Tok::Op("{") => self.lang == Lang::Perl && spaced,
            Tok::Op("(") => true,
            Tok::Op(_) | Tok::End | Tok::Indent | Tok::Dedent => false,
        }
    }

    /// A call without parentheses: arguments to the end of the statement or a word that binds lower.
    pub(crate) fn bare_call(&mut self, callee: Id, start: usize) -> Id {
        let mut args = Vec::new();
        let takes_block =
            self.lang == Lang::Perl && self.is_op("{") && matches!(self.tree.node(callee), Node::Name(_));
        if takes_block {
            let at = self.here();
            self.skip();
            let body = self.block("}");
            args.push(self.function(&[], body, at));
            self.take_op(",");
        }
        while self
            .peek()
            .is_some_and(|t| !matches!(t.tok, Tok::End | Tok::Dedent | Tok::Op(")" | "]" | "}" | ";")))
        {
            if self.is_any(INFIX_WORDS) {
                break;
            }
            let before = self.at;
            let argument = self.argument();
            if argument != NOTHING {
                args.push(argument);
            }
            let comma = self.take_op(",") || self.take_op("=>");
            if comma && self.lang == Lang::Ruby {
                self.skip_ends();
            }
            // perl's `print HANDLE list` has no comma between
            let goes_on = comma || (self.lang == Lang::Perl && self.starts_argument());
            if !goes_on || self.at == before {
                break;
            }
        }
        self.call(callee, &args, start)
    }

    fn argument(&mut self) -> Id {
        let start = self.here();
        let first = self.expression(ASSIGN);
        if self.is_op(":") && self.lang == Lang::Ruby {
            self.skip();
            let value = self.expression(ASSIGN);
            return self.push(Node::Pair(first, value), start);
        }
        first
    }

    /// `{ |a, b| … }` or `do |a| … end` after a call: its last argument.
    pub(crate) fn ruby_block(&mut self, callee: Id, start: usize, close: &str) -> Id {
        let at = self.here();
        self.skip();
        let params = self.ruby_params();
        let head = std::mem::replace(&mut self.head, Head::No);
        let body = self.block(close);
        self.head = head;
        let block = self.function(&params, body, at);
        match self.tree.node(callee).clone() {
            Node::Call(kids) => {
                let mut all = self.tree.kids(kids).to_vec();
                all.push(block);
                self.push_list(Node::Call, &all, start)
            }
            _ => self.call(callee, &[block], start),
        }
    }

    fn ruby_params(&mut self) -> Vec<Id> {
        let mut params = Vec::new();
        if self.take_op("||") || !self.take_op("|") {
            return params;
        }
        self.bars = self.bars.saturating_add(1);
        while self.peek().is_some_and(|t| !t.is_op("|") && !matches!(t.tok, Tok::End)) {
            let before = self.at;
            params.push(self.expression(LOWEST));
            self.take_op(",");
            if self.at == before {
                self.skip();
            }
        }
        self.bars = self.bars.saturating_sub(1);
        self.take_op("|");
        params
    }

    /// `->(x) { … }`
    pub(crate) fn stabby(&mut self, start: usize) -> Id {
        self.skip();
        let params = if self.take_op("(") { self.items(")") } else { Vec::new() };
        let body = if self.take_op("{") {
            self.block("}")
        } else if self.take_name("do") {
            self.block("end")
        } else {
            NOTHING
        };
        self.function(&params, body, start)
    }
}
