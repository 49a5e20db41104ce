//! chmod(1): what a mode gives and takes.
//!
//! In: the argument vector. Out: chmod effects with tags of the mode. Never: takes `04755` or `6755` for plain.

use std::rc::Rc;

use crate::act::{Class, ClassSet, Kind, TagSet, tag};
use crate::canonical::value::Field;
use crate::effects::call::Call;
use crate::effects::core::By;
use crate::effects::model::Target;
use crate::effects::walk::{Outcome, Walk};

/// Tags of a mode as chmod(1) reads it.
pub fn mode_tags(mode: &str) -> TagSet {
    let mut tags = TagSet::EMPTY;
    if let Ok(bits) = u32::from_str_radix(mode, 8) {
        if bits & 0o6000 != 0 {
            tags = tags.with(tag::SETUID);
        }
        if bits & 0o002 != 0 {
            tags = tags.with(tag::WORLD_WRITABLE);
        }
        if bits & 0o111 != 0 {
            tags = tags.with(tag::EXECUTABLE);
        }
        let others = bits & 0o077;
        if others == 0 {
            tags = tags.with(tag::TIGHTENS);
        }
        return tags;
    }
    for clause in mode.split(',') {
        let at = clause.find(['+', '-', '=']).unwrap_or(clause.len());
        let (who, what) = clause.split_at(at);
        let all = who.is_empty() || who.contains('a');
        let others = all || who.contains('o');
        if what.starts_with('-') {
            if what.contains(['r', 'x', 'w']) {
                tags = tags.with(tag::TIGHTENS);
            }
            continue;
        }
        if what.contains('s') && (all || who.contains(['u', 'g'])) {
            tags = tags.with(tag::SETUID);
        }
        // `+w` without a who obeys the umask
        if what.contains('w') && others && !who.is_empty() {
            tags = tags.with(tag::WORLD_WRITABLE);
        }
        if what.contains(['x', 'X']) {
            tags = tags.with(tag::EXECUTABLE);
        }
    }
    tags
}

impl Walk<'_, '_> {
    /// chmod: the mode, then its targets.
    pub fn chmod(&mut self, call: &Call<'_>, program: &Rc<str>) -> Outcome {
        let mut mode: Option<&Field> = None;
        let mut targets: Vec<&Field> = Vec::new();
        let mut tags = self.state.ambient;
        let mut referenced = false;
        for word in call.arguments() {
            match word.text.as_str() {
                "-R" | "--recursive" => tags = tags.with(tag::RECURSIVE),
                text if text.starts_with("--reference") => referenced = true,
                text if text.starts_with("--") => {}
                text if text.starts_with('-') && text.chars().skip(1).all(|c| "Rcfv".contains(c)) => {
                    if text.contains('R') {
                        tags = tags.with(tag::RECURSIVE);
                    }
                }
                _ if mode.is_none() && !referenced => mode = Some(word),
                _ => targets.push(word),
            }
        }
        if let Some(mode) = mode {
            tags = tags.union(mode_tags(&mode.text)).union(mode.tags);
        }
        if targets.is_empty() && tags.has(tag::SETUID) {
            // the operand was a variable that is empty here; it needn't be where the script runs
            let target = Target { classes: ClassSet::of(Class::Unknown), ..Target::default() };
            self.core.emit(Kind::Chmod, target, tags.with(tag::UNKNOWN_TARGET), By::new(program, call.span));
        }
        for field in targets {
            let target = self.path_target_for(field, Kind::Chmod);
            let all = tags.union(field.tags).union(self.path_tags(&target, field, Kind::Chmod));
            self.core.emit(Kind::Chmod, target, all, By::new(program, field.span));
        }
        Outcome::silent()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_read_as_chmod_reads_them() {
        for mode in ["4755", "04755", "6755", "2755", "u+s", "g=rwxs", "+s", "u=rwx,g+s"] {
            assert!(mode_tags(mode).has(tag::SETUID), "{mode}");
        }
        for mode in ["755", "400", "0644", "u-s", "+x", "a+r", "1777"] {
            assert!(!mode_tags(mode).has(tag::SETUID), "{mode}");
        }
        for mode in ["777", "o+w", "a=rwx", "666"] {
            assert!(mode_tags(mode).has(tag::WORLD_WRITABLE), "{mode}");
        }
        assert!(!mode_tags("+w").has(tag::WORLD_WRITABLE));
    }
}
