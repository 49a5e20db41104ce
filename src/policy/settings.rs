//! Reads settings into a temper, with the rights of the layer that they come from.
//!
//! In: keys and values of a file. Out: the changed [`Temper`], and which setting was set on which line.
//! Never: lets a layer that isn't root's relax anything (INVARIANT(I6)). `build.rs` includes this too.

use std::ops::Range;

use toml::de::{DeTable, DeValue};
use toml::Spanned;

use crate::policy::fields::{Choice, FIELDS, Field, Slot, Tighter};
use crate::policy::keep;
use crate::policy::shapes::{Entry, Thousandths};
use crate::policy::source::{PolicyError, Source};
use crate::policy::temper::{Enforcement, Switch, Temper};
use crate::policy::words::{nearest, unknown};
use crate::verdict::{Permille, Verdict};

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
        let whole = if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
        let known = FIELDS.iter().enumerate().find(|(_, field)| field.key == whole);
        if let Some((place, field)) = known {
            self.changes.push((place, span.clone()));
            return self.set(field, value);
        }
        let is_group = FIELDS.iter().any(|field| field.key.strip_prefix(&whole).is_some_and(|k| k.starts_with('.')));
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
        table.iter().try_for_each(|(key, value)| self.entry(prefix, &key.span(), key.as_ref().as_ref(), value))
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
            (Direction::None, _) | (Direction::Up, Tighter::Higher) | (Direction::Down, Tighter::Lower) => true,
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
            Some(on) if choice.names == Switch::NAMES => if on { "true" } else { "false" },
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
            let mut found = found.filter(|(at, _)| FIELDS.get(*at).is_some_and(|f| f.key.starts_with(prefix)));
            found.next().map_or(0..0, |(_, span)| span.clone())
        };
        let all = self.temper.thresholds;
        if [all.auto, all.balanced, all.strict].iter().any(|lines| lines.warn > lines.deny) {
            return Err(self.source.problem(place("thresholds."), "a `warn` threshold lies above its `deny`"));
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

fn permille(value: &DeValue<'_>) -> Option<Permille> {
    let float = value.as_float().map(toml::de::DeFloat::as_str);
    let text = float.or_else(|| value.as_integer().map(toml::de::DeInteger::as_str))?;
    Thousandths::parse(text).map(|read| Permille::new(read.0))
}

fn list<'v>(key: &str, value: &'v DeValue<'_>) -> Result<Vec<&'v str>, &'static str> {
    let items = value.as_array().ok_or("an array of strings")?;
    let texts = items.iter().map(|item| {
        let text = item.as_ref().as_str().ok_or("an array of strings")?;
        check_item(key, text).map(|()| text)
    });
    texts.collect()
}

fn check_item(key: &str, text: &str) -> Result<(), &'static str> {
    if text.is_empty() || text.chars().any(char::is_control) {
        return Err("strings that aren't empty and hold no control characters");
    }
    let is_absolute = text.starts_with('/');
    if key == "workspace.markers" {
        return if text.contains('/') { Err("names without a slash") } else { Ok(()) };
    }
    if (key.starts_with("shells.") || key == "audit.sockets") && !is_absolute {
        return Err("absolute paths");
    }
    let is_home = text == "~" || text.starts_with("~/");
    let is_workspace = text == "." || text.starts_with("./");
    if is_absolute || is_home || is_workspace { Ok(()) } else { Err("paths that start with `/`, `~/` or `./`") }
}

/// Names of syslog facilities (RFC 5424, section 6.2.1).
pub const FACILITIES: [&str; 20] = [
    "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp",
    "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7",
];

fn check_text(key: &str, text: &str) -> Result<(), &'static str> {
    if text.chars().any(char::is_control) {
        return Err("a string without control characters");
    }
    match key {
        "audit.facility" if !FACILITIES.contains(&text) => Err("the name of a syslog facility"),
        "audit.file" if !(text.is_empty() || text.starts_with('/')) => Err("an absolute path"),
        "shells.default" if !["bash", "sh", "dash", "zsh"].contains(&text) => Err("bash, sh, dash or zsh"),
        _ => Ok(()),
    }
}
