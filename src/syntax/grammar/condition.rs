//! `[[ … ]]`.
//!
//! In: a [`Reader`] behind `[[`. Out: [`Condition`].
//! Never: evaluates; it says only which words stand where.

use crate::syntax::grammar::cursor::{Fault, Read, Reader};
use crate::syntax::grammar::word::Context;
use crate::syntax::tree::{Condition, Word};

const UNARY: &str = "abcdefghknoprstuvwxzGLNORS";
const BINARY: [&str; 14] =
    ["==", "=", "!=", "=~", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-ef", "-nt", "-ot", "<"];

impl Reader<'_> {
    /// The condition up to and over `]]`.
    pub(super) fn read_condition(&mut self) -> Read<Condition> {
        let condition = self.read_either()?;
        self.skip_newlines()?;
        self.want_keyword("]]")?;
        Ok(condition)
    }

    fn read_either(&mut self) -> Read<Condition> {
        let mut left = self.read_both()?;
        loop {
            self.skip_newlines()?;
            if !self.take("||") {
                return Ok(left);
            }
            left = Condition::Or(Box::new(left), Box::new(self.read_both()?));
        }
    }

    fn read_both(&mut self) -> Read<Condition> {
        let mut left = self.read_term()?;
        loop {
            self.skip_newlines()?;
            if !self.take("&&") {
                return Ok(left);
            }
            left = Condition::And(Box::new(left), Box::new(self.read_term()?));
        }
    }

    fn read_term(&mut self) -> Read<Condition> {
        self.skip_newlines()?;
        if let Some(("!", end)) = self.peek_keyword() {
            self.at = end;
            return self.deeper(|reader| Ok(Condition::Not(Box::new(reader.read_term()?))));
        }
        if self.take("(") {
            let inner = self.deeper(Self::read_either)?;
            self.skip_newlines()?;
            self.want(")")?;
            return Ok(inner);
        }
        if let Some(("]]", _)) = self.peek_keyword() {
            return self.wanted("condition");
        }
        let left = self.want_operand(Context::Token)?;
        self.skip_blanks();
        if let Some(operator) = unary(&left)
            && !self.at_condition_end()
        {
            let start = self.at;
            let operand = self.want_operand(Context::Token)?;
            // `-f = x` compares
            if operand.literal().is_none_or(|text| !BINARY.contains(&text.as_str()))
                || self.at_condition_end()
            {
                return Ok(Condition::Unary(operator, operand));
            }
            self.at = start;
        }
        match self.read_operator()? {
            Some(operator) => {
                self.skip_newlines()?;
                let context = if operator == "=~" { Context::Regex } else { Context::Token };
                let right = self.want_operand(context)?;
                Ok(Condition::Binary(operator, left, right))
            }
            None => Ok(Condition::Unary("-n".to_owned(), left)),
        }
    }

    fn want_operand(&mut self, context: Context) -> Read<Word> {
        self.skip_blanks();
        match self.read_word(context)? {
            Some(word) => Ok(word),
            None => self.wanted("word"),
        }
    }

    /// Whether `]]`, `&&`, `||`, `)` or a newline comes next.
    fn at_condition_end(&mut self) -> bool {
        self.skip_blanks();
        matches!(self.peek(), None | Some(b'&' | b'|' | b')' | b'\n'))
            || matches!(self.peek_keyword(), Some(("]]", _)))
    }

    fn read_operator(&mut self) -> Read<Option<String>> {
        for operator in ["<", ">"] {
            if self.looks_at(operator) && self.byte(1) != Some(b'(') {
                self.at += 1;
                return Ok(Some(operator.to_owned()));
            }
        }
        if self.at_condition_end() {
            return Ok(None);
        }
        let word = self.want_operand(Context::Token)?;
        match word.literal() {
            Some(text) if BINARY.contains(&text.as_str()) => Ok(Some(text)),
            _ => self.broken(Fault::Unexpected),
        }
    }
}

/// The unary operator that a bare word is.
fn unary(word: &Word) -> Option<String> {
    let text = word.literal()?;
    let letter = text.strip_prefix('-')?;
    (letter.len() == 1 && UNARY.contains(letter)).then_some(text)
}
