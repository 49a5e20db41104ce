//! Shells and languages that a text starts itself, and the texts that it gives them.
//!
//! In: the text's tree. Out: [`Call`]s, also those within texts that are given as they are written.
//! Never: takes a text for known of which the outer shell makes a part.

use crate::fidelity::complaint::{Language, SHELLS};
use crate::syntax::bounds::Limits;
use crate::syntax::grammar::{self, Dialect};
use crate::syntax::tree::{
    AssignValue, Command, Compound, Piece, QuoteForm, Quoting, RedirectAction, Script, Simple, Word,
};
use crate::text::Span;

/// A program that reads a text.
#[derive(Clone, Debug)]
pub struct Call {
    /// Without its folder.
    pub program: String,
    pub reader: Reader,
    pub code: Code,
    /// Where its text stands in the outer one; `None` within a text that is itself given to a shell.
    pub span: Option<Span>,
}

#[derive(Clone, Copy, Debug)]
pub enum Reader {
    Shell(Dialect),
    Language(&'static Language),
}

/// What is known of the text that a program gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// to the byte
    Literal(String),
    /// the outer shell, a pipe or a file makes it
    Open(Loss),
}

/// What the outer shell does to a text that it gives on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// nothing that could be seen
    None,
    /// it expands something in it
    Expanded,
    /// it expands a variable that the inner text sets
    Stolen,
}

/// Shells that start another user's or host's, or what they are told to: they speak under other names.
const STARTERS: &[(&str, &str)] = &[
    ("su", "c"),
    ("script", "c"),
    ("flock", "c"),
    ("ssh", ""),
    ("eval", ""),
    ("watch", ""),
    ("parallel", ""),
];

/// How deep texts within texts are looked at.
const DEPTH: usize = 40;

/// Every call of a text.
pub fn of(script: &Script) -> Vec<Call> {
    let mut out = Vec::new();
    collect(script, &mut out, 0);
    out
}

impl Call {
    /// Whether a shell of this name may be the one that it starts.
    pub fn speaks(&self, name: &str) -> bool {
        let posix = |name: &str| matches!(name, "sh" | "dash" | "ash");
        self.program == name
            || posix(&self.program) && posix(name)
            || STARTERS.iter().any(|(s, _)| *s == self.program)
    }

    /// Whether its text is known and its shell can't read it.
    pub fn is_unreadable(&self) -> bool {
        let (Reader::Shell(dialect), Code::Literal(code)) = (self.reader, &self.code) else { return false };
        grammar::parse(code, dialect, &Limits::default()).error.is_some()
    }
}

fn collect(script: &Script, out: &mut Vec<Call>, depth: usize) {
    if depth > DEPTH {
        return;
    }
    for item in &script.items {
        for pipeline in std::iter::once(&item.first).chain(item.rest.iter().map(|(_, next)| next)) {
            for (at, command) in pipeline.commands.iter().enumerate() {
                let input = if at == 0 { Feed::Own } else { Feed::Pipe };
                command_calls(command, input, out, depth + 1);
            }
        }
    }
}

/// Where a command's input comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Feed {
    Own,
    Pipe,
}

fn command_calls(command: &Command, input: Feed, out: &mut Vec<Call>, depth: usize) {
    match command {
        Command::Simple(simple) => {
            for call in calls(simple, input) {
                if let (Reader::Shell(dialect), Code::Literal(code)) = (call.reader, &call.code) {
                    let inner = grammar::parse(code, dialect, &Limits::default());
                    let before = out.len();
                    collect(&inner.script, out, depth + 1);
                    out.iter_mut().skip(before).for_each(|inner| inner.span = None);
                }
                out.push(call);
            }
            let values = simple.assignments.iter().chain(&simple.declared).flat_map(|a| match &a.value {
                AssignValue::Scalar(word) => vec![word],
                AssignValue::Array(elements) => elements.iter().map(|(_, word)| word).collect(),
            });
            values.chain(&simple.words).for_each(|word| substitutions(word, out, depth));
        }
        Command::Function(function) => command_calls(&function.body, input, out, depth),
        Command::Compound(compound, _) => compound_calls(compound, out, depth),
    }
}

fn compound_calls(compound: &Compound, out: &mut Vec<Call>, depth: usize) {
    match compound {
        Compound::Brace(body)
        | Compound::Subshell(body)
        | Compound::Select { body, .. }
        | Compound::ForArithmetic { body, .. } => collect(body, out, depth),
        Compound::For { words, body, .. } => {
            words.iter().flatten().for_each(|word| substitutions(word, out, depth));
            collect(body, out, depth);
        }
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
        Compound::Coprocess { body, .. } => command_calls(body, Feed::Pipe, out, depth),
        Compound::Conditional(_) | Compound::Arithmetic(_) => {}
    }
}

fn substitutions(word: &Word, out: &mut Vec<Call>, depth: usize) {
    for piece in &word.pieces {
        if let Piece::Command(inner, _) | Piece::Process(_, inner) = piece {
            collect(&inner.script, out, depth + 1);
        }
    }
}

/// The calls of one command: a wrapper's operand (sudo, env, timeout, xargs, docker exec …) is a program, too.
fn calls(simple: &Simple, input: Feed) -> Vec<Call> {
    let mut out = Vec::new();
    for (place, word) in simple.words.iter().enumerate() {
        let Some(literal) = word.literal() else { continue };
        let program = literal.rsplit('/').next().unwrap_or_default();
        let starter = STARTERS.iter().find(|(name, _)| *name == program);
        let (reader, letters) = match (Language::of(program), starter) {
            _ if SHELLS.contains(&program) => (Reader::Shell(dialect(program)), "c"),
            (_, Some((_, letters))) => (Reader::Shell(Dialect::Bash), *letters),
            (Some(language), None) => (Reader::Language(language), language.letters),
            (None, None) => continue,
        };
        let rest = simple.words.get(place + 1..).unwrap_or_default();
        let words = given(program, letters, rest);
        // what starts another shell has it as an argument only
        if words.is_empty() && starter.is_some() {
            continue;
        }
        let (code, span) = if words.is_empty() { (fed(simple, rest, input), None) } else { joined(&words) };
        // a script's file is named in its complaints
        let Some(code) = code else { continue };
        out.push(Call { program: program.to_owned(), reader, code, span });
    }
    out
}

fn dialect(shell: &str) -> Dialect {
    if matches!(shell, "sh" | "dash" | "ash") { Dialect::Posix } else { Dialect::Bash }
}

/// The words that a program reads as a language.
fn given<'t>(program: &str, letters: &str, rest: &'t [Word]) -> Vec<&'t Word> {
    let is_operand = |word: &&Word| word.literal().is_none_or(|text| !text.starts_with('-'));
    match program {
        "eval" => rest.iter().collect(),
        // the first operand is the host; what follows is joined by blanks
        "ssh" => rest.iter().skip_while(|word| !is_operand(word)).skip(1).collect(),
        _ if letters.is_empty() => rest.iter().find(is_operand).into_iter().collect(),
        _ => {
            let takes = |word: &Word| {
                let text = word.literal().unwrap_or_default();
                let short = text.strip_prefix('-').filter(|short| !short.starts_with('-'));
                short.is_some_and(|short| short.ends_with(|last| letters.contains(last)))
                    || matches!(&*text, "--eval" | "--print" | "--expression" | "--command" | "--regexp")
            };
            let at = rest.iter().position(takes);
            let first = || matches!(program, "sed" | "gsed" | "grep" | "egrep" | "rg" | "zgrep");
            match at.and_then(|at| rest.get(at + 1)) {
                Some(word) => vec![word],
                None if first() => rest.iter().find(is_operand).into_iter().collect(),
                None => Vec::new(),
            }
        }
    }
}

/// What comes by a program's input, where it has no operand.
fn fed(simple: &Simple, rest: &[Word], input: Feed) -> Option<Code> {
    for redirect in simple.redirects.iter().rev() {
        match &redirect.action {
            RedirectAction::HereDocument(word) | RedirectAction::HereString(word) => {
                return joined(&[word]).0;
            }
            RedirectAction::Read(_) => return Some(Code::Open(Loss::None)),
            RedirectAction::Write(_)
            | RedirectAction::Clobber(_)
            | RedirectAction::Append(_)
            | RedirectAction::ReadWrite(_)
            | RedirectAction::WriteBoth(_)
            | RedirectAction::AppendBoth(_)
            | RedirectAction::DuplicateIn(_)
            | RedirectAction::DuplicateOut(_) => {}
        }
    }
    let plain = rest.iter().all(|word| word.literal().is_some_and(|text| text.starts_with('-')));
    (plain && input == Feed::Pipe).then_some(Code::Open(Loss::None))
}

fn joined(words: &[&Word]) -> (Option<Code>, Option<Span>) {
    let span = match (words.first(), words.last()) {
        (Some(first), Some(last)) => Some(Span { start: first.span.start, end: last.span.end }),
        _ => None,
    };
    let literals: Option<Vec<String>> = words.iter().map(|word| word.literal()).collect();
    let code = match literals {
        Some(literals) if !words.iter().any(|word| leaks(word)) => Code::Literal(literals.join(" ")),
        Some(_) => Code::Open(Loss::Expanded),
        None => Code::Open(
            words.iter().map(|word| loss(word)).max_by_key(|loss| *loss as u8).unwrap_or(Loss::None),
        ),
    };
    (Some(code), span)
}

/// Whether a word ends or begins within what its writer took for one quoted text: `"print("a b")"`.
fn leaks(word: &Word) -> bool {
    let double = |piece: &Piece| matches!(piece, Piece::Quoted(_, QuoteForm::Double));
    let bare = |piece: &Piece| matches!(piece, Piece::Bare(text) if text.contains(char::is_alphanumeric));
    word.pieces.windows(2).any(|pair| matches!(pair, [a, b] if double(a) && bare(b) || bare(a) && double(b)))
}

fn loss(word: &Word) -> Loss {
    let mut text = String::new();
    for piece in &word.pieces {
        if let Piece::Bare(part) | Piece::Quoted(part, _) = piece {
            text.push_str(part);
        }
        text.push('\u{1}');
    }
    let sets = |name: &str| {
        [format!("{name}="), format!("for {name} in"), format!("read {name}"), format!("read -r {name}")]
            .iter()
            .any(|setting| text.contains(setting))
    };
    let mut worst = Loss::None;
    for piece in &word.pieces {
        match piece {
            Piece::Parameter(parameter, Quoting::Double) if sets(&parameter.name) => return Loss::Stolen,
            Piece::Parameter(..) | Piece::Command(..) | Piece::Arithmetic(..) => worst = Loss::Expanded,
            Piece::Bare(_) | Piece::Quoted(..) | Piece::Tilde(_) | Piece::Process(..) => {}
        }
    }
    worst
}
