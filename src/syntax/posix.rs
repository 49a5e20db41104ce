//! yash-syntax's reading of sh text, as a tree: the second opinion on sh, and on bash text that brush
//! refuses.
//!
//! In: text. Out: [`Script`], or nothing where yash refuses it or its stack might not suffice.
//! Never: an opinion on bash's own constructs, which it misreads (`((`, `&>`, `coproc`).

use crate::syntax::bounds::Limits;
use crate::syntax::grammar::Dialect;
use crate::syntax::reread::{Opinion, Rereader, peel_time};
use crate::syntax::tree::{
    AfterArm, Assign, AssignValue, Assignment, CaseArm, Command, Compound, Descriptor, End, Function, Item,
    Join, Pipeline, Redirect, RedirectAction, Script, Simple, Status, Word,
};
use crate::text::Span;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use yash_syntax::parser::Parser;
use yash_syntax::parser::lex::Lexer;
use yash_syntax::syntax;

/// Reads a text with yash.
pub(super) fn read(text: &str, dialect: Dialect, limits: &Limits) -> Opinion {
    let reread = Rereader { dialect, limits, depth: 0, script };
    match lines(text) {
        Ok(lines) => lower(&lines, &reread).map_or(Opinion::None, Opinion::Script),
        Err(opinion) => opinion,
    }
}

fn script(text: &str, reread: &Rereader<'_>) -> Option<Script> {
    lower(&lines(text).ok()?, reread)
}

fn lower(lines: &[syntax::List], reread: &Rereader<'_>) -> Option<Script> {
    let mut items = Vec::new();
    for line in lines {
        items.append(&mut list(line, reread)?.items);
    }
    Some(Script { items })
}

fn lines(text: &str) -> Result<Vec<syntax::List>, Opinion> {
    // every level of nesting begins with one of these; a level takes about 10 KiB of stack
    let brackets = text.bytes().filter(|b| matches!(b, b'(' | b'{')).count();
    let words =
        ["if", "while", "until", "for", "case"].iter().map(|word| text.matches(word).count()).sum::<usize>();
    if brackets + words > 120 {
        return Err(Opinion::None);
    }
    // it unwraps the character behind `${`, so that the text must not end there, line continuations seen through
    let ended = format!("{text}\n\n");
    let mut lexer = Lexer::with_code(&ended);
    let mut parser = Parser::new(&mut lexer);
    let mut lines = Vec::new();
    loop {
        // the whole text is in memory, so that the first poll is the last
        let Poll::Ready(line) = pin!(parser.command_line()).poll(&mut Context::from_waker(Waker::noop()))
        else {
            return Err(Opinion::None);
        };
        match line {
            Ok(Some(line)) => lines.push(line),
            Ok(None) => return Ok(lines),
            Err(_) => return Err(Opinion::Refused),
        }
    }
}

fn list(list: &syntax::List, reread: &Rereader<'_>) -> Option<Script> {
    let mut items = Vec::with_capacity(list.0.len());
    for item in &list.0 {
        let mut rest = Vec::with_capacity(item.and_or.rest.len());
        for (join, next) in &item.and_or.rest {
            let join = match join {
                syntax::AndOr::AndThen => Join::And,
                syntax::AndOr::OrElse => Join::Or,
            };
            rest.push((join, pipeline(next, reread)?));
        }
        let ends = if item.async_flag.is_some() { End::Background } else { End::Sequential };
        items.push(Item { first: pipeline(&item.and_or.first, reread)?, rest, ends });
    }
    Some(Script { items })
}

fn pipeline(pipeline: &syntax::Pipeline, reread: &Rereader<'_>) -> Option<Pipeline> {
    let mut commands = Vec::with_capacity(pipeline.commands.len());
    for one in &pipeline.commands {
        commands.push(command(one, reread)?);
    }
    if reread.dialect == Dialect::Bash
        && let Some(Command::Simple(first)) = commands.first_mut()
    {
        peel_time(first, false);
    }
    Some(Pipeline { commands, status: if pipeline.negation { Status::Negated } else { Status::AsIs } })
}

fn command(command: &syntax::Command, reread: &Rereader<'_>) -> Option<Command> {
    Some(match command {
        syntax::Command::Simple(simple) => Command::Simple(self::simple(simple, reread)?),
        syntax::Command::Compound(full) => full_compound(full, reread)?,
        syntax::Command::Function(function) => Command::Function(Function {
            name: function.name.to_string(),
            body: Box::new(full_compound(&function.body, reread)?),
            span: Span::default(),
        }),
    })
}

fn simple(simple: &syntax::SimpleCommand, reread: &Rereader<'_>) -> Option<Simple> {
    let mut out = Simple::default();
    for assign in &simple.assigns {
        let value = match &assign.value {
            syntax::Value::Scalar(word) => AssignValue::Scalar(self::word(word, reread)?),
            syntax::Value::Array(words) => AssignValue::Array(
                words.iter().map(|w| Some((None, word(w, reread)?))).collect::<Option<Vec<_>>>()?,
            ),
        };
        // yash takes any text before `=` for a name
        let (name, operator) = match assign.name.strip_suffix('+') {
            Some(name) => (name, Assign::Append),
            None => (assign.name.as_str(), Assign::Set),
        };
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return None;
        }
        out.assignments.push(Assignment {
            name: name.to_owned(),
            index: None,
            operator,
            value,
            span: Span::default(),
        });
    }
    for (word, _) in &simple.words {
        out.words.push(self::word(word, reread)?);
    }
    out.redirects = redirects(&simple.redirs, reread)?;
    Some(out)
}

fn word(word: &syntax::Word, reread: &Rereader<'_>) -> Option<Word> {
    reread.word(&word.to_string())
}

fn words(words: &[syntax::Word], reread: &Rereader<'_>) -> Option<Vec<Word>> {
    words.iter().map(|w| word(w, reread)).collect()
}

fn full_compound(full: &syntax::FullCompoundCommand, reread: &Rereader<'_>) -> Option<Command> {
    use syntax::CompoundCommand as Kind;
    let compound = match &full.command {
        Kind::Grouping(body) => Compound::Brace(list(body, reread)?),
        Kind::Subshell { body, .. } => Compound::Subshell(list(body, reread)?),
        Kind::For { name, values, body } => {
            let words = match values {
                Some(values) => Some(words(values, reread)?),
                None => None,
            };
            Compound::For { name: name.to_string(), words, body: list(body, reread)?, span: Span::default() }
        }
        Kind::While { condition, body } => {
            Compound::While { test: list(condition, reread)?, body: list(body, reread)? }
        }
        Kind::Until { condition, body } => {
            Compound::Until { test: list(condition, reread)?, body: list(body, reread)? }
        }
        Kind::If { condition, body, elifs, r#else } => {
            let mut arms = vec![(list(condition, reread)?, list(body, reread)?)];
            for elif in elifs {
                arms.push((list(&elif.condition, reread)?, list(&elif.body, reread)?));
            }
            let otherwise = match r#else {
                Some(body) => Some(list(body, reread)?),
                None => None,
            };
            Compound::If { arms, otherwise }
        }
        Kind::Case { subject, items } => {
            let mut arms = Vec::with_capacity(items.len());
            for item in items {
                let after = match item.continuation {
                    syntax::CaseContinuation::Break => AfterArm::Stop,
                    syntax::CaseContinuation::FallThrough => AfterArm::FallThrough,
                    syntax::CaseContinuation::Continue => AfterArm::TestNext,
                };
                let patterns = words(&item.patterns, reread)?;
                arms.push(CaseArm { patterns, body: list(&item.body, reread)?, after });
            }
            Compound::Case { subject: word(subject, reread)?, arms }
        }
    };
    Some(Command::Compound(compound, redirects(&full.redirs, reread)?))
}

fn redirects(redirects: &[syntax::Redir], reread: &Rereader<'_>) -> Option<Vec<Redirect>> {
    redirects.iter().map(|r| redirect(r, reread)).collect()
}

fn redirect(redirect: &syntax::Redir, reread: &Rereader<'_>) -> Option<Redirect> {
    use syntax::RedirOp as Op;
    let action = match &redirect.body {
        syntax::RedirBody::Normal { operator, operand } => {
            let word = word(operand, reread)?;
            match operator {
                Op::FileIn => RedirectAction::Read(word),
                Op::FileInOut => RedirectAction::ReadWrite(word),
                Op::FileOut => RedirectAction::Write(word),
                Op::FileAppend => RedirectAction::Append(word),
                Op::FileClobber => RedirectAction::Clobber(word),
                Op::FdIn => RedirectAction::DuplicateIn(word),
                Op::FdOut => RedirectAction::DuplicateOut(word),
                Op::String => RedirectAction::HereString(word),
                // yash's own pipe redirect: no other shell has it
                Op::Pipe => return None,
            }
        }
        syntax::RedirBody::HereDoc(document) => {
            let quoted = document.delimiter.to_string().contains(['\'', '"', '\\']);
            let content = document.content.get().map(ToString::to_string).unwrap_or_default();
            let body = if quoted { Word::quoted(content, Span::default()) } else { reread.body(&content)? };
            RedirectAction::HereDocument(body)
        }
    };
    let descriptor = redirect.fd.and_then(|fd| u32::try_from(fd.0).ok()).map(Descriptor::Number);
    Some(Redirect { descriptor, action, span: Span::default() })
}
