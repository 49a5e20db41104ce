//! Whether a script could change how the shell reads what comes behind it.
//!
//! In: the complete commands before a syntax error. Out: [`Influence`].
//! Never: calls a command harmless that could define an alias or switch options of the parser (`shopt`, `set -o
//! posix`, `POSIXLY_CORRECT=`, what is evaluated or sourced, a trap): where it isn't sure, it may.

use crate::syntax::tree::{
    AssignValue, Command, Compound, Condition, Operation, Piece, Redirect, RedirectAction, Script, Simple,
    Word,
};

/// What a script may do to the reading of the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Influence {
    None,
    /// it may define aliases or switch options
    Possible,
}

/// Builtins that could, or that set variables by names that aren't looked at here.
const ABLE: [&str; 33] = [
    "alias",
    "unalias",
    "shopt",
    "eval",
    ".",
    "source",
    "enable",
    "builtin",
    "command",
    "exec",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "read",
    "mapfile",
    "readarray",
    "printf",
    "getopts",
    "let",
    "unset",
    "hash",
    "bind",
    "history",
    "fc",
    "complete",
    "compgen",
    "compopt",
    "emulate",
    "setopt",
    "unsetopt",
    "coproc",
];

/// What `set` may be given.
const PLAIN_SETTINGS: [&str; 13] =
    ["-e", "-u", "-x", "-eu", "-ex", "-eux", "+e", "+u", "+x", "errexit", "nounset", "pipefail", "-o"];

/// Looks at each command, function bodies too.
pub fn influence(script: &Script) -> Influence {
    if is_steady(script) { Influence::None } else { Influence::Possible }
}

fn is_steady(script: &Script) -> bool {
    script.items.iter().all(|item| {
        std::iter::once(&item.first)
            .chain(item.rest.iter().map(|(_, pipeline)| pipeline))
            .all(|pipeline| pipeline.commands.iter().all(command))
    })
}

fn command(command: &Command) -> bool {
    match command {
        Command::Simple(one) => simple(one),
        Command::Function(function) => self::command(&function.body),
        Command::Compound(compound, redirects) => self::compound(compound) && self::redirects(redirects),
    }
}

fn simple(simple: &Simple) -> bool {
    let assigns = simple.assignments.iter().all(|assignment| {
        let value = match &assignment.value {
            AssignValue::Scalar(value) => word(value),
            AssignValue::Array(_) => false,
        };
        value && assignment.index.is_none() && is_common(&assignment.name)
    });
    let literals: Option<Vec<String>> = simple.words.iter().map(Word::literal).collect();
    let head = simple.words.first().map(Word::literal);
    let calls = match head {
        None => true,
        Some(None) => false,
        Some(Some(head)) if ABLE.contains(&head.as_str()) => false,
        Some(Some(head)) => match (head.as_str(), &literals) {
            ("set", Some(words)) => words.iter().skip(1).all(|w| PLAIN_SETTINGS.contains(&w.as_str())),
            ("trap", Some(words)) => words.iter().skip(2).all(|w| w == "EXIT" || w == "0"),
            ("set" | "trap", None) => false,
            // a word that an alias of the caller's may stand for isn't seen here: the state has none
            (head, _) => !head.starts_with('%') && !head.contains(['=', '\\']),
        },
    };
    assigns && calls && simple.declared.is_empty() && words(&simple.words) && redirects(&simple.redirects)
}

/// A variable by which the shell's parser is not governed.
fn is_common(name: &str) -> bool {
    !name.starts_with("BASH") && !name.starts_with("SHELLOPTS") && name != "POSIXLY_CORRECT"
}

fn compound(compound: &Compound) -> bool {
    match compound {
        Compound::Brace(body) | Compound::Subshell(body) => is_steady(body),
        Compound::For { name, words: list, body, .. } | Compound::Select { name, words: list, body } => {
            is_common(name) && words(list.as_deref().unwrap_or(&[])) && is_steady(body)
        }
        Compound::While { test, body } | Compound::Until { test, body } => is_steady(test) && is_steady(body),
        Compound::If { arms, otherwise } => {
            arms.iter().all(|(test, body)| is_steady(test) && is_steady(body))
                && otherwise.as_ref().is_none_or(is_steady)
        }
        Compound::Case { subject, arms } => {
            word(subject) && arms.iter().all(|arm| words(&arm.patterns) && is_steady(&arm.body))
        }
        Compound::Conditional(test) => condition(test),
        // assignments hide in arithmetic
        Compound::ForArithmetic { .. } | Compound::Arithmetic(_) | Compound::Coprocess { .. } => false,
    }
}

fn condition(test: &Condition) -> bool {
    match test {
        Condition::And(a, b) | Condition::Or(a, b) => condition(a) && condition(b),
        Condition::Not(inner) => condition(inner),
        Condition::Unary(operator, one) => !matches!(operator.as_str(), "-v" | "-R") && word(one),
        Condition::Binary(operator, a, b) => {
            let evaluates = operator.starts_with('-') && operator.len() == 3;
            !evaluates && word(a) && word(b)
        }
    }
}

fn redirects(redirects: &[Redirect]) -> bool {
    redirects.iter().all(|redirect| match &redirect.action {
        RedirectAction::Read(target)
        | RedirectAction::Write(target)
        | RedirectAction::Clobber(target)
        | RedirectAction::Append(target)
        | RedirectAction::ReadWrite(target)
        | RedirectAction::WriteBoth(target)
        | RedirectAction::AppendBoth(target)
        | RedirectAction::DuplicateIn(target)
        | RedirectAction::DuplicateOut(target)
        | RedirectAction::HereDocument(target)
        | RedirectAction::HereString(target) => word(target),
    })
}

fn words(words: &[Word]) -> bool {
    words.iter().all(word)
}

/// Substitutions run in a shell of their own; only what is expanded in this one can set anything.
fn word(word: &Word) -> bool {
    word.pieces.iter().all(|piece| match piece {
        Piece::Bare(_) | Piece::Quoted(..) | Piece::Tilde(_) | Piece::Command(..) | Piece::Process(..) => {
            true
        }
        Piece::Arithmetic(..) => false,
        Piece::Parameter(parameter, _) => {
            let sets = match &parameter.operation {
                Operation::AssignDefault(..) | Operation::Substring(..) | Operation::Transform(_) => true,
                Operation::None
                | Operation::Length
                | Operation::Default(..)
                | Operation::Error(..)
                | Operation::Alternative(..)
                | Operation::RemovePrefix(..)
                | Operation::RemoveSuffix(..)
                | Operation::Replace(..)
                | Operation::Case(..)
                | Operation::Names => false,
            };
            !sets && parameter.index.is_none() && parameter.operation.words().all(self::word)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::bounds::Limits;
    use crate::syntax::grammar::{self, Dialect};

    #[test]
    fn what_could_define_an_alias_or_switch_an_option_may_change_the_reading() {
        let of = |text| influence(&grammar::parse(text, Dialect::Bash, &Limits::default()).script);
        for text in [
            "a=b",
            "echo $x \"$(shopt -s extglob)\"",
            "cat <<E\n$a\nE",
            "f() { ls; }",
            "set -eu; ls | wc",
            "set -o pipefail",
            "trap 'rm x' EXIT",
            "if [ -e a ]; then exit; fi",
            "[[ $a == b ]]",
        ] {
            assert_eq!(of(text), Influence::None, "{text}");
        }
        for text in [
            "alias a=b",
            "shopt -s extglob",
            "f() { shopt -s extglob; }",
            "$x -s extglob",
            "a\\lias b=c",
            "set -o posix",
            "set -o $x",
            "trap 'alias a=b' DEBUG",
            "POSIXLY_CORRECT=1",
            "BASH_ALIASES[a]=b",
            ": ${POSIXLY_CORRECT:=1}",
            "((x))",
            "echo $((x))",
            "eval a",
            ". a",
            "read POSIXLY_CORRECT",
            "for POSIXLY_CORRECT in a; do b; done",
            "echo ${x:y}",
            "[[ a -eq b ]]",
            "command alias a=b",
        ] {
            assert_eq!(of(text), Influence::Possible, "{text}");
        }
    }
}
