//! docker(1), podman(1): what a container sees of this machine, and the command inside it.
//!
//! In: the argument vector. Out: effects of mounts and of the inner command, paths mapped back to the host.
//! Never: lets a mount of the host hide what the inner command does to it.

use std::rc::Rc;

use crate::act::tag;
use crate::canonical::value::Field;
use crate::effects::arguments::{Meant, Parsed, parse};
use crate::effects::call::Call;
use crate::effects::fields::made;
use crate::effects::walk::{Outcome, Walk};
use crate::policy::tables::{Command, Is};

/// `host:inside[:options]` and `type=bind,source=…,target=…`.
fn mount_of(text: &str) -> Option<(String, String)> {
    if text.contains("source=") || text.contains("src=") {
        let value = |names: &[&str]| {
            text.split(',').find_map(|part| {
                let (key, value) = part.split_once('=')?;
                names.contains(&key).then(|| value.to_owned())
            })
        };
        return Some((value(&["source", "src"])?, value(&["target", "dst", "destination"])?));
    }
    let mut parts = text.split(':');
    let (host, inside) = (parts.next()?, parts.next()?);
    (host.starts_with(['/', '.', '~', '$']) || host.contains('/'))
        .then(|| (host.to_owned(), inside.to_owned()))
}

/// Whether a description's operands are a command.
fn runs_command(spec: &Command) -> bool {
    let operands = &spec.operands;
    let mut roles = operands.rest.iter().chain(operands.first.iter().flat_map(|r| r.iter()));
    roles.any(|r| r.is == Is::Command)
}

fn is_command(word: &Meant) -> bool {
    word.roles.iter().any(|r| r.is == Is::Command)
}

fn is_mount(word: &Meant) -> bool {
    word.roles.iter().any(|r| r.tags.has(tag::HOST_MOUNT))
}

/// The command that runs inside: the entry point that options name, then the words after the image.
fn inner_words(parsed: &Parsed, words: &[Field]) -> Vec<Field> {
    let mut argv: Vec<Field> = Vec::new();
    for pair in words.windows(2) {
        let [name, value] = pair else { continue };
        if name.text == "--entrypoint" {
            argv.push(value.clone());
        } else if let Some(value) = name.text.strip_prefix("--entrypoint=") {
            argv.push(Field { text: value.to_owned(), ..name.clone() });
        }
    }
    let first = parsed.meant.iter().find(|m| is_command(m)).map(|m| &m.field);
    let start = first.and_then(|f| parsed.operands.iter().rposition(|o| o == f));
    argv.extend_from_slice(parsed.operands.get(start.unwrap_or(usize::MAX)..).unwrap_or(&[]));
    argv
}

impl Walk<'_, '_> {
    /// A container that runs a command; `None` for the other subcommands.
    pub fn container(
        &mut self,
        spec: &'static Command,
        call: &Call<'_>,
        program: &Rc<str>,
    ) -> Option<Outcome> {
        let mut parsed = parse(spec, call.arguments());
        if !parsed.spec().is_some_and(runs_command) {
            return None;
        }
        let argv = inner_words(&parsed, call.arguments());
        let mut outcome =
            if argv.is_empty() { Outcome::silent() } else { self.contained(&argv, &parsed, call) };
        // the words of the container's own options are the host's paths
        parsed.meant.retain(|m| !is_command(m));
        let own = self.carry_out_mounts(spec, call, program, parsed);
        outcome.data.append(&own.data);
        Some(outcome)
    }

    /// The inner command: it sees the mounted folders of this machine and nothing else of it.
    fn contained(&mut self, argv: &[Field], parsed: &Parsed, call: &Call<'_>) -> Outcome {
        let mut mounts = Vec::new();
        for word in parsed.meant.iter().filter(|m| is_mount(m)) {
            if let Some((host, inside)) = mount_of(&word.field.text) {
                mounts.push((inside, self.resolved(&made(host, &word.field))));
            }
        }
        let mut child = self.fork();
        child.state.mounts = Rc::new(mounts);
        child.state.ambient = child.state.ambient.with(tag::IN_CONTAINER);
        child.forget_names();
        "/container".clone_into(&mut child.state.cwd);
        child.call(&Call { argv, stdin: call.stdin, environment: &[], span: call.span })
    }

    fn carry_out_mounts(
        &mut self,
        spec: &'static Command,
        call: &Call<'_>,
        program: &Rc<str>,
        mut parsed: Parsed,
    ) -> Outcome {
        for word in &mut parsed.meant {
            if is_mount(word)
                && let Some((host, _)) = mount_of(&word.field.text)
            {
                word.field.text = host;
            }
        }
        self.carry_out(spec, call, program, parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read_in_both_forms() {
        assert_eq!(mount_of("/:/host:ro"), Some(("/".into(), "/host".into())));
        assert_eq!(mount_of("type=bind,src=/etc,target=/e"), Some(("/etc".into(), "/e".into())));
        assert_eq!(mount_of("volume:/data"), None);
    }
}
