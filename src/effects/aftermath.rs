//! What a call removes besides what its words say: sources after copying, what a mirror has too much.
//!
//! In: a call that was carried out. Out: delete effects. Never: takes another machine's files for this one's.

use std::rc::Rc;

use crate::act::{Kind, TagSet, tag};
use crate::canonical::value::Field;
use crate::effects::core::By;
use crate::effects::interpret::Doing;
use crate::effects::roles::remote_spec;
use crate::effects::walk::Walk;
use crate::policy::tables::Is;

impl Walk<'_, '_> {
    /// `rsync --delete`, `rsync --remove-source-files`, `zip -m`.
    pub fn aftermath(&mut self, doing: &Doing<'_>) {
        let removes = doing.tags.has(tag::REMOVES_SOURCE) && !doing.tags.has(tag::READS_ONLY);
        for word in &doing.parsed.meant {
            let named = |kind: Kind| word.roles.iter().any(|r| r.is == Is::Effect(kind));
            let mirrors = doing.tags.has(tag::DELETES_EXTRA)
                || word
                    .roles
                    .iter()
                    .any(|r| r.is == Is::Effect(Kind::Write) && r.tags.has(tag::DELETES_EXTRA));
            if remote_spec(&word.field.text).is_some() || word.field.text.is_empty() {
                continue;
            }
            if removes && named(Kind::Read) {
                self.removed(&word.field, doing.tags, &doing.program);
            }
            if mirrors && named(Kind::Write) {
                let tags = doing.tags.with(tag::RECURSIVE).with(tag::DELETES_EXTRA);
                self.removed(&word.field, tags, &doing.program);
            }
        }
    }

    /// A file or tree that goes.
    pub fn removed(&mut self, field: &Field, tags: TagSet, program: &Rc<str>) {
        let target = self.path_target_for(field, Kind::Delete);
        let own = self.path_tags(&target, field, Kind::Delete).union(self.work_tags(&target, Kind::Delete));
        let tags = tags.union(field.tags).union(own);
        self.core.emit(Kind::Delete, target, tags, By::new(program, field.span));
    }
}
