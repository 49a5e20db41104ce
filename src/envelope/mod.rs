//! Which framework wrapped the text, and which part of it is the model's.
//!
//! In: judged text, the call's [`Context`], who called. Out: an [`Envelope`]: for every call one, since most
//! clients pass the model's text as it is.
//! Never: guesses; a text that is more or less than the known shape is judged as a whole. Makes no verdict
//! milder: what the wrapper does is judged, too, only apart from what the model wrote.

pub mod framework;
pub mod paste;
pub mod shape;
pub mod shapes;
pub mod word;

use std::borrow::Cow;

use crate::envelope::shape::{Match, Shape, Where, matches};
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
    pub scope: Scope<'t>,
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
pub enum Scope<'t> {
    /// this text, as one: it is not wrapped, or only the whole says what runs
    One(Cow<'t, str>),
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
            scope: Scope::One(Cow::Borrowed(text)),
        }
    }

    /// The text to which the judgement's spans point: what to show and to record.
    pub fn shown(&self) -> &str {
        match &self.scope {
            Scope::One(text) => text,
            Scope::Apart(_) => &self.command,
        }
    }

    /// What is to be compared with what was asked for; `None` for a client's own call.
    pub fn by_model(&self) -> Option<&str> {
        match self.author {
            Author::Model => Some(&self.command),
            Author::Client => None,
        }
    }
}

/// Takes a command string apart. `ancestors` gives the names of the processes above, nearest first; it is
/// asked only where neither shape nor environment names the client, and no further than to the first known.
pub fn read<'t, I: IntoIterator<Item = String>>(
    text: &'t str,
    context: &Context,
    ancestors: impl FnOnce() -> I,
) -> Envelope<'t> {
    let mut envelope = shaped(text, context).unwrap_or_else(|| Envelope::bare(text));
    let by_environment = || framework::by_environment(&context.environment);
    envelope.framework =
        envelope.framework.or_else(by_environment).or_else(|| framework::by_ancestors(ancestors()));
    if envelope.form == BARE && is_probe(text, context, envelope.framework) {
        envelope.author = Author::Client;
        envelope.form = "environment-probe";
    }
    envelope
}

fn shaped<'t>(text: &'t str, context: &Context) -> Option<Envelope<'t>> {
    let fitting = shapes::ALL.iter().flat_map(|shapes| shapes.iter());
    for shape in fitting {
        if let Some(found) = matches(shape, text)
            && let Some(envelope) = fitted(shape, found, text, context)
        {
            return Some(envelope);
        }
    }
    let long = shapes::long(text)?;
    Some(own_call(text, long.framework, long.form))
}

fn own_call<'t>(text: &'t str, framework: &'static str, form: &'static str) -> Envelope<'t> {
    Envelope { framework: Some(framework), form, author: Author::Client, ..Envelope::bare(text) }
}

/// Texts so short that others write them, too: `env` of Claude Code, which wraps all that is the model's, and
/// Goose's question for the path.
fn is_probe(text: &str, context: &Context, framework: Option<&str>) -> bool {
    match text {
        "env" => framework == Some("claude-code") && context.arguments.len() == 1,
        "echo $PATH" => ['l', 'i'].iter().all(|letter| context.options.contains(*letter)),
        _ => false,
    }
}

/// The envelope of a text that has a shape; `None` where the call is not what the shape says.
fn fitted<'t>(shape: &Shape, found: Match, text: &'t str, context: &Context) -> Option<Envelope<'t>> {
    let wrapped = |(written, command): (Span, String), scope| Envelope {
        framework: Some(shape.framework),
        form: shape.form,
        author: Author::Model,
        command: Cow::Owned(command),
        written,
        scope,
    };
    match shape.model {
        Where::Word => Some(wrapped(found.model?, Scope::Apart(found.kept))),
        Where::Parameter(number) => {
            let command = context.arguments.get(number)?.clone();
            Some(wrapped((Span::default(), command), Scope::Apart(found.kept)))
        }
        Where::Pasted(joint) => {
            let model = found.model?;
            let scope = if paste::stands(&model.1, joint, text) {
                Scope::Apart(evaluated(&found.kept, found.pasted?, &model.1)?)
            } else {
                Scope::One(Cow::Borrowed(what_runs(text)))
            };
            Some(wrapped(model, scope))
        }
        Where::Nowhere => {
            // a line of the text would close the here-document early
            let closes = |(_, body): &(Span, String)| body.split('\n').any(|line| line == "SOUNIQUEEOF");
            (!found.model.as_ref().is_some_and(closes)).then(|| own_call(text, shape.framework, shape.form))
        }
    }
}

/// The wrapper with the pasted text as a word of `eval`: where the text stands by itself, that is the same.
fn evaluated(wrapper: &str, pasted: Span, command: &str) -> Option<String> {
    let before = wrapper.get(..pasted.start as usize)?;
    let after = wrapper.get(pasted.end as usize..)?;
    Some([before, "eval -- '", &command.replace('\'', r"'\''"), "'", after].concat())
}

/// A pasted text that doesn't stay in its place: the whole; what comes behind the wrapper's first line, where
/// that is malformed: bash has carried out the first line by then, which is known, and stops.
fn what_runs(text: &str) -> &str {
    match text.split_once('\n') {
        Some((_, behind)) if paste::runs_nothing(behind) => behind,
        Some(_) | None => text,
    }
}
