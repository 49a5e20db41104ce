//! Shapes of wrappers as data, and matching a text against one, from its first byte to its last.
//!
//! In: a text and a [`Shape`]. Out: [`Match`]: where the model's text is, and the wrapper as it is judged.
//! Never: searches; every byte of the text is accounted for by a piece of the shape.

use crate::envelope::word;
use crate::text::Span;

/// A wrapper that a client is known to make.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub framework: &'static str,
    /// What it is called in the record.
    pub form: &'static str,
    pub model: Where,
    pub pieces: &'static [Piece],
}

/// Where the model's text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// [`Piece::Model`]: one quoted word, which the wrapper evaluates
    Word,
    /// [`Piece::Pasted`]: as it is, among the wrapper's own lines
    Pasted(Joint),
    /// the positional parameter of this number
    Parameter(usize),
    /// nowhere: it is the client's own call
    Nowhere,
}

/// What closes a pasted text: it stands by itself if nothing but this could close it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joint {
    /// Between the text and its closer.
    pub between: &'static str,
    pub closer: &'static str,
}

/// A piece of a shape.
#[derive(Clone, Copy, Debug)]
pub enum Piece {
    Text(&'static str),
    /// Text that is known to do no harm and of which nothing can be said beforehand (it restores what an
    /// earlier call of the client has saved): left out of what is judged.
    Restore(&'static str),
    /// One literal word that is an absolute path.
    Path,
    /// An absolute path in double quotes that has this in it and nothing that is special there.
    QuotedPath(&'static str),
    /// An absolute path in single quotes.
    SinglePath,
    /// A literal word that is an absolute path whose last part begins and ends like this.
    File(&'static str, &'static str),
    /// Letters, digits, `_` and `-`, at least one.
    Mark,
    /// Spaces, tabs and newlines, where any number of them means the same.
    Blank,
    /// A number.
    Number,
    /// A variable's name.
    Name,
    /// The number or name that was read last.
    Same(Key),
    /// The model's text as one literal word.
    Model,
    /// The model's text as it is, up to the last place in the text where this stands.
    Pasted(&'static str),
    /// These pieces or nothing.
    Maybe(&'static [Piece]),
    /// The first of these that fits.
    Either(&'static [&'static [Piece]]),
    /// These pieces, as often as they come.
    Times(&'static [Piece]),
}

/// What a shape refers back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Number,
    Name,
}

/// A text that has a shape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// The model's text as written, and decoded.
    pub model: Option<(Span, String)>,
    /// The wrapper as it is judged: the text without [`Piece::Restore`].
    pub kept: String,
    /// Where in `kept` a pasted text stands.
    pub pasted: Option<Span>,
}

/// How far a text has been matched.
#[derive(Clone, Default)]
struct Reader<'t> {
    text: &'t str,
    at: usize,
    number: &'t str,
    name: &'t str,
    found: Match,
}

/// Matches the whole of a text.
pub fn matches(shape: &Shape, text: &str) -> Option<Match> {
    let mut reader = Reader { text, ..Reader::default() };
    reader.all(shape.pieces)?;
    (reader.at == text.len()).then_some(reader.found)
}

impl<'t> Reader<'t> {
    fn all(&mut self, pieces: &'static [Piece]) -> Option<()> {
        pieces.iter().try_for_each(|piece| self.one(piece))
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Goes on by `length` bytes, which are judged.
    fn keep(&mut self, length: usize) -> Option<&'t str> {
        let taken = self.rest().get(..length)?;
        self.found.kept.push_str(taken);
        self.at += length;
        Some(taken)
    }

    fn text(&mut self, text: &str) -> Option<()> {
        self.rest().strip_prefix(text)?;
        self.keep(text.len()).map(drop)
    }

    /// As many characters as fit, at least one.
    fn run(&mut self, fits: fn(char) -> bool) -> Option<&'t str> {
        let rest = self.rest();
        let length = rest.find(|c| !fits(c)).unwrap_or(rest.len());
        if length == 0 { None } else { self.keep(length) }
    }

    /// Whether these pieces come next; if not, nothing was read.
    fn fits(&mut self, pieces: &'static [Piece]) -> bool {
        let (at, kept, number, name) = (self.at, self.found.kept.len(), self.number, self.name);
        let done = self.all(pieces).is_some();
        if !done {
            (self.at, self.number, self.name) = (at, number, name);
            self.found.kept.truncate(kept);
        }
        done
    }

    fn one(&mut self, piece: &Piece) -> Option<()> {
        match piece {
            Piece::Text(text) => self.text(text)?,
            Piece::Restore(text) => {
                self.rest().strip_prefix(text)?;
                self.at += text.len();
            }
            Piece::Path => self.named(|name| name.starts_with('/'))?,
            Piece::File(begins, ends) => {
                let fits =
                    |name: &str| name.strip_prefix(begins).and_then(|name| name.strip_suffix(ends)).is_some();
                self.named(|name| name.starts_with('/') && name.rsplit('/').next().is_some_and(fits))?;
            }
            Piece::QuotedPath(with) => {
                let inner = self.rest().strip_prefix("\"/")?;
                let length = inner.find(['"', '\\', '$', '`', '\n'])?;
                self.keep(length + 3).filter(|taken| taken.ends_with('"') && taken.contains(with))?;
            }
            Piece::SinglePath => {
                let length = self.rest().strip_prefix("'/")?.find('\'')?;
                self.keep(length + 3)?;
            }
            Piece::Model => {
                let (length, value) = word::literal(self.rest())?;
                self.model(length, value)?;
            }
            Piece::Pasted(end) => {
                let length = self.rest().rfind(end)?;
                let kept = self.found.kept.len();
                self.found.pasted = Some(Span::new(kept, kept + length));
                self.model(length, self.rest().get(..length)?.to_owned())?;
            }
            Piece::Mark => {
                self.run(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))?;
            }
            Piece::Blank => {
                self.run(|c| matches!(c, ' ' | '\t' | '\n'));
            }
            Piece::Number => self.number = self.run(|c| c.is_ascii_digit())?,
            Piece::Name => self.name = self.variable()?,
            Piece::Same(Key::Number) => self.text(self.number)?,
            Piece::Same(Key::Name) => self.text(self.name)?,
            Piece::Maybe(pieces) => {
                self.fits(pieces);
            }
            Piece::Either(choices) => choices.iter().any(|pieces| self.fits(pieces)).then_some(())?,
            Piece::Times(pieces) => {
                let mut before = self.at;
                while self.fits(pieces) && self.at > before {
                    before = self.at;
                }
            }
        }
        Some(())
    }

    /// A literal word with such a value.
    fn named(&mut self, fits: impl Fn(&str) -> bool) -> Option<()> {
        let (length, value) = word::literal(self.rest())?;
        fits(&value).then_some(())?;
        self.keep(length).map(drop)
    }

    fn model(&mut self, length: usize, value: String) -> Option<()> {
        self.found.model = Some((Span::new(self.at, self.at + length), value));
        self.keep(length).map(drop)
    }

    fn variable(&mut self) -> Option<&'t str> {
        let name = self.run(|c| c.is_ascii_alphanumeric() || c == '_')?;
        (!name.starts_with(|c: char| c.is_ascii_digit())).then_some(name)
    }
}
