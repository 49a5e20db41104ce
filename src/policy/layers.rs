//! Puts layers on top of each other.
//!
//! In: the embedded policy, then files in order, each with its rights. Out: the merged [`Policy`].
//! Never: lets a layer that isn't root's relax anything (INVARIANT(I6)).

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::policy::compile::Compiler;
use crate::policy::day::Day;
use crate::policy::exception::{self, Exception, Hand};
use crate::policy::keep;
use crate::policy::merged::{Layer, LayerKind, Policy};
use crate::policy::rights::check_additions;
use crate::policy::rulebook::RuleBook;
use crate::policy::settings::{Rights, apply};
use crate::policy::shapes::read_file;
use crate::policy::sieve::Sieves;
use crate::policy::source::{PolicyError, Source};
use crate::policy::tables::{Place, Tables};

/// Layers so far.
pub struct Merger {
    policy: Policy,
    book: RuleBook,
    exceptions: Vec<Exception>,
    today: Day,
    digest: Sha256,
}

impl Merger {
    pub fn new(today: Day) -> Self {
        let policy = Policy::embedded();
        let book = RuleBook::new(policy.rules, today);
        Self { policy, book, exceptions: Vec::new(), today, digest: Sha256::new() }
    }

    /// Puts a file on top.
    pub fn add(&mut self, kind: LayerKind, path: &str, text: &str) -> Result<(), PolicyError> {
        let source = Source::new(path, path, text);
        let rights = match kind {
            LayerKind::Embedded | LayerKind::Root => Rights::Root,
            LayerKind::User | LayerKind::Project => Rights::Tighten,
        };
        let mut file = read_file(&source)?;
        let (temper, changes) = apply(&source, &file.settings, rights, self.policy.temper)?;
        if rights == Rights::Tighten {
            check_additions(&source, &file, &self.policy, &self.book.rules)?;
        }
        let mut compiler = Compiler::after(self.policy.tags);
        compiler.add_commands(&source, std::mem::take(&mut file.commands))?;
        compiler.add_rest(&source, &file)?;
        let layer = compiler.finish();
        if let Some(doubt) = layer.doubts.into_iter().next() {
            return Err(doubt);
        }
        self.book.add(&source, &file, layer.tables.rules)?;
        for shape in &file.overrides {
            self.book.change(&source, shape, rights)?;
        }
        let allowed = self.policy.temper.resolution.exceptions;
        for shape in &file.exceptions {
            let hand = Hand { layer: kind, allowed, rules: &self.book.rules, today: self.today };
            self.exceptions.push(exception::read(&source, shape, hand)?);
        }
        self.add_tables(&layer.tables);
        if temper != *self.policy.temper {
            self.policy.temper = keep::one(temper);
        }
        let settings =
            changes.iter().map(|change| (change.field, keep::text(format!("{path}:{}", change.line))));
        self.policy.settings = extend(self.policy.settings, &settings.collect::<Vec<_>>());
        self.policy.layers = extend(self.policy.layers, &[Layer { kind, path: keep::text(path) }]);
        for part in [path, text] {
            self.digest.update(part.len().to_le_bytes());
            self.digest.update(part);
        }
        Ok(())
    }

    /// The policy of all layers.
    pub fn finish(mut self) -> Policy {
        let mut version = format!("{}+", self.policy.version);
        for byte in self.digest.finalize().iter().take(6) {
            let _ = write!(version, "{byte:02x}");
        }
        self.policy.rules = keep::list(self.book.rules);
        let policy = &self.policy;
        self.policy.sieves = keep::one(Sieves::of(policy.rules, policy.semantics, policy.paths));
        self.policy.changed = keep::list(self.book.changed);
        self.policy.exceptions = keep::list(self.exceptions);
        self.policy.version = keep::text(version);
        self.policy
    }

    fn add_tables(&mut self, tables: &Tables) {
        let policy = &mut self.policy;
        policy.semantics = extend(policy.semantics, tables.semantics);
        policy.paths = extend(policy.paths, tables.paths);
        policy.places = extend::<Place>(policy.places, tables.places);
        policy.tags = tables.tags;
        if !tables.commands.is_empty() {
            let all = std::iter::once(tables.commands).chain(policy.commands.iter().copied());
            policy.commands = keep::list(all.collect());
        }
    }
}

/// A list with more at its end; the same list if there is no more.
fn extend<T: Copy>(list: &'static [T], more: &[T]) -> &'static [T] {
    if more.is_empty() { list } else { keep::list([list, more].concat()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::merged::Became;
    use crate::verdict::Verdict;

    const TODAY: Day = Day(2026, 6, 15);

    fn merge(layers: &[(LayerKind, &str)]) -> Result<Policy, String> {
        let mut merger = Merger::new(TODAY);
        for (kind, text) in layers {
            let first = |error: PolicyError| error.to_string().lines().next().unwrap().to_owned();
            merger.add(*kind, "/p", &format!("schema = 1\n{text}")).map_err(first)?;
        }
        Ok(merger.finish())
    }

    const RULE: &str = "[[rule]]\nid = \"x.y\"\nfamily = \"destructive\"\nsource = { tier = \"manual\" }\nconfidence = 1\nwhen = { effect = \"delete\" }\nverdict = \"warn\"\nreason = \"r\"\n";

    #[test]
    fn root_changes_rules_for_a_reason_and_a_time() {
        let rule =
            |policy: &Policy| policy.rules().iter().find(|rule| rule.id == "x.y").map(|rule| rule.verdict);
        for (change, verdict, became) in [
            ("verdict = \"deny\"", Some(Verdict::Deny), Became::Changed),
            ("verdict = \"allow\"", Some(Verdict::Allow), Became::Changed),
            ("enabled = false", None, Became::Disabled),
            ("enabled = false\nuntil = 2026-06-15", None, Became::Disabled),
            ("enabled = false\nuntil = 2026-06-14", Some(Verdict::Warn), Became::Expired),
        ] {
            let change = format!("[[override]]\nrule = \"x.y\"\nreason = \"why\"\n{change}\n");
            let policy = merge(&[(LayerKind::Root, RULE), (LayerKind::Root, &change)]).unwrap();
            assert_eq!((rule(&policy), policy.changed()[0].became), (verdict, became), "{change}");
        }
        let on = "[[override]]\nrule = \"x.y\"\nreason = \"w\"\nenabled = true\n";
        let off = "[[override]]\nrule = \"x.y\"\nreason = \"w\"\nenabled = false\n";
        let policy =
            merge(&[(LayerKind::Root, RULE), (LayerKind::Root, off), (LayerKind::Project, on)]).unwrap();
        assert_eq!((rule(&policy), policy.changed()[1].became), (Some(Verdict::Warn), Became::Enabled));
    }

    #[test]
    fn what_would_relax_is_refused_below_root() {
        let lifting = RULE.replace("effect = \"delete\"", "effect = \"send\", not-under = \"personal\"");
        let change = |what: &str| format!("[[override]]\nrule = \"x.y\"\nreason = \"w\"\n{what}\n");
        let place = |class: &str| format!("[[place]]\nclass = \"{class}\"\npatterns = [\"~/x\"]\n");
        for (text, error) in [
            (change("verdict = \"deny\""), None),
            (place("secret"), None),
            (RULE.replace("x.y", "x.z"), None),
            (change("verdict = \"allow\""), Some("/p:3:8: this would relax a rule")),
            (change("enabled = false"), Some("/p:3:8: this would relax a rule")),
            (place("temporary"), Some("/p:3:9: a `temporary` place may relax the policy")),
            (place("personal"), Some("/p:3:9: a `personal` place would lift what ")),
            ("[command.rm]\n".to_owned(), Some("/p:2:10: a `command` may relax the policy")),
            ("[[path]]\nwhen = { under = \"secret\" }\nscore = 1\n".to_owned(), Some("/p:3:8: a `path` may")),
            (RULE.to_owned(), Some("/p:3:6: rule `x.y` is there already, at /p:3")),
        ] {
            for kind in [LayerKind::User, LayerKind::Project] {
                let root = format!("{lifting}\n");
                let shown = merge(&[(LayerKind::Root, &root), (kind, &text)]).err();
                let fits = match (&shown, error) {
                    (None, None) => true,
                    (Some(shown), Some(error)) => shown.starts_with(error),
                    (Some(_), None) | (None, Some(_)) => false,
                };
                assert!(fits, "{text}: {shown:?}");
            }
        }
    }

    #[test]
    fn final_rules_and_wrong_overrides_are_errors() {
        let last = RULE.replace("reason", "final = true\nreason");
        for (change, error) in [
            ("rule = \"x.y\"\nreason = \"w\"\nenabled = false", "/p:3:8: rule `x.y` is final"),
            (
                "rule = \"x.yy\"\nreason = \"w\"\nenabled = false",
                "/p:3:8: no rule `x.yy`; did you mean `x.y`",
            ),
            ("rule = \"x.y\"\nreason = \" \"\nenabled = false", "/p:4:10: an override needs a reason"),
            ("rule = \"x.y\"\nreason = \"w\"", "/p:3:8: an override sets `verdict` or `enabled`"),
            (
                "rule = \"x.y\"\nreason = \"w\"\nverdict = \"deny\"\nuntil = 12:00:00",
                "/p:6:9: `until` is a date",
            ),
            ("rule = \"x.y\"\nenabled = false", "/p:2:1: missing field `reason`"),
        ] {
            let change = format!("[[override]]\n{change}\n");
            let shown = merge(&[(LayerKind::Root, &last), (LayerKind::Root, &change)]).unwrap_err();
            assert!(shown.starts_with(error), "{shown}");
        }
    }

    #[test]
    fn root_adds_programs_that_count_first() {
        let policy = merge(&[(LayerKind::Root, "[command.rm]\noperands = \"list:odd-tag\"\n")]).unwrap();
        assert_eq!(policy.command("rm").map(|command| command.origin), Some("/p:2"));
        assert!(policy.tag("odd-tag").is_some() && policy.command("cp").is_some());
        assert_eq!(policy.version().len(), 25);
    }
}
