//! Our own syntax tree, into which both parsers' trees are lowered.
//!
//! In: nothing. Out: [`Script`] and its parts, in POSIX's words. Spans point into the judged text of
//! the unit that was parsed (a here-document's or substitution's inner script has spans of its own
//! unit, moved to the outer text where the parser allows; else the outer construct's span).
//! Never: holds a parser's type.

use crate::text::Span;

/// A list of and-or lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    pub items: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub first: Pipeline,
    pub rest: Vec<(Join, Pipeline)>,
    pub ends: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    And,
    Or,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// `;` or newline
    Sequential,
    /// `&`
    Background,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    pub commands: Vec<Command>,
    pub status: Status,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    AsIs,
    /// `!`
    Negated,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    Simple(Simple),
    Compound(Compound, Vec<Redirect>),
    Function(Function),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple {
    pub assignments: Vec<Assignment>,
    pub words: Vec<Word>,
    /// Arrays among the arguments (`declare -a x=(…)`, `local y=()`); scalars stay words.
    pub declared: Vec<Assignment>,
    pub redirects: Vec<Redirect>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub name: String,
    /// `a[index]=`
    pub index: Option<Word>,
    pub operator: Assign,
    pub value: AssignValue,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assign {
    Set,
    /// `+=`
    Append,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssignValue {
    Scalar(Word),
    /// `( … )`: each element with its subscript, if it has one
    Array(Vec<(Option<Word>, Word)>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub body: Box<Command>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compound {
    Brace(Script),
    Subshell(Script),
    /// `for name in words`; `None`: over the positional parameters
    For {
        name: String,
        words: Option<Vec<Word>>,
        body: Script,
        span: Span,
    },
    Select {
        name: String,
        words: Option<Vec<Word>>,
        body: Script,
    },
    /// `for ((a; b; c))`
    ForArithmetic {
        init: Word,
        test: Word,
        step: Word,
        body: Script,
    },
    While {
        test: Script,
        body: Script,
    },
    Until {
        test: Script,
        body: Script,
    },
    /// conditions with their bodies, then the `else` body
    If {
        arms: Vec<(Script, Script)>,
        otherwise: Option<Script>,
    },
    Case {
        subject: Word,
        arms: Vec<CaseArm>,
    },
    /// `[[ … ]]`
    Conditional(Condition),
    /// `(( … ))`; the text as a word, since it is expanded
    Arithmetic(Word),
    Coprocess {
        name: Option<String>,
        body: Box<Command>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseArm {
    pub patterns: Vec<Word>,
    pub body: Script,
    /// `;&` or `;;&`: the next arm may run too
    pub after: AfterArm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterArm {
    Stop,
    FallThrough,
    TestNext,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    Not(Box<Condition>),
    /// operator (`-e`, `-z`, `-v` …; `-n` for a bare word) and operand
    Unary(String, Word),
    /// operator (`==`, `=~`, `-eq`, `<` …)
    Binary(String, Word, Word),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// The descriptor, where one is written; `{name}>` is `Descriptor::Variable`.
    pub descriptor: Option<Descriptor>,
    pub action: RedirectAction,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Descriptor {
    Number(u32),
    Variable(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedirectAction {
    /// `<`
    Read(Word),
    /// `>`
    Write(Word),
    /// `>|`
    Clobber(Word),
    /// `>>`
    Append(Word),
    /// `<>`
    ReadWrite(Word),
    /// `&>` and `>&word`
    WriteBoth(Word),
    /// `&>>`
    AppendBoth(Word),
    /// `<&`: descriptor, `-` or a word to expand
    DuplicateIn(Word),
    /// `>&`
    DuplicateOut(Word),
    /// `<<`, `<<-`: the body is a word (a quoted literal where the delimiter was quoted)
    HereDocument(Word),
    /// `<<<`
    HereString(Word),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    pub pieces: Vec<Piece>,
    pub span: Span,
}

/// Whether a piece stands within double quotes (no splitting, no globbing of its result).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quoting {
    Bare,
    Double,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Unquoted text: glob characters, braces and a leading tilde in it are live (see `Tilde`).
    Bare(String),
    /// Text that was quoted in any way (single, double, ANSI-C with its escapes decoded, backslash).
    Quoted(String, QuoteForm),
    /// `~` or `~user` at a place where it is expanded; holds the user's name, empty for `~`
    Tilde(String),
    Parameter(Box<Parameter>, Quoting),
    /// `$( … )` or backquotes
    Command(Box<Substituted>, Quoting),
    /// `$(( … ))`
    Arithmetic(Box<Word>, Quoting),
    /// `<( … )` or `>( … )`
    Process(Direction, Box<Substituted>),
}

/// How a quoted text was written: evidence of obfuscation, nothing else depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuoteForm {
    Single,
    Double,
    AnsiC,
    Backslash,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `<( … )`: the command's output is read
    In,
    /// `>( … )`: what is written is the command's input
    Out,
}

/// A substitution's inner script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Substituted {
    pub script: Script,
    /// The inner text as written; kept where the script could not be parsed (`broken`), else empty.
    pub broken: Option<String>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Variable name, or a special or positional parameter (`@`, `*`, `#`, `?`, `-`, `$`, `!`, `0`, `12`).
    pub name: String,
    /// `${name[index]}`; `@` and `*` too
    pub index: Option<Word>,
    /// `${!name}`
    pub reference: Reference,
    pub operation: Operation,
    pub spelling: Spelling,
}

/// Whether the text behind a name could become part of it: bash expands braces in the text, before it reads names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// `$name`
    Open,
    /// `${name}`
    Braced,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    Direct,
    /// `${!name}`: the value is the name of another
    Indirect,
}

/// What is done to a parameter's value. `Colon::Yes` where the null value counts as unset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    None,
    /// `${#x}`
    Length,
    /// `${x:-word}`
    Default(Colon, Word),
    /// `${x:=word}`
    AssignDefault(Colon, Word),
    /// `${x:?word}`
    Error(Colon, Word),
    /// `${x:+word}`
    Alternative(Colon, Word),
    /// `${x#p}`, `${x##p}`
    RemovePrefix(Extent, Word),
    /// `${x%p}`, `${x%%p}`
    RemoveSuffix(Extent, Word),
    /// `${x/p/r}` and its forms
    Replace(ReplaceAt, Word, Option<Word>),
    /// `${x:offset:length}`
    Substring(Word, Option<Word>),
    /// `${x^}`, `${x^^}`, `${x,}`, `${x,,}`
    Case(CaseChange, Option<Word>),
    /// `${x@Q}` and so on; the letter
    Transform(char),
    /// `${!prefix*}`, `${!array[@]}`
    Names,
}

impl Parameter {
    /// Whether it is as many words as there are parameters or elements, in double quotes, too: `$@`, `${a[@]}`.
    pub fn is_spread(&self) -> bool {
        if self.operation == Operation::Length {
            return false;
        }
        match &self.index {
            None => self.name == "@",
            Some(index) => index.literal().is_some_and(|index| index == "@"),
        }
    }
}

impl Operation {
    /// The words that it is given.
    pub fn words(&self) -> impl Iterator<Item = &Word> {
        let (first, second) = match self {
            Self::None | Self::Length | Self::Transform(_) | Self::Names => (None, None),
            Self::Default(_, word)
            | Self::AssignDefault(_, word)
            | Self::Error(_, word)
            | Self::Alternative(_, word)
            | Self::RemovePrefix(_, word)
            | Self::RemoveSuffix(_, word) => (Some(word), None),
            Self::Replace(_, word, other) | Self::Substring(word, other) => (Some(word), other.as_ref()),
            Self::Case(_, word) => (word.as_ref(), None),
        };
        first.into_iter().chain(second)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colon {
    Yes,
    No,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Shortest,
    Longest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplaceAt {
    First,
    All,
    Start,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseChange {
    UpperFirst,
    UpperAll,
    LowerFirst,
    LowerAll,
    /// `~`, `~~`
    Toggle,
}

impl Word {
    /// A word of one quoted literal.
    pub fn quoted(text: impl Into<String>, span: Span) -> Self {
        Self { pieces: vec![Piece::Quoted(text.into(), QuoteForm::Single)], span }
    }

    /// A word of one bare literal.
    pub fn bare(text: impl Into<String>, span: Span) -> Self {
        Self { pieces: vec![Piece::Bare(text.into())], span }
    }

    /// The word's text where it holds nothing but literals, quotes removed.
    pub fn literal(&self) -> Option<String> {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Bare(text) | Piece::Quoted(text, _) => out.push_str(text),
                Piece::Tilde(_)
                | Piece::Parameter(..)
                | Piece::Command(..)
                | Piece::Arithmetic(..)
                | Piece::Process(..) => return None,
            }
        }
        Some(out)
    }
}
