//! Python's statements.
//!
//! In: tokens with indentation. Out: nodes.
//! Never: insists on grammar; what fits no statement is an expression.

use super::expression::{ASSIGN, LOWEST};
use super::parser::Parser;
use crate::code::token::Tok;
use crate::code::tree::{Id, NOTHING, Node};

impl<'a> Parser<'a> {
    #[expect(clippy::too_many_lines, reason = "one arm for each form of the grammar")]
    pub(crate) fn python_statement(&mut self) -> Id {
        let start = self.here();
        let word = self.peek().and_then(crate::code::token::Token::name).unwrap_or("");
        match word {
            "import" => self.import(start),
            "from" => self.from(start),
            "def" => self.def(start),
            "class" => self.python_class(start),
            "async"
                if self
                    .ahead(1)
                    .is_some_and(|t| t.is_name("def") || t.is_name("for") || t.is_name("with")) =>
            {
                self.skip();
                self.python_statement()
            }
            "for" => self.python_for(start),
            "while" => {
                self.skip();
                let condition = self.expression(LOWEST);
                let body = self.suite();
                self.push(Node::Loop(condition, body), start)
            }
            "if" | "elif" => {
                self.skip();
                let condition = self.expression(LOWEST);
                let body = self.suite();
                self.push_list(Node::If, &[condition, body], start)
            }
            "with" => self.with(start),
            "else" | "try" | "finally" if self.ahead(1).is_some_and(|t| t.is_op(":")) => {
                self.skip();
                let body = self.suite();
                if word == "else" { self.push_list(Node::If, &[NOTHING, body], start) } else { body }
            }
            "except" => {
                self.skip();
                let what = if self.is_op(":") { NOTHING } else { self.expression(LOWEST) };
                if self.take_name("as") {
                    self.name();
                }
                let body = self.suite();
                self.push_list(Node::If, &[what, body], start)
            }
            "return" | "yield" => {
                self.skip();
                let value = self.python_values();
                self.push(Node::Return(value), start)
            }
            "raise" | "assert" | "del" | "global" | "nonlocal" => {
                self.skip();
                if matches!(word, "global" | "nonlocal" | "del") {
                    while !self.is_end() {
                        self.skip();
                    }
                    return NOTHING;
                }
                self.python_values()
            }
            _ if self.is_op("@") => {
                self.skip();
                self.expression(LOWEST)
            }
            _ => self.python_values(),
        }
    }

    /// An expression, or several with commas (which a following `=` may unpack).
    fn python_values(&mut self) -> Id {
        let start = self.here();
        let first = self.expression(LOWEST);
        if self.is_op(":")
            && matches!(self.tree.node(first), Node::Name(_) | Node::Member(..) | Node::Index(..))
        {
            return self.annotated(first, start);
        }
        if !self.is_op(",") {
            return first;
        }
        let mut all = vec![first];
        while self.take_op(",") && !self.is_end() && !self.is_op("=") {
            all.push(self.expression(LOWEST));
        }
        // `a, b = value` was read as `a` and `b = value`
        let Some(Node::Assign(target, None, value)) = all.last().map(|last| self.tree.node(*last).clone())
        else {
            return self.push_list(Node::List, &all, start);
        };
        all.pop();
        all.push(target);
        let targets = self.push_list(Node::List, &all, start);
        self.push(Node::Assign(targets, None, value), start)
    }

    /// `name: type = value`
    fn annotated(&mut self, name: Id, start: usize) -> Id {
        self.skip();
        let kind = self.expression(ASSIGN);
        match self.tree.node(kind).clone() {
            Node::Assign(_, None, value) => self.push(Node::Assign(name, None, value), start),
            _ => NOTHING,
        }
    }

    /// `: statements` on the same line, or a block that is indented.
    fn suite(&mut self) -> Id {
        self.take_op(":");
        let start = self.here();
        if !self.is_end() {
            let mut all = Vec::new();
            while let Some(token) = self.peek() {
                let line_ends =
                    matches!(token.tok, Tok::End) && token.end > token.start && self.is_line_end();
                if line_ends || matches!(token.tok, Tok::Dedent | Tok::Indent) {
                    break;
                }
                let before = self.at;
                if matches!(self.peek().map(|t| &t.tok), Some(Tok::End)) {
                    self.skip();
                    continue;
                }
                all.push(self.statement());
                if self.at == before {
                    self.skip();
                }
            }
            return self.push_list(Node::Block, &all, start);
        }
        self.skip_ends();
        if matches!(self.peek().map(|t| &t.tok), Some(Tok::Indent)) {
            self.skip();
            return self.deeper(|p| p.block_to_dedent(start));
        }
        NOTHING
    }

    /// Whether the statement's end that comes next is a line's (not a semicolon).
    fn is_line_end(&self) -> bool {
        self.ahead(1).is_none_or(|t| t.gap == crate::code::token::Gap::Line)
    }

    fn block_to_dedent(&mut self, start: usize) -> Id {
        let mut all = Vec::new();
        while let Some(token) = self.peek() {
            let before = self.at;
            match token.tok {
                Tok::Dedent => {
                    self.skip();
                    break;
                }
                Tok::End | Tok::Indent => self.skip(),
                _ => all.push(self.statement()),
            }
            if self.at == before {
                self.skip();
            }
        }
        self.push_list(Node::Block, &all, start)
    }

    fn dotted(&mut self) -> &'a str {
        let from = self.at;
        while self.name().is_some() || self.take_op(".") || self.take_op("...") {
            if self.is_name("import") || self.is_name("as") {
                break;
            }
        }
        self.tokens
            .get(from)
            .zip(self.at.checked_sub(1).and_then(|i| self.tokens.get(i)))
            .map_or("", |(a, b)| self.between(a.start, b.end))
    }

    fn import(&mut self, start: usize) -> Id {
        self.skip();
        let mut all = Vec::new();
        loop {
            let module = self.dotted();
            // `import a.b` binds a, `import a.b as c` binds c to a.b
            let root = module.split('.').next().unwrap_or("");
            let node = if self.take_name("as") {
                Node::Import(module, "", self.name().unwrap_or(""))
            } else {
                Node::Import(module, "", root)
            };
            all.push(self.push(node, start));
            if !self.take_op(",") {
                break;
            }
        }
        self.push_list(Node::Block, &all, start)
    }

    fn from(&mut self, start: usize) -> Id {
        self.skip();
        let module = self.dotted();
        self.take_name("import");
        let open = self.take_op("(");
        let mut all = Vec::new();
        loop {
            if self.take_op("*") {
                all.push(self.push(Node::Import(module, "*", "*"), start));
            } else if let Some(member) = self.name() {
                let alias = if self.take_name("as") { self.name().unwrap_or(member) } else { member };
                all.push(self.push(Node::Import(module, member, alias), start));
            }
            if !self.take_op(",") {
                break;
            }
        }
        if open {
            self.close(")");
        }
        self.push_list(Node::Block, &all, start)
    }

    fn def(&mut self, start: usize) -> Id {
        self.skip();
        let name = self.name().unwrap_or("");
        let params = if self.take_op("(") { self.items(")") } else { Vec::new() };
        if self.take_op("->") {
            self.expression(ASSIGN);
        }
        let body = self.suite();
        let function = self.function(&params, body, start);
        self.push(Node::Define(name, function), start)
    }

    fn python_class(&mut self, start: usize) -> Id {
        self.skip();
        let name = self.name().unwrap_or("");
        if self.take_op("(") {
            self.items(")");
        }
        let body = self.suite();
        self.push(Node::Class(name, body), start)
    }

    fn python_for(&mut self, start: usize) -> Id {
        self.skip();
        let target = self.targets();
        self.take_name("in");
        let source = self.python_values();
        let body = self.suite();
        self.push(Node::For(target, source, body), start)
    }

    /// `with a as b, c as d:` binds b and d for the block.
    fn with(&mut self, start: usize) -> Id {
        self.skip();
        let open = self.is_op("(") && self.take_op("(");
        let mut all = Vec::new();
        loop {
            let value = self.expression(ASSIGN);
            if self.take_name("as") {
                let target = self.expression(10);
                all.push(self.push(Node::Assign(target, None, value), start));
            } else {
                all.push(value);
            }
            if !self.take_op(",") {
                break;
            }
        }
        if open && self.take_op(")") && !self.is_op(":") {
            // the parenthesis was part of the expression
            let last = all.pop().unwrap_or(NOTHING);
            let value = self.follow(last, start);
            if self.take_name("as") {
                let target = self.expression(10);
                all.push(self.push(Node::Assign(target, None, value), start));
            } else {
                all.push(value);
            }
        }
        all.push(self.suite());
        self.push_list(Node::Block, &all, start)
    }
}
