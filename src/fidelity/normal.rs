//! A text's meaning as one line: what two texts share exactly if the shell runs the same commands for both.
//!
//! In: a tree. Out: a string in which everything that can change what runs stands, and nothing else: no
//! spans, comments, blank lines, line continuations; no choice between `;` and newline, `$x` and `${x}`,
//! backquotes and `$( )`, quotes around a word in which nothing is live.
//! Never: drops a quote where a pattern, a brace or an expansion beside it makes it count.

use std::fmt::Write as _;

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

/// What is live in a word besides expansions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// patterns and braces
    Word,
    /// nothing: values of assignments, here-documents and here-strings, subjects
    Value,
    /// everything: patterns, regular expressions, arithmetic, what stands in `${x…}`
    Exact,
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
        let mut run = Run { null: place != Place::Value, ..Run::default() };
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

/// For which characters of a word it counts whether they are quoted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeps {
    Nothing,
    /// `*`, `?` and what could become part of another pattern
    Patterns,
    /// `=`, beside an expansion: `export x=$y`
    Signs,
    Everything,
}

fn keeps(word: &Word, place: Place, expands: bool) -> Keeps {
    let bare = |found: &dyn Fn(&str) -> bool| {
        word.pieces.iter().any(|piece| matches!(piece, Piece::Bare(text) if found(text)))
    };
    let all = |found: &dyn Fn(&str) -> bool| {
        word.pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Bare(text) | Piece::Quoted(text, _) if found(text)))
    };
    let plain = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let braces =
        || bare(&|t| t.contains('{')) && bare(&|t| t.contains('}')) && all(&|t| t.contains([',', '.']));
    let bracket = || bare(&|t| t.contains('[')) && bare(&|t| t.contains(']'));
    match place {
        Place::Exact if !expands && !all(&|t| !plain(t)) => Keeps::Nothing,
        Place::Exact => Keeps::Everything,
        Place::Word if bare(&|t| t.contains(['(', ')', '|']) || t.contains("=~") || t.contains(":~")) => {
            Keeps::Everything
        }
        Place::Word if braces() || bracket() => Keeps::Everything,
        Place::Word if bare(&|t| t.contains(['*', '?'])) => Keeps::Patterns,
        Place::Word if expands => Keeps::Signs,
        Place::Value | Place::Word => Keeps::Nothing,
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Quoted {
    #[default]
    No,
    Yes,
}

/// Neighbouring characters for which the same holds.
#[derive(Default)]
struct Run {
    text: String,
    quoted: Quoted,
    /// an empty quoted piece, which makes a word of nothing
    empty: bool,
    /// whether that counts here
    null: bool,
}

impl Run {
    fn add(&mut self, text: &str, quoted: Quoted, keep: Keeps, out: &mut String) {
        self.empty |= text.is_empty() && quoted == Quoted::Yes;
        for c in text.chars() {
            let counts = match keep {
                Keeps::Nothing => false,
                Keeps::Everything => true,
                Keeps::Patterns => !(c.is_alphanumeric() || "_/.-,:%=".contains(c)),
                Keeps::Signs => c == '=',
            };
            // what is not live is as good as quoted
            let quoted = if counts { quoted } else { Quoted::Yes };
            if quoted != self.quoted && !self.text.is_empty() {
                self.flush(out);
            }
            self.quoted = quoted;
            self.text.push(c);
        }
    }

    fn flush(&mut self, out: &mut String) {
        if !self.text.is_empty() {
            let kind = if self.quoted == Quoted::Yes { 'q' } else { 'b' };
            let _ = write!(out, "{kind}{}:{}", self.text.len(), self.text);
        } else if self.empty && self.null {
            out.push('e');
        }
        *self = Self { null: self.null, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::bounds::Limits;
    use crate::syntax::grammar::{Dialect, parse};

    fn normal(text: &str) -> String {
        let parsed = parse(text, Dialect::Bash, &Limits::default());
        assert_eq!(parsed.error, None, "{text}");
        of(&parsed.script)
    }

    #[test]
    fn ways_to_write_the_same_have_one_normal_form() {
        for (one, other) in [
            ("a; b", "a\n\n# x\n  b # y\n"),
            ("echo a b", "'echo' \"a\" \\b"),
            ("echo a \\\n  b", "echo a b"),
            ("if a; then b; fi", "if a\nthen\n  b\nfi"),
            ("echo $x ${y}", "echo ${x} $y"),
            ("echo `id`", "echo $(id)"),
            ("a >f 2>&1", "a 1> f 2>& 1"),
            ("f() { a; }", "function f { a; }"),
            ("a |& b", "a 2>&1 | b"),
            ("a=\"\" b", "a= b"),
            ("ls *.txt", "ls *'.txt'"),
            ("[[ a ]]", "[[ -n a ]]"),
            ("echo \"$x\"y", "echo \"${x}y\""),
            ("git show HEAD~1", "git show 'HEAD~1'"),
            ("find . -exec rm {} \\;", "find . -exec rm '{}' ';'"),
            ("cat <<E\na\nE\n", "cat <<'E'\na\nE"),
            ("cat <<-E\n\ta\n\tE", "cat <<E\na\nE"),
        ] {
            assert_eq!(normal(one), normal(other), "{one} | {other}");
        }
    }

    #[test]
    fn what_changes_the_commands_changes_the_normal_form() {
        for (one, other) in [
            ("echo a b", "echo 'a b'"),
            ("echo $x", "echo \"$x\""),
            ("echo $x", "echo '$x'"),
            ("echo *", "echo '*'"),
            ("echo {a,b}", "echo {a','b}"),
            ("echo {1..3}", "echo '{1..3}'"),
            ("echo [ab]", "echo '[ab]'"),
            ("echo ~", "echo '~'"),
            ("export x=$y", "export x'='$y"),
            ("echo \"\"$x", "echo $x"),
            ("echo ''", "echo"),
            ("a && b", "a; b"),
            ("a & b", "a; b"),
            ("a | b", "a; b"),
            ("! a", "a"),
            ("a=1 b", "'a=1' b"),
            ("if a; then b; fi", "'if' a; 'then' b; 'fi'"),
            ("a 2>f", "a '2' >f"),
            ("a >f", "a >>f"),
            ("(a)", "{ a; }"),
            ("case $x in a*) b;; esac", "case $x in 'a*') b;; esac"),
            ("case $x in a) b;; esac", "case $x in a) b;& esac"),
            ("[[ $x =~ a.b ]]", "[[ $x =~ 'a.b' ]]"),
            ("cat <<E\n$x\nE", "cat <<'E'\n$x\nE"),
            ("cat <<E\na\nE", "cat <<E\na\n\nE"),
            ("echo ${x:-a}", "echo ${x-a}"),
            ("echo ${x#a}", "echo ${x##a}"),
            ("echo $((1+2))", "echo $((1+3))"),
            ("while a; do b; done", "until a; do b; done"),
            ("echo a3:b", "echo ab3:"),
            ("echo '1:a'", "echo 1 :a"),
        ] {
            assert_ne!(normal(one), normal(other), "{one} | {other}");
        }
    }
}
