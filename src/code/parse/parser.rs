//! The parser's state and the steps that all its parts take.
//!
//! In: tokens. Out: nodes in the tree.
//! Never: recurses deeper than its bound; never stands still (whoever loops skips a token then).

use crate::code::token::{Gap, Tok, Token};
use crate::code::tree::{Cut, Id, NOTHING, Node, Tree};
use crate::policy::tables::Lang;
use crate::text::Span;

/// Nested brackets, blocks and interpolations that are followed.
const NESTING_LIMIT: u8 = 60;

pub(crate) type Lexer = for<'t> fn(&'t str) -> Vec<Token<'t>>;

pub(crate) struct Parser<'a> {
    /// The text that the tokens' places are in.
    pub(crate) text: &'a str,
    pub(crate) tokens: Vec<Token<'a>>,
    pub(crate) at: usize,
    pub(crate) tree: Tree<'a>,
    pub(crate) lang: Lang,
    pub(crate) lexer: Lexer,
    /// Added to tokens' places: where the text that is being read starts in the whole.
    pub(crate) base: usize,
    pub(crate) nesting: u8,
    /// Inside the head of a loop, where `do` and `{` open the loop's body.
    pub(crate) head: Head,
    /// Brackets that are open in the statement.
    pub(crate) brackets: u32,
    /// Inside ruby's `|a, b|`.
    pub(crate) bars: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    No,
    Yes,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(lang: Lang, lexer: Lexer, text: &'a str) -> Self {
        let tokens = lexer(text);
        let tree = Tree::new(tokens.len());
        Self {
            text,
            tokens,
            at: 0,
            tree,
            lang,
            lexer,
            base: 0,
            nesting: 0,
            head: Head::No,
            brackets: 0,
            bars: 0,
        }
    }

    pub(crate) fn peek(&self) -> Option<&Token<'a>> {
        self.tokens.get(self.at)
    }

    pub(crate) fn ahead(&self, by: usize) -> Option<&Token<'a>> {
        self.tokens.get(self.at.saturating_add(by))
    }

    pub(crate) fn skip(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    pub(crate) fn is_op(&self, op: &str) -> bool {
        self.peek().is_some_and(|t| t.is_op(op))
    }

    pub(crate) fn is_name(&self, name: &str) -> bool {
        self.peek().is_some_and(|t| t.is_name(name))
    }

    pub(crate) fn is_any(&self, names: &[&str]) -> bool {
        self.peek().and_then(Token::name).is_some_and(|n| names.contains(&n))
    }

    pub(crate) fn is_end(&self) -> bool {
        self.peek().is_none_or(|t| matches!(t.tok, Tok::End | Tok::Dedent))
    }

    pub(crate) fn take_op(&mut self, op: &str) -> bool {
        let there = self.is_op(op);
        if there {
            self.skip();
        }
        there
    }

    pub(crate) fn take_name(&mut self, name: &str) -> bool {
        let there = self.is_name(name);
        if there {
            self.skip();
        }
        there
    }

    /// The next token's name, taken.
    pub(crate) fn name(&mut self) -> Option<&'a str> {
        let name = self.peek().and_then(Token::name);
        if name.is_some() {
            self.skip();
        }
        name
    }

    pub(crate) fn gap(&self) -> Gap {
        self.peek().map_or(Gap::Line, |t| t.gap)
    }

    pub(crate) fn skip_ends(&mut self) {
        while self.peek().is_some_and(|t| matches!(t.tok, Tok::End)) {
            self.skip();
        }
    }

    /// Where the next token starts.
    pub(crate) fn here(&self) -> usize {
        self.peek().map_or_else(|| self.before(), |t| t.start)
    }

    /// Where the token before ended.
    fn before(&self) -> usize {
        self.at.checked_sub(1).and_then(|i| self.tokens.get(i)).map_or(0, |t| t.end)
    }

    /// A node that started at `start` and ends before the next token.
    pub(crate) fn push(&mut self, node: Node<'a>, start: usize) -> Id {
        let span =
            Span::new(self.base.saturating_add(start), self.base.saturating_add(self.before().max(start)));
        self.tree.push(node, span)
    }

    pub(crate) fn push_list(
        &mut self,
        make: fn(crate::code::tree::Kids) -> Node<'a>,
        ids: &[Id],
        start: usize,
    ) -> Id {
        let kids = self.tree.list(ids);
        self.push(make(kids), start)
    }

    pub(crate) fn call(&mut self, callee: Id, args: &[Id], start: usize) -> Id {
        let mut all = Vec::with_capacity(args.len().saturating_add(1));
        all.push(callee);
        all.extend_from_slice(args);
        self.push_list(Node::Call, &all, start)
    }

    /// A call of a function by its name.
    pub(crate) fn call_name(&mut self, name: &'a str, args: &[Id], start: usize) -> Id {
        let callee = self.push(Node::Name(name), start);
        self.call(callee, args, start)
    }

    pub(crate) fn function(&mut self, params: &[Id], body: Id, start: usize) -> Id {
        let mut all = params.to_vec();
        all.push(body);
        self.push_list(Node::Function, &all, start)
    }

    /// The text between two places.
    pub(crate) fn between(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or("")
    }

    pub(crate) fn text(&mut self, text: &str, start: usize) -> Id {
        self.push(Node::Text(text.to_owned()), start)
    }

    /// Runs `inner` one level deeper; cuts at the bound.
    pub(crate) fn deeper(&mut self, inner: impl FnOnce(&mut Self) -> Id) -> Id {
        if self.nesting >= NESTING_LIMIT {
            self.tree.cut = Cut::Yes;
            return NOTHING;
        }
        self.nesting = self.nesting.saturating_add(1);
        let id = inner(self);
        self.nesting = self.nesting.saturating_sub(1);
        id
    }

    /// Reads an expression (or statements) that stands inside a token: an interpolation.
    pub(crate) fn inside(&mut self, code: &'a str, offset: usize, read: fn(&mut Self) -> Id) -> Id {
        self.deeper(|p| {
            let tokens = std::mem::replace(&mut p.tokens, (p.lexer)(code));
            let at = std::mem::replace(&mut p.at, 0);
            let text = std::mem::replace(&mut p.text, code);
            let base = p.base;
            p.base = base.saturating_add(offset);
            let id = read(p);
            p.tokens = tokens;
            p.at = at;
            p.text = text;
            p.base = base;
            id
        })
    }
}
