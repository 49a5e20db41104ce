//! One policy file's text, and errors that point into it.
//!
//! In: a file's name and text. Out: origins (`file:line`) and [`PolicyError`], which shows file, line,
//! column, the line itself and a caret.
//! Never: prints text of a file unescaped (INVARIANT(I10)); `build.rs` includes this file too.

use std::fmt;
use std::ops::Range;

use crate::text::escape;

/// Longest part of a line that an error shows, in characters.
const EXCERPT: usize = 160;

/// Why a policy can't be used. Nothing runs under a policy that has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyError {
    /// A file or folder as a whole: owner, mode, type, size, or it can't be read.
    File { path: String, what: String },
    /// A place in a file.
    Text(Box<Mark>),
}

/// A place in a file and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    pub file: String,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    pub message: String,
    /// The line, escaped and cut.
    pub excerpt: String,
    /// Where the caret line starts and how long it is, in columns of the excerpt.
    pub caret: (usize, usize),
}

impl PolicyError {
    pub fn file(path: impl Into<String>, what: impl Into<String>) -> Self {
        Self::File { path: path.into(), what: what.into() }
    }

    /// The message without place and excerpt.
    pub fn message(&self) -> &str {
        match self {
            Self::File { what, .. } => what,
            Self::Text(mark) => &mark.message,
        }
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, what } => write!(f, "{}: {what}", escape(path)),
            Self::Text(mark) => {
                let Mark { file, line, column, message, excerpt, caret: (start, length) } = mark.as_ref();
                let number = line.to_string();
                let gutter = " ".repeat(number.len());
                writeln!(f, "{}:{line}:{column}: {message}", escape(file))?;
                writeln!(f, "  {number} | {excerpt}")?;
                write!(f, "  {gutter} | {}{}", " ".repeat(*start), "^".repeat(*length))
            }
        }
    }
}

impl std::error::Error for PolicyError {}

/// A file's text under its names.
#[derive(Debug)]
pub struct Source<'a> {
    /// What errors call it: a path.
    pub name: &'a str,
    /// What origins call it (`embedded rules/x.toml`, `/etc/…`).
    pub label: &'a str,
    pub text: &'a str,
    /// Offsets at which lines start.
    lines: Vec<usize>,
}

impl<'a> Source<'a> {
    pub fn new(name: &'a str, label: &'a str, text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1);
        Self { name, label, text, lines: std::iter::once(0).chain(ends).collect() }
    }

    /// Line number, from 1, and the offset at which it starts.
    fn line(&self, offset: usize) -> (usize, usize) {
        let number = self.lines.partition_point(|start| *start <= offset).max(1);
        (number, self.lines.get(number - 1).copied().unwrap_or(0))
    }

    /// The number of the line that holds an offset, from 1.
    pub fn line_number(&self, offset: usize) -> usize {
        self.line(offset).0
    }

    /// `label:line` of an offset.
    pub fn origin(&self, offset: usize) -> String {
        format!("{}:{}", self.label, self.line(offset).0)
    }

    /// An error at a byte range of the text.
    pub fn problem(&self, span: Range<usize>, message: impl Into<String>) -> PolicyError {
        let (line, start) = self.line(span.start.min(self.text.len()));
        let whole = self.text.get(start..).unwrap_or("").lines().next().unwrap_or("");
        let before = self.text.get(start..span.start).unwrap_or("");
        let marked = self.text.get(span).unwrap_or("").lines().next().unwrap_or("");
        let column = before.chars().count() + 1;
        // A long line is shown from a little before the place on.
        let skipped = column.saturating_sub(EXCERPT / 2);
        let cut = |text: &str, skip: usize, take: usize| -> String {
            escape(&text.chars().skip(skip).take(take).collect::<String>())
        };
        let excerpt = cut(whole, skipped, EXCERPT);
        let indent = cut(before, skipped, EXCERPT).chars().count();
        let room = excerpt.chars().count().saturating_sub(indent).max(1);
        let length = cut(marked, 0, EXCERPT).chars().count().clamp(1, room);
        PolicyError::Text(Box::new(Mark {
            file: self.name.to_owned(),
            line,
            column,
            message: message.into(),
            excerpt,
            caret: (indent, length),
        }))
    }

    /// An error at a part of a quoted string: `inner` is a range in its value. Where the value is written
    /// with escapes, the whole string is marked.
    pub fn problem_in(
        &self,
        string: Range<usize>,
        value: &str,
        inner: Range<usize>,
        message: impl Into<String>,
    ) -> PolicyError {
        let written = self.text.get(string.start.saturating_add(1)..string.end.saturating_sub(1));
        if written == Some(value) {
            let base = string.start.saturating_add(1);
            self.problem(base.saturating_add(inner.start)..base.saturating_add(inner.end), message)
        } else {
            self.problem(string, message)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_shows_place_line_and_caret() {
        let text = "schema = 1\nwhen = { effect = \"delet\" }\n";
        let source = Source::new("/etc/a.toml", "/etc/a.toml", text);
        let error = source.problem_in(29..36, "delet", 0..5, "unknown effect `delet`");
        let expected = "/etc/a.toml:2:20: unknown effect `delet`\n  2 | when = { effect = \"delet\" }\n    |                    ^^^^^";
        assert_eq!(error.to_string(), expected);
        assert_eq!(source.origin(29), "/etc/a.toml:2");
    }

    #[test]
    fn hostile_lines_are_escaped_and_cut() {
        let text = format!("{}\x1b]0;x\u{202e}{}", "é".repeat(300), "z".repeat(3000));
        let source = Source::new("a\nb", "a", &text);
        let shown = source.problem(600..601, "bad").to_string();
        assert!(shown.starts_with("a\\nb:1:301: bad\n") && shown.contains("\\x1b]0;x\\u{202e}"), "{shown}");
        assert!(shown.len() < 800 && !shown.contains('\x1b'));
    }

    #[test]
    fn ranges_that_do_not_fit_are_no_panic() {
        let source = Source::new("a", "a", "é");
        for span in [0..0, 1..1, 1..5, 9..99, 2..2] {
            assert!(source.problem(span.clone(), "x").to_string().starts_with("a:1:"), "{span:?}");
        }
        assert!(source.problem_in(0..1, "q", 5..9, "x").to_string().starts_with("a:1:"));
    }
}
