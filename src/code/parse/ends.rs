//! Statements of ruby and lua, whose blocks close with `end`.
//!
//! In: tokens. Out: nodes.
//! Never: insists on grammar.

use super::expression::{LOWEST, TARGET};
use super::parser::{Head, Parser};
use crate::code::token::{Gap, Token};
use crate::code::tree::{Id, NOTHING, Node};
use crate::policy::tables::Lang;

impl Parser<'_> {
    pub(crate) fn ended_statement(&mut self, start: usize) -> Id {
        let word = self.peek().and_then(Token::name).unwrap_or("");
        match (word, self.lang) {
            ("if" | "unless" | "elsif" | "elseif" | "case", _) => {
                self.skip();
                let condition = if self.is_end() { NOTHING } else { self.head(LOWEST) };
                let body = self.block("end");
                let made = self.push_list(Node::If, &[condition, body], start);
                self.follow(made, start)
            }
            ("while" | "until", _) => {
                self.skip();
                let condition = self.head(LOWEST);
                self.take_name("do");
                let body = self.block("end");
                self.push(Node::Loop(condition, body), start)
            }
            ("for", _) => self.ended_for(start),
            ("begin", Lang::Ruby) | ("do", Lang::Lua) => {
                self.skip();
                let made = self.block("end");
                self.follow(made, start)
            }
            ("repeat", Lang::Lua) => {
                self.skip();
                let body = self.block("until");
                let condition = self.expression(LOWEST);
                self.push(Node::Loop(condition, body), start)
            }
            ("def", Lang::Ruby) => self.ruby_def(start),
            ("class" | "module", Lang::Ruby) => {
                self.skip();
                let name = self.name().unwrap_or("");
                while !self.is_end() {
                    self.skip();
                }
                let body = self.block("end");
                self.push(Node::Class(name, body), start)
            }
            ("local", Lang::Lua) => {
                self.skip();
                self.lua_values(start)
            }
            ("return" | "next" | "break", _) => {
                self.skip();
                let nothing = self.is_end()
                    || self.is_any(&["end", "if", "unless", "else"])
                    || self.gap() == Gap::Line
                    || self.is_op("}");
                let value = if nothing { NOTHING } else { self.expression(LOWEST) };
                self.push(Node::Return(value), start)
            }
            ("end" | "then" | "else", _) => {
                self.skip();
                NOTHING
            }
            _ => self.lua_values(start),
        }
    }

    /// A condition or list in the head of a loop, where `do` opens the body.
    fn head(&mut self, least: u8) -> Id {
        let head = std::mem::replace(&mut self.head, Head::Yes);
        let id = self.expression(least);
        self.head = head;
        id
    }

    /// An expression, or `a, b = values`.
    fn lua_values(&mut self, start: usize) -> Id {
        let first = self.expression(LOWEST);
        if !self.is_op(",") {
            return first;
        }
        let mut all = vec![first];
        while self.take_op(",") {
            let before = self.at;
            all.push(self.expression(LOWEST));
            if self.at == before {
                break;
            }
        }
        let Some(Node::Assign(target, None, value)) = all.last().map(|last| self.tree.node(*last).clone())
        else {
            return self.push_list(Node::Block, &all, start);
        };
        all.pop();
        all.push(target);
        let targets = self.push_list(Node::List, &all, start);
        self.push(Node::Assign(targets, None, value), start)
    }

    fn ended_for(&mut self, start: usize) -> Id {
        self.skip();
        let target = self.targets();
        if self.take_op("=") {
            while !self.is_name("do") && !self.is_end() {
                let before = self.at;
                self.head(LOWEST);
                if self.at == before {
                    self.skip();
                }
            }
            self.take_name("do");
            let body = self.block("end");
            return self.push(Node::For(target, NOTHING, body), start);
        }
        self.take_name("in");
        let source = self.head(LOWEST);
        while !self.is_name("do") && !self.is_end() {
            self.skip();
        }
        self.take_name("do");
        let body = self.block("end");
        self.push(Node::For(target, source, body), start)
    }

    fn ruby_def(&mut self, start: usize) -> Id {
        self.skip();
        let mut name = self.name().unwrap_or("");
        if self.take_op(".") {
            name = self.name().unwrap_or(name);
        }
        let mut params = Vec::new();
        if self.take_op("(") {
            params = self.items(")");
        } else {
            while !self.is_end() && !self.is_op("=") {
                let before = self.at;
                params.push(self.expression(TARGET));
                self.take_op(",");
                if self.at == before {
                    self.skip();
                }
            }
        }
        let body = if self.take_op("=") { self.expression(LOWEST) } else { self.block("end") };
        let function = self.function(&params, body, start);
        self.push(Node::Define(name, function), start)
    }
}
