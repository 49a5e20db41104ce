//! What a look into source text of another language can say: acts, their arguments, and doubts.
//!
//! In: nothing. Out: the types that the interpreter of effects maps to effects.
//! Never: knows paths, policy or verdicts.

use std::rc::Rc;

use crate::text::Span;

/// The outcome of a look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// In the order in which the text names them; the same act is named once.
    pub acts: Vec<Act>,
    /// The gravest thing that could not be read.
    pub unknown: Option<Doubt>,
    /// What the code could touch, by what it imports or names.
    pub reach: Reach,
    /// Everything that it prints, if that is known, and whether it had to be decoded.
    pub printed: Option<(Rc<str>, Built)>,
    /// Modules that it brings in and that the language does not bring itself, by name.
    pub modules: Vec<Rc<str>>,
}

/// Modules that are looked for.
const MODULES: usize = 64;

impl Found {
    /// Notes a module that is brought in.
    pub fn bring(&mut self, module: &str) {
        if self.modules.len() < MODULES && !self.modules.iter().any(|known| **known == *module) {
            self.modules.push(Rc::from(module));
        }
    }
}

/// One thing that the code would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    pub what: What,
    /// What each argument is, is said at [`What`].
    pub args: Vec<Value>,
    /// How the arguments came to be known.
    pub built: Built,
    /// Where in the text that was looked into (for code in code: of the outer call).
    pub span: Span,
}

/// Kinds of acts; in brackets what `args` holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    /// removes one file or an empty folder (path)
    Delete,
    /// removes a tree (path)
    DeleteTree,
    /// replaces or changes a file (path, then data if at hand)
    Write,
    /// adds to a file (path, then data if at hand)
    Append,
    /// reads a file (path)
    Read,
    /// lists a folder or asks for metadata (path)
    List,
    /// makes an empty file or folder (path)
    Create,
    /// moves (from, to)
    Move,
    /// copies (from, to)
    Copy,
    /// makes a link (to what, place)
    Link,
    /// changes a mode (path, mode as octal digits or as written)
    Chmod,
    /// changes an owner (path, owner …)
    Chown,
    /// runs shell text (text)
    Shell,
    /// runs a program without a shell (argv)
    Exec,
    /// runs a program file that the language loads as code of its own: source, load, do, include (path)
    Load,
    /// starts a shell or prompt without a command; leaves mediation (program, if known)
    Interactive,
    /// opens a raw connection (host, port)
    Connect,
    /// waits for connections (host, port)
    Listen,
    /// takes bytes from the network (URL)
    Fetch,
    /// gives bytes to the network (host or URL, then the data)
    Send,
    /// takes a URL to a file (URL, path)
    Download,
    /// runs code that is made at run time (where the text comes from)
    Eval,
    /// shows or passes on the environment as a whole (nothing, or the receiver)
    Environment,
    /// shows a value that comes from a variable of the environment (value)
    Print,
    /// sets a variable of the environment for this process and its children (name, value)
    SetVariable,
    /// changes the directory (path)
    Chdir,
    /// sends a signal (process, signal)
    Kill,
    /// halts or restarts the machine
    Power,
    /// forks without end, fills memory or disk
    Exhaust,
    /// loads machine code: ctypes, ffi, dlopen, extensions (path)
    LoadNative,
    /// ties a connection to standard input and output
    StreamsToNetwork,
    /// takes another user's rights (user or number)
    Setuid,
    /// watches or controls another process (process)
    Trace,
    /// looks at accounts, network or processes
    Discover,
    /// records keys, screen, clipboard
    Capture,
    /// installs software with the language's own tool (names)
    Install,
    /// destroys data in a database (statement)
    DropData,
    /// serves a folder to the network (host, port)
    Serve,
}

/// How far the text had to be pieced together. Ordered: the worst of the parts counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Built {
    /// literals, joins and formats as anybody writes them
    #[default]
    Plain,
    /// joined from pieces that hide a name ('sys' + 'tem')
    Pieced,
    /// from numbers, reversed, base64, hex, rot13 …
    Decoded,
}

/// A value, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Known(Rc<str>),
    /// Text in pieces, at least one of which is not known.
    Pieced(Rc<[Piece]>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Text(Rc<str>),
    Open(Source),
}

/// Where an unknown piece comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub origin: Origin,
    /// Variable's name, argument's number from 0, file's path, URL or host, command; may be empty.
    pub detail: Rc<str>,
    /// It went through base64, hex, decompression or a cipher.
    pub decoded: Decoded,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decoded {
    #[default]
    No,
    Yes,
}

/// Origins, in rising gravity: where values of several origins meet, the gravest stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// computed from what is known or harmless: counters, lengths, times, random names
    #[default]
    Computed,
    /// a parameter or name that was not followed
    Unknown,
    /// facts about the system
    System,
    /// a name in a folder that is listed (detail: the folder)
    Listing,
    /// an operand of the program (detail: its number, from 0; empty: all)
    Argument,
    /// a variable of the environment (detail: its name)
    Variable,
    /// the output of a command (detail: the command)
    Command,
    /// standard input or what a person types
    Stdin,
    /// a file's content (detail: the path)
    File,
    /// the environment as a whole
    Environment,
    /// bytes from the network (detail: URL or host)
    Network,
}

/// Something that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    pub grade: Grade,
    /// What it is, lower case; may quote the text: escape before showing.
    pub detail: Rc<str>,
    pub span: Span,
}

/// How much an unread part can hide. Ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// a language that is not read here, or a part of the text that no rule reads
    Unread,
    /// a bound was reached, the rest is not judged
    Limit,
    /// a name is chosen at run time where processes, files or the network are within reach
    Chosen,
    /// the text hides what it calls
    Hidden,
}

/// What code could touch: a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach(pub u8);

impl Reach {
    pub const FILES: Self = Self(1);
    pub const PROCESSES: Self = Self(2);
    pub const NETWORK: Self = Self(4);
    pub const NATIVE: Self = Self(8);
    /// eval, exec, import by name
    pub const CODE: Self = Self(16);

    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl Source {
    pub fn of(origin: Origin) -> Self {
        Self { origin, detail: Rc::from(""), decoded: Decoded::No }
    }

    pub fn named(origin: Origin, detail: &str) -> Self {
        Self { origin, detail: Rc::from(detail), decoded: Decoded::No }
    }

    /// The graver of two.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        let decoded = self.decoded.max(other.decoded);
        let gravest = if other.origin > self.origin { other } else { self };
        Self { decoded, ..gravest }
    }
}

impl Value {
    pub fn unknown(origin: Origin) -> Self {
        Self::Pieced(Rc::from([Piece::Open(Source::of(origin))]))
    }

    /// The text, if all of it is known.
    pub fn known(&self) -> Option<&str> {
        match self {
            Self::Known(text) => Some(text),
            Self::Pieced(_) => None,
        }
    }

    /// The known beginning; empty if the beginning is unknown.
    pub fn prefix(&self) -> &str {
        match self {
            Self::Known(text) => text,
            Self::Pieced(pieces) => match pieces.first() {
                Some(Piece::Text(text)) => text,
                Some(Piece::Open(_)) | None => "",
            },
        }
    }

    /// The gravest origin of its unknown pieces; none if all is known.
    pub fn source(&self) -> Option<Source> {
        match self {
            Self::Known(_) => None,
            Self::Pieced(pieces) => pieces
                .iter()
                .filter_map(|p| match p {
                    Piece::Text(_) => None,
                    Piece::Open(source) => Some(source.clone()),
                })
                .reduce(Source::worse),
        }
    }
}
