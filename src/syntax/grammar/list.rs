//! Lists: units (what bash reads before it runs anything), and-or lists, pipelines.
//!
//! In: a [`Reader`] at the start of a command. Out: items of the tree.
//! Never: returns commands of a unit that bash would not have run because the unit is malformed.

use crate::syntax::grammar::cursor::{Broken, Fault, Read, Reader};
use crate::syntax::tree::{
    Command, Descriptor, End, Function, Item, Join, Pipeline, Redirect, RedirectAction, Script, Simple,
    Status, Word,
};

/// Reserved words that end a list.
const CLOSERS: [&str; 8] = ["then", "do", "done", "fi", "elif", "else", "esac", "}"];

impl Reader<'_> {
    /// Reads the whole text unit by unit, as bash does: a fault leaves the units before it.
    pub(super) fn read_all(&mut self) -> (Script, Option<Broken>) {
        let mut script = Script::default();
        loop {
            match self.read_unit(&mut script.items) {
                Ok(true) => {}
                Ok(false) => return (script, None),
                Err(broken) => return (script, Some(broken)),
            }
        }
    }

    /// Reads one complete command with its newline; `false` at the end of the text.
    fn read_unit(&mut self, items: &mut Vec<Item>) -> Read<bool> {
        self.skip_newlines()?;
        self.unit = self.at;
        if self.at >= self.end {
            return Ok(false);
        }
        self.documents.clear();
        self.unread = 0;
        let mut unit = Vec::new();
        loop {
            unit.push(self.read_item()?);
            self.skip_blanks();
            if self.at >= self.end || self.byte(0) == Some(b'\n') {
                break;
            }
            if !self.separated {
                return self.broken(Fault::Unexpected);
            }
        }
        if self.at < self.end {
            self.newline()?;
        } else if self.unread < self.documents.len() {
            self.read_documents()?;
        }
        self.settle(&mut unit);
        items.append(&mut unit);
        Ok(true)
    }

    /// A list within a compound command or substitution, up to whatever closes it.
    pub(super) fn read_list(&mut self) -> Read<Script> {
        let mut items = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.at_closer() {
                break;
            }
            items.push(self.read_item()?);
            self.skip_blanks();
            if !self.separated && self.byte(0) != Some(b'\n') {
                break;
            }
        }
        Ok(Script { items })
    }

    /// [`Self::read_list`], which may not be empty.
    pub(super) fn read_body(&mut self) -> Read<Script> {
        let script = self.read_list()?;
        if script.items.is_empty() { self.wanted("command") } else { Ok(script) }
    }

    fn at_closer(&mut self) -> bool {
        match self.peek() {
            None | Some(b')' | b';' | b'|') => return true,
            Some(b'&') => return self.byte(1) != Some(b'>'),
            Some(b't' | b'd' | b'f' | b'e' | b'}') => {}
            Some(_) => return false,
        }
        self.peek_keyword().is_some_and(|(word, _)| CLOSERS.contains(&word))
    }

    /// An and-or list with the separator behind it (`;` and `&`; a newline is left standing).
    fn read_item(&mut self) -> Read<Item> {
        let first = self.read_pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks();
            let join = if self.take("&&") {
                Join::And
            } else if self.take("||") {
                Join::Or
            } else {
                break;
            };
            self.skip_newlines()?;
            rest.push((join, self.read_pipeline()?));
        }
        self.separated = true;
        let ends = match self.peek() {
            Some(b'&') => {
                self.at += 1;
                End::Background
            }
            Some(b';') if !matches!(self.byte(1), Some(b';' | b'&')) => {
                self.at += 1;
                End::Sequential
            }
            _ => {
                self.separated = false;
                End::Sequential
            }
        };
        Ok(Item { first, rest, ends })
    }

    fn read_pipeline(&mut self) -> Read<Pipeline> {
        let mut status = Status::AsIs;
        let mut prefixed = false;
        loop {
            self.skip_blanks();
            if !matches!(self.peek(), Some(b'!' | b't')) {
                break;
            }
            match self.peek_keyword() {
                Some(("!", end)) => {
                    self.at = end;
                    status = if status == Status::AsIs { Status::Negated } else { Status::AsIs };
                }
                Some(("time", end)) if self.is_bash() => {
                    self.at = end;
                    self.skip_time_options();
                }
                _ => break,
            }
            prefixed = true;
        }
        if prefixed && matches!(self.peek(), None | Some(b'\n' | b';' | b'&' | b'|' | b')')) {
            // `!` or `time` alone: the null command
            return Ok(Pipeline { commands: vec![Command::Simple(Simple::default())], status });
        }
        let mut commands = vec![self.read_command()?];
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'|') || self.byte(1) == Some(b'|') {
                break;
            }
            self.at += 1;
            if self.is_bash() && self.peek() == Some(b'&') {
                let span = self.span(self.at - 1, self.at + 1);
                self.at += 1;
                if let Some(left) = commands.last_mut() {
                    add_redirect(
                        left,
                        Redirect {
                            descriptor: Some(Descriptor::Number(2)),
                            action: RedirectAction::DuplicateOut(Word::bare("1", span)),
                            span,
                        },
                    );
                }
            }
            self.skip_newlines()?;
            commands.push(self.read_command()?);
        }
        Ok(Pipeline { commands, status })
    }

    /// `time`'s own `-p` and `--`, which stand between it and the pipeline.
    fn skip_time_options(&mut self) {
        for option in ["-p", "--"] {
            self.skip_blanks();
            let start = self.at;
            if !(self.take(option) && self.at_delimiter()) {
                self.at = start;
            }
        }
    }
}

/// Adds a redirect behind those the command has.
fn add_redirect(command: &mut Command, redirect: Redirect) {
    match command {
        Command::Simple(simple) => simple.redirects.push(redirect),
        Command::Compound(_, redirects) => redirects.push(redirect),
        Command::Function(Function { body, .. }) => add_redirect(body, redirect),
    }
}
