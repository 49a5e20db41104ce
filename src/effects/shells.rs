//! Shells that a command starts: `sh -c TEXT`, `bash FILE`, `… | sh`, a bare `sh`; and `eval`, `.`.
//!
//! In: calls of shells. Out: the inner text, judged; a shell without a command is an effect of its own.
//! Never: takes an option's value for the text.

use std::rc::Rc;

use crate::act::{Class, ClassSet, Kind, TagSet, UnknownKind, tag};
use crate::canonical::value::{Data, Field, Origin, Value};
use crate::effects::call::Call;
use crate::effects::core::By;
use crate::effects::fields::{Borders, joined};
use crate::effects::files::{FileText, Interpreter, is_stdin};
use crate::effects::model::{Indicator, Target};
use crate::effects::walk::{Outcome, Walk};
use crate::policy::tables::Lang;

/// What a shell's command line asks for.
#[derive(Debug, Default)]
struct Asked {
    command: bool,
    stdin: bool,
    interactive: bool,
    inert: bool,
    operands: Vec<Field>,
    /// `--rcfile`, `--init-file`
    files: Vec<Field>,
    letters: String,
}

/// Names of shells that read POSIX-like text.
pub fn is_shell(name: &str) -> bool {
    matches!(
        name,
        "sh" | "bash"
            | "dash"
            | "zsh"
            | "ksh"
            | "ksh93"
            | "mksh"
            | "pdksh"
            | "ash"
            | "rbash"
            | "yash"
            | "agent-sh"
            | "rksh"
            | "lksh"
            | "oksh"
            | "posh"
    )
}

fn ask(words: &[Field]) -> Asked {
    let mut asked = Asked::default();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let text = word.text.as_str();
        if matches!(text, "--" | "-") {
            break;
        }
        if let Some(long) = text.strip_prefix("--") {
            match long {
                "rcfile" | "init-file" => asked.files.extend(rest.next().cloned()),
                "help" | "version" => asked.inert = true,
                _ => {}
            }
            continue;
        }
        if !(text.starts_with('-') || text.starts_with('+')) || text.len() < 2 {
            asked.operands.push(word.clone());
            break;
        }
        let on = text.starts_with('-');
        for letter in text.chars().skip(1) {
            match letter {
                'c' if on => asked.command = true,
                's' if on => asked.stdin = true,
                'i' if on => asked.interactive = true,
                'n' if on => asked.inert = true,
                'o' | 'O' => drop(rest.next()),
                other if on => asked.letters.push(other),
                _ => {}
            }
        }
    }
    asked.operands.extend(rest.cloned());
    asked
}

impl Walk<'_, '_> {
    /// A call of a shell.
    pub fn shell(&mut self, call: &Call<'_>, program: &Rc<str>) -> Outcome {
        let asked = ask(call.arguments());
        if asked.inert && !asked.command {
            return Outcome::silent();
        }
        for file in &asked.files {
            self.run_code_file(Interpreter::new(Lang::Shell, &[], program), file);
        }
        if asked.command {
            return self.shell_text(call, &asked, program);
        }
        match asked.operands.first() {
            Some(file) if !asked.stdin => {
                let arguments = asked.operands.get(1..).unwrap_or(&[]);
                self.run_code_file(Interpreter::new(Lang::Shell, arguments, program), file)
            }
            _ => self.shell_input(call, &asked, program),
        }
    }

    fn shell_text(&mut self, call: &Call<'_>, asked: &Asked, program: &Rc<str>) -> Outcome {
        let Some(text) = asked.operands.first() else { return Outcome::silent() };
        self.in_child(|child| {
            child.stdin = call.stdin.clone();
            child.state.options.clone_from(&asked.letters);
            child.forget_names();
            for (name, value) in call.environment {
                child.state.set(name, value.clone());
            }
            let mut arguments = asked.operands.iter().skip(1).map(Field::value);
            child.state.zero = arguments.next().unwrap_or_else(|| Value::known(&**program));
            child.state.positional = Rc::new(arguments.collect());
            child.opaque_or_text(text, program)
        })
    }

    /// Text that is known is judged; text that is not is code of unknown content.
    pub fn opaque_or_text(&mut self, text: &Field, program: &Rc<str>) -> Outcome {
        if text.has_hole() {
            let mut tags = self.state.ambient.union(text.tags).with(tag::OPAQUE);
            if !text.text.starts_with(crate::canonical::value::HOLE) {
                // the commands are known, some of their words are not: a file's name, a number
                tags = tags.minus(TagSet::of(tag::FROM_UNKNOWN));
            }
            let target = Target {
                written: text.text.replace(crate::canonical::value::HOLE, "…").into(),
                ..Target::default()
            };
            self.core.emit(Kind::Code, target, tags, By::new(program, text.span));
            self.core.doubt(UnknownKind::Code, "shell text", text.span);
        } else if text.tags.has(tag::FROM_DECODED) {
            let ambient = self.state.ambient.with(tag::OBFUSCATED);
            return self.under(ambient, |walk| walk.text(&text.text, text.span));
        }
        self.text(&text.text, text.span)
    }

    /// A shell that reads its commands from its input.
    fn shell_input(&mut self, call: &Call<'_>, asked: &Asked, program: &Rc<str>) -> Outcome {
        let input = call.stdin;
        let tied = self.state.ambient.has(tag::STREAMS_TO_NETWORK);
        // `sh -i </dev/null`, `sh -i <<<TEXT`: nobody types
        let types = asked.interactive && input.whole().is_none();
        if input.origin == Origin::Inherited || types || tied {
            let mut tags = self.state.ambient.with(tag::INTERACTIVE);
            if input.origin == Origin::Inside {
                tags = tags.union(input.tags);
            }
            self.core.emit(
                Kind::Shell,
                Target { written: Rc::clone(program), resolved: Rc::clone(program), ..Target::default() },
                tags,
                By::new(program, call.span),
            );
            if input.origin == Origin::Inherited {
                return Outcome::prints(Data::unknown(TagSet::of(tag::FROM_UNKNOWN)));
            }
        }
        self.core.indicate(crate::effects::printed::indicator_of(Lang::Shell, input), call.span);
        let field = call.argv.first().cloned().unwrap_or_default();
        self.in_child(|child| {
            child.stdin = Data { text: None, ..input.clone() };
            let ambient = child.state.ambient;
            if input.tags.has(tag::FROM_DECODED) {
                child.state.ambient = ambient.with(tag::OBFUSCATED);
            }
            let outcome =
                child.code_data(Interpreter::new(Lang::Shell, &asked.operands, program), input, &field);
            if input.text.as_deref().is_some_and(crate::canonical::value::has_hole) {
                let tags = ambient.union(input.tags).with(tag::OPAQUE);
                child.core.emit(Kind::Code, Target::default(), tags, By::new(program, call.span));
            }
            outcome
        })
    }

    /// `eval`: its words, joined, in this very shell.
    pub fn eval(&mut self, call: &Call<'_>) -> Outcome {
        let words = call.arguments();
        let words =
            if words.first().is_some_and(|w| w.text == "--") { words.get(1..).unwrap_or(&[]) } else { words };
        if words.is_empty() {
            return Outcome::success();
        }
        let field = joined(words, Borders::Lost);
        if is_settings(&field.text, field.tags) {
            return Outcome::silent();
        }
        if !self.core.is_apart(&field.text) {
            self.core.indicate(evaluates(&field.text, field.tags), call.span);
        }
        self.opaque_or_text(&field, &Rc::from("eval"))
    }

    /// A start-up file as `BASH_ENV` names it: its name is expanded as if in double quotes, then it is sourced.
    pub fn startup(&mut self, named: &str) {
        let quoted = named.replace('\\', "\\\\").replace('"', "\\\"");
        self.text(&format!(". \"{quoted}\""), crate::text::Span::default());
    }

    /// `.` and `source`: the file's text in this very shell.
    pub fn source(&mut self, call: &Call<'_>) -> Outcome {
        self.returning(|walk| walk.sourced(call))
    }

    fn sourced(&mut self, call: &Call<'_>) -> Outcome {
        // its functions stay, and know it as theirs
        self.state.source = None;
        let Some(field) = call.arguments().iter().find(|f| f.text != "--") else { return Outcome::silent() };
        let program: Rc<str> = Rc::from("source");
        if is_stdin(&field.text) {
            self.core.indicate(Indicator::Evaluation, call.span);
            let data = call.stdin.clone();
            return match data.whole() {
                Some(text) => self.text(text, field.span),
                None => self.code_data(Interpreter::new(Lang::Shell, &[], &program), &data, field),
            };
        }
        let target = self.path_target(field);
        let text = self.file_text(&target);
        if let FileText::Written(data) = &text
            && is_settings(&data.value().text, data.tags)
        {
            return Outcome::silent();
        }
        if let FileText::Written(data) = &text
            && target.resolved.starts_with("/dev/")
        {
            self.core.indicate(evaluates(&data.value().text, data.tags), call.span);
        } else if !is_settings_file(field, &target, &text) {
            self.core.indicate(Indicator::Evaluation, call.span);
        }
        match text {
            FileText::Written(data) => {
                let decoded = data.tags.has(tag::FROM_DECODED);
                let ambient = self.state.ambient;
                let ambient = if decoded { ambient.with(tag::OBFUSCATED) } else { ambient };
                match data.whole() {
                    Some(text) => self.under(ambient, |walk| walk.text(text, field.span)),
                    None => self.code_data(Interpreter::new(Lang::Shell, &[], &program), &data, field),
                }
            }
            FileText::There(text) => self.text(&text, field.span),
            FileText::Binary | FileText::Unreadable | FileText::Missing => {
                let tags =
                    self.state.ambient.union(field.tags).union(self.path_tags(&target, field, Kind::Execute));
                self.core.emit(Kind::Execute, target, tags, By::new(&program, field.span));
                Outcome::silent()
            }
        }
    }
}

/// `. venv/bin/activate`, `source ~/.nvm/nvm.sh`: a file that lies there is a program like any other,
/// not text that is put together and evaluated.
fn is_settings_file(field: &Field, target: &Target, text: &FileText) -> bool {
    let made = matches!(text, FileText::Written(data) if data.whole().is_none());
    let unsure = ClassSet::of(Class::Temporary).with(Class::Unknown).with(Class::Null).with(Class::OtherHome);
    !made && !field.has_hole() && !target.resolved.starts_with("/dev/") && !target.classes.has_any(unsure)
}

/// Programs that print shell text to be evaluated, by custom: `direnv hook bash`, `kubectl completion bash`,
/// `brew shellenv`, `pyenv init -`, `ssh-agent -s`. Whoever could have planted a program of that name in PATH has it
/// run by the substitution already; `eval` of its output gives nothing more away. A path, a function or a PATH that
/// leads into a temporary folder is not trusted so.
pub fn prints_settings(call: &Call<'_>) -> bool {
    let mut words = call.argv.iter().map(|f| f.text.as_str());
    let Some(head) = words.next().filter(|h| !h.contains('/') && !is_shell(h)) else { return false };
    if matches!(head, "ssh-agent" | "gpg-agent" | "dircolors" | "lesspipe" | "keychain" | "tset" | "resize") {
        return true;
    }
    let words: Vec<&str> = words.collect();
    let shell =
        |w: Option<&&str>| w.is_none_or(|w| is_shell(w) || matches!(*w, "-" | "fish" | "--path" | "--shell"));
    let asks = |w: &str| {
        matches!(
            w,
            "completion"
                | "completions"
                | "--completion"
                | "--completions"
                | "hook"
                | "init"
                | "activate"
                | "shell-init"
                | "virtualenv-init"
                | "generate-shell-completion"
        )
    };
    match words.as_slice() {
        ["shellenv" | "docker-env", ..] => true,
        ["env", rest @ ..] => {
            matches!(head, "fnm" | "opam" | "docker-machine" | "minikube" | "conda") && shell(rest.first())
        }
        [first, rest @ ..] if asks(first) => {
            matches!(head, "conda" | "mamba")
                || (shell(rest.first()) && !matches!(*first, "init" if rest.is_empty()))
        }
        [first, second, rest @ ..] if asks(second) && !first.starts_with('-') => {
            shell(rest.first()) && *second != "init"
        }
        _ => false,
    }
}

/// `source <(sed … file)`: what tools print from files at hand is as good as a script that lies there, and text that
/// stands in the command itself (`eval 'a+=(4)'`) is judged like the rest of it.
fn evaluates(text: &str, tags: TagSet) -> Indicator {
    let plain = TagSet::of(tag::FROM_WORKSPACE)
        .with(tag::FROM_SYSTEM)
        .with(tag::IN_SUBSTITUTION)
        .with(tag::FROM_LITERAL);
    let shown = text.trim();
    let whole = shown.starts_with(crate::canonical::value::HOLE) && shown.chars().count() == 1;
    let known = !shown.contains(crate::canonical::value::HOLE);
    if (whole || known) && tags.minus(plain).is_empty() {
        Indicator::Substitution
    } else {
        Indicator::Evaluation
    }
}

/// Whether all of a text is what one such program prints.
fn is_settings(text: &str, tags: TagSet) -> bool {
    let other =
        tags.minus(TagSet::of(tag::SHELL_SETTINGS).with(tag::IN_SUBSTITUTION).with(tag::FROM_UNKNOWN));
    let mut letters = text.trim().chars();
    tags.has(tag::SHELL_SETTINGS)
        && other.is_empty()
        && (letters.next(), letters.next()) == (Some(crate::canonical::value::HOLE), None)
}
