//! What nobody describes: programs, and files that they are given.
//!
//! In: the arguments of a program without description. Out: effects on secrets and accounts that they name, shells
//! that they would start. Never: takes the bare mention of a file of the workspace for a deed.

use std::rc::Rc;

use crate::act::{Class, ClassSet, Kind, TagSet, tag};
use crate::canonical::value::Field;
use crate::code::mention::shells_in;
use crate::effects::call::Call;
use crate::effects::core::By;
use crate::effects::fields::made;
use crate::effects::model::Target;
use crate::effects::shells::is_shell;
use crate::effects::walk::Walk;

/// Most libraries that are looked for in one text.
const MOST: usize = 4;
/// Longest argument that is looked at.
const LONG: usize = 4096;

/// Options whose value is written, by the names that most programs give them.
pub fn is_output(option: &str) -> bool {
    matches!(
        option.trim_start_matches('-'),
        "o" | "O"
            | "w"
            | "W"
            | "output"
            | "out"
            | "outfile"
            | "output-file"
            | "outfd"
            | "write"
            | "write-to"
            | "save"
            | "dest"
            | "log"
            | "logfile"
            | "log-file"
            | "report"
            | "dump"
    ) && option.starts_with('-')
}

/// A shared library by its file's name: `x.so`, `x.so.6`.
pub fn is_library(path: &str) -> bool {
    path.rsplit('/').next().unwrap_or(path).split('.').skip(1).any(|part| part == "so")
}

/// The path in an argument: `x=/path`, `@/path`, `file:///path`, `scheme:/path`, `-f/path`.
pub fn path_in(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(['@', '<', '>', '|', '!']);
    if text.starts_with(['/', '~', '.']) {
        return Some(text);
    }
    if let Some((_, path)) = text.split_once("file://") {
        return Some(path);
    }
    if text.contains("://") {
        return None;
    }
    let (_, value) = text.split_once(['=', ':'])?;
    let value = value.trim_start_matches('@');
    value.starts_with(['/', '~', '.']).then_some(value)
}

/// Words of a text that look like paths; brackets, quotes and operators part them.
fn paths_of(text: &str) -> impl Iterator<Item = &str> {
    crate::text::prefix(text, LONG)
        .split(|c: char| c.is_whitespace() || "\"'`<>|&;(){}=,:".contains(c))
        .filter(|w| w.len() > 2 && w.starts_with(['/', '~']))
        .take(16)
}

impl Walk<'_, '_> {
    /// A path in a text that nobody reads as commands, whose files decide who may log in or what runs.
    pub fn names_protected(&mut self, text: &str, span: crate::text::Span) -> Option<Target> {
        let kept = ClassSet::of(Class::Persistence)
            .with(Class::Account)
            .with(Class::Boot)
            .with(Class::OwnState)
            .with(Class::Secret);
        let mut targets = paths_of(text).map(|p| Field::known(p, span));
        targets.find_map(|field| {
            let target = self.path_target(&field);
            (target.classes.has_any(kept) && !target.classes.has(Class::Workspace)).then_some(target)
        })
    }

    /// Arguments of a program that isn't described: a secret among them may be read, a shell started.
    pub fn suspect_arguments(&mut self, call: &Call<'_>, program: &str) -> TagSet {
        let mut tags = TagSet::EMPTY;
        let program: Rc<str> = Rc::from(program);
        let mut option = "";
        for (i, field) in call.arguments().iter().enumerate() {
            tags = tags.union(field.tags);
            if field.text.len() > LONG {
                continue;
            }
            self.suspect_shell(i, field, call, &program);
            let own = field.text.split_once('=').map_or(option, |(name, _)| name);
            tags = tags.union(self.suspect_path(own, field, &program));
            if field.text.contains(' ') {
                for path in field.text.split([' ', '\t', '"', '\'']).filter(|p| p.starts_with('/')).take(8) {
                    let part = made(path, field);
                    tags = tags.union(self.suspect_path(own, &part, &program));
                }
            }
            option = field.text.as_str();
        }
        tags
    }

    /// Text that a program which nobody describes gets by a pipe: it may be one that runs it.
    pub fn suspect_input(&mut self, call: &Call<'_>, program: &Rc<str>) {
        let Some(text) = call.stdin.whole().filter(|t| t.contains(['>', ';', '|'])) else { return };
        let text = text.to_owned();
        if let Some(target) = self.names_protected(&text, call.span) {
            let tags = self.state.ambient.union(call.stdin.tags).with(tag::BY_UNKNOWN_PROGRAM);
            self.core.emit(Kind::Unknown, target, tags, By::new(program, call.span));
        }
    }

    fn suspect_shell(&mut self, i: usize, field: &Field, call: &Call<'_>, program: &Rc<str>) {
        // `$ file /bin/bash`: a prompt that was typed along
        if !program.contains(char::is_alphanumeric) {
            return;
        }
        if is_shell(field.text.rsplit('/').next().unwrap_or("")) && field.text.starts_with('/') {
            let Some(argv) = call.argv.get(i + 1..) else { return };
            // `-l /bin/sh -o`: an option's value, what follows is the program's own
            let is_value = i > 0 && call.argv.get(i).is_some_and(|f| f.text.starts_with('-'));
            let own = argv.get(1).is_some_and(|f| f.text.starts_with('-') && !f.text.ends_with('c'));
            let argv = if is_value && own { argv.get(..1).unwrap_or(argv) } else { argv };
            let mut child = self.fork();
            child.state.ambient = child.state.ambient.with(tag::BY_UNKNOWN_PROGRAM);
            child.call(&Call { argv, ..*call });
            return;
        }
        self.shells_of(&field.text, field, program);
    }

    /// Judges the command lines with shells that stand in a text.
    pub fn shells_of(&mut self, text: &str, like: &Field, program: &Rc<str>) {
        let names = text.split_whitespace().map(|w| w.trim_matches([';', '"', '\'']));
        for name in names.filter(|w| is_library(w) && w.starts_with(['/', '~', '.'])).take(MOST) {
            let part = made(name, like);
            let target = self.path_target(&part);
            if !target.classes.has(Class::System) && !target.classes.has(Class::Workspace) {
                let tags = self.state.ambient.with(tag::LIBRARY);
                self.core.emit(Kind::Inject, target, tags, By::new(program, like.span));
            }
        }
        for line in shells_in(text) {
            let mut child = self.fork();
            child.state.ambient = child.state.ambient.with(tag::BY_UNKNOWN_PROGRAM);
            child.text(&line, like.span);
        }
    }

    fn suspect_path(&mut self, option: &str, field: &Field, program: &Rc<str>) -> TagSet {
        let Some(path) = path_in(&field.text).filter(|p| p.len() < 512) else { return TagSet::EMPTY };
        let part = made(path, field);
        let target = self.path_target(&part);
        if let Some(text) =
            self.state.written_at(&target.resolved).and_then(|w| w.data.whole().map(str::to_owned))
        {
            self.shells_of(&text, field, program);
        }
        let tags = self.state.ambient.union(field.tags).with(tag::BY_UNKNOWN_PROGRAM);
        if is_output(option) {
            let own = self.path_tags(&target, &part, Kind::Write);
            self.core.emit(Kind::Write, target, tags.union(own), By::new(program, field.span));
            return TagSet::EMPTY;
        }
        let plain = field.text.starts_with(path) || field.text.contains('=');
        let mut read = ClassSet::of(Class::Secret).with(Class::Account);
        if plain {
            read = read.with(Class::Device);
        }
        if target.classes.has_any(read) {
            self.core.emit(Kind::Read, target, tags, By::new(program, field.span));
            return TagSet::of(tag::FROM_SECRET);
        }
        let library =
            is_library(path) && !target.classes.has(Class::System) && !target.classes.has(Class::Workspace);
        if library {
            self.core.emit(
                Kind::Inject,
                target.clone(),
                tags.with(tag::LIBRARY),
                By::new(program, field.span),
            );
        }
        let kept = target.classes.has(Class::Config) || target.classes.has(Class::System);
        if target.classes.has(Class::Persistence) && kept {
            let resolved = Rc::clone(&target.resolved);
            self.core.emit(
                Kind::Unknown,
                Target { written: resolved, ..target },
                tags,
                By::new(program, field.span),
            );
        }
        TagSet::EMPTY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_in_arguments() {
        assert_eq!(path_in("--in=/etc/x"), Some("/etc/x"));
        assert_eq!(path_in("man:/etc/x"), Some("/etc/x"));
        assert_eq!(path_in("https://h/etc/x"), None);
        assert_eq!(path_in("file:///etc/x"), Some("/etc/x"));
        assert_eq!(path_in("a/b"), None);
    }
}
