//! What observe mode let run: what enforcing makes of it, and the exceptions that would let it run on.
//!
//! In: records, the policy in force. Out: [`Promotion`]. Never: proposes anything for a text of which the record has
//! only a part.

use std::collections::{BTreeSet, HashMap};

use crate::cli::policy::past::{Past, verify};
use crate::cli::policy::proposal::{narrowest, place, together, why_not};
use crate::decision::Decision;
use crate::log::record::Record;
use crate::log::stats::{RuleTally, Tally};
use crate::pipeline::joined::resolve;
use crate::policy::Policy;
use crate::policy::exception::Exception;
use crate::policy::keep;
use crate::policy::tables::Lifted;
use crate::verdict::Verdict;
use crate::verify::Judge;

/// Commands that are judged anew, and exceptions that are proposed.
const COMMANDS: usize = 20_000;
const GROUPS: usize = 200;

/// One text of one user in one folder.
#[derive(Clone, Debug)]
pub struct Held {
    pub past: Past,
    /// How often it was recorded.
    pub records: u64,
    /// By the policy in force.
    pub verdict: Verdict,
    pub fate: Fate,
    /// Kinds and certain places of its effects.
    acts: Vec<(u64, String)>,
}

/// What enforcing makes of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The policy in force lets it run.
    Runs,
    /// Exceptions let it run.
    Exceptable,
    /// A final rule refuses it.
    Final(Vec<String>),
    /// No rule is final, but no exception reaches it.
    Unreached(Vec<String>),
}

/// An exception, and the commands that need it.
#[derive(Clone, Debug)]
pub struct Group {
    pub exception: Exception,
    /// The places that [`Self::exception`] names.
    pub places: BTreeSet<&'static str>,
    /// Indices into [`Promotion::held`].
    pub needed: Vec<usize>,
    /// Of these: those that it lets run by itself.
    pub alone: usize,
    /// Others that it would let run as well.
    pub besides: Vec<usize>,
    /// Records of the commands that need it.
    pub records: u64,
}

/// Collects records of observe mode.
#[derive(Debug, Default)]
pub struct Gathered {
    /// Records looked at, lines that are none.
    pub looked: u64,
    pub foreign: u64,
    /// What was observed.
    pub tally: Tally,
    /// Records of which only a part is there, and those beyond what is judged anew.
    pub partial: u64,
    pub beyond: u64,
    /// Those that no rule spoke of.
    pub unruled: RuleTally,
    commands: Vec<(Past, u64)>,
    places: HashMap<(String, String, u32), usize>,
}

impl Gathered {
    pub fn add(&mut self, record: &Record<'_>) {
        self.looked = self.looked.saturating_add(1);
        if record.outcome != "observed" {
            return;
        }
        self.tally.add(record);
        if record.rules.is_empty() {
            self.unruled.add(record);
        }
        let Some(past) = Past::of(record) else {
            self.partial = self.partial.saturating_add(1);
            return;
        };
        let key = (past.sha256.clone(), past.cwd.clone(), past.uid);
        if let Some((_, count)) = self.places.get(&key).and_then(|at| self.commands.get_mut(*at)) {
            *count = count.saturating_add(1);
        } else if self.commands.len() < COMMANDS {
            self.places.insert(key, self.commands.len());
            self.commands.push((past, 1));
        } else {
            self.beyond = self.beyond.saturating_add(1);
        }
    }
}

/// What becomes of all commands.
#[derive(Debug)]
pub struct Promotion {
    pub policy: Policy,
    pub held: Vec<Held>,
    /// Most records first.
    pub groups: Vec<Group>,
}

impl Promotion {
    /// Judges every command anew.
    pub fn of(policy: Policy, gathered: &Gathered) -> Self {
        let judge = Judge::new(policy);
        let mut groups: Vec<Group> = Vec::new();
        let mut held: Vec<Held> = Vec::new();
        for (past, records) in &gathered.commands {
            let decision = verify(&judge, past);
            let needed = if runs(&decision, &policy) { Vec::new() } else { narrowest(policy, past) };
            let fate = fate(policy, past, &decision, &needed);
            let (acts, verdict) = (acts(&decision), decision.verdict);
            if fate == Fate::Exceptable {
                for exception in &needed {
                    put(&mut groups, exception, held.len(), *records);
                }
            }
            held.push(Held { past: past.clone(), records: *records, verdict, fate, acts });
        }
        groups.sort_by_key(|group| std::cmp::Reverse(group.records));
        groups.truncate(GROUPS);
        let mut promotion = Self { policy, held, groups: Vec::new() };
        promotion.groups = groups.into_iter().map(|group| promotion.weighed(group)).collect();
        promotion
    }

    /// The policy with some exceptions more.
    fn with(&self, exceptions: &[Exception]) -> (Judge, Policy) {
        let policy = Policy { exceptions: together(self.policy, exceptions), ..self.policy };
        (Judge::new(policy), policy)
    }

    /// Finds out what a group's exception lets run.
    fn weighed(&self, mut group: Group) -> Group {
        let list = keep::list(group.places.iter().copied().collect());
        let exception = &mut group.exception;
        if exception.under.is_empty() {
            exception.targets = list;
        } else {
            exception.under = list;
        }
        let (judge, policy) = self.with(&[group.exception]);
        let through = |held: &Held| runs(&verify(&judge, &held.past), &policy);
        for (at, held) in self.held.iter().enumerate() {
            if held.fate == Fate::Runs || !held.acts.iter().any(|act| reaches(&group.exception, act)) {
                continue;
            }
            match (group.needed.binary_search(&at).is_ok(), through(held)) {
                (true, true) => group.alone = group.alone.saturating_add(1),
                (false, true) => group.besides.push(at),
                (true | false, false) => {}
            }
        }
        group
    }

    /// Commands that run with these groups' exceptions, and those that don't.
    pub fn with_groups(&self, accepted: &[usize]) -> (usize, usize) {
        let chosen = accepted.iter().filter_map(|at| self.groups.get(*at)).map(|group| group.exception);
        let (judge, policy) = self.with(&chosen.collect::<Vec<_>>());
        let running = self.held.iter().filter(|held| runs(&verify(&judge, &held.past), &policy)).count();
        (running, self.held.len().saturating_sub(running))
    }

    /// Commands with a fate of some kind.
    pub fn where_fate(&self, is: impl Fn(&Fate) -> bool) -> Vec<&Held> {
        self.held.iter().filter(|held| is(&held.fate)).collect()
    }
}

/// Whether enforcing lets a decision run, as far as nobody is asked.
fn runs(decision: &Decision, policy: &Policy) -> bool {
    resolve(decision, policy) == Verdict::Allow
}

fn fate(policy: Policy, past: &Past, decision: &Decision, needed: &[Exception]) -> Fate {
    if runs(decision, &policy) {
        return Fate::Runs;
    }
    let lifted = Policy { exceptions: together(policy, needed), ..policy };
    let left = verify(&Judge::new(lifted), past);
    if runs(&left, &lifted) {
        return Fate::Exceptable;
    }
    let mut why = why_not(&left);
    why.dedup();
    let is_final = left.findings.iter().any(|finding| finding.lifted == Lifted::Never);
    if is_final { Fate::Final(why) } else { Fate::Unreached(why) }
}

fn acts(decision: &Decision) -> Vec<(u64, String)> {
    let certain = decision.effects.iter().filter_map(|effect| Some((effect.kind.bit(), place(effect)?)));
    certain.map(|(kind, place)| (kind, place.to_owned())).collect()
}

/// Whether an exception could be about such an effect; the judge says whether it is.
fn reaches(exception: &Exception, (kind, place): &(u64, String)) -> bool {
    exception.kinds & kind != 0
        && (exception.targets.contains(&place.as_str())
            || exception.under.iter().any(|under| place.starts_with(under)))
}

/// Adds a command to the group whose exception lifts the same in the same folder: its places are joined.
fn put(groups: &mut Vec<Group>, exception: &Exception, command: usize, records: u64) {
    let places: BTreeSet<&str> = exception.under.iter().chain(exception.targets).copied().collect();
    let alike = groups.iter_mut().find(|group| {
        let known = &group.exception;
        let is_near = match (exception.under, known.under) {
            ([one, ..], [other, ..]) => folder(one) == folder(other),
            (_, []) => group.places == places,
            ([], _) => false,
        };
        is_near && known.rules == exception.rules && known.kinds == exception.kinds
    });
    let Some(group) = alike else {
        let needed = vec![command];
        let exception = *exception;
        groups.push(Group { exception, places, needed, alone: 0, besides: Vec::new(), records });
        return;
    };
    group.places.extend(places);
    if group.needed.last() != Some(&command) {
        group.needed.push(command);
        group.records = group.records.saturating_add(records);
    }
}

/// The folder around a path.
pub fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;

    fn gathered(texts: &[(&str, u64)]) -> Gathered {
        let mut gathered = Gathered::default();
        for (text, count) in texts {
            let sha256 = Digest::of(text.as_bytes()).to_string();
            for _ in 0..*count {
                gathered.add(&Record {
                    time: "2026-11-30T12:00:00.000000Z".into(),
                    verdict: "deny".into(),
                    outcome: "observed".into(),
                    rules: "filesystem.delete-outside".into(),
                    sha256: sha256.as_str().into(),
                    text: crate::text::escape(text).into(),
                    cwd: "/home/dev/proj".into(),
                    ..Record::default()
                });
            }
        }
        gathered
    }

    #[test]
    fn commands_are_sorted_by_what_enforcing_makes_of_them() {
        let gathered = gathered(&[
            ("rm -rf /opt/build/a", 3),
            ("rm -rf /opt/build/b", 2),
            ("rm -rf /opt/build/a/x", 1),
            ("rm -rf /opt/other", 1),
            ("rm -rf /etc/ssh", 4),
            ("ls", 1),
        ]);
        let promotion = Promotion::of(Policy::embedded(), &gathered);
        let is_final = |fate: &Fate| matches!(fate, Fate::Final(_) | Fate::Unreached(_));
        let texts =
            |held: Vec<&Held>| held.iter().map(|h| (h.past.text.clone(), h.records)).collect::<Vec<_>>();
        assert_eq!(texts(promotion.where_fate(is_final)), [("rm -rf /etc/ssh".to_owned(), 4)]);
        assert_eq!(texts(promotion.where_fate(|fate| *fate == Fate::Runs)), [("ls".to_owned(), 1)]);
        let places: Vec<Vec<&str>> =
            promotion.groups.iter().map(|group| group.places.iter().copied().collect()).collect();
        assert!(places.contains(&vec!["/opt/build/a", "/opt/build/b"]), "{places:?}");
        let first = &promotion.groups[0];
        assert_eq!((first.records, first.alone, first.needed.len()), (5, 2, 2), "{first:?}");
        // what lies below a place is let through with it
        assert_eq!(first.besides.len(), 1);
        let all: Vec<usize> = (0..promotion.groups.len()).collect();
        assert_eq!(promotion.with_groups(&all), (5, 1));
        assert_eq!(promotion.with_groups(&[]), (1, 5));
    }

    #[test]
    fn a_part_of_a_text_is_counted_and_not_judged() {
        let mut gathered = gathered(&[("rm -rf /opt/a", 1)]);
        gathered.add(&Record {
            verdict: "deny".into(),
            outcome: "observed".into(),
            text: "rm -rf /opt/\\...".into(),
            ..Record::default()
        });
        gathered.add(&Record { verdict: "deny".into(), outcome: "blocked".into(), ..Record::default() });
        assert_eq!((gathered.looked, gathered.partial, gathered.commands.len()), (3, 1, 1));
    }
}
