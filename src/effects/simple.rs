//! Simple commands: alternatives of variables, expansion, assignments, redirections, then the call.
//!
//! In: a [`Simple`]. Out: its [`Outcome`]. Never: judges only one of several values a variable may have.

use crate::act::{TagSet, UnknownKind, tag};
use crate::canonical::expand::Expander;
use crate::canonical::state::{Control, Endpoint};
use crate::canonical::value::{Data, Field, HOLE, Value};
use crate::effects::call::Call;
use crate::effects::leaving::are_sure;
use crate::effects::redirect::Streams;
use crate::effects::walk::{Outcome, Status, Walk};
use crate::syntax::tree::{
    Assign, AssignValue, Assignment, Descriptor, Piece, Redirect, RedirectAction, Simple, Word,
};

/// Most combinations of values that one simple command is judged for.
const COMBINATIONS: usize = 16;

impl Walk<'_, '_> {
    /// A simple command, once for each combination of values that its variables may have.
    pub fn simple(&mut self, simple: &Simple) -> Outcome {
        let variables = self.varying(simple);
        if variables.is_empty() {
            return self.simple_once(simple);
        }
        let total: usize = variables.iter().map(|(_, n)| *n).product();
        if total > COMBINATIONS {
            // more than can be gone through: each may be anything
            self.core.doubt(UnknownKind::Value, "values of variables", simple.span);
            for (name, _) in &variables {
                self.state.set(name, Value::unknown(TagSet::EMPTY));
            }
            return self.simple_once(simple);
        }
        let mut all: Option<Outcome> = None;
        let saved = self.state.choices.clone();
        let start = self.state.clone();
        for combination in 0..total.min(COMBINATIONS) {
            if !self.core.spend(simple.span) {
                break;
            }
            let mut fork = self.fork();
            fork.state = start.clone();
            fork.state.choices = chosen(&variables, combination);
            let outcome = fork.simple_once(simple);
            let state = fork.state;
            match &mut all {
                None => {
                    self.state = state;
                    all = Some(outcome);
                }
                Some(so_far) => {
                    self.state.join(state);
                    *so_far = so_far.clone().or(&outcome);
                }
            }
        }
        self.state.choices = saved;
        all.unwrap_or_else(Outcome::silent)
    }

    /// A word's fields for each value that its variables may have.
    pub(super) fn fields_of_all(&mut self, word: &Word) -> Vec<Field> {
        let mut variables = Vec::new();
        self.note_varying(word, &mut variables);
        let total: usize = variables.iter().map(|(_, n)| *n).product();
        if variables.is_empty() || total > COMBINATIONS {
            return self.fields(word);
        }
        let saved = self.state.choices.clone();
        let mut out: Vec<Field> = Vec::new();
        for combination in 0..total {
            self.state.choices = chosen(&variables, combination);
            for field in self.fields(word) {
                if !out.contains(&field) {
                    out.push(field);
                }
            }
        }
        self.state.choices = saved;
        out
    }

    /// Variables in the command's words that may have more than one value.
    fn varying(&self, simple: &Simple) -> Vec<(String, usize)> {
        let mut out: Vec<(String, usize)> = Vec::new();
        for assignment in simple.assignments.iter().filter(|a| a.operator == Assign::Append) {
            let n = self.state.alternatives(&assignment.name);
            if n > 1 {
                out.push((assignment.name.clone(), n));
            }
        }
        let values = simple.assignments.iter().filter_map(|a| match &a.value {
            AssignValue::Scalar(word) => Some(word),
            AssignValue::Array(_) => None,
        });
        let redirected = simple.redirects.iter().map(word_of);
        for word in simple.words.iter().chain(values).chain(redirected) {
            self.note_varying(word, &mut out);
        }
        out
    }

    fn note_varying(&self, word: &Word, out: &mut Vec<(String, usize)>) {
        for piece in &word.pieces {
            let Piece::Parameter(parameter, _) = piece else { continue };
            let n = self.state.alternatives(&parameter.name);
            if n > 1 && !out.iter().any(|(name, _)| *name == parameter.name) && out.len() < 6 {
                out.push((parameter.name.clone(), n));
            }
            for inner in parameter.operation.words() {
                self.note_varying(inner, out);
            }
        }
    }

    fn simple_once(&mut self, simple: &Simple) -> Outcome {
        let span = simple.span;
        let mark = self.core.pending.len();
        let mut argv: Vec<Field> = Vec::with_capacity(simple.words.len());
        for word in &simple.words {
            argv.extend(self.argument(word, argv.first()));
        }
        if self.state.control == Control::Ended {
            return Outcome::silent();
        }
        let streams = self.redirects(&simple.redirects, span);
        if argv.is_empty() {
            let mut data = self.assign(simple);
            if let (Some(input), true) = (&streams.input, simple.assignments.is_empty()) {
                // `$(<file)` is the file's content
                if self.state.ambient.has(tag::IN_SUBSTITUTION) {
                    data = input.clone();
                }
            }
            let outcome = Outcome { data, status: Status::Either };
            return self.finish_streams(&streams, outcome);
        }
        let environment = self.environment(&simple.assignments);
        if let [only] = argv.as_slice()
            && only.text == "exec"
        {
            self.keep_streams(simple, &streams);
            return self.open_streams(&streams);
        }
        let stdin = streams.input.clone().unwrap_or_else(|| self.stdin.clone());
        let ambient = self.state.ambient;
        self.state.ambient = ambient.union(streams.tags);
        let descriptors = self.state.descriptors.clone();
        if !streams.others.is_empty() {
            std::rc::Rc::make_mut(&mut self.state.descriptors).extend(streams.others.iter().cloned());
        }
        let saved_input = std::mem::replace(&mut self.stdin, stdin.clone());
        let sure = are_sure(&self.state, &simple.redirects);
        let mut outcome = self.call(&Call { argv: &argv, stdin: &stdin, environment: &environment, span });
        if outcome.status == Status::Success && !sure {
            outcome.status = Status::Either;
        }
        // `declare -A a=(…)`: the array's words are no words of the command
        let letters = argv.iter().skip(1).filter_map(|f| f.text.strip_prefix('-'));
        let kind = letters.filter_map(crate::effects::declare::kind_of).next_back();
        for assignment in &simple.declared {
            if let Some(kind) = kind {
                self.state.set_kind(&assignment.name, kind);
            }
            self.assign_one(assignment);
        }
        self.stdin = saved_input;
        self.state.descriptors = descriptors;
        self.state.ambient = ambient;
        if !sure {
            self.doubt_control();
        }
        let outcome = self.finish_streams(&streams, outcome);
        self.state.last = argv.last().map(|f| std::rc::Rc::new(f.value()));
        self.flush(mark);
        outcome
    }

    /// `exec` with redirections only: they stay.
    fn keep_streams(&mut self, simple: &Simple, streams: &Streams) {
        let table = std::rc::Rc::make_mut(&mut self.state.descriptors);
        table.extend(streams.others.iter().cloned());
        table.extend(closed(&simple.redirects));
        if let Some(input) = &streams.input {
            self.stdin = input.clone();
        }
    }

    /// One word of a command: assignment-like words of declarations don't split; globs expand.
    fn argument(&mut self, word: &Word, head: Option<&Field>) -> Vec<Field> {
        let declaration = head.is_some_and(|h| {
            matches!(h.text.as_str(), "export" | "declare" | "typeset" | "local" | "readonly" | "alias")
        });
        let assigns = || match word.pieces.first() {
            Some(Piece::Bare(text)) => text.contains('='),
            _ => false,
        };
        if declaration && assigns() {
            let value = self.single(word);
            return vec![Field { span: word.span, ..Field::from(value) }];
        }
        let fields = self.fields(word);
        if fields.iter().all(|f| f.pattern.is_none()) {
            return fields;
        }
        fields.into_iter().flat_map(|f| self.globbed(f)).collect()
    }

    /// The variables of a command's environment, and those that change what programs run.
    fn environment(&mut self, assignments: &[Assignment]) -> Vec<(String, Value)> {
        let mut out = Vec::new();
        for assignment in assignments {
            if let AssignValue::Scalar(word) = &assignment.value {
                let value = self.single(word);
                out.push((assignment.name.clone(), value));
            }
        }
        out
    }

    /// Assignments without a command stay.
    fn assign(&mut self, simple: &Simple) -> Data {
        for assignment in &simple.assignments {
            self.assign_one(assignment);
        }
        Data::empty()
    }

    /// One assignment in this shell.
    pub fn assign_one(&mut self, assignment: &Assignment) {
        let name = assignment.name.as_str();
        match &assignment.value {
            AssignValue::Array(elements) => {
                let mut list =
                    match (assignment.operator, self.state.variable(name).and_then(|v| v.array.clone())) {
                        (Assign::Append, Some(old)) => old,
                        (Assign::Append | Assign::Set, _) => Vec::new(),
                    };
                for (index, word) in elements {
                    if let Some(index) = index {
                        let key = self.subscript(name, index);
                        list.push((key, self.single(word)));
                        continue;
                    }
                    let fields = self.fields(word);
                    for field in fields.into_iter().flat_map(|f| self.globbed(f)) {
                        // behind elements that aren't certain, an index isn't either
                        let open = list.iter().any(|(key, _)| key.starts_with(HOLE));
                        let key = list.len().to_string();
                        list.push((if open { format!("{HOLE}{key}") } else { key }, field.value()));
                    }
                }
                self.state.set_array(name, list);
            }
            AssignValue::Scalar(word) => {
                let mut value = self.single(word);
                if let Some(index) = &assignment.index {
                    if matches!(name, "BASH_CMDS" | "BASH_ALIASES") {
                        let key = self.single(index).text;
                        self.rename(&key, &value.text);
                        return;
                    }
                    let key = self.subscript(name, index);
                    self.state.set_element(name, &key, value);
                    return;
                }
                if assignment.operator == Assign::Append {
                    let old = self.state.scalar(name).unwrap_or_default();
                    value = Value { text: old.text + &value.text, tags: old.tags.union(value.tags) };
                }
                self.set_variable(name, value, assignment.span);
            }
        }
    }

    fn subscript(&mut self, name: &str, index: &Word) -> String {
        let value = self.single(index);
        let span = index.span;
        let mut x = Expander { state: &mut self.state, host: self.core };
        if x.state.is_map(name) {
            return value.text;
        }
        x.host_checks_subscript(&value, span);
        crate::canonical::arithmetic::evaluate(&mut x, &value.text, span)
            .map_or(value.text, |n| n.to_string())
    }

    /// Sets a shell variable; some of them are code or change what names mean.
    pub fn set_variable(&mut self, name: &str, value: Value, span: crate::text::Span) {
        self.injected(name, &value, span, crate::effects::inject::Setting::Shell);
        if self.state.variable(name).is_some_and(|v| v.kind == crate::canonical::state::VariableKind::Integer)
        {
            let mut x = Expander { state: &mut self.state, host: self.core };
            let number = crate::canonical::arithmetic::evaluate(&mut x, &value.text, span);
            let value = number.map_or(Value::unknown(value.tags), |n| Value::known(n.to_string()));
            self.state.set(name, value);
            return;
        }
        self.state.set(name, value);
    }
}

/// The standard streams that `exec 2>&-` closes.
fn closed(redirects: &[Redirect]) -> impl Iterator<Item = (u32, Endpoint)> {
    redirects.iter().filter_map(|redirect| {
        let (word, usual) = match &redirect.action {
            RedirectAction::DuplicateOut(word) => (word, 1),
            RedirectAction::DuplicateIn(word) => (word, 0),
            RedirectAction::Read(_)
            | RedirectAction::Write(_)
            | RedirectAction::Clobber(_)
            | RedirectAction::Append(_)
            | RedirectAction::ReadWrite(_)
            | RedirectAction::WriteBoth(_)
            | RedirectAction::AppendBoth(_)
            | RedirectAction::HereDocument(_)
            | RedirectAction::HereString(_) => return None,
        };
        let number = match &redirect.descriptor {
            Some(Descriptor::Number(number)) => *number,
            Some(Descriptor::Variable(_)) => return None,
            None => usual,
        };
        word.literal().is_some_and(|w| w.ends_with('-')).then_some((number, Endpoint::Closed))
    })
}

/// The values of one combination.
fn chosen(variables: &[(String, usize)], combination: usize) -> Vec<(String, usize)> {
    let mut rest = combination;
    let pick = |(name, n): &(String, usize)| {
        let pick = rest % n;
        rest /= n;
        (name.clone(), pick)
    };
    variables.iter().map(pick).collect()
}

/// The word that a redirection expands.
fn word_of(redirect: &Redirect) -> &Word {
    match &redirect.action {
        RedirectAction::Read(word)
        | RedirectAction::Write(word)
        | RedirectAction::Clobber(word)
        | RedirectAction::Append(word)
        | RedirectAction::ReadWrite(word)
        | RedirectAction::WriteBoth(word)
        | RedirectAction::AppendBoth(word)
        | RedirectAction::DuplicateIn(word)
        | RedirectAction::DuplicateOut(word)
        | RedirectAction::HereDocument(word)
        | RedirectAction::HereString(word) => word,
    }
}
