//! The policy's temper in the words of the floors that act on it.
//!
//! In: [`Temper`]. Out: candidates, limits, what the record and the confinement are told.
//! Never: decides anything.

use std::path::PathBuf;

use crate::audit::{AuditPolicy, Demand};
use crate::confine::{ConfinePolicy, Elevation, Level};
use crate::invocation::shell::{Candidates, ShellName};
use crate::invocation::source::{Limits, Scripts};
use crate::policy::tables::SemanticClass;
use crate::policy::temper::{self, Switch, Temper};
use crate::policy::values::raised;

/// Where the real shells are.
pub(crate) fn candidates(temper: &Temper) -> Candidates {
    let shells = temper.shells;
    Candidates {
        default: ShellName::of(shells.default.as_bytes()).unwrap_or(ShellName::Bash),
        bash: shells.bash,
        sh: shells.sh,
        dash: shells.dash,
        zsh: shells.zsh,
    }
}

/// How texts are read.
pub(super) fn limits(temper: &Temper) -> Limits {
    let scripts = match temper.scripts {
        temper::Scripts::OwnPath => Scripts::OwnPathOfCaller,
        temper::Scripts::FromPath => Scripts::OwnPathOfRoot,
        temper::Scripts::Sealed => Scripts::Sealed,
    };
    Limits { scripts, ..Limits::DEFAULT }
}

/// What the record is told.
pub(crate) fn audit(temper: &Temper) -> AuditPolicy {
    let audit = temper.audit;
    let by_syslog = audit.syslog == Switch::On;
    let sockets = if by_syslog { audit.sockets } else { &[] };
    let default = AuditPolicy::default();
    AuditPolicy {
        demand: demand(audit.required),
        syslog: sockets.iter().map(PathBuf::from).collect(),
        journal: default.journal.filter(|_| by_syslog),
        file: Some(audit.file).filter(|path| !path.is_empty()).map(PathBuf::from),
        fallback: default.fallback,
        facility: audit.facility.to_owned(),
        wait_ms: u16::try_from(audit.wait_ms).unwrap_or(u16::MAX),
        text_limit: usize::try_from(audit.text_limit).unwrap_or(usize::MAX),
    }
}

/// What the confinement is told: what its level gives, and the policy's lists besides. Who only observes
/// holds nothing back, by the kernel neither. `callers` gives the programs above, where the policy asks for them.
pub(crate) fn confine(
    temper: &Temper,
    client: Option<&str>,
    callers: &dyn Fn() -> Vec<String>,
    class: Option<SemanticClass>,
) -> ConfinePolicy {
    let level = match temper.enforcement {
        temper::Enforcement::Observe => Level::Off,
        temper::Enforcement::Enforce => match level(&temper.confine, (client, callers), class) {
            temper::Level::Off => Level::Off,
            temper::Level::Standard => Level::Standard,
            temper::Level::Derived => Level::Derived,
            temper::Level::Strict => Level::Strict,
        },
    };
    let elevation = match temper.confine.elevation {
        temper::Elevation::Free => Elevation::Free,
        temper::Elevation::Confined => Elevation::Confined,
    };
    let mut policy = ConfinePolicy {
        level,
        elevation,
        demand: demand(temper.confine.required),
        ..ConfinePolicy::default()
    };
    let add = |list: &mut Vec<String>, more: &[&str]| list.extend(more.iter().map(|path| (*path).to_owned()));
    add(&mut policy.writable, temper.confine.writable);
    add(&mut policy.hidden, temper.confine.hidden);
    add(&mut policy.hidden, temper.adjudicator.key_files);
    add(&mut policy.caches, temper.confine.caches);
    policy
}

/// The policy's level, raised for the client and for the class. A client may call itself what it likes, and
/// gets no less than the level by it; its program's name is the kernel's word.
fn level(
    confine: &temper::Confine,
    (client, callers): (Option<&str>, &dyn Fn() -> Vec<String>),
    class: Option<SemanticClass>,
) -> temper::Level {
    let callers = if confine.agents.is_empty() { Vec::new() } else { callers() };
    let is_client =
        |name: &str| client == Some(name) || callers.iter().any(|path| path.rsplit('/').next() == Some(name));
    let is_class = |name: &str| class.is_some_and(|class| class.name() == name);
    let of = |list: &'static [&'static str], is: &dyn Fn(&str) -> bool| {
        list.iter()
            .filter_map(|entry| raised(entry))
            .filter(|(name, _)| is(name))
            .map(|(_, level)| level)
            .max()
    };
    [of(confine.agents, &is_client), of(confine.classes, &is_class)]
        .into_iter()
        .flatten()
        .fold(confine.level, Ord::max)
}

fn demand(required: Switch) -> Demand {
    match required {
        Switch::On => Demand::Required,
        Switch::Off => Demand::BestEffort,
    }
}
