//! Writes compiled tables as Rust source: plain statics, no function is run for them.
//!
//! In: tables and temper. Out: text that names only the library's own types.
//! Never: knows what a value means; a field that is missing here doesn't compile there.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::act::{Class, ClassSet, Kind, TagSet};
use crate::policy::catalogue::{Anchor, Catalogue, Chains, Entry, Excepts, Peer, Scope};
use crate::policy::fields::FIELDS;
use crate::policy::settings::Change;
use crate::policy::sieve::{Sieve, Sieves};
use crate::policy::sought::{Marks, Sought};
use crate::policy::tables::{
    Command, Family, Is, Lang, Lifted, Operands, Output, PathWeight, Pattern, Place, Role, Rule, Semantic,
    SemanticClass, Style, Tables, Tier,
};
use crate::policy::temper::undecided::{Adjudication, Adjudicator, Approval, Covers, Format, Store};
use crate::policy::temper::{
    Audit, Confine, Descriptions, Elevation, Enforcement, Exceptions, Fidelity, Interactive, Level, Limits,
    Mode, OnDivergence, Resolution, Scripts, Shells, Skips, Switch, Temper, ThresholdsByMode, TierWeights,
    Unknowns, Unsettled, Unsure,
};
use crate::score::{Thresholds, Weights};
use crate::verdict::{Permille, Verdict};

/// A value that can be written as a Rust expression.
trait Literal {
    fn write(&self, out: &mut String);
}

macro_rules! records {
    ($($name:ident { $($field:ident),+ $(,)? })+) => {$(
        impl Literal for $name {
            fn write(&self, out: &mut String) {
                out.push_str(concat!(stringify!($name), "{"));
                $(
                    out.push_str(concat!(stringify!($field), ":"));
                    self.$field.write(out);
                    out.push(',');
                )+
                out.push('}');
            }
        }
    )+};
}

macro_rules! words {
    ($($name:ident),+ $(,)?) => {$(
        impl Literal for $name {
            fn write(&self, out: &mut String) {
                let _ = write!(out, concat!(stringify!($name), "::{:?}"), self);
            }
        }
    )+};
}

records! {
    Rule { id, family, tier, reference, confidence, when, verdict, lifted, reason, instead, hits, misses, origin }
    Pattern { kinds, under, not_under, all, any, none, programs, not_programs, targets, not_targets }
    Sought { glob, needs }
    Sieves { rules, semantics, paths }
    Sieve { starts, owners }
    Semantic { when, class, score, origin }
    PathWeight { when, score, origin }
    Place { class, patterns, except }
    Command {
        name, style, handler, flags, values, optional, operands, effects, alone, stdin, output, tags,
        subcommands, inert, environment, needs, origin,
    }
    Operands { first, rest, last }
    Catalogue { patterns, excepts, hosts, host_excepts }
    Peer { name, path, needs, place, class }
    Chains { buckets, entries, by_first, firsts }
    Entry { pattern, needs, key, place, next, anchor, class, excepts, scope }
    Role { is, tags }
    Temper {
        mode, enforcement, warn, interactive, scripts, weights, thresholds, tiers, unknown, limits, resolution,
        approval, adjudicator, shells, audit, confine, fidelity,
    }
    Weights { structure, semantics, paths, patterns }
    Thresholds { warn, deny }
    ThresholdsByMode { auto, balanced, strict }
    TierWeights { mitre, gtfobins, cve, bypass, manual }
    Unsure { score, verdict }
    Unknowns { syntax, disagreement, limit, program, description, code, target, value }
    Descriptions { system, home, workspace, temporary, downloaded, missing }
    Limits {
        text_bytes, second_opinion_bytes, depth, commands, calls, file_bytes, files,
    }
    Skips { on, from }
    Resolution { rule, class, path, exceptions }
    Approval { store, covers, wait, lifetime }
    Adjudicator {
        adjudication, programs, endpoints, models, key_files, ca_file, format, deadline, cache, quorum,
    }
    Shells { default, bash, sh, dash, zsh }
    Audit { syslog, sockets, facility, file, required, wait_ms, text_limit }
    Confine { level, required, writable, hidden, caches, elevation, agents, classes, closed }
    Fidelity { on_divergence, require_intent }
}

words!(
    Family,
    Tier,
    Verdict,
    Lifted,
    SemanticClass,
    Class,
    Style,
    Output,
    Kind,
    Lang,
    Mode,
    Enforcement,
    Unsettled,
    Interactive,
    OnDivergence,
    Scripts,
    Switch,
    Adjudication,
    Covers,
    Format,
    Store,
    Exceptions,
    Level,
    Elevation,
    Anchor,
    Excepts,
    Scope,
);

impl Literal for Is {
    fn write(&self, out: &mut String) {
        match self {
            Self::Effect(kind) => {
                let _ = write!(out, "Is::Effect(Kind::{kind:?})");
            }
            Self::Code(lang) => {
                let _ = write!(out, "Is::Code(Lang::{lang:?})");
            }
            Self::CodeFile(lang) => {
                let _ = write!(out, "Is::CodeFile(Lang::{lang:?})");
            }
            Self::Data
            | Self::Tag
            | Self::Command
            | Self::ShellText
            | Self::Chdir
            | Self::Assignment
            | Self::User
            | Self::SendData
            | Self::SendFile
            | Self::Peer => {
                let _ = write!(out, "Is::{self:?}");
            }
        }
    }
}

impl Literal for Permille {
    fn write(&self, out: &mut String) {
        let _ = write!(out, "Permille::new({})", self.get());
    }
}

impl Literal for TagSet {
    fn write(&self, out: &mut String) {
        let _ = write!(out, "TagSet({:?})", self.0);
    }
}

impl Literal for Marks {
    fn write(&self, out: &mut String) {
        let _ = write!(out, "Marks({})", self.0);
    }
}

impl Literal for ClassSet {
    fn write(&self, out: &mut String) {
        let _ = write!(out, "ClassSet({})", self.0);
    }
}

impl Literal for u64 {
    fn write(&self, out: &mut String) {
        let _ = write!(out, "{self}");
    }
}

impl Literal for u32 {
    fn write(&self, out: &mut String) {
        let _ = write!(out, "{self}");
    }
}

impl Literal for u16 {
    fn write(&self, out: &mut String) {
        let _ = write!(out, "{self}");
    }
}

impl<T: Literal + Clone> Literal for Cow<'static, [T]> {
    fn write(&self, out: &mut String) {
        out.push_str("Cow::Borrowed(");
        (&**self).write(out);
        out.push(')');
    }
}

impl<T: Literal> Literal for Option<T> {
    fn write(&self, out: &mut String) {
        match self {
            None => out.push_str("None"),
            Some(value) => {
                out.push_str("Some(");
                value.write(out);
                out.push(')');
            }
        }
    }
}

impl Literal for &str {
    fn write(&self, out: &mut String) {
        let _ = write!(out, "{self:?}");
    }
}

impl<T: Literal> Literal for &[T] {
    fn write(&self, out: &mut String) {
        out.push_str("&[");
        for item in *self {
            item.write(out);
            out.push(',');
        }
        out.push(']');
    }
}

impl<A: Literal, B: Literal> Literal for (A, B) {
    fn write(&self, out: &mut String) {
        out.push('(');
        self.0.write(out);
        out.push(',');
        self.1.write(out);
        out.push(')');
    }
}

impl Literal for &Command {
    fn write(&self, out: &mut String) {
        out.push('&');
        (**self).write(out);
    }
}

/// The whole generated file.
pub(crate) fn policy(tables: &Tables, temper: &Temper, changes: &[Change], version: &str) -> String {
    let mut out = String::with_capacity(1 << 20);
    let mut item = |name: &str, kind: &str, value: &dyn Literal| {
        let _ = write!(out, "pub static {name}: {kind} = ");
        value.write(&mut out);
        out.push_str(";\n");
    };
    item("VERSION", "&str", &version);
    item("TEMPER", "Temper", temper);
    item("RULE_TABLE", "&[Rule]", &tables.rules);
    item("SEMANTICS", "&[Semantic]", &tables.semantics);
    item("PATHS", "&[PathWeight]", &tables.paths);
    item("PLACES", "&[Place]", &tables.places);
    item("CATALOGUE", "Catalogue", &Catalogue::of(tables.places));
    let rules: Vec<&Rule> = tables.rules.iter().collect();
    item("SIEVES", "Sieves", &Sieves::of(&rules, tables.semantics, tables.paths));
    item("TAGS", "&[&str]", &tables.tags);
    // One static for each program: aliases share it, and no expression gets large.
    let mut numbers: BTreeMap<*const Command, usize> = BTreeMap::new();
    for (_, command) in tables.commands {
        let next = numbers.len();
        if let std::collections::btree_map::Entry::Vacant(entry) = numbers.entry(std::ptr::from_ref(*command))
        {
            entry.insert(next);
            item(&format!("C{next}"), "Command", *command);
        }
    }
    out.push_str("pub static COMMANDS: &[(&str, &Command)] = &[\n");
    for (name, command) in tables.commands {
        let number = numbers.get(&std::ptr::from_ref(*command)).copied().unwrap_or_default();
        let _ = writeln!(out, "({name:?}, &C{number}),");
    }
    out.push_str("];\npub static RULES: &[&Rule] = &[");
    for number in 0..tables.rules.len() {
        let _ = write!(out, "&RULE_ARRAY[{number}],");
    }
    out.push_str("];\npub static BASE_LINES: &[u32] = &[");
    for place in 0..FIELDS.len() {
        let line = changes.iter().find(|change| change.field == place).map_or(0, |change| change.line);
        let _ = write!(out, "{line},");
    }
    out.push_str(
        "];\npub static TABLES: Tables = Tables { rules: &RULE_ARRAY, semantics: SEMANTICS, paths: PATHS, places: PLACES, commands: COMMANDS, tags: TAGS };\n",
    );
    out.replacen(
        "pub static RULE_TABLE: &[Rule] = &[",
        &format!("pub static RULE_ARRAY: [Rule; {}] = [", tables.rules.len()),
        1,
    )
}
