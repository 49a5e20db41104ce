//! Words by their places: subcommands, and the roles of operands.
//!
//! In: a reader that has taken the options away. Out: what each operand means. Never: takes a word of the
//! command that a wrapper runs for one of the wrapper's own.

use crate::act::tag;
use crate::canonical::value::Field;
use crate::effects::arguments::{Meant, Reader};
use crate::effects::fields::{Borders, joined};
use crate::policy::tables::{Is, Role};

impl Reader<'_> {
    /// Descends into a subcommand; names of two words look one ahead, or back past options
    /// (`compose -f x.yml down` is `compose down`).
    pub(super) fn subcommand(&mut self, word: &str) -> bool {
        let Some(spec) = self.out.specs.first().copied() else { return false };
        let whole = if self.path.is_empty() { word.to_owned() } else { format!("{} {word}", self.path) };
        let name = whole.as_str();
        let mut found = None;
        for (key, sub) in spec.subcommands {
            if *key == name {
                found = found.or(Some((*sub, 0)));
            } else if let Some(rest) = key.strip_prefix(name).and_then(|r| r.strip_prefix(' ')) {
                let ahead: Vec<&str> = rest.split(' ').collect();
                let next = self.words.get(self.at..self.at + ahead.len());
                if next.is_some_and(|w| w.iter().map(|f| f.text.as_str()).eq(ahead.iter().copied())) {
                    found = Some((*sub, ahead.len()));
                }
            }
        }
        let Some((sub, skip)) = found else { return false };
        self.path = whole;
        for word in self.words.get(self.at..self.at + skip).unwrap_or(&[]) {
            self.path.push(' ');
            self.path.push_str(&word.text);
        }
        self.at += skip;
        self.out.specs.push(sub);
        true
    }

    /// `service NAME stop`: a subcommand after a word of its own, which stays an operand (`* stop`).
    pub(super) fn named_first(&mut self, word: &Field) -> bool {
        let Some(spec) = self.out.specs.first().copied().filter(|_| self.path.is_empty()) else {
            return false;
        };
        let next = self.words.get(self.at).map_or("", |f| f.text.as_str());
        let named = |key: &str| key.strip_prefix("* ").is_some_and(|k| k == next);
        let Some((_, sub)) = spec.subcommands.iter().find(|(key, _)| named(key)) else { return false };
        self.out.places.push(self.at);
        self.out.operands.push(word.clone());
        self.at += 1;
        self.out.specs.push(sub);
        true
    }

    /// Gives the operands their roles by position.
    pub(super) fn assign_operands(&mut self) {
        let Some(spec) = self.out.spec() else { return };
        let operands = spec.operands;
        let total = self.given_over.unwrap_or(self.out.operands.len());
        let is_command = |roles: &[Role]| roles.iter().any(|r| r.is == Is::Command);
        let mut end = total;
        // the last ones are taken first: `cp a b` has one source; `cp -t D a b` has two
        let last = if self.out.tags.has(tag::LAST_GIVEN) { &[][..] } else { operands.last };
        let tail = last.len().min(total.saturating_sub(usize::from(!last.is_empty() && total == 1)));
        if !is_command(operands.rest) {
            end = total - tail;
        }
        // `sed -e SCRIPT FILE`: the first operand's place is taken
        let given = usize::from(self.out.tags.has(tag::FIRST_GIVEN));
        let fields: Vec<Field> = self.out.operands.iter().take(total).cloned().collect();
        for (i, field) in fields.iter().enumerate() {
            let roles = if i >= end {
                last.get(i - end).copied().unwrap_or(&[])
            } else {
                operands.first.get(i + given).copied().unwrap_or(operands.rest)
            };
            if i + given >= operands.first.len() && is_joined(roles) {
                // words that are handed over one by one keep their borders
                let borders = if self.out.tags.has(tag::ARGV) { Borders::Kept } else { Borders::Lost };
                let field = joined(fields.get(i..end).unwrap_or(&[]), borders);
                self.out.meant.push(Meant { roles, field });
                break;
            }
            self.out.meant.push(Meant { roles, field: field.clone() });
            if is_command(roles) {
                break;
            }
        }
    }
}

/// Whether the words of a rest are one shell text (watch, ssh), not one each (hyperfine).
fn is_joined(roles: &[Role]) -> bool {
    roles.iter().any(|r| r.is == Is::ShellText && !r.tags.has(tag::EACH))
}
