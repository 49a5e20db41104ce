//! Files that a command reads, and files of code that it runs: their content is judged where it can be read.
//!
//! In: fields that name files. Out: data with its provenance; effects. Never: reads more than the budget.

use std::rc::Rc;

use crate::act::{Class, ClassSet, Kind, TagSet, UnknownKind, tag};
use crate::canonical::table::Table;
use crate::canonical::value::{Data, Field, Value};
use crate::effects::call::Call;
use crate::effects::core::By;
use crate::effects::model::Target;
use crate::effects::walk::{Outcome, Walk};
use crate::policy::tables::Lang;
use crate::text::Span;

/// Provenance of what is read from a place.
pub fn provenance(classes: ClassSet) -> TagSet {
    let mut tags = TagSet::EMPTY;
    let table = [
        (Class::Secret, tag::FROM_SECRET),
        (Class::History, tag::FROM_SECRET),
        (Class::Account, tag::FROM_ACCOUNTS),
        (Class::System, tag::FROM_SYSTEM),
        (Class::Config, tag::FROM_SYSTEM),
        (Class::Kernel, tag::FROM_SYSTEM),
        (Class::Log, tag::FROM_SYSTEM),
        (Class::Endless, tag::FROM_ENDLESS),
        (Class::Home, tag::FROM_HOME),
        (Class::HomeRoot, tag::FROM_HOME),
        (Class::OtherHome, tag::FROM_HOME),
        (Class::Workspace, tag::FROM_WORKSPACE),
    ];
    for (class, origin) in table {
        if classes.has(class) {
            tags = tags.with(origin);
        }
    }
    tags
}

/// Whether a path is the reader's own standard input.
pub fn is_stdin(path: &str) -> bool {
    matches!(path, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" | "/proc/thread-self/fd/0")
}

impl Walk<'_, '_> {
    /// A file that is read: an effect, and its data.
    pub fn read_path(&mut self, field: &Field, program: &Rc<str>, span: Span) -> Data {
        if field.text == "-" || is_stdin(&field.text) {
            return self.stdin.clone();
        }
        if let Some(data) = self.descriptor(&field.text) {
            return data;
        }
        if field.text == "/dev/null" {
            return Data::empty();
        }
        let target = self.path_target(field);
        let tags = self.state.ambient.union(field.tags).union(self.path_tags(&target, field, Kind::Read));
        let from = provenance(target.classes).union(field.tags);
        let known = self.state.written_at(&target.resolved).map(|w| w.data.clone());
        if !target.classes.has(Class::Null) || target.classes.has(Class::Secret) {
            self.core.emit(Kind::Read, target, tags, By::new(program, span));
        }
        known.unwrap_or_else(|| Data::unknown(from))
    }

    /// What `/dev/fd/N` would give, where the script itself has opened it.
    fn descriptor(&self, path: &str) -> Option<Data> {
        let number = path.strip_prefix("/dev/fd/").or_else(|| path.strip_prefix("/proc/self/fd/"))?;
        match self.state.descriptors.get(&number.parse::<u32>().ok()?)? {
            crate::canonical::state::Endpoint::Data(data) => Some(data.clone()),
            crate::canonical::state::Endpoint::File(_)
            | crate::canonical::state::Endpoint::Network(_)
            | crate::canonical::state::Endpoint::Closed => None,
        }
    }

    /// The text of a small file, as the script has written it or as it lies on the machine.
    pub fn file_text(&mut self, target: &Target) -> FileText {
        if let Some(data) = self.descriptor(&target.written) {
            return FileText::Written(data);
        }
        if let Some(written) = self.state.written_at(&target.resolved) {
            return FileText::Written(written.data.clone());
        }
        if self.core.budget.files == 0 {
            return FileText::Unreadable;
        }
        self.core.budget.files -= 1;
        match self.core.places.lookups.content(&target.resolved, self.core.budget.file_bytes) {
            Some(bytes) if !bytes.contains(&0) => FileText::There(crate::text::judged(&bytes).into_owned()),
            Some(_) => FileText::Binary,
            None if self.core.places.lookups.has(&target.resolved) => FileText::Unreadable,
            None => FileText::Missing,
        }
    }

    /// A program given by its path: an effect on the file, and its content if it is a script.
    pub fn run_program_file(&mut self, call: &Call<'_>, head: &Field, target: Target) -> Option<Outcome> {
        let base: Rc<str> = Rc::from(head.text.rsplit('/').next().unwrap_or(&head.text));
        let text = match self.file_text(&target) {
            // what the system brought is the same to us in every language: a program that nothing describes
            FileText::There(_) if self.is_installed(&target) => FileText::Binary,
            text @ (FileText::Written(_)
            | FileText::There(_)
            | FileText::Binary
            | FileText::Unreadable
            | FileText::Missing) => text,
        };
        let tags = run_tags(&target, &text).union(head.tags);
        self.core.emit(Kind::Execute, target, self.state.ambient.union(tags), By::new(&base, call.span));
        let data = match text {
            FileText::Written(data) => match data.whole() {
                Some(text) => text.to_owned(),
                None => return Some(Outcome::prints(Data::unknown(data.tags))),
            },
            FileText::There(text) => {
                let lang = language_of(&text)?;
                return Some(self.code_there(None, (lang, &text), head, call.arguments()));
            }
            FileText::Binary | FileText::Unreadable | FileText::Missing => {
                return Some(Outcome::prints(Data::unknown(TagSet::of(tag::FROM_UNKNOWN))));
            }
        };
        let lang = language_of(&data)?;
        let source = is_for_bash(&data).then(|| Rc::new(head.value()));
        Some(self.code_of(source, (lang, &data), head, call.arguments()))
    }

    /// A script in the system's folders that root alone can change, and this text has not.
    fn is_installed(&self, target: &Target) -> bool {
        INSTALLED.iter().any(|folder| target.resolved.starts_with(folder))
            && self
                .core
                .places
                .lookups
                .meta(&target.resolved)
                .is_some_and(|m| m.owner == 0 && m.mode & 0o022 == 0)
    }

    /// A file that nobody may execute, and whose mode this script doesn't touch.
    pub fn is_not_executable(&self, target: &Target) -> bool {
        let plain = self
            .core
            .places
            .lookups
            .meta(&target.resolved)
            .is_some_and(|m| m.kind == crate::world::FileKind::File && m.mode & 0o111 == 0);
        let touched = |e: &crate::effects::model::Effect| {
            e.kind == Kind::Chmod || (e.target.resolved == target.resolved && e.kind != Kind::Read)
        };
        plain
            && self.state.written_at(&target.resolved).is_none()
            && !self.core.found.list.iter().any(touched)
    }

    /// A program that an option names: it is run, with arguments that its caller gives.
    pub fn run_named(&mut self, field: &Field, program: &Rc<str>) {
        if field.text.contains(char::is_whitespace) {
            self.opaque_or_text(field, program);
            return;
        }
        let mut target = self.path_target_for(field, Kind::Execute);
        let mut tags = self.state.ambient.union(field.tags);
        if field.text.contains('/') {
            tags = tags.union(self.path_tags(&target, field, Kind::Execute));
        } else {
            // found in PATH, not here
            target.classes = ClassSet::EMPTY;
            target.resolved = Rc::clone(&target.written);
        }
        self.core.emit(Kind::Execute, target, tags.with(tag::BY_OPTION), By::new(program, field.span));
        if !field.text.is_empty() {
            let stdin = self.stdin.clone();
            self.call(&Call {
                argv: std::slice::from_ref(field),
                stdin: &stdin,
                environment: &[],
                span: field.span,
            });
        }
    }

    /// A file of code that an interpreter runs.
    pub fn run_code_file(&mut self, by: Interpreter<'_>, field: &Field) -> Outcome {
        if field.text == "-" || is_stdin(&field.text) {
            let data = self.stdin.clone();
            return self.code_data(by, &data, field);
        }
        let target = self.path_target(field);
        if field.has_hole() && !target.classes.has(Class::Workspace) {
            self.core.doubt(UnknownKind::Program, &field.text, field.span);
        }
        let text = self.file_text(&target);
        let tags = run_tags(&target, &text).union(field.tags);
        let endless = target.classes.has(Class::Null);
        if !endless {
            self.core.emit(
                Kind::Execute,
                target,
                self.state.ambient.union(tags),
                By::new(by.program, field.span),
            );
        }
        match text {
            FileText::Written(data) => self.code_data(by, &data, field),
            FileText::There(text) => {
                let source = (&**by.program == "bash").then(|| Rc::new(field.value()));
                self.code_there(source, (by.lang, &text), field, by.arguments)
            }
            FileText::Binary | FileText::Unreadable | FileText::Missing => {
                Outcome::prints(Data::unknown(TagSet::of(tag::FROM_UNKNOWN)))
            }
        }
    }

    /// Data that an interpreter runs as code.
    pub fn code_data(&mut self, by: Interpreter<'_>, data: &Data, field: &Field) -> Outcome {
        let Interpreter { lang, arguments, program } = by;
        if let Some(text) = data.text.clone()
            && (data.whole().is_some() || lang == Lang::Shell)
        {
            return self.code_text(lang, &text, field, arguments);
        }
        if lang == Lang::Jq {
            return Outcome::prints(Data::unknown(data.tags));
        }
        let tags = self.state.ambient.union(data.tags).union(field.tags).with(tag::OPAQUE);
        self.core.emit(Kind::Code, Target::default(), tags, By::new(program, field.span));
        self.core.doubt(UnknownKind::Code, program, field.span);
        Outcome::prints(Data::unknown(data.tags))
    }

    /// The text of a file that lies there, not made by this text. A shell script counts for what it does for certain.
    fn code_there(
        &mut self,
        source: Option<Rc<Value>>,
        (lang, text): (Lang, &str),
        like: &Field,
        arguments: &[Field],
    ) -> Outcome {
        let mark = self.core.found.mark();
        let outcome = self.code_of(source, (lang, text), like, arguments);
        if lang == Lang::Shell {
            self.core.found.keep_certain(mark);
        }
        outcome
    }

    /// Known source text of a language.
    pub fn code_text(&mut self, lang: Lang, text: &str, like: &Field, arguments: &[Field]) -> Outcome {
        self.code_of(None, (lang, text), like, arguments)
    }

    /// The same; where it is a file of bash's, what it sees as `BASH_SOURCE`.
    fn code_of(
        &mut self,
        source: Option<Rc<Value>>,
        (lang, text): (Lang, &str),
        like: &Field,
        arguments: &[Field],
    ) -> Outcome {
        let arguments = arguments.iter().map(Field::value);
        self.in_child(|child| {
            if lang == Lang::Shell {
                // an exported function knows no file
                child.state.source = source.filter(|_| child.state.functions.is_empty());
                child.state.positional = Rc::new(arguments.collect());
                child.state.zero = Value::known(like.text.clone());
                child.state.aliases = Table::default();
                return child.text(text, like.span);
            }
            // perl and ruby count from the first argument, the others from the program's name
            let program = (!matches!(lang, Lang::Perl | Lang::Ruby)).then(|| like.value());
            child.state.positional = Rc::new(program.into_iter().chain(arguments).collect());
            child.foreign(lang, text, like)
        })
    }
}

/// Where the system keeps its programs, whatever they are written in.
pub const INSTALLED: [&str; 6] = ["/usr/bin/", "/usr/sbin/", "/bin/", "/sbin/", "/usr/lib/", "/usr/libexec/"];

/// Tags of a file that is run: where it lies, and what is known of its content.
fn run_tags(target: &Target, text: &FileText) -> TagSet {
    let mut tags = TagSet::EMPTY;
    if target.classes.has(Class::Workspace) {
        tags = tags.with(tag::PROGRAM_IN_WORKSPACE);
    }
    if target.classes.has(Class::Temporary) {
        tags = tags.with(tag::PROGRAM_IN_TEMPORARY);
    }
    if target.classes.has(Class::Home) && !target.classes.has(Class::Workspace) {
        tags = tags.with(tag::PROGRAM_IN_HOME);
    }
    match text {
        FileText::Written(data) => {
            tags = tags.with(tag::PROGRAM_JUST_WRITTEN).union(data.tags.minus(TagSet::of(tag::FROM_LITERAL)));
            if data.tags.has(tag::FROM_NETWORK) {
                tags = tags.with(tag::PROGRAM_FETCHED);
            }
            if data.whole().is_none() {
                tags = tags.with(tag::OPAQUE);
            } else {
                // it was decoded here, and its text is judged
                tags = tags.minus(TagSet::of(tag::FROM_DECODED));
            }
        }
        FileText::Missing => tags = tags.with(tag::MISSING),
        FileText::Binary | FileText::Unreadable => tags = tags.with(tag::OPAQUE),
        FileText::There(_) => {}
    }
    tags
}

/// What runs code: its language, the program's name, and the arguments that the code sees.
#[derive(Clone, Copy, Debug)]
pub struct Interpreter<'i> {
    pub lang: Lang,
    pub arguments: &'i [Field],
    pub program: &'i Rc<str>,
}

impl<'i> Interpreter<'i> {
    /// `arguments`: without the program's own name.
    pub fn new(lang: Lang, arguments: &'i [Field], program: &'i Rc<str>) -> Self {
        Self { lang, arguments, program }
    }
}

/// What is known of a file's text.
#[derive(Clone, Debug)]
pub enum FileText {
    Written(Data),
    There(String),
    Binary,
    Unreadable,
    Missing,
}

/// Whether a script's first line names bash.
fn is_for_bash(text: &str) -> bool {
    let line = text.strip_prefix("#!").and_then(|text| text.lines().next()).unwrap_or("");
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    matches!((words.next(), words.next()), (Some("bash"), _) | (Some("env"), Some("bash")))
}

/// The language of a script by its first line; without `#!` a shell would read it itself.
pub fn language_of(text: &str) -> Option<Lang> {
    let Some(line) = text.strip_prefix("#!").and_then(|t| t.lines().next()) else {
        return (!text.starts_with('\u{7f}')).then_some(Lang::Shell);
    };
    let mut words = line.split_whitespace();
    let mut program = words.next()?.rsplit('/').next()?;
    if program == "env" {
        program = words.find(|w| !w.starts_with('-') && !w.contains('='))?.rsplit('/').next()?;
    }
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Some(match name {
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" | "mksh" => Lang::Shell,
        "python" | "pypy" => Lang::Python,
        "perl" => Lang::Perl,
        "ruby" => Lang::Ruby,
        "node" | "nodejs" | "bun" | "deno" => Lang::Node,
        "php" => Lang::Php,
        "lua" | "luajit" => Lang::Lua,
        "awk" | "gawk" | "mawk" => Lang::Awk,
        "sed" => Lang::Sed,
        "tclsh" => Lang::Tcl,
        "expect" => Lang::Expect,
        "make" => Lang::Make,
        "Rscript" => Lang::R,
        _ => Lang::Other,
    })
}
