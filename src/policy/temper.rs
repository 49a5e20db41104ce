//! The temper: how strict, how sure, how far; the values of `base.toml`.
//!
//! In: nothing. Out: [`Temper`], plain data with static lifetime.
//! Never: holds floating point; knows files. `build.rs` includes this file too.

use crate::policy::tables::Tier;
use crate::score::{Thresholds, Weights};
use crate::verdict::{Permille, Verdict};

/// Declares a choice, from the loosest to the strictest: a layer that may only tighten only moves right.
macro_rules! choice {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[$doc])* $variant),+ }

        impl $name {
            /// From the loosest to the strictest.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// Names in policy files, in the same order.
            pub const NAMES: &'static [&'static str] = &[$($text),+];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }
    };
}

pub mod undecided;

use undecided::{Adjudication, Adjudicator, Approval, Covers, Format, Store};

choice! {
    /// Which thresholds hold.
    Mode { Auto = "auto", Balanced = "balanced", Strict = "strict" }
}

choice! {
    /// Whether a denied command is kept from running.
    Enforcement {
        /// what would be blocked is recorded and runs
        Observe = "observe",
        Enforce = "enforce",
    }
}

choice! {
    /// What becomes of a WARN that nobody settled.
    Unsettled { Run = "run", Block = "block" }
}

choice! {
    /// A shell at a terminal, without a command.
    Interactive {
        /// recorded as unmediated
        Pass = "pass",
        Refuse = "refuse",
    }
}

choice! {
    /// Whether scripts run from their own path or as a sealed copy of what was judged.
    Scripts {
        /// from their path where only root and the caller can change them: as bash to the byte, but the
        /// caller could exchange one between the judge's look and bash's
        OwnPath = "own-path",
        /// from their path where only root can change them
        FromPath = "from-path",
        /// always a sealed copy
        Sealed = "sealed",
    }
}

choice! {
    /// Who below root may write exceptions.
    Exceptions {
        /// the user's own file too; never a project's
        User = "user",
        Root = "root",
    }
}

choice! {
    Switch { Off = "false", On = "true" }
}

choice! {
    /// What becomes of a text that is not what was meant.
    OnDivergence {
        /// it runs if both texts are allowed
        Observe = "observe",
        /// what was meant runs, if that is allowed
        Repair = "repair",
        Refuse = "refuse",
    }
}

choice! {
    /// How much the kernel holds.
    Level {
        Off = "off",
        Standard = "standard",
        /// what follows from the effects, where all are known; else as standard
        Derived = "derived",
        /// as derived, and homes are closed
        Strict = "strict",
    }
}

choice! {
    /// What becomes of a command that the judge lets gain rights.
    Elevation {
        /// it runs, and the confinement does not
        Free = "free",
        /// it is confined, so that it gains none
        Confined = "confined",
    }
}

/// Everything that `base.toml` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Temper {
    pub mode: Mode,
    pub enforcement: Enforcement,
    pub warn: Unsettled,
    pub interactive: Interactive,
    pub scripts: Scripts,
    pub weights: Weights,
    pub thresholds: ThresholdsByMode,
    pub tiers: TierWeights,
    pub unknown: Unknowns,
    pub limits: Limits,
    pub resolution: Resolution,
    pub approval: Approval,
    pub adjudicator: Adjudicator,
    pub shells: Shells,
    pub audit: Audit,
    pub confine: Confine,
    pub fidelity: Fidelity,
}

impl Temper {
    /// The thresholds of the mode in force.
    pub fn thresholds(&self) -> Thresholds {
        match self.mode {
            Mode::Auto => self.thresholds.auto,
            Mode::Balanced => self.thresholds.balanced,
            Mode::Strict => self.thresholds.strict,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThresholdsByMode {
    pub auto: Thresholds,
    pub balanced: Thresholds,
    pub strict: Thresholds,
}

/// What a rule's source is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TierWeights {
    pub mitre: Permille,
    pub gtfobins: Permille,
    pub cve: Permille,
    pub bypass: Permille,
    pub manual: Permille,
}

impl TierWeights {
    pub fn of(self, tier: Tier) -> Permille {
        match tier {
            Tier::Mitre => self.mitre,
            Tier::GtfoBins => self.gtfobins,
            Tier::Cve => self.cve,
            Tier::Bypass => self.bypass,
            Tier::Manual => self.manual,
        }
    }
}

/// What a thing that could not be determined weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsure {
    /// Counts as a semantic score.
    pub score: Permille,
    /// The verdict that it demands by itself; ALLOW: none.
    pub verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknowns {
    /// The text could not be parsed.
    pub syntax: Unsure,
    /// The two parsers read different commands.
    pub disagreement: Unsure,
    /// A bound was reached.
    pub limit: Unsure,
    /// The program's name is not known before it runs.
    pub program: Unsure,
    /// A program without description, by where it lives.
    pub description: Descriptions,
    /// Code of another language that could not be read.
    pub code: Unsure,
    pub target: Unsure,
    /// A variable's value.
    pub value: Unsure,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptions {
    pub system: Unsure,
    pub home: Unsure,
    pub workspace: Unsure,
    pub temporary: Unsure,
    /// Written by this command or session with bytes from the network.
    pub downloaded: Unsure,
    /// Not found in PATH.
    pub missing: Unsure,
}

/// Bounds, all of them counts; one that is reached is an unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the judged text.
    pub text_bytes: u32,
    /// Bytes up to which the second parser is asked.
    pub second_opinion_bytes: u32,
    /// Levels of nesting in the text.
    pub depth: u32,
    /// Commands judged, loops unrolled.
    pub commands: u32,
    /// Shells in shells, functions in functions, decoded text in decoded text.
    pub calls: u32,
    /// Bytes of a script file that is read.
    pub file_bytes: u32,
    /// Script files that are read.
    pub files: u32,
}

/// One of CARE's skip predicates: whether an undecided command is denied without asking anyone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skips {
    pub on: Switch,
    /// From this signal on.
    pub from: Permille,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// A rule's weighted confidence.
    pub rule: Skips,
    /// The score of a high-risk class.
    pub class: Skips,
    /// The score of a protected path.
    pub path: Skips,
    pub exceptions: Exceptions,
}

/// Where the real shells are: the first that exists and is not agent-sh runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shells {
    /// The name that stands for a call under a name of our own.
    pub default: &'static str,
    pub bash: &'static [&'static str],
    pub sh: &'static [&'static str],
    pub dash: &'static [&'static str],
    pub zsh: &'static [&'static str],
}

impl Shells {
    /// Absolute paths to try for a shell's name, in order; `None` for names that aren't a shell's.
    pub fn paths(&self, name: &str) -> Option<&'static [&'static str]> {
        match name {
            "bash" | "rbash" => Some(self.bash),
            "sh" => Some(self.sh),
            "dash" | "ash" => Some(self.dash),
            "zsh" => Some(self.zsh),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Audit {
    pub syslog: Switch,
    /// Datagram sockets, tried in order.
    pub sockets: &'static [&'static str],
    /// A syslog facility's name.
    pub facility: &'static str,
    /// A file of JSON lines; empty: none.
    pub file: &'static str,
    /// On: what can't be recorded is denied.
    pub required: Switch,
    /// Longest wait for a full socket, in milliseconds.
    pub wait_ms: u32,
    /// Bytes of the command's text in a record.
    pub text_limit: u32,
}

/// What Landlock is told besides what the confinement's levels give. Paths are absolute or `~/…`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confine {
    pub level: Level,
    /// On: where the kernel can't confine, nothing runs.
    pub required: Switch,
    pub writable: &'static [&'static str],
    pub hidden: &'static [&'static str],
    /// Caches of tools, writable.
    pub caches: &'static [&'static str],
    pub elevation: Elevation,
    /// `client=level`: at least this level for that client's calls.
    pub agents: &'static [&'static str],
    /// `class=level`: at least this level for commands of that class.
    pub classes: &'static [&'static str],
    /// Programs that do what their effects say and nothing besides.
    pub closed: &'static [&'static str],
}

/// What is asked of texts for which a hook records what was meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fidelity {
    pub on_divergence: OnDivergence,
    /// On: a framework's text of which nothing is known as meant does not run.
    pub require_intent: Switch,
}

impl Temper {
    /// Zeros and the strictest choices, to be filled by `base.toml`.
    pub const BLANK: Self = {
        let none = Unsure { score: Permille::ZERO, verdict: Verdict::Allow };
        let lines = Thresholds { warn: Permille::ZERO, deny: Permille::ZERO };
        let skips = Skips { on: Switch::On, from: Permille::ZERO };
        let zero = Permille::ZERO;
        Self {
            mode: Mode::Strict,
            enforcement: Enforcement::Enforce,
            warn: Unsettled::Block,
            interactive: Interactive::Refuse,
            scripts: Scripts::Sealed,
            weights: Weights { structure: zero, semantics: zero, paths: zero, patterns: zero },
            thresholds: ThresholdsByMode { auto: lines, balanced: lines, strict: lines },
            tiers: TierWeights { mitre: zero, gtfobins: zero, cve: zero, bypass: zero, manual: zero },
            unknown: Unknowns {
                syntax: none,
                disagreement: none,
                limit: none,
                program: none,
                description: Descriptions {
                    system: none,
                    home: none,
                    workspace: none,
                    temporary: none,
                    downloaded: none,
                    missing: none,
                },
                code: none,
                target: none,
                value: none,
            },
            limits: Limits {
                text_bytes: 0,
                second_opinion_bytes: 0,
                depth: 0,
                commands: 0,
                calls: 0,
                file_bytes: 0,
                files: 0,
            },
            resolution: Resolution { rule: skips, class: skips, path: skips, exceptions: Exceptions::Root },
            approval: Approval { store: Store::Root, covers: Covers::Undecided, wait: 0, lifetime: 0 },
            adjudicator: Adjudicator {
                adjudication: Adjudication::Never,
                programs: &[],
                endpoints: &[],
                models: &[],
                key_files: &[],
                ca_file: "",
                format: Format::Schema,
                deadline: 0,
                cache: 0,
                quorum: 1,
            },
            shells: Shells { default: "", bash: &[], sh: &[], dash: &[], zsh: &[] },
            audit: Audit {
                syslog: Switch::On,
                sockets: &[],
                facility: "",
                file: "",
                required: Switch::On,
                wait_ms: 0,
                text_limit: 0,
            },
            confine: Confine {
                level: Level::Strict,
                required: Switch::On,
                writable: &[],
                hidden: &[],
                caches: &[],
                elevation: Elevation::Confined,
                agents: &[],
                classes: &[],
                closed: &[],
            },
            fidelity: Fidelity { on_divergence: OnDivergence::Refuse, require_intent: Switch::On },
        }
    };
}
