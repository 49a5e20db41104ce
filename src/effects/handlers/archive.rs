//! tar(1): what is read and written depends on the mode letter.
//!
//! In: the argument vector. Out: effects on archive, members and folder. Never: overlooks the options that
//! run commands (they are data in the description).

use std::rc::Rc;

use crate::act::{Kind, TagSet, tag};
use crate::canonical::state::Reach;
use crate::canonical::value::{Data, Field};
use crate::effects::arguments::{Parsed, parse};
use crate::effects::call::Call;
use crate::effects::core::By;
use crate::effects::fields::made;
use crate::effects::walk::{Outcome, Walk};
use crate::policy::tables::{Command, Is};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Create,
    Extract,
    List,
}

fn mode_of(parsed: &Parsed) -> Mode {
    let has = |names: &[&str]| parsed.has_switch(names);
    if has(&["-x", "--extract", "--get"]) {
        Mode::Extract
    } else if has(&["-c", "--create", "-r", "--append", "-u", "--update", "-A", "--catenate", "--delete"]) {
        Mode::Create
    } else {
        Mode::List
    }
}

fn is_transform(option: &str) -> bool {
    matches!(option, "--transform" | "--xform" | "-s")
}

/// A tar call.
struct Tape<'t> {
    parsed: &'t Parsed,
    /// The archive's file; standard input or output without one.
    archive: Option<&'t Field>,
    call: &'t Call<'t>,
    program: &'t Rc<str>,
    /// Where the archive's name counts from: `-C` moves the members only.
    cwd: &'t str,
}

impl Walk<'_, '_> {
    /// tar by its mode.
    pub fn tar(&mut self, spec: &'static Command, call: &Call<'_>, program: &Rc<str>) -> Outcome {
        let parsed = parse(spec, call.arguments());
        self.transformed(call, program);
        let saved = self.state.cwd.clone();
        let archive = self.tar_options(&parsed, program).filter(|f| f.text != "-");
        let tape = Tape { parsed: &parsed, archive: archive.as_ref(), call, program, cwd: &saved };
        let outcome = match mode_of(&parsed) {
            Mode::Create => self.tar_create(&tape),
            Mode::Extract => self.tar_extract(&tape),
            Mode::List => {
                if let Some(archive) = tape.archive {
                    self.state.cwd.clone_from(&saved);
                    self.read_path(archive, program, call.span);
                }
                Outcome::prints(Data::unknown(TagSet::EMPTY))
            }
        };
        self.state.cwd = saved;
        outcome
    }

    /// Options with values: changes the folder, judges commands; returns the archive.
    fn tar_options(&mut self, parsed: &Parsed, program: &Rc<str>) -> Option<Field> {
        let mut archive = None;
        for word in &parsed.meant {
            for role in word.roles {
                match role.is {
                    Is::Effect(Kind::Write) if archive.is_none() && !role.tags.is_empty() => {
                        archive = Some(word.field.clone());
                    }
                    Is::Chdir => self.state.cwd = self.resolved(&word.field),
                    Is::ShellText | Is::Code(_) => {
                        let text = word.field.text.strip_prefix("exec=").unwrap_or(&word.field.text);
                        self.fork().opaque_or_text(&made(text, &word.field), program);
                    }
                    Is::Data
                    | Is::Effect(_)
                    | Is::Tag
                    | Is::CodeFile(_)
                    | Is::Command
                    | Is::Assignment
                    | Is::User
                    | Is::SendData
                    | Is::SendFile
                    | Is::Peer => {}
                }
            }
        }
        archive
    }

    /// `--transform s@.*@/etc/x@`: members land where the replacement says.
    fn transformed(&mut self, call: &Call<'_>, program: &Rc<str>) {
        let mut next = false;
        for word in call.arguments() {
            let value = if next {
                Some(word.text.as_str())
            } else {
                word.text.split_once('=').filter(|(n, _)| is_transform(n)).map(|p| p.1)
            };
            next = is_transform(&word.text);
            let Some(body) = value.and_then(|v| v.strip_prefix('s')) else { continue };
            let Some(mark) = body.chars().next() else { continue };
            let with = body.split(mark).nth(2).unwrap_or("");
            if with.starts_with('/') {
                let field = made(with, word);
                self.write_path(
                    &field,
                    Kind::Write,
                    &Data::unknown(TagSet::EMPTY),
                    By::new(program, call.span),
                );
            }
        }
    }

    fn tar_create(&mut self, tape: &Tape<'_>) -> Outcome {
        let by = By::new(tape.program, tape.call.span);
        let mut data = Data::unknown(TagSet::EMPTY);
        for member in &tape.parsed.operands {
            let read = self.read_path(member, by.program, by.span);
            data.tags = data.tags.union(read.tags);
            if tape.parsed.tags.has(tag::REMOVES_SOURCE) {
                self.removed(member, self.state.ambient.with(tag::RECURSIVE), by.program);
            }
        }
        tape.cwd.clone_into(&mut self.state.cwd);
        match tape.archive {
            Some(archive) if archive.text.contains(':') && !archive.text.starts_with('/') => {
                let target = self.host_target(archive);
                self.core.emit(Kind::Send, target, self.state.ambient.union(data.tags), by);
                Outcome::silent()
            }
            Some(archive) => {
                self.write_path(archive, Kind::Write, &data, by);
                Outcome::silent()
            }
            None => Outcome::prints(data),
        }
    }

    fn tar_extract(&mut self, tape: &Tape<'_>) -> Outcome {
        let by = By::new(tape.program, tape.call.span);
        let folder = std::mem::replace(&mut self.state.cwd, tape.cwd.to_owned());
        let data = match tape.archive {
            Some(archive) => self.read_path(archive, by.program, by.span),
            None => tape.call.stdin.clone(),
        };
        let data = Data { text: None, ..data };
        if tape.parsed.has_switch(&["-O", "--to-stdout"]) {
            return Outcome::prints(data);
        }
        let target = self.path_target_for(&Field::known(folder.clone(), by.span), Kind::Write);
        let tags = self.state.ambient.union(tape.parsed.tags).union(data.tags);
        let tags = tags.with(tag::RECURSIVE).minus(TagSet::of(tag::EXACT));
        // unpacking adds to the folder; it does not replace the folder itself
        self.core.emit(Kind::Create, target, tags, by);
        self.state.note_written(&folder, data, Reach::Tree);
        Outcome::silent()
    }
}
