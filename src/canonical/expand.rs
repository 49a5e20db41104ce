//! Word expansion as bash does it (POSIX XCU 2.6), over values that may have holes.
//!
//! In: a [`Word`], the [`State`], a [`Host`] that judges substituted commands. Out: [`Field`]s.
//! Never: runs anything; drops a substitution without handing it to the host.

use crate::act::{TagSet, tag};
use crate::canonical::brace;
use crate::canonical::host::Host;
use crate::canonical::parameter::{self, Got};
use crate::canonical::state::State;
use crate::canonical::value::{Data, Field, HOLE, Value};
use crate::canonical::{arithmetic, tilde};
use crate::syntax::tree::{Direction, Operation, Parameter, Piece, Quoting, Substituted, Word};
use crate::text::Span;

/// Whether a bare text has live glob characters.
fn has_glob(text: &str) -> bool {
    text.bytes().any(|b| matches!(b, b'*' | b'?' | b'['))
}

/// Expands words in a state.
pub struct Expander<'a> {
    pub state: &'a mut State,
    pub host: &'a mut dyn Host,
}

/// A field while it is put together.
#[derive(Default)]
struct Builder {
    done: Vec<Field>,
    text: String,
    pattern: String,
    glob: bool,
    started: bool,
    tags: TagSet,
    spread: Spread,
    splitting: Splitting,
}

/// Whether what is expanded bare is split into fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Splitting {
    #[default]
    On,
    /// bash forgets that it has expanded something where a lone dollar sign follows: `$x$`
    Off,
}

impl Splitting {
    fn of(pieces: &[Piece]) -> Self {
        let dollar = pieces.iter().rposition(|p| matches!(p, Piece::Bare(text) if text.contains('$')));
        let expansion = pieces.iter().rposition(|p| {
            matches!(
                p,
                Piece::Parameter(_, Quoting::Bare)
                    | Piece::Command(_, Quoting::Bare)
                    | Piece::Arithmetic(_, Quoting::Bare)
            )
        });
        let several =
            pieces.iter().any(|p| matches!(p, Piece::Parameter(p, quoting) if makes_fields(p, *quoting)));
        if dollar > expansion && !several { Self::Off } else { Self::On }
    }
}

/// Whether bash keeps in mind that this has made several fields.
fn makes_fields(parameter: &Parameter, quoting: Quoting) -> bool {
    let whole = match &parameter.operation {
        Operation::None => true,
        Operation::Length | Operation::Alternative(..) | Operation::Error(..) => return false,
        Operation::Names => false,
        Operation::Default(..)
        | Operation::AssignDefault(..)
        | Operation::RemovePrefix(..)
        | Operation::RemoveSuffix(..)
        | Operation::Replace(..)
        | Operation::Substring(..)
        | Operation::Case(..)
        | Operation::Transform(_) => parameter.index.is_some(),
    };
    parameter.is_spread() || parameter::is_star(parameter) && quoting == Quoting::Bare && whole
}

/// Whether `"$@"` is part of the word: what is empty beside it then makes no word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Spread {
    #[default]
    No,
    Yes,
}

impl Builder {
    fn quoted(&mut self, text: &str) {
        self.text.push_str(text);
        escape_into(&mut self.pattern, text);
        self.started = true;
    }

    /// The value of an expansion in double quotes.
    fn expanded(&mut self, text: &str) {
        let started = self.started || self.spread == Spread::No || !text.is_empty();
        self.quoted(text);
        self.started = started;
    }

    /// An unset variable at the end of a name (`conftest$EXEEXT`) leaves that name, no folder above it.
    fn beside(&self, got: Got) -> Got {
        let name = self.text.rsplit('/').next().unwrap_or_default();
        let stands = name.chars().any(|c| !matches!(c, '.' | '*' | '?' | HOLE));
        match got {
            Got::Value(value) if value.text.is_empty() && stands => {
                Got::Value(Value { tags: value.tags.minus(TagSet::of(tag::UNSET_VARIABLE)), ..value })
            }
            other @ (Got::Value(_) | Got::Fields(_)) => other,
        }
    }

    fn bare(&mut self, text: &str) {
        self.text.push_str(text);
        self.pattern.push_str(text);
        self.glob |= has_glob(text);
        self.started |= !text.is_empty();
    }

    fn end(&mut self, span: Span) {
        if self.started {
            let pattern = self.glob.then(|| std::mem::take(&mut self.pattern));
            self.done.push(Field { text: std::mem::take(&mut self.text), pattern, tags: self.tags, span });
        }
        self.text.clear();
        self.pattern.clear();
        self.glob = false;
        self.started = false;
    }

    /// An unquoted expansion: split at the field separators (POSIX XCU 2.6.5).
    fn split(&mut self, value: &Value, separators: &str, span: Span) {
        self.tags = self.tags.union(value.tags);
        if separators.is_empty() {
            return self.bare(&value.text);
        }
        for c in value.text.chars() {
            if separators.contains(c) {
                if c.is_ascii_whitespace() {
                    self.end(span);
                } else {
                    self.started = true;
                    self.end(span);
                }
            } else {
                self.bare(c.encode_utf8(&mut [0; 4]));
            }
        }
    }
}

/// Appends a text with glob characters and backslashes escaped.
fn escape_into(out: &mut String, text: &str) {
    for c in text.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '\\' | '(' | ')' | '|' | '!' | '@' | '+') {
            out.push('\\');
        }
        out.push(c);
    }
}

impl Expander<'_> {
    /// All expansions but pathname expansion, which the caller does with [`Field::pattern`].
    pub fn fields(&mut self, word: &Word) -> Vec<Field> {
        if let [Piece::Bare(text)] = word.pieces.as_slice()
            && !text.bytes().any(|b| matches!(b, b'*' | b'?' | b'[' | b'{'))
        {
            return vec![Field::known(text.clone(), word.span)];
        }
        let mut out = Vec::new();
        match brace::expand(&word.pieces) {
            brace::Braces::None => self.one(&word.pieces, word.span, &mut out),
            brace::Braces::Words(words) => {
                for pieces in &words {
                    self.one(pieces, word.span, &mut out);
                }
            }
            brace::Braces::TooMany => {
                self.host.doubt(crate::act::UnknownKind::Limit, "brace expansion", word.span);
                out.push(Field { span: word.span, ..Field::from(Value::unknown(TagSet::EMPTY)) });
            }
        }
        out
    }

    fn one(&mut self, pieces: &[Piece], span: Span, out: &mut Vec<Field>) {
        let spread = |p: &Piece| matches!(p, Piece::Parameter(p, Quoting::Double) if p.is_spread());
        let spread = if pieces.iter().any(spread) { Spread::Yes } else { Spread::No };
        let mut builder = Builder { spread, splitting: Splitting::of(pieces), ..Builder::default() };
        for piece in pieces {
            self.piece(piece, span, &mut builder);
        }
        let computed = |p: &Piece| matches!(p, Piece::Parameter(p, Quoting::Double) if !p.is_spread() && p.operation != Operation::None);
        if spread == Spread::Yes && !builder.started && builder.done.is_empty() && pieces.iter().any(computed)
        {
            // `"$@${x:9}"` with nothing in either is a word to bash, with others than substrings it is none
            builder.text.push(HOLE);
            builder.started = true;
        }
        builder.end(span);
        // a field's tags are those of all its parts, earlier fields of the word may have fewer
        out.append(&mut builder.done);
    }

    fn piece(&mut self, piece: &Piece, span: Span, out: &mut Builder) {
        match piece {
            Piece::Bare(text) => out.bare(text),
            Piece::Quoted(text, _) => out.quoted(text),
            Piece::Tilde(user) => out.quoted(&tilde::home(self.state, user)),
            Piece::Parameter(p, quoting) => {
                let got = match (parameter::expand(self, p, span), quoting) {
                    (Got::Fields(values), Quoting::Double) if parameter::is_star(p) => {
                        Got::Value(self.starred(&values))
                    }
                    (Got::Value(value), Quoting::Double)
                        if out.spread == Spread::Yes && self.splits(&p.operation) =>
                    {
                        Got::Value(Value::unknown(value.tags))
                    }
                    (got, _) => got,
                };
                self.emit(got, *quoting, span, out);
            }
            Piece::Command(inner, quoting) => {
                let value = self.command(inner);
                self.emit(Got::Value(value), *quoting, span, out);
            }
            Piece::Arithmetic(inner, quoting) => {
                let value = self.arithmetic(inner, span);
                self.emit(Got::Value(value), *quoting, span, out);
            }
            Piece::Process(direction, inner) => {
                let value = self.process(*direction, inner);
                out.tags = out.tags.union(value.tags);
                out.quoted(&value.text);
            }
        }
    }

    /// The field separators.
    fn separators(&self) -> String {
        match self.state.scalar("IFS") {
            Some(value) if !value.has_hole() => value.text,
            Some(_) | None => " \t\n".to_owned(),
        }
    }

    /// `"${x-a:b}$@"`: beside `"$@"` bash splits such a word at separators that aren't blank, where they stand bare.
    fn splits(&self, operation: &Operation) -> bool {
        let (Operation::Default(_, word) | Operation::Alternative(_, word)) = operation else { return false };
        let separators = self.separators();
        let splits = |text: &str| text.contains(|c: char| !c.is_whitespace() && separators.contains(c));
        word.pieces.iter().any(|p| matches!(p, Piece::Bare(text) | Piece::Quoted(text, _) if splits(text)))
    }

    /// `"$*"`: one value, the first separator between the parts.
    fn starred(&self, values: &[Value]) -> Value {
        let first: String = self.separators().chars().take(1).collect();
        joined(values, &first)
    }

    fn emit(&mut self, got: Got, quoting: Quoting, span: Span, out: &mut Builder) {
        let separators = self.separators();
        match (out.beside(got), quoting) {
            (Got::Value(value), Quoting::Bare) if out.splitting == Splitting::Off => {
                out.tags = out.tags.union(value.tags);
                out.bare(&value.text);
            }
            (Got::Value(value), Quoting::Bare) => out.split(&value, &separators, span),
            (Got::Value(value), Quoting::Double) => {
                out.tags = out.tags.union(value.tags);
                if value.tags.has(tag::GLOB) {
                    // the loop variable of an unresolved glob: it still stands for what the glob matches
                    out.started = true;
                    out.bare(&value.text);
                } else {
                    out.expanded(&value.text);
                }
            }
            (Got::Fields(values), Quoting::Bare) if separators.starts_with(|c: char| !c.is_whitespace()) => {
                // bash joins them by the first separator and splits again
                let value = self.starred(&values);
                out.split(&value, &separators, span);
            }
            (Got::Fields(values), Quoting::Bare) => {
                for (i, value) in values.iter().enumerate() {
                    if i > 0 {
                        out.end(span);
                    }
                    out.split(value, &separators, span);
                }
            }
            (Got::Fields(values), Quoting::Double) => {
                for (i, value) in values.iter().enumerate() {
                    if i > 0 {
                        out.end(span);
                    }
                    out.tags = out.tags.union(value.tags);
                    out.quoted(&value.text);
                }
            }
        }
    }

    /// A command substitution's value: its output without trailing newlines.
    fn command(&mut self, inner: &Substituted) -> Value {
        let Data { text, tags, .. } = self.host.substitute(self.state, inner);
        let tags = tags.with(tag::IN_SUBSTITUTION);
        match text {
            Some(text) => Value { text: text.trim_end_matches('\n').to_owned(), tags },
            None => Value::unknown(tags),
        }
    }

    fn process(&mut self, direction: Direction, inner: &Substituted) -> Value {
        self.host.process(self.state, direction, inner)
    }

    /// `$(( … ))`
    pub fn arithmetic(&mut self, inner: &Word, span: Span) -> Value {
        let text = self.single(inner);
        let result = arithmetic::evaluate(self, &text.text, span);
        match result {
            Some(number) => Value { text: number.to_string(), tags: text.tags },
            None => Value::unknown(text.tags),
        }
    }

    /// Expansion without field splitting: assignments, redirection targets' bodies, here-documents, `case`.
    pub fn single(&mut self, word: &Word) -> Value {
        match word.pieces.as_slice() {
            [] => return Value::default(),
            [Piece::Bare(text) | Piece::Quoted(text, _)] => return Value::known(text.clone()),
            _ => {}
        }
        let mut out = Value::default();
        for piece in &word.pieces {
            let value = match piece {
                Piece::Bare(text) | Piece::Quoted(text, _) => {
                    out.text.push_str(text);
                    continue;
                }
                Piece::Tilde(user) => Value::known(tilde::home(self.state, user)),
                Piece::Parameter(p, _) => match parameter::expand(self, p, word.span) {
                    Got::Value(value) => value,
                    Got::Fields(values) if parameter::is_star(p) => self.starred(&values),
                    Got::Fields(values) => joined(&values, " "),
                },
                Piece::Command(inner, _) => self.command(inner),
                Piece::Arithmetic(inner, _) => self.arithmetic(inner, word.span),
                Piece::Process(direction, inner) => self.process(*direction, inner),
            };
            out.text.push_str(&value.text);
            out.tags = out.tags.union(value.tags);
        }
        out
    }

    /// A pattern (`case`, `${x#p}`): like [`Self::single`], with quoted glob characters escaped.
    pub fn pattern(&mut self, word: &Word) -> Value {
        let mut out = Value::default();
        for piece in &word.pieces {
            match piece {
                Piece::Bare(text) => out.text.push_str(text),
                Piece::Quoted(text, _) => escape_into(&mut out.text, text),
                Piece::Tilde(user) => escape_into(&mut out.text, &tilde::home(self.state, user)),
                Piece::Parameter(_, quoting) | Piece::Command(_, quoting) | Piece::Arithmetic(_, quoting) => {
                    let one = Word { pieces: vec![piece.clone()], span: word.span };
                    let value = self.single(&one);
                    out.tags = out.tags.union(value.tags);
                    match quoting {
                        Quoting::Bare => out.text.push_str(&value.text),
                        Quoting::Double => escape_into(&mut out.text, &value.text),
                    }
                }
                Piece::Process(..) => out.text.push(HOLE),
            }
        }
        out
    }
}

/// Several values as one, with a text between them.
pub fn joined(values: &[Value], between: &str) -> Value {
    let tags = values.iter().fold(TagSet::EMPTY, |t, v| t.union(v.tags));
    let text = values.iter().map(|v| v.text.as_str()).collect::<Vec<_>>().join(between);
    Value { text, tags }
}
