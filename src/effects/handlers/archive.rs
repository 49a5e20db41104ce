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

impl Walk<'_, '_> {
    pub fn tar(&mut self, spec: &'static Command, call: &Call<'_>, program: &Rc<str>) -> Outcome {
        let parsed = parse(spec, call.arguments());
        let mode = mode_of(&parsed);
        self.transformed(call, program);
        let tags = self.state.ambient.union(parsed.tags);
        let saved = self.state.cwd.clone();
        let mut archive = None;
        for word in &parsed.meant {
            for role in word.roles {
                match role.is {
                    Is::Effect(Kind::Write) if archive.is_none() && !role.tags.is_empty() => {
                        archive = Some(word.field.clone())
                    }
                    Is::Chdir => self.state.cwd = self.resolved(&word.field),
                    Is::ShellText | Is::Code(_) => {
                        let text =
                            word.field.text.strip_prefix("exec=").unwrap_or(&word.field.text).to_owned();
                        let field = Field { text, ..word.field.clone() };
                        let mut child = self.fork();
                        child.opaque_or_text(&field, program);
                    }
                    Is::Effect(_)
                    | Is::Data
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
        let archive = archive.filter(|f| f.text != "-");
        let outcome = match mode {
            Mode::Create => self.tar_create(&parsed, archive.as_ref(), call, program, &saved),
            Mode::Extract => self.tar_extract(&parsed, archive.as_ref(), call, program, &saved),
            Mode::List => {
                if let Some(archive) = &archive {
                    self.state.cwd.clone_from(&saved);
                    self.read_path(archive, program, call.span);
                }
                Outcome::prints(Data::unknown(TagSet::EMPTY))
            }
        };
        let _ = tags;
        self.state.cwd = saved;
        outcome
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
                let field = Field { text: with.to_owned(), pattern: None, ..word.clone() };
                self.write_path(&field, Kind::Write, &Data::unknown(TagSet::EMPTY), program, call.span);
            }
        }
    }

    fn tar_create(
        &mut self,
        parsed: &Parsed,
        archive: Option<&Field>,
        call: &Call<'_>,
        program: &Rc<str>,
        cwd: &str,
    ) -> Outcome {
        let mut data = Data::unknown(TagSet::EMPTY);
        for member in &parsed.operands {
            let read = self.read_path(member, program, call.span);
            data.tags = data.tags.union(read.tags);
            if parsed.tags.has(tag::REMOVES_SOURCE) {
                let target = self.path_target_for(member, Kind::Delete);
                let own = self
                    .path_tags(&target, member, Kind::Delete)
                    .union(self.work_tags(&target, Kind::Delete));
                let tags = self.state.ambient.union(member.tags).union(own).with(tag::RECURSIVE);
                self.core.emit(Kind::Delete, target, tags, program, member.span);
            }
        }
        cwd.clone_into(&mut self.state.cwd);
        match archive {
            Some(archive) if archive.text.contains(':') && !archive.text.starts_with('/') => {
                let target = self.host_target(archive);
                let tags = self.state.ambient.union(data.tags);
                self.core.emit(Kind::Send, target, tags, program, call.span);
                Outcome::silent()
            }
            Some(archive) => {
                self.write_path(archive, Kind::Write, &data, program, call.span);
                Outcome::silent()
            }
            None => Outcome::prints(data),
        }
    }

    fn tar_extract(
        &mut self,
        parsed: &Parsed,
        archive: Option<&Field>,
        call: &Call<'_>,
        program: &Rc<str>,
        cwd: &str,
    ) -> Outcome {
        let folder = std::mem::replace(&mut self.state.cwd, cwd.to_owned());
        let data = match archive {
            Some(archive) => self.read_path(archive, program, call.span),
            None => call.stdin.clone(),
        };
        let data = Data { text: None, ..data };
        if parsed.has_switch(&["-O", "--to-stdout"]) {
            return Outcome::prints(data);
        }
        let field = Field::known(folder.clone(), call.span);
        let target = self.path_target_for(&field, Kind::Write);
        let mut tags = self.state.ambient.union(parsed.tags).union(data.tags);
        tags = tags.with(tag::RECURSIVE).minus(TagSet::of(tag::EXACT));
        // unpacking adds to the folder; it does not replace the folder itself
        self.core.emit(Kind::Create, target, tags, program, call.span);
        self.state.note_written(&folder, data, Reach::Tree);
        Outcome::silent()
    }
}
