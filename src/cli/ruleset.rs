//! The part of `agent-shctl explain` that says what the kernel would hold.
//!
//! In: a decision and its context. Out: lines for people, or JSON. Never: restricts anything.

use std::io::Write;

use crate::confine::outline::{Outline, draw};
use crate::confine::{Network, Scene, Signals};
use crate::decision::Decision;
use crate::invocation::context::Context;
use crate::invocation::process::Lineage;
use crate::invocation::{callers, startup};
use crate::pipeline::{needs, terms};
use crate::place::lookup::Lookups;
use crate::place::workspace;
use crate::policy::Policy;
use crate::resolution::Course;
use crate::text::{escape, judged};
use crate::world::{Machine, World as _};

/// On whose behalf a command is explained.
#[derive(Clone, Debug)]
pub enum Agent {
    /// of whoever runs agent-shctl
    Caller,
    /// of a client that calls itself so
    Named(String),
    /// of a program, by its absolute path
    Program(String),
}

impl Agent {
    /// What `--agent` says.
    pub fn of(option: Option<String>) -> Self {
        match option {
            None => Self::Caller,
            Some(path) if path.starts_with('/') => Self::Program(path),
            Some(name) => Self::Named(name),
        }
    }

    /// The programs above agent-sh, as far as they are known.
    pub fn programs(&self) -> Vec<String> {
        match self {
            Self::Caller => callers::programs(&Lineage::default()),
            Self::Named(_) => Vec::new(),
            Self::Program(path) => vec![path.clone()],
        }
    }

    fn name(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            Self::Caller | Self::Program(_) => None,
        }
    }
}

/// The ruleset under which bash would run the command here for an agent, if it were allowed.
pub fn ruleset(decision: &Decision, context: &Context, policy: &Policy, agent: &Agent) -> Outline {
    let world = Machine;
    let (_, home) = startup::user(world.uid());
    let workspace =
        workspace::find(context.workspace.as_deref(), &context.cwd, &home, &Lookups::new(&world, LOOKUPS));
    let scene = Scene {
        workspace: workspace.as_deref(),
        homes: vec![&context.home, &home],
        temporary: context.environment.get("TMPDIR").map(String::as_str),
    };
    let need = needs::need((decision, Course::Approved), needs::Shell::Plain, &context.environment);
    let programs = || agent.programs();
    draw(&terms::confine(policy.temper(), agent.name(), &programs, decision.class), &scene, &need)
}

/// Questions about the file system that finding the workspace may cost.
const LOOKUPS: u32 = 256;

pub fn object(outline: &Outline) -> serde_json::Value {
    let ports = match &outline.network {
        Network::None => serde_json::json!([]),
        Network::Ports(ports) => serde_json::json!(ports),
        Network::Any => serde_json::json!("any"),
    };
    let name = |path: &std::path::Path| escape(&judged(path.as_os_str().as_encoded_bytes()));
    serde_json::json!({
        "level": outline.level,
        "abi": outline.abi,
        "hidden": outline.hidden.iter().map(|path| name(path)).collect::<Vec<_>>(),
        "write": outline.write.iter().map(|(path, how)| serde_json::json!([how, name(path)])).collect::<Vec<_>>(),
        "tcp": ports,
        "signals": signals(outline.signals),
        "notes": outline.notes,
        "elevation": outline.held,
    })
}

fn signals(signals: Signals) -> &'static str {
    match signals {
        Signals::Own => "own",
        Signals::Any => "any",
    }
}

pub fn people(outline: &Outline, out: &mut dyn Write) -> anyhow::Result<()> {
    let abi = match (outline.abi, outline.level.as_str()) {
        (_, "off") => String::new(),
        (Some(abi), _) => format!("  landlock abi {abi}{}", lacks(abi)),
        (None, _) => "  not to be had here: this kernel has no Landlock".to_owned(),
    };
    writeln!(out, "\nconfinement {}{abi}", outline.level)?;
    if let Some(held) = outline.held {
        writeln!(out, "  note: {held}")?;
    }
    if outline.level == "off" {
        return Ok(());
    }
    let name = |path: &std::path::Path| escape(&judged(path.as_os_str().as_encoded_bytes()));
    writeln!(out, "  read       all{}", if outline.hidden.is_empty() { "" } else { " but" })?;
    for path in &outline.hidden {
        writeln!(out, "    hidden   {}", name(path))?;
    }
    for (path, how) in &outline.write {
        writeln!(out, "  {how:<10} {}", name(path))?;
    }
    writeln!(out, "  write      the standard streams")?;
    let tcp = match &outline.network {
        Network::None => "none".to_owned(),
        Network::Ports(ports) => {
            format!("to port {}", ports.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        }
        Network::Any => "any".to_owned(),
    };
    writeln!(out, "  tcp        {tcp}")?;
    let signals = match outline.signals {
        Signals::Own => "to its own processes",
        Signals::Any => "any",
    };
    writeln!(out, "  signals    {signals}")?;
    if !outline.notes.is_empty() {
        writeln!(out, "  notes      {}", outline.notes.join(" "))?;
    }
    Ok(())
}

/// What an old kernel can't hold of it.
fn lacks(abi: u8) -> &'static str {
    match abi {
        0..=2 => ", which holds neither truncation, tcp nor signals",
        3 => ", which holds neither tcp nor signals",
        4 | 5 => ", which does not hold signals",
        6.. => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::day::Day;
    use crate::policy::layers::Merger;
    use crate::policy::merged::LayerKind;

    #[test]
    fn an_agent_s_level_is_that_of_its_name_or_program() {
        let mut merger = Merger::new(Day(2026, 6, 15));
        merger.add(LayerKind::Root, "/p", "schema = 1\nconfine.agents = [\"codex=strict\"]\n").unwrap();
        let policy = merger.finish();
        let context = Context { cwd: "/".to_owned(), ..Context::default() };
        for (agent, level) in [
            (Some("codex"), "strict derived"),
            (Some("/opt/tools/codex"), "strict derived"),
            (Some("claude-code"), "derived"),
            (Some("/opt/codex/node"), "derived"),
            (None, "derived"),
        ] {
            let agent = Agent::of(agent.map(str::to_owned));
            let decision = Decision {
                calls: crate::effects::model::Calls::NONE,
                coverage: crate::decision::Coverage::Full,
                ..Decision::default()
            };
            let held = ruleset(&decision, &context, &policy, &agent);
            assert_eq!(held.level, level, "{agent:?}");
        }
    }
}
