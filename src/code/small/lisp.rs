//! Emacs lisp, as `--eval` and `--batch -l` give it.
//!
//! In: forms. Out: acts.
//! Never: expands macros.

use std::collections::HashMap;
use std::rc::Rc;

use super::notes::{Notes, known, open, pieces, value};
use crate::code::escape::{Escapes, unescape};
use crate::code::found::{Found, Grade, Origin, Piece, Value, What};
use crate::text::Span;

const DEPTH_LIMIT: u8 = 40;

pub(crate) fn look(text: &str) -> Found {
    let mut lisp = Lisp { text, at: 0, notes: Notes::default(), vars: HashMap::new(), depth: 0 };
    while lisp.at < text.len() {
        let before = lisp.at;
        lisp.form();
        if lisp.at == before {
            lisp.at = lisp.at.saturating_add(1);
        }
    }
    lisp.notes.found
}

struct Lisp<'a> {
    text: &'a str,
    at: usize,
    notes: Notes,
    vars: HashMap<String, Value>,
    depth: u8,
}

/// A form's value, and its name if it is a bare symbol.
struct Form {
    value: Value,
    symbol: String,
}

impl Lisp<'_> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while let Some(b) = self.byte() {
            match b {
                b';' => {
                    self.at = memchr::memchr(b'\n', self.text.as_bytes().get(self.at..).unwrap_or(b""))
                        .map_or(self.text.len(), |n| self.at.saturating_add(n));
                }
                b'\'' | b'`' | b',' | b'@' => self.at = self.at.saturating_add(1),
                b'#' if self.text.as_bytes().get(self.at.saturating_add(1)) == Some(&b'\'') => {
                    self.at = self.at.saturating_add(2);
                }
                b if b.is_ascii_whitespace() => self.at = self.at.saturating_add(1),
                _ => return,
            }
        }
    }

    fn form(&mut self) -> Form {
        self.blanks();
        let start = self.at;
        match self.byte() {
            Some(b'"') => {
                let mut end = start.saturating_add(1);
                let bytes = self.text.as_bytes();
                while let Some(b) = bytes.get(end) {
                    match b {
                        b'"' => break,
                        b'\\' => end = end.saturating_add(2),
                        _ => end = end.saturating_add(1),
                    }
                }
                self.at = end.saturating_add(1).min(self.text.len());
                while !self.text.is_char_boundary(self.at) {
                    self.at = self.at.saturating_add(1);
                }
                let inside = self.text.get(start.saturating_add(1)..end).unwrap_or("");
                Form { value: known(&unescape(inside, Escapes::Full, '"')), symbol: String::new() }
            }
            Some(b'(' | b'[') => self.list(),
            Some(b')' | b']') => {
                self.at = self.at.saturating_add(1);
                Form { value: known(""), symbol: String::new() }
            }
            Some(_) => {
                while self.byte().is_some_and(|b| {
                    !b.is_ascii_whitespace() && !matches!(b, b'(' | b')' | b'"' | b'[' | b']' | b';')
                }) {
                    self.at = self.at.saturating_add(1);
                }
                let word = self.text.get(start..self.at).unwrap_or("");
                let made = match self.vars.get(word) {
                    Some(v) => v.clone(),
                    None if word.bytes().all(|b| b.is_ascii_digit())
                        || word.starts_with(':')
                        || matches!(word, "nil" | "t") =>
                    {
                        known(word)
                    }
                    None if word == "process-environment" => value(vec![open(Origin::Environment, "")]),
                    None => value(vec![open(Origin::Unknown, "")]),
                };
                Form { value: made, symbol: word.to_owned() }
            }
            None => Form { value: known(""), symbol: String::new() },
        }
    }

    fn list(&mut self) -> Form {
        let start = self.at;
        self.at = self.at.saturating_add(1);
        if self.depth >= DEPTH_LIMIT {
            self.notes.doubt(Grade::Limit, "code nested too deeply", Span::new(start, self.text.len()));
            return Form { value: known(""), symbol: String::new() };
        }
        self.depth = self.depth.saturating_add(1);
        let mut forms: Vec<Form> = Vec::new();
        loop {
            self.blanks();
            match self.byte() {
                None => break,
                Some(b')' | b']') => {
                    self.at = self.at.saturating_add(1);
                    break;
                }
                Some(_) => {
                    let before = self.at;
                    forms.push(self.form());
                    if self.at == before {
                        self.at = self.at.saturating_add(1);
                    }
                }
            }
        }
        self.depth = self.depth.saturating_sub(1);
        let made = self.call(&forms, Span::new(start, self.at));
        Form { value: made, symbol: String::new() }
    }

    fn call(&mut self, forms: &[Form], span: Span) -> Value {
        let Some((head, args)) = forms.split_first() else { return known("nil") };
        let at = |n: usize| args.get(n).map_or_else(|| Value::unknown(Origin::Unknown), |f| f.value.clone());
        let two = || vec![at(0), at(1)];
        let one = |n: usize| vec![at(n)];
        let is_nil = |n: usize| args.get(n).is_none_or(|f| f.symbol == "nil");
        let (what, list) = match head.symbol.as_str() {
            "shell-command"
            | "shell-command-to-string"
            | "async-shell-command"
            | "process-lines"
            | "start-process-shell-command"
            | "call-process-shell-command" => {
                (What::Shell, one(if head.symbol.starts_with("start") { 2 } else { 0 }))
            }
            "call-process" | "process-file" => (
                What::Exec,
                args.iter()
                    .enumerate()
                    .filter(|(n, _)| *n == 0 || *n > 3)
                    .map(|(_, f)| f.value.clone())
                    .collect(),
            ),
            "start-process" => (What::Exec, args.iter().skip(2).map(|f| f.value.clone()).collect()),
            "term" | "ansi-term" | "serial-term" | "vterm" => (What::Exec, one(0)),
            "shell" | "eshell" => (What::Interactive, Vec::new()),
            "delete-file" => (What::Delete, one(0)),
            "delete-directory" => (if is_nil(1) { What::Delete } else { What::DeleteTree }, one(0)),
            "write-region" | "append-to-file" => {
                (if head.symbol == "write-region" && is_nil(3) { What::Write } else { What::Append }, one(2))
            }
            "write-file" => (What::Write, one(0)),
            "save-buffer" => (What::Write, vec![value(vec![open(Origin::Argument, "")])]),
            "rename-file" => (What::Move, two()),
            "copy-file" | "copy-directory" => (What::Copy, two()),
            "make-symbolic-link" | "add-name-to-file" => (What::Link, two()),
            "set-file-modes" => (What::Chmod, two()),
            "make-directory" => (What::Create, one(0)),
            "insert-file-contents"
            | "insert-file-contents-literally"
            | "find-file"
            | "find-file-noselect"
            | "insert-file"
            | "view-file" => (What::Read, one(0)),
            "load" | "load-file" | "load-library" => (What::Load, one(0)),
            "module-load" => (What::LoadNative, one(0)),
            "url-retrieve" | "url-retrieve-synchronously" | "url-copy-file" | "url-insert-file-contents" => (
                if head.symbol == "url-copy-file" { What::Download } else { What::Fetch },
                if head.symbol == "url-copy-file" { two() } else { one(0) },
            ),
            "open-network-stream" => (What::Connect, vec![at(2), at(3)]),
            "make-network-process" => (What::Connect, vec![keyed(args, ":host"), keyed(args, ":service")]),
            "make-process" => (What::Exec, vec![keyed(args, ":command")]),
            "setenv" => (What::SetVariable, two()),
            "signal-process" => (What::Kill, two()),
            "package-install" => (What::Install, one(0)),
            "eval" | "read" if at(0).known().is_none() => (What::Eval, one(0)),
            _ => return self.fold(head, args),
        };
        self.notes.act(what, list, span);
        known("")
    }

    fn fold(&mut self, head: &Form, args: &[Form]) -> Value {
        match head.symbol.as_str() {
            "setq" | "setf" | "defvar" | "defconst" => {
                for pair in args.chunks(2) {
                    if let ([name, made], true) = (pair, self.vars.len() < 2048) {
                        self.vars.insert(name.symbol.clone(), made.value.clone());
                    }
                }
                args.last().map_or_else(|| known(""), |f| f.value.clone())
            }
            "concat" => {
                let all: Vec<Piece> = args.iter().flat_map(|f| pieces(&f.value)).take(64).collect();
                value(all)
            }
            "getenv" => {
                value(vec![open(Origin::Variable, args.first().and_then(|f| f.value.known()).unwrap_or(""))])
            }
            "expand-file-name" | "identity" | "progn" | "string-trim" | "list" => {
                args.first().map_or_else(|| known(""), |f| f.value.clone())
            }
            "reverse" | "nreverse" => match args.first().and_then(|f| f.value.known()) {
                Some(text) => known(&text.chars().rev().collect::<String>()),
                None => value(vec![open(Origin::Unknown, "")]),
            },
            // (name value) in a let's head
            name if args.len() == 1 && head.value.known().is_none() && self.vars.len() < 2048 => {
                if let Some(only) = args.first() {
                    self.vars.insert(name.to_owned(), only.value.clone());
                }
                value(vec![open(Origin::Unknown, "")])
            }
            _ => {
                let joined: Vec<Piece> = args
                    .iter()
                    .flat_map(|f| pieces(&f.value))
                    .filter(|p| matches!(p, Piece::Open(_)))
                    .take(8)
                    .collect();
                if joined.is_empty() {
                    value(vec![open(Origin::Computed, "")])
                } else {
                    Value::Pieced(Rc::from(joined))
                }
            }
        }
    }
}

/// The value after a keyword.
fn keyed(args: &[Form], key: &str) -> Value {
    args.iter()
        .position(|f| f.symbol == key)
        .and_then(|n| args.get(n.saturating_add(1)))
        .map_or_else(|| Value::unknown(Origin::Unknown), |f| f.value.clone())
}

#[cfg(test)]
mod tests {
    use crate::code::tests::lines;
    use crate::policy::tables::Lang;

    #[test]
    fn forms_that_act_are_found() {
        let cases: &[(&str, &[&str])] = &[
            ("(shell-command \"ls\") ; (delete-file \"x\")", &["Shell ls"]),
            ("(term \"/bin/sh\")", &["Exec /bin/sh"]),
            ("(let ((f \"a\")) (delete-file (concat f \".txt\")))", &["Delete a.txt"]),
            ("(call-process \"rm\" nil t nil \"-rf\" \"x\")", &["Exec rm | -rf | x"]),
            ("(message \"(delete-file x)\")", &[]),
            ("(write-region \"d\" nil \"/tmp/y\")", &["Write /tmp/y"]),
            ("(delete-directory (getenv \"HOME\") t)", &["DeleteTree <Variable HOME>"]),
        ];
        for (script, acts) in cases {
            assert_eq!(lines(Lang::Emacs, script), *acts, "{script}");
        }
    }
}
