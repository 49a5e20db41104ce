//! Makefiles: recipes of the goals and what they need, functions that run while the file is read.
//!
//! In: a makefile's text and goals. Out: acts.
//! Never: evaluates conditions: both branches count.

use std::collections::HashMap;
use std::rc::Rc;

use super::notes::{Notes, known, open, value};
use crate::code::found::{Found, Origin, Piece, Value, What};
use crate::text::Span;

const DEPTH_LIMIT: u8 = 10;

/// What making `goals` would do; with none, the first target.
pub(crate) fn look(text: &str, goals: &[&str]) -> Found {
    let mut make = Make { notes: Notes::default(), vars: HashMap::new(), rules: Vec::new() };
    make.read(text);
    let first = make
        .rules
        .iter()
        .find(|r| !r.target.starts_with('.') && !r.target.contains('%'))
        .map(|r| r.target.clone());
    let mut wanted: Vec<String> = if goals.is_empty() {
        first.into_iter().collect()
    } else {
        goals.iter().map(|g| (*g).to_owned()).collect()
    };
    let mut at = 0_usize;
    while let Some(goal) = wanted.get(at).cloned() {
        at = at.saturating_add(1);
        if at > 512 {
            break;
        }
        let rules: Vec<usize> =
            make.rules.iter().enumerate().filter(|(_, r)| r.target == goal).map(|(n, _)| n).collect();
        for n in rules {
            let Some(rule) = make.rules.get(n) else { continue };
            for need in rule.needs.clone() {
                if !wanted.contains(&need) {
                    wanted.push(need);
                }
            }
            make.recipe(n);
        }
    }
    make.notes.found
}

struct Rule {
    target: String,
    needs: Vec<String>,
    recipe: Vec<(String, Span)>,
}

struct Make {
    notes: Notes,
    vars: HashMap<String, String>,
    rules: Vec<Rule>,
}

impl Make {
    fn read(&mut self, text: &str) {
        let mut at = 0_usize;
        let mut current: Vec<usize> = Vec::new();
        while at < text.len() {
            let start = at;
            let mut line = String::new();
            // a line, with those that a backslash joins to it
            loop {
                let rest = text.get(at..).unwrap_or("");
                let one = rest.split('\n').next().unwrap_or("");
                at = at.saturating_add(one.len()).saturating_add(1);
                if let Some(head) = one.strip_suffix('\\') {
                    line.push_str(head);
                    line.push(' ');
                    if at >= text.len() {
                        break;
                    }
                } else {
                    line.push_str(one);
                    break;
                }
            }
            let span = Span::new(start, at.min(text.len()));
            if let Some(command) = line.strip_prefix('\t') {
                for n in &current {
                    if let Some(rule) = self.rules.get_mut(*n) {
                        rule.recipe.push((command.to_owned(), span));
                    }
                }
                continue;
            }
            let line = line.split(" #").next().unwrap_or("").trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            current = self.line(line, span).unwrap_or(current);
        }
    }

    /// An assignment, a rule, or a directive; gives the rules that it opens.
    fn line(&mut self, line: &str, span: Span) -> Option<Vec<usize>> {
        let word = line.split_whitespace().next().unwrap_or("");
        if matches!(word, "include" | "-include" | "sinclude") {
            self.notes.on(What::Load, line.trim_start_matches(word), span);
            return None;
        }
        if matches!(word, "load" | "-load") {
            self.notes.on(What::LoadNative, line.trim_start_matches(word), span);
            return None;
        }
        if line.starts_with("$(") && !line.contains(": ") {
            self.expand(line, 0, span);
            return None;
        }
        let line = if matches!(word, "export" | "override" | "private") {
            line.trim_start_matches(word).trim()
        } else {
            line
        };
        if let Some((name, op, made)) = assignment(line) {
            self.assign(name, op, made, span);
            return Some(Vec::new());
        }
        let (targets, rest) = line.split_once(':')?;
        let (needs, recipe) = rest
            .trim_start_matches(':')
            .split_once(';')
            .map_or((rest.trim_start_matches(':'), None), |(n, r)| (n, Some(r)));
        let needs: Vec<String> =
            self.expand(needs, 0, span).split_whitespace().map(ToOwned::to_owned).collect();
        let mut opened = Vec::new();
        for target in self.expand(targets, 0, span).split_whitespace() {
            if self.rules.len() >= 4096 {
                break;
            }
            opened.push(self.rules.len());
            self.rules.push(Rule {
                target: target.to_owned(),
                needs: needs.clone(),
                recipe: recipe.iter().map(|r| ((*r).to_owned(), span)).collect(),
            });
        }
        Some(opened)
    }

    fn assign(&mut self, name: &str, op: &str, made: &str, span: Span) {
        let made = match op {
            "!=" => {
                self.notes.on(What::Shell, made, span);
                UNKNOWN.to_owned()
            }
            ":=" | "::=" => self.expand(made, 0, span),
            "+=" => format!("{} {made}", self.vars.get(name).map_or("", String::as_str)),
            _ => made.to_owned(),
        };
        // even an unused one runs when it is expanded at once; a lazy one is read for its functions
        if made.contains("$(shell") || made.contains("$(file") {
            self.expand(&made, 0, span);
        }
        if self.vars.len() < 4096 && made.len() < 16 * 1024 {
            self.vars.insert(name.to_owned(), made);
        }
    }

    fn recipe(&mut self, rule: usize) {
        let Some((target, lines)) =
            self.rules.get_mut(rule).map(|r| (r.target.clone(), std::mem::take(&mut r.recipe)))
        else {
            return;
        };
        for (line, span) in lines {
            let expanded = self.expand(&line, 0, span).replace("$@", &target);
            let command = expanded.trim_start().trim_start_matches(['@', '-', '+']).trim();
            if command.is_empty() || command.starts_with('#') {
                continue;
            }
            self.notes.act(What::Shell, vec![pieced(command)], span);
        }
    }

    /// Text with variables and functions replaced; what is unknown becomes [`UNKNOWN`].
    fn expand(&mut self, text: &str, depth: u8, span: Span) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            out.push_str(rest.get(..at).unwrap_or(""));
            let after = rest.get(at.saturating_add(1)..).unwrap_or("");
            let (name, taken) = match after.chars().next() {
                Some('$') => {
                    out.push('$');
                    rest = after.get(1..).unwrap_or("");
                    continue;
                }
                Some('(') => bracketed(after, b'(', b')'),
                Some('{') => bracketed(after, b'{', b'}'),
                Some('@') => {
                    out.push_str("$@");
                    rest = after.get(1..).unwrap_or("");
                    continue;
                }
                Some(c) => (after.get(..c.len_utf8()).unwrap_or(""), c.len_utf8()),
                None => ("", 0),
            };
            rest = after.get(taken..).unwrap_or("");
            if depth < DEPTH_LIMIT && out.len() < 64 * 1024 {
                let made = self.reference(name, depth.saturating_add(1), span);
                out.push_str(&made);
            } else {
                out.push_str(UNKNOWN);
            }
        }
        out.push_str(rest);
        out
    }

    fn reference(&mut self, name: &str, depth: u8, span: Span) -> String {
        let (word, args) = name.split_once(char::is_whitespace).unwrap_or((name, ""));
        match word {
            "shell" => {
                let command = self.expand(args, depth, span);
                self.notes.act(What::Shell, vec![pieced(command.trim())], span);
                return UNKNOWN.to_owned();
            }
            "file" => {
                let args = self.expand(args, depth, span);
                let (path, data) = args.split_once(',').unwrap_or((&args, ""));
                let path = path.trim();
                let (what, path) =
                    match (path.strip_prefix(">>"), path.strip_prefix('>'), path.strip_prefix('<')) {
                        (Some(p), ..) => (What::Append, p),
                        (_, Some(p), _) => (What::Write, p),
                        (_, _, Some(p)) => (What::Read, p),
                        _ => return String::new(),
                    };
                let data = (what != What::Read).then(|| known(data));
                self.notes.act(what, std::iter::once(pieced(path.trim())).chain(data).collect(), span);
                return UNKNOWN.to_owned();
            }
            "eval" => {
                let text = self.expand(args, depth, span);
                self.read(&text);
                return String::new();
            }
            "guile" | "call" | "foreach" | "if" | "or" | "and" => {
                self.expand(args, depth, span);
                return UNKNOWN.to_owned();
            }
            _ => {}
        }
        match self.vars.get(name).cloned() {
            Some(made) => self.expand(&made, depth, span),
            None if matches!(name, "MAKE") => "make".to_owned(),
            None if name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') && name.len() > 1 => {
                format!("${{{name}}}")
            }
            None => UNKNOWN.to_owned(),
        }
    }
}

/// Stands for what is unknown while text is put together.
const UNKNOWN: &str = "\u{fffc}";

/// Text with [`UNKNOWN`] as pieces.
fn pieced(text: &str) -> Value {
    let mut out = Vec::new();
    for (n, part) in text.split(UNKNOWN).enumerate() {
        if n > 0 {
            out.push(open(Origin::Unknown, ""));
        }
        out.push(Piece::Text(Rc::from(part)));
    }
    value(out)
}

/// The inside of `(…)`, and how many bytes it takes with its brackets.
fn bracketed(text: &str, open: u8, close: u8) -> (&str, usize) {
    let (mut depth, mut at) = (0_u32, 0_usize);
    for b in text.bytes() {
        if b == open {
            depth = depth.saturating_add(1);
        } else if b == close {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return (text.get(1..at).unwrap_or(""), at.saturating_add(1));
            }
        }
        at = at.saturating_add(1);
    }
    (text.get(1..).unwrap_or(""), text.len())
}

/// `NAME op value`.
fn assignment(line: &str) -> Option<(&str, &str, &str)> {
    let at = line.find('=')?;
    let before = line.get(..at)?;
    let op = ["::", ":", "?", "+", "!"].into_iter().find(|o| before.ends_with(o)).unwrap_or("");
    let name = before.get(..before.len().saturating_sub(op.len()))?.trim();
    if name.is_empty() || name.contains([':', ' ', '\t', '\'', '"']) {
        return None;
    }
    let mark = line.get(at.saturating_sub(op.len())..=at)?;
    Some((name, mark, line.get(at.saturating_add(1)..)?.trim()))
}

#[cfg(test)]
mod tests {
    use super::look;
    use crate::code::tests::listed;

    #[test]
    fn recipes_of_the_goals_are_read() {
        let text = "D = build\nV := $(shell git describe)\nall: app\n\t@echo $(D) $@\napp: x.c\n\tcc -o $(D)/app \\\n\t  x.c\nclean:\n\trm -rf $(D) $(PREFIX)/x $$HOME\n";
        assert_eq!(
            listed(&look(text, &[])),
            ["Shell git describe", "Shell echo build all", "Shell cc -o build/app  \t  x.c"]
        );
        assert_eq!(
            listed(&look(text, &["clean"])),
            ["Shell git describe", "Shell rm -rf build ${PREFIX}/x $HOME"]
        );
        assert_eq!(listed(&look("$(file >/tmp/x,hi)\nx:;id", &[])), ["Write /tmp/x | hi", "Shell id"]);
    }
}
