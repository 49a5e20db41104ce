//! Does a file's chain hold: was nothing removed, altered, moved or put in.
//!
//! In: the file's lines, its head, what syslog said. Out: [`Flaw`]s, each with its line.
//! Never: stops at the first flaw.

use std::collections::HashMap;
use std::fmt;

use crate::audit::chain::{Hash, Head, Link, START, unseal};

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Not a whole line of the chain.
    Broken { line: u64 },
    /// Its bytes don't hash to what it says.
    Altered { line: u64, number: u64 },
    /// Lines are missing before this one.
    Missing { line: u64, from: u64, to: u64 },
    /// Stands behind a line that was written after it, or twice.
    Misplaced { line: u64, number: u64 },
    /// Does not follow the line before it: that one was exchanged.
    Severed { line: u64, number: u64 },
    /// The file begins with a later line than the first.
    Beginning { number: u64 },
    /// The file ends before its head's line.
    Ending { last: u64, head: u64 },
    /// The head names another line than the file's last.
    Head { number: u64 },
    /// There is no head, or it can't be read.
    Headless,
    /// Syslog saw another line of this number.
    Witness { line: u64, number: u64 },
    /// Syslog saw lines that the file does not have.
    Unseen { number: u64 },
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken { line } => write!(f, "line {line}: not a whole record of the chain"),
            Self::Altered { line, number } => write!(f, "line {line}: record {number} was altered"),
            Self::Missing { line, from, to } => {
                write!(f, "line {line}: records {from} to {to} are missing before it")
            }
            Self::Misplaced { line, number } => {
                write!(f, "line {line}: record {number} stands out of order or twice")
            }
            Self::Severed { line, number } => {
                write!(
                    f,
                    "line {line}: record {number} was written after another record than the one before it"
                )
            }
            Self::Beginning { number } => {
                write!(
                    f,
                    "the file begins with record {number}; what came before it is missing (rotated? name the older files first)"
                )
            }
            Self::Ending { last, head } => {
                write!(f, "the file ends with record {last}, but {head} were written: its end is missing")
            }
            Self::Head { number } => {
                write!(f, "the head file names another record {number} than the file holds")
            }
            Self::Headless => f.write_str(
                "the head file is missing or can't be read: whether the file's end was cut off can't be said",
            ),
            Self::Witness { line, number } => write!(f, "line {line}: syslog saw another record {number}"),
            Self::Unseen { number } => write!(f, "syslog saw record {number}, which the file does not have"),
        }
    }
}

/// Checks line by line.
#[derive(Clone, Debug, Default)]
pub struct Check {
    line: u64,
    last: Option<Link>,
    flaws: Vec<Flaw>,
    /// Where each record stands, and what it hashes to; only kept where a witness will ask.
    seen: Option<HashMap<u64, (u64, Hash)>>,
}

impl Check {
    /// One that syslog's copies will be held against.
    pub fn with_witness() -> Self {
        Self { seen: Some(HashMap::new()), ..Self::default() }
    }

    /// The file's next line, with its newline.
    pub fn line(&mut self, text: &[u8]) {
        self.line = self.line.saturating_add(1);
        let line = self.line;
        let Some(sealed) = Some(text).filter(|text| text.ends_with(b"\n")).and_then(unseal) else {
            return self.flaws.push(Flaw::Broken { line });
        };
        let number = sealed.link.number;
        if sealed.found != sealed.link.chain {
            self.flaws.push(Flaw::Altered { line, number });
        }
        match &self.last {
            None if number == 1 && sealed.previous == START => {}
            None => self.flaws.push(Flaw::Beginning { number }),
            Some(last) if number <= last.number => {
                return self.flaws.push(Flaw::Misplaced { line, number });
            }
            Some(last) if number > last.number.saturating_add(1) => {
                let (from, to) = (last.number.saturating_add(1), number.saturating_sub(1));
                self.flaws.push(Flaw::Missing { line, from, to });
            }
            Some(last) if sealed.previous != last.chain => self.flaws.push(Flaw::Severed { line, number }),
            Some(_) => {}
        }
        if let Some(seen) = &mut self.seen {
            seen.insert(number, (line, sealed.link.chain));
        }
        self.last = Some(sealed.link);
    }

    /// What syslog said of a record.
    pub fn witness(&mut self, number: u64, chain: &str) {
        match self.seen.as_ref().and_then(|seen| seen.get(&number)) {
            Some((line, known)) if known != chain.as_bytes() => {
                self.flaws.push(Flaw::Witness { line: *line, number });
            }
            Some(_) => {}
            None => self.flaws.push(Flaw::Unseen { number }),
        }
    }

    /// The number of lines, the last link, and what is wrong. `head` is the head file's content.
    pub fn end(mut self, head: Option<&[u8]>) -> (u64, Option<Link>, Vec<Flaw>) {
        match (head.and_then(Head::parse), &self.last) {
            (None, None) if head.is_none() && self.line == 0 => {}
            (None, _) => self.flaws.push(Flaw::Headless),
            (Some(head), None) => self.flaws.push(Flaw::Ending { last: 0, head: head.link.number }),
            (Some(head), Some(last)) if head.link.number > last.number => {
                self.flaws.push(Flaw::Ending { last: last.number, head: head.link.number });
            }
            (Some(head), Some(last)) if head.link != *last => {
                self.flaws.push(Flaw::Head { number: head.link.number });
            }
            (Some(_), Some(_)) => {}
        }
        (self.line, self.last, self.flaws)
    }
}
