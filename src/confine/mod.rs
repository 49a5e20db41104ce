//! Confinement: what was allowed by mistake still can't write elsewhere or read secrets.
//!
//! In: the policy, the call, grants from the judged effects; then [`Logged`]. Out: [`Confined`].
//! Never: runs a command; never weakens a layer that is in force; never stays silent about what does
//! not hold ([`Plan::state`] is part of the record).

use std::fmt;

use crate::audit::{Demand, Logged};

pub mod cage;
mod cover;
mod folder;
mod layout;
pub mod outline;
mod probe;
mod ruleset;
pub mod settings;
mod spot;
mod worktree;

pub use settings::{Bounds, ConfinePolicy, Elevation, Grant, Level, Need, Network, Scene, Signals};

use layout::Layout;
pub use probe::Inside;

use ruleset::{Builder, Privileges, Refusal, Support};

/// What will be done, made before the record is written, so that the record can say it.
#[derive(Debug)]
pub struct Plan {
    course: Course,
    state: String,
    demand: Demand,
    elevation: Asked,
}

/// Whether the command asks for rights that it will not get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    InVain,
    No,
}

#[derive(Debug)]
enum Course {
    /// Off, inside already, or not to be had.
    Nothing,
    Restrict(Builder),
}

/// A command that is recorded, and confined as far as its record says. Made by [`Plan::apply`] alone,
/// consumed by exec (INVARIANT(I3)).
///
/// ```compile_fail,E0451
/// fn logged() -> agent_sh::audit::Logged { unreachable!() }
/// let surprise = agent_sh::confine::Surprise::None;
/// let forged = agent_sh::confine::Confined { logged: logged(), state: String::new(), surprise };
/// ```
#[derive(Debug)]
pub struct Confined {
    logged: Logged,
    state: String,
    surprise: Surprise,
}

/// Whether what the record says came true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surprise {
    None,
    /// The layer could not be added: [`Confined::state`] says why and belongs in a further record.
    NotConfined,
}

impl Confined {
    /// What holds now.
    pub fn state(&self) -> &str {
        &self.state
    }

    pub fn surprise(&self) -> Surprise {
        self.surprise
    }

    pub fn logged(&self) -> &Logged {
        &self.logged
    }
}

/// The policy demands confinement, and the kernel does not give it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfineError {
    pub why: String,
}

impl fmt::Display for ConfineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the policy demands confinement, and the kernel does not give it: {}; use a kernel with \
             Landlock (5.13 or newer), or relax the policy's confine section",
            self.why
        )
    }
}

impl std::error::Error for ConfineError {}

/// Whether this process is part of a confined command.
pub fn inside() -> Inside {
    probe::inside()
}

impl Plan {
    /// Prepares a layer. Nothing is restricted yet; folders of [`ConfinePolicy::made`] may be made.
    ///
    /// # Errors
    /// The kernel can't confine, and the policy demands it.
    pub fn prepare(policy: &ConfinePolicy, scene: &Scene<'_>, need: &Need<'_>) -> Result<Self, ConfineError> {
        let demand = policy.demand;
        let idle = |state: &str| Self {
            course: Course::Nothing,
            state: state.to_owned(),
            demand,
            elevation: Asked::No,
        };
        if policy.level == Level::Off {
            return Ok(idle("off"));
        }
        // A nested shell belongs to the command around it and has that command's layer.
        if probe::inside() == Inside::Yes {
            return Ok(idle("joined"));
        }
        let elevated = need.grants.contains(&Grant::Elevation) && !nix::unistd::geteuid().is_root();
        if elevated && policy.elevation == Elevation::Free {
            return Ok(idle("none: elevation"));
        }
        let bounds = need.bounds.at(policy.level);
        let made = match ruleset::support(policy.newest_abi) {
            Support::Missing(why) => Err(why.to_owned()),
            Support::Abi(abi) => Builder::new(policy.level, bounds, abi).map(|builder| (builder, abi)),
        };
        match (made, demand) {
            (Ok((mut builder, abi)), _) => {
                let notes = Layout::new(policy, scene, &mut builder).lay(&need.grants, bounds);
                let mut state = format!("landlock abi={abi} rules={}", builder.rules());
                let held = elevated.then_some("no-elevation");
                for word in outline::names(policy.level, bounds).into_iter().chain(notes).chain(held) {
                    state.push(' ');
                    state.push_str(word);
                }
                let elevation = if elevated { Asked::InVain } else { Asked::No };
                Ok(Self { course: Course::Restrict(builder), state, demand, elevation })
            }
            (Err(why), Demand::Required) => Err(ConfineError { why }),
            (Err(why), Demand::BestEffort) => Ok(idle(&format!("none: {why}"))),
        }
    }

    /// Whether the command asks for rights and, being confined, will not get them ([`outline::NO_ELEVATION`]).
    pub fn holds_elevation(&self) -> bool {
        self.elevation == Asked::InVain
    }

    /// What will hold, for the record.
    pub fn state(&self) -> &str {
        &self.state
    }

    /// Restricts the calling thread, which must be the one that becomes the command.
    ///
    /// # Errors
    /// The kernel refused, and the policy demands confinement: the command must not run.
    pub fn apply(self, logged: Logged) -> Result<Confined, ConfineError> {
        let Self { course, state, demand, elevation: _ } = self;
        let Course::Restrict(builder) = course else {
            return Ok(Confined { logged, state, surprise: Surprise::None });
        };
        let privileges = if nix::unistd::geteuid().is_root() { Privileges::Kept } else { Privileges::Given };
        let why = match builder.restrict(privileges) {
            Ok(()) => return Ok(Confined { logged, state, surprise: Surprise::None }),
            // Not one of the 16 is known to be ours.
            Err(Refusal::Full) => "16 layers of others are in force".to_owned(),
            Err(Refusal::Failed(errno)) => errno.desc().to_lowercase(),
        };
        match demand {
            Demand::Required => Err(ConfineError { why }),
            Demand::BestEffort => {
                Ok(Confined { logged, state: format!("none: {why}"), surprise: Surprise::NotConfined })
            }
        }
    }
}
