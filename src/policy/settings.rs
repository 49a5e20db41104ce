//! Reads settings into a temper, with the rights of the layer that they come from.
//!
//! In: keys and values of a file. Out: the changed [`Temper`], and which setting was set on which line.
//! Never: lets a layer that isn't root's relax anything (INVARIANT(I6)). `build.rs` includes this too.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::policy::fields::{Choice, FIELDS, Field, Slot, Tighter};
use crate::policy::keep;
use crate::policy::shapes::Entry;
use crate::policy::source::{PolicyError, Source};
use crate::policy::temper::undecided::span as span_of_time;
use crate::policy::temper::{Enforcement, Switch, Temper};
use crate::policy::values::{check_text, list, permille};
use crate::policy::words::{nearest, unknown};
use crate::verdict::Verdict;

/// What a layer may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// everything
    Root,
    /// what makes the policy stricter
    Tighten,
}

/// A setting that a file sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Index into [`FIELDS`].
    pub field: usize,
    /// From 1.
    pub line: usize,
}

/// Reads a file's settings. They all apply, or none.
pub fn apply(
    source: &Source<'_>,
    entries: &[Entry<'_>],
    rights: Rights,
    temper: &Temper,
) -> Result<(Temper, Vec<Change>), PolicyError> {
    let mut reader = Reader { source, rights, temper: *temper, changes: Vec::new() };
    let schema = entries.iter().find(|(key, _)| key.as_ref().as_ref() == "schema");
    let version = schema.and_then(|(_, value)| value.as_ref().as_integer().map(|n| n.as_str() == "1"));
    if version != Some(true) {
        let span = schema.map_or(0..0, |(_, value)| value.span());
        return Err(source.problem(span, "the file must say `schema = 1`"));
    }
    for (key, value) in entries.iter().filter(|(key, _)| key.as_ref().as_ref() != "schema") {
        reader.entry("", &key.span(), key.as_ref().as_ref(), value)?;
    }
    reader.check(temper)?;
    let changes = reader
        .changes
        .iter()
        .map(|(field, span)| Change { field: *field, line: source.line_number(span.start) })
        .collect();
    Ok((reader.temper, changes))
}

struct Reader<'a, 's> {
    source: &'a Source<'s>,
    rights: Rights,
    temper: Temper,
    changes: Vec<(usize, Range<usize>)>,
}

impl Reader<'_, '_> {
    fn entry(
        &mut self,
        prefix: &str,
        span: &Range<usize>,
        key: &str,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(), PolicyError> {
        // `on_divergence` is as good as `on-divergence`
        let key = key.replace('_', "-");
        let whole = if prefix.is_empty() { key } else { format!("{prefix}.{key}") };
        let known = FIELDS.iter().enumerate().find(|(_, field)| field.key == whole);
        if let Some((place, field)) = known {
            self.changes.push((place, span.clone()));
            return self.set(field, value);
        }
        let is_group =
            FIELDS.iter().any(|field| field.key.strip_prefix(&whole).is_some_and(|k| k.starts_with('.')));
        match value.as_ref().as_table() {
            Some(table) if is_group => self.table(&whole, table),
            Some(_) | None if is_group => Err(self.source.problem(value.span(), "a table is needed here")),
            Some(_) | None => {
                let hint = nearest(&whole, FIELDS.iter().map(|field| field.key));
                let message = format!("unknown key `{}`{hint}", crate::text::escape(&whole));
                Err(self.source.problem(span.clone(), message))
            }
        }
    }

    fn table(&mut self, prefix: &str, table: &DeTable<'_>) -> Result<(), PolicyError> {
        table
            .iter()
            .try_for_each(|(key, value)| self.entry(prefix, &key.span(), key.as_ref().as_ref(), value))
    }

    fn set(&mut self, field: &Field, value: &Spanned<DeValue<'_>>) -> Result<(), PolicyError> {
        let span = value.span();
        let wrong = |what: &str| self.source.problem(span.clone(), format!("`{}` needs {what}", field.key));
        let order = match field.slot {
            Slot::Permille(slot) => {
                let new = permille(value.as_ref())
                    .ok_or_else(|| wrong("a decimal from 0 to 1 with at most three places"))?;
                replace(slot(&mut self.temper), new)
            }
            Slot::Verdict(slot) => {
                let name = value.as_ref().as_str();
                let known = [Verdict::Allow, Verdict::Warn, Verdict::Deny];
                let new = known.into_iter().find(|verdict| Some(verdict.name()) == name);
                replace(slot(&mut self.temper), new.ok_or_else(|| wrong("`allow`, `warn` or `deny`"))?)
            }
            Slot::Count(slot) => {
                let read = value.as_ref().as_integer();
                let read = read.and_then(|n| u32::from_str_radix(n.as_str(), n.radix()).ok());
                replace(slot(&mut self.temper), read.ok_or_else(|| wrong("a number from 0 to 4294967295"))?)
            }
            Slot::Time(slot) => {
                let new = value.as_ref().as_str().and_then(span_of_time);
                let what = "a span of time, as in \"30s\" or \"5m\"";
                replace(slot(&mut self.temper), new.ok_or_else(|| wrong(what))?)
            }
            Slot::Choice(choice) => return self.choose(field, choice, value),
            Slot::Text(slot) => {
                let new = value.as_ref().as_str().ok_or_else(|| wrong("a string"))?;
                check_text(field.key, new).map_err(wrong)?;
                let old = slot(&mut self.temper);
                if *old == new {
                    return Ok(());
                }
                *old = keep::text(new);
                Direction::Other
            }
            Slot::List(slot) => {
                let new = list(field.key, value.as_ref()).map_err(wrong)?;
                let old: &'static [&'static str] = slot(&mut self.temper);
                *slot(&mut self.temper) = self.merge(field, old, new, &span)?;
                return Ok(());
            }
        };
        self.allow(field, order, span)
    }

    /// Refuses a change for which the layer has no rights.
    fn allow(&self, field: &Field, change: Direction, span: Range<usize>) -> Result<(), PolicyError> {
        let tightens = match (change, field.tighter) {
            (Direction::None, _) | (Direction::Up, Tighter::Higher) | (Direction::Down, Tighter::Lower) => {
                true
            }
            (Direction::Up | Direction::Down | Direction::Other, _) => false,
        };
        if tightens || self.rights == Rights::Root { Ok(()) } else { Err(self.relaxes(field, span)) }
    }

    fn relaxes(&self, field: &Field, span: Range<usize>) -> PolicyError {
        let message = match field.tighter {
            Tighter::Never => format!("`{}` is root's to set, in /etc/agent-sh/policy.d", field.key),
            Tighter::Higher | Tighter::Lower | Tighter::More | Tighter::Fewer => {
                format!("this would relax `{}`, which only root may, in /etc/agent-sh/policy.d", field.key)
            }
        };
        self.source.problem(span, message)
    }

    fn choose(
        &mut self,
        field: &Field,
        choice: Choice,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(), PolicyError> {
        let name = match value.as_ref().as_bool() {
            Some(on) if choice.names == Switch::NAMES => {
                if on {
                    "true"
                } else {
                    "false"
                }
            }
            Some(_) | None if choice.names == Switch::NAMES => "",
            Some(_) | None => value.as_ref().as_str().unwrap_or(""),
        };
        // `mode = "observe"` is what administrators write first; it means the enforcement.
        if field.key == "mode" && Enforcement::NAMES.contains(&name) {
            let place = FIELDS.iter().position(|field| field.key == "enforcement");
            let enforcement = place.and_then(|place| FIELDS.get(place).map(|field| (place, field)));
            if let Some((place, field)) = enforcement {
                if let Some((last, _)) = self.changes.last_mut() {
                    *last = place;
                }
                return self.set(field, value);
            }
        }
        let Some(new) = choice.names.iter().position(|known| *known == name) else {
            let error = unknown("value", name, 0..0, choice.names.iter().copied());
            let hint = error.message.split_once(';').map_or(String::new(), |(_, hint)| format!(";{hint}"));
            let message = format!("`{}` is one of {}{hint}", field.key, choice.names.join(", "));
            return Err(self.source.problem(value.span(), message));
        };
        let mut old = (choice.get)(&self.temper);
        (choice.set)(&mut self.temper, new);
        let order = replace(&mut old, new);
        self.allow(field, order, value.span())
    }

    /// A list's new value: root replaces it, others only add or only take away.
    fn merge(
        &self,
        field: &Field,
        old: &'static [&'static str],
        new: Vec<&str>,
        span: &Range<usize>,
    ) -> Result<&'static [&'static str], PolicyError> {
        let kept = |items: Vec<&str>| keep::list(items.into_iter().map(keep::text).collect());
        match (self.rights, field.tighter) {
            (Rights::Root, _) => Ok(kept(new)),
            (Rights::Tighten, Tighter::More) => {
                let added = new.into_iter().filter(|item| !old.contains(item)).map(keep::text);
                Ok(keep::list(old.iter().copied().chain(added).collect()))
            }
            (Rights::Tighten, Tighter::Fewer) if new.iter().all(|item| old.contains(item)) => Ok(kept(new)),
            (Rights::Tighten, Tighter::Never) if new == old => Ok(old),
            (Rights::Tighten, Tighter::Fewer | Tighter::Never | Tighter::Higher | Tighter::Lower) => {
                Err(self.relaxes(field, span.clone()))
            }
        }
    }

    /// What must hold between settings.
    fn check(&self, before: &Temper) -> Result<(), PolicyError> {
        let place = |prefix: &str| {
            let found = self.changes.iter().rev();
            let mut found =
                found.filter(|(at, _)| FIELDS.get(*at).is_some_and(|f| f.key.starts_with(prefix)));
            found.next().map_or(0..0, |(_, span)| span.clone())
        };
        let all = self.temper.thresholds;
        if [all.auto, all.balanced, all.strict].iter().any(|lines| lines.warn > lines.deny) {
            return Err(self
                .source
                .problem(place("thresholds."), "a `warn` threshold lies above its `deny`"));
        }
        if let Some(problem) = self.temper.adjudicator.problem() {
            return Err(self.source.problem(place("adjudicator."), problem));
        }
        let (old, new) = (before.thresholds(), self.temper.thresholds());
        if self.rights == Rights::Tighten && (new.warn > old.warn || new.deny > old.deny) {
            let message = format!(
                "this mode's thresholds ({}, {}) lie above those in force ({}, {}), so it would relax the policy",
                new.warn, new.deny, old.warn, old.deny
            );
            return Err(self.source.problem(place("mode"), message));
        }
        Ok(())
    }
}

/// How a value changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    None,
    Up,
    Down,
    Other,
}

fn replace<T: Ord>(old: &mut T, new: T) -> Direction {
    let change = match new.cmp(old) {
        std::cmp::Ordering::Less => Direction::Down,
        std::cmp::Ordering::Equal => Direction::None,
        std::cmp::Ordering::Greater => Direction::Up,
    };
    *old = new;
    change
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::embedded::TEMPER;
    use crate::policy::shapes::read_file;
    use crate::policy::temper::{Enforcement, Mode};
    use crate::verdict::Permille;

    fn set(text: &str, rights: Rights) -> Result<(Temper, Vec<Change>), String> {
        let text = format!("schema = 1\n{text}\n");
        let source = Source::new("f", "f", &text);
        let file = read_file(&source).unwrap();
        apply(&source, &file.settings, rights, &TEMPER)
            .map_err(|error| error.to_string().lines().next().unwrap().to_owned())
    }

    #[test]
    fn root_sets_what_it_likes() {
        let (temper, changes) = set("mode = \"observe\"\nweights = { paths = 0.25 }\n[limits]\ndepth = 0x10\n[audit]\nfile = \"/var/log/a\"\nrequired = true", Rights::Root).unwrap();
        assert_eq!((temper.mode, temper.enforcement), (Mode::Balanced, Enforcement::Observe));
        assert_eq!((temper.weights.paths, temper.limits.depth), (Permille::new(250), 16));
        assert_eq!((temper.audit.file, temper.audit.required), ("/var/log/a", Switch::On));
        let lines: Vec<_> = changes.iter().map(|change| (FIELDS[change.field].key, change.line)).collect();
        assert_eq!(
            lines,
            [
                ("audit.file", 7),
                ("audit.required", 8),
                ("limits.depth", 5),
                ("enforcement", 2),
                ("weights.paths", 3)
            ]
        );
    }

    #[test]
    fn others_only_tighten() {
        for (text, error) in [
            ("mode = \"strict\"", None),
            ("mode = \"balanced\"", None),
            ("thresholds.balanced = { warn = 0.1 }", None),
            ("unknown.code = { score = 0.9, verdict = \"deny\" }", None),
            ("audit.required = true\nconfine.required = true\nscripts = \"sealed\"", None),
            ("confine.hidden = [\"~/x\"]", None),
            (
                "mode = \"auto\"",
                Some("f:2:8: this would relax `mode`, which only root may, in /etc/agent-sh/policy.d"),
            ),
            (
                "mode = \"observe\"",
                Some("f:2:8: this would relax `enforcement`, which only root may, in /etc/agent-sh/policy.d"),
            ),
            (
                "weights.paths = 0.2",
                Some(
                    "f:2:17: this would relax `weights.paths`, which only root may, in /etc/agent-sh/policy.d",
                ),
            ),
            ("limits.files = 1", Some("f:2:16: `limits.files` is root's to set, in /etc/agent-sh/policy.d")),
            (
                "shells.bash = [\"/tmp/bash\"]",
                Some("f:2:15: `shells.bash` is root's to set, in /etc/agent-sh/policy.d"),
            ),
            (
                "confine.writable = [\"/\"]",
                Some(
                    "f:2:20: this would relax `confine.writable`, which only root may, in /etc/agent-sh/policy.d",
                ),
            ),
        ] {
            assert_eq!(set(text, Rights::Tighten).err().as_deref(), error, "{text}");
        }
        let (temper, _) = set("confine.hidden = [\"~/x\"]", Rights::Tighten).unwrap();
        assert_eq!(temper.confine.hidden, ["~/x"]);
    }

    #[test]
    fn a_stricter_mode_with_looser_thresholds_is_refused() {
        let text = "schema = 1\nmode = \"strict\"\n";
        let mut before = TEMPER;
        before.thresholds.strict.warn = Permille::new(160);
        let source = Source::new("f", "f", text);
        let file = read_file(&source).unwrap();
        let error = apply(&source, &file.settings, Rights::Tighten, &before).unwrap_err();
        assert!(
            error.to_string().starts_with("f:2:1: this mode's thresholds (0.160, 0.200) lie above"),
            "{error}"
        );
    }

    #[test]
    fn wrong_values_are_errors_with_their_place() {
        for (text, error) in [
            ("mode = \"strickt\"", "f:2:8: `mode` is one of auto, balanced, strict; did you mean `strict`"),
            ("mode = 3", "f:2:8: `mode` is one of auto, balanced, strict"),
            ("audit.syslog = \"on\"", "f:2:16: `audit.syslog` is one of false, true"),
            ("weights.path = 0.1", "f:2:9: unknown key `weights.path`; did you mean `weights.paths`"),
            ("weights = 3", "f:2:11: a table is needed here"),
            (
                "weights.paths = 0.1234",
                "f:2:17: `weights.paths` needs a decimal from 0 to 1 with at most three places",
            ),
            ("limits.depth = -1", "f:2:16: `limits.depth` needs a number from 0 to 4294967295"),
            ("audit.facility = \"x\"", "f:2:18: `audit.facility` needs the name of a syslog facility"),
            ("shells.bash = [\"bash\"]", "f:2:15: `shells.bash` needs absolute paths"),
            ("confine.hidden = [3]", "f:2:18: `confine.hidden` needs an array of strings"),
            (
                "unknown.code.verdict = \"no\"",
                "f:2:24: `unknown.code.verdict` needs `allow`, `warn` or `deny`",
            ),
            ("thresholds.auto.warn = 0.6", "f:2:17: a `warn` threshold lies above its `deny`"),
            ("x.y.z.a = 1", "f:2:1: unknown key `x`"),
        ] {
            assert_eq!(set(text, Rights::Root).unwrap_err(), error, "{text}");
        }
        let source = Source::new("f", "f", "mode = \"auto\"\n");
        let file = read_file(&source).unwrap();
        assert!(apply(&source, &file.settings, Rights::Root, &TEMPER).is_err());
    }
}
