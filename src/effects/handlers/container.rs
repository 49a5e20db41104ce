//! docker(1), podman(1): what a container sees of this machine, and the command inside it.
//!
//! In: the argument vector. Out: effects of mounts and of the inner command, paths mapped back to the host.
//! Never: lets a mount of the host hide what the inner command does to it.

use std::rc::Rc;

use crate::act::tag;
use crate::canonical::value::Field;
use crate::effects::arguments::parse;
use crate::effects::call::Call;
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

impl Walk<'_, '_> {
    pub fn container(
        &mut self,
        spec: &'static Command,
        call: &Call<'_>,
        program: &Rc<str>,
    ) -> Option<Outcome> {
        let parsed = parse(spec, call.arguments());
        let runs = parsed.spec().is_some_and(|s| {
            s.operands
                .rest
                .iter()
                .chain(s.operands.first.iter().flat_map(|r| r.iter()))
                .any(|r| r.is == Is::Command)
        });
        if !runs {
            return None;
        }
        let mut mounts = Vec::new();
        for word in &parsed.meant {
            let mounted = word.roles.iter().any(|r| r.tags.has(tag::HOST_MOUNT));
            if !mounted {
                continue;
            }
            if let Some((host, inside)) = mount_of(&word.field.text) {
                let field = Field { text: host, pattern: None, ..word.field.clone() };
                mounts.push((inside, self.resolved(&field)));
            }
        }
        let saved = (self.state.mounts.clone(), self.state.cwd.clone(), self.state.ambient);
        self.state.mounts = Rc::new(mounts.clone());
        self.state.ambient = saved.2.with(tag::IN_CONTAINER);
        // the words of the container's own options are the host's paths
        let mut outer = parsed.clone();
        let inner = outer.meant.iter().position(|m| m.roles.iter().any(|r| r.is == Is::Command));
        let inner_words: Vec<Field> = match inner {
            Some(at) => {
                let first = outer.meant.get(at).map(|m| m.field.clone());
                let start = first.and_then(|f| parsed.operands.iter().rposition(|o| *o == f));
                parsed.operands.get(start.unwrap_or(usize::MAX)..).unwrap_or(&[]).to_vec()
            }
            None => Vec::new(),
        };
        outer.meant.retain(|m| !m.roles.iter().any(|r| r.is == Is::Command));
        let mut entry: Vec<Field> = Vec::new();
        for pair in call.arguments().windows(2) {
            if let [name, value] = pair
                && name.text == "--entrypoint"
            {
                entry.push(value.clone());
            } else if let [name, _] = pair
                && let Some(value) = name.text.strip_prefix("--entrypoint=")
            {
                entry.push(Field { text: value.to_owned(), ..name.clone() });
            }
        }
        let mut outcome = Outcome::silent();
        entry.extend(inner_words);
        if !entry.is_empty() {
            let mut child = self.fork();
            child.state.functions = Rc::default();
            child.state.aliases = Rc::default();
            child.state.cwd = "/container".to_owned();
            outcome =
                child.call(&Call { argv: &entry, stdin: call.stdin, environment: &[], span: call.span });
        }
        (self.state.mounts, self.state.cwd, self.state.ambient) = saved;
        let own = self.carry_out_mounts(spec, call, program, outer);
        outcome.data.append(&own.data);
        Some(outcome)
    }

    fn carry_out_mounts(
        &mut self,
        spec: &'static Command,
        call: &Call<'_>,
        program: &Rc<str>,
        mut parsed: crate::effects::arguments::Parsed,
    ) -> Outcome {
        for word in &mut parsed.meant {
            if word.roles.iter().any(|r| r.tags.has(tag::HOST_MOUNT))
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
