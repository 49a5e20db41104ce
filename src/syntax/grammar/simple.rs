//! Simple commands: assignments, words, redirects, and the definition of a function by `name ()`.
//!
//! In: a [`Reader`] at the first word. Out: [`Command::Simple`] or [`Command::Function`].
//! Never: takes `FOO-BAR=x` for an assignment.

use crate::syntax::grammar::cursor::{Fault, Read, Reader};
use crate::syntax::grammar::substitution::Bracket;
use crate::syntax::grammar::word::Context;
use crate::syntax::tree::{Assign, AssignValue, Assignment, Command, Simple, Word};

/// What stands before the value of an assignment.
struct Target {
    name: String,
    index: Option<Word>,
    operator: Assign,
    start: usize,
}

impl Reader<'_> {
    pub(super) fn read_simple(&mut self) -> Read<Command> {
        let start = self.at;
        let mut simple = Simple::default();
        let mut last = start;
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.read_redirect()? {
                simple.redirects.push(redirect);
                last = self.at;
                continue;
            }
            if let Some(assignment) = self.read_assignment(simple.words.is_empty())? {
                let arguments =
                    if simple.words.is_empty() { &mut simple.assignments } else { &mut simple.declared };
                arguments.push(assignment);
                last = self.at;
                continue;
            }
            let word_start = self.at;
            let alone =
                simple.words.is_empty() && simple.assignments.is_empty() && simple.redirects.is_empty();
            self.may_define = alone;
            let word = self.read_word(Context::Token);
            self.may_define = false;
            let Some(word) = word? else { break };
            last = self.at;
            if alone && self.at_parentheses() {
                let name = word.literal().unwrap_or_else(|| self.slice(word_start, last).to_owned());
                return self.read_function_body(name, start);
            }
            simple.words.push(word);
        }
        if last == start {
            return if self.at >= self.end { self.wanted("command") } else { self.broken(Fault::Unexpected) };
        }
        simple.span = self.span(start, last);
        Ok(Command::Simple(simple))
    }

    /// Steps over `()` behind a function's name.
    fn at_parentheses(&mut self) -> bool {
        let before = self.at;
        self.skip_blanks();
        if self.take("(") {
            self.skip_blanks();
            if self.take(")") {
                return true;
            }
        }
        self.at = before;
        false
    }

    /// An assignment, if one begins here: any before the command's name, but only one with an array
    /// (`declare -a x=(…)`) behind it, since a scalar there is a word.
    fn read_assignment(&mut self, before_name: bool) -> Read<Option<Assignment>> {
        if !matches!(self.peek(), Some(b'a'..=b'z' | b'A'..=b'Z' | b'_')) {
            return Ok(None);
        }
        if !self.may_assign(before_name) {
            return Ok(None);
        }
        let Some(target) = self.read_target(before_name)? else { return Ok(None) };
        let array = self.is_bash() && self.peek() == Some(b'(');
        if !before_name && !array {
            self.at = target.start;
            return Ok(None);
        }
        let value = if array {
            self.at += 1;
            AssignValue::Array(self.deeper(Self::read_array)?)
        } else {
            let at = self.at;
            let word = self.read_word(Context::Assigned)?;
            AssignValue::Scalar(word.unwrap_or_else(|| Word { pieces: Vec::new(), span: self.span(at, at) }))
        };
        let span = self.span(target.start, self.at);
        Ok(Some(Assignment {
            name: target.name,
            index: target.index,
            operator: target.operator,
            value,
            span,
        }))
    }

    /// A cheap look whether `=` or `[` comes behind a name, before anything is built.
    fn may_assign(&self, before_name: bool) -> bool {
        let mut ahead = 1;
        loop {
            match self.byte(ahead) {
                Some(b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'0'..=b'9') => ahead += 1,
                Some(b'=') => return before_name || self.byte(ahead + 1) == Some(b'('),
                Some(b'+') => return before_name || self.byte(ahead + 2) == Some(b'('),
                Some(b'[') => return before_name,
                Some(b'\\') => return true,
                _ => return false,
            }
        }
    }

    /// `name=`, `name+=`, `name[index]=`, `name[index]+=`; leaves the position alone where it is none (what
    /// stands in brackets is then one word with what is around it, blanks and all).
    fn read_target(&mut self, before_name: bool) -> Read<Option<Target>> {
        let start = self.at;
        let name = self.take_name();
        let mut index = None;
        if before_name && self.is_bash() && self.peek() == Some(b'[') {
            self.at += 1;
            let inner = self.matched(Bracket::Subscript)?;
            if !matches!(self.peek(), Some(b'=' | b'+')) {
                self.solid_until = self.at;
                self.at = start;
                return Ok(None);
            }
            index = Some(self.read_loose(inner, Context::Arithmetic)?);
        }
        let operator = if self.take("=") {
            Assign::Set
        } else if self.is_bash() && self.take("+=") {
            Assign::Append
        } else {
            self.at = start;
            return Ok(None);
        };
        Ok(Some(Target { name, index, operator, start }))
    }

    /// The elements of an array up to its closing parenthesis.
    fn read_array(&mut self) -> Read<Vec<(Option<Word>, Word)>> {
        let mut elements = Vec::new();
        loop {
            self.skip_newlines()?;
            match self.peek() {
                Some(b')') => {
                    self.at += 1;
                    return Ok(elements);
                }
                None => return self.wanted(")"),
                Some(_) => {}
            }
            let index = if self.peek() == Some(b'[') { self.read_subscript()? } else { None };
            let at = self.at;
            let word = self.read_word(if index.is_some() { Context::Assigned } else { Context::Token })?;
            match word {
                Some(word) => elements.push((index, word)),
                None if index.is_some() => {
                    elements.push((index, Word { pieces: Vec::new(), span: self.span(at, at) }));
                }
                None => return self.broken(Fault::Unexpected),
            }
        }
    }

    /// `[index]=` before an element; leaves the position alone where the bracket is a pattern.
    fn read_subscript(&mut self) -> Read<Option<Word>> {
        let start = self.at;
        self.at += 1;
        let inner = self.matched(Bracket::Subscript)?;
        if self.take("=") || self.take("+=") {
            return self.read_loose(inner, Context::Arithmetic).map(Some);
        }
        self.solid_until = self.at;
        self.at = start;
        Ok(None)
    }

    /// The identifier that begins here.
    pub(super) fn take_name(&mut self) -> String {
        let mut name = String::new();
        while let Some(byte @ (b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'0'..=b'9')) = self.peek() {
            name.push(char::from(byte));
            self.at += 1;
        }
        name
    }
}
