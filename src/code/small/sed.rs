//! Sed scripts: commands that run, read and write.
//!
//! In: a script (expressions joined by newlines). Out: acts.
//! Never: follows branches: every command counts.

use std::rc::Rc;

use crate::code::found::{Act, Built, Found, Origin, Piece, Source, Value, What};
use crate::text::Span;

struct Script<'a> {
    text: &'a str,
    at: usize,
    found: Found,
}

pub(crate) fn look(text: &str) -> Found {
    let mut script = Script { text, at: 0, found: Found::default() };
    while script.at < text.len() {
        let before = script.at;
        script.command();
        if script.at == before {
            script.step();
        }
    }
    script.found
}

impl<'a> Script<'a> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn step(&mut self) {
        self.at = self.at.saturating_add(1);
        while self.at < self.text.len() && !self.text.is_char_boundary(self.at) {
            self.at = self.at.saturating_add(1);
        }
    }

    fn skip_while(&mut self, test: impl Fn(u8) -> bool) {
        while self.byte().is_some_and(&test) {
            self.at = self.at.saturating_add(1);
        }
    }

    /// The character here, taken: what delimits a pattern.
    fn delimiter(&mut self) -> Option<char> {
        let c = self.text.get(self.at..)?.chars().next()?;
        self.at = self.at.saturating_add(c.len_utf8());
        Some(c)
    }

    /// What stands before the next `close` outside brackets; steps past it.
    fn until(&mut self, close: char, brackets: Brackets) -> &'a str {
        let from = self.at;
        let mut inside = false;
        let rest = self.text.get(from..).unwrap_or("");
        let mut chars = rest.char_indices();
        while let Some((n, c)) = chars.next() {
            match c {
                '\\' => drop(chars.next()),
                '[' if brackets == Brackets::Count
                    && !inside
                    && closes(rest.as_bytes(), n)
                    && !rest.get(n..).is_some_and(|r| r.starts_with("[:")) =>
                {
                    inside = true;
                    // a bracket right after the opening one is a character
                    if rest.get(n.saturating_add(1)..).is_some_and(|r| r.starts_with(']')) {
                        chars.next();
                    }
                }
                ']' if inside => inside = false,
                c if c == close && !inside => {
                    self.at = from.saturating_add(n).saturating_add(c.len_utf8());
                    return rest.get(..n).unwrap_or("");
                }
                _ => {}
            }
        }
        self.at = self.text.len();
        rest
    }

    fn past_line(&mut self) -> &'a str {
        let rest = self.text.get(self.at..).unwrap_or("");
        let line = rest.split('\n').next().unwrap_or("");
        self.at = self.at.saturating_add(line.len());
        line
    }

    fn address(&mut self) {
        loop {
            self.skip_while(|b| {
                b.is_ascii_whitespace()
                    || matches!(b, b';' | b'}' | b'!' | b',' | b'+' | b'~' | b'$' | b'0'..=b'9')
            });
            match self.byte() {
                Some(b'/') => {
                    self.step();
                    self.until('/', Brackets::Count);
                }
                Some(b'\\') => {
                    self.step();
                    if let Some(close) = self.delimiter() {
                        self.until(close, Brackets::Count);
                    }
                }
                _ => return,
            }
            self.skip_while(|b| matches!(b, b'I' | b'M'));
        }
    }

    fn command(&mut self) {
        self.address();
        let start = self.at;
        let Some(b) = self.byte() else { return };
        self.step();
        match b {
            b's' => self.substitute(start),
            b'y' => {
                if let Some(close) = self.delimiter() {
                    self.until(close, Brackets::Ignore);
                    self.until(close, Brackets::Ignore);
                }
            }
            b'e' => {
                let command = self.past_line().trim();
                let value = if command.is_empty() { input() } else { Value::Known(Rc::from(command)) };
                self.act(What::Shell, value, start);
            }
            b'w' | b'W' => self.file(What::Write, start),
            b'r' | b'R' => self.file(What::Read, start),
            b'a' | b'i' | b'c' => self.insertion(),
            b'#' => drop(self.past_line()),
            b':' | b'b' | b't' | b'T' => self.skip_while(|b| !matches!(b, b'\n' | b';' | b'}')),
            _ => {}
        }
    }

    /// `a text`, `a\` and lines that go on after a backslash.
    fn insertion(&mut self) {
        loop {
            let line = self.past_line();
            if !line.ends_with('\\') || self.at >= self.text.len() {
                return;
            }
            self.step();
        }
    }

    fn file(&mut self, what: What, start: usize) {
        let name = self.past_line().trim();
        if !name.is_empty() {
            self.act(what, Value::Known(Rc::from(name)), start);
        }
    }

    fn substitute(&mut self, start: usize) {
        let Some(close) = self.delimiter() else { return };
        let pattern = self.until(close, Brackets::Count);
        let replacement = self.until(close, Brackets::Ignore);
        while let Some(b) = self.byte() {
            match b {
                b'e' => {
                    self.step();
                    let value = replaced(pattern, replacement);
                    self.act(What::Shell, value, start);
                }
                b'w' => {
                    self.step();
                    return self.file(What::Write, start);
                }
                b'g' | b'p' | b'i' | b'I' | b'm' | b'M' | b'0'..=b'9' => self.step(),
                _ => return,
            }
        }
    }

    fn act(&mut self, what: What, value: Value, start: usize) {
        if self.found.acts.len() < 256 {
            let act = Act { what, args: vec![value], built: Built::Plain, span: Span::new(start, self.at) };
            self.found.acts.push(act);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Brackets {
    Count,
    Ignore,
}

/// Whether a bracket at `at` closes nearby; if not, it is a character.
fn closes(bytes: &[u8], at: usize) -> bool {
    let from = at.saturating_add(2);
    bytes.get(from..).is_some_and(|r| {
        memchr::memchr2(b']', b'\n', r.get(..256).unwrap_or(r)).is_some_and(|n| r.get(n) == Some(&b']'))
    })
}

fn input() -> Value {
    Value::unknown(Origin::Stdin)
}

/// What a line is after `s/pattern/replacement/`: known if the whole line is replaced by literal text.
fn replaced(pattern: &str, replacement: &str) -> Value {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut text = String::new();
    let mut chars = replacement.chars();
    let open = || Piece::Open(Source::of(Origin::Stdin));
    while let Some(c) = chars.next() {
        let literal = match (c, if c == '\\' { chars.next() } else { None }) {
            ('&', _) | ('\\', Some('0'..='9')) => None,
            ('\\', Some('n')) => Some('\n'),
            ('\\', Some('L' | 'U' | 'l' | 'u' | 'E')) => continue,
            ('\\', Some(other)) => Some(other),
            (other, _) => Some(other),
        };
        if let Some(literal) = literal {
            text.push(literal);
        } else {
            pieces.push(Piece::Text(Rc::from(std::mem::take(&mut text))));
            pieces.push(open());
        }
    }
    if matches!(pattern, "^" | "$") {
        // nothing is replaced: the line with something in front or behind
        pieces.push(Piece::Text(Rc::from(text)));
        pieces.insert(if pattern == "^" { pieces.len() } else { 0 }, open());
        pieces.retain(|p| !matches!(p, Piece::Text(t) if t.is_empty()));
        return Value::Pieced(Rc::from(pieces));
    }
    let whole = matches!(pattern.trim_start_matches('^').trim_end_matches('$'), ".*" | ".+" | "");
    if whole && pieces.is_empty() {
        return Value::Known(Rc::from(text));
    }
    pieces.push(Piece::Text(Rc::from(text)));
    if !whole {
        pieces.insert(0, open());
        pieces.push(open());
    }
    pieces.retain(|p| !matches!(p, Piece::Text(t) if t.is_empty()));
    Value::Pieced(Rc::from(pieces))
}

#[cfg(test)]
mod tests {
    use crate::code::tests::lines;
    use crate::policy::tables::Lang;

    #[test]
    fn commands_that_act_are_found() {
        let cases: &[(&str, &[&str])] = &[
            ("s/a/b/g; s|/usr|/opt|", &[]),
            ("s/[/]e/x/;p", &[]),
            ("1e date -u", &["Shell date -u"]),
            ("s/.*/uptime/e", &["Shell uptime"]),
            ("s/x/ls &/ge", &["Shell <Stdin>ls <Stdin><Stdin>"]),
            ("/x/Iw out.txt", &["Write out.txt"]),
            ("s/a/b/gw o1\n$r tail.txt", &["Write o1", "Read tail.txt"]),
            ("/x/{s/e/w/\nw f\n}", &["Write f"]),
            ("/a/,/b/d;y/ew/ab/;$!N", &[]),
            ("a\\\ne rm x\nw y", &["Write y"]),
            ("2i w file", &[]),
            (":e;N;$!be;s/\\n/ /g", &[]),
            ("e", &["Shell <Stdin>"]),
        ];
        for (script, acts) in cases {
            assert_eq!(lines(Lang::Sed, script), *acts, "{script}");
        }
    }
}
