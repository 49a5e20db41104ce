//! Words: what is bare, what is quoted, what is expanded.
//!
//! In: a [`Reader`] at the first character of a word. Out: [`Word`], in one pass over its bytes.
//! Never: decides what an expansion yields.

use crate::syntax::grammar::cursor::{Fault, Read, Reader, is_delimiter};
use crate::syntax::grammar::substitution::Bracket;
use crate::syntax::tree::{Piece, QuoteForm, Quoting, Word};

/// Where a word stands: what ends it, and which characters are live in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Context {
    /// an ordinary token
    Token,
    /// the value of an assignment: tildes after colons too
    Assigned,
    /// the right side of `=~`: parentheses and `|` are part of it
    Regex,
    /// within `${x…}`, up to `}`
    Brace,
    /// within `"${x…}"`, up to `}`: single quotes are literal, yet hide a `}` (as bash has it)
    BraceDouble,
    /// within `${x/…/…}`, up to `/` or `}`
    Slash,
    /// within `${x:…:…}`, up to `:` or `}`
    Offset,
    /// within double quotes, up to `"`
    Double,
    /// within the parentheses of a pattern or regular expression: to the end of the range
    Group,
    /// a here-document's body: quotes are literal
    Document,
    /// arithmetic text: as in double quotes, double quotes dropped
    Arithmetic,
}

impl Context {
    fn is_token(self) -> bool {
        matches!(self, Self::Token | Self::Assigned | Self::Regex)
    }

    /// Whether single quotes and backslashes quote anything, and literals are split and globbed.
    fn is_bare(self) -> bool {
        self.is_token() || matches!(self, Self::Brace | Self::Slash | Self::Group)
    }

    pub(super) fn quoting(self) -> Quoting {
        if self.is_bare() { Quoting::Bare } else { Quoting::Double }
    }

    /// Whether this byte ends the word; of a token, any delimiter does.
    fn ends(self, byte: u8) -> bool {
        match self {
            Self::Token | Self::Assigned | Self::Regex => is_delimiter(byte),
            Self::Brace | Self::BraceDouble => byte == b'}',
            Self::Slash => matches!(byte, b'}' | b'/'),
            Self::Offset => matches!(byte, b'}' | b':'),
            Self::Double => byte == b'"',
            Self::Group | Self::Document | Self::Arithmetic => false,
        }
    }
}

/// Pieces in the making: neighbouring text of one kind is one piece.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    done: Vec<Piece>,
    run: String,
    form: Option<QuoteForm>,
    /// double quotes of nothing but expansions: where the first without `$@` begin, and whether there are some with it
    lone: Option<usize>,
    spread: bool,
}

impl Pieces {
    /// Behind the closing quote of what began at this piece.
    pub(super) fn close_double(&mut self, from: usize) {
        let within = self.done.get(from..).unwrap_or(&[]);
        if within.iter().any(|p| matches!(p, Piece::Quoted(..))) {
            return;
        }
        let spread =
            within.iter().any(|p| matches!(p, Piece::Parameter(parameter, _) if parameter.is_spread()));
        self.spread |= spread;
        if !spread {
            self.lone.get_or_insert(from);
        }
    }

    pub(super) fn text(&mut self, text: &str, form: Option<QuoteForm>) {
        if self.form != form {
            self.flush();
            self.form = form;
        }
        self.run.push_str(text);
    }

    /// A quoted text that counts though it is empty.
    pub(super) fn quoted(&mut self, text: String, form: QuoteForm) {
        self.flush();
        self.done.push(Piece::Quoted(text, form));
    }

    pub(super) fn piece(&mut self, piece: Piece) {
        self.flush();
        self.done.push(piece);
    }

    pub(super) fn flush(&mut self) {
        if !self.run.is_empty() {
            let run = std::mem::take(&mut self.run);
            self.done.push(match self.form {
                None => Piece::Bare(run),
                Some(form) => Piece::Quoted(run, form),
            });
        }
        self.form = None;
    }

    /// How many pieces there are, the open run included.
    pub(super) fn count(&self) -> usize {
        self.done.len() + usize::from(!self.run.is_empty())
    }

    fn bare_run(&self) -> &str {
        if self.form.is_none() { &self.run } else { "" }
    }

    pub(super) fn finish(mut self) -> Vec<Piece> {
        self.flush();
        if let Some(at) = self.lone.filter(|at| self.spread && *at <= self.done.len()) {
            // `"$x""$@"` is a word, even if both are empty; `"$x$@"` then is none
            self.done.insert(at, Piece::Quoted(String::new(), QuoteForm::Double));
        }
        self.done
    }
}

impl<'t> Reader<'t> {
    /// The word that begins here; `None` where a delimiter stands instead.
    pub(super) fn read_word(&mut self, context: Context) -> Read<Option<Word>> {
        self.peek();
        let start = self.at;
        if let Some(end) = self.plain_end(context) {
            self.at = end;
            let text = self.slice(start, end);
            return Ok((end > start).then(|| Word::bare(text, self.span(start, end))));
        }
        let mut pieces = Pieces::default();
        self.fill(&mut pieces, context)?;
        let (pieces, span) = (pieces.finish(), self.span(start, self.at));
        Ok((self.at > start && !pieces.is_empty()).then_some(Word { pieces, span }))
    }

    /// Where the word ends, if nothing in it needs a closer look (most words).
    fn plain_end(&self, context: Context) -> Option<usize> {
        if self.at < self.solid_until || context == Context::Regex {
            return None;
        }
        let rest = self.text.as_bytes().get(self.at..self.end)?;
        let length = rest.iter().position(|b| !is_plain(*b)).unwrap_or(rest.len());
        let ends = match rest.get(length) {
            None | Some(b' ' | b'\t' | b'\n' | b';' | b'|' | b'&' | b')') => true,
            Some(b'<' | b'>') => rest.get(length + 1) != Some(&b'('),
            // an extended pattern may begin here
            Some(b'(') => !matches!(rest.get(length.wrapping_sub(1)), Some(b'?' | b'*' | b'+' | b'@' | b'!')),
            Some(_) => false,
        };
        ends.then_some(self.at + length)
    }

    /// The part of the text between two positions, read as a word.
    pub(super) fn read_part(&mut self, part: (usize, usize), context: Context) -> Read<Word> {
        let (at, end) = (self.at, self.end);
        (self.at, self.end) = part;
        let mut pieces = Pieces::default();
        let result = self.fill(&mut pieces, context);
        (self.at, self.end) = (at, end);
        result?;
        Ok(Word { pieces: pieces.finish(), span: self.span(part.0, part.1) })
    }

    /// A word up to its terminator, which is left standing.
    pub(super) fn read_until(&mut self, context: Context) -> Read<Word> {
        let start = self.at;
        let mut pieces = Pieces::default();
        self.deeper(|reader| reader.fill(&mut pieces, context))?;
        Ok(Word { pieces: pieces.finish(), span: self.span(start, self.at) })
    }

    /// Collects pieces up to what ends the context.
    pub(super) fn fill(&mut self, out: &mut Pieces, context: Context) -> Read<()> {
        let bare = context.is_bare();
        let form = if bare { None } else { Some(QuoteForm::Double) };
        let mut hidden = false;
        let solid_until = std::mem::take(&mut self.solid_until);
        let mut tilde = bare && !matches!(context, Context::Slash | Context::Group | Context::Regex);
        while let Some(byte) = self.peek() {
            let tilde_here = std::mem::take(&mut tilde);
            match byte {
                b'\'' if bare => self.read_single(out)?,
                b'\'' if context == Context::BraceDouble => {
                    hidden = !hidden;
                    out.text(self.character(), form);
                }
                b'"' if bare || context == Context::BraceDouble => self.read_double(out)?,
                b'"' if context == Context::Arithmetic || context == Context::Offset => self.at += 1,
                b'\\' => self.read_escape(out, context),
                b'$' => self.read_dollar(out, context)?,
                b'`' => self.read_backquotes(out, context)?,
                b'~' if tilde_here => self.read_tilde(out, context),
                b'<' | b'>' if bare && self.is_bash() && self.byte(1) == Some(b'(') => {
                    self.read_process(out)?;
                }
                b'(' if context.is_token() && self.opens_pattern(out, context) => self.read_group(out)?,
                b'|' if context == Context::Regex => out.text(self.character(), form),
                _ if context.ends(byte) && !hidden && self.at >= solid_until => break,
                _ => {
                    out.text(self.plain_run(), form);
                    tilde = bare && tilde_follows(out, context);
                }
            }
        }
        if hidden {
            return self.broken(Fault::Unclosed("'"));
        }
        Ok(())
    }

    /// The parentheses of a pattern: as in bash, quotes and further parentheses are seen when their end
    /// is looked for, but no `${…}`.
    fn read_group(&mut self, out: &mut Pieces) -> Read<()> {
        self.at += 1;
        let inner = self.matched(Bracket::Parenthesis)?;
        out.text("(", None);
        let word = self.read_loose(inner, Context::Group)?;
        for piece in word.pieces {
            if let Piece::Bare(text) = &piece {
                out.text(text, None);
            } else {
                out.piece(piece);
            }
        }
        out.text(")", None);
        Ok(())
    }

    /// One character, and those behind it that nobody looks at.
    fn plain_run(&mut self) -> &'t str {
        let start = self.at;
        self.character();
        if !matches!(self.text.as_bytes().get(start), Some(b':' | b'=')) {
            while self
                .byte(0)
                .is_some_and(|b| b.is_ascii_alphanumeric() || b >= 0x80 || matches!(b, b'-' | b'_' | b'.'))
            {
                self.at += 1;
            }
        }
        self.slice(start, self.at)
    }

    /// Whether the parenthesis here belongs to an extended pattern (`?(a|b)`), or to a regular expression.
    /// Empty parentheses behind a first word define a function instead.
    fn opens_pattern(&self, out: &Pieces, context: Context) -> bool {
        if context == Context::Regex {
            return true;
        }
        if !self.is_bash() || !out.bare_run().ends_with(['?', '*', '+', '@', '!']) {
            return false;
        }
        let mut ahead = 1;
        while let Some(b' ' | b'\t') = self.byte(ahead) {
            ahead += 1;
        }
        !self.may_define || self.byte(ahead) != Some(b')')
    }

    /// `~name` up to `/`, or a literal where something else follows.
    fn read_tilde(&mut self, out: &mut Pieces, context: Context) {
        self.at += 1;
        let start = self.at;
        while self
            .byte(0)
            .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'+'))
        {
            self.at += 1;
        }
        let user = self.slice(start, self.at);
        let follows = match self.byte(0) {
            None | Some(b'/') => true,
            Some(b':') if context == Context::Assigned || out.count() > 0 => true,
            Some(b':') => context == Context::Token && self.is_bash() && self.is_plain_up_to_slash(context),
            Some(b'=') => out.count() == 0 && self.is_bash() && self.is_one_more_tilde(context),
            Some(byte) => context.ends(byte),
        };
        if follows {
            out.piece(Piece::Tilde(user.to_owned()));
        } else {
            out.text("~", None);
            out.text(user, None);
        }
    }

    /// Whether neither a quote nor an expansion comes before the next slash or the word's end: bash looks so far.
    fn is_plain_up_to_slash(&self, context: Context) -> bool {
        let mut bytes = (0..).map_while(|ahead| self.byte(ahead));
        let stop =
            bytes.find(|b| matches!(b, b'/' | b'\\' | b'\'' | b'"' | b'$' | b'`' | b'{') || context.ends(*b));
        stop.is_none_or(|b| b == b'/' || context.ends(b))
    }

    /// `=~` and nothing more up to a slash or the word's end, which bash takes for the end of a user's name.
    fn is_one_more_tilde(&self, context: Context) -> bool {
        self.byte(1) == Some(b'~') && self.byte(2).is_none_or(|b| b == b'/' || context.ends(b))
    }
}

/// Whether a tilde would be expanded behind what has been read: after a colon in an assigned value, and
/// after the `=` (and further colons) of an argument that looks like an assignment.
fn tilde_follows(out: &Pieces, context: Context) -> bool {
    let run = out.bare_run();
    match context {
        Context::Assigned => run.ends_with(':'),
        Context::Token if run.ends_with('=') => out.done.is_empty() && is_name(run.trim_end_matches('=')),
        Context::Token if run.ends_with(':') => match out.done.first() {
            None => run.split_once('=').is_some_and(|(name, _)| is_name(name)),
            Some(Piece::Bare(text)) => text.split_once('=').is_some_and(|(name, _)| is_name(name)),
            Some(_) => false,
        },
        Context::Token
        | Context::Regex
        | Context::Brace
        | Context::BraceDouble
        | Context::Slash
        | Context::Group
        | Context::Offset
        | Context::Double
        | Context::Document
        | Context::Arithmetic => false,
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Bytes of a word that mean themselves wherever they stand in it.
fn is_plain(byte: u8) -> bool {
    !matches!(
        byte,
        b' ' | b'\t'
            | b'\n'
            | b'|'
            | b'&'
            | b';'
            | b'('
            | b')'
            | b'<'
            | b'>'
            | b'\''
            | b'"'
            | b'\\'
            | b'$'
            | b'`'
            | b'~'
    )
}
