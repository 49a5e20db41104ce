//! What follows a dollar sign: parameters with their operations, substitutions, arithmetic, quotes.
//!
//! In: a [`Reader`] at `$`. Out: pieces.
//! Never: expands; a form that bash calls a bad substitution is a parameter with an impossible name.

use crate::syntax::bounds::Bound;
use crate::syntax::grammar::cursor::{Fault, Read, Reader};
use crate::syntax::grammar::substitution::Bracket;
use crate::syntax::grammar::word::{Context, Pieces};
use crate::syntax::tree::{
    CaseChange, Colon, Extent, Operation, Parameter, Piece, QuoteForm, Quoting, Reference, ReplaceAt,
    Spelling, Word,
};

impl Reader<'_> {
    pub(super) fn read_dollar(&mut self, out: &mut Pieces, context: Context) -> Read<()> {
        let start = self.at;
        let quoting = context.quoting();
        self.at += 1;
        match self.peek() {
            Some(b'(') => {
                self.at += 1;
                if self.peek() == Some(b'(') {
                    let inner = self.at;
                    self.at += 1;
                    if let Some(word) = self.take_arithmetic()? {
                        out.piece(Piece::Arithmetic(Box::new(word), quoting));
                        return Ok(());
                    }
                    self.at = inner;
                    let late = self.read_late_substitution(start)?;
                    out.piece(Piece::Command(Box::new(late), quoting));
                    return Ok(());
                }
                let inner = self.read_substituted(start)?;
                out.piece(Piece::Command(Box::new(inner), quoting));
            }
            Some(b'{') => {
                self.at += 1;
                self.read_braced(out, context, start)?;
            }
            Some(b'[') if self.is_bash() => {
                self.at += 1;
                let inner = self.matched(Bracket::OldArithmetic)?;
                let word = self.read_loose(inner, Context::Arithmetic)?;
                out.piece(Piece::Arithmetic(Box::new(word), quoting));
            }
            Some(b'\'') if self.is_bash() && quoting == Quoting::Bare => self.read_ansi(out)?,
            Some(b'"') if self.is_bash() && quoting == Quoting::Bare => self.read_double(out)?,
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => {
                let name = self.take_name();
                out.piece(plain(name, quoting, Spelling::Open));
            }
            Some(byte @ (b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')) => {
                self.at += 1;
                out.piece(plain(char::from(byte).to_string(), quoting, Spelling::Braced));
            }
            _ => out.text("$", if quoting == Quoting::Bare { None } else { Some(QuoteForm::Double) }),
        }
        Ok(())
    }

    /// From behind `${` to behind `}`.
    fn read_braced(&mut self, out: &mut Pieces, context: Context, start: usize) -> Read<()> {
        if self.is_bash() && matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'|')) {
            let inner = self.at;
            match self.read_value_substitution(out, context, start) {
                Err(broken) if !matches!(broken.fault, Fault::Bound(_)) => self.at = inner,
                result => return result,
            }
            let (from, to) = self.matched(Bracket::Brace)?;
            out.piece(plain(self.slice(from, to).to_owned(), context.quoting(), Spelling::Braced));
            return Ok(());
        }
        let inner = self.at;
        let parameter = self.deeper(|reader| reader.read_parameter(context))?;
        if let Some(parameter) = parameter
            && self.peek() == Some(b'}')
        {
            self.at += 1;
            out.piece(Piece::Parameter(Box::new(parameter), context.quoting()));
            return Ok(());
        }
        // a bad substitution: bash says so when it expands it
        self.at = inner;
        let (from, to) = if self.is_bash() { self.matched(Bracket::Brace)? } else { self.first_brace()? };
        out.piece(plain(self.slice(from, to).to_owned(), context.quoting(), Spelling::Braced));
        Ok(())
    }

    /// Up to the next brace, whatever stands before it: where dash lets a bad substitution end.
    fn first_brace(&mut self) -> Read<(usize, usize)> {
        let start = self.at;
        let rest = self.text.as_bytes().get(start..self.end).unwrap_or(&[]);
        let Some(length) = memchr::memchr(b'}', rest) else { return self.broken(Fault::Unclosed("}")) };
        self.at = start + length + 1;
        Ok((start, start + length))
    }

    /// bash 5.3's `${ list; }`; older ones call it a bad substitution, so that nothing is lost.
    fn read_value_substitution(&mut self, out: &mut Pieces, context: Context, start: usize) -> Read<()> {
        self.take("|");
        let documents = std::mem::take(&mut self.documents);
        let unread = std::mem::take(&mut self.unread);
        let result = self.deeper(|reader| {
            let mut script = reader.read_list()?;
            reader.want_keyword("}")?;
            if reader.unread < reader.documents.len() {
                return reader.broken(Fault::Bound(Bound::LateDocument));
            }
            reader.settle(&mut script.items);
            Ok(script)
        });
        self.documents = documents;
        self.unread = unread;
        let span = self.span(start, self.at);
        let inner = crate::syntax::tree::Substituted { script: result?, broken: None, span };
        out.piece(Piece::Command(Box::new(inner), context.quoting()));
        Ok(())
    }

    /// The parameter and its operation, up to (not over) the closing brace.
    fn read_parameter(&mut self, context: Context) -> Read<Option<Parameter>> {
        let mut reference = Reference::Direct;
        let spelling = Spelling::Braced;
        if self.peek() == Some(b'#') && self.counts_length() {
            self.at += 1;
            let Some(name) = self.parameter_name() else { return Ok(None) };
            let index = self.read_index()?;
            return Ok(Some(Parameter { name, index, reference, operation: Operation::Length, spelling }));
        }
        if self.is_bash()
            && self.peek() == Some(b'!')
            && !matches!(self.byte(1), Some(b'}' | b':' | b'-' | b'=' | b'?' | b'+' | b'%' | b'/'))
        {
            self.at += 1;
            reference = Reference::Indirect;
        }
        let Some(name) = self.parameter_name() else { return Ok(None) };
        if reference == Reference::Indirect
            && matches!(self.peek(), Some(b'*' | b'@'))
            && self.byte(1) == Some(b'}')
        {
            self.at += 1;
            return Ok(Some(Parameter {
                name,
                index: None,
                reference,
                operation: Operation::Names,
                spelling,
            }));
        }
        let index = self.read_index()?;
        let keys = reference == Reference::Indirect
            && self.peek() == Some(b'}')
            && index.as_ref().and_then(Word::literal).is_some_and(|i| i == "@" || i == "*");
        let operation = if keys { Operation::Names } else { self.read_operation(context)? };
        Ok(Some(Parameter { name, index, reference, operation, spelling }))
    }

    /// Whether `#` asks for a length here, not for the number of parameters.
    fn counts_length(&self) -> bool {
        match self.byte(1) {
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'0'..=b'9') => true,
            Some(b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => self.byte(2) == Some(b'}'),
            _ => false,
        }
    }

    fn parameter_name(&mut self) -> Option<String> {
        match self.peek() {
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => Some(self.take_name()),
            Some(b'0'..=b'9') => {
                let mut digits = String::new();
                while let Some(byte @ b'0'..=b'9') = self.peek() {
                    digits.push(char::from(byte));
                    self.at += 1;
                }
                Some(digits)
            }
            Some(byte @ (b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')) => {
                self.at += 1;
                Some(char::from(byte).to_string())
            }
            _ => None,
        }
    }

    /// The index, if there is one; a bracket that isn't closed within the braces is left standing, so that
    /// the whole is a bad substitution.
    fn read_index(&mut self) -> Read<Option<Word>> {
        if !self.is_bash() || self.peek() != Some(b'[') {
            return Ok(None);
        }
        let start = self.at;
        self.at += 1;
        if let Ok(inner) = self.matched(Bracket::Index) {
            return self.read_loose(inner, Context::Arithmetic).map(Some);
        }
        self.at = start;
        Ok(None)
    }

    fn read_operation(&mut self, context: Context) -> Read<Operation> {
        let Some(byte) = self.peek() else { return self.broken(Fault::Unclosed("}")) };
        let colon = if byte == b':' { Colon::Yes } else { Colon::No };
        let kind = if byte == b':' { self.byte(1) } else { Some(byte) };
        let value = if context.quoting() == Quoting::Bare { Context::Brace } else { Context::BraceDouble };
        let skip = if byte == b':' { 2 } else { 1 };
        match kind {
            Some(b'-') => self.after(skip, value, |word| Operation::Default(colon, word)),
            Some(b'=') => self.after(skip, value, |word| Operation::AssignDefault(colon, word)),
            Some(b'?') => self.after(skip, value, |word| Operation::Error(colon, word)),
            Some(b'+') => self.after(skip, value, |word| Operation::Alternative(colon, word)),
            _ if byte == b':' && self.is_bash() => self.read_substring(),
            Some(mark @ (b'#' | b'%')) => {
                let extent = if self.byte(1) == Some(mark) { Extent::Longest } else { Extent::Shortest };
                let skip = if extent == Extent::Longest { 2 } else { 1 };
                self.after(skip, Context::Brace, |word| match mark {
                    b'#' => Operation::RemovePrefix(extent, word),
                    _ => Operation::RemoveSuffix(extent, word),
                })
            }
            Some(b'/') if self.is_bash() => self.read_replace(value),
            Some(mark @ (b'^' | b',' | b'~')) if self.is_bash() => self.read_case_change(mark),
            Some(b'@') if self.is_bash() && self.byte(1).is_some_and(|b| b.is_ascii_alphabetic()) => {
                let letter = self.byte(1).map_or('?', char::from);
                self.at += 2;
                Ok(Operation::Transform(letter))
            }
            _ => Ok(Operation::None),
        }
    }

    fn after(
        &mut self,
        skip: usize,
        context: Context,
        make: impl FnOnce(Word) -> Operation,
    ) -> Read<Operation> {
        self.at += skip;
        self.read_until(context).map(make)
    }

    fn read_substring(&mut self) -> Read<Operation> {
        self.at += 1;
        let offset = self.read_until(Context::Offset)?;
        let length = if self.peek() == Some(b':') {
            self.at += 1;
            Some(self.read_until(Context::Offset)?)
        } else {
            None
        };
        Ok(Operation::Substring(offset, length))
    }

    fn read_replace(&mut self, value: Context) -> Read<Operation> {
        self.at += 1;
        let at = match self.peek() {
            Some(b'/') => ReplaceAt::All,
            Some(b'#') => ReplaceAt::Start,
            Some(b'%') => ReplaceAt::End,
            _ => ReplaceAt::First,
        };
        if at != ReplaceAt::First {
            self.at += 1;
        }
        // `${x////_}`: after `//` a slash is the pattern's first character, not its end
        let slash = at == ReplaceAt::All && self.peek() == Some(b'/');
        self.at += usize::from(slash);
        let mut pattern = self.read_until(Context::Slash)?;
        if slash {
            match pattern.pieces.first_mut() {
                Some(Piece::Bare(text)) => text.insert(0, '/'),
                Some(_) | None => pattern.pieces.insert(0, Piece::Bare("/".to_owned())),
            }
        }
        let replacement = if self.peek() == Some(b'/') {
            self.at += 1;
            Some(self.read_until(value)?)
        } else {
            None
        };
        Ok(Operation::Replace(at, pattern, replacement))
    }

    fn read_case_change(&mut self, mark: u8) -> Read<Operation> {
        let twice = self.byte(1) == Some(mark);
        self.at += if twice { 2 } else { 1 };
        let change = match (mark, twice) {
            (b'^', false) => CaseChange::UpperFirst,
            (b'^', true) => CaseChange::UpperAll,
            (b',', false) => CaseChange::LowerFirst,
            (b',', true) => CaseChange::LowerAll,
            _ => CaseChange::Toggle,
        };
        let pattern = self.read_until(Context::Brace)?;
        Ok(Operation::Case(change, (!pattern.pieces.is_empty()).then_some(pattern)))
    }
}

fn plain(name: String, quoting: Quoting, spelling: Spelling) -> Piece {
    let (reference, operation) = (Reference::Direct, Operation::None);
    let parameter = Parameter { name, index: None, reference, operation, spelling };
    Piece::Parameter(Box::new(parameter), quoting)
}
