//! find(1): starting points, narrowing tests, and the actions that delete, run and write.
//!
//! In: the argument vector. Out: effects on what the tests let through. Never: takes a test that may let
//! everything through for a narrowing one.

use std::rc::Rc;

use crate::act::{Class, ClassSet, Kind, TagSet, tag};
use crate::canonical::value::{Data, Field, HOLE};
use crate::effects::call::Call;
use crate::effects::walk::{Outcome, Walk};
use crate::policy::tables::Command;

/// What a find call says.
#[derive(Default)]
struct Search {
    starts: Vec<Field>,
    /// A name or path that found files have.
    name: Option<String>,
    /// Some names are left out.
    excepted: bool,
    /// Some test narrows what is found (age, size, owner, emptiness …).
    narrowed: bool,
    depth_zero: bool,
    actions: Vec<Action>,
}

enum Action {
    Run(Vec<Field>),
    Delete(Field),
    Write(Field),
}

fn parse(words: &[Field]) -> Search {
    let mut search = Search::default();
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.peek() {
        let text = word.text.as_str();
        if matches!(text, "-H" | "-L" | "-P") || text.starts_with("-O") {
            rest.next();
        } else if text == "-D" {
            rest.next();
            rest.next();
        } else if text.starts_with('-') || matches!(text, "(" | "!" | ")" | ",") {
            break;
        } else if let Some(word) = rest.next() {
            search.starts.push(word.clone());
        }
    }
    let mut negated = false;
    while let Some(word) = rest.next() {
        let mut value = || rest.next().cloned().unwrap_or_default();
        match word.text.as_str() {
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let mut argv = Vec::new();
                for part in rest.by_ref() {
                    if part.text == ";" || (part.text == "+" && argv.last().is_some_and(|f: &Field| f.text == "{}")) {
                        break;
                    }
                    argv.push(part.clone());
                }
                search.actions.push(Action::Run(argv));
            }
            "-delete" => search.actions.push(Action::Delete(word.clone())),
            "-fprint" | "-fprint0" | "-fls" => search.actions.push(Action::Write(value())),
            "-fprintf" => {
                search.actions.push(Action::Write(value()));
                value();
            }
            "-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-iwholename" => {
                let pattern = value().text;
                let all = matches!(pattern.as_str(), "." | "./" | ".*" | "*.*" | "./*" | "?*" | "*?")
                    || pattern.chars().all(|c| matches!(c, '*' | '/'));
                if negated {
                    search.excepted |= !all;
                } else if !all {
                    search.narrowed = true;
                    search.name = Some(pattern);
                }
            }
            "-regex" | "-iregex" | "-lname" | "-ilname" | "-size" | "-mtime" | "-atime" | "-ctime" | "-mmin" | "-amin"
            | "-cmin" | "-used" | "-user" | "-group" | "-uid" | "-gid" | "-perm" | "-links" | "-inum" | "-fstype"
            | "-newer" | "-anewer" | "-cnewer" | "-samefile" | "-newermt" | "-newerat" | "-newerct" | "-context"
            | "-xtype" => {
                value();
                search.narrowed = true;
            }
            "-empty" | "-nouser" | "-nogroup" => search.narrowed = true,
            "-maxdepth" => search.depth_zero |= value().text == "0",
            "-mindepth" | "-type" | "-printf" | "-regextype" | "-files0-from" => drop(value()),
            "!" | "-not" => {
                negated = true;
                continue;
            }
            _ => {}
        }
        negated = false;
    }
    search
}

impl Walk<'_, '_> {
    pub fn find(&mut self, _spec: &'static Command, call: &Call<'_>, program: &Rc<str>) -> Outcome {
        let mut search = parse(call.arguments());
        if search.starts.is_empty() {
            search.starts.push(Field::known(".", call.span));
        }
        let mut found = Vec::new();
        let mut tags = TagSet::EMPTY;
        for start in &search.starts {
            let target = self.path_target_for(start, Kind::List);
            tags = tags.union(start.tags);
            // `find . ! -name '*.c'` spares what it names; of a home or a system too little would be left
            let near = ClassSet::of(Class::Workspace).with(Class::Temporary);
            let narrowed = search.narrowed || (search.excepted && target.classes.has_any(near));
            self.core.emit(Kind::List, target, self.state.ambient.with(tag::RECURSIVE), program, start.span);
            if narrowed {
                tags = tags.with(tag::GLOB);
            }
            found.push((found_by(&search, start, narrowed), narrowed));
        }
        for action in &search.actions {
            match action {
                Action::Delete(word) => {
                    for (field, narrowed) in &found {
                        self.delete_found(field, *narrowed, program, word.span);
                    }
                }
                Action::Write(field) => {
                    let data = Data::unknown(tags);
                    self.write_path(field, Kind::Write, &data, program, call.span);
                }
                Action::Run(argv) => found.iter().for_each(|(field, _)| self.run_found(argv, field, call)),
            }
        }
        let text: String = found.iter().map(|(f, _)| format!("{}\n", f.text)).collect();
        Outcome::prints(Data { text: Some(text), ..Data::unknown(tags) })
    }

    fn delete_found(&mut self, field: &Field, narrowed: bool, program: &Rc<str>, span: crate::text::Span) {
        let target = self.path_target_for(field, Kind::Delete);
        let mut tags = self.state.ambient.union(field.tags).union(self.path_tags(&target, field, Kind::Delete));
        if !narrowed {
            tags = tags.with(tag::RECURSIVE).with(tag::GLOB_ALL);
        }
        tags = tags.union(self.work_tags(&target, Kind::Delete)).minus(TagSet::of(tag::UNKNOWN_TARGET));
        self.core.emit(Kind::Delete, target, tags, program, span);
    }

    /// `-exec COMMAND {} ;`
    fn run_found(&mut self, argv: &[Field], field: &Field, call: &Call<'_>) {
        let words: Vec<Field> = argv
            .iter()
            .map(|word| {
                if word.text == "{}" {
                    Field { span: word.span, ..field.clone() }
                } else {
                    Field { text: word.text.replace("{}", &field.text), ..word.clone() }
                }
            })
            .collect();
        let stdin = Data::empty();
        let mut child = self.fork();
        child.call(&Call { argv: &words, stdin: &stdin, environment: &[], span: call.span });
        let written = child.state.written;
        self.state.written = written;
    }
}

/// A field that stands for what is found under one starting point.
fn found_by(search: &Search, start: &Field, narrowed: bool) -> Field {
    let base = start.text.trim_end_matches('/');
    let text = match &search.name {
        _ if search.depth_zero => start.text.clone(),
        Some(name) if name.contains('/') => name.replace('*', &HOLE.to_string()),
        Some(name) => format!("{base}/{HOLE}/{name}"),
        None if narrowed => format!("{base}/{HOLE}"),
        None => start.text.clone(),
    };
    let mut tags = start.tags;
    if narrowed {
        tags = tags.with(tag::GLOB);
    } else if !search.depth_zero {
        tags = tags.with(tag::GLOB_ALL);
    }
    Field { text, pattern: None, tags, span: start.span }
}
