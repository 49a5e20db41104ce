//! Substitutions: `$( )`, backquotes, `<( )`, arithmetic.
//!
//! In: a [`Reader`] at the construct. Out: [`Substituted`] scripts and arithmetic words.
//! Never: runs anything, or loses the text of a script that can't be read.

use crate::syntax::bounds::Bound;
use crate::syntax::grammar::cursor::{Fault, Origin, Read, Reader};
use crate::syntax::grammar::word::{Context, Pieces};
use crate::syntax::tree::{Direction, Piece, Script, Substituted, Word};

impl Reader<'_> {
    /// A substitution's commands, from behind the opening parenthesis to behind the closing one.
    pub(super) fn read_substituted(&mut self, start: usize) -> Read<Substituted> {
        let documents = std::mem::take(&mut self.documents);
        let unread = std::mem::take(&mut self.unread);
        let outer = std::mem::replace(&mut self.in_substitution, true);
        let result = self.deeper(|reader| {
            let Script { mut items } = reader.read_list()?;
            reader.want(")")?;
            if reader.unread < reader.documents.len() {
                // its body would stand behind the substitution: bash warns, and versions differ
                return reader.broken(Fault::Bound(Bound::LateDocument));
            }
            reader.settle(&mut items);
            Ok(Script { items })
        });
        self.documents = documents;
        self.unread = unread;
        self.in_substitution = outer;
        Ok(Substituted { script: result?, broken: None, span: self.span(start, self.at) })
    }

    pub(super) fn read_process(&mut self, out: &mut Pieces) -> Read<()> {
        let start = self.at;
        let direction = if self.byte(0) == Some(b'<') { Direction::In } else { Direction::Out };
        self.at += 2;
        let inner = if self.byte(0) == Some(b'(') {
            self.read_late_substitution(start)?
        } else {
            self.read_substituted(start)?
        };
        out.piece(Piece::Process(direction, Box::new(inner)));
        Ok(())
    }

    /// Backquotes: one level of backslashes is removed, and what remains is a text of its own. bash reads
    /// it only when it is expanded, so that a broken one spoils nothing else.
    pub(super) fn read_backquotes(&mut self, out: &mut Pieces, context: Context) -> Read<()> {
        let start = self.at;
        self.at += 1;
        let quoting = context.quoting();
        let in_double = matches!(context, Context::Double | Context::BraceDouble);
        let mut inner = String::new();
        loop {
            match self.byte(0) {
                None => {
                    self.at = start;
                    return self.broken(Fault::Unclosed("`"));
                }
                Some(b'`') => break,
                Some(b'\\') => {
                    let unescapes = match self.byte(1) {
                        Some(b'$' | b'`' | b'\\') => true,
                        Some(b'"') => in_double,
                        _ => false,
                    };
                    self.at += 1;
                    if unescapes {
                        inner.push_str(self.character());
                    } else {
                        inner.push('\\');
                    }
                }
                Some(_) => inner.push_str(self.character()),
            }
        }
        self.at += 1;
        let span = self.span(start, self.at);
        let substituted = self.deeper(|reader| {
            let mut unit = reader.inner(&inner, Origin::Fixed(span));
            let (script, _, broken) = unit.read_all();
            match broken {
                Some(broken) if matches!(broken.fault, Fault::Bound(_)) => reader.broken(broken.fault),
                Some(_) => Ok(Substituted { script, broken: Some(inner.clone()), span }),
                None => Ok(Substituted { script, broken: None, span }),
            }
        })?;
        out.piece(Piece::Command(Box::new(substituted), quoting));
        Ok(())
    }

    /// `$(` with a parenthesis behind it that is no arithmetic, and `<((`: bash looks for the end first, and reads the
    /// commands only when it expands them.
    pub(super) fn read_late_substitution(&mut self, start: usize) -> Read<Substituted> {
        let (from, to) = self.matched(Bracket::Parenthesis)?;
        let span = self.span(start, self.at);
        let text = self.slice(from, to);
        let origin = self.origin_at(from);
        self.deeper(|reader| {
            let (script, _, broken) = reader.inner(text, origin).read_all();
            match broken {
                Some(broken) if matches!(broken.fault, Fault::Bound(_)) => reader.broken(broken.fault),
                Some(_) => Ok(Substituted { script, broken: Some(text.to_owned()), span }),
                None => Ok(Substituted { script, broken: None, span }),
            }
        })
    }

    /// The arithmetic text from behind `((` to behind `))`; `None` where the parentheses close apart from
    /// each other, so that it is a command within parentheses (the position is then spoilt).
    pub(super) fn take_arithmetic(&mut self) -> Read<Option<Word>> {
        let inner = self.matched(Bracket::Parenthesis)?;
        if self.byte(0) != Some(b')') {
            return Ok(None);
        }
        self.at += 1;
        self.read_loose(inner, Context::Arithmetic).map(Some)
    }

    /// A range whose end was found without looking into it. What can't be read in it is bash's error when
    /// it is expanded, and no syntax error.
    pub(super) fn read_loose(&mut self, range: (usize, usize), context: Context) -> Read<Word> {
        match self.deeper(|reader| reader.read_part(range, context)) {
            Err(broken) if !matches!(broken.fault, Fault::Bound(_)) => {
                let span = self.span(range.0, range.1);
                let text = self.slice(range.0, range.1).to_owned();
                let inner = Substituted { script: Script::default(), broken: Some(text), span };
                Ok(Word { pieces: vec![Piece::Command(Box::new(inner), context.quoting())], span })
            }
            result => result,
        }
    }

    /// `a; b; c))` of an arithmetic `for`.
    pub(super) fn take_three_parts(&mut self) -> Read<[Word; 3]> {
        let (start, end) = self.matched(Bracket::Parenthesis)?;
        if self.byte(0) != Some(b')') {
            return self.wanted("))");
        }
        self.at += 1;
        let text = self.slice(start, end);
        let cut = |from: usize| text.get(from..).and_then(|t| t.find(';')).map(|at| from + at);
        let Some(first) = cut(0) else { return self.wanted(";") };
        let Some(second) = cut(first + 1) else { return self.wanted(";") };
        Ok([
            self.read_loose((start, start + first), Context::Arithmetic)?,
            self.read_loose((start + first + 1, start + second), Context::Arithmetic)?,
            self.read_loose((start + second + 1, end), Context::Arithmetic)?,
        ])
    }

    /// From behind an opening bracket to behind the one that closes it: the range between them. Quotes and
    /// nested expansions are stepped over as bash's scan does, without recursion.
    pub(super) fn matched(&mut self, bracket: Bracket) -> Read<(usize, usize)> {
        let start = self.at;
        let bytes = self.text.as_bytes().get(..self.end).unwrap_or(&[]);
        let (open, close) = bracket.pair();
        let mut closers = vec![close];
        // how many of the closers, from the outside, are this bracket's own
        let mut own = 1;
        let mut at = start;
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            let Some(&awaited) = closers.last() else { break };
            let is_own = closers.len() == own;
            let next = bytes.get(at).copied();
            if byte == awaited {
                closers.pop();
                own = own.min(closers.len());
                if closers.is_empty() {
                    self.at = at;
                    return Ok((start, at - 1));
                }
                continue;
            }
            match (awaited, byte) {
                (b'\'', _) => {}
                (_, b'\\') => at += 1,
                (b'`', _) => {}
                (_, b'$') if matches!(next, Some(b'(' | b'{')) && !(is_own && bracket.is_blind()) => {
                    closers.push(if next == Some(b'(') { b')' } else { b'}' });
                    at += 1;
                }
                (_, b'`') => closers.push(b'`'),
                (b'"', _) => {}
                (_, b'"' | b'\'') => closers.push(byte),
                (_, b'}') if is_own && bracket == Bracket::Index => break,
                (_, b'(') if awaited == b')' || is_own && byte == open => {
                    closers.push(b')');
                    own += usize::from(is_own);
                }
                (_, _) if is_own && byte == open => {
                    closers.push(close);
                    own += 1;
                }
                _ => {}
            }
        }
        self.broken(Fault::Unclosed(match close {
            b']' => "]",
            b'}' => "}",
            _ => ")",
        }))
    }
}

/// A pair of brackets whose end is looked for before what is within is read, and how bash looks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bracket {
    /// `((`, `$((`, patterns: quotes and parentheses count, `${` does not
    Parenthesis,
    /// `$[ ]`
    OldArithmetic,
    /// `name[` of an assignment
    Subscript,
    /// `${name[`: the parameter's brace ends it too
    Index,
    /// `${` of a bad substitution: the first brace ends it
    Brace,
}

impl Bracket {
    fn pair(self) -> (u8, u8) {
        match self {
            Self::Parenthesis => (b'(', b')'),
            Self::OldArithmetic | Self::Subscript | Self::Index => (b'[', b']'),
            Self::Brace => (0, b'}'),
        }
    }

    /// Whether `$(` and `${` are ordinary characters directly within it.
    fn is_blind(self) -> bool {
        matches!(self, Self::Parenthesis | Self::OldArithmetic)
    }
}
