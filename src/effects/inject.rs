//! Variables that make programs load or run code: `LD_PRELOAD`, `BASH_ENV`, `PROMPT_COMMAND`, `PATH`, `PAGER` …
//!
//! In: names and values. Out: effects. Which names matter, and how, is data: the pseudo-command
//! `environment` of the policy. Never: takes a value that is code for a mere text.

use std::rc::Rc;

use crate::act::{Class, Kind, tag};
use crate::canonical::value::{Field, Value};
use crate::effects::core::By;
use crate::effects::files::Interpreter;
use crate::effects::model::Target;
use crate::effects::walk::Walk;
use crate::place::classify::Follow;
use crate::place::resolve::Through;
use crate::policy::tables::Is;
use crate::text::Span;
use crate::world::FileKind;

/// Where a variable is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// `NAME=value` as a command of its own, or `export`
    Shell,
    /// in front of a command, or by `env`
    Command,
}

impl Walk<'_, '_> {
    /// Looks at one variable that is set.
    pub fn injected(&mut self, name: &str, value: &Value, span: Span, setting: Setting) {
        if hides_history(name, &value.text) {
            self.history_off(name, span);
        }
        // the null device holds nothing that could run: what every configure script of autoconf sets
        if matches!(&*value.text, "" | "/dev/null") {
            return;
        }
        if matches!(name, "PS0" | "PS1" | "PS2" | "PS4") && value.text.contains(['$', '`']) {
            // expanded when it is shown; PS4 at every command under `set -x`
            crate::canonical::host::Host::hidden(self.core, &mut self.state, &value.text, span);
        }
        if name == "PATH" {
            return self.path_variable(value, span);
        }
        let Some(spec) = self.core.policy.command("environment") else { return };
        let Some((_, roles)) = spec.environment.iter().find(|(n, _)| *n == name) else { return };
        let program: Rc<str> = Rc::from(name);
        let field = Field { span, ..Field::from(value.clone()) };
        let place = if self.state.written.is_empty() { String::new() } else { self.resolved(&field) };
        // a start-up file that this very script has written is judged like any other code of it
        let judged = matches!(name, "BASH_ENV" | "ENV")
            && self.state.written_at(&place).is_some_and(|w| w.data.whole().is_some());
        for role in *roles {
            let tags = self.state.ambient.union(role.tags).union(value.tags);
            match role.is {
                Is::ShellText | Is::Code(crate::policy::tables::Lang::Shell) => {
                    let mut child = self.fork();
                    child.text(&value.text, span);
                }
                Is::Code(lang) => drop(self.foreign(lang, &value.text, &field)),
                Is::CodeFile(lang) => drop(self.run_code_file(Interpreter::new(lang, &[], &program), &field)),
                Is::Effect(kind) => {
                    let text: Rc<str> = value.text.as_str().into();
                    let mut target =
                        Target { written: Rc::clone(&text), resolved: text, ..Target::default() };
                    if value.text.contains('/') {
                        target = self.path_target(&field);
                    }
                    let tags = if setting == Setting::Shell { tags.with(tag::ALL) } else { tags };
                    let tags = if judged { tags.with(tag::JUDGED) } else { tags };
                    self.core.emit(kind, target, tags, By::new(&program, span));
                }
                Is::Data
                | Is::Tag
                | Is::Command
                | Is::Chdir
                | Is::Assignment
                | Is::User
                | Is::SendData
                | Is::SendFile
                | Is::Peer => {}
            }
        }
    }

    /// Commands are no longer recorded.
    pub fn history_off(&mut self, name: &str, span: Span) {
        let name: Rc<str> = Rc::from(name);
        let target = Target { written: Rc::clone(&name), resolved: Rc::clone(&name), ..Target::default() };
        self.core.emit(Kind::Evade, target, self.state.ambient, By::new(&name, span));
    }

    /// A new PATH: folders in front of the system's that others can write, or that are relative. Those that `mktemp -d`
    /// makes are the caller's alone.
    fn path_variable(&mut self, value: &Value, span: Span) {
        let program: Rc<str> = Rc::from("PATH");
        let old = self.state.scalar("PATH").map(|v| v.text).unwrap_or_default();
        for folder in value.text.split(':').take(64) {
            if old.split(':').any(|f| f == folder) {
                // what follows was there before
                break;
            }
            let field = Field { text: folder.to_owned(), span, ..Field::default() };
            let relative = folder.is_empty() || folder == "." || !folder.starts_with('/');
            let mut target = self.path_target(&field);
            let made = value.tags.has(tag::IN_SUBSTITUTION) && folder.ends_with("XXX");
            if target.classes.has(Class::Temporary) && (made || self.is_private(&target.resolved)) {
                target.classes = target.classes.without(Class::Temporary);
            }
            if relative || target.classes.has(Class::Temporary) {
                let tags = self.state.ambient.with(tag::PROGRAM_IN_TEMPORARY);
                self.core.emit(Kind::Inject, target, tags, By::new(&program, span));
            }
        }
    }
}

impl Walk<'_, '_> {
    /// Whether nobody but the caller can put files there: a folder of the caller's that others may not write, or one
    /// that would have to be made in such a folder.
    fn is_private(&self, folder: &str) -> bool {
        let above = std::iter::successors(Some(folder), |path| path.rsplit_once('/').map(|(above, _)| above));
        let mut there = above.take(PATH_DEPTH).filter_map(|path| Some((path, self.core.world.meta(path)?)));
        there.next().is_some_and(|(path, meta)| {
            let (found, classes) = self.core.place(path, "/", Follow::Goal);
            let straight = found.is_some_and(|found| found.through == Through::Nothing);
            let own = meta.owner == self.core.world.uid() && meta.mode & 0o022 == 0;
            straight && own && meta.kind == FileKind::Folder && classes.has(Class::Temporary)
        })
    }
}

/// Components of a path above which nobody looks.
const PATH_DEPTH: usize = 64;

/// Settings with which a shell keeps no history (bash manual, 9.1).
fn hides_history(name: &str, value: &str) -> bool {
    match name {
        "HISTFILE" => matches!(value, "" | "/dev/null"),
        "HISTSIZE" | "HISTFILESIZE" | "SAVEHIST" => value == "0",
        "HISTIGNORE" => value == "*",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use crate::act::Kind;
    use crate::invocation::context::Context;
    use crate::place::index::Index;
    use crate::policy::Policy;
    use crate::world::Machine;

    fn injects(text: &str) -> bool {
        let policy = Policy::embedded();
        let index = Index::new(policy.place_layers());
        let context = Context {
            cwd: "/home/dev/proj".to_owned(),
            environment: [("PATH".to_owned(), "/usr/bin".to_owned())]
                .into_iter()
                .collect::<std::collections::HashMap<_, _>>()
                .into(),
            ..Context::default()
        };
        let found = crate::effects::of(text, &context, (&policy, &index), &Machine);
        found.list.iter().any(|effect| effect.kind == Kind::Inject)
    }

    #[test]
    fn a_search_path_in_a_temporary_folder_is_dangerous_where_others_can_write() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        let text = format!("PATH={path}/bin:$PATH git status");
        let mode = |mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        mode(0o700);
        assert!(!injects(&text));
        std::os::unix::fs::symlink(path, folder.path().join("link")).unwrap();
        assert!(injects(&format!("PATH={path}/link/bin:$PATH git status")));
        mode(0o777);
        assert!(injects(&text));
        assert!(injects("PATH=/tmp/agent-sh-no-such-folder:$PATH git status"));
        assert!(injects("PATH=bin:$PATH git status"));
        assert!(!injects("d=$(mktemp -d); PATH=$d:$PATH git status"));
        assert!(injects("PATH=/tmp/tmp.XXXXXXXXXX:$PATH git status"));
    }
}
