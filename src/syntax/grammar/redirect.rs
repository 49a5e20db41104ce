//! Redirects.
//!
//! In: a [`Reader`] where one may begin. Out: [`Redirect`].
//! Never: takes `<( )` or a number that stands apart for a part of one.

use crate::syntax::grammar::cursor::{Dialect, Document, Read, Reader};
use crate::syntax::grammar::document::awaiting;
use crate::syntax::grammar::quoting::decode_ansi;
use crate::syntax::grammar::word::Context;
use crate::syntax::tree::{Descriptor, Redirect, RedirectAction, Word};

impl Reader<'_> {
    /// The redirect that begins here, if one does.
    pub(super) fn read_redirect(&mut self) -> Read<Option<Redirect>> {
        if !matches!(self.peek(), Some(b'0'..=b'9' | b'{' | b'<' | b'>' | b'&')) {
            return Ok(None);
        }
        let start = self.at;
        let descriptor = self.take_descriptor();
        let expands =
            self.is_bash() && matches!(self.byte(0), Some(b'<' | b'>')) && self.byte(1) == Some(b'(');
        let operator = if expands { None } else { self.take_operator(descriptor.is_some()) };
        let Some(operator) = operator else {
            self.at = start;
            return Ok(None);
        };
        self.skip_blanks();
        let word_start = self.at;
        let word = if matches!(operator, "<&" | ">&") && self.is_bash() && self.peek() == Some(b'-') {
            // a token of its own: what stands behind it is the next word
            self.at += 1;
            Some(Word::bare("-", self.span(self.at - 1, self.at)))
        } else {
            self.read_word(Context::Token)?
        };
        let Some(word) = word else { return self.wanted("redirect's target") };
        let both = matches!(descriptor, None | Some(Descriptor::Number(1)));
        let action = match operator {
            "<" => RedirectAction::Read(word),
            ">" => RedirectAction::Write(word),
            ">|" => RedirectAction::Clobber(word),
            ">>" => RedirectAction::Append(word),
            "<>" => RedirectAction::ReadWrite(word),
            "&>" => RedirectAction::WriteBoth(word),
            "&>>" => RedirectAction::AppendBoth(word),
            "<&" => RedirectAction::DuplicateIn(word),
            ">&" if both && self.is_bash() && names_file(&word) => RedirectAction::WriteBoth(word),
            ">&" => RedirectAction::DuplicateOut(word),
            "<<<" => RedirectAction::HereString(word),
            _ => RedirectAction::HereDocument(self.await_document(word_start, operator)),
        };
        Ok(Some(Redirect { descriptor, action, span: self.span(start, self.at) }))
    }

    /// Digits or `{name}` directly before an operator; nothing where no operator follows.
    fn take_descriptor(&mut self) -> Option<Descriptor> {
        let start = self.at;
        let mut ahead = 0;
        let descriptor = if self.byte(0) == Some(b'{') {
            if !self.is_bash() {
                return None;
            }
            self.at += 1;
            let name = self.take_name();
            let closed = !name.is_empty() && self.byte(0) == Some(b'}');
            self.at = start;
            ahead = name.len() + 2;
            closed.then_some(Descriptor::Variable(name))
        } else {
            while self.byte(ahead).is_some_and(|b| b.is_ascii_digit()) {
                ahead += 1;
            }
            // a number that is none for bash is a word
            let number = self.slice(start, start + ahead).parse::<i32>().ok();
            number.and_then(|n| u32::try_from(n).ok()).map(Descriptor::Number)
        };
        if descriptor.is_some() && matches!(self.byte(ahead), Some(b'<' | b'>')) {
            self.at += ahead;
            return descriptor;
        }
        None
    }

    fn take_operator(&mut self, numbered: bool) -> Option<&'static str> {
        const BASH: [&str; 3] = ["<<<", "&>>", "&>"];
        const BOTH: [&str; 9] = ["<<-", "<<", "<&", "<>", "<", ">>", ">|", ">&", ">"];
        let bash = BASH.iter().filter(|o| self.dialect == Dialect::Bash && !(numbered && o.starts_with('&')));
        let candidates: Vec<&'static str> = bash.chain(BOTH.iter()).copied().collect();
        candidates.into_iter().find(|operator| self.take(operator))
    }

    /// Notes a here-document whose delimiter stood between `start` and here.
    fn await_document(&mut self, start: usize, operator: &str) -> Word {
        let (delimiter, quoted) = unquote(self.slice(start, self.at));
        let id = self.documents.len();
        self.documents.push(Document { delimiter, quoted, strips_tabs: operator == "<<-", body: None });
        awaiting(id)
    }
}

/// Whether `>&word` writes to a file rather than duplicating a descriptor.
fn names_file(word: &Word) -> bool {
    word.literal().is_some_and(|text| {
        let digits = text.strip_suffix('-').unwrap_or(&text);
        !digits.bytes().all(|b| b.is_ascii_digit())
    })
}

/// A here-document's delimiter without its quotes, and whether it had any.
fn unquote(written: &str) -> (String, bool) {
    let written = written.replace("\\\n", "");
    let mut out = String::new();
    let mut quoted = false;
    let mut characters = written.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\\' => {
                quoted = true;
                out.extend(characters.next());
            }
            '\'' => {
                quoted = true;
                out.extend(characters.by_ref().take_while(|c| *c != '\''));
            }
            '"' => {
                quoted = true;
                while let Some(inner) = characters.next() {
                    match inner {
                        '"' => break,
                        '\\' if matches!(characters.peek(), Some('"' | '\\' | '$' | '`')) => {
                            out.extend(characters.next())
                        }
                        _ => out.push(inner),
                    }
                }
            }
            '$' if characters.peek() == Some(&'\'') => {
                quoted = true;
                characters.next();
                let inner: String = characters.by_ref().take_while(|c| *c != '\'').collect();
                out.push_str(&decode_ansi(&inner));
            }
            '$' if characters.peek() == Some(&'"') => {}
            _ => out.push(c),
        }
    }
    (out, quoted)
}
