//! The tree that the parser makes and the evaluator walks: one shape for all languages.
//!
//! In: nodes in the order in which they are complete. Out: an arena.
//! Never: grows deeper than [`DEPTH_LIMIT`]; what would is cut and remembered.

use crate::text::Span;

/// Deepest tree; what people write stays below 40.
pub(crate) const DEPTH_LIMIT: u8 = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Id(pub(crate) u32);

/// The node that stands for nothing.
pub(crate) const NOTHING: Id = Id(0);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kids {
    start: u32,
    len: u32,
}

/// Operators, as far as they mean something here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    /// numbers add, texts and lists join
    Add,
    /// texts join
    Concat,
    Subtract,
    Multiply,
    /// remainder or format
    Percent,
    Divide,
    Xor,
    BitAnd,
    BitOr,
    ShiftLeft,
    ShiftRight,
    Power,
    And,
    Or,
    Not,
    Negate,
    Invert,
    /// comparisons, matches
    Test,
    Range,
    /// a sequence of values whose last counts, and others
    Other,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node<'a> {
    Nothing,
    Text(String),
    Bytes(String),
    Number(i64),
    /// text in pieces
    Joined(Kids),
    /// shell text that runs: `…`
    Command(Id),
    /// reads from a handle: `<F>`
    Line(Id),
    Name(&'a str),
    /// a regular expression's pattern
    Regex(&'a str),
    List(Kids),
    /// pairs of key and value
    Dict(Kids),
    /// `name = value` among arguments, `key => value`
    Pair(Id, Id),
    /// all items of a list, in place
    Spread(Id),
    /// callee, then arguments
    Call(Kids),
    Member(Id, &'a str),
    /// object, index
    Index(Id, Id),
    /// object, from, to, step
    Slice(Kids),
    Unary(Operator, Id),
    /// operands of a chain of one operator
    Chain(Operator, Kids),
    /// one of two; condition first
    Choice(Id, Id, Id),
    /// target, value; `None`: plain
    Assign(Id, Option<Operator>, Id),
    /// parameters, then the body
    Function(Kids),
    /// element, target, source, condition
    Each(Kids),
    Block(Kids),
    /// condition and what depends on it; evaluated once, variables may keep their values
    If(Kids),
    /// condition, body
    Loop(Id, Id),
    /// target, source, body
    For(Id, Id, Id),
    /// a function with a name
    Define(&'a str, Id),
    /// methods of a class
    Class(&'a str, Id),
    Return(Id),
    /// module, member or "" for all or the module itself, name here
    Import(&'a str, &'a str, &'a str),
}

#[derive(Debug)]
pub(crate) struct Tree<'a> {
    nodes: Vec<Node<'a>>,
    spans: Vec<Span>,
    depths: Vec<u8>,
    kids: Vec<Id>,
    /// Something was cut.
    pub(crate) cut: Cut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    No,
    Yes,
}

impl<'a> Tree<'a> {
    pub(crate) fn new(tokens: usize) -> Self {
        let room = tokens.saturating_add(1);
        let mut tree = Self {
            nodes: Vec::with_capacity(room),
            spans: Vec::with_capacity(room),
            depths: Vec::with_capacity(room),
            kids: Vec::with_capacity(room),
            cut: Cut::No,
        };
        tree.add(Node::Nothing, Span::default(), 0);
        tree
    }

    fn add(&mut self, node: Node<'a>, span: Span, depth: u8) -> Id {
        if depth > DEPTH_LIMIT {
            self.cut = Cut::Yes;
            return NOTHING;
        }
        let id = Id(u32::try_from(self.nodes.len()).unwrap_or(0));
        self.nodes.push(node);
        self.spans.push(span);
        self.depths.push(depth);
        id
    }

    /// A node over those that it names.
    pub(crate) fn push(&mut self, node: Node<'a>, span: Span) -> Id {
        let depth = match &node {
            Node::Nothing
            | Node::Text(_)
            | Node::Bytes(_)
            | Node::Number(_)
            | Node::Name(_)
            | Node::Regex(_)
            | Node::Import(..) => 0,
            Node::Command(a)
            | Node::Line(a)
            | Node::Spread(a)
            | Node::Member(a, _)
            | Node::Unary(_, a)
            | Node::Define(_, a)
            | Node::Class(_, a)
            | Node::Return(a) => self.depth(&[*a]),
            Node::Pair(a, b) | Node::Index(a, b) | Node::Assign(a, _, b) | Node::Loop(a, b) => {
                self.depth(&[*a, *b])
            }
            Node::Choice(a, b, c) | Node::For(a, b, c) => self.depth(&[*a, *b, *c]),
            Node::Joined(k)
            | Node::List(k)
            | Node::Dict(k)
            | Node::Call(k)
            | Node::Slice(k)
            | Node::Chain(_, k)
            | Node::Function(k)
            | Node::Each(k)
            | Node::Block(k)
            | Node::If(k) => self.depth(self.kids(*k)),
        };
        self.add(node, span, depth)
    }

    fn depth(&self, of: &[Id]) -> u8 {
        of.iter()
            .map(|id| self.depths.get(id.0 as usize).copied().unwrap_or(0))
            .max()
            .unwrap_or(0)
            .saturating_add(1)
    }

    pub(crate) fn list(&mut self, ids: &[Id]) -> Kids {
        let kids = Kids {
            start: u32::try_from(self.kids.len()).unwrap_or(u32::MAX),
            len: u32::try_from(ids.len()).unwrap_or(0),
        };
        self.kids.extend_from_slice(ids);
        kids
    }

    pub(crate) fn kids(&self, kids: Kids) -> &[Id] {
        let start = kids.start as usize;
        self.kids.get(start..start.saturating_add(kids.len as usize)).unwrap_or(&[])
    }

    pub(crate) fn node(&self, id: Id) -> &Node<'a> {
        self.nodes.get(id.0 as usize).unwrap_or(&Node::Nothing)
    }

    pub(crate) fn span(&self, id: Id) -> Span {
        self.spans.get(id.0 as usize).copied().unwrap_or_default()
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }
}
