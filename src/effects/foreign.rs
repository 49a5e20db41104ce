//! Code in other languages: what the code floor found becomes effects, shell text in it is judged in turn.
//!
//! In: source text of a known language. Out: effects. Never: lets a part that could not be read pass unsaid.

use std::rc::Rc;

use crate::act::{Class, ClassSet, Kind, TagSet, UnknownKind, tag};
use crate::canonical::operation::quote;
use crate::canonical::parameter::is_secret_name;
use crate::canonical::value::{Data, Field, HOLE};
use crate::code::{Act, Built, Grade, Origin, Piece, Value, What};
use crate::effects::call::Call;
use crate::effects::core::By;
use crate::effects::fields::field_data;
use crate::effects::files::Interpreter;
use crate::effects::files::provenance;
use crate::effects::model::Target;
use crate::effects::walk::{Outcome, Walk};
use crate::policy::tables::Lang;

impl Walk<'_, '_> {
    /// Source text of another language.
    pub fn foreign(&mut self, lang: Lang, text: &str, like: &Field) -> Outcome {
        if lang == Lang::Jq {
            return self.query(text, like);
        }
        let anchor = self.core.at(like.span);
        if self.core.budget.depth == 0 || self.core.budget.text < text.len() {
            self.core.doubt(UnknownKind::Limit, "nested code", like.span);
            return Outcome::prints(Data::unknown(TagSet::of(tag::FROM_UNKNOWN)));
        }
        self.core.budget.depth -= 1;
        self.core.budget.text -= text.len();
        let saved = self.core.anchor.replace(anchor);
        let found = crate::code::look(lang, text);
        let mut child = self.fork();
        let mut data = Data::unknown(TagSet::EMPTY);
        for act in &found.acts {
            child.act(act, lang, like, &mut data);
        }
        let written = child.state.written;
        self.state.written = written;
        if let Some(doubt) = &found.unknown {
            self.code_doubt(doubt, lang, like);
        }
        self.core.anchor = saved;
        self.core.budget.depth += 1;
        if let ([only], None) = (found.acts.as_slice(), &found.unknown)
            && let (What::Print, [Value::Known(text)]) = (only.what, only.args.as_slice())
        {
            // all that it does is print a known text
            data = Data { text: Some(format!("{}\n", text.trim_end_matches('\n'))), ..data };
        }
        Outcome::prints(data)
    }

    /// A jq program: it starts and writes nothing, but may print the environment.
    fn query(&mut self, text: &str, like: &Field) -> Outcome {
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '$' | '.'));
        if !words.any(|w| matches!(w, "env" | "$ENV")) {
            return Outcome::prints(Data::unknown(TagSet::EMPTY));
        }
        let tags = TagSet::of(tag::FROM_ENVIRONMENT);
        self.plain_act(Kind::Disclose, &Field { text: String::new(), ..like.clone() }, tags, &Rc::from("jq"));
        Outcome::prints(Data::unknown(tags))
    }

    fn code_doubt(&mut self, doubt: &crate::code::Doubt, lang: Lang, like: &Field) {
        self.core.doubt(UnknownKind::Code, &doubt.detail, like.span);
        let tags = match doubt.grade {
            Grade::Unread | Grade::Limit => return,
            Grade::Chosen => TagSet::of(tag::OPAQUE),
            Grade::Hidden => TagSet::of(tag::OPAQUE).with(tag::OBFUSCATED),
        };
        let tags = self.state.ambient.union(tags);
        self.core.emit(Kind::Code, Target::default(), tags, By::new(&Rc::from(lang_name(lang)), like.span));
    }

    /// A value of the code as a field: unknown parts are holes, origins are tags.
    fn code_field(&mut self, value: &Value, like: &Field) -> Field {
        let mut field = Field { text: String::new(), pattern: None, tags: TagSet::EMPTY, span: like.span };
        match value {
            Value::Known(text) => field.text.push_str(text),
            Value::Pieced(pieces) => {
                for piece in pieces.iter() {
                    match piece {
                        Piece::Text(text) => field.text.push_str(text),
                        Piece::Open(source) => self.open_piece(source, &mut field),
                    }
                }
            }
        }
        if field.text == "~" || field.text.starts_with("~/") {
            let home = crate::canonical::tilde::home(&self.state, "");
            field.text = format!("{home}{}", field.text.get(1..).unwrap_or(""));
        }
        field
    }

    fn open_piece(&mut self, source: &crate::code::Source, field: &mut Field) {
        let mut tags = TagSet::EMPTY;
        let mut known = None;
        match source.origin {
            Origin::Computed => {}
            Origin::Unknown => {}
            Origin::System => tags = tags.with(tag::FROM_SYSTEM),
            Origin::Listing => {
                let inner = Field { text: source.detail.to_string(), ..field.clone() };
                let target = self.path_target(&inner);
                field.text.push_str(target.resolved.trim_end_matches('/'));
                field.text.push('/');
                tags = tags.with(tag::GLOB_ALL);
            }
            Origin::Argument => {
                let number = source.detail.parse::<usize>().ok();
                known = number.and_then(|n| self.state.positional.get(n).cloned()).map(|v| v.text);
            }
            Origin::Variable => {
                if is_secret_name(&source.detail) {
                    tags = tags.with(tag::FROM_SECRET_VARIABLE);
                }
                known = self.state.scalar(&source.detail).map(|v| v.text);
            }
            Origin::Command => tags = tags.with(tag::FROM_UNKNOWN),
            Origin::Stdin => {
                tags = tags.union(self.stdin.tags);
                known = self.stdin.whole().map(str::to_owned);
            }
            Origin::File => {
                let inner = Field {
                    text: source.detail.to_string(),
                    pattern: None,
                    tags: TagSet::EMPTY,
                    span: field.span,
                };
                let target = self.path_target(&inner);
                tags = tags.union(provenance(target.classes));
                if let Some(written) = self.state.written_at(&target.resolved) {
                    tags = tags.union(written.data.tags);
                }
            }
            Origin::Environment => tags = tags.with(tag::FROM_ENVIRONMENT),
            Origin::Network => tags = tags.with(tag::FROM_NETWORK),
        }
        if source.decoded == crate::code::Decoded::Yes {
            tags = tags.with(tag::FROM_DECODED);
        }
        match known {
            Some(text) => field.text.push_str(&text),
            None => field.text.push(HOLE),
        }
        field.tags = field.tags.union(tags);
    }

    fn act(&mut self, act: &Act, lang: Lang, like: &Field, data: &mut Data) {
        let fields: Vec<Field> = act.args.iter().map(|v| self.code_field(v, like)).collect();
        let program: Rc<str> = Rc::from(lang_name(lang));
        let saved = self.state.ambient;
        if act.built == Built::Decoded {
            self.state.ambient = saved.with(tag::OBFUSCATED);
        }
        self.one_act(act.what, &fields, &program, like, data);
        self.state.ambient = saved;
    }

    fn one_act(&mut self, what: What, fields: &[Field], program: &Rc<str>, like: &Field, data: &mut Data) {
        let blank = Field { span: like.span, ..Field::default() };
        let first = fields.first().cloned().unwrap_or_else(|| blank.clone());
        let second = fields.get(1).cloned().unwrap_or_else(|| blank.clone());
        match what {
            What::Delete => self.path_act(Kind::Delete, &first, TagSet::EMPTY, program),
            What::DeleteTree => self.path_act(Kind::Delete, &first, TagSet::of(tag::RECURSIVE), program),
            What::Write | What::Append => {
                let kind = if what == What::Write { Kind::Write } else { Kind::Append };
                let content =
                    if fields.len() > 1 { field_data(&second) } else { Data::unknown(TagSet::EMPTY) };
                self.write_path(&first, kind, &content, By::new(program, like.span));
            }
            What::Read => {
                let read = self.read_path(&first, program, like.span);
                data.tags = data.tags.union(read.tags);
            }
            What::List => self.path_act(Kind::List, &first, TagSet::EMPTY, program),
            What::Create => self.path_act(Kind::Create, &first, TagSet::EMPTY, program),
            What::Move | What::Copy => {
                let read = self.read_path(&first, program, like.span);
                if what == What::Move {
                    self.path_act(Kind::Move, &first, TagSet::EMPTY, program);
                }
                self.write_path(&second, Kind::Write, &read, By::new(program, like.span));
            }
            What::Link => {
                self.path_act(Kind::LinkTo, &first, TagSet::EMPTY, program);
                self.path_act(Kind::Link, &second, TagSet::EMPTY, program);
            }
            What::Chmod => {
                let tags = crate::effects::handlers::mode::mode_tags(second.text.trim_start_matches("0o"));
                self.path_act(Kind::Chmod, &first, tags, program);
            }
            What::Chown => self.path_act(Kind::Chown, &first, TagSet::EMPTY, program),
            What::Shell => {
                let mut child = self.fork();
                let outcome = child.opaque_or_text(&first, program);
                data.tags = data.tags.union(outcome.data.tags);
            }
            What::Exec if first.has_hole() && first.tags.is_empty() => {
                // a program by a computed path, as `[tool(), "-i", file]`
                self.core.doubt(UnknownKind::Code, "program", like.span);
            }
            What::Exec => {
                let stdin = Data::inherited();
                let mut child = self.fork();
                child.state.functions = Rc::default();
                child.state.aliases = Rc::default();
                let outcome =
                    child.call(&Call { argv: fields, stdin: &stdin, environment: &[], span: like.span });
                data.tags = data.tags.union(outcome.data.tags);
            }
            What::Load => {
                let mut child = self.fork();
                child.run_code_file(Interpreter::new(Lang::Other, &[], program), &first);
            }
            What::Print => data.tags = data.tags.union(first.tags),
            What::SetVariable => {
                let value = second.value();
                self.injected(&first.text, &value, like.span, crate::effects::inject::Setting::Command);
            }
            What::Chdir => self.state.cwd = self.resolved(&first),
            What::Connect
            | What::Listen
            | What::Fetch
            | What::Send
            | What::Download
            | What::Serve
            | What::StreamsToNetwork => self.network_act(what, fields, program, like, data),
            What::Environment => {
                data.tags = data.tags.with(tag::FROM_ENVIRONMENT);
                self.plain_act(Kind::Disclose, &first, TagSet::of(tag::FROM_ENVIRONMENT), program);
            }
            What::Interactive => self.plain_act(Kind::Shell, &first, TagSet::of(tag::INTERACTIVE), program),
            What::Eval => self.plain_act(Kind::Code, &first, TagSet::of(tag::OPAQUE), program),
            What::Kill => self.signal_act(&first, program),
            What::Power => self.plain_act(Kind::Power, &first, TagSet::EMPTY, program),
            What::Exhaust => self.plain_act(Kind::Exhaust, &first, TagSet::EMPTY, program),
            What::LoadNative => {
                let tags = if first.text.contains('/') { TagSet::of(tag::LIBRARY) } else { TagSet::EMPTY };
                self.plain_act(Kind::Inject, &first, tags, program);
            }
            What::Setuid => self.plain_act(Kind::Privilege, &first, TagSet::EMPTY, program),
            What::Trace => self.plain_act(Kind::Trace, &first, TagSet::EMPTY, program),
            What::Discover => self.plain_act(Kind::Discover, &first, TagSet::EMPTY, program),
            What::Capture => self.plain_act(Kind::Capture, &first, TagSet::EMPTY, program),
            What::Install => self.plain_act(Kind::Install, &first, TagSet::EMPTY, program),
            What::DropData => self.plain_act(Kind::Remote, &first, TagSet::of(tag::FORCE), program),
        }
    }

    fn path_act(&mut self, kind: Kind, field: &Field, tags: TagSet, program: &Rc<str>) {
        let target = self.path_target_for(field, kind);
        let tags =
            tags.union(self.state.ambient).union(field.tags).union(self.path_tags(&target, field, kind));
        self.core.emit(kind, target, tags, By::new(program, field.span));
    }

    fn plain_act(&mut self, kind: Kind, field: &Field, tags: TagSet, program: &Rc<str>) {
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

    fn network_act(
        &mut self,
        what: What,
        fields: &[Field],
        program: &Rc<str>,
        like: &Field,
        data: &mut Data,
    ) {
        let first = fields.first().cloned().unwrap_or_default();
        let peer = match (what, fields.get(1)) {
            (What::Connect | What::Listen | What::Serve, Some(port)) => {
                Field { text: format!("{}:{}", first.text, port.text), ..first.clone() }
            }
            _ => first.clone(),
        };
        let mut tags = self.state.ambient.union(peer.tags);
        let target = if what == What::StreamsToNetwork { Target::default() } else { self.host_target(&peer) };
        let kind = match what {
            What::Listen | What::Serve => Kind::Listen,
            What::Fetch | What::Download => Kind::Fetch,
            What::Send => Kind::Send,
            What::StreamsToNetwork => {
                tags = tags.with(tag::STREAMS_TO_NETWORK).with(tag::INTERACTIVE);
                Kind::Shell
            }
            _ => Kind::Connect,
        };
        if kind == Kind::Send {
            tags = fields.iter().skip(1).fold(tags, |t, f| t.union(f.tags));
        }
        self.core.emit(kind, target, tags, By::new(program, like.span));
        if kind == Kind::Fetch {
            data.tags = data.tags.with(tag::FROM_NETWORK);
        }
        if let (What::Download, Some(path)) = (what, fields.get(1)) {
            let fetched = Data::unknown(TagSet::of(tag::FROM_NETWORK));
            self.write_path(path, Kind::Write, &fetched, By::new(program, like.span));
        }
    }
}

/// The language's policy name, as the program of its effects.
fn lang_name(lang: Lang) -> &'static str {
    Lang::ALL.iter().find(|(_, l)| *l == lang).map_or("other", |(name, _)| name)
}
