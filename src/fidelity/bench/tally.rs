//! The bench's figures, in whole numbers.
//!
//! In: one [`Pair`] for each text and way. Out: sums and shares. Never: a figure that was not counted.

use std::fmt;

use crate::fidelity::bench::repair::Repair;
use crate::fidelity::bench::trial::Outcome;

/// One text over one way.
#[derive(Clone, Debug)]
pub struct Pair {
    pub payload: String,
    pub way: &'static str,
    pub group: &'static str,
    pub fate: Fate,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Same,
    Changed(Loudness, Recovery),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loudness {
    /// The status is what it would have been, and nothing new was said.
    Silent,
    Loud,
    /// It never came to its end.
    Hung,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    Recovered,
    /// The channel said no before anything started.
    Refused,
    Lost,
}

impl Fate {
    /// Of a text whose calls should have been `meant`.
    pub fn of(meant: &Outcome, got: &Outcome, repair: impl FnOnce() -> Repair) -> Self {
        if got.is_like(meant) {
            return Self::Same;
        }
        let loudness = match got.status {
            None if !got.complained => Loudness::Hung,
            status
                if (status == Some(0) || status == meant.status) && (!got.complained || meant.complained) =>
            {
                Loudness::Silent
            }
            _ => Loudness::Loud,
        };
        let recovery = match repair() {
            Repair::Done(outcome) if outcome.is_like(meant) => Recovery::Recovered,
            Repair::Refused(_) => Recovery::Refused,
            Repair::Done(_) | Repair::Failed => Recovery::Lost,
        };
        Self::Changed(loudness, recovery)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Changed(..) => "changed",
        }
    }
}

/// Sums over pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    pub exposed: u64,
    pub changed: u64,
    pub silent: u64,
    pub hung: u64,
    pub recovered: u64,
    pub refused: u64,
}

impl Sums {
    pub fn add(&mut self, other: &Self) {
        self.exposed += other.exposed;
        self.changed += other.changed;
        self.silent += other.silent;
        self.hung += other.hung;
        self.recovered += other.recovered;
        self.refused += other.refused;
    }

    pub fn of<'a>(pairs: impl IntoIterator<Item = &'a Pair>) -> Self {
        let mut sums = Self::default();
        for pair in pairs {
            sums.exposed += 1;
            if let Fate::Changed(loudness, recovery) = pair.fate {
                sums.changed += 1;
                sums.silent += u64::from(loudness == Loudness::Silent);
                sums.hung += u64::from(loudness == Loudness::Hung);
                sums.recovered += u64::from(recovery == Recovery::Recovered);
                sums.refused += u64::from(recovery == Recovery::Refused);
            }
        }
        sums
    }

    pub fn changed_share(&self) -> Share {
        Share(self.changed, self.exposed.max(1))
    }

    pub fn silent_share(&self) -> Share {
        Share(self.silent, self.changed.max(1))
    }

    /// Of the changed pairs that a channel took on.
    pub fn recovered_share(&self) -> Share {
        Share(self.recovered, self.changed - self.refused)
    }
}

/// A part and a whole, shown as a number from 0 to 1 with four digits; nothing of nothing is shown as 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share(pub u64, pub u64);

impl Share {
    /// Rounded down, so that only the whole is 1.
    pub fn per_ten_thousand(self) -> u64 {
        self.0.saturating_mul(10_000).checked_div(self.1).unwrap_or(10_000)
    }

    /// As a number of JSON.
    pub fn number(self) -> serde_json::Value {
        serde_json::from_str(&self.to_string()).unwrap_or_default()
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.per_ten_thousand();
        write!(f, "{}.{:04}", parts / 10_000, parts % 10_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(calls: &[&[u8]], status: Option<i32>, complained: bool) -> Outcome {
        Outcome { calls: calls.iter().map(|c| c.to_vec()).collect(), status, complained }
    }

    #[test]
    fn fates_are_told_apart() {
        let meant = outcome(&[b"a\0"], Some(0), false);
        let fate = |got: Outcome, after: Repair| Fate::of(&meant, &got, || after);
        assert_eq!(fate(meant.clone(), Repair::Failed), Fate::Same);
        assert_eq!(
            fate(outcome(&[b"b\0"], Some(0), false), Repair::Done(meant.clone())),
            Fate::Changed(Loudness::Silent, Recovery::Recovered)
        );
        assert_eq!(
            fate(outcome(&[], Some(2), true), Repair::Done(outcome(&[], Some(0), false))),
            Fate::Changed(Loudness::Loud, Recovery::Lost)
        );
        assert_eq!(
            fate(outcome(&[], None, false), Repair::Failed),
            Fate::Changed(Loudness::Hung, Recovery::Lost)
        );
    }

    #[test]
    fn shares_are_rounded_down() {
        assert_eq!(Share(2, 3).to_string(), "0.6666");
        assert_eq!(Share(3, 3).to_string(), "1.0000");
        assert_eq!(Share(0, 0).to_string(), "1.0000");
        assert_eq!(Share(1, 2).number(), serde_json::json!(0.5));
    }
}
