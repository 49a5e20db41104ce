//! What tests of the judge share: a judge with the binary's policy, and an ordinary user in a project.
//!
//! In: nothing. Out: judge and context. Never: reads the caller's environment.

#![allow(dead_code)] // each test uses its part

use std::collections::HashMap;

use agent_sh::decision::Decision;
use agent_sh::invocation::context::Context;
use agent_sh::policy::Policy;
use agent_sh::verify::Judge;
use agent_sh::world::Machine;

pub(crate) fn judge() -> Judge {
    Judge::new(Policy::embedded())
}

/// An ordinary user in a project that isn't there.
pub(crate) fn context() -> Context {
    within(&[
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("HOME", "/home/dev"),
        ("USER", "dev"),
        ("LANG", "C.UTF-8"),
        ("PWD", "/home/dev/proj"),
    ])
}

/// The same user with another environment.
pub(crate) fn within(environment: &[(&str, &str)]) -> Context {
    Context {
        cwd: "/home/dev/proj".to_owned(),
        home: "/home/dev".to_owned(),
        user: "dev".to_owned(),
        uid: 1000,
        workspace: Some("/home/dev/proj".to_owned()),
        environment: environment
            .iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
            .collect::<HashMap<_, _>>()
            .into(),
        arguments: vec!["bash".to_owned()],
        options: "hBc".to_owned(),
        ..Context::default()
    }
}

/// Judges one text with the binary's policy.
pub(crate) fn verify(text: &str) -> Decision {
    judge().verify(text, &context(), &Machine)
}

/// A number from the environment, which makes a test longer.
pub(crate) fn number(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(otherwise)
}
