//! Whether what was received means what was meant.
//!
//! In: two texts. Out: [`Meaning`]: bytes first, then the meaning of both trees where every parser that was
//! asked reads them alike, then bash's own printing of them.
//! Never: calls two texts equal of which one can't be read, or where something in them looks at its own text.

use crate::fidelity::normal;
use crate::fidelity::print;
use crate::invocation::context::Dialect;
use crate::syntax::bounds::Limits;
use crate::syntax::grammar::{self, Parsed};
use crate::syntax::read::{self, Second, Skip};
use crate::syntax::tree::Script;
use crate::text::judged;

/// How two texts compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// to the byte
    Same,
    /// other bytes, the same commands
    Equivalent(Arbiter),
    Different,
}

/// Who says that two texts mean the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arbiter {
    /// our tree, which another parser confirms, or which leaves nothing to confirm
    Trees,
    /// bash's `--pretty-print`
    Bash,
}

/// Whether bash may be started to print both texts (3 ms).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slow {
    Allowed,
    No,
}

/// Texts in which these stand see their own lines, or are read differently from one line to the next: only
/// equal bytes are equal. Cheap to look for; a text that hides one of them has been read as it is written.
const SELF_REGARDING: &[&str] = &[
    "LINENO",
    "BASH_COMMAND",
    "BASH_EXECUTION_STRING",
    "BASH_SOURCE",
    "caller",
    "history",
    "histexpand",
    "fc ",
];

/// Where these stand, quotes around any word and the border between units count.
const UNIT_WISE: &[&str] = &[
    "alias",
    "shopt",
    "extglob",
    "posix",
    "POSIXLY",
    "failglob",
    "readonly",
    "declare",
    "typeset",
    "UID",
    "PPID",
    "SHELLOPTS",
    "BASHOPTS",
    "BASH_",
    "enable",
    "((",
    "$[",
    "let ",
];

/// Bytes up to which two differing texts are parsed: more is a script, and scripts arrive as they were sent.
const PARSED: usize = 256 << 10;

/// Compares what was meant with what was received.
pub fn compare(meant: &[u8], received: &[u8], dialect: Dialect, slow: Slow) -> Meaning {
    if meant == received {
        return Meaning::Same;
    }
    if meant.len().max(received.len()) > PARSED {
        return Meaning::Different;
    }
    let (a, b) = (judged(meant), judged(received));
    if SELF_REGARDING.iter().any(|word| a.contains(word) || b.contains(word)) {
        return Meaning::Different;
    }
    // the tree has no place for `time`
    if a.matches("time").count() != b.matches("time").count() {
        return Meaning::Different;
    }
    let Some(by_trees) = trees(&a, &b, dialect) else { return Meaning::Different };
    if by_trees == Trees::Equal {
        return Meaning::Equivalent(Arbiter::Trees);
    }
    let by_bash = slow == Slow::Allowed && dialect == Dialect::Bash && print::equal(meant, received);
    if by_bash { Meaning::Equivalent(Arbiter::Bash) } else { Meaning::Different }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Trees {
    Equal,
    /// not equal, or somebody reads one of the texts differently: bash must say
    Open,
}

/// `None`: one of the texts can't be read, so nothing but bytes makes them equal.
fn trees(a: &str, b: &str, dialect: Dialect) -> Option<Trees> {
    let grammar = match dialect {
        Dialect::Posix => grammar::Dialect::Posix,
        Dialect::Bash | Dialect::Zsh => grammar::Dialect::Bash,
    };
    let limits = Limits::default();
    let parse =
        |text: &str| Some(grammar::parse(text, grammar, &limits)).filter(|parsed| parsed.error.is_none());
    let (one, other) = (parse(a)?, parse(b)?);
    if !equal(&one, &other, a, b, dialect) {
        return Some(Trees::Open);
    }
    let confirmed = |text: &str| match read::read(text, grammar, &limits).second {
        // where nobody else reads such a text: our reader is tested against bash itself
        Second::Same | Second::Alone | Second::Skipped(Skip::Plain | Skip::Size) => true,
        Second::Differ(_) | Second::Refused | Second::Skipped(Skip::Bound) => false,
    };
    Some(if confirmed(a) && confirmed(b) { Trees::Equal } else { Trees::Open })
}

fn equal(one: &Parsed, other: &Parsed, a: &str, b: &str, dialect: Dialect) -> bool {
    // an unset array element or a failing `${x:?}` ends the unit that it stands in
    let unit_wise = |text: &str| UNIT_WISE.iter().any(|word| text.contains(word)) || has_subscript(text);
    if dialect == Dialect::Zsh || unit_wise(a) || unit_wise(b) {
        return one.units == other.units
            && normal::exact(&one.script) == normal::exact(&other.script)
            && inner_lines(&one.script, a) == inner_lines(&other.script, b);
    }
    normal::of(&one.script) == normal::of(&other.script)
}

/// `${a[…`, `${!a…`, `${a:…`: expansions that can fail.
fn has_subscript(text: &str) -> bool {
    text.match_indices("${").any(|(at, _)| {
        let rest = text.get(at + 2..).unwrap_or("");
        let name = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        rest.starts_with('!') || name.starts_with('[') || name.starts_with(':') && !name.starts_with(":-")
    })
}

/// Lines within substitutions are units of their own, which the tree does not keep: where there is one, the
/// lines must be as many.
fn inner_lines(script: &Script, text: &str) -> usize {
    let has = text.contains("$(") || text.contains('`') || text.contains("<(") || text.contains(">(");
    let code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    if has && !script.items.is_empty() { text.lines().filter(code).count() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(one: &str, other: &str) -> Meaning {
        compare(one.as_bytes(), other.as_bytes(), Dialect::Bash, Slow::Allowed)
    }

    #[test]
    fn equal_meanings_are_equivalent() {
        for (one, other) in [
            ("echo a", "echo  a\n"),
            ("a\nb", "a; b"),
            ("echo 'x'", "echo x"),
            ("for i in 1 2; do\n echo $i\ndone", "for i in 1 2; do echo ${i}; done"),
        ] {
            assert_eq!(meaning(one, other), Meaning::Equivalent(Arbiter::Trees), "{one} | {other}");
        }
        assert_eq!(meaning("echo a", "echo a"), Meaning::Same);
        assert_eq!(meaning("if then", "if then"), Meaning::Same);
    }

    #[test]
    fn texts_that_look_at_themselves_or_fail_by_the_line_are_only_equal_by_the_byte() {
        for (one, other) in [
            ("echo $LINENO", "\necho $LINENO"),
            ("echo $((1/0))\necho b", "echo $((1/0)); echo b"),
            ("readonly x=1\nx=2\necho b", "readonly x=1; x=2; echo b"),
            ("shopt -s expand_aliases\nalias l=ls\nl", "shopt -s expand_aliases; alias l=ls; l"),
            ("alias l=ls\nl", "alias l=ls\n'l'"),
            ("echo ${a[0]}\nb", "echo ${a[0]}; b"),
            ("echo a", "echo a; if"),
            ("time a", "a"),
            ("trap 'echo $BASH_COMMAND' DEBUG; a", "trap 'echo $BASH_COMMAND' DEBUG; 'a'"),
        ] {
            assert_eq!(meaning(one, other), Meaning::Different, "{one} | {other}");
        }
    }
}
