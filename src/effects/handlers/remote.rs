//! ssh(1) and its kin: the words after the host are shell text on another machine.
//!
//! In: the argument vector. Out: a connection, the remote text's effects, options that run code here.
//! Never: takes another machine's files for this one's.

use std::rc::Rc;

use crate::act::{Kind, TagSet, tag};
use crate::canonical::value::{Data, Field, Origin};
use crate::effects::arguments::parse;
use crate::effects::call::Call;
use crate::effects::core::By;
use crate::effects::fields::{Borders, joined, made};
use crate::effects::files::Interpreter;
use crate::effects::model::Target;
use crate::effects::walk::{Outcome, Walk};
use crate::policy::tables::{Command, Is};

/// ssh options whose value is a command here.
const LOCAL_COMMANDS: &[&str] = &["proxycommand", "localcommand", "knownhostscommand", "proxyusefdpass"];

impl Walk<'_, '_> {
    /// ssh: the connection, then the remote text.
    pub fn ssh(&mut self, spec: &'static Command, call: &Call<'_>, program: &Rc<str>) -> Outcome {
        let mut parsed = parse(spec, call.arguments());
        for word in &parsed.meant {
            let Some((key, value)) = word.field.text.split_once(['=', ' ']) else { continue };
            if LOCAL_COMMANDS.contains(&key.trim().to_ascii_lowercase().as_str()) && value != "none" {
                let field = made(value, &word.field);
                let mut child = self.fork();
                child.opaque_or_text(&field, program);
            }
        }
        let remote: Vec<Field> = parsed.operands.get(1..).unwrap_or(&[]).to_vec();
        parsed.operands.truncate(1);
        parsed.meant.retain(|m| !m.roles.iter().any(|r| r.is == Is::ShellText) || !remote.contains(&m.field));
        let silent = parsed.has_switch(&["-N", "-G", "-V", "-Q"]);
        let host = parsed.operands.first().cloned();
        // the connection and the options' own effects
        for word in parsed.meant.clone() {
            for role in word.roles {
                if let Is::Effect(kind) = role.is {
                    let target = self.named_target(kind, &word.field);
                    let tags = self.state.ambient.union(parsed.tags).union(role.tags).union(word.field.tags);
                    self.core.emit(kind, target, tags, By::new(program, call.span));
                }
            }
        }
        let mut child = self.fork();
        child.state.ambient = child.state.ambient.with(tag::ON_REMOTE_HOST);
        "/home/remote/work".clone_into(&mut child.state.cwd);
        child.stdin = call.stdin.clone();
        if remote.is_empty() {
            if call.stdin.origin == Origin::Inside && !silent {
                let field = host.unwrap_or_default();
                return child.code_data(
                    Interpreter::new(crate::policy::tables::Lang::Shell, &[], program),
                    call.stdin,
                    &field,
                );
            }
            if !silent && host.is_some() {
                let tags = child.state.ambient.with(tag::INTERACTIVE);
                self.core.emit(
                    Kind::Shell,
                    Target { written: Rc::clone(program), ..Target::default() },
                    tags,
                    By::new(program, call.span),
                );
            }
            return Outcome::prints(Data::unknown(TagSet::of(tag::FROM_UNKNOWN)));
        }
        let outcome = child.opaque_or_text(&joined(&remote, Borders::Lost), program);
        Outcome::prints(Data { text: None, tags: outcome.data.tags, origin: Origin::Inside })
    }
}
