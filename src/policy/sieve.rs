//! The patterns of a policy by the kind of effect that they ask for: an effect meets those alone.
//!
//! In: patterns, each with the number of what owns it. Out: [`Sieve`]: for the binary's own policy a static
//! that `build.rs` makes, for others made when their layers are merged.
//! Never: leaves a pattern out that could match. `build.rs` includes this file too.

use std::borrow::Cow;

use crate::act::Kind;
use crate::policy::tables::{PathWeight, Pattern, Rule, Semantic};

/// The sieves of a policy's tables.
#[derive(Clone, Debug)]
pub struct Sieves {
    pub rules: Sieve,
    pub semantics: Sieve,
    pub paths: Sieve,
}

impl Sieves {
    pub fn of(rules: &[&Rule], semantics: &[Semantic], paths: &[PathWeight]) -> Self {
        Self {
            rules: Sieve::of(&rules.iter().map(|rule| rule.when)),
            semantics: Sieve::of(&semantics.iter().map(|entry| std::slice::from_ref(&entry.when))),
            paths: Sieve::of(&paths.iter().map(|entry| std::slice::from_ref(&entry.when))),
        }
    }
}

/// Owners of patterns, by kind.
#[derive(Clone, Debug)]
pub struct Sieve {
    /// Where each kind's owners begin, and where the last one's end.
    pub starts: Cow<'static, [u32]>,
    /// Numbers of owners: rules, or entries of a table.
    pub owners: Cow<'static, [u32]>,
}

impl Sieve {
    fn of<'p>(owners: &(impl Iterator<Item = &'p [Pattern]> + Clone)) -> Self {
        let (mut starts, mut list) = (vec![0], Vec::new());
        for kind in Kind::ALL {
            let asks = |when: &Pattern| when.kinds == 0 || when.kinds & kind.bit() != 0;
            let asking = owners.clone().enumerate().filter(|(_, patterns)| patterns.iter().any(asks));
            list.extend(asking.map(|(number, _)| u32::try_from(number).unwrap_or(u32::MAX)));
            starts.push(u32::try_from(list.len()).unwrap_or(u32::MAX));
        }
        Self { starts: Cow::Owned(starts), owners: Cow::Owned(list) }
    }

    /// Numbers of those that may match an effect of a kind.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = usize> {
        let range = match self.starts.get(kind as usize..) {
            Some([from, to, ..]) => *from as usize..*to as usize,
            Some(_) | None => 0..0,
        };
        self.owners.get(range).unwrap_or(&[]).iter().map(|number| *number as usize)
    }
}
