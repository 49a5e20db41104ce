//! A ruleset on paper: what would be laid, for people.
//!
//! In: what [`super::Plan::prepare`] takes. Out: [`Outline`]. Never: restricts or makes anything.

use std::path::PathBuf;

use super::layout::Layout;
use super::ruleset::{self, Builder, Rights, Support};
use super::settings::{Bounds, ConfinePolicy, Elevation, Grant, Level, Need, Network, Scene, Signals};

/// What would hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// `off`; or the level and whether it goes by the effects, as the record says it.
    pub level: String,
    /// The ABI that the running kernel and the policy allow; `None`: nothing can be held.
    pub abi: Option<u8>,
    /// Not readable.
    pub hidden: Vec<PathBuf>,
    /// Where files may be changed, made or deleted.
    pub write: Vec<(PathBuf, &'static str)>,
    pub network: Network,
    pub signals: Signals,
    /// Words of the record (`wide`, `place-refused` …).
    pub notes: Vec<&'static str>,
    /// It asks for rights that it will not get, see [`Elevation`].
    pub held: Option<&'static str>,
}

/// Why sudo fails inside, and what helps.
pub const NO_ELEVATION: &str = "sudo gains no rights under confinement: the kernel demands no_new_privs of whoever \
                                confines itself; root may set confine.elevation = \"free\" in /etc/agent-sh/policy.d";

/// The level's name, and whether the effects count at it.
pub(super) fn names(level: Level, bounds: &Bounds) -> Vec<&'static str> {
    match (level, bounds) {
        (Level::Derived, Bounds::Policy) => vec![Level::Standard.name()],
        (Level::Strict, Bounds::Effects { .. }) => vec![Level::Strict.name(), Level::Derived.name()],
        (Level::Off | Level::Standard | Level::Derived | Level::Strict, _) => vec![level.name()],
    }
}

/// Draws the ruleset that a command would get.
pub fn draw(policy: &ConfinePolicy, scene: &Scene<'_>, need: &Need<'_>) -> Outline {
    let bounds = need.bounds.at(policy.level);
    let elevated = need.grants.contains(&Grant::Elevation) && !nix::unistd::geteuid().is_root();
    let free = elevated && policy.elevation == Elevation::Free;
    let abi = match ruleset::support(policy.newest_abi) {
        Support::Abi(abi) => Some(abi),
        Support::Missing(_) => None,
    };
    let mut outline = Outline {
        level: names(policy.level, bounds).join(" "),
        abi,
        hidden: Vec::new(),
        write: Vec::new(),
        network: Network::Any,
        signals: if policy.level == Level::Strict { Signals::Own } else { Signals::Any },
        notes: Vec::new(),
        held: (elevated && !free).then_some(NO_ELEVATION),
    };
    if policy.level == Level::Off || free {
        Level::Off.name().clone_into(&mut outline.level);
        outline.signals = Signals::Any;
        return outline;
    }
    if let Bounds::Effects { network, signals } = bounds {
        outline.network = network.clone();
        if policy.level != Level::Strict {
            outline.signals = *signals;
        }
    }
    let mut builder = Builder::on_paper();
    let layout = Layout::new(policy, scene, &mut builder);
    outline.hidden = layout.holes();
    outline.notes = layout.lay(&need.grants, bounds);
    let rules = builder.read().into_iter();
    outline.write = rules.filter_map(|(path, rights)| Some((path, word(rights)?))).collect();
    outline.write.dedup();
    outline
}

/// What a rule allows that changes something.
fn word(rights: Rights) -> Option<&'static str> {
    match rights {
        // a file of /proc that is truncated stays as it is, and so does one whose name is given elsewhere
        Rights::Read | Rights::Truncate | Rights::Refer => None,
        Rights::Write | Rights::ReadWrite => Some("write"),
        Rights::Device => Some("device"),
        Rights::Append => Some("append"),
        Rights::Remove => Some("remove"),
    }
}
