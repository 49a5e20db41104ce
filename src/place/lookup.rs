//! Questions to the world during one judgement: remembered, and bounded by count.
//!
//! In: paths as judged text. Out: metadata and link targets, each asked of the world at most once.
//! Never: asks more than the budget allows; what is not asked any more counts as not there, and
//! [`Lookups::state`] says so (the caller makes an unknown of it).

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use crate::world::{FileKind, Meta, World};

/// The world behind a memory and a budget.
pub struct Lookups<'w> {
    world: &'w dyn World,
    known: RefCell<HashMap<Box<str>, Option<Meta>>>,
    left: Cell<u32>,
    state: Cell<Budget>,
}

/// Whether every question could be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Budget {
    #[default]
    Enough,
    Exhausted,
}

impl<'w> Lookups<'w> {
    /// `limit`: number of questions to the world.
    pub fn new(world: &'w dyn World, limit: u32) -> Self {
        Self { world, known: RefCell::default(), left: Cell::new(limit), state: Cell::new(Budget::Enough) }
    }

    /// The world itself, for questions that aren't counted here (the user table).
    pub fn world(&self) -> &'w dyn World {
        self.world
    }

    pub fn state(&self) -> Budget {
        self.state.get()
    }

    /// Metadata of an absolute path, a final link not followed.
    pub fn meta(&self, path: &str) -> Option<Meta> {
        if let Some(known) = self.known.borrow().get(path) {
            return *known;
        }
        let found = self.spend(1).and_then(|()| self.world.meta(path));
        self.known.borrow_mut().insert(path.into(), found);
        found
    }

    /// Whether something is there, a final link not followed.
    pub fn has(&self, path: &str) -> bool {
        self.meta(path).is_some()
    }

    /// The target of a link, as written in it.
    pub fn link(&self, path: &str) -> Option<String> {
        self.spend(1).and_then(|()| self.world.link(path))
    }

    /// A regular file's content of at most `limit` bytes.
    pub fn content(&self, path: &str, limit: usize) -> Option<Vec<u8>> {
        self.spend(1).and_then(|()| self.world.content(path, limit))
    }

    /// Names in a folder, sorted. Counts one question per 64 names, so that a wide tree costs its width.
    pub fn entries(&self, path: &str, limit: usize) -> Names {
        if self.spend(1).is_none() {
            return Names::TooMany;
        }
        match self.world.entries(path, limit) {
            Some(names) => {
                // the names are here already; only the next question may fail
                let cost = u32::try_from(names.len() / 64).unwrap_or(u32::MAX);
                self.left.set(self.left.get().saturating_sub(cost));
                Names::All(names)
            }
            // the world doesn't say why; a folder that is there but can't be listed is an unknown
            None if self.meta(path).is_some_and(|m| m.kind == FileKind::Folder) => Names::TooMany,
            None => Names::NoFolder,
        }
    }

    fn spend(&self, count: u32) -> Option<()> {
        if let Some(left) = self.left.get().checked_sub(count) {
            self.left.set(left);
            Some(())
        } else {
            self.state.set(Budget::Exhausted);
            None
        }
    }
}

/// What a folder holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Names {
    All(Vec<String>),
    /// more than the limit, or not readable
    TooMany,
    NoFolder,
}
