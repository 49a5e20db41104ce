//! Roles: what one word of a described call means becomes effects.
//!
//! In: a word, its role, the call. Out: effects; what the call has read and written. Never: loses where bytes
//! come from.

use crate::act::{Class, Kind, TagSet, tag};
use crate::canonical::state::Reach;
use crate::canonical::value::{Data, Field, HOLE, Origin, Value};
use crate::effects::core::By;
use crate::effects::fields::{field_data, made};
use crate::effects::files::{Interpreter, provenance};
use crate::effects::inject::Setting;
use crate::effects::interpret::{Doing, is_path_kind};
use crate::effects::model::Target;
use crate::effects::walk::Walk;
use crate::policy::tables::{Is, Lang, Role};
use crate::text::Span;
use crate::world::FileKind;

/// One effect that a word is about to have.
struct Deed<'f> {
    kind: Kind,
    /// Tags of the role.
    extra: TagSet,
    /// Tags of call, role and word.
    tags: TagSet,
    field: &'f Field,
    span: Span,
}

/// Kinds that take the call's data somewhere.
pub fn carries_data(kind: Kind) -> bool {
    matches!(kind, Kind::Write | Kind::Append | Kind::Send | Kind::Publish | Kind::Connect)
}

impl Walk<'_, '_> {
    /// The target of an effect by its kind: a path, a host, or a name.
    pub fn named_target(&mut self, kind: Kind, field: &Field) -> Target {
        if is_path_kind(kind) || (kind == Kind::Inject && field.text.contains('/')) {
            return self.path_target_for(field, kind);
        }
        if matches!(kind, Kind::Fetch | Kind::Send | Kind::Connect | Kind::Publish) && !field.text.is_empty()
        {
            return self.host_target(field);
        }
        let name = field.text.replace(HOLE, "…");
        Target { written: name.as_str().into(), resolved: name.into(), ..Target::default() }
    }

    /// One role of one word.
    pub fn role(&mut self, role: Role, field: &Field, doing: &mut Doing<'_>) {
        let span = doing.span_of(field);
        match role.is {
            Is::Data | Is::Tag | Is::Peer | Is::Command => {}
            Is::Effect(kind) => self.effect(kind, role.tags, field, doing),
            Is::Code(lang) => {
                let operands = &doing.parsed.operands;
                // code that is an operand itself is none of its own arguments
                let own = usize::from(operands.first().is_some_and(|f| f == field));
                let by = Interpreter::new(lang, operands.get(own..).unwrap_or(&[]), &doing.program);
                let mut code = field_data(field);
                if let (Lang::Awk, Some(text)) = (lang, &mut code.text) {
                    text.insert_str(0, &awk_variables(doing.call.arguments()));
                }
                let said = self.code_data(by, &code, field).data;
                doing.said.push(said);
            }
            Is::ShellText => {
                let by = Interpreter::new(Lang::Shell, &[], &doing.program);
                self.code_data(by, &field_data(field), field);
            }
            Is::CodeFile(lang) => {
                let arguments = doing.parsed.operands.get(1..).unwrap_or(&[]);
                self.run_code_file(Interpreter::new(lang, arguments, &doing.program), field);
            }
            Is::Chdir => self.state.cwd = self.resolved(field),
            Is::Assignment => {
                if let Some((name, value)) = field.text.split_once('=') {
                    let value = Value { text: value.to_owned(), tags: field.tags };
                    self.injected(name, &value, span, Setting::Command);
                }
            }
            Is::User => {
                let target = self.named_target(Kind::Privilege, field);
                let tags = doing.tags.union(role.tags);
                self.core.emit(Kind::Privilege, target, tags, By::new(&doing.program, span));
            }
            Is::SendData | Is::SendFile => self.send(role, field, doing),
        }
    }

    /// An effect on a word.
    pub fn effect(&mut self, kind: Kind, extra: TagSet, field: &Field, doing: &mut Doing<'_>) {
        if extra.has(tag::IF_ASSIGNMENT) && !field.text.contains('=') {
            return;
        }
        let named = kind;
        let kind = acting(kind, doing.tags);
        if extra.has(tag::REMOTE_SPEC)
            && let Some(peer) = remote_spec(&field.text)
        {
            return self.remote_effect(kind, &made(peer, field), doing);
        }
        let tags = doing.tags.union(extra).union(field.tags);
        let deed = Deed { kind, extra, tags, field, span: doing.span_of(field) };
        self.deed(&deed, doing);
        let makes = (named == Kind::Move && doing.tags.has(tag::BESIDE))
            || (named == Kind::Read && extra.has(tag::BESIDE))
            || (named == Kind::Write && tags.has(tag::BESIDE));
        if makes && !doing.tags.has(tag::READS_ONLY) && !field.text.is_empty() {
            let field = made(format!("{}.*", field.text), field);
            self.plain_deed(&Deed { kind: Kind::Create, field: &field, ..deed }, tags, doing);
        }
    }

    fn deed(&mut self, deed: &Deed<'_>, doing: &mut Doing<'_>) {
        match deed.kind {
            Kind::Read => self.read_deed(deed, doing),
            Kind::Fetch => self.fetch_deed(deed, doing),
            Kind::Write | Kind::Append => self.write_deed(deed, doing),
            Kind::Delete | Kind::Move => self.delete_deed(deed, doing),
            Kind::Execute if !deed.field.has_hole() => {
                let mut child = self.fork();
                child.state.ambient = deed.tags;
                child.run_named(deed.field, &doing.program);
            }
            Kind::Remote if deed.extra.has(tag::HTTP_METHOD) => {
                if deed.field.text == "DELETE" {
                    let target = self.host_target(&doing.peer.clone().unwrap_or_default());
                    let tags = deed.tags.with(tag::HTTP_DELETE);
                    self.core.emit(deed.kind, target, tags, By::new(&doing.program, deed.span));
                }
            }
            Kind::Link => self.link_deed(deed, doing),
            Kind::Inject if !deed.field.text.contains('/') => {
                self.plain_deed(deed, deed.tags.minus(TagSet::of(tag::LIBRARY)), doing);
            }
            Kind::List
            | Kind::Create
            | Kind::LinkTo
            | Kind::Chmod
            | Kind::Chown
            | Kind::Mount
            | Kind::Format
            | Kind::Execute
            | Kind::Code
            | Kind::Shell
            | Kind::Send
            | Kind::Connect
            | Kind::Listen
            | Kind::Signal
            | Kind::Service
            | Kind::Power
            | Kind::Kernel
            | Kind::Account
            | Kind::Privilege
            | Kind::Install
            | Kind::Uninstall
            | Kind::Guard
            | Kind::Discard
            | Kind::Overwrite
            | Kind::Remote
            | Kind::Publish
            | Kind::Schedule
            | Kind::Inject
            | Kind::Disclose
            | Kind::Exhaust
            | Kind::Evade
            | Kind::Discover
            | Kind::Container
            | Kind::Trace
            | Kind::Capture
            | Kind::Unknown => self.plain_deed(deed, deed.tags, doing),
        }
    }

    fn read_deed(&mut self, deed: &Deed<'_>, doing: &mut Doing<'_>) {
        let Deed { field, span, .. } = *deed;
        if let Some(path) = field.text.strip_prefix("file://") {
            return self.read_local(path, deed, doing);
        }
        let tags = doing.tags.union(deed.extra);
        let data = self.under(tags, |walk| walk.read_path(field, &doing.program, span));
        if doing.tags.has(tag::IN_PLACE) {
            let changed = Data { text: None, ..data.clone() };
            self.under(TagSet::of(tag::IN_PLACE), |walk| {
                walk.write_path(field, Kind::Write, &changed, By::new(&doing.program, span));
            });
        }
        if doing.read == Data::empty() { doing.read = data } else { doing.read.append(&data) }
    }

    /// A URL that means a file of this machine.
    fn read_local(&mut self, path: &str, deed: &Deed<'_>, doing: &mut Doing<'_>) {
        let inner = Field { text: path.to_owned(), ..deed.field.clone() };
        let data = self.read_path(&inner, &doing.program, deed.span);
        doing.read.append(&data);
    }

    fn fetch_deed(&mut self, deed: &Deed<'_>, doing: &mut Doing<'_>) {
        let text = deed.field.text.as_str();
        let whole = || Some(text).filter(|t| t.starts_with(['/', '~']));
        if let Some(path) = text.strip_prefix("file://").or_else(whole) {
            return self.read_local(path, deed, doing);
        }
        let target = self.host_target(deed.field);
        let unknown = target.classes.has(Class::Unknown);
        let tags = if unknown { deed.tags.with(tag::UNKNOWN_HOST) } else { deed.tags };
        self.core.emit(deed.kind, target, tags, By::new(&doing.program, deed.span));
        doing.reads_unknown(TagSet::of(tag::FROM_NETWORK));
    }

    fn write_deed(&mut self, deed: &Deed<'_>, doing: &mut Doing<'_>) {
        if matches!(deed.field.text.as_str(), "-" | "/dev/stdout" | "/dev/stderr" | "/dev/null") {
            return;
        }
        let mut data = doing.read.clone().tagged(deed.extra);
        data.origin = Origin::Inside;
        self.under(doing.tags.union(deed.extra), |walk| {
            for place in walk.landing(deed.field, deed.extra, doing) {
                walk.write_path(&place, deed.kind, &data, By::new(&doing.program, deed.span));
            }
        });
        self.note_inside(deed.field, doing, &data);
    }

    fn delete_deed(&mut self, deed: &Deed<'_>, doing: &mut Doing<'_>) {
        let Deed { kind, field, .. } = *deed;
        let target = self.path_target_for(field, kind);
        let own = self.path_tags(&target, field, kind).union(self.work_tags(&target, kind));
        let path = target.resolved.to_string();
        // what find lists stands for all that lies below
        let many = TagSet::of(tag::GLOB)
            .with(tag::GLOB_ALL)
            .with(tag::UNKNOWN_TARGET)
            .with(tag::RECURSIVE)
            .with(tag::IN_PIPELINE);
        // a word that isn't known may be `-r`
        let known = !doing.call.arguments().iter().any(Field::has_hole);
        let plain = known && &*doing.program == "rm" && !deed.tags.union(own).has_any(many);
        let folder = plain
            && kind == Kind::Delete
            && self.core.places.lookups.meta(&path).is_some_and(|m| m.kind == FileKind::Folder);
        // rm(1) without -r says "Is a directory" and leaves it
        let kind = if folder { Kind::List } else { kind };
        self.core.emit(kind, target, deed.tags.union(own), By::new(&doing.program, deed.span));
        if kind != Kind::Move {
            return;
        }
        if let Some(written) = self.state.written_at(&path).cloned() {
            doing.read = written.data;
        } else {
            let found = self.path_target(field);
            doing.reads_unknown(provenance(found.classes));
        }
    }

    fn link_deed(&mut self, deed: &Deed<'_>, doing: &Doing<'_>) {
        for place in self.landing(deed.field, deed.extra, doing) {
            let target = self.path_target_for(&place, deed.kind);
            let all = deed.tags.union(self.path_tags(&target, &place, deed.kind));
            self.note_link(&target.resolved);
            self.core.emit(deed.kind, target, all, By::new(&doing.program, deed.span));
        }
    }

    /// An effect with nothing to it but its target.
    fn plain_deed(&mut self, deed: &Deed<'_>, mut tags: TagSet, doing: &Doing<'_>) {
        let target = self.named_target(deed.kind, deed.field);
        if is_path_kind(deed.kind) {
            tags = tags.union(self.path_tags(&target, deed.field, deed.kind));
        } else if carries_data(deed.kind) {
            tags = tags.union(doing.read.tags);
        }
        self.core.emit(deed.kind, target, tags, By::new(&doing.program, deed.span));
    }

    /// `scp`, `rsync`: reading from another machine fetches, writing to it sends.
    fn remote_effect(&mut self, kind: Kind, peer: &Field, doing: &mut Doing<'_>) {
        let target = self.host_target(peer);
        let tags = doing.tags.union(peer.tags);
        if kind == Kind::Write || kind == Kind::Append {
            self.core.emit(
                Kind::Send,
                target,
                tags.union(doing.read.tags),
                By::new(&doing.program, doing.call.span),
            );
        } else {
            self.core.emit(Kind::Fetch, target, tags, By::new(&doing.program, doing.call.span));
            doing.reads_unknown(TagSet::of(tag::FROM_NETWORK));
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
        let span = doing.span_of(field);
        let mut tags = doing.tags.union(role.tags).union(field.tags);
        if let Some(path) = sent_file(role.is, &field.text) {
            let path = path.split([';', ',']).next().unwrap_or(path);
            let data = if path == "-" {
                doing.call.stdin.clone()
            } else {
                self.read_path(&made(path, field), &doing.program, span)
            };
            tags = tags.union(data.tags);
        } else {
            tags = tags.with(tag::FROM_LITERAL);
        }
        let target = self.host_target(&doing.peer.clone().unwrap_or_default());
        self.core.emit(Kind::Send, target, tags, By::new(&doing.program, span));
    }
}

/// The file that a word to send means: all of it, or what follows `@` (`@file`, `name=@file`).
fn sent_file(is: Is, text: &str) -> Option<&str> {
    if is == Is::SendFile {
        return Some(text);
    }
    let (before, path) = text.split_once('@')?;
    (before.is_empty() || before.ends_with('=')).then_some(path)
}

/// What a kind comes to, given the call's options.
fn acting(kind: Kind, tags: TagSet) -> Kind {
    if tags.has(tag::READS_ONLY) {
        only_reading(kind)
    } else if tags.has(tag::BESIDE) && kind == Kind::Move {
        Kind::Read
    } else if tags.has(tag::CREATES) && matches!(kind, Kind::Read | Kind::Write) {
        Kind::Create
    } else {
        kind
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

/// `[user@]host:path` or a URL, in the words of scp and rsync.
pub fn remote_spec(text: &str) -> Option<String> {
    if text.contains("://") {
        return Some(text.to_owned());
    }
    let (host, _) = text.split_once(':')?;
    (!host.is_empty() && !host.contains('/')).then(|| host.rsplit('@').next().unwrap_or(host).to_owned())
}
/// `-v NAME=VALUE` as the assignments that awk makes of them.
fn awk_variables(words: &[Field]) -> String {
    let mut out = String::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let given = match word.text.strip_prefix("-v") {
            Some("") => rest.next().map(|f| f.text.as_str()),
            attached => attached,
        };
        if let Some((name, value)) = given.and_then(|g| g.split_once('='))
            && crate::effects::nested::is_name(name)
        {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            out.extend(["BEGIN{", name, "=\"", &value, "\"}\n"]);
        }
    }
    out
}
