//! Which framework wrapped the text, and which part of it is the model's.
//!
//! In: judged text, the call's [`Context`], who called. Out: an [`Envelope`]: for every call one, since most
//! clients pass the model's text as it is.
//! Never: guesses; a text that is more or less than the known shape is judged as a whole. Makes no verdict
//! milder: what the wrapper does is judged, too, only apart from what the model wrote.

use std::borrow::Cow;

use crate::invocation::context::Context;
use crate::text::Span;

/// One call's text, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope<'t> {
    /// The client's name (`claude-code`, `codex` …), where the shape, the environment or an ancestor says it.
    /// For the record alone: anybody can look like any client.
    pub framework: Option<&'static str>,
    /// The shape's name; [`BARE`] where the text is passed as it is.
    pub form: &'static str,
    /// Who wrote [`Self::command`].
    pub author: Author,
    /// The model's text, decoded as the shell decodes it; the whole text where it is not wrapped.
    pub command: Cow<'t, str>,
    /// Where that stands as written, quotes included; what is before and behind it is the wrapper. Empty where
    /// it stands in another argument.
    pub written: Span,
    /// What is judged.
    pub scope: Scope,
}

/// Who wrote a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    Model,
    /// a call of the client's own: start-up probes, snapshots, syntax checks
    Client,
}

/// What is judged of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// the whole text, as one: not wrapped, or wrapped so that only the whole says what runs
    Whole,
    /// this text (the wrapper), in which [`Envelope::command`] is evaluated as one text and judged by itself
    Apart(String),
}

/// The form of a text that no wrapper is around.
pub const BARE: &str = "bare";

impl<'t> Envelope<'t> {
    /// A text that is the model's as it is.
    pub fn bare(text: &'t str) -> Self {
        Self {
            framework: None,
            form: BARE,
            author: Author::Model,
            command: Cow::Borrowed(text),
            written: Span::new(0, text.len()),
            scope: Scope::Whole,
        }
    }

    /// The text to show and to compare with what was asked for: the model's where it is judged by itself, else
    /// all of it.
    pub fn shown(&self, whole: &'t str) -> &str {
        match self.scope {
            Scope::Whole => whole,
            Scope::Apart(_) => &self.command,
        }
    }
}

/// Takes a command string apart. `ancestors`: names of the processes above, nearest first.
pub fn read<'t>(text: &'t str, context: &Context, ancestors: &[String]) -> Envelope<'t> {
    let _ = (context, ancestors);
    Envelope::bare(text)
}
