//! From a described call to effects: input, files and hosts that are read, then what each word means, then what
//! needs no word.
//!
//! In: a [`Command`] description and a [`Call`]. Out: effects with provenance; what the call prints.
//! Never: loses where bytes come from.

use std::rc::Rc;

use crate::act::{Kind, TagSet, tag};
use crate::canonical::value::{Data, Field, Origin, Value};
use crate::effects::arguments::{Inert, Meant, Parsed, parse};
use crate::effects::call::Call;
use crate::effects::core::By;
use crate::effects::files::Interpreter;
use crate::effects::landing::given_size;
use crate::effects::model::Target;
use crate::effects::printed::indicator_of;
use crate::effects::roles::carries_data;
use crate::effects::walk::{Outcome, Walk};
use crate::policy::tables::{Command, Is, Lang, Role};
use crate::text::Span;

/// Lines of an input that are taken for names.
const NAMES: usize = 64;

/// A described call while its words are carried out.
pub struct Doing<'c> {
    pub parsed: Parsed,
    pub spec: &'static Command,
    pub call: Call<'c>,
    pub program: Rc<str>,
    /// Tags of all its effects.
    pub tags: TagSet,
    /// What it has read so far: input, files, network.
    pub read: Data,
    pub peer: Option<Field>,
    /// What code among its words is known to print.
    pub said: Vec<Data>,
}

impl<'c> Doing<'c> {
    /// A call whose words are about to be carried out under these ambient tags.
    pub fn new(
        spec: &'static Command,
        call: &Call<'c>,
        program: &Rc<str>,
        parsed: Parsed,
        ambient: TagSet,
    ) -> Self {
        let tags = ambient.union(parsed.tags);
        let program = Rc::clone(program);
        Self { parsed, spec, call: *call, program, tags, read: Data::empty(), peer: None, said: Vec::new() }
    }

    /// Where a word stands; made words stand where the call does.
    pub fn span_of(&self, field: &Field) -> Span {
        if field.span == Span::default() { self.call.span } else { field.span }
    }

    /// It reads something whose text isn't known.
    pub fn reads_unknown(&mut self, tags: TagSet) {
        self.read.append(&Data::unknown(tags));
        self.read.text = None;
    }
}

/// Kinds whose target is a path.
pub fn is_path_kind(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Read
            | Kind::List
            | Kind::Write
            | Kind::Append
            | Kind::Create
            | Kind::Delete
            | Kind::Move
            | Kind::Link
            | Kind::LinkTo
            | Kind::Chmod
            | Kind::Chown
            | Kind::Mount
            | Kind::Format
            | Kind::Execute
    )
}

impl Walk<'_, '_> {
    /// A program with a description.
    pub fn described(&mut self, spec: &'static Command, call: &Call<'_>, program: &Rc<str>) -> Outcome {
        self.core.called(program, spec.needs);
        for (name, value) in call.environment {
            self.own_variable(spec, name, value, call);
        }
        if let Some(outcome) = self.handled(spec, call, program) {
            return outcome;
        }
        let parsed = parse(spec, call.arguments());
        let codes = |r: &Role| matches!(r.is, Is::Code(_) | Is::CodeFile(_));
        if call.environment.is_empty() || !parsed.meant.iter().any(|m| m.roles.iter().any(codes)) {
            return self.carry_out(spec, call, program, parsed);
        }
        // code of another language sees the variables of its call
        self.in_child(|child| {
            for (name, value) in call.environment {
                child.state.set(name, value.clone());
            }
            child.carry_out(spec, call, program, parsed)
        })
    }

    /// A variable that carries code for this very program.
    fn own_variable(&mut self, spec: &'static Command, name: &str, value: &Value, call: &Call<'_>) {
        let Some((_, roles)) = spec.environment.iter().find(|(n, _)| *n == name) else { return };
        let field = Field { span: call.span, ..Field::from(value.clone()) };
        self.apply_roles(roles, &field, (spec, call, &Rc::from(name)));
    }

    /// Roles of one word outside a parsed argument vector.
    pub fn apply_roles(
        &mut self,
        roles: &'static [Role],
        field: &Field,
        (spec, call, program): (&'static Command, &Call<'_>, &Rc<str>),
    ) {
        let parsed = Parsed { specs: vec![spec], ..Parsed::default() };
        let mut doing = Doing::new(spec, call, program, parsed, self.state.ambient);
        for role in roles {
            self.role(*role, field, &mut doing);
        }
    }

    /// Carries out a parsed call; handlers that only change the parse end here, too.
    pub fn carry_out(
        &mut self,
        spec: &'static Command,
        call: &Call<'_>,
        program: &Rc<str>,
        parsed: Parsed,
    ) -> Outcome {
        let spec = parsed.spec().unwrap_or(spec);
        // a dry run beside a switch that acts (`sfdisk -l --delete`) is none
        if parsed.inert == Inert::Yes && parsed.bare.is_empty() {
            return Outcome::prints(Data::unknown(TagSet::EMPTY));
        }
        let mut doing = Doing::new(spec, call, program, parsed, self.state.ambient);
        doing.tags = doing.tags.union(given_size(program, &doing.parsed.meant, call.arguments()));
        let before = self.core.found.list.len();
        doing.peer = peer(&doing.parsed);
        self.take_input(&mut doing);
        self.read_first(&mut doing);
        let meant = std::mem::take(&mut doing.parsed.meant);
        let mut nested = None;
        for word in &meant {
            for role in word.roles {
                if role.is == Is::Command {
                    nested = Some(self.nested_command(&doing, &word.field, role.tags));
                } else if !is_reading(role.is) {
                    self.role(*role, &word.field, &mut doing);
                }
            }
        }
        doing.parsed.meant = meant;
        self.without_words(&mut doing);
        self.aftermath(&doing);
        self.afterthought(&doing, before);
        let outcome = self.printed(&doing);
        nested.unwrap_or(outcome)
    }

    /// Standard input: read where the description says so and no file is named instead.
    fn take_input(&mut self, doing: &mut Doing<'_>) {
        let input = doing.call.stdin;
        let waits = input.origin == Origin::Inherited && !doing.spec.alone.is_empty();
        if !reads_input(doing) || waits {
            return;
        }
        for role in doing.spec.stdin {
            self.input_role(*role, doing);
        }
        doing.read.append(input);
        doing.read.text.clone_from(&input.text);
    }

    /// One role of the standard input.
    fn input_role(&mut self, role: Role, doing: &mut Doing<'_>) {
        let input = doing.call.stdin;
        let span = doing.call.span;
        let tags = doing.tags.union(role.tags).union(input.tags);
        match role.is {
            Is::Code(lang) | Is::CodeFile(lang) if input.origin == Origin::Inside => {
                let field = doing.call.argv.first().cloned().unwrap_or_default();
                self.core.indicate(indicator_of(lang, input), span);
                let by = Interpreter::new(lang, &doing.parsed.operands, &doing.program);
                let said = self.code_data(by, input, &field).data;
                doing.said.push(said);
            }
            Is::ShellText => {
                let field = doing.call.argv.first().cloned().unwrap_or_default();
                self.code_data(Interpreter::new(Lang::Shell, &[], &doing.program), input, &field);
            }
            Is::SendData | Is::SendFile | Is::Effect(Kind::Send) => {
                let target = self.host_target(&doing.peer.clone().unwrap_or_default());
                self.core.emit(Kind::Send, target, tags, By::new(&doing.program, span));
            }
            Is::Effect(kind) if role.tags.has(tag::LISTS_NAMES) => {
                for name in input.whole().unwrap_or("").lines().take(NAMES) {
                    let field = Field { tags: input.tags, ..Field::known(name, span) };
                    self.effect(kind, TagSet::EMPTY, &field, doing);
                }
            }
            Is::Effect(kind) => {
                self.core.emit(kind, Target::default(), tags, By::new(&doing.program, span));
            }
            Is::Code(_)
            | Is::CodeFile(_)
            | Is::Data
            | Is::Tag
            | Is::Command
            | Is::Chdir
            | Is::Assignment
            | Is::User
            | Is::Peer => {}
        }
    }

    /// Files and hosts that are read come before what is written: provenance flows that way.
    fn read_first(&mut self, doing: &mut Doing<'_>) {
        let meant = std::mem::take(&mut doing.parsed.meant);
        for word in &meant {
            for role in word.roles.iter().filter(|r| is_reading(r.is)) {
                self.role(*role, &word.field, doing);
            }
        }
        doing.parsed.meant = meant;
    }

    /// Effects that have no word: of switches, of the call as such, of a call without operands.
    fn without_words(&mut self, doing: &mut Doing<'_>) {
        let mut roles: Vec<Role> = doing.parsed.bare.clone();
        for spec in &doing.parsed.specs {
            roles.extend_from_slice(spec.effects);
        }
        let carries = doing.parsed.carries_code();
        let alone = doing.parsed.operands.is_empty() && !carries && !doing.tags.has(tag::FIRST_GIVEN);
        if alone && doing.call.stdin.origin == Origin::Inherited {
            roles.extend_from_slice(doing.spec.alone);
        }
        let field = match (&doing.peer, doing.parsed.operands.first()) {
            (Some(peer), _) => peer.clone(),
            (None, Some(first)) => first.clone(),
            (None, None) => Field { span: doing.call.span, ..Field::default() },
        };
        for role in roles {
            match role.is {
                // `sudo -i COMMAND`, `su -c TEXT`: the shell runs that and ends
                Is::Effect(Kind::Shell) if carries => {}
                // `execute` is a switch's own doing, not a program among the operands
                Is::Effect(kind) if is_path_kind(kind) && kind != Kind::Execute => {
                    self.of_operands(kind, role, doing);
                }
                Is::Effect(kind) => {
                    let target = self.named_target(kind, &field);
                    let mut tags = doing.tags.union(role.tags);
                    if carries_data(kind) {
                        tags = tags.union(doing.read.tags);
                    }
                    self.core.emit(kind, target, tags, By::new(&doing.program, doing.call.span));
                }
                Is::Data
                | Is::Tag
                | Is::Code(_)
                | Is::CodeFile(_)
                | Is::Command
                | Is::ShellText
                | Is::Chdir
                | Is::Assignment
                | Is::User
                | Is::SendData
                | Is::SendFile
                | Is::Peer => self.role(role, &field, doing),
            }
        }
    }

    /// A switch's effect on paths: on every operand, or on one that isn't known.
    fn of_operands(&mut self, kind: Kind, role: Role, doing: &mut Doing<'_>) {
        let operands = doing.parsed.operands.clone();
        if operands.is_empty() {
            let tags = doing.tags.union(role.tags);
            let by = By::new(&doing.program, doing.call.span);
            return self.core.emit(kind, Target::default(), tags, by);
        }
        for operand in operands {
            self.role(role, &operand, doing);
        }
    }
}

/// The host or URL of a call.
fn peer(parsed: &Parsed) -> Option<Field> {
    let is_peer = |m: &&Meant| {
        m.roles
            .iter()
            .any(|r| matches!(r.is, Is::Peer | Is::Effect(Kind::Fetch | Kind::Connect | Kind::Send)))
    };
    parsed.meant.iter().find(is_peer).map(|m| m.field.clone())
}

/// Whether the call reads its standard input: no file or code is named instead, or `-` is.
fn reads_input(doing: &Doing<'_>) -> bool {
    let reads_files = |m: &Meant| m.roles.iter().any(|r| is_reading(r.is) || matches!(r.is, Is::CodeFile(_)));
    // `sqlite3 FILE [SQL]`: the file is what the code on the input is about
    let about = doing.spec.operands.rest.iter().any(|r| matches!(r.is, Is::Code(_)));
    let named = !about && doing.parsed.meant.iter().any(|m| reads_files(m) && m.field.text != "-");
    let dash = doing.parsed.operands.iter().any(|f| f.text == "-");
    let runs_input = |r: &Role| matches!(r.is, Is::Code(_) | Is::CodeFile(_) | Is::ShellText);
    let given = doing.parsed.carries_code() && doing.spec.stdin.iter().any(runs_input);
    !doing.spec.stdin.is_empty() && (dash || !(named || given))
}

fn is_reading(is: Is) -> bool {
    matches!(is, Is::Effect(Kind::Read | Kind::Fetch | Kind::Move))
}
