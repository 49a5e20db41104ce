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
use crate::policy::tables::Is;
use crate::text::Span;

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

    /// A new PATH: folders in front of the system's that others can write, or that are relative.
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
            let target = self.path_target(&field);
            if relative || target.classes.has(Class::Temporary) {
                let tags = self.state.ambient.with(tag::PROGRAM_IN_TEMPORARY);
                self.core.emit(Kind::Inject, target, tags, By::new(&program, span));
            }
        }
    }
}

/// Settings with which a shell keeps no history (bash manual, 9.1).
fn hides_history(name: &str, value: &str) -> bool {
    match name {
        "HISTFILE" => matches!(value, "" | "/dev/null"),
        "HISTSIZE" | "HISTFILESIZE" | "SAVEHIST" => value == "0",
        "HISTIGNORE" => value == "*",
        _ => false,
    }
}
