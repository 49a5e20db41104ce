//! The words of the exchange between agent-sh and its adjudicator.
//!
//! In: nothing. Out: types with one form in JSON. Never: lets an unknown or repeated field pass.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Version of this exchange; others are not answered.
pub const VERSION: u32 = 1;
/// Largest request, in bytes.
pub const REQUEST: usize = 1 << 20;
/// Largest reply, in bytes.
pub const REPLY: usize = 16 << 10;

/// What agent-sh asks.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub version: u32,
    /// For all answers together.
    pub deadline_ms: u32,
    pub judges: Vec<Judge>,
    /// Empty: the system's certificates.
    pub ca_file: String,
    pub format: Format,
    /// What the judges are shown.
    pub evidence: Value,
}

/// One model and where it is asked.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Judge {
    pub endpoint: String,
    pub model: String,
    /// Empty: none.
    pub key_file: String,
}

/// How an answer is kept in form.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    Auto,
    Plain,
    Schema,
}

/// What the adjudicator replies, on one line.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    pub opinions: Vec<Opinion>,
}

/// What one judge said.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Opinion {
    pub model: String,
    pub said: Said,
    pub ms: u64,
    /// As the server counts them; 0 where it doesn't.
    pub tokens_in: u64,
    pub tokens_out: u64,
}

/// An answer, or why there is none.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Said {
    Allow,
    Deny,
    /// words, but neither of the two
    Doubt,
    Timeout,
    Unreachable,
    /// TLS could not be agreed on, or the certificate is not trusted
    Tls,
    /// a status that is not 200
    Status(u16),
    /// the model or a filter declined
    Refusal,
    /// an answer with something beside it
    ExtraText,
    TwoVerdicts,
    Empty,
    /// the answer was not finished
    CutOff,
    TooLong,
    /// not what the protocol says
    Malformed,
    /// the key can't be read
    NoKey,
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Doubt => "doubt",
            Self::Timeout => "timeout",
            Self::Unreachable => "unreachable",
            Self::Tls => "tls",
            Self::Status(status) => return write!(f, "status {status}"),
            Self::Refusal => "refusal",
            Self::ExtraText => "extra text",
            Self::TwoVerdicts => "two verdicts",
            Self::Empty => "empty",
            Self::CutOff => "cut off",
            Self::TooLong => "too long",
            Self::Malformed => "malformed",
            Self::NoKey => "no key",
        })
    }
}
