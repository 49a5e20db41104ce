//! The policy in force, as the judge reads it: all layers in one view.
//!
//! In: what [`crate::policy::layers`] merged, or the embedded statics. Out: [`Policy`].
//! Never: owns or copies tables; it is a handful of pointers.

use crate::act::{Tag, tag};
use crate::policy::embedded;
use crate::policy::exception::Exception;
use crate::policy::keep;
use crate::policy::sieve::Sieves;
use crate::policy::tables::{Command, PathWeight, Place, Rule, Semantic, Tables};
use crate::policy::temper::Temper;

/// Which layer a file belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerKind {
    Embedded,
    /// `/etc/agent-sh/policy.d`
    Root,
    /// `~/.config/agent-sh/policy.toml`
    User,
    /// `.agent-sh.toml`
    Project,
}

impl LayerKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Root => "root",
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// One file of the policy; the embedded ones count as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layer {
    pub kind: LayerKind,
    /// Path of the file; empty for the embedded layer.
    pub path: &'static str,
}

/// What an override did to a rule.
#[derive(Clone, Copy, Debug)]
pub struct Changed {
    /// The rule as an earlier layer had it.
    pub rule: &'static Rule,
    pub became: Became,
    pub reason: &'static str,
    /// `file:line` of the override.
    pub origin: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Became {
    /// not asked any more
    Disabled,
    /// asked again
    Enabled,
    /// asked with another verdict
    Changed,
    /// the override's day is over, so it does nothing
    Expired,
}

/// The policy in force.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    pub(crate) rules: &'static [&'static Rule],
    /// Commands of later layers come first.
    pub(crate) commands: &'static [&'static [(&'static str, &'static Command)]],
    pub(crate) semantics: &'static [Semantic],
    pub(crate) paths: &'static [PathWeight],
    /// The three above by kind.
    pub(crate) sieves: &'static Sieves,
    pub(crate) places: &'static [Place],
    /// Names of tags beyond the code's.
    pub(crate) tags: &'static [&'static str],
    pub(crate) temper: &'static Temper,
    pub(crate) version: &'static str,
    pub(crate) layers: &'static [Layer],
    /// Settings of later layers: index into `FIELDS`, and origin; the last one counts.
    pub(crate) settings: &'static [(usize, &'static str)],
    pub(crate) changed: &'static [Changed],
    pub(crate) exceptions: &'static [Exception],
    /// The programs on whose behalf it is asked, for exceptions that name one.
    pub(crate) callers: &'static [&'static str],
}

const EMBEDDED: &Tables = &embedded::TABLES;

impl Policy {
    /// The policy of the binary alone.
    pub const fn embedded() -> Self {
        Self {
            rules: embedded::RULES,
            commands: embedded::COMMANDS,
            semantics: EMBEDDED.semantics,
            paths: EMBEDDED.paths,
            sieves: &embedded::SIEVES,
            places: EMBEDDED.places,
            tags: EMBEDDED.tags,
            temper: &embedded::TEMPER,
            version: embedded::VERSION,
            layers: &[Layer { kind: LayerKind::Embedded, path: "" }],
            settings: &[],
            changed: &[],
            exceptions: &[],
            callers: &[],
        }
    }

    /// All rules that are asked.
    pub const fn rules(&self) -> &'static [&'static Rule] {
        self.rules
    }

    /// The description of a program, by its name without folder; later layers count first.
    pub fn command(&self, name: &str) -> Option<&'static Command> {
        self.commands.iter().find_map(|layer| {
            let place = layer.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
            layer.get(place).map(|(_, command)| *command)
        })
    }

    /// Names and descriptions of all programs; a name that two layers describe comes twice, the one that
    /// counts first.
    pub fn commands(&self) -> impl Iterator<Item = (&'static str, &'static Command)> {
        self.commands.iter().flat_map(|layer| layer.iter().copied())
    }

    /// Where each kind's rules, scores and path weights stand in their lists.
    pub const fn sieves(&self) -> &'static Sieves {
        self.sieves
    }

    pub const fn semantics(&self) -> &'static [Semantic] {
        self.semantics
    }

    pub const fn path_weights(&self) -> &'static [PathWeight] {
        self.paths
    }

    pub const fn places(&self) -> &'static [Place] {
        self.places
    }

    /// The places of the binary and those that other layers added.
    pub fn place_layers(&self) -> [&'static [Place]; 2] {
        let added = self.places.get(EMBEDDED.places.len()..).unwrap_or_default();
        [EMBEDDED.places, added]
    }

    pub const fn temper(&self) -> &'static Temper {
        self.temper
    }

    /// Twelve hexadecimal digits for the embedded layer; `+` and twelve more if there are others.
    pub const fn version(&self) -> &'static str {
        self.version
    }

    pub const fn layers(&self) -> &'static [Layer] {
        self.layers
    }

    /// Overrides, in the order in which they were applied.
    pub const fn changed(&self) -> &'static [Changed] {
        self.changed
    }

    /// Root's exceptions, expired ones too.
    pub const fn exceptions(&self) -> &'static [Exception] {
        self.exceptions
    }

    /// Whether some exception holds for a certain program's calls alone.
    pub fn asks_for_callers(&self) -> bool {
        self.exceptions.iter().any(|exception| !exception.agent.is_empty())
    }

    /// The policy as it holds for calls on behalf of these programs (absolute paths, from the kernel).
    #[must_use]
    pub fn for_callers(&self, callers: &[String]) -> Self {
        Self { callers: keep::list(callers.iter().map(keep::text).collect()), ..*self }
    }

    pub const fn callers(&self) -> &'static [&'static str] {
        self.callers
    }

    /// The tag with a name, if the policy or the code knows it.
    pub fn tag(&self, name: &str) -> Option<Tag> {
        let mut names = tag::NAMES.iter().chain(self.tags);
        names.position(|known| *known == name).and_then(|place| u16::try_from(place).ok()).map(Tag)
    }

    /// A tag's name; empty for numbers without name.
    pub fn tag_name(&self, tag: Tag) -> &'static str {
        let place = usize::from(tag.0);
        let added = || self.tags.get(place.checked_sub(tag::NAMES.len())?);
        tag::NAMES.get(place).or_else(added).copied().unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_by_name() {
        let policy = Policy::embedded();
        assert_eq!(policy.command("rm").map(|command| command.name), Some("rm"));
        for name in ["", "no such program", "rm ", "\u{10ffff}"] {
            assert!(policy.command(name).is_none(), "{name}");
        }
    }

    #[test]
    fn every_tag_has_a_name_that_leads_back() {
        let policy = Policy::embedded();
        for number in 0..u16::try_from(tag::NAMES.len() + policy.tags.len()).unwrap() {
            assert_eq!(policy.tag(policy.tag_name(Tag(number))), Some(Tag(number)));
        }
        assert_eq!((policy.tag_name(Tag(u16::MAX)), policy.tag("no-such-tag")), ("", None));
    }
}
