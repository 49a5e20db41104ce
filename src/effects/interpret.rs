//! From a described call to effects: what each word of the argument vector means is carried out.
//!
//! In: a [`Command`] description and a [`Call`]. Out: effects with provenance; what the call prints.
//! Never: loses where bytes come from.

use std::rc::Rc;

use crate::act::{Class, Kind, TagSet, UnknownKind, tag};
use crate::canonical::state::Reach;
use crate::canonical::value::{Data, Field, Origin};
use crate::effects::arguments::{Inert, Meant, Parsed, parse};
use crate::effects::call::Call;
use crate::effects::landing::given_size;
use crate::effects::model::{Indicator, Target};
use crate::effects::walk::{Outcome, Status, Walk};
use crate::policy::tables::{Command, Is, Lang, Output, Role};

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

/// Kinds that take the call's data somewhere.
fn carries_data(kind: Kind) -> bool {
    matches!(kind, Kind::Write | Kind::Append | Kind::Send | Kind::Publish | Kind::Connect)
}

impl Walk<'_, '_> {
    /// A program with a description.
    pub fn described(&mut self, spec: &'static Command, call: &Call<'_>, program: &Rc<str>) -> Outcome {
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
        let mut child = self.fork();
        for (name, value) in call.environment {
            child.state.set(name, value.clone());
        }
        let outcome = child.carry_out(spec, call, program, parsed);
        let written = child.state.written;
        self.state.written = written;
        outcome
    }

    /// A variable that carries code for this very program.
    fn own_variable(
        &mut self,
        spec: &'static Command,
        name: &str,
        value: &crate::canonical::value::Value,
        call: &Call<'_>,
    ) {
        let Some((_, roles)) = spec.environment.iter().find(|(n, _)| *n == name) else { return };
        let field = Field { span: call.span, ..Field::from(value.clone()) };
        let parsed = Parsed { specs: vec![spec], ..Parsed::default() };
        let mut doing = self.doing(spec, call, &Rc::from(name), parsed);
        for role in *roles {
            self.role(*role, &field, &mut doing);
        }
    }

    /// Roles of one word outside a parsed argument vector.
    pub fn apply_roles(
        &mut self,
        roles: &'static [Role],
        field: &Field,
        call: &Call<'_>,
        program: &Rc<str>,
        parsed: Parsed,
    ) {
        let Some(spec) = parsed.spec() else { return };
        let mut doing = self.doing(spec, call, program, parsed);
        for role in roles {
            self.role(*role, field, &mut doing);
        }
    }

    fn doing<'c>(
        &self,
        spec: &'static Command,
        call: &Call<'c>,
        program: &Rc<str>,
        parsed: Parsed,
    ) -> Doing<'c> {
        let tags = self.state.ambient.union(parsed.tags);
        Doing {
            parsed,
            spec,
            call: *call,
            program: Rc::clone(program),
            tags,
            read: Data::empty(),
            peer: None,
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
        let mut doing = self.doing(spec, call, program, parsed);
        doing.tags = doing.tags.union(given_size(program, &doing.parsed.meant, call.arguments()));
        let before = self.core.found.list.len();
        doing.peer = self.peer(&doing);
        self.take_input(&mut doing);
        self.read_first(&mut doing);
        let meant = std::mem::take(&mut doing.parsed.meant);
        let mut nested = None;
        for (i, word) in meant.iter().enumerate() {
            for role in word.roles {
                if role.is == Is::Command {
                    let from = meant.get(i).map(|m| m.field.clone());
                    nested = from.map(|f| self.nested_command(&doing, &f, role.tags));
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

    fn peer(&mut self, doing: &Doing<'_>) -> Option<Field> {
        let is_peer = |m: &&Meant| {
            m.roles
                .iter()
                .any(|r| matches!(r.is, Is::Peer | Is::Effect(Kind::Fetch | Kind::Connect | Kind::Send)))
        };
        doing.parsed.meant.iter().find(is_peer).map(|m| m.field.clone())
    }

    /// Standard input: read where the description says so and no file is named instead.
    fn take_input(&mut self, doing: &mut Doing<'_>) {
        let reads_files =
            |m: &Meant| m.roles.iter().any(|r| is_reading(r.is) || matches!(r.is, Is::CodeFile(_)));
        let named = doing.parsed.meant.iter().any(|m| reads_files(m) && m.field.text != "-");
        let dash = doing.parsed.operands.iter().any(|f| f.text == "-");
        let runs_input = |r: &Role| matches!(r.is, Is::Code(_) | Is::CodeFile(_) | Is::ShellText);
        let given = doing.parsed.carries_code() && doing.spec.stdin.iter().any(runs_input);
        if doing.spec.stdin.is_empty() || ((named || given) && !dash) {
            return;
        }
        let input = doing.call.stdin.clone();
        if input.origin == Origin::Inherited && !doing.spec.alone.is_empty() {
            return;
        }
        for role in doing.spec.stdin {
            match role.is {
                Is::Code(lang) | Is::CodeFile(lang) => {
                    if input.origin == Origin::Inside {
                        let field = doing.call.argv.first().cloned().unwrap_or_default();
                        self.core.indicate(indicator_of(lang, &input), doing.call.span);
                        self.code_data(lang, &input, &field, &doing.parsed.operands, &doing.program);
                    }
                }
                Is::ShellText => {
                    let field = doing.call.argv.first().cloned().unwrap_or_default();
                    self.code_data(Lang::Shell, &input, &field, &[], &doing.program);
                }
                Is::SendData | Is::SendFile | Is::Effect(Kind::Send) => {
                    let peer = doing.peer.clone().unwrap_or_default();
                    let target = self.host_target(&peer);
                    let tags = doing.tags.union(role.tags).union(input.tags);
                    self.core.emit(Kind::Send, target, tags, &doing.program, doing.call.span);
                }
                Is::Effect(kind) if role.tags.has(tag::LISTS_NAMES) => {
                    let names: Vec<String> =
                        input.whole().unwrap_or("").lines().take(64).map(str::to_owned).collect();
                    for name in names {
                        let field =
                            Field { text: name, span: doing.call.span, tags: input.tags, ..Field::default() };
                        self.effect(kind, TagSet::EMPTY, &field, doing);
                    }
                }
                Is::Effect(kind) => {
                    let tags = doing.tags.union(role.tags).union(input.tags);
                    self.core.emit(kind, Target::default(), tags, &doing.program, doing.call.span);
                }
                Is::Data | Is::Tag | Is::Command | Is::Chdir | Is::Assignment | Is::User | Is::Peer => {}
            }
        }
        doing.read.append(&input);
        doing.read.text.clone_from(&input.text);
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
        let alone = doing.parsed.operands.is_empty() && !doing.parsed.carries_code();
        if alone && doing.call.stdin.origin == Origin::Inherited {
            roles.extend_from_slice(doing.spec.alone);
        }
        let field = match (&doing.peer, doing.parsed.operands.first()) {
            (Some(peer), _) => peer.clone(),
            (None, Some(first)) => first.clone(),
            (None, None) => Field { span: doing.call.span, ..Field::default() },
        };
        let carries = doing.parsed.carries_code();
        for role in roles {
            match role.is {
                // `sudo -i COMMAND`, `su -c TEXT`: the shell runs that and ends
                Is::Effect(Kind::Shell) if carries => {}
                // a switch's own doing, not a program among the operands
                Is::Effect(Kind::Execute) => {
                    let target = self.named_target(Kind::Execute, &field);
                    self.core.emit(
                        Kind::Execute,
                        target,
                        doing.tags.union(role.tags),
                        &doing.program,
                        doing.call.span,
                    );
                }
                Is::Effect(kind) if is_path_kind(kind) => {
                    let all: Vec<Field> = doing.parsed.operands.clone();
                    let nothing = all.is_empty();
                    for operand in all {
                        self.role(role, &operand, doing);
                    }
                    if nothing {
                        let tags = doing.tags.union(role.tags);
                        self.core.emit(kind, Target::default(), tags, &doing.program, doing.call.span);
                    }
                }
                Is::Effect(kind) => {
                    let target = self.named_target(kind, &field);
                    let mut tags = doing.tags.union(role.tags);
                    if carries_data(kind) {
                        tags = tags.union(doing.read.tags);
                    }
                    self.core.emit(kind, target, tags, &doing.program, doing.call.span);
                }
                _ => self.role(role, &field, doing),
            }
        }
    }

    /// The target of an effect by its kind: a path, a host, or a name.
    pub fn named_target(&mut self, kind: Kind, field: &Field) -> Target {
        if is_path_kind(kind) || (kind == Kind::Inject && field.text.contains('/')) {
            return self.path_target_for(field, kind);
        }
        if matches!(kind, Kind::Fetch | Kind::Send | Kind::Connect | Kind::Publish) && !field.text.is_empty()
        {
            return self.host_target(field);
        }
        let name = field.text.replace(crate::canonical::value::HOLE, "…");
        Target { written: name.as_str().into(), resolved: name.into(), ..Target::default() }
    }

    /// One role of one word.
    pub fn role(&mut self, role: Role, field: &Field, doing: &mut Doing<'_>) {
        let span = if field.span == crate::text::Span::default() { doing.call.span } else { field.span };
        match role.is {
            Is::Data | Is::Tag | Is::Peer | Is::Command => {}
            Is::Effect(kind) => self.effect(kind, role.tags, field, doing),
            Is::Code(lang) => {
                drop(self.code_data(lang, &field_data(field), field, &doing.parsed.operands, &doing.program))
            }
            Is::ShellText => {
                drop(self.code_data(Lang::Shell, &field_data(field), field, &[], &doing.program))
            }
            Is::CodeFile(lang) => {
                let arguments = doing.parsed.operands.get(1..).unwrap_or(&[]).to_vec();
                drop(self.run_code_file(lang, field, &arguments, &doing.program));
            }
            Is::Chdir => self.state.cwd = self.resolved(field),
            Is::Assignment => {
                if let Some((name, value)) = field.text.split_once('=') {
                    let value = crate::canonical::value::Value { text: value.to_owned(), tags: field.tags };
                    self.injected(name, &value, span, crate::effects::inject::Setting::Command);
                }
            }
            Is::User => {
                let target = self.named_target(Kind::Privilege, field);
                self.core.emit(Kind::Privilege, target, doing.tags.union(role.tags), &doing.program, span);
            }
            Is::SendData | Is::SendFile => self.send(role, field, doing),
        }
    }

    fn effect(&mut self, kind: Kind, extra: TagSet, field: &Field, doing: &mut Doing<'_>) {
        if extra.has(tag::IF_ASSIGNMENT) && !field.text.contains('=') {
            return;
        }
        let kind = if doing.tags.has(tag::READS_ONLY) { only_reading(kind) } else { kind };
        let span = if field.span == crate::text::Span::default() { doing.call.span } else { field.span };
        let mut tags = doing.tags.union(extra).union(field.tags);
        if extra.has(tag::REMOTE_SPEC)
            && let Some(peer) = remote_spec(&field.text)
        {
            return self.remote_effect(kind, &Field { text: peer, ..field.clone() }, doing);
        }
        match kind {
            Kind::Read => {
                if let Some(path) = field.text.strip_prefix("file://") {
                    let inner = Field { text: path.to_owned(), ..field.clone() };
                    let data = self.read_path(&inner, &doing.program, span);
                    doing.read.append(&data);
                    return;
                }
                let ambient = self.state.ambient;
                self.state.ambient = doing.tags.union(extra);
                let data = self.read_path(field, &doing.program, span);
                self.state.ambient = ambient;
                if doing.tags.has(tag::IN_PLACE) {
                    let changed = Data { text: None, ..data.clone() };
                    self.write_path(field, Kind::Write, &changed, &doing.program, span);
                }
                if doing.read == Data::empty() { doing.read = data } else { doing.read.append(&data) }
            }
            Kind::Fetch => {
                let local = field
                    .text
                    .strip_prefix("file://")
                    .or_else(|| Some(&*field.text).filter(|t| t.starts_with(['/', '~'])));
                if let Some(path) = local {
                    let inner = Field { text: path.to_owned(), ..field.clone() };
                    let data = self.read_path(&inner, &doing.program, span);
                    doing.read.append(&data);
                    return;
                }
                let target = self.host_target(field);
                if target.classes.has(Class::Unknown) {
                    tags = tags.with(tag::UNKNOWN_HOST);
                }
                self.core.emit(kind, target, tags, &doing.program, span);
                doing.read.append(&Data::unknown(TagSet::of(tag::FROM_NETWORK)));
                doing.read.text = None;
            }
            Kind::Write | Kind::Append => {
                let mut data = doing.read.clone().tagged(extra);
                data.origin = Origin::Inside;
                if matches!(field.text.as_str(), "-" | "/dev/stdout" | "/dev/stderr" | "/dev/null") {
                    return;
                }
                let ambient = self.state.ambient;
                self.state.ambient = doing.tags.union(extra);
                for place in self.landing(field, extra, doing) {
                    self.write_path(&place, kind, &data, &doing.program, span);
                }
                self.state.ambient = ambient;
                self.note_inside(field, doing, &data);
            }
            Kind::Delete | Kind::Move => {
                let target = self.path_target_for(field, kind);
                tags = tags.union(self.path_tags(&target, field, kind)).union(self.work_tags(&target, kind));
                let path = target.resolved.to_string();
                self.core.emit(kind, target, tags, &doing.program, span);
                if kind == Kind::Move
                    && let Some(written) = self.state.written_at(&path).cloned()
                {
                    doing.read = written.data;
                } else if kind == Kind::Move {
                    let found = self.path_target(field);
                    doing.read.append(&Data::unknown(crate::effects::files::provenance(found.classes)));
                    doing.read.text = None;
                }
            }
            Kind::Execute if !field.has_hole() => {
                let mut child = self.fork();
                child.state.ambient = tags;
                child.run_named(field, &doing.program);
            }
            Kind::Remote if extra.has(tag::HTTP_METHOD) => {
                if field.text == "DELETE" {
                    let peer = doing.peer.clone().unwrap_or_default();
                    let target = self.host_target(&peer);
                    self.core.emit(kind, target, tags.with(tag::HTTP_DELETE), &doing.program, span);
                }
            }
            Kind::Link => {
                for place in self.landing(field, extra, doing) {
                    let target = self.path_target_for(&place, kind);
                    let all = tags.union(self.path_tags(&target, &place, kind));
                    self.note_link(&target.resolved);
                    self.core.emit(kind, target, all, &doing.program, span);
                }
            }
            _ => {
                let target = self.named_target(kind, field);
                if kind == Kind::Inject && !field.text.contains('/') {
                    tags = tags.minus(TagSet::of(tag::LIBRARY));
                }
                if is_path_kind(kind) {
                    tags = tags.union(self.path_tags(&target, field, kind));
                } else if carries_data(kind) {
                    tags = tags.union(doing.read.tags);
                }
                self.core.emit(kind, target, tags, &doing.program, span);
            }
        }
    }

    /// `scp`, `rsync`: reading from another machine fetches, writing to it sends.
    fn remote_effect(&mut self, kind: Kind, peer: &Field, doing: &mut Doing<'_>) {
        let target = self.host_target(peer);
        let tags = doing.tags.union(peer.tags);
        if kind == Kind::Write || kind == Kind::Append {
            self.core.emit(Kind::Send, target, tags.union(doing.read.tags), &doing.program, doing.call.span);
        } else {
            self.core.emit(Kind::Fetch, target, tags, &doing.program, doing.call.span);
            doing.read.append(&Data::unknown(TagSet::of(tag::FROM_NETWORK)));
            doing.read.text = None;
        }
    }

    /// `cp a dir`: the file may come to lie inside the folder.
    fn note_inside(&mut self, field: &Field, doing: &Doing<'_>, data: &Data) {
        let folder = self.resolved(field);
        for operand in doing.parsed.operands.iter().take(16) {
            if operand.text == field.text {
                continue;
            }
            let name = operand.text.trim_end_matches('/').rsplit('/').next().unwrap_or("");
            if !name.is_empty() {
                self.state.note_written(&format!("{folder}/{name}"), data.clone(), Reach::File);
            }
        }
    }

    fn send(&mut self, role: Role, field: &Field, doing: &mut Doing<'_>) {
        let span = if field.span == crate::text::Span::default() { doing.call.span } else { field.span };
        let mut tags = doing.tags.union(role.tags).union(field.tags);
        let file = match role.is {
            Is::SendFile => Some(field.text.as_str()),
            _ => field
                .text
                .split_once('@')
                .filter(|(before, _)| before.is_empty() || before.ends_with('='))
                .map(|p| p.1),
        };
        if let Some(path) = file {
            let path = path.split([';', ',']).next().unwrap_or(path);
            let data = if path == "-" {
                doing.call.stdin.clone()
            } else {
                let inner = Field { text: path.to_owned(), pattern: None, ..field.clone() };
                self.read_path(&inner, &doing.program, span)
            };
            tags = tags.union(data.tags);
        } else {
            tags = tags.with(tag::FROM_LITERAL);
        }
        let peer = doing.peer.clone().unwrap_or_default();
        let target = self.host_target(&peer);
        self.core.emit(Kind::Send, target, tags, &doing.program, span);
    }

    /// The command that a wrapper runs: the operands from this one on.
    fn nested_command(&mut self, doing: &Doing<'_>, from: &Field, extra: TagSet) -> Outcome {
        let operands = &doing.parsed.operands;
        let start = operands.iter().position(|f| std::ptr::eq(f, from) || (f == from)).unwrap_or(0);
        let mut rest: &[Field] = operands.get(start..).unwrap_or(&[]);
        let mut environment = Vec::new();
        while let Some(field) = rest.first() {
            match field.text.split_once('=') {
                Some((name, value)) if is_name(name) => {
                    let value = crate::canonical::value::Value { text: value.to_owned(), tags: field.tags };
                    environment.push((name.to_owned(), value));
                    rest = rest.get(1..).unwrap_or(&[]);
                }
                Some((name, value)) if name.starts_with("BASH_FUNC_") && value.starts_with("()") => {
                    // a function that bash takes from its environment; it may be called
                    let mut child = self.fork();
                    child.text(&format!("f {value}; f"), field.span);
                    rest = rest.get(1..).unwrap_or(&[]);
                }
                _ => break,
            }
        }
        let Some(first) = rest.first() else { return Outcome::silent() };
        let ambient = self.state.ambient;
        self.state.ambient = doing.tags.union(extra);
        if let (Some(text), "-c" | "--command") = (rest.get(1), first.text.as_str()) {
            // `flock FILE -c TEXT`: an option behind the operand
            let mut child = self.fork();
            let outcome = child.opaque_or_text(text, &doing.program);
            let written = child.state.written;
            self.state.written = written;
            self.state.ambient = ambient;
            return outcome;
        }
        let call =
            Call { argv: rest, stdin: doing.call.stdin, environment: &environment, span: doing.call.span };
        let functions = std::mem::take(&mut self.state.functions);
        let aliases = std::mem::take(&mut self.state.aliases);
        let outcome = self.call(&call);
        self.state.functions = functions;
        self.state.aliases = aliases;
        self.state.ambient = ambient;
        outcome
    }

    /// What a described call prints.
    fn printed(&mut self, doing: &Doing<'_>) -> Outcome {
        let decodes = doing.tags.has(tag::DECODES) && doing.spec.output == Output::Through;
        let mut data = match doing.spec.output {
            Output::Through if decodes => Data::unknown(doing.read.tags.with(tag::FROM_DECODED)),
            Output::Plain => Data::unknown(TagSet::EMPTY),
            Output::Through => Data { text: None, ..doing.read.clone() },
            Output::Fetched => Data::unknown(doing.read.tags.with(tag::FROM_NETWORK)),
            Output::Decoded => Data::unknown(doing.read.tags.with(tag::FROM_DECODED)),
            Output::Arguments => {
                let tags = doing.call.arguments().iter().fold(TagSet::EMPTY, |t, f| t.union(f.tags));
                Data::unknown(tags)
            }
            Output::System => Data::unknown(TagSet::of(tag::FROM_SYSTEM)),
            Output::Environment => Data::unknown(TagSet::of(tag::FROM_ENVIRONMENT)),
            Output::Unknown => Data::unknown(doing.read.tags.with(tag::FROM_UNKNOWN)),
        };
        data.origin = Origin::Inside;
        data.tags = data.tags.minus(TagSet::of(tag::FROM_STDIN).with(tag::SHELL_SETTINGS));
        if crate::effects::shells::prints_settings(&doing.call) {
            data.tags = data.tags.with(tag::SHELL_SETTINGS);
        }
        if let Some(text) =
            crate::effects::print::simulate(&doing.program, doing.call.arguments(), &doing.read)
        {
            data.text = Some(text);
        }
        self.written_to_stdout(doing, &mut data);
        // `which a || which b` is taken for a's place
        let status = if &*doing.program == "which" { Status::Success } else { Status::Either };
        Outcome { data, status }
    }

    /// A download without an output file is printed; one with a file is not.
    fn written_to_stdout(&mut self, doing: &Doing<'_>, data: &mut Data) {
        let to_file = |m: &Meant| {
            m.roles.iter().any(|r| matches!(r.is, Is::Effect(Kind::Write | Kind::Append)))
                && !matches!(m.field.text.as_str(), "-" | "/dev/stdout")
        };
        if doing.spec.output == Output::Fetched && doing.parsed.meant.iter().any(to_file) {
            *data = Data::unknown(TagSet::EMPTY);
        }
        if data.tags.has(tag::FROM_NETWORK) && doing.spec.output == Output::Plain {
            self.core.doubt(UnknownKind::Value, "output", doing.call.span);
        }
    }
}

/// What is left of a kind when the call only reads (`gzip -c`, `unzip -l`).
fn only_reading(kind: Kind) -> Kind {
    if matches!(kind, Kind::Write | Kind::Append | Kind::Create | Kind::Delete | Kind::Move) {
        Kind::Read
    } else {
        kind
    }
}

/// How an interpreter's input counts as structure: text that stands in the command, as in a here-document,
/// is judged itself and counts as the pipe that it is; so do query languages, which start nothing.
pub fn indicator_of(lang: Lang, input: &Data) -> Indicator {
    let hidden = TagSet::of(tag::FROM_DECODED).with(tag::FROM_NETWORK);
    let read = input.whole().is_some() && !input.tags.has_any(hidden);
    if read || matches!(lang, Lang::Sql | Lang::Jq) { Indicator::Pipe } else { Indicator::PipeToInterpreter }
}

/// `[user@]host:path` or a URL, in the words of scp and rsync.
pub fn remote_spec(text: &str) -> Option<String> {
    if text.contains("://") {
        return Some(text.to_owned());
    }
    let (host, _) = text.split_once(':')?;
    (!host.is_empty() && !host.contains('/')).then(|| host.rsplit('@').next().unwrap_or(host).to_owned())
}

fn is_reading(is: Is) -> bool {
    matches!(is, Is::Effect(Kind::Read | Kind::Fetch | Kind::Move))
}

/// A variable's name (POSIX XBD 3.235).
pub fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A word as data: what an option's value holds.
pub fn field_data(field: &Field) -> Data {
    Data { text: Some(field.text.clone()), tags: field.tags, origin: Origin::Inside }
}
