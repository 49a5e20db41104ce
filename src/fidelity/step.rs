//! Steps: what a sender or a receiver does to a text, each by its name in PATH.toml.
//!
//! In: [`Cargo`], which is a text or an argument vector. Out: the same, changed, or why nothing is left.
//! Never: looks at the machine; expansions happen in an empty environment and are marked as live.

use std::fmt;

use crate::fidelity::{change, decode, encode, lines};

/// What is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cargo {
    words: Vec<Vec<u8>>,
    /// Something in it was made by the receiver's expansion.
    live: bool,
}

/// Why a step leaves nothing to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepError {
    /// there is no step of this name
    Unknown(String),
    /// the argument behind the colon is missing or no number
    Argument(&'static str),
    TooLong {
        limit: usize,
    },
    /// outside what the step can carry, in words
    Outside(&'static str),
    /// the receiver reports a syntax error, and runs nothing
    Malformed(&'static str),
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(f, "there is no step `{}`", crate::text::escape(name)),
            Self::Argument(name) => write!(f, "the step `{name}` needs an argument: `{name}:VALUE`"),
            Self::TooLong { limit } => write!(f, "longer than {limit} bytes, so nothing starts"),
            Self::Outside(why) => f.write_str(why),
            Self::Malformed(why) => write!(f, "{why}, so nothing runs"),
        }
    }
}

impl std::error::Error for StepError {}

impl Cargo {
    pub fn text(text: Vec<u8>) -> Self {
        Self { words: vec![text], live: false }
    }

    pub fn words(words: Vec<Vec<u8>>) -> Self {
        Self { words, live: false }
    }

    /// The same with a mark: this expansion's result is not known here.
    #[must_use]
    pub fn with_live(mut self, live: Live) -> Self {
        self.live |= live == Live::Yes;
        self
    }

    pub fn list(&self) -> &[Vec<u8>] {
        &self.words
    }

    /// The one text that is left, and whether expansions made some of it.
    ///
    /// # Errors
    /// There is more than one word, or none.
    pub fn into_text(mut self) -> Result<(Vec<u8>, bool), StepError> {
        match (self.words.pop(), self.words.is_empty()) {
            (Some(text), true) => Ok((text, self.live)),
            (Some(_), false) => {
                Err(StepError::Outside("the receiver got several words where one text was sent"))
            }
            (None, _) => Err(StepError::Outside("the receiver got no word at all")),
        }
    }

    /// Changes the one text.
    ///
    /// # Errors
    /// As [`Self::into_text`], or what the change reports.
    pub fn map(self, change: impl FnOnce(Vec<u8>) -> Result<Vec<u8>, StepError>) -> Result<Self, StepError> {
        let (text, live) = self.into_text()?;
        Ok(Self { words: vec![change(text)?], live })
    }

    /// Changes the argument vector.
    ///
    /// # Errors
    /// What the change reports.
    pub fn map_words(
        self,
        change: impl FnOnce(Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, StepError>,
    ) -> Result<Self, StepError> {
        Ok(Self { words: change(self.words)?, live: self.live })
    }
}

/// Whether an expansion took part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Live {
    Yes,
    No,
}

/// A step that PATH.toml can name.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    pub name: &'static str,
    pub takes: Takes,
    /// One line for people.
    pub about: &'static str,
    pub run: fn(Cargo, &str) -> Result<Cargo, StepError>,
}

/// What stands behind the colon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    Nothing,
    Text,
    Number,
}

/// A step with its argument.
#[derive(Clone, Debug)]
pub struct Step {
    known: &'static Known,
    argument: String,
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        self.known.name == other.known.name && self.argument == other.argument
    }
}

impl Eq for Step {}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.known.takes {
            Takes::Nothing => f.write_str(self.known.name),
            Takes::Text | Takes::Number => write!(f, "{}:{}", self.known.name, self.argument),
        }
    }
}

/// Every step there is.
pub fn known() -> impl Iterator<Item = &'static Known> {
    encode::STEPS.iter().chain(decode::STEPS).chain(lines::STEPS).chain(change::STEPS)
}

impl Step {
    /// Reads `name` or `name:argument`.
    ///
    /// # Errors
    /// An unknown name, or an argument that is missing, too much or no number.
    pub fn parse(written: &str) -> Result<Self, StepError> {
        let (name, argument) = match written.split_once(':') {
            Some((name, argument)) => (name, Some(argument)),
            None => (written, None),
        };
        let known =
            known().find(|known| known.name == name).ok_or_else(|| StepError::Unknown(name.to_owned()))?;
        let fits = match (known.takes, argument) {
            (Takes::Nothing, None) | (Takes::Text, Some(_)) => true,
            (Takes::Number, Some(number)) => number.parse::<usize>().is_ok(),
            (Takes::Nothing, Some(_)) => return Err(StepError::Unknown(written.to_owned())),
            (Takes::Text | Takes::Number, None) => false,
        };
        if !fits {
            return Err(StepError::Argument(known.name));
        }
        Ok(Self { known, argument: argument.unwrap_or("").to_owned() })
    }

    /// # Errors
    /// What is under way can't be carried on.
    pub fn apply(&self, cargo: Cargo) -> Result<Cargo, StepError> {
        (self.known.run)(cargo, &self.argument)
    }

    pub fn name(&self) -> &'static str {
        self.known.name
    }
}

/// Bytes as text, for steps of formats that know characters only.
///
/// # Errors
/// Not UTF-8.
pub fn utf8(bytes: Vec<u8>) -> Result<String, StepError> {
    String::from_utf8(bytes)
        .map_err(|_| StepError::Outside("the format holds characters, and the text is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_read_as_they_are_written() {
        let mut names: Vec<&str> = known().map(|known| known.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for written in ["sq", "after:-c", "argument:2", "truncate:0", "suffix: < /dev/null"] {
            assert_eq!(Step::parse(written).unwrap().to_string(), written);
        }
        for wrong in ["", "nosuch", "argument", "argument:x", "sq:1", "after"] {
            assert!(Step::parse(wrong).is_err(), "{wrong}");
        }
    }
}
