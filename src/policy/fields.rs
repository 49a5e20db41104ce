//! The settings of the temper: key, place in [`Temper`], and which direction tightens.
//!
//! In: nothing. Out: [`FIELDS`], from which reading, layering and showing follow.
//! Never: a setting that isn't in this table. `build.rs` includes this file too.

use crate::policy::temper::undecided::{Adjudication, Covers, Format, Store, spelled};
use crate::policy::temper::{
    Elevation, Enforcement, Exceptions, Interactive, Level, Mode, OnDivergence, Scripts, Switch, Temper,
    Unsettled,
};
use crate::verdict::{Permille, Verdict};

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Path of the key in the file, joined by dots.
    pub key: &'static str,
    pub slot: Slot,
    pub tighter: Tighter,
}

/// Which change of a setting makes the policy stricter; all others are root's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tighter {
    Higher,
    Lower,
    /// A list that only gets longer: a layer adds to it.
    More,
    /// A list that only gets shorter.
    Fewer,
    /// Neither way. A smaller limit is no stricter: what isn't looked at isn't found.
    Never,
}

/// Where a setting lies, by its type.
#[derive(Clone, Copy, Debug)]
pub enum Slot {
    Permille(fn(&mut Temper) -> &mut Permille),
    Verdict(fn(&mut Temper) -> &mut Verdict),
    Count(fn(&mut Temper) -> &mut u32),
    /// Milliseconds, written as `30s`.
    Time(fn(&mut Temper) -> &mut u32),
    Choice(Choice),
    Text(fn(&mut Temper) -> &mut &'static str),
    List(fn(&mut Temper) -> &mut &'static [&'static str]),
}

/// A choice by its place in the order from loose to strict.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    pub names: &'static [&'static str],
    pub get: fn(&Temper) -> usize,
    pub set: fn(&mut Temper, usize),
}

macro_rules! choice {
    ($key:literal, $kind:ident, $($path:ident).+) => {
        Field {
            key: $key,
            tighter: Tighter::Higher,
            slot: Slot::Choice(Choice {
                names: $kind::NAMES,
                get: |temper| temper.$($path).+ as usize,
                set: |temper, place| {
                    if let Some(value) = $kind::ALL.get(place) {
                        temper.$($path).+ = *value;
                    }
                },
            }),
        }
    };
}

macro_rules! field {
    ($key:literal, $slot:ident, $tighter:ident, $($path:ident).+) => {
        Field { key: $key, tighter: Tighter::$tighter, slot: Slot::$slot(|temper| &mut temper.$($path).+) }
    };
}

/// All settings, in the order of `base.toml`.
pub const FIELDS: &[Field] = &[
    choice!("mode", Mode, mode),
    choice!("enforcement", Enforcement, enforcement),
    choice!("warn", Unsettled, warn),
    choice!("interactive", Interactive, interactive),
    choice!("scripts", Scripts, scripts),
    field!("weights.structure", Permille, Higher, weights.structure),
    field!("weights.semantics", Permille, Higher, weights.semantics),
    field!("weights.paths", Permille, Higher, weights.paths),
    field!("weights.patterns", Permille, Higher, weights.patterns),
    field!("thresholds.auto.warn", Permille, Lower, thresholds.auto.warn),
    field!("thresholds.auto.deny", Permille, Lower, thresholds.auto.deny),
    field!("thresholds.balanced.warn", Permille, Lower, thresholds.balanced.warn),
    field!("thresholds.balanced.deny", Permille, Lower, thresholds.balanced.deny),
    field!("thresholds.strict.warn", Permille, Lower, thresholds.strict.warn),
    field!("thresholds.strict.deny", Permille, Lower, thresholds.strict.deny),
    field!("tiers.mitre", Permille, Higher, tiers.mitre),
    field!("tiers.cve", Permille, Higher, tiers.cve),
    field!("tiers.gtfobins", Permille, Higher, tiers.gtfobins),
    field!("tiers.bypass", Permille, Higher, tiers.bypass),
    field!("tiers.manual", Permille, Higher, tiers.manual),
    field!("unknown.syntax.score", Permille, Higher, unknown.syntax.score),
    field!("unknown.syntax.verdict", Verdict, Higher, unknown.syntax.verdict),
    field!("unknown.disagreement.score", Permille, Higher, unknown.disagreement.score),
    field!("unknown.disagreement.verdict", Verdict, Higher, unknown.disagreement.verdict),
    field!("unknown.limit.score", Permille, Higher, unknown.limit.score),
    field!("unknown.limit.verdict", Verdict, Higher, unknown.limit.verdict),
    field!("unknown.program.score", Permille, Higher, unknown.program.score),
    field!("unknown.program.verdict", Verdict, Higher, unknown.program.verdict),
    field!("unknown.code.score", Permille, Higher, unknown.code.score),
    field!("unknown.code.verdict", Verdict, Higher, unknown.code.verdict),
    field!("unknown.target.score", Permille, Higher, unknown.target.score),
    field!("unknown.target.verdict", Verdict, Higher, unknown.target.verdict),
    field!("unknown.value.score", Permille, Higher, unknown.value.score),
    field!("unknown.value.verdict", Verdict, Higher, unknown.value.verdict),
    field!("unknown.description.system.score", Permille, Higher, unknown.description.system.score),
    field!("unknown.description.system.verdict", Verdict, Higher, unknown.description.system.verdict),
    field!("unknown.description.home.score", Permille, Higher, unknown.description.home.score),
    field!("unknown.description.home.verdict", Verdict, Higher, unknown.description.home.verdict),
    field!("unknown.description.workspace.score", Permille, Higher, unknown.description.workspace.score),
    field!("unknown.description.workspace.verdict", Verdict, Higher, unknown.description.workspace.verdict),
    field!("unknown.description.temporary.score", Permille, Higher, unknown.description.temporary.score),
    field!("unknown.description.temporary.verdict", Verdict, Higher, unknown.description.temporary.verdict),
    field!("unknown.description.downloaded.score", Permille, Higher, unknown.description.downloaded.score),
    field!("unknown.description.downloaded.verdict", Verdict, Higher, unknown.description.downloaded.verdict),
    field!("unknown.description.missing.score", Permille, Higher, unknown.description.missing.score),
    field!("unknown.description.missing.verdict", Verdict, Higher, unknown.description.missing.verdict),
    field!("limits.text-bytes", Count, Never, limits.text_bytes),
    field!("limits.second-opinion-bytes", Count, Never, limits.second_opinion_bytes),
    field!("limits.depth", Count, Never, limits.depth),
    field!("limits.commands", Count, Never, limits.commands),
    field!("limits.calls", Count, Never, limits.calls),
    field!("limits.file-bytes", Count, Never, limits.file_bytes),
    field!("limits.files", Count, Never, limits.files),
    choice!("resolution.rule.on", Switch, resolution.rule.on),
    field!("resolution.rule.from", Permille, Lower, resolution.rule.from),
    choice!("resolution.class.on", Switch, resolution.class.on),
    field!("resolution.class.from", Permille, Lower, resolution.class.from),
    choice!("resolution.path.on", Switch, resolution.path.on),
    field!("resolution.path.from", Permille, Lower, resolution.path.from),
    choice!("resolution.exceptions", Exceptions, resolution.exceptions),
    choice!("approval.store", Store, approval.store),
    choice!("approval.covers", Covers, approval.covers),
    field!("approval.wait", Time, Lower, approval.wait),
    field!("approval.lifetime", Time, Lower, approval.lifetime),
    choice!("adjudicator.use", Adjudication, adjudicator.adjudication),
    field!("adjudicator.programs", List, Never, adjudicator.programs),
    field!("adjudicator.endpoints", List, Never, adjudicator.endpoints),
    field!("adjudicator.models", List, Never, adjudicator.models),
    field!("adjudicator.key-files", List, Never, adjudicator.key_files),
    field!("adjudicator.ca-file", Text, Never, adjudicator.ca_file),
    choice!("adjudicator.format", Format, adjudicator.format),
    field!("adjudicator.deadline", Time, Never, adjudicator.deadline),
    field!("adjudicator.cache", Time, Lower, adjudicator.cache),
    field!("adjudicator.quorum", Count, Higher, adjudicator.quorum),
    field!("shells.default", Text, Never, shells.default),
    field!("shells.bash", List, Never, shells.bash),
    field!("shells.sh", List, Never, shells.sh),
    field!("shells.dash", List, Never, shells.dash),
    field!("shells.zsh", List, Never, shells.zsh),
    choice!("audit.syslog", Switch, audit.syslog),
    field!("audit.sockets", List, Never, audit.sockets),
    field!("audit.facility", Text, Never, audit.facility),
    field!("audit.file", Text, Never, audit.file),
    choice!("audit.required", Switch, audit.required),
    field!("audit.wait-ms", Count, Never, audit.wait_ms),
    field!("audit.text-limit", Count, Never, audit.text_limit),
    choice!("confine.level", Level, confine.level),
    choice!("confine.required", Switch, confine.required),
    field!("confine.writable", List, Fewer, confine.writable),
    field!("confine.hidden", List, More, confine.hidden),
    field!("confine.caches", List, Fewer, confine.caches),
    choice!("confine.elevation", Elevation, confine.elevation),
    field!("confine.agents", List, More, confine.agents),
    field!("confine.classes", List, More, confine.classes),
    field!("confine.closed", List, More, confine.closed),
    choice!("fidelity.on-divergence", OnDivergence, fidelity.on_divergence),
    choice!("fidelity.require-intent", Switch, fidelity.require_intent),
];

/// Whether a key may be left out of `base.toml`: own verdicts of unknowns are rare.
pub fn is_optional(field: &Field) -> bool {
    matches!(field.slot, Slot::Verdict(_))
}

/// A setting's value as it would stand in a file.
pub fn written(temper: &Temper, field: &Field) -> String {
    let mut temper = *temper;
    let quoted = |text: &str| format!("\"{}\"", crate::text::escape(text).replace('"', "\\\""));
    match field.slot {
        Slot::Permille(slot) => slot(&mut temper).to_string(),
        Slot::Verdict(slot) => quoted(slot(&mut temper).name()),
        Slot::Count(slot) => slot(&mut temper).to_string(),
        Slot::Time(slot) => quoted(&spelled(*slot(&mut temper))),
        Slot::Choice(choice) => {
            let name = choice.names.get((choice.get)(&temper)).copied().unwrap_or("");
            if choice.names == Switch::NAMES { name.to_owned() } else { quoted(name) }
        }
        Slot::Text(slot) => quoted(slot(&mut temper)),
        Slot::List(slot) => {
            let items: Vec<String> = slot(&mut temper).iter().map(|text| quoted(text)).collect();
            format!("[{}]", items.join(", "))
        }
    }
}
