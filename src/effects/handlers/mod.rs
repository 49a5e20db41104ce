//! Programs whose argument grammar the descriptions can't say.
//!
//! In: a call whose description names a handler. Out: `None` where the generic reading is right after all.
//! Never: does what a description could.

mod archive;
mod container;
mod fd;
mod find;
mod git;
pub mod mode;
mod remote;
mod signal;
mod socat;
mod xargs;

use std::rc::Rc;

use crate::canonical::value::Field;
use crate::effects::call::Call;
use crate::effects::fields::made;
use crate::effects::walk::{Outcome, Walk};
use crate::policy::tables::Command;

impl Walk<'_, '_> {
    /// Runs a description's handler.
    pub fn handled(&mut self, spec: &'static Command, call: &Call<'_>, program: &Rc<str>) -> Option<Outcome> {
        if crate::effects::shells::is_shell(program) {
            return Some(self.shell(call, program));
        }
        match spec.handler {
            "env" => self.split_string(spec, call, program),
            "find" => Some(self.find(call, program)),
            "fd" => self.fd(spec, call, program),
            "xargs" => Some(self.xargs(spec, call, program)),
            "daemon" => Some(self.daemon(spec, call, program)),
            "zargs" => Some(self.zargs(call)),
            "parallel" => Some(self.parallel(spec, call, program)),
            "ssh" => Some(self.ssh(spec, call, program)),
            "docker" => self.container(spec, call, program),
            "git" => Some(self.git(spec, call, program)),
            "socat" => Some(self.socat(spec, call, program)),
            "kill" => Some(self.kill(spec, call, program)),
            "tar" => Some(self.tar(spec, call, program)),
            "chmod" => Some(self.chmod(call, program)),
            "busybox" => self.busybox(call),
            "runuser" => self.runuser(call, program),
            "run-parts" => self.run_parts(spec, call),
            _ => None,
        }
    }

    /// `env -S TEXT WORDS`: the text is split into words in front of the others.
    fn split_string(
        &mut self,
        spec: &'static Command,
        call: &Call<'_>,
        program: &Rc<str>,
    ) -> Option<Outcome> {
        let parsed = crate::effects::arguments::parse(spec, call.arguments());
        // `env - …` is `env -i …`
        if let (Some(first), Some(at)) = (parsed.operands.first(), parsed.places.first())
            && first.text == "-"
        {
            let rest = call.argv.iter().enumerate().filter(|(index, _)| index != at);
            let argv: Vec<Field> = rest.map(|(_, field)| field.clone()).collect();
            return Some(self.described(spec, &Call { argv: &argv, ..*call }, program));
        }
        let is_text = |m: &&crate::effects::arguments::Meant| {
            m.roles.iter().any(|r| r.is == crate::policy::tables::Is::ShellText)
        };
        let text = parsed.meant.iter().find(is_text)?.field.clone();
        let rest = parsed.operands.iter().map(|f| crate::canonical::operation::quote(&f.text));
        let line = std::iter::once(text.text.clone()).chain(rest).collect::<Vec<_>>().join(" ");
        let mut child = self.fork();
        for (name, value) in call.environment {
            child.state.set(name, value.clone());
        }
        Some(child.opaque_or_text(&made(line, &text), program))
    }

    /// `runuser -u USER COMMAND`; without `-u` it is another su(1).
    fn runuser(&mut self, call: &Call<'_>, program: &Rc<str>) -> Option<Outcome> {
        let own = call.arguments().iter().take_while(|word| word.text != "--");
        let named = own
            .map(|word| word.text.as_str())
            .any(|word| word.starts_with("-u") || word.starts_with("--user"));
        let spec = self.core.policy.command("runuser-as").filter(|_| named)?;
        Some(self.described(spec, call, program))
    }

    /// `run-parts FOLDER`: what the text has put there is run.
    fn run_parts(&mut self, spec: &'static Command, call: &Call<'_>) -> Option<Outcome> {
        let parsed = crate::effects::arguments::parse(spec, call.arguments());
        let folder = parsed.operands.last().map(|field| self.resolved(field))?;
        let files = self.state.written.below(&folder);
        for path in files {
            let argv = [Field::known(path, call.span)];
            self.fork().call(&Call { argv: &argv, ..*call });
        }
        None
    }

    /// `busybox APPLET …`
    fn busybox(&mut self, call: &Call<'_>) -> Option<Outcome> {
        let rest = call.arguments();
        let head = rest.first().filter(|f| !f.text.starts_with('-'))?;
        let inner = Call { argv: rest, ..*call };
        if crate::effects::shells::is_shell(&head.text) || self.core.policy.command(&head.text).is_some() {
            return Some(self.call(&inner));
        }
        None
    }
}
