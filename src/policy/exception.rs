//! Exceptions: root's written permission for a rule, an effect and a place.
//!
//! In: `[[exception]]` tables. Out: [`Exception`]s, or an error with its place in the file.
//! Never: lifts a final rule, nor a rule where no place is named; never lets a project's file except
//! anything, nor a user's where root does not say so (INVARIANT(I6)).

use toml::Spanned;
use toml::value::Datetime;

use crate::policy::day::Day;
use crate::policy::keep;
use crate::policy::merged::LayerKind;
use crate::policy::shapes::{ExceptionShape, OneOrMany, Text};
use crate::policy::source::{PolicyError, Source};
use crate::policy::tables::{Lifted, Rule, SemanticClass};
use crate::policy::temper::Exceptions;
use crate::policy::words::{self, nearest};
use crate::text::escape;

/// What an exception names. It holds for an effect of one of `kinds` at one of the places, and lifts of it
/// what one of `rules` would say.
#[derive(Clone, Copy, Debug)]
pub struct Exception {
    /// Ids; one that begins with [`CLASS`] names a semantic class, which scores without a rule.
    pub rules: &'static [&'static str],
    /// Bits of [`crate::act::Kind`], at least one.
    pub kinds: u64,
    /// Absolute folders or files without a slash at the end: they and all below them.
    pub under: &'static [&'static str],
    /// Resolved targets as they are: a path, host, service, branch.
    pub targets: &'static [&'static str],
    /// The program on whose behalf it is asked, absolute; empty: any.
    pub agent: &'static str,
    pub reason: &'static str,
    pub standing: Standing,
    /// `file:line` of its definition.
    pub origin: &'static str,
}

/// Stands before a class's name among an exception's rules.
pub const CLASS: &str = "class.";

/// Whether an exception's last day is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    InForce,
    Expired,
}

/// Who reads an exception, and when.
#[derive(Clone, Copy, Debug)]
pub struct Hand<'a> {
    pub layer: LayerKind,
    /// What root says about users' files.
    pub allowed: Exceptions,
    /// The rules so far.
    pub rules: &'a [&'static Rule],
    pub today: Day,
}

/// Reads one exception.
///
/// # Errors
/// The layer may not except, or the exception names nothing that it could lift.
pub fn read(
    source: &Source<'_>,
    shape: &Spanned<ExceptionShape>,
    hand: Hand<'_>,
) -> Result<Exception, PolicyError> {
    let shape = shape.as_ref();
    let span = shape.rule.span();
    may_except(hand).map_err(|why| source.problem(span.clone(), why))?;
    if shape.reason.as_ref().trim().is_empty() {
        return Err(source.problem(shape.reason.span(), "an exception needs a reason"));
    }
    let kinds = words::kinds(shape.effect.as_ref()).map_err(|error| {
        source.problem_in(shape.effect.span(), shape.effect.as_ref(), error.range, error.message)
    })?;
    if kinds == 0 {
        return Err(
            source.problem(shape.effect.span(), "an exception names the effects that it lets through")
        );
    }
    let ids = texts(&shape.rule);
    if ids.is_empty() {
        return Err(source.problem(span, "an exception names the rules that it lifts"));
    }
    for (span, id) in &ids {
        lifts(id, kinds, hand.rules).map_err(|why| source.problem(span.clone(), why))?;
    }
    let under = shape.under.as_ref().map(texts).unwrap_or_default();
    let targets = shape.target.as_ref().map(texts).unwrap_or_default();
    if under.is_empty() && targets.is_empty() {
        return Err(source.problem(span, "an exception names a place: `under`, `target` or both"));
    }
    let mut folders = Vec::new();
    for (span, path) in &under {
        let folder = folder(path).ok_or_else(|| {
            source.problem(span.clone(), "`under` is an absolute path below `/`, without `.`, `..` and globs")
        })?;
        folders.push(keep::text(folder));
    }
    Ok(Exception {
        rules: keep::list(ids.iter().map(|(_, id)| keep::text(*id)).collect()),
        kinds,
        under: keep::list(folders),
        targets: keep::list(targets.iter().map(|(_, target)| keep::text(*target)).collect()),
        agent: agent(source, shape.agent.as_ref())?,
        reason: keep::text(shape.reason.as_ref()),
        standing: standing(source, shape.until.as_ref(), hand.today)?,
        origin: keep::text(source.origin(span.start)),
    })
}

/// Whether the layer may except at all.
fn may_except(hand: Hand<'_>) -> Result<(), &'static str> {
    match (hand.layer, hand.allowed) {
        (LayerKind::Embedded | LayerKind::Root, _) | (LayerKind::User, Exceptions::User) => Ok(()),
        (LayerKind::User, Exceptions::Root) => Err(
            "exceptions are root's, in /etc/agent-sh/policy.d, unless root sets resolution.exceptions = \"user\"",
        ),
        (LayerKind::Project, _) => Err("a project's file makes no exceptions, they are root's"),
    }
}

/// Whether a rule can be lifted of such effects.
fn lifts(id: &str, kinds: u64, rules: &[&'static Rule]) -> Result<(), String> {
    if let Some(class) = id.strip_prefix(CLASS) {
        let names = SemanticClass::ALL.iter().map(|class| class.name());
        let is_known = names.clone().any(|name| name == class);
        return if is_known {
            Ok(())
        } else {
            Err(format!("no class `{}`{}", escape(class), nearest(class, names)))
        };
    }
    let Some(rule) = rules.iter().find(|rule| rule.id == id) else {
        let hint = nearest(id, rules.iter().map(|rule| rule.id));
        return Err(format!("no rule `{}`{hint}", escape(id)));
    };
    match rule.lifted {
        Lifted::Never => Err(format!("rule `{id}` is final, no exception lifts it")),
        Lifted::ByException if rule.when.iter().any(|when| when.kinds == 0 || when.kinds & kinds != 0) => {
            Ok(())
        }
        Lifted::ByException => {
            Err(format!("rule `{id}` is about other effects, so this would never lift it"))
        }
    }
}

/// The strings of a value, with their places.
fn texts(value: &Spanned<OneOrMany>) -> Vec<(std::ops::Range<usize>, &str)> {
    match value.as_ref() {
        OneOrMany::One(text) => vec![(value.span(), text.as_str())],
        OneOrMany::Many(texts) => texts.iter().map(|text| (text.span(), text.as_ref().as_str())).collect(),
    }
}

/// A path that names one tree, without a slash at its end.
fn folder(path: &str) -> Option<&str> {
    let path = path.trim_end_matches('/');
    let plain =
        |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['*', '?', '[', '{', '\0', '…']);
    path.strip_prefix('/').filter(|rest| rest.split('/').all(plain)).map(|_| path)
}

fn agent(source: &Source<'_>, shape: Option<&Text>) -> Result<&'static str, PolicyError> {
    let Some(text) = shape else { return Ok("") };
    if text.as_ref().starts_with('/') && !text.as_ref().contains('\0') {
        Ok(keep::text(text.as_ref()))
    } else {
        Err(source.problem(text.span(), "`agent` is the absolute path of the program that calls agent-sh"))
    }
}

fn standing(
    source: &Source<'_>,
    until: Option<&Spanned<Datetime>>,
    today: Day,
) -> Result<Standing, PolicyError> {
    let Some(until) = until else { return Ok(Standing::InForce) };
    match (until.as_ref().date, until.as_ref().time) {
        (Some(date), None) if Day(date.year, date.month, date.day) < today => Ok(Standing::Expired),
        (Some(_), None) => Ok(Standing::InForce),
        (Some(_) | None, _) => Err(source.problem(until.span(), "`until` is a date, as in 2027-01-31")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;
    use crate::policy::layers::Merger;

    fn merge(kind: LayerKind, allowed: &str, text: &str) -> Result<Policy, String> {
        let mut merger = Merger::new(Day(2026, 6, 15));
        let first = |error: PolicyError| error.to_string().lines().next().unwrap().to_owned();
        let root = format!("schema = 1\nresolution.exceptions = \"{allowed}\"\n");
        merger.add(LayerKind::Root, "/r", &root).map_err(first)?;
        merger.add(kind, "/p", &format!("schema = 1\n[[exception]]\n{text}\n")).map_err(first)?;
        Ok(merger.finish())
    }

    const WHOLE: &str = "rule = \"permission.world-writable\"\neffect = \"chmod\"\nunder = \"/opt/build/\"\nagent = \"/usr/bin/codex\"\nuntil = 2026-06-15\nreason = \"our build tree\"";

    #[test]
    fn an_exception_is_read_whole() {
        let policy = merge(LayerKind::Root, "root", WHOLE).unwrap();
        let [exception] = policy.exceptions() else { panic!("{:?}", policy.exceptions()) };
        assert_eq!(
            (exception.rules, exception.under),
            (&["permission.world-writable"][..], &["/opt/build"][..])
        );
        assert_eq!((exception.agent, exception.reason), ("/usr/bin/codex", "our build tree"));
        assert_eq!((exception.standing, exception.origin), (Standing::InForce, "/p:3"));
        let over = WHOLE.replace("06-15", "06-14");
        assert_eq!(
            merge(LayerKind::Root, "root", &over).unwrap().exceptions()[0].standing,
            Standing::Expired
        );
    }

    #[test]
    fn exceptions_are_root_s_and_where_root_says_so_the_user_s() {
        for (kind, allowed, fine) in [
            (LayerKind::Root, "root", true),
            (LayerKind::User, "root", false),
            (LayerKind::User, "user", true),
            (LayerKind::Project, "root", false),
            (LayerKind::Project, "user", false),
        ] {
            assert_eq!(merge(kind, allowed, WHOLE).is_ok(), fine, "{kind:?} {allowed}");
        }
    }

    #[test]
    fn what_lifts_nothing_or_too_much_is_an_error() {
        for (from, to, error) in [
            ("permission.world-writable", "agents.own-policy", "/p:3:8: rule `agents.own-policy` is final"),
            ("permission.world-writable", "class.destrutive", "/p:3:8: no class `destrutive`; did you mean"),
            (
                "world-writable",
                "world-writeable",
                "/p:3:8: no rule `permission.world-writeable`; did you mean",
            ),
            (
                "effect = \"chmod\"",
                "effect = \"fetch\"",
                "/p:3:8: rule `permission.world-writable` is about other",
            ),
            ("effect = \"chmod\"", "effect = \"\"", "/p:4:10: an exception names the effects"),
            ("under = \"/opt/build/\"", "", "/p:3:8: an exception names a place"),
            ("/opt/build/", "/", "/p:5:9: `under` is an absolute path"),
            ("/opt/build/", "/opt/../etc", "/p:5:9: `under` is an absolute path"),
            ("/opt/build/", "/opt/*", "/p:5:9: `under` is an absolute path"),
            ("/opt/build/", "~/build", "/p:5:9: `under` is an absolute path"),
            ("/usr/bin/codex", "codex", "/p:6:9: `agent` is the absolute path"),
            ("2026-06-15", "12:00:00", "/p:7:9: `until` is a date"),
            ("our build tree", " ", "/p:8:10: an exception needs a reason"),
            ("under =", "udner =", "/p:5:1: unknown field `udner`"),
        ] {
            let shown = merge(LayerKind::Root, "root", &WHOLE.replace(from, to)).err().unwrap_or_default();
            assert!(shown.starts_with(error), "{to}: {shown}");
        }
    }
}
