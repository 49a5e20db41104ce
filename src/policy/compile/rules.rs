//! Rules, semantics, paths and places.
//!
//! In: their shapes. Out: their tables; doubts about patterns that ask for tags that nothing sets.
//! Never: lets a pattern pass that can't match or that matches everything. `build.rs` includes this too.

use toml::Spanned;

use crate::act::{Class, TagSet};
use crate::policy::keep;
use crate::policy::shapes::{
    OneOrMany, PathShape, PatternShape, PlaceShape, RuleShape, SemanticShape, Text, Texts, Thousandths,
};
use crate::policy::sought::Sought;
use crate::policy::source::{PolicyError, Source};
use crate::policy::tables::{
    Family, Lifted, PathWeight, Pattern, Place, Rule, Semantic, SemanticClass, Tier,
};
use crate::policy::words::{self, Tags};
use crate::verdict::{Permille, Verdict};

use super::{named, read};

const VERDICTS: [(&str, Verdict); 3] =
    [("allow", Verdict::Allow), ("warn", Verdict::Warn), ("deny", Verdict::Deny)];

/// Reads a verdict's name.
pub fn verdict(source: &Source<'_>, text: &Text) -> Result<Verdict, PolicyError> {
    named(source, text, "verdict", VERDICTS.into_iter())
}

pub(super) struct Reader<'a, 's> {
    pub(super) source: &'a Source<'s>,
    pub(super) tags: &'a mut Tags,
    pub(super) doubts: &'a mut Vec<PolicyError>,
}

fn permille(value: Thousandths) -> Permille {
    Permille::new(value.0)
}

fn keep_all(texts: &Texts) -> &'static [&'static str] {
    keep::list(texts.iter().map(|text| keep::text(text.as_ref())).collect())
}

impl Reader<'_, '_> {
    pub(super) fn rule(&mut self, shape: &RuleShape) -> Result<Rule, PolicyError> {
        let source = self.source;
        let id = shape.id.as_ref();
        let well_formed =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | '_');
        if id.is_empty() || id.len() > 80 || !id.chars().all(well_formed) {
            let message = "a rule's id has lower-case letters, digits, `.`, `-` and `_`";
            return Err(source.problem(shape.id.span(), message));
        }
        if shape.reason.as_ref().trim().is_empty() {
            return Err(source.problem(shape.reason.span(), "a rule needs a reason"));
        }
        let mut when = Vec::new();
        for pattern in &shape.when.as_ref().0 {
            let span = if pattern.span().is_empty() { shape.when.span() } else { pattern.span() };
            when.push(self.pattern(&Spanned::new(span, pattern.as_ref()))?);
        }
        if when.is_empty() {
            return Err(source.problem(shape.when.span(), "no pattern, so this can never match"));
        }
        Ok(Rule {
            id: keep::text(id),
            family: named(source, &shape.family, "family", Family::ALL.iter().map(|f| (f.name(), *f)))?,
            tier: named(source, &shape.source.tier, "tier", Tier::ALL.iter().map(|t| (t.name(), *t)))?,
            reference: keep::text(shape.source.reference.as_str()),
            confidence: permille(shape.confidence),
            when: keep::list(when),
            verdict: shape.verdict.as_ref().map_or(Ok(Verdict::Allow), |text| verdict(source, text))?,
            lifted: if shape.last { Lifted::Never } else { Lifted::ByException },
            reason: keep::text(shape.reason.as_ref()),
            instead: keep::text(shape.instead.as_str()),
            hits: keep::list(shape.hits.iter().map(|text| keep::text(text.as_str())).collect()),
            misses: keep::list(shape.misses.iter().map(|text| keep::text(text.as_str())).collect()),
            origin: keep::text(source.origin(shape.id.span().start)),
        })
    }

    pub(super) fn semantic(&mut self, shape: &Spanned<SemanticShape>) -> Result<Semantic, PolicyError> {
        let shape = shape.as_ref();
        let classes = SemanticClass::ALL.iter().map(|class| (class.name(), *class));
        Ok(Semantic {
            when: self.pattern(&Spanned::new(shape.when.span(), shape.when.as_ref()))?,
            class: named(self.source, &shape.class, "class", classes)?,
            score: permille(shape.score),
            origin: keep::text(self.source.origin(shape.when.span().start)),
        })
    }

    pub(super) fn path(&mut self, shape: &Spanned<PathShape>) -> Result<PathWeight, PolicyError> {
        let shape = shape.as_ref();
        Ok(PathWeight {
            when: self.pattern(&Spanned::new(shape.when.span(), shape.when.as_ref()))?,
            score: permille(shape.score),
            origin: keep::text(self.source.origin(shape.when.span().start)),
        })
    }

    pub(super) fn place(&mut self, shape: &PlaceShape) -> Result<Place, PolicyError> {
        let classes = Class::ALL.iter().map(|class| (class.name(), *class));
        let class = named(self.source, &shape.class, "class", classes)?;
        if shape.patterns.is_empty() {
            return Err(self.source.problem(shape.class.span(), "no place, so this can never match"));
        }
        for text in shape.patterns.iter().chain(&shape.except) {
            let pattern = text.as_ref();
            let starts: &[&str] = if names_hosts(class) { &["host:"] } else { &["/", "~/", "./", "**/"] };
            if pattern.contains('\0') || !starts.iter().any(|start| pattern.starts_with(start)) {
                let message = if names_hosts(class) {
                    "a host starts with `host:`"
                } else {
                    "a place starts with `/`, `~`, `./` or `**/`"
                };
                return Err(self.source.problem(text.span(), message));
            }
        }
        Ok(Place { class, patterns: keep_all(&shape.patterns), except: keep_all(&shape.except) })
    }

    fn pattern(&mut self, shape: &Spanned<&PatternShape>) -> Result<Pattern, PolicyError> {
        let (span, shape, source) = (shape.span(), *shape.as_ref(), self.source);
        let classes = |text: &Option<Text>| {
            text.as_ref().map_or(Ok(crate::act::ClassSet::EMPTY), |text| read(source, text, words::classes))
        };
        let pattern = Pattern {
            kinds: shape.effect.as_ref().map_or(Ok(0), |text| read(source, text, words::kinds))?,
            under: classes(&shape.under)?,
            not_under: classes(&shape.not_under)?,
            all: self.asked(shape.with.as_ref())?,
            any: self.asked(shape.any.as_ref())?,
            none: self.asked(shape.without.as_ref())?,
            programs: names(shape.program.as_ref(), str::split_whitespace),
            not_programs: names(shape.not_program.as_ref(), str::split_whitespace),
            targets: sought(shape.target.as_ref()),
            not_targets: sought(shape.not_target.as_ref()),
        };
        match contradiction(&pattern) {
            Some(message) => Err(source.problem(span, message)),
            None => Ok(pattern),
        }
    }

    /// Tags that a pattern asks for. One that nothing sets is most likely misspelt.
    fn asked(&mut self, text: Option<&Text>) -> Result<TagSet, PolicyError> {
        let Some(text) = text else { return Ok(TagSet::EMPTY) };
        for (range, word) in words::split(text.as_ref()) {
            if self.tags.number(word).is_none() {
                let known = crate::act::tag::NAMES.iter().copied();
                let known = known.chain(self.tags.added.iter().map(String::as_str));
                let hint = words::nearest(word, known);
                let message = format!("nothing sets the tag `{}`{hint}", crate::text::escape(word));
                self.doubts.push(self.source.problem_in(text.span(), text.as_ref(), range, message));
            }
        }
        read(self.source, text, |text| words::tag_set(text, self.tags))
    }
}

/// Classes whose places are hosts, not paths.
fn names_hosts(class: Class) -> bool {
    [Class::Loopback, Class::PrivateNet, Class::Metadata, Class::Internet, Class::DropSite, Class::KnownHost]
        .contains(&class)
}

fn names<'a, I: Iterator<Item = &'a str>>(
    shape: Option<&'a Spanned<OneOrMany>>,
    split: fn(&'a str) -> I,
) -> &'static [&'static str] {
    match shape.map(Spanned::as_ref) {
        None => &[],
        Some(OneOrMany::One(text)) => keep::list(split(text).map(keep::text).collect()),
        Some(OneOrMany::Many(texts)) => keep_all(texts),
    }
}

fn sought(shape: Option<&Spanned<OneOrMany>>) -> &'static [Sought] {
    let globs = names(shape, std::iter::once);
    keep::list(globs.iter().flat_map(|glob| Sought::choices(glob)).collect())
}

fn excluded<T: PartialEq>(list: &[T], by: &[T]) -> bool {
    !list.is_empty() && list.iter().all(|name| by.contains(name))
}

/// Why a pattern is of no use.
fn contradiction(pattern: &Pattern) -> Option<&'static str> {
    let asks_nothing = pattern.kinds == 0
        && pattern.under == pattern.not_under
        && pattern.all.union(pattern.any).union(pattern.none).is_empty()
        && [pattern.programs, pattern.not_programs].iter().all(|list| list.is_empty())
        && [pattern.targets, pattern.not_targets].iter().all(|list| list.is_empty());
    if asks_nothing {
        return Some("a pattern that asks for nothing matches everything");
    }
    if pattern.under.0 != 0 && pattern.under.0 & !pattern.not_under.0 == 0 {
        return Some("`under` and `not-under` exclude each other, so this can never match");
    }
    if pattern.all.has_any(pattern.none) {
        return Some("`with` and `without` exclude each other, so this can never match");
    }
    if !pattern.any.is_empty() && pattern.none.has_all(pattern.any) {
        return Some("`any` and `without` exclude each other, so this can never match");
    }
    if excluded(pattern.programs, pattern.not_programs) {
        return Some("`program` and `not-program` exclude each other, so this can never match");
    }
    if excluded(pattern.targets, pattern.not_targets) {
        return Some("`target` and `not-target` exclude each other, so this can never match");
    }
    None
}
