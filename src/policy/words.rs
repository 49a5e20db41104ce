//! The little languages inside policy strings: roles, sets of kinds, classes and tags; and the interner
//! that numbers tags.
//!
//! In: words. Out: [`Role`]s and sets, or a [`WordError`] that says which part of the string is wrong.
//! Never: accepts a word that it doesn't know, except as the name of a new tag where one may be made.

use std::ops::Range;

use crate::act::{Class, ClassSet, Kind, TAG_LIMIT, Tag, TagSet, tag};
use crate::policy::tables::{Is, Lang, Role};

/// What is wrong with a part of a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordError {
    /// Bytes of the string's value.
    pub range: Range<usize>,
    pub message: String,
}

/// Names of tags: those of the code, then those of policy files.
#[derive(Clone, Debug, Default)]
pub struct Tags {
    /// Names beyond `act::tag::NAMES`.
    pub added: Vec<String>,
}

impl Tags {
    /// Starts with names that are numbered already.
    pub fn after(known: &[&str]) -> Self {
        Self { added: known.iter().map(|name| (*name).to_owned()).collect() }
    }

    /// The number of a name, if it has one.
    pub fn number(&self, name: &str) -> Option<Tag> {
        let in_code = tag::NAMES.iter().position(|known| *known == name);
        let place = in_code
            .or_else(|| self.added.iter().position(|known| known == name).map(|at| at + tag::NAMES.len()))?;
        u16::try_from(place).ok().map(Tag)
    }

    /// The number of a name, which gets one if it has none.
    fn intern(&mut self, name: &str) -> Result<Tag, String> {
        if let Some(known) = self.number(name) {
            return Ok(known);
        }
        let well_formed = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        if !well_formed || name.len() > 40 {
            return Err("tags are lower-case words joined by hyphens".to_owned());
        }
        if tag::NAMES.len() + self.added.len() >= TAG_LIMIT {
            return Err(format!("more than {TAG_LIMIT} different tags"));
        }
        self.added.push(name.to_owned());
        self.number(name).ok_or_else(|| "tag can't be numbered".to_owned())
    }
}

/// The words of a string with their places.
pub fn split(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    text.split_ascii_whitespace().map(move |word| {
        let start = word.as_ptr().addr().saturating_sub(text.as_ptr().addr());
        (start..start + word.len(), word)
    })
}

/// Reads `IS[:tag]*` words.
pub fn roles(text: &str, tags: &mut Tags) -> Result<Vec<Role>, WordError> {
    split(text)
        .map(|(range, word)| role(word, tags).map_err(|message| WordError { range, message }))
        .collect()
}

fn role(word: &str, tags: &mut Tags) -> Result<Role, String> {
    let mut parts = word.split(':');
    let head = parts.next().unwrap_or("");
    let mut set = TagSet::EMPTY;
    let is = if let Some(name) = head.strip_prefix('+') {
        set = set.with(tags.intern(name)?);
        Is::Tag
    } else {
        meaning(head)?
    };
    for name in parts {
        set = set.with(tags.intern(name)?);
    }
    Ok(Role { is, tags: set })
}

/// The words of roles that are not kinds of effects.
const MEANINGS: &[(&str, Is)] = &[
    ("data", Is::Data),
    ("command", Is::Command),
    ("shell-text", Is::ShellText),
    ("chdir", Is::Chdir),
    ("assignment", Is::Assignment),
    ("user", Is::User),
    ("send-data", Is::SendData),
    ("send-file", Is::SendFile),
    ("peer", Is::Peer),
];

fn meaning(word: &str) -> Result<Is, String> {
    if let Some((_, is)) = MEANINGS.iter().find(|(name, _)| *name == word) {
        return Ok(*is);
    }
    if let Some(kind) = Kind::parse(word) {
        return Ok(Is::Effect(kind));
    }
    let language = |name: &str| {
        let known = Lang::ALL.iter().find(|(known, _)| *known == name).map(|(_, lang)| *lang);
        known.ok_or_else(|| {
            let hint = nearest(name, Lang::ALL.iter().map(|(known, _)| *known));
            format!("unknown language `{}`{hint}", crate::text::escape(name))
        })
    };
    if let Some(name) = word.strip_prefix("code-") {
        return language(name).map(Is::Code);
    }
    if let Some(name) = word.strip_prefix("script-") {
        return language(name).map(Is::CodeFile);
    }
    let names = MEANINGS.iter().map(|(name, _)| *name).chain(Kind::ALL.iter().map(|kind| kind.name()));
    Err(format!("unknown role `{}`{}", crate::text::escape(word), nearest(word, names)))
}

/// Reads kinds of effects into a set of their bits.
pub fn kinds(text: &str) -> Result<u64, WordError> {
    split(text).try_fold(0, |bits, (range, word)| match Kind::parse(word) {
        Some(kind) => Ok(bits | kind.bit()),
        None => Err(unknown("effect", word, range, Kind::ALL.iter().map(|kind| kind.name()))),
    })
}

/// Reads classes into a set.
pub fn classes(text: &str) -> Result<ClassSet, WordError> {
    split(text).try_fold(ClassSet::EMPTY, |set, (range, word)| match Class::parse(word) {
        Some(class) => Ok(set.with(class)),
        None => Err(unknown("class", word, range, Class::ALL.iter().map(|class| class.name()))),
    })
}

/// Reads tags into a set; names without number get one.
pub fn tag_set(text: &str, tags: &mut Tags) -> Result<TagSet, WordError> {
    split(text).try_fold(TagSet::EMPTY, |set, (range, word)| {
        tags.intern(word).map(|tag| set.with(tag)).map_err(|message| WordError { range, message })
    })
}

/// `unknown WHAT "word"`, with the nearest known word.
pub fn unknown<'a>(
    what: &str,
    word: &str,
    range: Range<usize>,
    known: impl Iterator<Item = &'a str>,
) -> WordError {
    let message = format!("unknown {what} `{}`{}", crate::text::escape(word), nearest(word, known));
    WordError { range, message }
}

/// `; did you mean …` or nothing.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> String {
    if word.len() > 40 {
        return String::new();
    }
    let near = known.map(|name| (distance(word, name), name)).min();
    match near {
        Some((away, name)) if away <= 2 => format!("; did you mean `{name}`"),
        Some(_) | None => String::new(),
    }
}

/// Levenshtein's distance in bytes.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, y) in row.iter_mut().skip(1).zip(b.bytes()) {
            let here = (diagonal + usize::from(x != y)).min(left + 1).min(*cell + 1);
            diagonal = *cell;
            *cell = here;
            left = here;
        }
    }
    row.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn role_strings_are_read() {
        let mut tags = Tags::default();
        let read = roles("fetch:force peer +stops code-python script-shell", &mut tags).unwrap();
        let is: Vec<Is> = read.iter().map(|role| role.is).collect();
        assert_eq!(
            is,
            [Is::Effect(Kind::Fetch), Is::Peer, Is::Tag, Is::Code(Lang::Python), Is::CodeFile(Lang::Shell)]
        );
        assert_eq!(tags.added, ["stops"]);
        assert_eq!(read[0].tags, TagSet::of(tag::FORCE));
        assert_eq!(read[2].tags, TagSet::of(tags.number("stops").unwrap()));
        assert!(roles("", &mut tags).unwrap().is_empty());
    }

    #[test]
    fn wrong_words_are_named_with_their_place() {
        let mut tags = Tags::default();
        for (text, range, message) in [
            ("read  delet", 6..11, "unknown role `delet`; did you mean `delete`"),
            ("code-pyton", 0..10, "unknown language `pyton`; did you mean `python`"),
            ("read:Big", 0..8, "tags are lower-case words joined by hyphens"),
            ("+", 0..1, "tags are lower-case words joined by hyphens"),
            ("\u{1b}", 0..1, "unknown role `\\x1b`"),
        ] {
            let error = roles(text, &mut tags).err().unwrap();
            assert_eq!((error.range, error.message.as_str()), (range, message));
        }
        assert_eq!(
            kinds("read wirte").err().unwrap().message,
            "unknown effect `wirte`; did you mean `write`"
        );
        assert_eq!(classes("sistem").err().unwrap().message, "unknown class `sistem`; did you mean `system`");
    }

    #[test]
    fn tags_have_a_limit() {
        let mut tags = Tags::default();
        for n in 0..TAG_LIMIT - tag::NAMES.len() {
            tags.intern(&format!("t{n}")).unwrap();
        }
        assert!(tags.intern("one-more").is_err() && tags.intern("t0").is_ok());
        assert_eq!(tags.number(&format!("t{}", TAG_LIMIT - tag::NAMES.len() - 1)), Some(Tag(511)));
    }
}
