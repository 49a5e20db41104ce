//! Records counted: by verdict, rule, agent, folder, time and cost.
//!
//! In: records, one after another. Out: [`Tally`]. Never: keeps more than a bounded number of texts.

use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;

use super::record::Record;
use super::when;

/// What became of some records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub run: u64,
    pub blocked: u64,
    /// Would have been blocked; observe mode let them run.
    pub observed: u64,
    pub unmediated: u64,
}

impl Counts {
    fn add(&mut self, record: &Record<'_>) {
        let place = match &*record.outcome {
            "blocked" => &mut self.blocked,
            "observed" => &mut self.observed,
            "unmediated" => &mut self.unmediated,
            _ => &mut self.run,
        };
        *place = place.saturating_add(1);
    }

    pub fn total(&self) -> u64 {
        [self.run, self.blocked, self.observed, self.unmediated].iter().fold(0, |a, b| a.saturating_add(*b))
    }

    /// What the policy would not let run, whether it did or not.
    pub fn refused(&self) -> u64 {
        self.blocked.saturating_add(self.observed)
    }
}

/// A text and when it came last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    pub time: String,
    pub text: String,
    pub cwd: String,
    pub agent: String,
    pub verdict: String,
    pub outcome: String,
}

/// What is known of one rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleTally {
    pub counts: Counts,
    /// The first different texts, at most [`EXAMPLES`].
    pub examples: Vec<Example>,
    /// Folders in which it held, at most [`FOLDERS`], with how often.
    pub folders: BTreeMap<String, u64>,
}

/// Texts kept for a rule.
pub const EXAMPLES: usize = 5;
/// Folders kept for a rule, and in all.
pub const FOLDERS: usize = 2000;
/// Bytes kept of a text.
const TEXT: usize = 600;

/// All counts.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub counts: Counts,
    /// Lines that are no record.
    pub foreign: u64,
    pub first: String,
    pub last: String,
    pub verdicts: BTreeMap<String, u64>,
    pub rules: HashMap<String, RuleTally>,
    pub agents: HashMap<String, Counts>,
    pub folders: HashMap<String, Counts>,
    /// By seconds since 1970, in hours.
    pub hours: BTreeMap<i64, Counts>,
    /// Microseconds of each judgement.
    pub micros: Vec<u32>,
}

fn entry<'a, V: Default>(map: &'a mut HashMap<String, V>, key: &str, most: usize) -> Option<&'a mut V> {
    if !map.contains_key(key) {
        if map.len() >= most {
            return None;
        }
        map.insert(key.to_owned(), V::default());
    }
    map.get_mut(key)
}

impl Example {
    pub fn of(record: &Record<'_>) -> Self {
        Self {
            time: record.time.clone().into_owned(),
            text: crate::text::prefix(&record.text, TEXT).to_owned(),
            cwd: record.cwd.clone().into_owned(),
            agent: record.agent().to_owned(),
            verdict: record.verdict.clone().into_owned(),
            outcome: record.outcome.clone().into_owned(),
        }
    }
}

impl Tally {
    pub fn add(&mut self, record: &Record<'_>) {
        self.counts.add(record);
        if self.first.is_empty() || *record.time < *self.first {
            (*record.time).clone_into(&mut self.first);
        }
        if *record.time > *self.last {
            (*record.time).clone_into(&mut self.last);
        }
        match self.verdicts.get_mut(&*record.verdict) {
            Some(count) => *count = count.saturating_add(1),
            None => drop(self.verdicts.insert(record.verdict.clone().into_owned(), 1)),
        }
        for id in record.rules() {
            if let Some(rule) = entry(&mut self.rules, id, FOLDERS) {
                rule.add(record);
            }
        }
        if let Some(counts) = entry(&mut self.agents, record.agent(), FOLDERS) {
            counts.add(record);
        }
        if let Some(counts) = entry(&mut self.folders, &record.cwd, FOLDERS) {
            counts.add(record);
        }
        let hour = when::seconds(&record.time).div_euclid(3600);
        self.hours.entry(hour).or_default().add(record);
        self.micros.push(u32::try_from(record.micros).unwrap_or(u32::MAX));
    }

    /// Microseconds that this share (in thousandths) of the judgements did not exceed.
    pub fn quantile(sorted: &[u32], thousandths: usize) -> u32 {
        let at = sorted.len().saturating_sub(1).saturating_mul(thousandths).div_ceil(1000);
        sorted.get(at).copied().unwrap_or(0)
    }
}

impl RuleTally {
    /// One record more.
    pub fn add(&mut self, record: &Record<'_>) {
        self.counts.add(record);
        let text = crate::text::prefix(&record.text, TEXT);
        if self.examples.len() < EXAMPLES && self.examples.iter().all(|example| example.text != text) {
            self.examples.push(Example::of(record));
        }
        if let Some(count) = self.folders.get_mut(&*record.cwd) {
            *count = count.saturating_add(1);
        } else if self.folders.len() < FOLDERS {
            self.folders.insert(record.cwd.clone().into_owned(), 1);
        }
    }
}

/// Names with their counts, the most refused first.
pub fn ranked<S: BuildHasher>(counts: &HashMap<String, Counts, S>) -> Vec<(&str, Counts)> {
    let mut out: Vec<_> = counts.iter().map(|(name, counts)| (name.as_str(), *counts)).collect();
    out.sort_by(|a, b| (b.1.refused(), b.1.total(), a.0).cmp(&(a.1.refused(), a.1.total(), b.0)));
    out
}

/// Rules, the one that refused most first.
pub fn ranked_rules<S: BuildHasher>(rules: &HashMap<String, RuleTally, S>) -> Vec<(&str, &RuleTally)> {
    let mut out: Vec<_> = rules.iter().map(|(name, rule)| (name.as_str(), rule)).collect();
    out.sort_by(|a, b| {
        (b.1.counts.refused(), b.1.counts.total(), a.0).cmp(&(a.1.counts.refused(), a.1.counts.total(), b.0))
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record<'a>(time: &'a str, outcome: &'a str, rules: &'a str, text: &'a str, micros: u64) -> Record<'a> {
        Record {
            time: time.into(),
            verdict: if outcome == "run" { "allow" } else { "deny" }.into(),
            outcome: outcome.into(),
            rules: rules.into(),
            text: text.into(),
            cwd: "/p".into(),
            micros,
            ..Record::default()
        }
    }

    #[test]
    fn records_are_counted_once_for_each_thing_they_say() {
        let mut tally = Tally::default();
        for record in [
            record("2026-11-30T12:59:59.000000Z", "run", "", "ls", 5),
            record("2026-11-30T13:00:00.000000Z", "blocked", "a.b,c.d", "rm", 7),
            record("2026-11-30T13:10:00.000000Z", "observed", "a.b", "rm", 9),
        ] {
            tally.add(&record);
        }
        assert_eq!(tally.counts, Counts { run: 1, blocked: 1, observed: 1, unmediated: 0 });
        assert_eq!(tally.verdicts, BTreeMap::from([("allow".to_owned(), 1), ("deny".to_owned(), 2)]));
        assert_eq!(tally.hours.len(), 2);
        assert_eq!(tally.agents["unknown"].total(), 3);
        let ranked = ranked_rules(&tally.rules);
        assert_eq!(
            ranked.iter().map(|r| (r.0, r.1.counts.refused(), r.1.examples.len())).collect::<Vec<_>>(),
            [("a.b", 2, 1), ("c.d", 1, 1)]
        );
        assert_eq!(
            (tally.first.as_str(), tally.last.as_str()),
            ("2026-11-30T12:59:59.000000Z", "2026-11-30T13:10:00.000000Z")
        );
    }

    #[test]
    fn quantiles_are_measured_values() {
        let sorted: Vec<u32> = (1..=100).collect();
        assert_eq!(
            (Tally::quantile(&sorted, 500), Tally::quantile(&sorted, 990), Tally::quantile(&[], 500)),
            (51, 100, 0)
        );
    }
}
