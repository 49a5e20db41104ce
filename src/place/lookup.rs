//! Questions to the world during one judgement: remembered, and bounded by count.
//!
//! In: paths as judged text. Out: metadata and link targets, each asked of the world at most once.
//! Never: asks more than the budget allows; what is not asked any more counts as not there, and
//! [`Lookups::state`] says so (the caller makes an unknown of it).

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use crate::world::{FileKind, Meta, World};

/// The world behind a memory and a budget. Hashed: paths share long beginnings, which an ordered map compares
/// again and again.
pub struct Lookups<'w> {
    world: &'w dyn World,
    known: RefCell<HashMap<Box<str>, Option<Meta>>>,
    kept: RefCell<HashMap<Box<str>, Kept>>,
    /// With the limit that was asked for.
    listed: RefCell<HashMap<Box<str>, (usize, Listed)>>,
    left: Cell<u32>,
    /// Bytes of kept contents that may still be gone through.
    readable: Cell<usize>,
    state: Cell<Budget>,
}

/// Bytes that one judgement goes through.
const READ_LIMIT: usize = 12 << 20;

/// A file's content, or that it is not to be had.
type Kept = Option<Rc<[u8]>>;

/// A folder's names, or that the world doesn't say.
type Listed = Option<Rc<[String]>>;

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
        Self {
            world,
            known: RefCell::default(),
            kept: RefCell::default(),
            listed: RefCell::default(),
            left: Cell::new(limit),
            readable: Cell::new(READ_LIMIT),
            state: Cell::new(Budget::Enough),
        }
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

    /// A regular file's content of at most `limit` bytes, read once. Each call counts its size, since the
    /// caller goes through it.
    pub fn content(&self, path: &str, limit: usize) -> Option<Rc<[u8]>> {
        let known = self.kept.borrow().get(path).cloned();
        let found = known.unwrap_or_else(|| {
            let content = self.spend(1).and_then(|()| self.world.content(path, limit)).map(Rc::from);
            self.kept.borrow_mut().insert(path.into(), content.clone());
            content
        })?;
        if let Some(left) = self.readable.get().checked_sub(found.len()) {
            self.readable.set(left);
            return Some(found);
        }
        self.state.set(Budget::Exhausted);
        None
    }

    /// Names in a folder, sorted. Counts one question per 64 names, so that a wide tree costs its width.
    pub fn entries(&self, path: &str, limit: usize) -> Names {
        let known = self.listed.borrow().get(path).filter(|(asked, _)| *asked == limit).cloned();
        let found = if let Some((_, names)) = known {
            names
        } else {
            if self.spend(1).is_none() {
                return Names::TooMany;
            }
            let names: Listed = self.world.entries(path, limit).map(Rc::from);
            self.listed.borrow_mut().insert(path.into(), (limit, names.clone()));
            names
        };
        match found {
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
    All(Rc<[String]>),
    /// more than the limit, or not readable
    TooMany,
    NoFolder,
}
