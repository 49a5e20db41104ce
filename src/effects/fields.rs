//! Fields that the walk makes itself: a part of a word, several words as one, a word as data.
//!
//! In: fields. Out: fields and data that keep where they come from. Never: drops a tag.

use crate::act::TagSet;
use crate::canonical::operation::quote;
use crate::canonical::value::{Data, Field, Origin};

/// A text that stands in a word or was made of it: of the same provenance and place, without a pattern.
pub fn made(text: impl Into<String>, like: &Field) -> Field {
    Field { text: text.into(), pattern: None, tags: like.tags, span: like.span }
}

/// A word as data: what an option's value holds.
pub fn field_data(field: &Field) -> Data {
    Data { text: Some(field.text.clone()), tags: field.tags, origin: Origin::Inside }
}

/// All tags of some words.
pub fn tags_of<'f>(words: impl IntoIterator<Item = &'f Field>) -> TagSet {
    words.into_iter().fold(TagSet::EMPTY, |tags, word| tags.union(word.tags))
}

/// Whether words that become one text stay apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Borders {
    /// each is quoted
    Kept,
    /// the text is split anew
    Lost,
}

/// The words as one shell text, where the first of them stands.
pub fn joined(words: &[Field], borders: Borders) -> Field {
    let texts: Vec<String> = words
        .iter()
        .map(|w| match borders {
            Borders::Kept => quote(&w.text),
            Borders::Lost => w.text.clone(),
        })
        .collect();
    let span = words.first().map(|w| w.span).unwrap_or_default();
    Field { text: texts.join(" "), pattern: None, tags: tags_of(words), span }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Span;

    #[test]
    fn words_are_joined_with_or_without_their_borders() {
        let words = [Field::known("a b", Span::new(3, 6)), Field::known("c", Span::new(7, 8))];
        assert_eq!(joined(&words, Borders::Lost).text, "a b c");
        assert_eq!(joined(&words, Borders::Kept).text, format!("{} c", quote("a b")));
        assert_eq!(joined(&words, Borders::Lost).span, Span::new(3, 6));
    }
}
