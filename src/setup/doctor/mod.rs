//! Is agent-sh really in an agent's path? Looks, tries it out, and says what to do about each thing that is wrong.
//!
//! In: agents, the machine. Out: [`Line`]s. Never: changes anything; runs a command that would do harm if it ran.

mod canary;
mod machine;
mod processes;
mod settings;

use super::agents::{self, Agent};
use super::ledger::Ledger;
use super::plan::{Places, Scope};
use crate::policy::Policy;

/// How a thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    Good,
    /// worth knowing; nothing is broken
    Note,
    /// agent-sh is not, or not surely, in the path
    Bad,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Note => "note",
            Self::Bad => "FAIL",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The agent's name, or `machine`.
    pub about: &'static str,
    pub what: &'static str,
    pub state: State,
    pub found: String,
    /// What to do; empty where nothing is to be done.
    pub advice: String,
}

/// Collects lines about one subject.
#[derive(Debug)]
struct Chart {
    about: &'static str,
    lines: Vec<Line>,
}

impl Chart {
    fn good(&mut self, what: &'static str, found: impl Into<String>) {
        self.add(what, State::Good, found.into(), String::new());
    }

    fn note(&mut self, what: &'static str, found: impl Into<String>, advice: impl Into<String>) {
        self.add(what, State::Note, found.into(), advice.into());
    }

    fn bad(&mut self, what: &'static str, found: impl Into<String>, advice: impl Into<String>) {
        self.add(what, State::Bad, found.into(), advice.into());
    }

    fn add(&mut self, what: &'static str, state: State, found: String, advice: String) {
        self.lines.push(Line { about: self.about, what, state, found, advice });
    }
}

/// Examines the machine, and one agent or every one that is installed here.
///
/// # Errors
/// There is no home or no agent-sh, or a ledger can't be read.
pub fn examine(agent: Option<&'static Agent>, policy: &Result<Policy, String>) -> anyhow::Result<Vec<Line>> {
    let places = Places::of(Scope::User).map_err(anyhow::Error::msg)?;
    let ledgers = [
        Ledger::open(&places.state())?,
        Ledger::open(&Places { scope: Scope::System, ..places.clone() }.state())?,
    ];
    let mut chart = Chart { about: "machine", lines: Vec::new() };
    machine::look(&places, policy, &mut chart);
    let mut lines = chart.lines;
    let installed = |agent: &&Agent| ledgers.iter().any(|ledger| ledger.agents().contains(&agent.name));
    let chosen: Vec<&Agent> = match agent {
        Some(agent) => vec![agent],
        None => agents::AGENTS.iter().filter(installed).collect(),
    };
    for agent in chosen {
        let mut chart = Chart { about: agent.name, lines: Vec::new() };
        let changes: Vec<_> = ledgers.iter().flat_map(|ledger| ledger.changes(agent.name)).collect();
        settings::look(agent, &changes, &mut chart);
        processes::look(agent, &mut chart);
        if let Ok(policy) = policy {
            canary::tried(agent, &places, &changes, policy, &mut chart);
        }
        if !agent.caution.is_empty() {
            chart.note("caution", agent.caution, "");
        }
        lines.extend(chart.lines);
    }
    Ok(lines)
}
