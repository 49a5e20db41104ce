//! Where the reader stands in a text: looking ahead, skipping, spans, and the bounds it keeps.
//!
//! In: the judged text of a unit. Out: [`Reader`], which its sibling files teach the grammar.
//! Never: recurses deeper than `Limits::depth`, or moves beyond `end`.

use crate::syntax::bounds::{Bound, Limits};
use crate::syntax::tree::Word;
use crate::text::{self, Span};

/// Which shell's grammar is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Bash,
    /// dash's: no `[[`, `((`, `<( )`, `$'…'`, arrays, `function`, `&>` …
    Posix,
}

/// Why a text can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// the text ended within the construct
    Unclosed(&'static str),
    /// this word was needed
    Wanted(&'static str),
    /// an operator or reserved word stands where it can't
    Unexpected,
    /// a bound of ours, not of the shell's
    Bound(Bound),
}

/// A fault and the byte at which it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken {
    pub(super) at: usize,
    pub(super) fault: Fault,
}

pub(super) type Read<T> = Result<T, Broken>;

/// How positions of this reader map to spans of the outermost text.
#[derive(Clone, Copy, Debug)]
pub(super) enum Origin {
    Shifted(u32),
    /// a rewritten text (backquotes, stripped here-documents): the outer construct's span
    Fixed(Span),
}

/// A here-document whose body is still to come, or has been read.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) delimiter: String,
    pub(super) quoted: bool,
    pub(super) strips_tabs: bool,
    pub(super) body: Option<Word>,
}

/// A position in a text, with what the grammar must remember there.
#[derive(Debug)]
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) origin: Origin,
    pub(super) dialect: Dialect,
    pub(super) depth: u32,
    pub(super) limits: &'t Limits,
    /// here-documents of the innermost unit, in order; those from `unread` on have no body yet
    pub(super) documents: Vec<Document>,
    pub(super) unread: usize,
    /// within `$( )`: the delimiter of a here-document may be followed by the closing parenthesis
    pub(super) in_substitution: bool,
    /// whether the item read last was ended by `;` or `&`
    pub(super) separated: bool,
    /// a word read here may be the name of a function that is being defined
    pub(super) may_define: bool,
    /// delimiters before this position are part of a word (`a[ x ]`)
    pub(super) solid_until: usize,
    /// where the innermost unit begins
    pub(super) unit: usize,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str, dialect: Dialect, limits: &'t Limits) -> Self {
        Self {
            text,
            at: 0,
            end: text.len(),
            origin: Origin::Shifted(0),
            dialect,
            depth: 0,
            limits,
            documents: Vec::new(),
            unread: 0,
            in_substitution: false,
            separated: false,
            may_define: false,
            solid_until: 0,
            unit: 0,
        }
    }

    /// A reader of another text that stands for a part of this one.
    pub(super) fn inner<'u>(&self, text: &'u str, origin: Origin) -> Reader<'u>
    where
        't: 'u,
    {
        let mut inner = Reader::new(text, self.dialect, self.limits);
        inner.origin = origin;
        inner.depth = self.depth;
        inner
    }

    pub(super) fn is_bash(&self) -> bool {
        self.dialect == Dialect::Bash
    }

    /// The byte `ahead` of the position, if the text goes so far.
    pub(super) fn byte(&self, ahead: usize) -> Option<u8> {
        let at = self.at + ahead;
        if at < self.end { self.text.as_bytes().get(at).copied() } else { None }
    }

    /// The next byte after line continuations.
    pub(super) fn peek(&mut self) -> Option<u8> {
        while self.byte(0) == Some(b'\\') && self.byte(1) == Some(b'\n') {
            self.at += 2;
        }
        self.byte(0)
    }

    /// Whether the rest starts with these bytes (continuations within them are not seen through).
    pub(super) fn looks_at(&self, what: &str) -> bool {
        self.text.as_bytes().get(self.at..self.end).is_some_and(|rest| rest.starts_with(what.as_bytes()))
    }

    /// Steps over `what` where it comes next, seeing through line continuations.
    pub(super) fn take(&mut self, what: &str) -> bool {
        let start = self.at;
        for wanted in what.bytes() {
            if self.peek() != Some(wanted) {
                self.at = start;
                return false;
            }
            self.at += 1;
        }
        true
    }

    /// The text between two positions.
    pub(super) fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or("")
    }

    /// Steps over one character and returns it as text.
    pub(super) fn character(&mut self) -> &'t str {
        let start = self.at;
        self.at += 1;
        while self.at < self.end && !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
        self.slice(start, self.at)
    }

    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        match self.origin {
            Origin::Shifted(by) => Span::new(start, end).shifted(by),
            Origin::Fixed(span) => span,
        }
    }

    /// The origin of a text that begins at `start` of this one.
    pub(super) fn origin_at(&self, start: usize) -> Origin {
        match self.origin {
            Origin::Shifted(by) => {
                Origin::Shifted(by.saturating_add(u32::try_from(start).unwrap_or(u32::MAX)))
            }
            Origin::Fixed(span) => Origin::Fixed(span),
        }
    }

    pub(super) fn broken<T>(&self, fault: Fault) -> Read<T> {
        Err(Broken { at: self.at, fault })
    }

    /// Runs `read` one level deeper.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= self.limits.depth {
            return self.broken(Fault::Bound(Bound::Depth));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Skips blanks and, where a token may begin, a comment.
    pub(super) fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t') = self.peek() {
            self.at += 1;
        }
        if self.byte(0) == Some(b'#') {
            let rest = self.text.as_bytes().get(self.at..self.end).unwrap_or(&[]);
            self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        }
    }

    /// Skips blanks, comments and newlines, reading the here-documents that begin after a newline.
    pub(super) fn skip_newlines(&mut self) -> Read<()> {
        loop {
            self.skip_blanks();
            if self.byte(0) != Some(b'\n') {
                return Ok(());
            }
            self.newline()?;
        }
    }

    /// Steps over a newline and reads the here-documents that wait for it.
    pub(super) fn newline(&mut self) -> Read<()> {
        self.at += 1;
        if self.unread < self.documents.len() { self.read_documents() } else { Ok(()) }
    }

    /// Whether a token ends here.
    pub(super) fn at_delimiter(&self) -> bool {
        self.byte(0).is_none_or(is_delimiter)
    }

    /// The bare lower-case word (or `{ } ! [[ ]]`) that comes next and where it ends, if it is a whole token.
    pub(super) fn peek_keyword(&mut self) -> Option<(&'static str, usize)> {
        let start = self.at;
        if !matches!(self.peek(), Some(b'a'..=b'z' | b'{' | b'}' | b'!' | b'[' | b']')) {
            return None;
        }
        let first = self.at;
        while let Some(b'a'..=b'z' | b'{' | b'}' | b'!' | b'[' | b']') = self.peek() {
            self.at += 1;
        }
        let last = self.at;
        // `fi<(a)` is one word
        let goes_on =
            self.is_bash() && matches!(self.byte(0), Some(b'<' | b'>')) && self.byte(1) == Some(b'(');
        let whole = self.at_delimiter() && !goes_on;
        self.at = start;
        if !whole || last > first + 32 {
            return None;
        }
        let written = self.slice(first, last);
        let found =
            if written.contains('\\') { keyword(&written.replace("\\\n", "")) } else { keyword(written) };
        found.map(|k| (k, last))
    }

    /// Steps over the reserved word where it comes next.
    pub(super) fn take_keyword(&mut self, wanted: &str) -> bool {
        match self.peek_keyword() {
            Some((found, end)) if found == wanted => {
                self.at = end;
                true
            }
            _ => false,
        }
    }

    pub(super) fn want_keyword(&mut self, wanted: &'static str) -> Read<()> {
        self.skip_blanks();
        if self.take_keyword(wanted) { Ok(()) } else { self.wanted(wanted) }
    }

    pub(super) fn want(&mut self, wanted: &'static str) -> Read<()> {
        self.skip_blanks();
        if self.take(wanted) { Ok(()) } else { self.wanted(wanted) }
    }

    pub(super) fn wanted<T>(&self, wanted: &'static str) -> Read<T> {
        self.broken(if self.byte(0).is_none() { Fault::Unclosed(wanted) } else { Fault::Wanted(wanted) })
    }

    /// Line and column (both from 1, the column in characters) of a position.
    pub(super) fn line_and_column(text: &str, at: usize) -> (u32, u32) {
        let before = text::prefix(text, at);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |tail| tail.chars().count()) + 1;
        (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
    }
}

/// Whether a byte ends an unquoted token: blank, newline or operator. Only space and tab are blanks:
/// bash takes CR, VT, FF and every space outside ASCII for ordinary characters.
pub(super) fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>')
}

fn keyword(word: &str) -> Option<&'static str> {
    const KEYWORDS: [&str; 22] = [
        "!", "{", "}", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
        "function", "if", "in", "select", "then", "time", "until", "while",
    ];
    if word.len() > 8 {
        return None;
    }
    KEYWORDS.iter().find(|k| **k == word).copied()
}
