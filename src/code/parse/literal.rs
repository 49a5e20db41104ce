//! String literals, with what is interpolated in them, and brackets that make maps or blocks.
//!
//! In: tokens. Out: nodes.
//! Never: interprets what a text says.

use super::expression::ASSIGN;
use super::parser::Parser;
use crate::code::token::{Bit, Gap, Quote, Tok};
use crate::code::tree::{Id, NOTHING, Node};
use crate::policy::tables::Lang;

impl<'a> Parser<'a> {
    /// One or more string literals side by side.
    pub(crate) fn literal(&mut self, start: usize) -> Id {
        let mut parts = Vec::new();
        let mut kind = Quote::Text;
        while let Some(Tok::Text(quote, bits)) = self.peek().map(|t| t.tok.clone()) {
            if !parts.is_empty()
                && (quote == Quote::Command || quote == Quote::Words || !self.joins_literals())
            {
                break;
            }
            kind = quote;
            self.skip();
            if quote == Quote::Words {
                return self.words(&bits, start);
            }
            for bit in bits {
                match bit {
                    Bit::Lit(text) if text.is_empty() => {}
                    Bit::Lit(text) => parts.push(self.push(
                        if quote == Quote::Bytes { Node::Bytes(text) } else { Node::Text(text) },
                        start,
                    )),
                    Bit::Code(code, at) => {
                        parts.push(self.inside(code, at, super::parser::Parser::statements_to_end));
                    }
                }
            }
            if matches!(quote, Quote::Command | Quote::Line) {
                break;
            }
        }
        let text = match parts.as_slice() {
            [] => self.text("", start),
            [one] if kind != Quote::Text || matches!(self.tree.node(*one), Node::Text(_)) => *one,
            _ => self.push_list(Node::Joined, &parts, start),
        };
        match kind {
            Quote::Command => self.push(Node::Command(text), start),
            Quote::Line => self.push(Node::Line(text), start),
            Quote::Text | Quote::Bytes | Quote::Words => text,
        }
    }

    fn joins_literals(&self) -> bool {
        matches!(self.lang, Lang::Python) || (self.lang == Lang::Ruby && self.gap() != Gap::Line)
    }

    fn words(&mut self, bits: &[Bit<'a>], start: usize) -> Id {
        let mut items = Vec::new();
        for bit in bits {
            if let Bit::Lit(text) = bit {
                for word in text.split_ascii_whitespace() {
                    items.push(self.text(word, start));
                }
            }
        }
        self.push_list(Node::List, &items, start)
    }

    /// `{ … }` where an operand may stand: a map, a set, a table, or a block that has a value.
    pub(crate) fn braces(&mut self, start: usize) -> Id {
        let is_block = self.lang == Lang::R;
        let is_reference = self.peek().is_some_and(|t| matches!(t.tok, Tok::Op(o) if o.len() > 1));
        self.skip();
        if is_block {
            return self.block("}");
        }
        let items = self.items("}");
        if is_reference {
            return items.last().copied().unwrap_or(NOTHING);
        }
        match items.as_slice() {
            [one] if matches!(self.tree.node(*one), Node::Each(_)) => *one,
            _ if self.lang == Lang::Python
                && !items.is_empty()
                && !items.iter().any(|i| matches!(self.tree.node(*i), Node::Pair(..) | Node::Spread(_))) =>
            {
                self.push_list(Node::List, &items, start)
            }
            _ => self.push_list(Node::Dict, &items, start),
        }
    }

    /// Whether the parenthesis that comes next holds the parameters of an arrow function.
    pub(crate) fn is_arrow(&self) -> bool {
        let mut depth = 0_u32;
        for (n, token) in self.tokens.iter().skip(self.at).enumerate() {
            match token.tok {
                Tok::Op("(" | "[" | "{") => depth = depth.saturating_add(1),
                Tok::Op(")" | "]" | "}") => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return self.ahead(n.saturating_add(1)).is_some_and(|t| t.is_op("=>"));
                    }
                }
                // parameters hold few tokens: what is longer is no parameter list, and looking on would cost
                _ if n > 60 => return false,
                Tok::End => return false,
                Tok::Name(_)
                | Tok::Number(_)
                | Tok::Text(..)
                | Tok::Regex(_)
                | Tok::Code(..)
                | Tok::Op(_)
                | Tok::Indent
                | Tok::Dedent => {}
            }
        }
        false
    }

    /// `(a, b) => …`
    pub(crate) fn arrow(&mut self, start: usize) -> Id {
        self.skip();
        let params = self.items(")");
        self.take_op("=>");
        self.arrow_body(&params, start)
    }

    pub(crate) fn arrow_body(&mut self, params: &[Id], start: usize) -> Id {
        let body = if self.take_op("{") { self.block("}") } else { self.expression(ASSIGN) };
        self.function(params, body, start)
    }
}
