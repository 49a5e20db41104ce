//! CARE's sum: four views, weights and thresholds, in integers.
//!
//! In: the signals of the views. Out: the score and the verdict that it alone gives.
//! Never: uses floating point; never lets a signal lower the sum (INVARIANT(I8)).

use crate::verdict::{Permille, Verdict};

/// The four signals, each 0 to 1000.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signals {
    pub structure: Permille,
    pub semantics: Permille,
    pub paths: Permille,
    pub patterns: Permille,
}

/// Weights of the views in thousandths; CARE: 100, 300, 300, 300.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    pub structure: Permille,
    pub semantics: Permille,
    pub paths: Permille,
    pub patterns: Permille,
}

impl Weights {
    pub const CARE: Self = Self {
        structure: Permille::new(100),
        semantics: Permille::new(300),
        paths: Permille::new(300),
        patterns: Permille::new(300),
    };
}

/// From `warn` on a score is WARN, from `deny` on DENY. CARE's balanced mode: 150 and 350.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    pub warn: Permille,
    pub deny: Permille,
}

impl Thresholds {
    pub const BALANCED: Self = Self { warn: Permille::new(150), deny: Permille::new(350) };
    pub const STRICT: Self = Self { warn: Permille::new(100), deny: Permille::new(200) };
    pub const AUTO: Self = Self { warn: Permille::new(200), deny: Permille::new(500) };

    pub fn verdict(self, total: Permille) -> Verdict {
        if total >= self.deny {
            Verdict::Deny
        } else if total >= self.warn {
            Verdict::Warn
        } else {
            Verdict::Allow
        }
    }
}

impl Signals {
    /// The weighted sum (CARE III-E), rounded to nearest, cut at 1000.
    pub fn total(self, weights: Weights) -> Permille {
        let part = |signal: Permille, weight: Permille| u32::from(signal.get()) * u32::from(weight.get());
        let sum = part(self.structure, weights.structure)
            + part(self.semantics, weights.semantics)
            + part(self.paths, weights.paths)
            + part(self.patterns, weights.patterns);
        Permille::new(u16::try_from((sum + 500) / 1000).unwrap_or(1000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_care_s() {
        let all = |s, m, p, x| Signals {
            structure: Permille::new(s),
            semantics: Permille::new(m),
            paths: Permille::new(p),
            patterns: Permille::new(x),
        };
        assert_eq!(all(0, 900, 0, 0).total(Weights::CARE).get(), 270);
        assert_eq!(all(1000, 400, 0, 1000).total(Weights::CARE).get(), 520);
        assert_eq!(Thresholds::BALANCED.verdict(Permille::new(150)), Verdict::Warn);
        assert_eq!(Thresholds::BALANCED.verdict(Permille::new(349)), Verdict::Warn);
        assert_eq!(Thresholds::BALANCED.verdict(Permille::new(350)), Verdict::Deny);
    }
}
