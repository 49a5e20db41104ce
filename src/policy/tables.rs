//! The policy as the judge reads it: tables of plain static data.
//!
//! In: nothing. Out: types whose values are either made by the build script from `policy/` (they cost
//! nothing at start) or leaked once by the loader for the other layers.
//! Never: owns a parser; `build.rs` includes this file too, so it names only what that includes too.

use crate::act::{Class, ClassSet, Kind, TagSet};
use crate::policy::sought::Sought;
use crate::verdict::{Permille, Verdict};

/// One layer of policy, compiled.
#[derive(Clone, Copy, Debug)]
pub struct Tables {
    pub rules: &'static [Rule],
    /// CARE's L2: effect → class and score.
    pub semantics: &'static [Semantic],
    /// CARE's L3: access × place → score.
    pub paths: &'static [PathWeight],
    /// What places are.
    pub places: &'static [Place],
    /// Sorted by name; every alias has an entry of its own.
    pub commands: &'static [(&'static str, &'static Command)],
    /// Names of tags beyond `act::tag::NAMES`, in order.
    pub tags: &'static [&'static str],
}

/// CARE's failure families.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Destructive,
    WorkspaceEscape,
    Credential,
    DownloadExecute,
    Persistence,
    Permission,
    Resource,
}

impl Family {
    pub const ALL: &'static [Self] = &[
        Self::Destructive,
        Self::WorkspaceEscape,
        Self::Credential,
        Self::DownloadExecute,
        Self::Persistence,
        Self::Permission,
        Self::Resource,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Destructive => "destructive",
            Self::WorkspaceEscape => "workspace-escape",
            Self::Credential => "credential",
            Self::DownloadExecute => "download-execute",
            Self::Persistence => "persistence",
            Self::Permission => "permission",
            Self::Resource => "resource",
        }
    }
}

/// Where a rule's knowledge comes from; its weight is in `base.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// MITRE ATT&CK technique
    Mitre,
    GtfoBins,
    Cve,
    /// a published bypass of another guard
    Bypass,
    Manual,
}

impl Tier {
    pub const ALL: &'static [Self] = &[Self::Mitre, Self::GtfoBins, Self::Cve, Self::Bypass, Self::Manual];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Mitre => "mitre",
            Self::GtfoBins => "gtfobins",
            Self::Cve => "cve",
            Self::Bypass => "bypass",
            Self::Manual => "manual",
        }
    }
}

/// CARE's L4: a pattern over effects. Any of `when` must match one effect.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub id: &'static str,
    pub family: Family,
    pub tier: Tier,
    /// Technique, page or advisory, as the tier asks.
    pub reference: &'static str,
    pub confidence: Permille,
    pub when: &'static [Pattern],
    /// The verdict that the rule sets by itself; `Allow`: it only weighs.
    pub verdict: Verdict,
    /// No exception lifts it.
    pub lifted: Lifted,
    pub reason: &'static str,
    pub instead: &'static str,
    /// Commands that must and must not match; judged by `policy check`.
    pub hits: &'static [&'static str],
    pub misses: &'static [&'static str],
    /// `file:line` of its definition.
    pub origin: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifted {
    ByException,
    Never,
}

/// What an effect must be like. Empty sets and slices don't ask.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    /// Bits of [`Kind`].
    pub kinds: u64,
    /// The target has one of these classes.
    pub under: ClassSet,
    /// The target has none of these.
    pub not_under: ClassSet,
    pub all: TagSet,
    pub any: TagSet,
    pub none: TagSet,
    /// The program that acts is one of these.
    pub programs: &'static [&'static str],
    /// The program that acts is none of these.
    pub not_programs: &'static [&'static str],
    /// The target's resolved name (path, host, service …) matches one of these globs.
    pub targets: &'static [Sought],
    pub not_targets: &'static [Sought],
}

/// CARE's classes of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SemanticClass {
    ReadOnly,
    WriteLocal,
    Unknown,
    NetworkFetch,
    ExecutionChain,
    WriteSensitive,
    PrivilegeOrPermission,
    Persistence,
    ResourceAbuse,
    Destructive,
}

impl SemanticClass {
    pub const ALL: &'static [Self] = &[
        Self::ReadOnly,
        Self::WriteLocal,
        Self::Unknown,
        Self::NetworkFetch,
        Self::ExecutionChain,
        Self::WriteSensitive,
        Self::PrivilegeOrPermission,
        Self::Persistence,
        Self::ResourceAbuse,
        Self::Destructive,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::WriteLocal => "write-local",
            Self::Unknown => "unknown",
            Self::NetworkFetch => "network-fetch",
            Self::ExecutionChain => "execution-chain",
            Self::WriteSensitive => "write-sensitive",
            Self::PrivilegeOrPermission => "privilege-or-permission",
            Self::Persistence => "persistence",
            Self::ResourceAbuse => "resource-abuse",
            Self::Destructive => "destructive",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Semantic {
    pub when: Pattern,
    pub class: SemanticClass,
    pub score: Permille,
    pub origin: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub struct PathWeight {
    pub when: Pattern,
    pub score: Permille,
    pub origin: &'static str,
}

/// A class and the places that have it. Patterns are absolute (`/etc/**`), relative to any user's home
/// (`~/.ssh/**`), relative to the workspace (`./.git/**`), or a name anywhere (`**/.env`).
/// `*` stays within a component, `**` crosses them, `{a,b}` chooses.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub class: Class,
    pub patterns: &'static [&'static str],
    /// Places that would match but aren't of the class.
    pub except: &'static [&'static str],
}

/// How a program reads its argument vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `getopt_long` with permutation: options anywhere, `-abc` bundles, `--long=value`, unique prefixes.
    Gnu,
    /// options end at the first operand (POSIX utilities, wrappers)
    Posix,
    /// one dash, whole words (`find`, `java`, `openssl`); `-x=value` and `-x value`
    Words,
    /// `key=value` operands (dd)
    Pairs,
    /// first operand may be a bundle of letters without dash (tar, ps, ar)
    Bundle,
    /// no options at all: each argument is an operand (echo)
    Plain,
}

/// What is known about a program (or one of its subcommands).
#[derive(Clone, Copy, Debug)]
pub struct Command {
    pub name: &'static str,
    pub style: Style,
    /// Rust code with this name reads the arguments instead of (or before) the generic engine; empty: none.
    pub handler: &'static str,
    /// Switches: names and what each adds.
    pub flags: &'static [(&'static [&'static str], &'static [Role])],
    /// Options with a value: names and what the value is.
    pub values: &'static [(&'static [&'static str], &'static [Role])],
    /// Options whose value, if any, is glued on (`-i[SUF]`, `--color[=WHEN]`).
    pub optional: &'static [(&'static [&'static str], &'static [Role])],
    pub operands: Operands,
    /// What it does whenever it is called.
    pub effects: &'static [Role],
    /// What it does if there is no operand.
    pub alone: &'static [Role],
    /// What becomes of its standard input; empty: not read.
    pub stdin: &'static [Role],
    /// What it prints.
    pub output: Output,
    /// Tags of each of its effects.
    pub tags: TagSet,
    /// Sorted by name; a name may be several words. They don't repeat the program's own options: an option
    /// is looked up in the subcommand first, then here. Their style is the program's unless they have one.
    pub subcommands: &'static [(&'static str, &'static Command)],
    /// If one of these switches is given, nothing happens (`--help`, `--version`, `-n` of make).
    pub inert: &'static [&'static str],
    /// Variables in its environment that carry code or settings: name and role of the value.
    pub environment: &'static [(&'static str, &'static [Role])],
    /// What it needs besides its targets, for confinement: paths in the form of [`Place`]'s patterns.
    pub needs: &'static [&'static str],
    pub origin: &'static str,
}

/// Roles of operands: the first ones one by one, then all others, then (taken first) the last ones.
#[derive(Clone, Copy, Debug)]
pub struct Operands {
    pub first: &'static [&'static [Role]],
    pub rest: &'static [Role],
    pub last: &'static [&'static [Role]],
}

/// What an argument, an input or a call means.
#[derive(Clone, Copy, Debug)]
pub struct Role {
    pub is: Is,
    pub tags: TagSet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Is {
    /// words, no meaning outside the program
    Data,
    /// an effect on this target
    Effect(Kind),
    /// only adds its tags to the call's effects
    Tag,
    /// source text of a language
    Code(Lang),
    /// a file that holds source text of a language, run
    CodeFile(Lang),
    /// this word and all that follow are a command
    Command,
    /// shell text
    ShellText,
    /// changes the directory for the rest of the call
    Chdir,
    /// `NAME=value` for the command's environment
    Assignment,
    /// a user whose rights are taken
    User,
    /// data sent to the call's host; `@file` reads a file (curl)
    SendData,
    /// sent to the call's host: this file
    SendFile,
    /// not an effect but the host or URL with which `SendData` and output files are concerned
    Peer,
}

/// Languages whose code we look into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lang {
    Shell,
    Python,
    Perl,
    Ruby,
    Node,
    Php,
    Lua,
    Awk,
    Sed,
    Tcl,
    R,
    Vim,
    Sql,
    Make,
    Jq,
    Gdb,
    Expect,
    Emacs,
    /// a language that we can't read
    Other,
}

impl Lang {
    pub const ALL: &'static [(&'static str, Self)] = &[
        ("shell", Self::Shell),
        ("python", Self::Python),
        ("perl", Self::Perl),
        ("ruby", Self::Ruby),
        ("node", Self::Node),
        ("php", Self::Php),
        ("lua", Self::Lua),
        ("awk", Self::Awk),
        ("sed", Self::Sed),
        ("tcl", Self::Tcl),
        ("r", Self::R),
        ("vim", Self::Vim),
        ("sql", Self::Sql),
        ("make", Self::Make),
        ("jq", Self::Jq),
        ("gdb", Self::Gdb),
        ("expect", Self::Expect),
        ("emacs", Self::Emacs),
        ("other", Self::Other),
    ];
}

/// What a call prints, as far as the flow of data is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// nothing that matters (fixed messages, counts)
    Plain,
    /// its input and the files it reads, perhaps changed (cat, grep, sort)
    Through,
    /// bytes from the network
    Fetched,
    /// its input or files, decoded
    Decoded,
    /// text from its own arguments (echo, printf, basename)
    Arguments,
    /// facts about the system
    System,
    /// the environment
    Environment,
    /// could be anything
    Unknown,
}
