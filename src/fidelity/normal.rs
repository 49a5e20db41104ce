//! A text's meaning as one line: what two texts share exactly if the shell runs the same commands for both.
//!
//! In: a tree. Out: a string in which everything that can change what runs stands, and nothing else: no
//! spans, comments, blank lines, line continuations; no choice between `;` and newline, `$x` and `${x}`,
//! backquotes and `$( )`, quotes around a word in which nothing is live.
//! Never: drops a quote where a pattern, a brace or an expansion beside it makes it count.

use std::fmt::Write as _;

use crate::fidelity::quotes::{Keeps, Place, Quoted, Run, keeps};
use crate::syntax::tree::{
    AfterArm, Assign, AssignValue, Assignment, CaseChange, Colon, Command, Compound, Condition, Descriptor,
    Direction, End, Extent, Join, Operation, Parameter, Piece, Pipeline, Quoting, Redirect, RedirectAction,
    Reference, ReplaceAt, Script, Simple, Status, Substituted, Word,
};

/// What stands behind each command of a list that the next one follows.
pub const END: char = ';';

/// The meaning of a script.
pub fn of(script: &Script) -> String {
    let mut normal = Normal { out: String::new(), quotes: Quotes::WhereLive };
    normal.script(script);
    normal.out
}

/// [`of`], with every quote kept: where aliases or options decide over unquoted words too.
pub fn exact(script: &Script) -> String {
    let mut normal = Normal { out: String::new(), quotes: Quotes::All };
    normal.script(script);
    normal.out
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    WhereLive,
    All,
}

struct Normal {
    out: String,
    quotes: Quotes,
}

impl Normal {
    fn script(&mut self, script: &Script) {
        for item in &script.items {
            self.pipeline(&item.first);
            for (join, next) in &item.rest {
                self.out.push_str(match join {
                    Join::And => " && ",
                    Join::Or => " || ",
                });
                self.pipeline(next);
            }
            self.out.push(match item.ends {
                End::Sequential => END,
                End::Background => '&',
            });
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        if pipeline.status == Status::Negated {
            self.out.push_str("! ");
        }
        for (at, command) in pipeline.commands.iter().enumerate() {
            if at > 0 {
                self.out.push_str(" | ");
            }
            self.command(command);
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirects) => {
                self.compound(compound);
                self.redirects(redirects);
            }
            Command::Function(function) => {
                self.text("function", &function.name);
                self.command(&function.body);
            }
        }
    }

    fn simple(&mut self, simple: &Simple) {
        self.out.push('[');
        for assignment in &simple.assignments {
            self.assignment(assignment);
        }
        self.out.push(' ');
        // arrays among the words stand where they were written
        let mut declared = simple.declared.iter().peekable();
        for word in &simple.words {
            while let Some(assignment) = declared.next_if(|a| a.span.start < word.span.start) {
                self.assignment(assignment);
            }
            self.word(word, Place::Word);
        }
        declared.for_each(|assignment| self.assignment(assignment));
        self.redirects(&simple.redirects);
        self.out.push(']');
    }

    fn assignment(&mut self, assignment: &Assignment) {
        self.text("=", &assignment.name);
        if let Some(index) = &assignment.index {
            self.word(index, Place::Exact);
        }
        if assignment.operator == Assign::Append {
            self.out.push('+');
        }
        match &assignment.value {
            AssignValue::Scalar(word) => self.word(word, Place::Value),
            AssignValue::Array(elements) => {
                self.out.push('(');
                for (index, word) in elements {
                    if let Some(index) = index {
                        self.out.push('@');
                        self.word(index, Place::Exact);
                    }
                    self.word(word, Place::Word);
                }
                self.out.push(')');
            }
        }
    }

    fn compound(&mut self, compound: &Compound) {
        match compound {
            Compound::Brace(body) => self.group("{", body),
            Compound::Subshell(body) => self.group("(", body),
            Compound::For { name, words, body, .. } => self.over("for", name, words.as_deref(), body),
            Compound::Select { name, words, body } => self.over("select", name, words.as_deref(), body),
            Compound::ForArithmetic { init, test, step, body } => {
                self.out.push_str("for((");
                for word in [init, test, step] {
                    self.word(word, Place::Exact);
                }
                self.group("do", body);
            }
            Compound::While { test, body } => {
                self.group("while", test);
                self.group("do", body);
            }
            Compound::Until { test, body } => {
                self.group("until", test);
                self.group("do", body);
            }
            Compound::If { arms, otherwise } => {
                for (test, body) in arms {
                    self.group("if", test);
                    self.group("then", body);
                }
                if let Some(body) = otherwise {
                    self.group("else", body);
                }
                self.out.push_str("fi");
            }
            Compound::Case { subject, arms } => {
                self.out.push_str("case ");
                self.word(subject, Place::Value);
                for arm in arms {
                    self.out.push('(');
                    for pattern in &arm.patterns {
                        self.word(pattern, Place::Word);
                    }
                    self.group(")", &arm.body);
                    self.out.push_str(match arm.after {
                        AfterArm::Stop => ";;",
                        AfterArm::FallThrough => ";&",
                        AfterArm::TestNext => ";;&",
                    });
                }
                self.out.push_str("esac");
            }
            Compound::Conditional(condition) => self.condition(condition),
            Compound::Arithmetic(word) => {
                self.out.push_str("((");
                self.word(word, Place::Exact);
            }
            Compound::Coprocess { name, body } => {
                self.text("coproc", name.as_deref().unwrap_or("COPROC"));
                self.command(body);
            }
        }
    }

    fn group(&mut self, opening: &str, body: &Script) {
        self.out.push_str(opening);
        self.out.push(' ');
        self.script(body);
        self.out.push_str(" }");
    }

    fn over(&mut self, kind: &str, name: &str, words: Option<&[Word]>, body: &Script) {
        self.text(kind, name);
        match words {
            Some(words) => {
                self.out.push_str(" in ");
                for word in words {
                    self.word(word, Place::Word);
                }
            }
            None => self.out.push_str(" over "),
        }
        self.group("do", body);
    }

    fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::And(a, b) | Condition::Or(a, b) => {
                self.out.push_str(if matches!(condition, Condition::And(..)) { "[[and " } else { "[[or " });
                self.condition(a);
                self.condition(b);
            }
            Condition::Not(a) => {
                self.out.push_str("[[not ");
                self.condition(a);
            }
            Condition::Unary(operator, word) => {
                self.text("[[", operator);
                self.word(word, Place::Value);
            }
            Condition::Binary(operator, a, b) => {
                self.text("[[", operator);
                self.word(a, Place::Value);
                let pattern = matches!(operator.as_str(), "=~" | "=" | "==" | "!=");
                self.word(b, if pattern { Place::Exact } else { Place::Value });
            }
        }
        self.out.push_str("]]");
    }

    fn redirects(&mut self, redirects: &[Redirect]) {
        for redirect in redirects {
            use RedirectAction as Action;
            let (operator, usual, word, place) = match &redirect.action {
                Action::Read(word) => ("<", 0, word, Place::Word),
                Action::Write(word) => (">", 1, word, Place::Word),
                Action::Clobber(word) => (">|", 1, word, Place::Word),
                Action::Append(word) => (">>", 1, word, Place::Word),
                Action::ReadWrite(word) => ("<>", 0, word, Place::Word),
                Action::WriteBoth(word) => ("&>", 1, word, Place::Word),
                Action::AppendBoth(word) => ("&>>", 1, word, Place::Word),
                Action::DuplicateIn(word) => ("<&", 0, word, Place::Word),
                Action::DuplicateOut(word) => (">&", 1, word, Place::Word),
                Action::HereDocument(word) => ("<<", 0, word, Place::Value),
                Action::HereString(word) => ("<<<", 0, word, Place::Value),
            };
            match &redirect.descriptor {
                None => drop(write!(self.out, " {usual}{operator}")),
                Some(Descriptor::Number(number)) => drop(write!(self.out, " {number}{operator}")),
                Some(Descriptor::Variable(name)) => drop(write!(self.out, " {{{name}}}{operator}")),
            }
            self.word(word, place);
        }
    }

    /// A text with its kind and length, so that nothing in it can be taken for structure.
    fn text(&mut self, kind: &str, text: &str) {
        let _ = write!(self.out, "{kind}{}:{text} ", text.len());
    }

    fn word(&mut self, word: &Word, place: Place) {
        let expands = word.pieces.iter().any(|piece| !matches!(piece, Piece::Bare(_) | Piece::Quoted(..)));
        let keep = match self.quotes {
            Quotes::All => Keeps::Everything,
            Quotes::WhereLive => keeps(word, place, expands),
        };
        self.out.push('w');
        let mut run = Run::default();
        run.null = place != Place::Value;
        for piece in &word.pieces {
            match piece {
                Piece::Bare(text) => run.add(text, Quoted::No, keep, &mut self.out),
                Piece::Quoted(text, _) => run.add(text, Quoted::Yes, keep, &mut self.out),
                Piece::Tilde(user) => {
                    run.flush(&mut self.out);
                    self.text("~", user);
                }
                Piece::Parameter(parameter, quoting) => {
                    run.flush(&mut self.out);
                    self.parameter(parameter, *quoting);
                }
                Piece::Command(inner, quoting) => {
                    run.flush(&mut self.out);
                    self.substituted("$(", inner, *quoting);
                }
                Piece::Arithmetic(inner, quoting) => {
                    run.flush(&mut self.out);
                    self.out.push_str(mark(*quoting));
                    self.out.push_str("$((");
                    self.word(inner, Place::Exact);
                }
                Piece::Process(direction, inner) => {
                    run.flush(&mut self.out);
                    let opening = if *direction == Direction::In { "<(" } else { ">(" };
                    self.substituted(opening, inner, Quoting::Bare);
                }
            }
        }
        run.flush(&mut self.out);
        self.out.push(' ');
    }

    fn substituted(&mut self, opening: &str, inner: &Substituted, quoting: Quoting) {
        self.out.push_str(mark(quoting));
        self.group(opening, &inner.script);
        if let Some(broken) = &inner.broken {
            self.text("broken", broken);
        }
    }

    fn parameter(&mut self, parameter: &Parameter, quoting: Quoting) {
        self.out.push_str(mark(quoting));
        self.text(if parameter.reference == Reference::Indirect { "$!" } else { "$" }, &parameter.name);
        if let Some(index) = &parameter.index {
            self.out.push('@');
            self.word(index, Place::Exact);
        }
        self.operation(&parameter.operation);
    }

    fn operation(&mut self, operation: &Operation) {
        let colon = |colon: &Colon| if *colon == Colon::Yes { ":" } else { "" };
        let extent = |extent: &Extent| if *extent == Extent::Longest { "longest" } else { "shortest" };
        match operation {
            Operation::None => {}
            Operation::Length => self.out.push_str("{length}"),
            Operation::Names => self.out.push_str("{names}"),
            Operation::Transform(letter) => drop(write!(self.out, "{{@{letter}}}")),
            Operation::Default(c, word) => self.operand(&format!("{}-", colon(c)), [Some(word), None]),
            Operation::AssignDefault(c, word) => self.operand(&format!("{}=", colon(c)), [Some(word), None]),
            Operation::Error(c, word) => self.operand(&format!("{}?", colon(c)), [Some(word), None]),
            Operation::Alternative(c, word) => self.operand(&format!("{}+", colon(c)), [Some(word), None]),
            Operation::RemovePrefix(e, word) => self.operand(&format!("#{}", extent(e)), [Some(word), None]),
            Operation::RemoveSuffix(e, word) => self.operand(&format!("%{}", extent(e)), [Some(word), None]),
            Operation::Replace(at, pattern, with) => {
                let at = match at {
                    ReplaceAt::First => "first",
                    ReplaceAt::All => "all",
                    ReplaceAt::Start => "start",
                    ReplaceAt::End => "end",
                };
                self.operand(at, [Some(pattern), with.as_ref()]);
            }
            Operation::Substring(offset, length) => self.operand("sub", [Some(offset), length.as_ref()]),
            Operation::Case(change, pattern) => {
                let change = match change {
                    CaseChange::UpperFirst => "^",
                    CaseChange::UpperAll => "^^",
                    CaseChange::LowerFirst => ",",
                    CaseChange::LowerAll => ",,",
                    CaseChange::Toggle => "~",
                };
                self.operand(change, [pattern.as_ref(), None]);
            }
        }
    }

    fn operand(&mut self, operator: &str, words: [Option<&Word>; 2]) {
        let _ = write!(self.out, "{{{operator}");
        words.into_iter().flatten().for_each(|word| self.word(word, Place::Exact));
        self.out.push('}');
    }
}

fn mark(quoting: Quoting) -> &'static str {
    match quoting {
        Quoting::Bare => "",
        Quoting::Double => "\"",
    }
}

#[cfg(test)]
mod tests;
