//! brush-parser's reading of bash text, as a tree: the second opinion on bash.
//!
//! In: one unit of text. Out: [`Script`], or nothing where brush refuses it or might not end soon.
//! Never: hands brush tokens on which it panics (large numbers, nested here-documents) or is exponential (`((`, nested `case`).

use crate::syntax::bounds::Limits;
use crate::syntax::grammar::Dialect;
use crate::syntax::reread::{Opinion, Rereader, bare_text, peel_time};
use crate::syntax::tree::{
    AfterArm, Assign, AssignValue, Assignment, CaseArm, Command, Compound, Condition, Descriptor, Direction,
    End, Function, Item, Join, Piece, Pipeline, Redirect, RedirectAction, Script, Simple, Status,
    Substituted, Word,
};
use crate::text::Span;
use brush_parser::{ParserOptions, Token, TokenizerOptions, ast, parse_tokens, uncached_tokenize_str};

/// Reads a text with brush.
pub(super) fn read(text: &str, limits: &Limits) -> Opinion {
    let reread = Rereader { dialect: Dialect::Bash, limits, depth: 0, script };
    match program(text) {
        Ok(program) => lower(&program, &reread).map_or(Opinion::None, Opinion::Script),
        Err(opinion) => opinion,
    }
}

fn script(text: &str, reread: &Rereader<'_>) -> Option<Script> {
    lower(&program(text).ok()?, reread)
}

fn program(text: &str) -> Result<ast::Program, Opinion> {
    // each of these is one level of recursion in the tokenizer, which mixes up the tokens of a here-document
    // within them, and unwraps a character that isn't there (`$(cat <<E)`)
    let nested = ["$(", "${", "$["].iter().map(|opening| text.matches(opening).count()).sum::<usize>();
    if nested > 100 || nested > 0 && has_document(text) {
        return Err(Opinion::None);
    }
    let tokens = uncached_tokenize_str(text, &TokenizerOptions::default()).map_err(|_| Opinion::Refused)?;
    if !is_safe(&tokens) {
        return Err(Opinion::None);
    }
    parse_tokens(&tokens, &ParserOptions::default()).map_err(|_| Opinion::Refused)
}

/// Whether `<<` stands anywhere that isn't `<<<`.
fn has_document(text: &str) -> bool {
    text.split("<<<").any(|part| part.contains("<<"))
}

fn lower(program: &ast::Program, reread: &Rereader<'_>) -> Option<Script> {
    let mut items = Vec::new();
    for command in &program.complete_commands {
        items.append(&mut list(command, reread)?.items);
    }
    Some(Script { items })
}

/// Whether brush's grammar ends soon on these tokens: it tries `((` as arithmetic at each level again,
/// and the last arm of a `case` twice, so that time doubles with each level; and it parses numbers
/// before `<` with an unwrap.
fn is_safe(tokens: &[Token]) -> bool {
    let (mut parentheses, mut doubled, mut cases, mut openers) = (0, false, 0, 0);
    let mut before = false;
    for token in tokens {
        let opens = matches!(token, Token::Operator(o, _) if o == "(");
        match token {
            Token::Operator(..) => {
                parentheses += u32::from(opens);
                doubled |= opens && before;
            }
            Token::Word(word, _) => {
                cases += u32::from(word == "case");
                let keyword =
                    matches!(word.as_str(), "{" | "if" | "while" | "until" | "for" | "case" | "coproc" | "!");
                openers += u32::from(keyword);
                let number = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
                if number && word.parse::<i32>().is_err() {
                    return false;
                }
                if has_subscript(word) && word.matches('(').count() > 8 {
                    return false;
                }
            }
        }
        before = opens;
    }
    cases <= 8 && openers + parentheses <= 100 && (!doubled || parentheses <= 12)
}

/// Whether brush looks for an assignment to an array element here, with its word parser.
fn has_subscript(word: &str) -> bool {
    let name = word.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(word.len());
    word.as_bytes().get(name) == Some(&b'[')
}

fn list(list: &ast::CompoundList, reread: &Rereader<'_>) -> Option<Script> {
    let mut items = Vec::with_capacity(list.0.len());
    for ast::CompoundListItem(and_or, separator) in &list.0 {
        let mut rest = Vec::with_capacity(and_or.additional.len());
        for next in &and_or.additional {
            rest.push(match next {
                ast::AndOr::And(p) => (Join::And, pipeline(p, reread)?),
                ast::AndOr::Or(p) => (Join::Or, pipeline(p, reread)?),
            });
        }
        let ends = match separator {
            ast::SeparatorOperator::Async => End::Background,
            ast::SeparatorOperator::Sequence => End::Sequential,
        };
        items.push(Item { first: pipeline(&and_or.first, reread)?, rest, ends });
    }
    Some(Script { items })
}

fn pipeline(pipeline: &ast::Pipeline, reread: &Rereader<'_>) -> Option<Pipeline> {
    let mut commands = Vec::with_capacity(pipeline.seq.len());
    for one in &pipeline.seq {
        commands.push(command(one, reread)?);
    }
    match commands.first_mut() {
        Some(Command::Simple(first)) => peel_time(first, pipeline.timed.is_some()),
        Some(_) => {}
        None => commands.push(Command::Simple(Simple::default())),
    }
    Some(Pipeline { commands, status: if pipeline.bang { Status::Negated } else { Status::AsIs } })
}

fn command(command: &ast::Command, reread: &Rereader<'_>) -> Option<Command> {
    Some(match command {
        ast::Command::Simple(simple) => Command::Simple(self::simple(simple, reread)?),
        ast::Command::Compound(inner, redirects) => {
            Command::Compound(compound(inner, reread)?, redirect_list(redirects.as_ref(), reread)?)
        }
        ast::Command::Function(function) => {
            let ast::FunctionBody(body, redirects) = &function.body;
            let body = Command::Compound(compound(body, reread)?, redirect_list(redirects.as_ref(), reread)?);
            Command::Function(Function {
                name: function.fname.value.clone(),
                body: Box::new(body),
                span: Span::default(),
            })
        }
        ast::Command::ExtendedTest(test, redirects) => {
            let condition = Compound::Conditional(condition(&test.expr, reread)?);
            Command::Compound(condition, redirect_list(redirects.as_ref(), reread)?)
        }
    })
}

fn simple(simple: &ast::SimpleCommand, reread: &Rereader<'_>) -> Option<Simple> {
    use ast::CommandPrefixOrSuffixItem as Part;
    let mut out = Simple::default();
    let prefix = simple.prefix.iter().flat_map(|p| &p.0);
    for part in prefix {
        match part {
            Part::IoRedirect(r) => out.redirects.push(redirect(r, reread)?),
            Part::AssignmentWord(a, _) => out.assignments.push(assignment(a, reread)?),
            Part::Word(_) | Part::ProcessSubstitution(..) => return None,
        }
    }
    if let Some(name) = &simple.word_or_name {
        out.words.push(reread.word(&name.value)?);
    }
    for part in simple.suffix.iter().flat_map(|s| &s.0) {
        match part {
            Part::IoRedirect(r) => {
                let mut redirect = redirect(r, reread)?;
                // brush leaves `{fd}` a word of its own
                if let Some(name) = out.words.last().and_then(bare_text).and_then(descriptor_variable) {
                    redirect.descriptor = Some(Descriptor::Variable(name));
                    out.words.pop();
                }
                out.redirects.push(redirect);
            }
            Part::AssignmentWord(a, word) => match &a.value {
                ast::AssignmentValue::Scalar(_) => out.words.push(reread.word(&word.value)?),
                ast::AssignmentValue::Array(_) => out.declared.push(assignment(a, reread)?),
            },
            Part::Word(word) => out.words.push(reread.word(&word.value)?),
            Part::ProcessSubstitution(kind, inner) => out.words.push(process(kind, inner, reread)?),
        }
    }
    Some(out)
}

fn descriptor_variable(word: &str) -> Option<String> {
    let name = word.strip_prefix('{')?.strip_suffix('}')?;
    let valid = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    valid.then(|| name.to_owned())
}

fn process(
    kind: &ast::ProcessSubstitutionKind,
    inner: &ast::SubshellCommand,
    reread: &Rereader<'_>,
) -> Option<Word> {
    let direction = match kind {
        ast::ProcessSubstitutionKind::Read => Direction::In,
        ast::ProcessSubstitutionKind::Write => Direction::Out,
    };
    let script = list(&inner.list, reread)?;
    let piece =
        Piece::Process(direction, Box::new(Substituted { script, broken: None, span: Span::default() }));
    Some(Word { pieces: vec![piece], span: Span::default() })
}

fn assignment(assignment: &ast::Assignment, reread: &Rereader<'_>) -> Option<Assignment> {
    let (name, index) = match &assignment.name {
        ast::AssignmentName::VariableName(name) => (name.clone(), None),
        ast::AssignmentName::ArrayElementName(name, index) => (name.clone(), Some(reread.body(index)?)),
    };
    let value = match &assignment.value {
        ast::AssignmentValue::Scalar(word) => AssignValue::Scalar(reread.word(&word.value)?),
        ast::AssignmentValue::Array(elements) => {
            let mut out = Vec::with_capacity(elements.len());
            for (index, value) in elements {
                let index = match index {
                    Some(index) => Some(reread.body(&index.value)?),
                    None => None,
                };
                out.push((index, reread.word(&value.value)?));
            }
            AssignValue::Array(out)
        }
    };
    let operator = if assignment.append { Assign::Append } else { Assign::Set };
    Some(Assignment { name, index, operator, value, span: Span::default() })
}

fn compound(compound: &ast::CompoundCommand, reread: &Rereader<'_>) -> Option<Compound> {
    Some(match compound {
        ast::CompoundCommand::Arithmetic(a) => Compound::Arithmetic(reread.body(&a.expr.value)?),
        ast::CompoundCommand::ArithmeticForClause(f) => {
            let part = |e: &Option<ast::UnexpandedArithmeticExpr>| match e {
                Some(e) => reread.body(&e.value),
                None => Some(Word::default()),
            };
            Compound::ForArithmetic {
                init: part(&f.initializer)?,
                test: part(&f.condition)?,
                step: part(&f.updater)?,
                body: list(&f.body.list, reread)?,
            }
        }
        ast::CompoundCommand::BraceGroup(g) => Compound::Brace(list(&g.list, reread)?),
        ast::CompoundCommand::Subshell(s) => Compound::Subshell(list(&s.list, reread)?),
        ast::CompoundCommand::ForClause(f) => {
            let words = match &f.values {
                Some(words) => Some(words.iter().map(|w| reread.word(&w.value)).collect::<Option<Vec<_>>>()?),
                None => None,
            };
            let body = list(&f.body.list, reread)?;
            Compound::For { name: f.variable_name.clone(), words, body, span: Span::default() }
        }
        ast::CompoundCommand::CaseClause(c) => {
            let arms = c.cases.iter().map(|arm| case_arm(arm, reread)).collect::<Option<Vec<_>>>()?;
            Compound::Case { subject: reread.word(&c.value.value)?, arms }
        }
        ast::CompoundCommand::IfClause(c) => {
            let mut arms = vec![(list(&c.condition, reread)?, list(&c.then, reread)?)];
            let mut otherwise = None;
            for part in c.elses.iter().flatten() {
                match &part.condition {
                    Some(test) => arms.push((list(test, reread)?, list(&part.body, reread)?)),
                    None => otherwise = Some(list(&part.body, reread)?),
                }
            }
            Compound::If { arms, otherwise }
        }
        ast::CompoundCommand::WhileClause(ast::WhileOrUntilClauseCommand(test, body, _)) => {
            Compound::While { test: list(test, reread)?, body: list(&body.list, reread)? }
        }
        ast::CompoundCommand::UntilClause(ast::WhileOrUntilClauseCommand(test, body, _)) => {
            Compound::Until { test: list(test, reread)?, body: list(&body.list, reread)? }
        }
        ast::CompoundCommand::Coprocess(c) => {
            let name = c.name.as_ref().map(|n| n.value.clone());
            Compound::Coprocess { name, body: Box::new(command(&c.body, reread)?) }
        }
    })
}

fn case_arm(item: &ast::CaseItem, reread: &Rereader<'_>) -> Option<CaseArm> {
    let after = match item.post_action {
        ast::CaseItemPostAction::ExitCase => AfterArm::Stop,
        ast::CaseItemPostAction::UnconditionallyExecuteNextCaseItem => AfterArm::FallThrough,
        ast::CaseItemPostAction::ContinueEvaluatingCases => AfterArm::TestNext,
    };
    let body = match &item.cmd {
        Some(body) => list(body, reread)?,
        None => Script::default(),
    };
    let patterns = item.patterns.iter().map(|w| reread.word(&w.value)).collect::<Option<Vec<_>>>()?;
    Some(CaseArm { patterns, body, after })
}

fn condition(expr: &ast::ExtendedTestExpr, reread: &Rereader<'_>) -> Option<Condition> {
    use ast::ExtendedTestExpr as Expr;
    Some(match expr {
        Expr::And(a, b) => Condition::And(Box::new(condition(a, reread)?), Box::new(condition(b, reread)?)),
        Expr::Or(a, b) => Condition::Or(Box::new(condition(a, reread)?), Box::new(condition(b, reread)?)),
        Expr::Not(a) => Condition::Not(Box::new(condition(a, reread)?)),
        Expr::Parenthesized(a) => condition(a, reread)?,
        Expr::UnaryTest(operator, word) => Condition::Unary(operator.to_string(), reread.word(&word.value)?),
        Expr::BinaryTest(operator, a, b) => {
            let right = if matches!(
                operator,
                ast::BinaryPredicate::StringMatchesRegex | ast::BinaryPredicate::StringContainsSubstring
            ) {
                reread.pattern(&b.value)?
            } else {
                reread.word(&b.value)?
            };
            Condition::Binary(operator.to_string(), reread.word(&a.value)?, right)
        }
    })
}

fn redirect_list(redirects: Option<&ast::RedirectList>, reread: &Rereader<'_>) -> Option<Vec<Redirect>> {
    redirects.iter().flat_map(|list| &list.0).map(|r| redirect(r, reread)).collect()
}

fn redirect(redirect: &ast::IoRedirect, reread: &Rereader<'_>) -> Option<Redirect> {
    use ast::IoFileRedirectKind as Kind;
    let (number, action) = match redirect {
        ast::IoRedirect::File(number, kind, target) => {
            let word = match target {
                ast::IoFileRedirectTarget::Filename(word) | ast::IoFileRedirectTarget::Duplicate(word) => {
                    reread.word(&word.value)?
                }
                ast::IoFileRedirectTarget::Fd(fd) => Word::bare(fd.to_string(), Span::default()),
                ast::IoFileRedirectTarget::ProcessSubstitution(kind, inner) => process(kind, inner, reread)?,
            };
            let action = match kind {
                Kind::Read => RedirectAction::Read(word),
                Kind::Write => RedirectAction::Write(word),
                Kind::Append => RedirectAction::Append(word),
                Kind::ReadAndWrite => RedirectAction::ReadWrite(word),
                Kind::Clobber => RedirectAction::Clobber(word),
                Kind::DuplicateInput => RedirectAction::DuplicateIn(word),
                Kind::DuplicateOutput => RedirectAction::DuplicateOut(word),
            };
            (*number, action)
        }
        ast::IoRedirect::HereDocument(number, document) => {
            let body = if document.requires_expansion {
                reread.body(&document.doc.value)?
            } else {
                Word::quoted(document.doc.value.clone(), Span::default())
            };
            (*number, RedirectAction::HereDocument(body))
        }
        ast::IoRedirect::HereString(number, word) => {
            (*number, RedirectAction::HereString(reread.word(&word.value)?))
        }
        ast::IoRedirect::OutputAndError(word, true) => {
            (None, RedirectAction::AppendBoth(reread.word(&word.value)?))
        }
        ast::IoRedirect::OutputAndError(word, false) => {
            (None, RedirectAction::WriteBoth(reread.word(&word.value)?))
        }
    };
    let descriptor = number.and_then(|n| u32::try_from(n).ok()).map(Descriptor::Number);
    Some(Redirect { descriptor, action, span: Span::default() })
}
