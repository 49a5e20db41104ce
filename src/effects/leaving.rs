//! `exit`, `return`, `break`, `continue`: what certainly doesn't run behind them, and what may.
//!
//! In: the call. Out: the state's control, or an early way out that is remembered.
//! Never: takes a command for unreachable that bash may reach: `break` outside of a loop does nothing, nor does
//! `exit --help`, and a redirection that fails leaves out the whole command.

use crate::canonical::state::{Control, Endpoint, State};
use crate::effects::call::Call;
use crate::effects::walk::{Outcome, Walk};
use crate::syntax::tree::{Redirect, RedirectAction};

impl Walk<'_, '_> {
    /// One of the four.
    pub(super) fn leave(&mut self, name: &str, call: &Call<'_>) -> Outcome {
        let ends = matches!(name, "exit" | "logout");
        let operands: Vec<&str> =
            call.arguments().iter().map(|f| f.text.as_str()).skip_while(|w| *w == "--").collect();
        let plain = match operands.as_slice() {
            [] => true,
            [number] if ends || name == "return" => is_number(number),
            [level] => *level == "1",
            _ => false,
        };
        let certain = plain && !self.state.option('i');
        let (how, inside) = match name {
            "return" => (Control::Returned, self.state.returns > 0),
            "break" => (Control::Broke, self.state.loops > 0),
            "continue" => (Control::Skipped, self.state.loops > 0),
            _ => (Control::Ended, true),
        };
        if certain && inside {
            self.state.control = how;
        } else if how != Control::Ended {
            // perhaps an error, or from another loop than the innermost
            self.state.may_leave(how);
            if how != Control::Returned {
                self.state.may_leave(Control::Deep);
            }
        }
        Outcome::silent()
    }

    /// Runs what `return` returns from: a function, a sourced file.
    pub(super) fn returning(&mut self, run: impl FnOnce(&mut Self) -> Outcome) -> Outcome {
        let outer = std::mem::take(&mut self.state.left);
        let loops = std::mem::take(&mut self.state.loops);
        self.state.returns = self.state.returns.saturating_add(1);
        let outcome = run(self);
        if self.state.control == Control::Returned {
            self.state.control = Control::Goes;
        }
        if let Some(returned) = self.state.take_left(Control::Returned) {
            self.state.join(returned);
        }
        self.state.returns = self.state.returns.saturating_sub(1);
        self.state.loops = loops;
        for state in outer.iter() {
            self.state.leave(State::clone(state));
        }
        outcome
    }

    /// What a command with these redirections did to control, if they might have failed: nothing of it ran then.
    pub(super) fn doubt_control(&mut self) {
        let how = self.state.control;
        if how == Control::Goes {
            return;
        }
        self.state.control = Control::Goes;
        if how != Control::Ended {
            self.state.may_leave(how);
        }
    }
}

/// A status as bash takes it.
fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix('-').unwrap_or(word);
    !digits.is_empty() && digits.len() < 18 && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Whether redirections can't fail: to open standard streams, to and from `/dev/null`, here-documents.
pub(super) fn are_sure(state: &State, redirects: &[Redirect]) -> bool {
    let is_open = |fd: &str| {
        let closed =
            fd.parse().ok().and_then(|fd: u32| state.descriptors.get(&fd)) == Some(&Endpoint::Closed);
        matches!(fd, "0" | "1" | "2") && !closed
    };
    redirects.iter().all(|redirect| match &redirect.action {
        RedirectAction::Read(word)
        | RedirectAction::Write(word)
        | RedirectAction::Append(word)
        | RedirectAction::WriteBoth(word)
        | RedirectAction::AppendBoth(word) => word.literal().is_some_and(|path| path == "/dev/null"),
        RedirectAction::DuplicateIn(word) | RedirectAction::DuplicateOut(word) => {
            word.literal().is_some_and(|fd| is_open(&fd))
        }
        RedirectAction::HereDocument(_) | RedirectAction::HereString(_) => true,
        RedirectAction::Clobber(_) | RedirectAction::ReadWrite(_) => false,
    })
}
