//! Compound commands: groups, loops, conditionals, `case`, functions, coprocesses.
//!
//! In: a [`Reader`] at the start of a command. Out: [`Command`].
//! Never: takes a reserved word for a command's name where bash reserves it.

use crate::syntax::grammar::cursor::{Fault, Read, Reader};
use crate::syntax::grammar::word::Context;
use crate::syntax::tree::{AfterArm, CaseArm, Command, Compound, Function, Redirect, Script, Word};

impl Reader<'_> {
    pub(super) fn read_command(&mut self) -> Read<Command> {
        self.skip_blanks();
        self.deeper(Self::read_command_here)
    }

    fn read_command_here(&mut self) -> Read<Command> {
        if let Some(compound) = self.read_compound()? {
            let redirects = self.read_redirects()?;
            return Ok(Command::Compound(compound, redirects));
        }
        if !matches!(self.peek(), Some(b'f' | b't' | b'd' | b'e' | b'}')) {
            return self.read_simple();
        }
        match self.peek_keyword() {
            Some(("function", end)) if self.is_bash() => {
                let start = self.at;
                self.at = end;
                self.read_function_keyword(start)
            }
            Some(("then" | "do" | "done" | "fi" | "elif" | "else" | "esac" | "}", _)) => {
                self.broken(Fault::Unexpected)
            }
            _ => self.read_simple(),
        }
    }

    /// A compound command without its redirects, if one begins here.
    fn read_compound(&mut self) -> Read<Option<Compound>> {
        if self.peek() == Some(b'(') {
            return self.read_parenthesis().map(Some);
        }
        if !matches!(self.peek(), Some(b'{' | b'i' | b'w' | b'u' | b'f' | b's' | b'c' | b'[')) {
            return Ok(None);
        }
        let Some((word, end)) = self.peek_keyword() else { return Ok(None) };
        let start = self.at;
        let bash = self.is_bash();
        self.at = end;
        let compound = match word {
            "{" => {
                let body = self.read_body()?;
                self.want_keyword("}")?;
                Compound::Brace(body)
            }
            "if" => self.read_if()?,
            "while" => {
                let test = self.read_body()?;
                Compound::While { test, body: self.read_do()? }
            }
            "until" => {
                let test = self.read_body()?;
                Compound::Until { test, body: self.read_do()? }
            }
            "for" => self.read_for(start)?,
            "select" if bash => {
                let (name, words) = self.read_loop_head()?;
                Compound::Select { name, words, body: self.read_loop_body()? }
            }
            "case" => self.read_case()?,
            "[[" if bash => Compound::Conditional(self.read_condition()?),
            "coproc" if bash => self.read_coprocess()?,
            _ => {
                self.at = start;
                return Ok(None);
            }
        };
        Ok(Some(compound))
    }

    /// `((…))` where the parentheses match as arithmetic, else a subshell (as bash decides it).
    fn read_parenthesis(&mut self) -> Read<Compound> {
        let start = self.at;
        if self.is_bash() && self.byte(1) == Some(b'(') {
            self.at += 2;
            if let Some(inner) = self.take_arithmetic()? {
                return Ok(Compound::Arithmetic(inner));
            }
            self.at = start;
        }
        self.at += 1;
        let body = self.read_body()?;
        self.want(")")?;
        Ok(Compound::Subshell(body))
    }

    fn read_if(&mut self) -> Read<Compound> {
        let mut arms = Vec::new();
        loop {
            let test = self.read_body()?;
            self.want_keyword("then")?;
            arms.push((test, self.read_body()?));
            self.skip_blanks();
            if !self.take_keyword("elif") {
                break;
            }
        }
        let otherwise = if self.take_keyword("else") { Some(self.read_body()?) } else { None };
        self.want_keyword("fi")?;
        Ok(Compound::If { arms, otherwise })
    }

    fn read_do(&mut self) -> Read<Script> {
        self.skip_newlines()?;
        self.want_keyword("do")?;
        let body = self.read_body()?;
        self.want_keyword("done")?;
        Ok(body)
    }

    /// `do … done`, or bash's `{ … }`.
    fn read_loop_body(&mut self) -> Read<Script> {
        self.skip_newlines()?;
        if self.is_bash() && self.take_keyword("{") {
            let body = self.read_body()?;
            self.want_keyword("}")?;
            return Ok(body);
        }
        self.read_do()
    }

    fn read_for(&mut self, start: usize) -> Read<Compound> {
        self.skip_blanks();
        if self.is_bash() && self.looks_at("((") {
            self.at += 2;
            let [init, test, step] = self.take_three_parts()?;
            self.skip_blanks();
            self.take(";");
            return Ok(Compound::ForArithmetic { init, test, step, body: self.read_loop_body()? });
        }
        let (name, words) = self.read_loop_head()?;
        let body = self.read_loop_body()?;
        Ok(Compound::For { name, words, body, span: self.span(start, self.at) })
    }

    /// `name [in words]` and the separator behind it.
    fn read_loop_head(&mut self) -> Read<(String, Option<Vec<Word>>)> {
        let name = self.read_name()?;
        self.skip_blanks();
        if self.peek() == Some(b';') {
            self.at += 1;
            return Ok((name, None));
        }
        self.skip_newlines()?;
        if !self.take_keyword("in") {
            return Ok((name, None));
        }
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            match self.read_word(Context::Token)? {
                Some(word) => words.push(word),
                None => break,
            }
        }
        match self.peek() {
            Some(b';') => self.at += 1,
            Some(b'\n') => {}
            _ => return self.wanted(";"),
        }
        Ok((name, Some(words)))
    }

    /// The word as written, quotes removed: a variable's or function's name.
    fn read_name(&mut self) -> Read<String> {
        self.skip_blanks();
        let start = self.at;
        match self.read_word(Context::Token)? {
            Some(word) => Ok(word.literal().unwrap_or_else(|| self.slice(start, self.at).to_owned())),
            None => self.wanted("name"),
        }
    }

    fn read_case(&mut self) -> Read<Compound> {
        self.skip_blanks();
        let Some(subject) = self.read_word(Context::Token)? else { return self.wanted("word") };
        self.skip_newlines()?;
        self.want_keyword("in")?;
        let mut arms = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.take_keyword("esac") {
                break;
            }
            let arm = self.read_arm()?;
            let closed = arm.1;
            arms.push(arm.0);
            if !closed {
                self.want_keyword("esac")?;
                break;
            }
        }
        Ok(Compound::Case { subject, arms })
    }

    /// One arm, and whether `;;` (or its kin) closed it.
    fn read_arm(&mut self) -> Read<(CaseArm, bool)> {
        if self.take("(") {
            self.skip_blanks();
        }
        let mut patterns = Vec::new();
        loop {
            self.skip_blanks();
            match self.read_word(Context::Token)? {
                Some(pattern) => patterns.push(pattern),
                None => return self.wanted("pattern"),
            }
            self.skip_blanks();
            if !self.take("|") {
                break;
            }
        }
        self.want(")")?;
        let body = self.read_list()?;
        self.skip_newlines()?;
        let (after, closed) = if self.take(";;") {
            if self.is_bash() && self.take("&") { (AfterArm::TestNext, true) } else { (AfterArm::Stop, true) }
        } else if self.is_bash() && self.take(";&") {
            (AfterArm::FallThrough, true)
        } else {
            (AfterArm::Stop, false)
        };
        Ok((CaseArm { patterns, body, after }, closed))
    }

    /// `function name [()] body`
    fn read_function_keyword(&mut self, start: usize) -> Read<Command> {
        let name = self.read_name()?;
        self.skip_blanks();
        let before = self.at;
        if self.take("(") {
            self.skip_blanks();
            // `function f (list)`: the parenthesis is the body
            if !self.take(")") {
                self.at = before;
            }
        }
        self.read_function_body(name, start)
    }

    /// The compound command that is a function's body, from behind the name and parentheses.
    pub(super) fn read_function_body(&mut self, name: String, start: usize) -> Read<Command> {
        self.skip_newlines()?;
        if !self.is_bash() {
            // dash takes any command
            let body = self.read_command()?;
            return Ok(Command::Function(Function {
                name,
                body: Box::new(body),
                span: self.span(start, self.at),
            }));
        }
        let body = self.deeper(|reader| {
            let Some(compound) = reader.read_compound()? else { return reader.wanted("function body") };
            Ok(Command::Compound(compound, reader.read_redirects()?))
        })?;
        Ok(Command::Function(Function { name, body: Box::new(body), span: self.span(start, self.at) }))
    }

    /// `coproc [NAME] command`; a name only stands before a compound command.
    fn read_coprocess(&mut self) -> Read<Compound> {
        self.skip_blanks();
        let start = self.at;
        let mut name = None;
        if !self.at_compound()
            && let Ok(Some(word)) = self.read_word(Context::Token)
        {
            self.skip_blanks();
            if self.at_compound() {
                name = word.literal();
            } else {
                self.at = start;
            }
        }
        let body = self.read_command()?;
        Ok(Compound::Coprocess { name, body: Box::new(body) })
    }

    fn at_compound(&mut self) -> bool {
        self.peek() == Some(b'(')
            || matches!(
                self.peek_keyword(),
                Some(("{" | "if" | "while" | "until" | "for" | "select" | "case" | "[[", _))
            )
    }

    /// The redirects behind a compound command.
    fn read_redirects(&mut self) -> Read<Vec<Redirect>> {
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.read_redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(redirects),
            }
        }
    }
}
