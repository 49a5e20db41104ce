//! kill(1): which processes a number or name means.
//!
//! In: the argument vector. Out: signal effects with the class of process. Never: takes the caller's own
//! child for a stranger's process.

use std::rc::Rc;

use crate::act::{Class, ClassSet, Kind, tag};
use crate::canonical::value::Field;
use crate::effects::call::Call;
use crate::effects::core::By;
use crate::effects::model::Target;
use crate::effects::walk::{Outcome, Walk};
use crate::policy::tables::Command;

fn class_of(field: &Field) -> Class {
    let text = field.text.as_str();
    if field.tags.has(tag::OWN) || text.starts_with('%') {
        return Class::OwnProcess;
    }
    if matches!(text, "1" | "-1" | "0" | "$$") {
        return Class::CoreProcess;
    }
    Class::OtherProcess
}

impl Walk<'_, '_> {
    /// kill: one signal effect for each process that is named.
    pub fn kill(&mut self, spec: &'static Command, call: &Call<'_>, program: &Rc<str>) -> Outcome {
        let mut rest = call.arguments().iter();
        let mut targets: Vec<&Field> = Vec::new();
        let mut ended = false;
        let mut signalled = false;
        while let Some(word) = rest.next() {
            let text = word.text.as_str();
            if spec.inert.contains(&text) {
                return Outcome::silent();
            }
            match text {
                "--" => ended = true,
                "-s" | "-n" | "--signal" | "-q" | "--queue" | "--timeout" if !ended => {
                    rest.next();
                    signalled = true;
                }
                "-0" if !ended => return Outcome::silent(),
                // the first `-…` is the signal, a second one a process group
                _ if text.starts_with('-') && text.len() > 1 && !ended && !signalled => signalled = true,
                _ => targets.push(word),
            }
        }
        for field in targets {
            let name: Rc<str> = field.text.replace(crate::canonical::value::HOLE, "…").into();
            let classes = ClassSet::of(class_of(field));
            let mut tags = self.state.ambient.union(field.tags);
            if field.text == "-1" {
                tags = tags.with(tag::ALL);
            }
            let target = Target { written: Rc::clone(&name), resolved: name, classes };
            self.core.emit(Kind::Signal, target, tags, By::new(program, field.span));
        }
        Outcome::silent()
    }
}
