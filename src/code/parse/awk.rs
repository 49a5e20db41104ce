//! What only awk has: prints into files and commands, getline.
//!
//! In: tokens. Out: calls of `print`, `>`, `>>`, `|`, `getline|`, `getline<`, `getline` in the tree.
//! Never: more.

use super::expression::{LOWEST, TARGET, UNARY};
use super::parser::{Head, Parser};
use crate::code::token::Tok;
use crate::code::tree::{Id, NOTHING};

impl Parser<'_> {
    /// `print a, b > file`, `print | command`.
    pub(crate) fn awk_print(&mut self, start: usize) -> Id {
        self.skip();
        let head = std::mem::replace(&mut self.head, Head::Yes);
        let mut args = Vec::new();
        while self.peek().is_some_and(|t| !matches!(t.tok, Tok::End | Tok::Op("}" | ">" | ">>" | "|" | "|&")))
        {
            let before = self.at;
            let argument = self.expression(LOWEST);
            if argument != NOTHING {
                args.push(argument);
            }
            if !self.take_op(",") || self.at == before {
                break;
            }
        }
        self.head = head;
        let print = self.call_name("print", &args, start);
        let redirect = [(">", ">"), (">>", ">>"), ("|", "|"), ("|&", "|")]
            .into_iter()
            .find(|(op, _)| self.is_op(op))
            .map(|(_, name)| name);
        let Some(redirect) = redirect else { return print };
        self.skip();
        let target = self.expression(TARGET);
        let all = [&[target], args.as_slice()].concat();
        self.call_name(redirect, &all, start)
    }

    /// `getline`, `getline x`, `getline < file`, `command | getline x`, from after the word.
    pub(crate) fn getline(&mut self, command: Id, start: usize) -> Id {
        let target =
            if self.peek().is_some_and(|t| t.name().is_some_and(|n| !matches!(n, "in" | "while" | "if"))) {
                self.expression(UNARY)
            } else {
                NOTHING
            };
        let made = if command != NOTHING {
            self.call_name("getline|", &[command], start)
        } else if self.take_op("<") {
            let file = self.expression(UNARY);
            self.call_name("getline<", &[file], start)
        } else {
            self.call_name("getline", &[], start)
        };
        if target == NOTHING {
            made
        } else {
            self.push(crate::code::tree::Node::Assign(target, None, made), start)
        }
    }
}
