//! What identifies one held-back command, and the short code under which a person finds it.
//!
//! In: the call's facts. Out: [`Key`], [`Code`]. Never: depends on the clock: the same call has the same key.

use std::borrow::Cow;
use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::act::{Class, ClassSet, Kind};
use crate::decision::Decision;
use crate::digest::Digest;
use crate::effects::model::Effect;
use crate::text::Span;

/// SHA-256 over everything that an approval is bound to, in lower-case hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key(String);

/// What an approval is bound to.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The judged bytes, and the form of the wrapper around them.
    pub text: &'a [u8],
    pub form: &'a str,
    /// The argument vector without the text: what the text sees as `$0`, `$1` and so on.
    pub words: &'a [&'a [u8]],
    pub cwd: &'a str,
    pub uid: u32,
    /// The program that asks.
    pub caller: &'a str,
    /// The policy's version.
    pub policy: &'a str,
}

impl Key {
    /// The effects are part of it: with another environment the same bytes may do another thing.
    pub fn new(facts: &Facts<'_>, decision: &Decision) -> Self {
        let mut hash = Sha256::new();
        let mut add = |part: &[u8]| {
            hash.update(part.len().to_le_bytes());
            hash.update(part);
        };
        add(b"agent-sh approval 1");
        for part in [facts.policy, facts.cwd, facts.caller, &facts.uid.to_string(), decision.verdict.name()] {
            add(part.as_bytes());
        }
        add(facts.text);
        add(facts.form.as_bytes());
        add(facts.words.len().to_string().as_bytes());
        facts.words.iter().for_each(|word| add(word));
        add(decision.canonical.as_bytes());
        for effect in &decision.effects {
            add(effect.kind.name().as_bytes());
            add(target(effect).as_bytes());
            add(effect.program.as_bytes());
        }
        Self(Digest::from(hash).to_string())
    }

    /// A further key for the same call and something else.
    #[must_use]
    pub fn with(&self, more: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in std::iter::once(&self.0.as_str()).chain(more) {
            hash.update(part.len().to_le_bytes());
            hash.update(part);
        }
        Self(Digest::from(hash).to_string())
    }

    /// The key whose hexadecimal this is.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        fits.then(|| Self(text.to_owned()))
    }

    pub fn text(&self) -> &str {
        &self.0
    }

    pub fn code(&self) -> Code {
        let bits = u64::from_str_radix(self.0.get(..8).unwrap_or("0"), 16).unwrap_or(0);
        let letter = |at: u32| {
            let place = usize::try_from(bits >> (5 * at) & 31).unwrap_or(0);
            LETTERS.chars().nth(place).unwrap_or('0')
        };
        Code((0..6).map(letter).collect())
    }
}

/// A target as it counts: of what a wrapper reads, or writes to a temporary folder, the part that clients make
/// up anew for each call does not. A wrapper's effects have no place in the text.
fn target(effect: &Effect) -> Cow<'_, str> {
    let target = &*effect.target.resolved;
    let is_fleeting =
        effect.kind == Kind::Read || effect.target.classes.has_any(ClassSet::of(Class::Temporary));
    if effect.span != Span::default() || !is_fleeting {
        return Cow::Borrowed(target);
    }
    let parts = target.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    let has_digit = |part: &&str| part.contains(|c: char| c.is_ascii_digit());
    Cow::Owned(parts.map(|part| if has_digit(&part) { "#" } else { part }).collect())
}

/// Digits and letters without those that are taken for others (I, L, O, U).
const LETTERS: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Six letters and digits, shown as `K7QX-2M`. Thirty bits of the key: enough to tell questions apart, and
/// the person sees the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code(String);

impl Code {
    /// Reads what a person typed: lower case, without the hyphen, O for 0.
    pub fn parse(text: &str) -> Option<Self> {
        let read: String = text
            .chars()
            .filter(|c| !matches!(c, '-' | ' '))
            .map(|c| match c.to_ascii_uppercase() {
                'O' => '0',
                'I' | 'L' => '1',
                c => c,
            })
            .collect();
        (read.chars().count() == 6 && read.chars().all(|c| LETTERS.contains(c))).then_some(Self(read))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (head, tail) = self.0.split_at_checked(4).unwrap_or((&self.0, ""));
        write!(f, "{head}-{tail}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::model::Target;

    fn facts() -> Facts<'static> {
        Facts {
            text: b"rm x",
            form: "bare",
            words: &[b"sh", b"-c"],
            cwd: "/w",
            uid: 7,
            caller: "/bin/a",
            policy: "1",
        }
    }

    #[test]
    fn each_part_of_a_call_is_part_of_its_key() {
        let plain = Key::new(&facts(), &Decision::default());
        assert_eq!(plain, Key::new(&facts(), &Decision::default()));
        let effect = Effect {
            kind: crate::act::Kind::Delete,
            target: Target { resolved: "/w/x".into(), ..Target::default() },
            tags: crate::act::TagSet::EMPTY,
            program: "rm".into(),
            span: crate::text::Span::default(),
        };
        let by = |facts: Facts<'_>| Key::new(&facts, &Decision::default());
        for other in [
            by(Facts { text: b"rm y", ..facts() }),
            by(Facts { words: &[b"sh", b"-c", b"/etc"], ..facts() }),
            by(Facts { words: &[b"sh -c"], ..facts() }),
            by(Facts { form: "other", ..facts() }),
            by(Facts { cwd: "/v", ..facts() }),
            by(Facts { uid: 8, ..facts() }),
            by(Facts { caller: "/bin/b", ..facts() }),
            by(Facts { policy: "2", ..facts() }),
            Key::new(&facts(), &Decision { effects: vec![effect], ..Decision::default() }),
            plain.with(&["model"]),
        ] {
            assert_ne!(other, plain);
        }
    }

    #[test]
    fn codes_are_read_as_people_type_them() {
        let key = Key::parse(&"f0".repeat(32)).unwrap();
        let code = key.code();
        assert_eq!(code.to_string().len(), 7);
        for text in [code.to_string(), code.to_string().to_lowercase(), code.to_string().replace('-', "")] {
            assert_eq!(Code::parse(&text), Some(code.clone()));
        }
        assert_eq!(Code::parse("o1il-00").map(|c| c.to_string()).as_deref(), Some("0111-00"));
        for text in ["", "K7QX", "K7QX-2", "K7QX-2MM", "K7QX-2U", "../../x", "K7QX-2é"] {
            assert_eq!(Code::parse(text), None, "{text}");
        }
    }
}
