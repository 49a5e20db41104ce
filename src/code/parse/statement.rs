//! Statements of the languages with braces or `end`, and blocks of all.
//!
//! In: tokens. Out: nodes.
//! Never: insists on grammar; what fits no statement is an expression.

use super::expression::{LOWEST, TARGET};
use super::parser::{Head, Parser};
use crate::code::token::{Gap, Tok, Token};
use crate::code::tree::{Id, NOTHING, Node};
use crate::policy::tables::Lang;

impl<'a> Parser<'a> {
    /// All there is.
    pub(crate) fn statements_to_end(&mut self) -> Id {
        let (brackets, head) =
            (std::mem::replace(&mut self.brackets, 0), std::mem::replace(&mut self.head, Head::No));
        let start = self.here();
        let mut all = Vec::new();
        while self.peek().is_some() {
            let before = self.at;
            self.skip_ends();
            if self.peek().is_some() {
                let id = self.statement();
                if id != NOTHING {
                    all.push(id);
                }
            }
            if self.at == before {
                self.skip();
            }
        }
        self.brackets = brackets;
        self.head = head;
        match all.as_slice() {
            [one] => *one,
            _ => self.push_list(Node::Block, &all, start),
        }
    }

    /// Statements up to and past `close`. With `end`, the words that divide its parts are stepped over.
    pub(crate) fn block(&mut self, close: &str) -> Id {
        self.deeper(|p| {
            let (brackets, head) =
                (std::mem::replace(&mut p.brackets, 0), std::mem::replace(&mut p.head, Head::No));
            let start = p.here();
            let mut all = Vec::new();
            while let Some(token) = p.peek() {
                let before = p.at;
                let divides = close == "end"
                    && token.name().is_some_and(|n| {
                        matches!(
                            n,
                            "then" | "else" | "elsif" | "elseif" | "rescue" | "ensure" | "when" | "do" | "in"
                        )
                    });
                if token.is_op(close) || token.is_name(close) {
                    p.skip();
                    break;
                }
                if divides || matches!(token.tok, Tok::End | Tok::Indent | Tok::Dedent) {
                    p.skip();
                    continue;
                }
                if close != "}" && token.is_op("}") && p.lang != Lang::Lua {
                    break;
                }
                all.push(p.statement());
                if p.at == before {
                    p.skip();
                }
            }
            p.brackets = brackets;
            p.head = head;
            p.push_list(Node::Block, &all, start)
        })
    }

    pub(crate) fn statement(&mut self) -> Id {
        self.deeper(|p| {
            let start = p.here();
            let id = match p.lang {
                Lang::Python => return p.python_statement(),
                Lang::Ruby | Lang::Lua => p.ended_statement(start),
                _ => p.braced_statement(start),
            };
            p.modified(id, start)
        })
    }

    /// perl's and ruby's `… if condition`, `… for list`.
    fn modified(&mut self, first: Id, start: usize) -> Id {
        let mut id = first;
        while matches!(self.lang, Lang::Perl | Lang::Ruby)
            && self.is_any(&["if", "unless", "while", "until", "for", "foreach", "rescue"])
            && self.gap() != Gap::Line
        {
            let word = self.name().unwrap_or("");
            let condition = self.expression(LOWEST);
            id = match word {
                "while" | "until" => self.push(Node::Loop(condition, id), start),
                "for" | "foreach" => {
                    let it = self.push(Node::Name("$_"), start);
                    self.push(Node::For(it, condition, id), start)
                }
                _ => self.push_list(Node::If, &[condition, id], start),
            };
        }
        id
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each form of the grammar")]
    fn braced_statement(&mut self, start: usize) -> Id {
        if self.is_op("{") {
            self.skip();
            return self.block("}");
        }
        let word = self.peek().and_then(Token::name).unwrap_or("");
        let has_paren = self.ahead(1).is_some_and(|t| t.is_op("("));
        match word {
            "if" | "while" | "until" | "unless" | "elsif" | "elseif" | "switch" | "with" | "catch"
                if has_paren =>
            {
                self.headed(start)
            }
            "for" | "foreach" => self.counted(start),
            "else" | "try" | "finally" | "do" | "repeat" | "BEGIN" | "END" | "INIT"
                if self.ahead(1).is_some_and(|t| t.is_op("{")) =>
            {
                self.skip();
                self.skip();
                let body = self.block("}");
                if word == "else" {
                    self.push_list(Node::If, &[NOTHING, body], start)
                } else {
                    self.follow(body, start)
                }
            }
            "else" => {
                self.skip();
                let body = self.statement();
                self.push_list(Node::If, &[NOTHING, body], start)
            }
            "return" => {
                self.skip();
                let nothing = self.is_end()
                    || self.is_op("}")
                    || (self.gap() == Gap::Line && self.lang == Lang::Node)
                    || self.is_any(&["if", "unless"]);
                let value = if nothing { NOTHING } else { self.expression(LOWEST) };
                self.push(Node::Return(value), start)
            }
            "const" | "let" | "var" | "static" | "global" | "public" | "private" | "protected"
            | "abstract" | "final" | "export" | "default"
                if matches!(self.lang, Lang::Node | Lang::Php) =>
            {
                self.skip();
                self.declarations(start)
            }
            "import" if self.lang == Lang::Node && !has_paren => self.node_import(start),
            "use" | "no" if self.lang == Lang::Perl => self.perl_use(start),
            "use" | "namespace" if self.lang == Lang::Php => {
                self.skip_statement();
                NOTHING
            }
            "case" => {
                self.skip();
                let value = self.expression(TARGET);
                self.take_op(":");
                value
            }
            "print" | "printf" if self.lang == Lang::Awk => self.awk_print(start),
            "load" | "include" if self.lang == Lang::Awk => {
                self.skip();
                let file = self.expression(LOWEST);
                self.call_name(if word == "load" { "@load" } else { "@include" }, &[file], start)
            }
            "package" if self.lang == Lang::Perl => {
                self.skip();
                self.skip();
                NOTHING
            }
            _ => self.commas(start),
        }
    }

    /// Expressions with commas between: a declaration's parts, a list assignment's sides.
    fn declarations(&mut self, start: usize) -> Id {
        if self.is_any(&["function", "class", "async"]) {
            return self.expression(LOWEST);
        }
        self.commas(start)
    }

    fn commas(&mut self, start: usize) -> Id {
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
        self.push_list(Node::Block, &all, start)
    }

    fn skip_statement(&mut self) {
        while !self.is_end() {
            self.skip();
        }
    }

    /// `if (condition) statement` and its likes.
    fn headed(&mut self, start: usize) -> Id {
        let word = self.name().unwrap_or("");
        self.skip();
        let conditions = self.items(")");
        let condition = match conditions.as_slice() {
            [one] => *one,
            _ => self.push_list(Node::Block, &conditions, start),
        };
        let body = self.statement_or_colon();
        match word {
            "while" | "until" => self.push(Node::Loop(condition, body), start),
            "switch" => self.push_list(Node::Block, &[condition, body], start),
            _ => self.push_list(Node::If, &[condition, body], start),
        }
    }

    /// A body; php's `if (…):` opens none.
    fn statement_or_colon(&mut self) -> Id {
        if self.take_op(":") || self.is_end() {
            return NOTHING;
        }
        self.statement()
    }

    /// `for (a; b; c)`, `for (x of list)`, `foreach ($list as $k => $v)`, `foreach my $x (list)`.
    fn counted(&mut self, start: usize) -> Id {
        self.skip();
        self.take_name("await");
        while self.is_any(&["my", "our", "each"]) {
            self.skip();
        }
        let mut target = NOTHING;
        if self.lang == Lang::Perl && self.peek().and_then(Token::name).is_some() {
            let at = self.here();
            let name = self.name().unwrap_or("");
            target = self.push(Node::Name(name), at);
        }
        if !self.take_op("(") {
            return target;
        }
        self.head = Head::Yes;
        while self.is_any(&["const", "let", "var", "my"]) {
            self.skip();
        }
        let first = if self.is_end() { NOTHING } else { self.expression(TARGET) };
        if self.is_any(&["of", "in"]) {
            self.skip();
            let source = self.expression(LOWEST);
            return self.for_body(first, source, start);
        }
        if self.lang == Lang::Php && self.take_name("as") {
            let target = self.expression(LOWEST);
            let target = match self.tree.node(target).clone() {
                Node::Pair(_, value) => value,
                _ => target,
            };
            return self.for_body(target, first, start);
        }
        let mut all = vec![first];
        all.extend(self.items_after(first, start));
        self.head = Head::No;
        let has_clauses = all.len() > 1 || all == [NOTHING];
        if self.lang == Lang::Perl && !(target == NOTHING && has_clauses && all.contains(&NOTHING)) {
            let target = if target == NOTHING { self.push(Node::Name("$_"), start) } else { target };
            let source = match all.as_slice() {
                [one] => *one,
                _ => self.push_list(Node::List, &all, start),
            };
            let body = self.statement_or_colon();
            return self.push(Node::For(target, source, body), start);
        }
        let clauses = self.push_list(Node::Block, &all, start);
        let body = self.statement_or_colon();
        let endless = all.iter().all(|i| *i == NOTHING);
        let inner = self.push_list(Node::Block, &[clauses, body], start);
        let condition = if endless { self.push(Node::Number(1), start) } else { NOTHING };
        self.push(Node::Loop(condition, inner), start)
    }

    /// The rest of a `for` head whose first operand was read.
    fn items_after(&mut self, first: Id, start: usize) -> Vec<Id> {
        let mut all = Vec::new();
        // the first clause may go on after the operand: an assignment
        if self.is_op("=") {
            self.skip();
            let value = self.expression(LOWEST);
            all.push(self.push(Node::Assign(first, None, value), start));
        }
        all.extend(self.items(")"));
        all
    }

    fn for_body(&mut self, target: Id, source: Id, start: usize) -> Id {
        self.head = Head::No;
        self.close(")");
        let body = self.statement_or_colon();
        self.push(Node::For(target, source, body), start)
    }

    /// `import x, {a as b} from 'm'`; `import 'm'`.
    fn node_import(&mut self, start: usize) -> Id {
        self.skip();
        let mut names: Vec<(&'a str, &'a str)> = Vec::new();
        let mut braces = false;
        while let Some(token) = self.peek() {
            match token.tok {
                Tok::Text(..) | Tok::End => break,
                Tok::Op("{") => braces = true,
                Tok::Op("}") => braces = false,
                Tok::Name("from" | "type") => {}
                Tok::Name("as") => {
                    self.skip();
                    if let (Some(alias), Some(last)) = (self.peek().and_then(Token::name), names.last_mut()) {
                        last.1 = alias;
                    }
                }
                Tok::Name(name) => names.push((if braces { name } else { "" }, name)),
                _ => {}
            }
            self.skip();
        }
        let module =
            self.peek().map_or("", |t| self.between(t.start.saturating_add(1), t.end.saturating_sub(1)));
        self.skip();
        let imports: Vec<Id> = names
            .into_iter()
            .map(|(member, alias)| self.push(Node::Import(module, member, alias), start))
            .collect();
        self.push_list(Node::Block, &imports, start)
    }

    /// `use Module qw(a b)`.
    fn perl_use(&mut self, start: usize) -> Id {
        self.skip();
        let module = self.name().unwrap_or("");
        let import = self.push(Node::Import(module, "*", "*"), start);
        let rest = if self.is_end() { NOTHING } else { self.expression(LOWEST) };
        self.skip_statement();
        self.push_list(Node::Block, &[import, rest], start)
    }
}
