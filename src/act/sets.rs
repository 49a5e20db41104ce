//! Sets of the vocabulary's words, small enough to be copied.
//!
//! In: nothing. Out: [`TagSet`], [`ClassSet`]. Never: allocates. `build.rs` includes this file too.

use super::Class;

/// A property of an effect. See [`crate::act::tag`] for those that code sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(pub u16);

/// How many different tags a policy may name.
pub const TAG_LIMIT: usize = 512;

const TAG_WORDS: usize = TAG_LIMIT / 128;

/// A set of tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TagSet(pub [u128; TAG_WORDS]);

impl Default for TagSet {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl TagSet {
    pub const EMPTY: Self = Self([0; TAG_WORDS]);

    pub const fn of(tag: Tag) -> Self {
        let bit = 1_u128 << (tag.0 % 128);
        Self(match tag.0 / 128 {
            0 => [bit, 0, 0, 0],
            1 => [0, bit, 0, 0],
            2 => [0, 0, bit, 0],
            3 => [0, 0, 0, bit],
            _ => [0; TAG_WORDS],
        })
    }

    #[must_use]
    pub const fn with(self, tag: Tag) -> Self {
        self.union(Self::of(tag))
    }

    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (self.0, other.0);
        Self([a0 | b0, a1 | b1, a2 | b2, a3 | b3])
    }

    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (self.0, other.0);
        Self([a0 & !b0, a1 & !b1, a2 & !b2, a3 & !b3])
    }

    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (self.0, other.0);
        Self([a0 & b0, a1 & b1, a2 & b2, a3 & b3])
    }

    pub const fn is_empty(self) -> bool {
        let [first, second, third, fourth] = self.0;
        first | second | third | fourth == 0
    }

    pub const fn has(self, tag: Tag) -> bool {
        !self.intersection(Self::of(tag)).is_empty()
    }

    pub const fn has_all(self, other: Self) -> bool {
        other.minus(self).is_empty()
    }

    pub const fn has_any(self, other: Self) -> bool {
        !self.intersection(other).is_empty()
    }

    /// The tags in the set, in order of their numbers.
    pub fn iter(self) -> impl Iterator<Item = Tag> {
        (0..u16::try_from(TAG_LIMIT).unwrap_or(u16::MAX)).map(Tag).filter(move |t| self.has(*t))
    }
}

/// A set of [`Class`]es.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassSet(pub u64);

impl ClassSet {
    pub const EMPTY: Self = Self(0);

    pub const fn of(class: Class) -> Self {
        Self(class.bit())
    }

    #[must_use]
    pub const fn with(self, class: Class) -> Self {
        Self(self.0 | class.bit())
    }

    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[must_use]
    pub const fn without(self, class: Class) -> Self {
        Self(self.0 & !class.bit())
    }

    pub const fn has(self, class: Class) -> bool {
        self.0 & class.bit() != 0
    }

    pub const fn has_any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub fn iter(self) -> impl Iterator<Item = Class> {
        Class::ALL.iter().copied().filter(move |c| self.has(*c))
    }
}
