//! What expansion asks of the walk above it, so that imports run downwards only.
//!
//! In: substituted scripts and hidden code. Out: the data that they would print.
//! Never: known to run anything; the walk that implements it judges.

use crate::act::UnknownKind;
use crate::canonical::state::State;
use crate::canonical::value::{Data, Value};
use crate::syntax::tree::{Direction, Substituted};
use crate::text::Span;

pub trait Host {
    /// Judges a command substitution in a copy of the state; its output.
    fn substitute(&mut self, state: &State, inner: &Substituted) -> Data;
    /// Judges a process substitution; the path that stands for it.
    fn process(&mut self, state: &mut State, direction: Direction, inner: &Substituted) -> Value;
    /// A text that the shell expands once more at run time (arithmetic, `${x@P}`, `test -v`).
    fn hidden(&mut self, state: &mut State, text: &str, span: Span);
    /// Something that can't be determined.
    fn doubt(&mut self, kind: UnknownKind, detail: &str, span: Span);
}
