//! Shells and languages that a text starts itself: which of them a failure points to.
//!
//! In: the text's tree, evidence. Out: [`Nested`]. Never: blames one whose own part arrived as it was written
//! and which failed for another reason than reading it.

use crate::fidelity::blame::{Evidence, shell_line};
use crate::fidelity::mechanism::Mechanism;
use crate::syntax::tree::{Command, Compound, Piece, Quoting, Script, Simple, Word};
use crate::text::{escape, judged};

/// A program within the text that read its part otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nested {
    pub program: String,
    pub mechanism: Option<Mechanism>,
    pub reason: String,
}

/// Programs that read an argument as a language: their options for it (empty: the first operand), and how their
/// errors begin.
const PROGRAMS: &[(&str, &[&str], &[&str])] = &[
    ("bash", &["-c", "-lc", "-ec", "-xc"], &["bash: "]),
    ("sh", &["-c", "-lc", "-ec"], &["sh: ", "dash: "]),
    ("dash", &["-c"], &["dash: ", "sh: "]),
    ("zsh", &["-c", "-lc"], &["zsh:"]),
    ("ssh", &[""], &["bash: ", "sh: ", "zsh:"]),
    ("su", &["-c"], &["bash: ", "sh: ", "-bash: "]),
    ("python", &["-c"], &["SyntaxError", "IndentationError", "  File \"<string>\""]),
    ("python3", &["-c"], &["SyntaxError", "IndentationError", "  File \"<string>\""]),
    ("node", &["-e", "--eval", "-p"], &["[eval]:", "SyntaxError"]),
    (
        "perl",
        &["-e", "-ne", "-pe", "-E", "-lne", "-pi"],
        &["syntax error at -e", "Can't find string terminator", "Unmatched", "-e line"],
    ),
    ("ruby", &["-e"], &["-e:"]),
    ("php", &["-r"], &["PHP Parse error", "Parse error"]),
    ("awk", &[""], &["awk: ", "mawk: ", "gawk: "]),
    ("gawk", &[""], &["gawk: ", "awk: "]),
    ("sed", &["", "-e"], &["sed: -e expression", "sed: "]),
    ("jq", &[""], &["jq: error", "jq: 1 compile error", "jq: "]),
    ("grep", &["", "-e"], &["grep: "]),
    ("find", &[""], &["find: "]),
    ("sqlite3", &[""], &["Error: in prepare", "Parse error", "Error: near"]),
    ("psql", &["-c"], &["ERROR:  syntax error"]),
    ("xargs", &[""], &["xargs: "]),
];

/// Words of an error that say that something could not be read as it was written.
const READING: &[&str] = &[
    "syntax error",
    "SyntaxError",
    "IndentationError",
    "unexpected",
    "unterminated",
    "Unterminated",
    "unmatched",
    "Unmatched",
    "compile error",
    "parse error",
    "Parse error",
    "unknown option to",
    "unknown command",
    "extra characters",
    "missing",
    "invalid",
    "Invalid",
    "Can't find string terminator",
    "bad substitution",
    "not terminated",
    "EOF",
    "command not found",
    "unrecognized",
    "unary operator expected",
    "too many arguments",
    "strings for",
    "runaway",
    "near \"",
];

/// Looks for a nested program that the evidence points to.
pub fn find(script: &Script, text: &str, evidence: &Evidence) -> Option<Nested> {
    let mut calls = Vec::new();
    collect(script, &mut calls, 0);
    calls.iter().find_map(|call| by_probe(call, evidence)).or_else(|| by_error(&calls, text, evidence))
}

/// Whether a text starts a shell of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inner {
    Shell,
    NoShell,
}

/// Looks for shells that a text starts.
pub fn has_shell(script: &Script) -> Inner {
    let mut calls = Vec::new();
    collect(script, &mut calls, 0);
    let shell = |call: &Call<'_>| SHELLS.contains(&call.program.as_str());
    if calls.iter().any(shell) { Inner::Shell } else { Inner::NoShell }
}

/// Programs whose errors look like the outer shell's.
const SHELLS: &[&str] = &["bash", "sh", "dash", "zsh", "ssh", "su"];

/// A nested call: the program, and the word that it reads as a language.
struct Call<'t> {
    program: String,
    code: &'t Word,
    errors: &'static [&'static str],
}

fn collect<'t>(script: &'t Script, out: &mut Vec<Call<'t>>, depth: usize) {
    if depth > 40 {
        return;
    }
    for item in &script.items {
        for pipeline in std::iter::once(&item.first).chain(item.rest.iter().map(|(_, next)| next)) {
            for command in &pipeline.commands {
                command_calls(command, out, depth + 1);
            }
        }
    }
}

fn command_calls<'t>(command: &'t Command, out: &mut Vec<Call<'t>>, depth: usize) {
    match command {
        Command::Simple(simple) => {
            out.extend(call(simple));
            for word in &simple.words {
                for piece in &word.pieces {
                    if let Piece::Command(inner, _) = piece {
                        collect(&inner.script, out, depth);
                    }
                }
            }
        }
        Command::Function(function) => command_calls(&function.body, out, depth),
        Command::Compound(compound, _) => match compound {
            Compound::Brace(body)
            | Compound::Subshell(body)
            | Compound::For { body, .. }
            | Compound::Select { body, .. }
            | Compound::ForArithmetic { body, .. } => collect(body, out, depth),
            Compound::While { test, body } | Compound::Until { test, body } => {
                collect(test, out, depth);
                collect(body, out, depth);
            }
            Compound::If { arms, otherwise } => {
                for (test, body) in arms {
                    collect(test, out, depth);
                    collect(body, out, depth);
                }
                if let Some(body) = otherwise {
                    collect(body, out, depth);
                }
            }
            Compound::Case { arms, .. } => arms.iter().for_each(|arm| collect(&arm.body, out, depth)),
            Compound::Coprocess { body, .. } => command_calls(body, out, depth),
            Compound::Conditional(_) | Compound::Arithmetic(_) => {}
        },
    }
}

fn call(simple: &Simple) -> Option<Call<'_>> {
    // a wrapper's operand (sudo, env, timeout, docker exec …) is the program
    let place = simple.words.iter().position(|word| {
        let literal = word.literal().unwrap_or_default();
        let base = literal.rsplit('/').next().unwrap_or_default();
        PROGRAMS.iter().any(|(name, ..)| *name == base)
    })?;
    let literal = simple.words.get(place)?.literal()?;
    let base = literal.rsplit('/').next().unwrap_or_default();
    let (name, options, errors) = PROGRAMS.iter().find(|(name, ..)| *name == base)?;
    let rest = simple.words.get(place + 1..)?;
    let code = options.iter().find_map(|option| {
        if option.is_empty() {
            let operand = |word: &&Word| word.literal().is_none_or(|text| !text.starts_with('-'));
            // ssh's first operand is the host
            return if *name == "ssh" {
                rest.iter().filter(operand).nth(1)
            } else {
                rest.iter().find(operand)
            };
        }
        let at = rest.iter().position(|word| word.literal().as_deref() == Some(option))?;
        rest.get(at + 1)
    })?;
    Some(Call { program: (*name).to_owned(), code, errors })
}

/// A probe saw what the program received, and it is not what the text says.
fn by_probe(call: &Call<'_>, evidence: &Evidence) -> Option<Nested> {
    let literal = call.code.literal()?;
    let seen = evidence.nested.iter().find(|argv| {
        let program = argv.first().map(|word| judged(word).into_owned()).unwrap_or_default();
        program.rsplit('/').next() == Some(&call.program)
    })?;
    let arrived = seen.iter().any(|word| *judged(word) == *literal);
    (!arrived).then(|| Nested {
        program: call.program.clone(),
        mechanism: None,
        reason: format!("{} received other arguments than the text gives it", call.program),
    })
}

/// An error of a program that reads a part of the text, about that part.
fn by_error(calls: &[Call<'_>], text: &str, evidence: &Evidence) -> Option<Nested> {
    for line in evidence.stderr.lines() {
        if !READING.iter().any(|word| line.contains(word)) {
            continue;
        }
        for call in calls {
            let named =
                call.errors.iter().any(|start| line.trim_start().starts_with(start) || line.contains(start));
            // the outer shell's own errors name a line of the text
            let outer = SHELLS.contains(&call.program.as_str()) && !is_inner(line, text, call);
            if named && !outer {
                let mechanism = eaten(call.code).then_some(Mechanism::ReExpansion);
                return Some(Nested {
                    program: call.program.clone(),
                    mechanism,
                    reason: format!("{} could not read its part of the text: {}", call.program, escape(line)),
                });
            }
        }
    }
    None
}

/// Whether a shell's error is the inner shell's: about `-c`, or about a word that the outer shell would not run.
fn is_inner(line: &str, text: &str, call: &Call<'_>) -> bool {
    let syntax = line.contains("syntax error") || line.contains("unexpected") || line.contains("unmatched");
    // the outer text can be read whole (we read it), so a syntax error is the inner one's
    if syntax {
        return true;
    }
    let Some((_, rest)) = shell_line(line) else { return false };
    let word = rest.split(": ").next().unwrap_or("");
    let own = call.code.literal().is_none_or(|code| code.contains(word) || eaten(call.code));
    !word.is_empty() && own && !text.lines().any(|outer| outer.trim_start().starts_with(word))
}

/// Whether the outer shell expands something within the word that the inner program reads.
fn eaten(word: &Word) -> bool {
    word.pieces.iter().any(|piece| match piece {
        Piece::Parameter(_, quoting) | Piece::Command(_, quoting) | Piece::Arithmetic(_, quoting) => {
            *quoting == Quoting::Double || word.pieces.len() == 1
        }
        Piece::Bare(_) | Piece::Quoted(..) | Piece::Tilde(_) | Piece::Process(..) => false,
    })
}
