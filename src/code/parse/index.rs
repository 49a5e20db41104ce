//! Indexes, slices and keys after an operand.
//!
//! In: tokens from an opening bracket on. Out: nodes.
//! Never: goes past the statement to find a closing bracket.

use super::expression::LOWEST;
use super::parser::Parser;
use crate::code::token::Tok;
use crate::code::tree::{Id, NOTHING, Node};

impl Parser<'_> {
    /// `x[i]`, `x[a:b:c]`.
    pub(crate) fn indexed(&mut self, left: Id, start: usize) -> Id {
        self.skip();
        let mut parts = vec![left];
        let mut colons = 0;
        self.brackets = self.brackets.saturating_add(1);
        if self.is_op(":") {
            parts.push(NOTHING);
        } else {
            parts.push(self.expression(LOWEST));
        }
        while self.is_op(":") || self.is_op(",") || self.is_op("::") {
            colons += if self.is_op("::") { 2 } else { 1 };
            if self.is_op("::") {
                parts.push(NOTHING);
            }
            self.skip();
            let nothing = self.is_op(":") || self.is_op("]") || self.is_op(",");
            parts.push(if nothing { NOTHING } else { self.expression(LOWEST) });
        }
        self.brackets = self.brackets.saturating_sub(1);
        self.close("]");
        match parts.as_slice() {
            [object, index] if colons == 0 => self.push(Node::Index(*object, *index), start),
            _ => self.push_list(Node::Slice, &parts, start),
        }
    }

    /// `$h{key}`, `$h->{key}`: a bare word is a text.
    pub(crate) fn keyed(&mut self, left: Id, start: usize) -> Id {
        self.skip();
        let word = self
            .peek()
            .and_then(crate::code::token::Token::name)
            .filter(|n| !n.starts_with('$') && self.ahead(1).is_some_and(|t| t.is_op("}")));
        let key = if let Some(word) = word {
            self.skip();
            self.text(word, start)
        } else {
            self.expression(LOWEST)
        };
        self.close("}");
        self.push(Node::Index(left, key), start)
    }

    /// Skips to and past a closing bracket, within the statement.
    pub(crate) fn close(&mut self, close: &str) {
        let mut depth = 0_u32;
        while let Some(token) = self.peek() {
            if depth == 0 && token.is_op(close) {
                self.skip();
                return;
            }
            match token.tok {
                Tok::Op("(" | "[" | "{") => depth = depth.saturating_add(1),
                Tok::Op(")" | "]" | "}") if depth == 0 => return,
                Tok::Op(")" | "]" | "}") => depth = depth.saturating_sub(1),
                Tok::Indent | Tok::Dedent => return,
                Tok::Op(_)
                | Tok::Name(_)
                | Tok::Number(_)
                | Tok::Text(..)
                | Tok::Regex(_)
                | Tok::Code(..)
                | Tok::End => {}
            }
            self.skip();
        }
    }
}
