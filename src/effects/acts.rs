//! What code in another language does, act by act.
//!
//! In: the acts that the code floor found. Out: effects, and data that the code would print. Never: takes text
//! that a shell would run for data.

use std::rc::Rc;

use crate::act::{Class, ClassSet, Kind, TagSet, UnknownKind, tag};
use crate::canonical::operation::quote;
use crate::canonical::value::{Data, Field, HOLE};
use crate::code::{Act, Built, What};
use crate::effects::call::Call;
use crate::effects::core::By;
use crate::effects::fields::{field_data, made, tags_of};
use crate::effects::files::Interpreter;
use crate::effects::foreign::lang_name;
use crate::effects::handlers::mode::mode_tags;
use crate::effects::inject::Setting;
use crate::effects::model::Target;
use crate::effects::walk::Walk;
use crate::policy::tables::Lang;
use crate::text::Span;

/// One act with its arguments as fields.
struct Acting<'d> {
    what: What,
    fields: &'d [Field],
    first: Field,
    second: Field,
    by: By<'d>,
}

/// An act that is one effect on its first argument.
fn plain(what: What) -> Option<(Kind, TagSet)> {
    Some(match what {
        What::Environment => (Kind::Disclose, TagSet::of(tag::FROM_ENVIRONMENT)),
        What::Interactive => (Kind::Shell, TagSet::of(tag::INTERACTIVE)),
        What::Eval => (Kind::Code, TagSet::of(tag::OPAQUE)),
        What::Power => (Kind::Power, TagSet::EMPTY),
        What::Exhaust => (Kind::Exhaust, TagSet::EMPTY),
        What::Setuid => (Kind::Privilege, TagSet::EMPTY),
        What::Trace => (Kind::Trace, TagSet::EMPTY),
        What::Discover => (Kind::Discover, TagSet::EMPTY),
        What::Capture => (Kind::Capture, TagSet::EMPTY),
        What::Install => (Kind::Install, TagSet::EMPTY),
        What::DropData => (Kind::Remote, TagSet::of(tag::FORCE)),
        What::Delete
        | What::DeleteTree
        | What::Write
        | What::Append
        | What::Read
        | What::List
        | What::Create
        | What::Move
        | What::Copy
        | What::Link
        | What::Chmod
        | What::Chown
        | What::Shell
        | What::Exec
        | What::Load
        | What::Connect
        | What::Listen
        | What::Fetch
        | What::Send
        | What::Download
        | What::Print
        | What::SetVariable
        | What::Chdir
        | What::Kill
        | What::LoadNative
        | What::StreamsToNetwork
        | What::Serve => return None,
    })
}

/// An act that is one effect on its first argument's path.
fn on_path(what: What, second: &Field) -> Option<(Kind, TagSet)> {
    match what {
        What::Delete => Some((Kind::Delete, TagSet::EMPTY)),
        What::DeleteTree => Some((Kind::Delete, TagSet::of(tag::RECURSIVE))),
        What::List => Some((Kind::List, TagSet::EMPTY)),
        What::Create => Some((Kind::Create, TagSet::EMPTY)),
        What::Link => Some((Kind::LinkTo, TagSet::EMPTY)),
        What::Chmod => Some((Kind::Chmod, mode_tags(second.text.trim_start_matches("0o")))),
        What::Chown => Some((Kind::Chown, TagSet::EMPTY)),
        What::Write
        | What::Append
        | What::Read
        | What::Move
        | What::Copy
        | What::Shell
        | What::Exec
        | What::Load
        | What::Interactive
        | What::Connect
        | What::Listen
        | What::Fetch
        | What::Send
        | What::Download
        | What::Eval
        | What::Environment
        | What::Print
        | What::SetVariable
        | What::Chdir
        | What::Kill
        | What::Power
        | What::Exhaust
        | What::LoadNative
        | What::StreamsToNetwork
        | What::Setuid
        | What::Trace
        | What::Discover
        | What::Capture
        | What::Install
        | What::DropData
        | What::Serve => None,
    }
}

impl Walk<'_, '_> {
    /// One act of the code.
    pub(super) fn act(&mut self, act: &Act, lang: Lang, like: &Field, data: &mut Data) {
        let mut fields: Vec<Field> = Vec::with_capacity(act.args.len());
        for value in &act.args {
            match self.all_arguments(value, lang, like) {
                Some(all) => fields.extend(all),
                None => fields.push(self.code_field(value, like)),
            }
        }
        let program: Rc<str> = Rc::from(lang_name(lang));
        let blank = Field { span: like.span, ..Field::default() };
        // one argument is a shell's text, more are an argument vector
        let what = if act.what == What::Shell && fields.len() > 1 { What::Exec } else { act.what };
        let acting = Acting {
            what,
            first: fields.first().unwrap_or(&blank).clone(),
            second: fields.get(1).unwrap_or(&blank).clone(),
            fields: &fields,
            by: By::new(&program, like.span),
        };
        let decoded = act.built == Built::Decoded;
        let ambient = self.state.ambient;
        let ambient = if decoded { ambient.with(tag::OBFUSCATED) } else { ambient };
        self.under(ambient, |walk| walk.one_act(&acting, data));
    }

    fn one_act(&mut self, acting: &Acting<'_>, data: &mut Data) {
        let Acting { first, second, by, .. } = acting;
        let program = by.program;
        if acting.what == What::Environment {
            data.tags = data.tags.with(tag::FROM_ENVIRONMENT);
        }
        if let Some((kind, tags)) = plain(acting.what) {
            return self.plain_act(kind, first, tags, program);
        }
        match acting.what {
            What::Write
            | What::Append
            | What::Read
            | What::Move
            | What::Copy
            | What::Delete
            | What::DeleteTree
            | What::List
            | What::Create
            | What::Link
            | What::Chmod
            | What::Chown => self.file_act(acting, data),
            What::Connect
            | What::Listen
            | What::Fetch
            | What::Send
            | What::Download
            | What::Serve
            | What::StreamsToNetwork => self.network_act(acting, data),
            What::Shell => {
                let outcome = self.fork().opaque_or_text(first, program);
                data.tags = data.tags.union(outcome.data.tags);
            }
            What::Exec => self.exec_act(acting, data),
            What::Load => {
                self.fork().run_code_file(Interpreter::new(Lang::Other, &[], program), first);
            }
            What::Print => data.tags = data.tags.union(first.tags),
            What::SetVariable => {
                self.injected(&first.text, &second.value(), by.span, Setting::Command);
            }
            What::Chdir => self.state.cwd = self.resolved(first),
            What::Kill => self.signal_act(first, program),
            What::LoadNative => {
                let tags = if first.text.contains('/') { TagSet::of(tag::LIBRARY) } else { TagSet::EMPTY };
                self.plain_act(Kind::Inject, first, tags, program);
            }
            What::Environment
            | What::Interactive
            | What::Eval
            | What::Power
            | What::Exhaust
            | What::Setuid
            | What::Trace
            | What::Discover
            | What::Capture
            | What::Install
            | What::DropData => {}
        }
    }

    /// A module that the text itself has written; others are as good as what the language brings.
    pub(super) fn imported(&mut self, module: &str, span: Span) {
        let file = Field::known(format!("{module}.py"), span);
        if !self.state.written.has_name(&file.text) {
            return;
        }
        let place = self.resolved(&file);
        if self.state.written.has(&place) {
            self.fork().run_code_file(Interpreter::new(Lang::Python, &[], &Rc::from("python")), &file);
        }
    }

    fn file_act(&mut self, acting: &Acting<'_>, data: &mut Data) {
        let Acting { what, first, second, by, .. } = acting;
        let program = by.program;
        if let Some((kind, tags)) = on_path(*what, second) {
            self.path_act(kind, first, tags, program);
        }
        if *what == What::Link {
            self.path_act(Kind::Link, second, TagSet::EMPTY, program);
        }
        if matches!(what, What::Write | What::Append) {
            let kind = if *what == What::Write { Kind::Write } else { Kind::Append };
            let given = acting.fields.len() > 1;
            let content = if given { field_data(second) } else { Data::unknown(TagSet::EMPTY) };
            self.write_path(first, kind, &content, *by);
        }
        if matches!(what, What::Read | What::Move | What::Copy) {
            let read = self.read_path(first, program, by.span);
            if *what == What::Read {
                data.tags = data.tags.union(read.tags);
                return;
            }
            if *what == What::Move {
                self.path_act(Kind::Move, first, TagSet::EMPTY, program);
            }
            self.write_path(second, Kind::Write, &read, *by);
        }
    }

    fn exec_act(&mut self, acting: &Acting<'_>, data: &mut Data) {
        if acting.first.has_hole() && acting.first.tags.is_empty() {
            // a program by a computed path, as `[tool(), "-i", file]`
            return self.core.doubt(UnknownKind::Code, "program", acting.by.span);
        }
        let stdin = Data::inherited();
        let mut child = self.fork();
        child.forget_names();
        let call = Call { argv: acting.fields, stdin: &stdin, environment: &[], span: acting.by.span };
        let outcome = child.call(&call);
        data.tags = data.tags.union(outcome.data.tags);
    }

    fn path_act(&mut self, kind: Kind, field: &Field, tags: TagSet, program: &Rc<str>) {
        let target = self.path_target_for(field, kind);
        let tags =
            tags.union(self.state.ambient).union(field.tags).union(self.path_tags(&target, field, kind));
        self.core.emit(kind, target, tags, By::new(program, field.span));
    }

    /// One effect on what a word names.
    pub(super) fn plain_act(&mut self, kind: Kind, field: &Field, tags: TagSet, program: &Rc<str>) {
        let target = self.named_target(kind, field);
        let tags = tags.union(self.state.ambient).union(field.tags);
        self.core.emit(kind, target, tags, By::new(program, field.span));
    }

    fn signal_act(&mut self, field: &Field, program: &Rc<str>) {
        let class =
            if matches!(field.text.as_str(), "1" | "-1") { Class::CoreProcess } else { Class::OwnProcess };
        let name: Rc<str> = quote(&field.text.replace(HOLE, "…")).into();
        let target = Target { written: Rc::clone(&name), resolved: name, classes: ClassSet::of(class) };
        let tags = self.state.ambient.union(field.tags);
        self.core.emit(Kind::Signal, target, tags, By::new(program, field.span));
    }

    fn network_act(&mut self, acting: &Acting<'_>, data: &mut Data) {
        let Acting { what, fields, by, .. } = acting;
        let first = fields.first().cloned().unwrap_or_default();
        let peer = match (what, fields.get(1)) {
            (What::Connect | What::Listen | What::Serve, Some(port)) => {
                made(format!("{}:{}", first.text, port.text), &first)
            }
            _ => first,
        };
        let mut tags = self.state.ambient.union(peer.tags);
        let tied = *what == What::StreamsToNetwork;
        let target = if tied { Target::default() } else { self.host_target(&peer) };
        let kind = if tied {
            tags = tags.with(tag::STREAMS_TO_NETWORK).with(tag::INTERACTIVE);
            Kind::Shell
        } else if matches!(what, What::Listen | What::Serve) {
            Kind::Listen
        } else if matches!(what, What::Fetch | What::Download) {
            data.tags = data.tags.with(tag::FROM_NETWORK);
            Kind::Fetch
        } else if *what == What::Send {
            tags = tags.union(tags_of(fields.iter().skip(1)));
            Kind::Send
        } else {
            Kind::Connect
        };
        self.core.emit(kind, target, tags, *by);
        if let (What::Download, Some(path)) = (what, fields.get(1)) {
            let fetched = Data::unknown(TagSet::of(tag::FROM_NETWORK));
            self.write_path(path, Kind::Write, &fetched, *by);
        }
    }
}
