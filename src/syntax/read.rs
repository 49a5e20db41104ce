//! A text's reading: ours, and whether the other parsers see the same commands in it.
//!
//! In: judged text, the shell that will run it. Out: [`Reading`].
//! The reader in `grammar` is exact and linear; brush-parser and yash-syntax are its second opinions,
//! since each misreads texts that the others read right (design/PARSERS.md). Where the readings differ,
//! what bash does is unknown.
//! Never: lets a second opinion run long or deep; says so where there is none.

use crate::syntax::agree::{self, Comparison};
use crate::syntax::bounds::{self, Bound, Facts, Limits};
use crate::syntax::grammar::{self, Dialect, Fault, Parsed, SyntaxError};
use crate::syntax::reread::Opinion;
use crate::syntax::steady::{self, Influence};
use crate::syntax::tree::Script;
use crate::syntax::{bash, posix};
use crate::text::{self, Span};
use std::borrow::Cow;

/// What a text reads as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The commands: all, or the complete ones before the error, which bash runs.
    pub script: Script,
    /// What other shells of that name would read instead (`sh` may be dash or bash).
    pub alternatives: Vec<Script>,
    pub second: Second,
    pub error: Option<SyntaxError>,
    pub facts: Facts,
}

/// What the other parsers say about a reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Second {
    Same,
    /// another parser reads other commands; the first (escaped) that only one reading has
    Differ(String),
    /// no other parser reads this text
    Alone,
    /// every other parser refuses the text as we do
    Refused,
    Skipped(Skip),
}

/// Why nobody was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// only words, plain quotes and simple operators: there is one way to read it
    Plain,
    /// longer than `Limits::second`
    Size,
    /// it breaks a bound of ours
    Bound,
}

impl Reading {
    /// Whether the shell runs the complete commands before the error (`script`) and then does nothing but print
    /// its syntax error: the next command is malformed for us and for every other parser, none of which is
    /// then likely to be wrong about it, and nothing before it could change how the shell reads it. Neither a
    /// bound of ours nor a long text proves that, nor one that reads otherwise under `-O extglob`.
    pub fn ends_at_error(&self) -> bool {
        self.error.is_some()
            && !self.facts.has_extended_pattern
            && self.second == Second::Refused
            && std::iter::once(&self.script)
                .chain(&self.alternatives)
                .all(|script| steady::influence(script) == Influence::None)
    }

    /// Whether the shell prints a syntax error and runs nothing of the text.
    pub fn runs_nothing(&self) -> bool {
        self.ends_at_error()
            && self.script.items.is_empty()
            && self.alternatives.iter().all(|script| script.items.is_empty())
    }
}

/// Reads a text as the shell would. This is `-c`'s text: of a script file or standard input, which the
/// shell ends with a newline where there is none, append one first (a backslash at the end vanishes then).
pub fn read(text: &str, dialect: Dialect, limits: &Limits) -> Reading {
    let facts = match bounds::scan(text, limits) {
        Ok(facts) => facts,
        Err(bound) => return unread(bound),
    };
    let Parsed { script, error, unread, .. } = grammar::parse(text, dialect, limits);
    let mut alternatives = Vec::new();
    if dialect == Dialect::Posix && !facts.is_plain {
        let other = grammar::parse(text, Dialect::Bash, limits);
        if other.script != script {
            alternatives.push(other.script);
        }
        // a shell of that name stops at the error (what comes before it is the script), or it is bash and
        // reads the whole (the alternative): nothing is left unread either way
        if other.error.is_none() && error.is_some_and(|e| !matches!(e.fault, Fault::Bound(_))) {
            return Reading { script, alternatives, second: Second::Alone, error: None, facts };
        }
    }
    let asked = end_literally(text);
    let second = match skip(error, &facts, limits) {
        Some(why) => Second::Skipped(why),
        None if error.is_some() => {
            ask_about_error(text::slice(&asked, Span::new(unread, asked.len())), dialect, limits)
        }
        None if dialect == Dialect::Bash => {
            ask_about_bash(&plain_subscripts(&asked, &script), &script, limits)
        }
        None => match posix::read(&asked, dialect, limits) {
            Opinion::Script(other) => judge(&script, &other),
            Opinion::Refused | Opinion::None => Second::Alone,
        },
    };
    Reading { script, alternatives, second, error, facts }
}

/// A backslash at the end of a text stands for itself (in `-c`); the other parsers drop or refuse it.
fn end_literally(text: &str) -> Cow<'_, str> {
    let backslashes = text.bytes().rev().take_while(|b| *b == b'\\').count();
    if backslashes % 2 == 1 { Cow::Owned(format!("{text}\\")) } else { Cow::Borrowed(text) }
}

fn unread(bound: Bound) -> Reading {
    Reading {
        script: Script::default(),
        alternatives: Vec::new(),
        second: Second::Skipped(Skip::Bound),
        error: Some(SyntaxError { offset: 0, line: 1, column: 1, fault: Fault::Bound(bound) }),
        facts: Facts::default(),
    }
}

fn skip(error: Option<SyntaxError>, facts: &Facts, limits: &Limits) -> Option<Skip> {
    if error.is_some_and(|error| matches!(error.fault, Fault::Bound(_))) {
        Some(Skip::Bound)
    } else if error.is_none() && facts.is_plain {
        Some(Skip::Plain)
    } else if facts.bytes > limits.second {
        Some(Skip::Size)
    } else {
        None
    }
}

fn judge(script: &Script, other: &Script) -> Second {
    match agree::compare(script, other) {
        Comparison::Same => Second::Same,
        Comparison::Differ(what) => Second::Differ(what),
    }
}

/// brush first; yash where brush refuses the text or reads it otherwise (it may be brush that is wrong:
/// two readings of three that agree are believed).
fn ask_about_bash(text: &str, script: &Script, limits: &Limits) -> Second {
    let brush = match bash::read(text, limits) {
        Opinion::Script(other) => judge(script, &other),
        Opinion::Refused | Opinion::None => Second::Alone,
    };
    if brush == Second::Same || agree::is_misread_as_posix(script) {
        return brush;
    }
    match posix::read(text, Dialect::Bash, limits) {
        Opinion::Script(other) => match (judge(script, &other), brush) {
            (Second::Same, _) => Second::Same,
            (yash, Second::Alone) => yash,
            (_, brush) => brush,
        },
        Opinion::Refused | Opinion::None => brush,
    }
}

/// The text with subscripts that every parser reads as we do: the others split `a[5 + 3]=x` into words, which bash
/// does not. Only where nothing but names is expanded in them, so that nothing else of their reading is lost.
fn plain_subscripts<'t>(text: &'t str, script: &Script) -> Cow<'t, str> {
    let mut out = String::new();
    let mut from = 0;
    for span in agree::subscripts(script) {
        let subscript = text::slice(text, span);
        let live = |c: char| matches!(c, '`' | '\\' | '\n') || !c.is_ascii();
        // `$name` stays as it is; whatever else a dollar sign begins may hold anything
        let named = |part: &str| part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$');
        let (start, end) = (to_usize(span.start), to_usize(span.end));
        let simple = !subscript.contains(live) && subscript.split('$').skip(1).all(named);
        if start < from || !simple || subscript.chars().all(plain) {
            continue;
        }
        out += text::slice(text, Span::new(from, start));
        out.extend(subscript.chars().map(|c| if plain(c) { c } else { '_' }));
        from = end;
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    out += text::slice(text, Span::new(from, text.len()));
    Cow::Owned(out)
}

fn to_usize(offset: u32) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

/// At how many ends of lines the others are asked where a command might end that we can't read.
const ENDS: usize = 12;

/// Whether the others refuse a text whose first command we can't read: the whole, and each of the first lines (they
/// might read a command there and refuse only what comes later).
fn ask_about_error(text: &str, dialect: Dialect, limits: &Limits) -> Second {
    let lines = text.match_indices('\n').map(|(at, _)| at).filter(|at| *at > 0).take(ENDS);
    for end in lines.chain([text.len()]) {
        let second = ask_about_end(text::slice(text, Span::new(0, end)), dialect, limits);
        if second != Second::Refused {
            return second;
        }
    }
    Second::Refused
}

/// Whether a list stands apart from its name: `a= (1 2)`. brush reads an array there, where every shell refuses the text.
fn has_detached_list(text: &str) -> bool {
    let named = |before: &str| {
        let name = before.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or("");
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    };
    text.match_indices("= ").any(|(at, _)| {
        let behind = text::slice(text, Span::new(at + 1, text.len())).trim_start_matches([' ', '\t']);
        behind.starts_with('(') && named(text::slice(text, Span::new(0, at)).trim_end_matches('+'))
    })
}

fn ask_about_end(text: &str, dialect: Dialect, limits: &Limits) -> Second {
    let brush = if has_detached_list(text) { Opinion::Refused } else { bash::read(text, limits) };
    let opinions = [brush, posix::read(text, dialect, limits)];
    if opinions.iter().all(|opinion| *opinion == Opinion::Refused) {
        return Second::Refused;
    }
    let read = opinions.iter().find_map(|opinion| match opinion {
        Opinion::Script(script) => Some(judge(&Script::default(), script)),
        Opinion::Refused | Opinion::None => None,
    });
    read.unwrap_or(Second::Alone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::render;

    fn second(text: &str) -> Second {
        read(text, Dialect::Bash, &Limits::default()).second
    }

    #[test]
    fn parsers_that_misread_a_text_do_not_outvote_those_that_read_it_right() {
        for text in [
            "time -- id $(a)",
            "time time id $(a)",
            "! time id $(a)",
            "((echo a); (id))",
            "echo $((echo a); (id))",
            "x=`echo \\`id\\``",
            "coproc cat",
            "ls &>f -la",
            "(( x = 1 ))",
            "exec {fd}>x",
            "a |& b",
            "cat <<E\n$(id)\nE\n",
            "declare -A a=([b]=$(c))",
            "f() { a; }; function g { b; }",
            "[[ $a =~ (b|c) ]] && d",
            "a <(b) > >(c)",
            "for ((i=0;i<3;i++)); do a; done",
            "case $a in b|c) d;; *) e;; esac",
            "echo a\r# ; id",
            "a $(b) \\",
            "a <<<$b $(c)",
            "a[1 + 2]=$(b)",
            "a[3 + $x - 4]=$(b)",
        ] {
            assert_eq!(second(text), Second::Same, "{text}");
        }
    }

    #[test]
    fn plain_long_and_deep_texts_are_not_put_to_other_parsers() {
        assert_eq!(second("ls -la | wc -l"), Second::Skipped(Skip::Plain));
        assert_eq!(second("if then"), Second::Refused);
        assert_eq!(second("a= (1 '2 3')\necho $a"), Second::Refused);
        assert_eq!(second(&"{ ".repeat(1_000)), Second::Skipped(Skip::Bound));
        assert_eq!(second(&"$(a)\n".repeat(2_000)), Second::Skipped(Skip::Size));
    }

    #[test]
    fn a_text_only_we_can_read_says_so() {
        assert_eq!(second("select x in a; do $(b); done"), Second::Alone);
    }

    #[test]
    fn texts_on_which_other_parsers_would_panic_or_run_for_ever_are_kept_from_them() {
        let cases = "case a in b) ".repeat(20) + &"x;; esac; ".repeat(20);
        let parentheses = "((a;".repeat(20) + &"b))".repeat(20);
        let openings = [
            "{ ",
            "( ",
            "((",
            "(a;",
            "if a; then ",
            "while a; do ",
            "for x in a; do ",
            "for x; do ",
            "f() { ",
            "function f { ",
            "case a in b) ",
            "$(",
            "\"$(",
            "${x:-",
            "[[ ( ",
            "coproc ",
            "coproc N { ",
            "<(",
            "a=(",
            "! ",
            "time ",
            "$((",
            "`",
            "((a;",
            "until { ",
            "a[$(",
            "a[\"$(",
            "if { ",
            "cat <<E $(",
            "$[",
            "x || { ",
        ];
        for opening in openings {
            for depth in [8, 20, 38, 70] {
                read(&opening.repeat(depth), Dialect::Bash, &Limits::default());
                read(&(opening.repeat(depth) + "$(a)"), Dialect::Posix, &Limits::default());
            }
        }
        for text in
            ["99999999999>x $(a)", "echo ${", "echo ${#", "$(echo ${#)", cases.as_str(), parentheses.as_str()]
        {
            read(text, Dialect::Bash, &Limits::default());
            read(text, Dialect::Posix, &Limits::default());
        }
    }

    #[test]
    fn sh_may_be_dash_or_bash() {
        let reading = read("[[ a ]] && ls &>f", Dialect::Posix, &Limits::default());
        assert_eq!(render::script(&reading.script), "[[[ a ]]] && [ls] & [>f]");
        let others: Vec<String> = reading.alternatives.iter().map(render::script).collect();
        assert_eq!(others, ["[[ -n a ]] && [ls &>f]"]);
        assert!(read("ls $(a)", Dialect::Posix, &Limits::default()).alternatives.is_empty());
    }

    #[test]
    fn only_a_malformed_command_that_all_refuse_ends_a_text() {
        let ends = |text: &str| read(text, Dialect::Bash, &Limits::default()).ends_at_error();
        assert!(ends("if then"));
        assert!(ends("id; if then"));
        assert!(ends("id\nif then"));
        assert!(ends("a=b\nif then\nid"));
        assert!(!ends("alias a='if id;'\na then\nfi"));
        assert!(!ends("shopt -s extglob\nif then"));
        assert!(!ends("id"));
        assert!(ends("a= (b)\nif then"), "brush is known to misread this one");
        assert!(!ends("[[ x =~ [a  b] ]]\nif then"), "brush reads its first line");
        assert!(!ends("a $(cat <<E)\nb\nE"), "bash takes the body from behind the substitution");
        assert!(!ends(&"{ ".repeat(1_000)), "a bound of ours says nothing about bash");
    }

    #[test]
    fn a_subscript_is_one_word_for_all() {
        for text in ["a[5 + 3]=x $(b)", "a[ i[1] ]=$(b); c", "a[b[0]=1]+=X; $(d)"] {
            assert_eq!(second(text), Second::Same, "{text}");
        }
    }
}
