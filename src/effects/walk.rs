//! The walk over a script: lists, pipelines, substitutions; data flows along, state is forked and joined.
//!
//! In: a [`Script`] and a [`State`]. Out: the data that it would print; effects go to the [`Core`].
//! Never: skips a command that may run: only what certainly cannot run is left out.

use std::rc::Rc;

use crate::act::{TagSet, UnknownKind, tag};
use crate::canonical::host::Host;
use crate::canonical::state::{Control, Defined, Reach, State};
use crate::canonical::table::Table;
use crate::canonical::value::{Data, Value};
use crate::effects::core::{Core, Pending, Reader};
use crate::effects::model::{Calls, Effects, Indicator};
use crate::syntax::grammar::{Dialect, Fault};
use crate::syntax::read::{Second, read};
use crate::syntax::tree::{
    Command, Direction, End, Item, Join, Pipeline, Script, Status as Negation, Substituted,
};
use crate::text::Span;

/// Whether a command certainly succeeds, certainly fails, or either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Success,
    Failure,
    Either,
}

impl Status {
    fn negated(self) -> Self {
        match self {
            Self::Success => Self::Failure,
            Self::Failure => Self::Success,
            Self::Either => Self::Either,
        }
    }
}

/// What a command gives back: what it prints, and how it ends.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub data: Data,
    pub status: Status,
}

impl Outcome {
    /// Prints nothing; may succeed or fail.
    pub fn silent() -> Self {
        Self { data: Data::empty(), status: Status::Either }
    }

    /// Prints nothing, succeeds.
    pub fn success() -> Self {
        Self { data: Data::empty(), status: Status::Success }
    }

    /// This or the other.
    #[must_use]
    pub fn or(mut self, other: &Self) -> Self {
        self.data.tags = self.data.tags.union(other.data.tags);
        if self.data.text != other.data.text {
            self.data.text = None;
        }
        if self.status != other.status {
            self.status = Status::Either;
        }
        self
    }

    /// Prints; may succeed or fail.
    pub fn prints(data: Data) -> Self {
        Self { data, status: Status::Either }
    }
}

/// One shell (or subshell) that is walked.
pub struct Walk<'w, 'p> {
    pub core: &'w mut Core<'p>,
    pub state: State,
    pub stdin: Data,
    /// Functions being called.
    pub calling: Vec<Frame>,
}

/// A function that is being called, and the state in which its body began.
#[derive(Clone, Debug)]
pub struct Frame {
    pub name: String,
    pub state: State,
}

impl<'p> Walk<'_, 'p> {
    /// A walk in a copy of the state: a subshell, a branch.
    pub fn fork(&mut self) -> Walk<'_, 'p> {
        Walk {
            state: self.state.clone(),
            stdin: self.stdin.clone(),
            calling: self.calling.clone(),
            core: self.core,
        }
    }

    /// Runs something in a copy of the state; of what it does to the state, the files that it writes stay.
    pub fn in_child<T>(&mut self, run: impl FnOnce(&mut Walk<'_, 'p>) -> T) -> T {
        // the child's own, so that what it adds copies nothing
        let written = std::mem::take(&mut self.state.written);
        let mut child = self.fork();
        child.state.enter_subshell();
        child.state.written = written;
        let out = run(&mut child);
        let written = child.state.written;
        self.state.written = written;
        out
    }

    /// Runs something whose effects have these ambient tags.
    pub fn under<T>(&mut self, ambient: TagSet, run: impl FnOnce(&mut Self) -> T) -> T {
        let saved = std::mem::replace(&mut self.state.ambient, ambient);
        let out = run(self);
        self.state.ambient = saved;
        out
    }

    /// Another program doesn't have this shell's functions and aliases.
    pub fn forget_names(&mut self) {
        self.state.functions = Table::default();
        self.state.aliases = Table::default();
        self.state.source = None;
    }

    /// Walks the items of a list one after the other.
    pub fn script(&mut self, script: &Script) -> Outcome {
        let mut all = Outcome { data: Data::empty(), status: Status::Success };
        for item in &script.items {
            if self.state.control != Control::Goes {
                break;
            }
            let one = self.item(item);
            all.data.append(&one.data);
            all.status = one.status;
        }
        all
    }

    fn item(&mut self, item: &Item) -> Outcome {
        match item.ends {
            End::Sequential => self.and_or(item),
            End::Background => {
                let mut child = self.fork();
                child.state.ambient = child.state.ambient.with(tag::IN_BACKGROUND);
                let one = child.and_or(item);
                let (written, descriptors) = (child.state.written, child.state.descriptors);
                self.state.written = written;
                self.state.descriptors = descriptors;
                Outcome { data: one.data, status: Status::Success }
            }
        }
    }

    fn and_or(&mut self, item: &Item) -> Outcome {
        let mut all = self.pipeline(&item.first);
        if item.rest.is_empty() {
            return all;
        }
        // the state if what may have been skipped was skipped
        let mut skipped: Option<State> = None;
        for (join, pipeline) in &item.rest {
            if self.state.control != Control::Goes {
                // `exit && x`: nothing of this list runs any more, unless a branch went on
                break;
            }
            let runs = match (join, all.status) {
                (Join::And, Status::Failure) | (Join::Or, Status::Success) => continue,
                (Join::And, Status::Success) | (Join::Or, Status::Failure) => Status::Success,
                (Join::And | Join::Or, Status::Either) => Status::Either,
            };
            let before = (runs == Status::Either).then(|| self.state.clone());
            let one = self.pipeline(pipeline);
            all.data.append(&one.data);
            all.status = if runs == Status::Either { Status::Either } else { one.status };
            match (before, join) {
                (None, _) => {}
                // `a || b`: b runs only if a failed; the common way on is that a succeeded
                (Some(before), Join::Or) => {
                    let after = std::mem::replace(&mut self.state, before);
                    self.state.join(after);
                }
                // `a && b`: c in `a && b && c` runs after b; past the list b may have been left out
                (Some(before), Join::And) => {
                    skipped.get_or_insert(before);
                }
            }
        }
        if let Some(before) = skipped {
            let cwd = self.state.cwd.clone();
            let after = self.state.control;
            self.state.join(before);
            // a failed `cd` is judged where it stands; what follows is taken to run after its success
            self.state.cwd = cwd;
            if after == Control::Goes {
                self.state.control = Control::Goes;
            }
        }
        all
    }

    /// Walks one pipeline.
    pub fn pipeline(&mut self, pipeline: &Pipeline) -> Outcome {
        let mut outcome = match pipeline.commands.as_slice() {
            [] => Outcome::success(),
            [one] => self.command(one),
            many => self.stages(many),
        };
        if pipeline.status == Negation::Negated {
            outcome.status = outcome.status.negated();
        }
        outcome
    }

    fn stages(&mut self, commands: &[Command]) -> Outcome {
        let mut data = self.stdin.clone();
        let last = commands.len().saturating_sub(1);
        for (i, command) in commands.iter().enumerate() {
            data = self.in_child(|child| {
                child.stdin = data;
                child.state.ambient = child.state.ambient.with(tag::IN_PIPELINE);
                child.core.indicate(Indicator::Pipe, span_of(command));
                child.command(command).data
            });
            if i < last && data.text.as_deref() == Some("") && data.tags.is_empty() {
                data = Data::empty();
            }
        }
        Outcome::prints(data)
    }

    /// Walks one command; a definition is remembered.
    pub fn command(&mut self, command: &Command) -> Outcome {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirects) => self.compound(compound, redirects),
            Command::Function(function) => {
                if function.name == "command_not_found_handle" {
                    // bash calls it for every name that is no program
                    self.fork().command(&function.body);
                }
                let source = crate::text::slice(&self.core.unit, function.span).to_owned();
                let entry = Rc::new(Defined { function: function.clone(), source });
                self.state.functions.insert(function.name.clone(), vec![Some(entry)]);
                Outcome::success()
            }
        }
    }

    /// Judges shell text as `sh -c` or `eval` would run it: in this walk's own state.
    pub fn text(&mut self, text: &str, span: Span) -> Outcome {
        if self.core.is_apart(text) {
            return self.apart(text);
        }
        let anchor = self.core.at(span);
        if self.core.budget.depth == 0 || self.core.budget.text < text.len() {
            self.core.doubt(UnknownKind::Limit, "nested shell text", span);
            return Outcome::prints(Data::unknown(TagSet::EMPTY));
        }
        self.core.budget.depth -= 1;
        self.core.budget.text -= text.len();
        let saved = self.core.anchor.replace(anchor);
        let outcome = self.unit(text);
        self.core.anchor = saved;
        self.core.budget.depth += 1;
        outcome
    }

    /// A wrapped text where its wrapper evaluates it: in the state that the wrapper makes, while what it would
    /// do is kept by itself. A second time (a loop of the wrapper's) adds to the first.
    fn apart(&mut self, text: &str) -> Outcome {
        let Some(mut apart) = self.core.apart.take() else { return self.unit(text) };
        let outer = std::mem::replace(
            &mut self.core.found,
            apart.found.take().unwrap_or_else(|| Effects { calls: Calls::NONE, ..Effects::default() }),
        );
        let anchor = self.core.anchor.take();
        let outcome = self.unit(text);
        self.core.anchor = anchor;
        apart.found = Some(std::mem::replace(&mut self.core.found, outer));
        self.core.apart = Some(apart);
        outcome
    }

    /// Reads one text and walks it.
    pub fn unit(&mut self, text: &str) -> Outcome {
        let span = Span::new(0, text.len());
        let mark = self.core.pending.len();
        let dialect = match self.core.context.dialect {
            crate::invocation::context::Dialect::Posix => Dialect::Posix,
            crate::invocation::context::Dialect::Bash | crate::invocation::context::Dialect::Zsh => {
                Dialect::Bash
            }
        };
        let reading = read(text, dialect, &self.core.limits);
        if let Second::Differ(what) = &reading.second {
            self.core.doubt(UnknownKind::Disagreement, what, span);
        }
        if reading.error.is_some()
            && let Some(other) = crate::syntax::zsh::in_bash(text)
        {
            let other = read(&other, dialect, &self.core.limits);
            if other.error.is_none() {
                self.fork().script(&other.script);
            }
        }
        for other in &reading.alternatives {
            // what another shell of that name would do counts, its state does not
            self.fork().script(other);
        }
        // nothing but the text itself could change how the rest is read
        let state = &self.state;
        let fresh = state.aliases.is_empty() && state.switches.is_empty() && state.functions.is_empty();
        let outer = std::mem::replace(&mut self.core.unit, Rc::from(text));
        let outcome = self.script(&reading.script);
        self.core.unit = outer;
        // bash reads on only as long as it runs: behind a certain `exit` nothing is read any more
        if self.state.control != Control::Ended
            && let Some(error) = &reading.error
            // bash refuses what comes there, too, and nothing of it runs: then there is nothing to doubt
            // … unless it speaks of what must not be touched (CARE, III-A): whoever repairs the quotes is near
            && (!(fresh && reading.ends_at_error()) || self.names_protected(text, span).is_some())
        {
            let bound = matches!(error.fault, Fault::Bound(_));
            let what = if bound { UnknownKind::Limit } else { UnknownKind::Syntax };
            self.core.doubt(what, &error.to_string(), span);
        }
        self.flush(mark);
        if crate::canonical::value::has_hole(text) {
            self.core.doubt(UnknownKind::Code, "part of the shell text", span);
        }
        outcome
    }
}

/// Where a command stands.
pub fn span_of(command: &Command) -> Span {
    match command {
        Command::Simple(simple) => simple.span,
        Command::Function(function) => function.span,
        Command::Compound(..) => Span::default(),
    }
}

impl Host for Core<'_> {
    fn substitute(&mut self, state: &State, inner: &Substituted) -> Data {
        self.substitutions = self.substitutions.saturating_add(1);
        let depth = self.substitutions;
        let indicator = if depth > 1 { Indicator::NestedSubstitution } else { Indicator::Substitution };
        self.indicate(indicator, inner.span);
        let mut walk =
            Walk { state: state.clone(), stdin: Data::inherited(), calling: Vec::new(), core: self };
        walk.state.enter_subshell();
        walk.state.ambient = walk.state.ambient.with(tag::IN_SUBSTITUTION);
        let outcome = match &inner.broken {
            Some(text) => walk.text(text, inner.span),
            None => walk.script(&inner.script),
        };
        self.substitutions = depth.saturating_sub(1);
        outcome.data
    }

    fn process(&mut self, state: &mut State, direction: Direction, inner: &Substituted) -> Value {
        let path = format!("/dev/fd/{}", 63_u32.saturating_sub(self.next_path));
        self.next_path = self.next_path.saturating_add(1);
        match direction {
            Direction::In => {
                let data = self.substitute(state, inner);
                let tags = data.tags;
                state.note_written(&path, data, Reach::File);
                Value { text: path, tags }
            }
            Direction::Out => {
                // walked when it is known what is written to it
                let body = match &inner.broken {
                    Some(text) => Reader::Text(text.clone(), inner.span),
                    None => Reader::Script(Rc::new(inner.script.clone())),
                };
                self.pending.push(Pending { path: path.clone(), body, state: state.clone(), fed: None });
                Value::known(path)
            }
        }
    }

    fn hidden(&mut self, state: &mut State, text: &str, span: Span) {
        // judged as a text that is expanded: its substitutions run; quotes in them are theirs
        let quoted = format!(": <<hidden_text\n{text}\nhidden_text\n");
        let mut walk =
            Walk { state: state.clone(), stdin: Data::inherited(), calling: Vec::new(), core: self };
        walk.text(&quoted, span);
    }

    fn doubt(&mut self, kind: UnknownKind, detail: &str, span: Span) {
        Core::doubt(self, kind, detail, span);
    }
}
