//! What names mean: the shape of the tables of each language.
//!
//! In: nothing. Out: types of static data.
//! Never: code; what a table can't say is a [`Special`], which the evaluator reads.

use super::found::{Origin, Reach, What};
use crate::policy::tables::Lang;

/// A language that is read with the common parser.
pub(crate) struct Language {
    pub(crate) lang: Lang,
    /// Sorted by name, each slice for itself.
    pub(crate) words: &'static [&'static [(&'static str, Means)]],
    /// By first byte: the lengths (modulo 64) of the words that begin with it. Most names are no words.
    pub(crate) lengths: &'static [u64; 256],
    /// What importing a module brings within reach.
    pub(crate) modules: &'static [(&'static str, Reach)],
}

/// Which arguments an act takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// by position, or by this name
    At(u8, &'static str),
    /// this position and all after it; lists are opened
    Rest(u8),
    /// what the method's object was made with, by position
    This(u8),
    /// each argument is an act of its own; lists are opened
    Each,
}

/// What a call gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gives {
    Nothing,
    /// an unknown value with this origin; its detail is the act's first argument
    From(Origin),
    /// an object of this class, made with the act's arguments
    Object(&'static str),
    /// the first argument, or the method's object
    Same,
}

/// What a name (of a function, or of a value) means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Means {
    Act(What, &'static [Slot], Gives),
    Fold(Fold),
    /// an object of this class, made with the arguments
    Object(&'static str),
    /// an unknown value with this origin; its detail is the first argument
    From(Origin),
    /// the same as this name
    Is(&'static str),
    Constant(&'static str),
    Special(Special),
}

/// Functions that the evaluator computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    /// numbers to text: chr, String.fromCharCode, string.char
    Chr,
    Ord,
    Base64,
    Base32,
    Hex,
    Rot13,
    UrlDecode,
    /// decompression and ciphers: not computed, but remembered
    Opaque,
    /// codecs.decode(data, name)
    Codec,
    Reverse,
    /// all arguments side by side
    Concat,
    /// separator, list
    Join,
    /// list, separator (or separator, list)
    Implode,
    PathJoin,
    Dirname,
    Basename,
    /// the first argument as it is
    Same,
    /// the object as it is
    This,
    Text,
    Number,
    List,
    Lower,
    Upper,
    /// text, from, to
    Replace,
    /// format text, arguments
    Format,
    /// function, list
    Map,
    /// list, function
    MapOver,
    /// numbers from a range
    Range,
    /// template, data
    Pack,
    /// separator, text
    Split,
    /// characters or bytes as numbers
    Bytes,
    /// text, count
    Repeat,
    /// text, from characters, to characters
    Translate,
    /// text, offset, length
    Substr,
    /// a value that can't hide anything: lengths, times
    Harmless,
    /// text to words, as a shell splits them
    Words,
    /// function, list, start (in any order)
    Reduce,
    /// dictionary's items
    Items,
    /// numbers and items of a list
    Enumerate,
    /// lists to a list of what stands at the same place
    Zip,
}

/// What needs code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    /// text is run as code of the language
    Eval,
    /// getattr(object, name), object.send(name)
    Attribute,
    /// __import__, require: a module by its name
    Import,
    /// calls its first argument: apply, `call_user_func`
    Apply,
    /// path, mode: reads, writes or appends
    Open,
    /// perl's open
    PerlOpen,
    /// ruby's open and IO.popen: a leading bar is a command
    RubyOpen,
    /// program or shell text, by `shell=` and the argument's shape
    Subprocess,
    /// program, list of arguments, options
    Spawn,
    /// one argument: shell text; more: argv
    System,
    /// path, `argv[0]`, arguments
    Execl,
    /// path, list of argv
    Execv,
    Fork,
    /// prints: an act only if the environment or a secret is in it
    Print,
    /// variable of the environment by its name
    Getenv,
    /// object's data is written: the path is known from its making
    FileWrite,
    /// method of a socket: address as pair or two arguments
    Address,
    /// ties descriptors: dup2
    Dup,
    /// removes what a pattern names
    Glob,
    /// a url that may hold data to send
    Request,
    /// list and functions: calls the function with each item
    Visit,
    /// the variables by their names: `globals()`
    Globals,
    /// signal, processes (perl, ruby order)
    KillList,
    /// sets a variable of the environment from one text `A=b`
    PutEnv,
    /// an archive's members are taken out to a folder
    Extract,
    /// path objects: from parts, the home, the working directory
    MakePath,
    HomePath,
    HerePath,
    /// a fresh file or folder in the temporary folder
    Temporary,
    /// runs its `target=`, or its callbacks
    Thread,
    /// `> file` and `getline < file`: the file may be one of awk's network files
    AwkWrite,
    AwkRead,
    /// `| command` and `command | getline`, likewise
    AwkPipe,
    /// counts from 1
    AwkSubstr,
    /// path, options with `recursive`
    NodeRemove,
    /// a function, or text that is run
    NodeTimer,
    /// text or numbers, encoding
    NodeBuffer,
    /// url or options, then options with body and method, then a callback
    NodeRequest,
    /// a stream flows into another
    NodePipe,
    /// a callback gets connections
    NodeServer,
    /// gives a `require`
    MakeRequire,
    /// mode (owner, group), then files
    PerlMode,
    PerlSocket,
    PerlConnect,
    PerlAccept,
    PerlShift,
    PerlPrint,
    PerlUnpack,
    PerlReverse,
    PerlSplit,
    PerlHex,
    // php
    PhpProcess,
    PhpCopy,
    PhpPut,
    PhpGet,
    PhpStream,
    PhpConnect,
    PhpSocketConnect,
    PhpCurlOption,
    PhpSplit,
    PhpChars,
    PhpReplace,
    PhpArray,
    // ruby, lua, R
    RubyMode,
    RubyMethod,
    RubyPopen,
    LuaConcat,
    LuaSub,
    RUnlink,
    RFile,
    RCat,
    RParse,
    RGet,
    RPaste,
    RApply,
    /// connects by a DSN or options; the host is an option
    ConnectOptions,
}
