//! Here-documents: their bodies, and how these get into the redirects that wait for them.
//!
//! In: a [`Reader`] behind the newline at which bodies begin. Out: body words.
//! Never: parses a body whose delimiter was quoted.

use crate::syntax::grammar::cursor::{Document, Fault, Origin, Read, Reader};
use crate::syntax::grammar::word::{Context, Pieces};
use crate::syntax::tree::{
    Command, Compound, Item, Piece, Quoting, Redirect, RedirectAction, Script, Substituted, Word,
};
use crate::text::Span;

/// The word that stands for the body of here-document `id` until it has been read.
pub(super) fn awaiting(id: usize) -> Word {
    Word { pieces: Vec::new(), span: Span { start: u32::try_from(id).unwrap_or(u32::MAX), end: u32::MAX } }
}

impl<'t> Reader<'t> {
    /// Reads the bodies that wait; the position is behind the newline.
    pub(super) fn read_documents(&mut self) -> Read<()> {
        while self.unread < self.documents.len() {
            let index = self.unread;
            self.unread += 1;
            let Some(document) = self.documents.get_mut(index) else { break };
            let delimiter = std::mem::take(&mut document.delimiter);
            let (quoted, strips_tabs) = (document.quoted, document.strips_tabs);
            let start = self.at;
            let end = self.find_delimiter(&delimiter, quoted, strips_tabs);
            let body = self.read_document(start, end, quoted, strips_tabs)?;
            if let Some(Document { body: place, .. }) = self.documents.get_mut(index) {
                *place = Some(body);
            }
        }
        Ok(())
    }

    /// Steps behind the delimiter's line and returns where the body ends: at that line, or at the end of
    /// the text (bash warns and takes it so).
    fn find_delimiter(&mut self, delimiter: &str, quoted: bool, strips_tabs: bool) -> usize {
        while self.at < self.end {
            let start = self.at;
            let mut joined = String::new();
            let mut line = self.take_line();
            while !quoted && continues(line) && self.at < self.end {
                joined.push_str(line.get(..line.len() - 1).unwrap_or(""));
                line = self.take_line();
            }
            let whole = if joined.is_empty() {
                line
            } else {
                joined.push_str(line);
                joined.as_str()
            };
            let content = if strips_tabs { whole.trim_start_matches('\t') } else { whole };
            if content == delimiter {
                return start;
            }
            // within `$( )` the closing parenthesis may follow on the delimiter's line
            if self.in_substitution
                && joined.is_empty()
                && let Some(rest) = content.strip_prefix(delimiter)
                && rest.contains(')')
            {
                let line_end = start + whole.len();
                self.at = line_end - rest.len();
                return start;
            }
        }
        self.end
    }

    /// The rest of the line, without its newline; steps behind it.
    fn take_line(&mut self) -> &'t str {
        let start = self.at;
        let rest = self.text.as_bytes().get(start..self.end).unwrap_or(&[]);
        let length = memchr::memchr(b'\n', rest);
        let end = start + length.unwrap_or(rest.len());
        self.at = end + usize::from(length.is_some());
        self.slice(start, end)
    }

    fn read_document(&mut self, start: usize, end: usize, quoted: bool, strips_tabs: bool) -> Read<Word> {
        let span = self.span(start, end);
        let written = self.slice(start, end);
        let stripped = if strips_tabs { Some(strip_tabs(written)) } else { None };
        let body = stripped.as_deref().unwrap_or(written);
        if quoted || memchr::memchr3(b'$', b'`', b'\\', body.as_bytes()).is_none() {
            return Ok(Word::quoted(body, span));
        }
        let origin = if strips_tabs { Origin::Fixed(span) } else { self.origin_at(start) };
        self.deeper(|reader| {
            let mut unit = reader.inner(body, origin);
            let mut pieces = Pieces::default();
            match unit.fill(&mut pieces, Context::Document) {
                Ok(()) => Ok(Word { pieces: pieces.finish(), span }),
                Err(broken) if matches!(broken.fault, Fault::Bound(_)) => reader.broken(broken.fault),
                // bash finds out when it expands the body
                Err(_) => {
                    let broken =
                        Substituted { script: Script::default(), broken: Some(body.to_owned()), span };
                    Ok(Word { pieces: vec![Piece::Command(Box::new(broken), Quoting::Double)], span })
                }
            }
        })
    }

    /// Puts the bodies that have been read into the redirects of these items.
    pub(super) fn settle(&mut self, items: &mut [Item]) {
        if self.documents.is_empty() {
            return;
        }
        for item in items {
            for pipeline in std::iter::once(&mut item.first).chain(item.rest.iter_mut().map(|(_, p)| p)) {
                for command in &mut pipeline.commands {
                    self.settle_command(command);
                }
            }
        }
    }

    fn settle_command(&mut self, command: &mut Command) {
        match command {
            Command::Simple(simple) => self.settle_redirects(&mut simple.redirects),
            Command::Function(function) => self.settle_command(&mut function.body),
            Command::Compound(compound, redirects) => {
                self.settle_compound(compound);
                self.settle_redirects(redirects);
            }
        }
    }

    fn settle_compound(&mut self, compound: &mut Compound) {
        match compound {
            Compound::Brace(body)
            | Compound::Subshell(body)
            | Compound::For { body, .. }
            | Compound::Select { body, .. }
            | Compound::ForArithmetic { body, .. } => self.settle(&mut body.items),
            Compound::While { test, body } | Compound::Until { test, body } => {
                self.settle(&mut test.items);
                self.settle(&mut body.items);
            }
            Compound::If { arms, otherwise } => {
                for (test, body) in arms {
                    self.settle(&mut test.items);
                    self.settle(&mut body.items);
                }
                if let Some(body) = otherwise {
                    self.settle(&mut body.items);
                }
            }
            Compound::Case { arms, .. } => {
                for arm in arms {
                    self.settle(&mut arm.body.items);
                }
            }
            Compound::Coprocess { body, .. } => self.settle_command(body),
            Compound::Conditional(_) | Compound::Arithmetic(_) => {}
        }
    }

    fn settle_redirects(&mut self, redirects: &mut [Redirect]) {
        for redirect in redirects {
            if let RedirectAction::HereDocument(word) = &mut redirect.action
                && word.span.end == u32::MAX
            {
                let document = self.documents.get_mut(word.span.start as usize);
                *word =
                    document.and_then(|d| d.body.take()).unwrap_or_else(|| Word::quoted("", redirect.span));
            }
        }
    }
}

/// Whether a line ends in a backslash that joins the next one to it.
fn continues(line: &str) -> bool {
    line.bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 1
}

fn strip_tabs(body: &str) -> String {
    body.split_inclusive('\n').map(|line| line.trim_start_matches('\t')).collect()
}
