//! stand-in
use super::lookup::Lookups;
pub enum State { NoRepository, Committed, Modified, Untracked, Ignored, Unknown }
pub fn state_of(_path: &str, _lookups: &Lookups) -> State { State::Unknown }
