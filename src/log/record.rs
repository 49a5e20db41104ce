//! One decision as it was recorded.
//!
//! In: a line of JSON. Out: [`Record`]. Never: fails for a field that a later version adds.

use std::borrow::Cow;

use serde::Deserialize;

/// What a record says. Texts are as they were written: escaped.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub struct Record<'a> {
    #[serde(borrow)]
    pub time: Cow<'a, str>,
    #[serde(borrow)]
    pub verdict: Cow<'a, str>,
    #[serde(borrow)]
    pub outcome: Cow<'a, str>,
    #[serde(borrow)]
    pub score: Cow<'a, str>,
    #[serde(borrow)]
    pub structure: Cow<'a, str>,
    #[serde(borrow)]
    pub semantics: Cow<'a, str>,
    #[serde(borrow)]
    pub paths: Cow<'a, str>,
    #[serde(borrow)]
    pub patterns: Cow<'a, str>,
    /// Rule ids with commas between them.
    #[serde(borrow)]
    pub rules: Cow<'a, str>,
    #[serde(borrow)]
    pub coverage: Cow<'a, str>,
    #[serde(borrow)]
    pub notes: Cow<'a, str>,
    pub uid: u64,
    pub pid: u64,
    #[serde(borrow)]
    pub parent: Cow<'a, str>,
    #[serde(borrow)]
    pub framework: Cow<'a, str>,
    #[serde(borrow)]
    pub cwd: Cow<'a, str>,
    #[serde(borrow)]
    pub policy: Cow<'a, str>,
    /// Microseconds that the judgement took.
    pub micros: u64,
    #[serde(borrow)]
    pub confinement: Cow<'a, str>,
    #[serde(borrow)]
    pub sha256: Cow<'a, str>,
    #[serde(borrow)]
    pub text: Cow<'a, str>,
    pub seq: u64,
}

impl<'a> Record<'a> {
    /// None where the line is no event.
    pub fn parse(line: &'a str) -> Option<Self> {
        serde_json::from_str::<Self>(line).ok().filter(|record| !record.verdict.is_empty())
    }

    /// Ids of the rules that held.
    pub fn rules(&self) -> impl Iterator<Item = &str> {
        self.rules.split(',').filter(|rule| !rule.is_empty())
    }

    /// Who asked: the framework where it is known, else the parent's name.
    pub fn agent(&self) -> &str {
        let name = if self.framework.is_empty() { &self.parent } else { &self.framework };
        if name.is_empty() { "unknown" } else { name }
    }
}
