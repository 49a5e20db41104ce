//! The policy that is part of the binary, made from `policy/` by `build.rs`.
//!
//! In: nothing. Out: statics. Never: does work at start.

mod generated {
    #![allow(clippy::all, clippy::pedantic, unreachable_pub)]
    use std::borrow::Cow;

    use crate::act::{Class, ClassSet, Kind, TagSet};
    use crate::policy::catalogue::*;
    use crate::policy::sieve::*;
    use crate::policy::sought::*;
    use crate::policy::tables::*;
    use crate::policy::temper::undecided::*;
    use crate::policy::temper::*;
    use crate::score::{Thresholds, Weights};
    use crate::verdict::{Permille, Verdict};
    include!(concat!(env!("OUT_DIR"), "/policy.rs"));
}

/// The commands of the only layer, as [`crate::policy::Policy`] wants them.
pub static COMMANDS: &[&[(&str, &crate::policy::tables::Command)]] = &[generated::COMMANDS];

pub use generated::{BASE_LINES, CATALOGUE, RULES, SIEVES, TABLES, TEMPER, VERSION};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::fields::FIELDS;

    #[test]
    fn commands_are_sorted_for_the_binary_search() {
        assert!(TABLES.commands.is_sorted_by(|a, b| a.0 < b.0) && !TABLES.commands.is_empty());
    }

    #[test]
    fn every_setting_has_a_line_or_is_optional() {
        assert_eq!(BASE_LINES.len(), FIELDS.len());
        assert_eq!(VERSION.len(), 12);
        assert_eq!(TEMPER.thresholds(), crate::score::Thresholds::BALANCED);
        assert_eq!(TEMPER.weights, crate::score::Weights::CARE);
    }
}
