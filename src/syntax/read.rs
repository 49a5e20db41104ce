//! A text's reading: ours, and whether the other parsers see the same commands in it.
//!
//! In: judged text, the shell that will run it. Out: [`Reading`].
//! The reader in `grammar` is exact and linear; brush-parser and yash-syntax are its second opinions,
//! since each misreads texts that the others read right (design/PARSERS.md). Where the readings differ,
//! what bash does is unknown.
//! Never: lets a second opinion run long or deep; says so where there is none.

use crate::syntax::agree::{self, Comparison};
use crate::syntax::bounds::{self, Bound, Facts, Limits};
use crate::syntax::grammar::{self, Dialect, Fault, Parsed, SyntaxError};
use crate::syntax::tree::Script;
use crate::syntax::{bash, posix};

/// What a text reads as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The commands: all, or the complete ones before the error, which bash runs.
    pub script: Script,
    /// What other shells of that name would read instead (`sh` may be dash or bash).
    pub alternatives: Vec<Script>,
    pub second: Second,
    pub error: Option<SyntaxError>,
    pub facts: Facts,
}

/// What the other parsers say about a reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Second {
    Same,
    /// another parser reads other commands; the first (escaped) that only one reading has
    Differ(String),
    /// no other parser reads this text
    Alone,
    Skipped(Skip),
}

/// Why nobody was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// only words, plain quotes and simple operators: there is one way to read it
    Plain,
    /// longer than `Limits::second`
    Size,
    /// we can't read it ourselves
    Unreadable,
}

impl Reading {
    /// Whether running the text does nothing but print bash's syntax error: its first complete command is
    /// malformed (bash runs the complete commands before an error, and nothing of the line with it). A
    /// bound of ours says nothing about bash.
    pub fn runs_nothing(&self) -> bool {
        self.script.items.is_empty()
            && self.alternatives.iter().all(|script| script.items.is_empty())
            && self.error.is_some_and(|error| !matches!(error.fault, Fault::Bound(_)))
    }
}

/// Reads a text as the shell would.
pub fn read(text: &str, dialect: Dialect, limits: &Limits) -> Reading {
    let facts = match bounds::scan(text, limits) {
        Ok(facts) => facts,
        Err(bound) => return unread(bound),
    };
    let Parsed { script, mut error } = grammar::parse(text, dialect, limits);
    let mut alternatives = Vec::new();
    let second = match dialect {
        Dialect::Bash => ask_about_bash(text, &script, error, &facts, limits),
        Dialect::Posix => {
            if !facts.is_plain {
                let other = grammar::parse(text, Dialect::Bash, limits);
                if other.script != script {
                    alternatives.push(other.script);
                }
                // a shell of that name stops at the error (what comes before it is the script), or it is
                // bash and reads the whole (the alternative): nothing is left unread either way
                if other.error.is_none() && error.is_some_and(|e| !matches!(e.fault, Fault::Bound(_))) {
                    error = None;
                    return Reading { script, alternatives, second: Second::Alone, error, facts };
                }
            }
            ask_about_posix(text, &script, error, &facts, limits)
        }
    };
    Reading { script, alternatives, second, error, facts }
}

fn unread(bound: Bound) -> Reading {
    Reading {
        script: Script::default(),
        alternatives: Vec::new(),
        second: Second::Skipped(Skip::Unreadable),
        error: Some(SyntaxError { offset: 0, line: 1, column: 1, fault: Fault::Bound(bound) }),
        facts: Facts::default(),
    }
}

fn skip(error: Option<SyntaxError>, facts: &Facts, limits: &Limits) -> Option<Skip> {
    if error.is_some() {
        Some(Skip::Unreadable)
    } else if facts.is_plain {
        Some(Skip::Plain)
    } else if facts.bytes > limits.second {
        Some(Skip::Size)
    } else {
        None
    }
}

/// brush first; yash where brush refuses the text or reads it otherwise (it may be brush that is wrong:
/// two readings of three that agree are believed).
fn ask_about_bash(
    text: &str,
    script: &Script,
    error: Option<SyntaxError>,
    facts: &Facts,
    limits: &Limits,
) -> Second {
    if let Some(why) = skip(error, facts, limits) {
        return Second::Skipped(why);
    }
    let brush = bash::read(text, limits).map(|other| agree::compare(script, &other));
    if brush == Some(Comparison::Same) {
        return Second::Same;
    }
    let yash = if agree::is_misread_as_posix(script) {
        None
    } else {
        posix::read(text, Dialect::Bash, limits).map(|other| agree::compare(script, &other))
    };
    match (brush, yash) {
        (_, Some(Comparison::Same)) => Second::Same,
        (Some(Comparison::Differ(what)), _) | (_, Some(Comparison::Differ(what))) => Second::Differ(what),
        _ => Second::Alone,
    }
}

fn ask_about_posix(
    text: &str,
    script: &Script,
    error: Option<SyntaxError>,
    facts: &Facts,
    limits: &Limits,
) -> Second {
    if let Some(why) = skip(error, facts, limits) {
        return Second::Skipped(why);
    }
    match posix::read(text, Dialect::Posix, limits).map(|other| agree::compare(script, &other)) {
        Some(Comparison::Same) => Second::Same,
        Some(Comparison::Differ(what)) => Second::Differ(what),
        None => Second::Alone,
    }
}
