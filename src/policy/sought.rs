//! Globs made ready for the judge: braces told apart, and what every text that they match must hold.
//!
//! In: globs of policy files. Out: [`Sought`], [`Marks`]: pairs of neighbouring bytes as bits.
//! Never: rules a text out that its glob matches; matches anything itself. `build.rs` includes this file too.

use crate::policy::keep;

/// Pairs of neighbouring bytes of a text, each as one of 128 bits. A glob whose literal parts have a pair that
/// the text lacks can't match it; most globs are ruled out so, without being looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks(pub u128);

impl Marks {
    pub const NONE: Self = Self(0);

    /// Those of a text.
    pub fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let pairs = bytes.iter().zip(bytes.get(1..).unwrap_or(&[]));
        Self(pairs.fold(0, |marks, (first, second)| marks | bit(*first, *second)))
    }

    /// Whether all of another's are here.
    pub const fn has_all(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    /// Those that every text has which the glob matches. Slashes are left out, since `a/**` is `a` too; what
    /// stands behind the first character that globs may read in several ways is left out as well.
    fn needed(glob: &str) -> Self {
        let end = glob.find(['[', '{', '\\']).unwrap_or(glob.len());
        let parts = glob.get(..end).unwrap_or("").split(['*', '?', '/']);
        Self(parts.fold(0, |marks, part| marks | Self::of(part).0))
    }
}

const fn bit(first: u8, second: u8) -> u128 {
    1 << (first.wrapping_mul(37).wrapping_add(second.wrapping_mul(101)) % 128)
}

/// A glob without choices, as far as they could be told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sought {
    pub glob: &'static str,
    pub needs: Marks,
}

impl Sought {
    /// One glob as it stands.
    pub fn new(glob: &'static str) -> Self {
        Self { glob, needs: Marks::needed(glob) }
    }

    /// A glob's choices, each by itself: `a/{b,c}` is `a/b` and `a/c`.
    pub fn choices(glob: &'static str) -> Vec<Self> {
        match told_apart(glob) {
            Some(choices) => choices.into_iter().map(|choice| Self::new(keep::text(choice))).collect(),
            None => vec![Self::new(glob)],
        }
    }
}

/// Choices of one glob that are told apart.
const CHOICES: usize = 64;

/// Whether a glob over a target is one over its whole text, slashes included: a `**` stands next to something.
pub fn is_flat(glob: &str) -> bool {
    glob.split('/').any(|part| part.contains("**") && part != "**")
}

/// The texts that a glob's braces choose from; nothing for a glob without braces, and for one whose choices
/// could mean more apart than together.
fn told_apart(glob: &str) -> Option<Vec<String>> {
    if glob.contains('\\') {
        return None;
    }
    let (mut out, mut rest) = (vec![String::new()], glob);
    while let Some((before, inner)) = rest.split_once('{') {
        let (arms, after) = inner.split_once('}')?;
        if arms.contains(['{', '/']) {
            return None;
        }
        let longer = |head: &String| {
            let head = format!("{head}{before}");
            arms.split(',').map(|arm| format!("{head}{arm}")).collect::<Vec<_>>()
        };
        out = out.iter().flat_map(longer).collect();
        if out.len() > CHOICES {
            return None;
        }
        rest = after;
    }
    if rest.len() == glob.len() {
        return None;
    }
    let choices: Vec<String> = out.iter().map(|head| format!("{head}{rest}")).collect();
    let form = |text: &str| {
        let empty = text.split('/').filter(|part| part.is_empty()).count();
        (is_flat(text), text.matches("**").count(), empty)
    };
    choices.iter().all(|choice| form(choice) == form(glob)).then_some(choices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_told_apart_where_that_changes_nothing() {
        let apart = |glob| Sought::choices(glob).iter().map(|s| s.glob).collect::<Vec<_>>();
        assert_eq!(apart("/{a,b}/*.{c,d}"), ["/a/*.c", "/a/*.d", "/b/*.c", "/b/*.d"]);
        assert_eq!(apart("**/{a*,b}x{,y}"), ["**/a*x", "**/a*xy", "**/bx", "**/bxy"]);
        assert_eq!(apart("**f({})**"), ["**f()**"]);
        for glob in
            ["/a", "/{a,}", "/*{a,*}", "**{a,}", "/{a,**}", "/{a/b,c}", "/{a", "/{a,{b,c}}", "\\{a,b}"]
        {
            assert_eq!(apart(glob), [glob], "{glob}");
        }
        let many: &str = keep::text("{a,b,c,d}".repeat(4));
        assert_eq!(apart(many), [many]);
    }

    #[test]
    fn a_text_has_the_marks_that_its_globs_need() {
        let cases = [
            ("/etc/shadow*", "/etc/shadow-", true),
            ("/etc/shadow*", "/etc/passwd", false),
            ("**/.ssh/**", "/home/u/.ssh", true),
            ("**/.ssh/**", "/home/u/ssh", false),
            ("a?b", "axb", true),
            ("x[yz]abc", "xy", true),
            ("**", "", true),
            ("é*", "é", true),
        ];
        for (glob, text, expected) in cases {
            assert_eq!(Marks::of(text).has_all(Sought::new(glob).needs), expected, "{glob} {text}");
        }
    }
}
