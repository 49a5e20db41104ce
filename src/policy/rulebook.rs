//! The rules in force, and what overrides make of them.
//!
//! In: rules of layers, overrides. Out: the rules that are asked, and a list of what was changed.
//! Never: relaxes a final rule, nor any rule for a layer that isn't root's (INVARIANT(I6)).

use toml::Spanned;

use crate::policy::compile::verdict;
use crate::policy::day::Day;
use crate::policy::keep;
use crate::policy::merged::{Became, Changed};
use crate::policy::settings::Rights;
use crate::policy::shapes::{FileShape, OverrideShape};
use crate::policy::source::{PolicyError, Source};
use crate::policy::tables::{Lifted, Rule};
use crate::policy::words::nearest;
use crate::text::escape;
use crate::verdict::Verdict;

/// Rules so far.
#[derive(Debug)]
pub struct RuleBook {
    pub rules: Vec<&'static Rule>,
    pub changed: Vec<Changed>,
    disabled: Vec<&'static Rule>,
    today: Day,
}

impl RuleBook {
    pub fn new(rules: &[&'static Rule], today: Day) -> Self {
        Self { rules: rules.to_vec(), changed: Vec::new(), disabled: Vec::new(), today }
    }

    /// Adds a layer's rules.
    pub fn add(
        &mut self,
        source: &Source<'_>,
        file: &FileShape<'_>,
        rules: &'static [Rule],
    ) -> Result<(), PolicyError> {
        for rule in rules {
            if let Some(other) = self.rules.iter().chain(&self.disabled).find(|other| other.id == rule.id) {
                let shape = file.rules.iter().find(|shape| shape.as_ref().id.as_ref() == rule.id);
                let span = shape.map_or(0..0, |shape| shape.as_ref().id.span());
                let message = format!(
                    "rule `{}` is there already, at {}; change it with [[override]]",
                    rule.id,
                    escape(other.origin)
                );
                return Err(source.problem(span, message));
            }
            self.rules.push(rule);
        }
        Ok(())
    }

    /// Applies an override.
    pub fn change(
        &mut self,
        source: &Source<'_>,
        shape: &Spanned<OverrideShape>,
        rights: Rights,
    ) -> Result<(), PolicyError> {
        let shape = shape.as_ref();
        let (span, id) = (shape.rule.span(), shape.rule.as_ref().as_str());
        if shape.reason.as_ref().trim().is_empty() {
            return Err(source.problem(shape.reason.span(), "an override needs a reason"));
        }
        let found = self.rules.iter().chain(&self.disabled).find(|rule| rule.id == id).copied();
        let Some(rule) = found else {
            let hint = nearest(id, self.rules.iter().map(|rule| rule.id));
            return Err(source.problem(span, format!("no rule `{}`{hint}", escape(id))));
        };
        let new = shape.verdict.as_ref().map(|text| verdict(source, text)).transpose()?;
        if new.is_none() && shape.enabled.is_none() {
            return Err(source.problem(span, "an override sets `verdict` or `enabled`"));
        }
        let relaxes = shape.enabled == Some(false) || new.is_some_and(|new| new < rule.verdict);
        if relaxes && rights == Rights::Tighten {
            return Err(source
                .problem(span, "this would relax a rule, which only root may, in /etc/agent-sh/policy.d"));
        }
        if relaxes && rule.lifted == Lifted::Never {
            return Err(source.problem(span, format!("rule `{id}` is final, nothing relaxes it")));
        }
        let became = if self.is_over(source, shape)? {
            Became::Expired
        } else {
            self.replace(rule, new, shape.enabled)
        };
        self.changed.push(Changed {
            rule,
            became,
            reason: keep::text(shape.reason.as_ref()),
            origin: keep::text(source.origin(span.start)),
        });
        Ok(())
    }

    fn is_over(&self, source: &Source<'_>, shape: &OverrideShape) -> Result<bool, PolicyError> {
        let Some(until) = &shape.until else { return Ok(false) };
        match (until.as_ref().date, until.as_ref().time) {
            (Some(date), None) => Ok(Day(date.year, date.month, date.day) < self.today),
            (Some(_) | None, _) => Err(source.problem(until.span(), "`until` is a date, as in 2027-01-31")),
        }
    }

    fn replace(&mut self, rule: &'static Rule, verdict: Option<Verdict>, enabled: Option<bool>) -> Became {
        let new = match verdict {
            Some(verdict) if verdict != rule.verdict => keep::one(Rule { verdict, ..*rule }),
            Some(_) | None => rule,
        };
        let was_disabled = self.disabled.iter().any(|other| other.id == rule.id);
        let is_disabled = enabled.map_or(was_disabled, |enabled| !enabled);
        self.rules.retain(|other| other.id != rule.id);
        self.disabled.retain(|other| other.id != rule.id);
        if is_disabled {
            self.disabled.push(new);
        } else {
            self.rules.push(new);
        }
        match (was_disabled, is_disabled) {
            (_, true) => Became::Disabled,
            (true, false) => Became::Enabled,
            (false, false) => Became::Changed,
        }
    }
}
