//! Pairing at arrival: which intent a received text belongs to, and whether it is that.
//!
//! In: what arrived, what the caller said of it, the stores, the processes above. Out: [`Arrival`].
//! Never: pairs by likeness where two could be meant; lets a text through a second time that differed the
//! first time, only since its record is used up.

use std::cell::OnceCell;

use crate::digest::Digest;
use crate::fidelity::compare::{self, Arbiter, Meaning, Slow};
use crate::fidelity::intent::{call_key, now};
use crate::fidelity::likeness::{self, Likely};
use crate::fidelity::mechanism::{Divergence, diagnose, explained};
use crate::fidelity::process::{Line, Process, Sighting};
use crate::fidelity::store::{Claim, Entry, FRESH, Found, LONG, LONGEST, Shelf, State, Store};
use crate::invocation::context::Dialect;

/// What arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrived<'a> {
    /// The whole text.
    pub text: &'a [u8],
    /// The part of it that the model wrote, decoded; all of it where no wrapper is known.
    pub body: &'a [u8],
    pub dialect: Dialect,
}

/// What the caller says of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// `--intent-sha256`
    pub digest: Option<Digest>,
    /// `AGENT_SH_INTENT_ID`: the framework's name of the call
    pub call: Option<String>,
}

/// By what a text and an intent were found to belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// the caller named the digest
    GivenDigest,
    /// the caller named the call
    GivenCall,
    /// equal digests
    Digest,
    /// the only fresh record of the same framework's process that it can be
    Process,
    /// the record that an earlier arrival of the same text used up
    Again,
}

impl By {
    pub fn name(self) -> &'static str {
        match self {
            Self::GivenDigest => "given-digest",
            Self::GivenCall => "given-call",
            Self::Digest => "digest",
            Self::Process => "process",
            Self::Again => "again",
        }
    }
}

/// Whether what arrived is what was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// nothing is known of an intent
    Unknown,
    /// a shell within a command that was paired itself
    Within,
    Same,
    /// other bytes that run the same commands
    Equivalent(Arbiter),
    Diverged(Box<Divergence>),
    /// two intents could be meant, and it is neither
    Ambiguous,
    /// the caller named an intent of which there is no record, and the text is not it
    Missing,
}

impl Outcome {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Within => "within",
            Self::Same => "same",
            Self::Equivalent(_) => "equivalent",
            Self::Diverged(_) => "diverged",
            Self::Ambiguous => "ambiguous",
            Self::Missing => "missing",
        }
    }
}

/// A text's arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    pub outcome: Outcome,
    pub by: Option<By>,
    /// Digest of what was meant.
    pub digest: Option<Digest>,
    /// What was meant, where it is known and differs from what arrived.
    pub meant: Option<Vec<u8>>,
}

impl Arrival {
    fn without(outcome: Outcome) -> Self {
        Self { outcome, by: None, digest: None, meant: None }
    }
}

/// Pairs a text that arrived here. Costs a look at each place for a store where there is none.
pub fn pair(arrived: &Arrived<'_>, given: &Given, line: &dyn Line) -> Arrival {
    pair_in(&Store::all(), arrived, given, line)
}

/// [`pair`] with given stores; `line` is only asked where there are records.
pub fn pair_in(stores: &[Store], arrived: &Arrived<'_>, given: &Given, line: &dyn Line) -> Arrival {
    if stores.is_empty() && *given == Given::default() {
        return Arrival::without(Outcome::Unknown);
    }
    // above the framework's process nothing belongs to it
    let is_host = |process| stores.iter().any(|store| store.has(process));
    let above = if stores.is_empty() { Vec::new() } else { line.above(&is_host) };
    let pairing = Pairing { arrived, given, line, above, body: OnceCell::new(), text: OnceCell::new() };
    for store in stores {
        // between listing and claiming another arrival may take a record: then look again
        for _ in 0..64 {
            match pairing.within(store) {
                Step::Found(arrival) => return arrival,
                Step::Nothing => break,
                Step::Again => {}
            }
        }
    }
    pairing.without_record()
}

struct Pairing<'a> {
    arrived: &'a Arrived<'a>,
    given: &'a Given,
    line: &'a dyn Line,
    /// The processes above, the framework's as the last where it has records.
    above: Vec<Process>,
    /// Digests are asked for where they are needed: that of a long text takes its time.
    body: OnceCell<Digest>,
    text: OnceCell<Digest>,
}

enum Step {
    Found(Arrival),
    Nothing,
    Again,
}

impl Pairing<'_> {
    /// What holds where no record was found.
    fn without_record(&self) -> Arrival {
        match (self.given.digest, &self.given.call) {
            (Some(digest), _) if self.is(digest) => Arrival {
                outcome: Outcome::Same,
                by: Some(By::GivenDigest),
                digest: Some(digest),
                meant: None,
            },
            (Some(digest), _) => Arrival { digest: Some(digest), ..Arrival::without(Outcome::Missing) },
            (None, Some(_)) => Arrival::without(Outcome::Missing),
            (None, None) => Arrival::without(Outcome::Unknown),
        }
    }

    /// Whether a digest is that of the text, or of the part that the model wrote.
    fn is(&self, digest: Digest) -> bool {
        digest == self.text() || digest == self.body()
    }

    fn text(&self) -> Digest {
        *self.text.get_or_init(|| Digest::of(self.arrived.text))
    }

    fn body(&self) -> Digest {
        let bare = self.arrived.body == self.arrived.text;
        *self.body.get_or_init(|| if bare { self.text() } else { Digest::of(self.arrived.body) })
    }

    /// Where a record of this text, or of what the caller named, lies.
    fn shelves(&self) -> Vec<Shelf> {
        let mut out = Vec::with_capacity(3);
        for (text, digest) in
            [(self.arrived.body, Self::body as fn(&Self) -> Digest), (self.arrived.text, Self::text)]
        {
            out.push(if text.len() > LONG { Shelf::Long } else { Shelf::Short(digest(self)) });
        }
        if let Some(digest) = self.given.digest {
            out.extend([Shelf::Short(digest), Shelf::Long]);
        }
        out
    }

    /// Whether a record is one of this very text. Long texts are compared, not digested.
    fn is_of(&self, found: &Found) -> bool {
        let Arrived { text, body, .. } = *self.arrived;
        let length = found.entry.length;
        if length != text.len() && length != body.len() {
            return false;
        }
        if length > LONG && length <= LONGEST {
            return Store::holds(found, body) || body.len() != text.len() && Store::holds(found, text);
        }
        self.is(found.entry.digest)
    }

    fn within(&self, store: &Store) -> Step {
        // of all above only the last can have records: there the looking ended
        let host = self.above.last().filter(|process| store.has(**process)).copied();
        // a framework that is not above us, or hidden by a process namespace: equal texts only
        let hosts = host.map_or_else(|| store.hosts().into_iter().take(64).collect(), |host| vec![host]);
        let mut found: Vec<Found> = match self.given.call {
            // a call's name says nothing of where it lies
            Some(_) => hosts.iter().flat_map(|host| store.of(*host)).collect(),
            None => self.near(store, &hosts),
        };
        if host.is_some()
            && self.given.digest.is_none()
            && let Some(above) = found.iter().find(|found| self.is_above(&found.entry))
        {
            return Step::Found(self.inside(above));
        }
        found.sort_by_key(|found| found.entry.time);
        match (self.exact(&found), host) {
            (Some((chosen, by)), _) => self.take(chosen, by),
            (None, None) => Step::Nothing,
            (None, Some(host)) => self.likely(store, host),
        }
    }

    /// A shell within a paired command. Where a client's wrapper hands the very text on once more, and a known change
    /// was done to it then, it is as if it had arrived so.
    fn inside(&self, above: &Found) -> Arrival {
        let body = self.arrived.body;
        let altered = |meant: &Vec<u8>| {
            // a few bytes are a change of many texts
            meant.len() >= 12
                && explained(meant, body).is_some()
                && compare::compare(meant, body, self.arrived.dialect, Slow::No) == Meaning::Different
        };
        match Store::text(above).filter(altered) {
            Some(meant) => Arrival {
                outcome: Outcome::Diverged(Box::new(diagnose(&meant, body))),
                by: Some(By::Again),
                digest: Some(above.entry.digest),
                meant: Some(meant),
            },
            None => Arrival::without(Outcome::Within),
        }
    }

    /// The records that say of a text of these digests, or of these processes, that it is to come or arrived.
    fn near(&self, store: &Store, hosts: &[Process]) -> Vec<Found> {
        let shelves = self.shelves();
        let above = self.above.iter().map(|process| process.pid);
        let pids: Vec<u32> = std::iter::once(self.line.pid()).chain(above).collect();
        hosts.iter().flat_map(|host| store.near(*host, &shelves, &pids)).collect()
    }

    /// Whether a record was used by one of the processes above, or by this one, before it became what it is now.
    fn is_above(&self, entry: &Entry) -> bool {
        let State::Claimed { by, .. } = entry.state else { return false };
        self.above.iter().any(|process| by.is_of(*process))
            || by.pid == self.line.pid() && self.line.own().is_some_and(|own| by.is_of(own))
    }

    /// The record that the caller names, or one of an equal text.
    fn exact<'f>(&self, found: &'f [Found]) -> Option<(&'f Found, By)> {
        let first = |is: &dyn Fn(&Entry) -> bool| {
            let mut fitting = found.iter().filter(|found| is(&found.entry)).collect::<Vec<_>>();
            // of several equal ones the oldest that is still to come
            fitting.sort_by_key(|found| (found.entry.state != State::Pending, found.entry.time));
            fitting.first().copied()
        };
        if let Some(call) = &self.given.call {
            let key = call_key(call);
            return first(&|entry| entry.call.as_ref() == Some(&key)).map(|found| (found, By::GivenCall));
        }
        if let Some(digest) = self.given.digest {
            return first(&|entry| entry.digest == digest).map(|found| (found, By::GivenDigest));
        }
        let pending = |found: &&Found| found.entry.state == State::Pending && self.is_of(found);
        let equal = found.iter().find(pending);
        let again = || {
            let used = |found: &&Found| match found.entry.state {
                State::Claimed { received, .. } => received == self.text() || self.is(found.entry.digest),
                State::Pending => false,
            };
            found.iter().rev().find(used).map(|found| (found, By::Again))
        };
        equal.map(|found| (found, By::Digest)).or_else(again)
    }

    /// The one fresh record that a changed text can belong to.
    fn likely(&self, store: &Store, host: Process) -> Step {
        if self.given.call.is_some() || self.given.digest.is_some() {
            return Step::Nothing;
        }
        let mut found = store.of(host);
        found.sort_by_key(|found| found.entry.time);
        let fresh = |found: &&Found| {
            found.entry.state == State::Pending && found.entry.time.saturating_add(FRESH) >= now()
        };
        let candidates: Vec<(&Found, Vec<u8>)> = found
            .iter()
            .rev()
            .filter(fresh)
            .take(likeness::MOST)
            .filter_map(|found| Store::text(found).map(|text| (found, text)))
            .collect();
        let texts: Vec<&[u8]> = candidates.iter().map(|(_, text)| text.as_slice()).collect();
        match likeness::choose(&texts, self.arrived.body, self.arrived.text) {
            Likely::None => Step::Nothing,
            Likely::Several => Step::Found(Arrival::without(Outcome::Ambiguous)),
            Likely::One(at) => match candidates.get(at) {
                Some((found, _)) => self.take(found, By::Process),
                None => Step::Nothing,
            },
        }
    }

    /// Claims a record and compares.
    fn take(&self, found: &Found, by: By) -> Step {
        let same = by == By::Digest || self.is(found.entry.digest);
        // read before it is claimed: its name changes
        let text = if same { None } else { Store::text(found) };
        if found.entry.state == State::Pending {
            let own = Sighting::now(self.line.pid());
            // what arrived as it was meant is known by that; only of other texts must it be kept what arrived
            let received = if same { found.entry.digest } else { self.text() };
            if Store::claim(found, own, received) == Claim::Gone {
                return Step::Again;
            }
        }
        let (outcome, meant) = match text {
            None if same => (Outcome::Same, None),
            // the record is not what its name says, or its text was too long to be kept
            None => (Outcome::Missing, None),
            Some(meant) => (self.compare(&meant), Some(meant)),
        };
        Step::Found(Arrival { outcome, by: Some(by), digest: Some(found.entry.digest), meant })
    }

    fn compare(&self, meant: &[u8]) -> Outcome {
        match compare::compare(meant, self.arrived.body, self.arrived.dialect, Slow::Allowed) {
            Meaning::Same => Outcome::Same,
            Meaning::Equivalent(arbiter) => Outcome::Equivalent(arbiter),
            Meaning::Different => Outcome::Diverged(Box::new(diagnose(meant, self.arrived.body))),
        }
    }
}

#[cfg(test)]
mod tests;
