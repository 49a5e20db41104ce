//! The small words of judgement: [`Verdict`], [`Permille`].
//!
//! Combining verdicts is `max`; there is no operation that makes one milder (INVARIANT(I5)).

use std::fmt;

/// ALLOW < WARN < DENY. `max` combines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    #[default]
    Allow,
    Warn,
    Deny,
}

impl Verdict {
    /// Lower-case name, as in policy files and machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Warn => "warn",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "ALLOW",
            Self::Warn => "WARN",
            Self::Deny => "DENY",
        })
    }
}

/// A score or weight in thousandths, 0 to 1000.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Permille(u16);

impl Permille {
    pub const ZERO: Self = Self(0);
    pub const ONE: Self = Self(1000);

    /// Values above 1000 are cut to 1000.
    pub const fn new(value: u16) -> Self {
        Self(if value > 1000 { 1000 } else { value })
    }

    pub const fn get(self) -> u16 {
        self.0
    }

    /// The product of two, rounded to nearest.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        let product = (u32::from(self.0) * u32::from(other.0) + 500) / 1000;
        Self::new(u16::try_from(product).unwrap_or(1000))
    }
}

impl fmt::Display for Permille {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_ordered() {
        assert!(Verdict::Allow < Verdict::Warn && Verdict::Warn < Verdict::Deny);
    }

    #[test]
    fn permille_is_cut_and_multiplied() {
        assert_eq!(Permille::new(2000), Permille::ONE);
        assert_eq!(Permille::new(850).times(Permille::new(900)).get(), 765);
        assert_eq!(Permille::new(85).to_string(), "0.085");
    }
}
