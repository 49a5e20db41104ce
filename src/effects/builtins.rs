//! Builtins of the shell: those that change the shell's state, run other commands, or hide evaluators.
//!
//! In: a name and a call. Out: `None` where the name is no builtin that is handled here (then the program's
//! description speaks). Never: leaves a string that bash would evaluate unjudged.

use std::rc::Rc;

use crate::act::{Kind, TagSet, UnknownKind, tag};
use crate::canonical::expand::Expander;
use crate::canonical::state::{Control, VariableKind};
use crate::canonical::value::{Data, Field, HOLE, Value};
use crate::effects::call::Call;
use crate::effects::interpret::is_name;
use crate::effects::model::Target;
use crate::effects::walk::{Outcome, Status, Walk};

impl Walk<'_, '_> {
    pub fn builtin(&mut self, name: &str, call: &Call<'_>) -> Option<Outcome> {
        Some(match name {
            ":" | "true" => Outcome::success(),
            "false" => Outcome { data: Data::empty(), status: Status::Failure },
            "eval" => self.eval(call),
            "." | "source" => self.source(call),
            "command" | "builtin" => return self.command_builtin(name, call),
            "exec" => self.exec_builtin(call),
            "cd" | "pushd" => self.change_directory(call),
            "popd" => {
                self.state.cwd = HOLE.to_string();
                Outcome::silent()
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => self.declare(call),
            "unset" => self.unset(call),
            "set" => self.set_options(call),
            "shopt" => self.shopt(call),
            "shift" => self.shift(call),
            "alias" => self.define_alias(call),
            "unalias" => Outcome::success(),
            "trap" => self.trap(call),
            "read" => self.read_builtin(call),
            "mapfile" | "readarray" => self.mapfile(call),
            "printf" => self.printf(call),
            "let" => self.let_builtin(call),
            "test" | "[" => self.test_builtin(call),
            "exit" | "logout" => {
                self.state.control = Control::Ended;
                Outcome::silent()
            }
            "return" => {
                self.state.control = if self.state.calls > 0 { Control::Returned } else { Control::Ended };
                Outcome::silent()
            }
            "break" | "continue" => {
                self.state.control = Control::Broke;
                Outcome::silent()
            }
            "getopts" | "hash" | "times" | "wait" | "jobs" | "fg" | "bg" | "disown" | "umask" | "ulimit"
            | "type" | "history" | "help" | "bind" | "caller" | "complete" | "compgen" | "compopt"
            | "dirs" | "enable" | "fc" | "suspend" | "pwd" => return self.minor_builtin(name, call),
            _ => return None,
        })
    }

    fn minor_builtin(&mut self, name: &str, call: &Call<'_>) -> Option<Outcome> {
        match name {
            "pwd" => Some(Outcome::prints(Data {
                text: Some(format!("{}\n", self.state.cwd)),
                ..Data::unknown(TagSet::EMPTY)
            })),
            "getopts" => {
                if let Some(field) = call.arguments().get(1).filter(|f| is_name(&f.text)) {
                    let name = field.text.clone();
                    self.state.set(&name, Value::unknown(TagSet::EMPTY));
                }
                Some(Outcome::silent())
            }
            "type" => {
                let mut words = call.arguments().iter();
                match words.next().map(|f| f.text.as_str()) {
                    Some("-P" | "-p") => Some(self.place_of(words.next(), call)),
                    Some(_) | None => Some(Outcome::silent()),
                }
            }
            "times" | "wait" | "jobs" | "fg" | "bg" | "disown" | "umask" | "ulimit" | "help" | "caller"
            | "dirs" => Some(Outcome::silent()),
            // described as data: history -c, enable -f, complete -C, bind -x, hash -p, fc -s
            _ => None,
        }
    }

    fn command_builtin(&mut self, name: &str, call: &Call<'_>) -> Option<Outcome> {
        let mut rest = call.arguments();
        while let Some(word) = rest.first() {
            match word.text.as_str() {
                "-v" | "-V" | "-pv" | "-pV" => return Some(self.place_of(rest.get(1), call)),
                // one is as good as many, and many must not nest
                "command" | "builtin" if rest.len() > 1 => rest = rest.get(1..).unwrap_or(&[]),
                "-p" | "--" => rest = rest.get(1..).unwrap_or(&[]),
                _ => break,
            }
        }
        let inner = Call { argv: rest, ..*call };
        let Some(head) = rest.first() else { return Some(Outcome::success()) };
        // functions and aliases are passed by
        if name == "builtin" || !head.has_hole() {
            if let Some(outcome) = self.builtin(&head.text.clone(), &inner) {
                return Some(outcome);
            }
            let functions = std::mem::take(&mut self.state.functions);
            let aliases = std::mem::take(&mut self.state.aliases);
            let outcome = self.call(&inner);
            self.state.functions = functions;
            self.state.aliases = aliases;
            return Some(outcome);
        }
        Some(self.call(&inner))
    }

    /// `command -v NAME`: prints where a program lies; taken as found.
    fn place_of(&self, name: Option<&Field>, call: &Call<'_>) -> Outcome {
        let text = name.map(|f| f.text.as_str()).unwrap_or_default();
        let words = [Field::known(text, call.span)];
        match crate::effects::print::simulate("which", &words, &Data::empty()) {
            Some(path) => Outcome::prints(Data { text: Some(path), ..Data::unknown(TagSet::EMPTY) }),
            None => Outcome::silent(),
        }
    }

    fn exec_builtin(&mut self, call: &Call<'_>) -> Outcome {
        let mut rest = call.arguments();
        while let Some(word) = rest.first() {
            match word.text.as_str() {
                "-a" => {
                    if let Some(name) = rest.get(1).filter(|n| n.text.starts_with('[')) {
                        self.hides(&name.text.clone(), "exec", call);
                    }
                    rest = rest.get(2..).unwrap_or(&[]);
                }
                "--" => rest = rest.get(1..).unwrap_or(&[]),
                text if text.starts_with('-')
                    && text.len() > 1
                    && text.chars().skip(1).all(|c| "cla".contains(c)) =>
                {
                    rest = rest.get(1..).unwrap_or(&[]);
                }
                _ => break,
            }
        }
        let outcome = self.call(&Call { argv: rest, ..*call });
        if !rest.is_empty() {
            self.state.control = Control::Ended;
        }
        outcome
    }

    fn change_directory(&mut self, call: &Call<'_>) -> Outcome {
        let operand = call
            .arguments()
            .iter()
            .find(|f| !matches!(f.text.as_str(), "-P" | "-L" | "-e" | "-@" | "--" | "-n"));
        let field = match operand {
            Some(field) if field.text == "-" => {
                let old = self.state.scalar("OLDPWD").unwrap_or_else(|| Value::unknown(TagSet::EMPTY));
                Field { span: call.span, ..Field::from(old) }
            }
            Some(field) if field.text.is_empty() => return Outcome::success(),
            Some(field) => field.clone(),
            None => {
                let home = self.state.scalar("HOME").unwrap_or_else(|| Value::known(self.state.home.clone()));
                Field { span: call.span, ..Field::from(home) }
            }
        };
        let old = std::mem::take(&mut self.state.cwd);
        self.state.cwd.clone_from(&old);
        let target = self.path_target(&field);
        let lookups = &self.core.places.lookups;
        let here = lookups.has(&old);
        let there = lookups.meta(&target.resolved);
        let status = match (here, there) {
            (true, Some(_)) => Status::Success,
            // a folder that is not there: made earlier in this script, or the change fails
            (true, None) if self.state.written_at(&target.resolved).is_none() && !field.has_hole() => {
                Status::Either
            }
            (true | false, _) => Status::Success,
        };
        self.state.set("OLDPWD", Value::known(old));
        let path = if field.has_hole() {
            format!("{HOLE}{}", field.text.replace(HOLE, ""))
        } else {
            target.resolved.to_string()
        };
        // no shell names a directory beyond PATH_MAX; and each path below would be as long
        let unknown = field.has_hole() && !path.starts_with('/') || path.len() > 4096;
        self.state.cwd = if unknown { HOLE.to_string() } else { path };
        self.state.set("PWD", Value { text: self.state.cwd.clone(), tags: field.tags });
        Outcome { data: Data::empty(), status }
    }

    /// What keeps a command out of the records: no history, a name that looks like the kernel's.
    fn hides(&mut self, what: &str, program: &str, call: &Call<'_>) {
        let target = Target { written: what.into(), resolved: what.into(), ..Target::default() };
        self.core.emit(Kind::Evade, target, self.state.ambient, &Rc::from(program), call.span);
    }

    fn declare(&mut self, call: &Call<'_>) -> Outcome {
        let all = call.arguments().is_empty()
            || call.arguments().iter().all(|f| matches!(f.text.as_str(), "-p" | "-x" | "-px"));
        if all && call.argv.first().is_some_and(|f| f.text != "local") {
            return Outcome::prints(Data::unknown(TagSet::of(tag::FROM_ENVIRONMENT)));
        }
        let mut kind = None;
        for field in call.arguments() {
            let text = field.text.as_str();
            if let Some(letters) = text.strip_prefix('-').or_else(|| text.strip_prefix('+')) {
                for letter in letters.chars() {
                    kind = match letter {
                        'i' => Some(VariableKind::Integer),
                        'n' => Some(VariableKind::Reference),
                        'l' => Some(VariableKind::Lower),
                        'u' => Some(VariableKind::Upper),
                        'A' => Some(VariableKind::Map),
                        _ => kind,
                    };
                }
                continue;
            }
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (text, None),
            };
            let append = name.ends_with('+');
            let name = name.trim_end_matches('+');
            let (name, index) = match name.split_once('[') {
                Some((array, index)) => (array, Some(index.trim_end_matches(']').to_owned())),
                None => (name, None),
            };
            if !is_name(name) {
                continue;
            }
            if let Some(index) = &index {
                let key = Value { text: index.clone(), tags: field.tags };
                Expander { state: &mut self.state, host: self.core }.host_checks_subscript(&key, field.span);
            }
            if let Some(kind) = kind {
                self.state.set_kind(name, kind);
            }
            let Some(value) = value else { continue };
            let mut value = Value { text: value.to_owned(), tags: field.tags };
            if append {
                let old = self.state.scalar(name).unwrap_or_default();
                value = Value { text: old.text + &value.text, tags: old.tags.union(value.tags) };
            }
            if kind == Some(VariableKind::Reference) {
                self.state.put(
                    name,
                    crate::canonical::state::Variable {
                        scalar: vec![value],
                        array: None,
                        kind: VariableKind::Reference,
                    },
                );
            } else if let Some(index) = index {
                self.state.set_element(name, &index, value);
            } else {
                self.set_variable(name, value, field.span);
            }
        }
        Outcome::success()
    }

    fn unset(&mut self, call: &Call<'_>) -> Outcome {
        for field in call.arguments().iter().filter(|f| !f.text.starts_with('-')) {
            let key = field.value();
            Expander { state: &mut self.state, host: self.core }.host_checks_subscript(&key, field.span);
            self.state.unset(&field.text);
            if matches!(field.text.as_str(), "HISTFILE" | "HISTSIZE" | "HISTFILESIZE" | "SAVEHIST") {
                self.history_off(&field.text, field.span);
            }
            Rc::make_mut(&mut self.state.functions).remove(&field.text);
        }
        Outcome::success()
    }

    fn set_options(&mut self, call: &Call<'_>) -> Outcome {
        if call.arguments().is_empty() {
            return Outcome::prints(Data::unknown(TagSet::of(tag::FROM_ENVIRONMENT)));
        }
        let mut rest = call.arguments().iter();
        let mut positional = None;
        while let Some(field) = rest.next() {
            let text = field.text.as_str();
            if text == "--" || text == "-" {
                positional = Some(Vec::new());
                break;
            }
            let (on, letters) = match (text.strip_prefix('-'), text.strip_prefix('+')) {
                (Some(letters), _) => (true, letters),
                (_, Some(letters)) => (false, letters),
                (None, None) => {
                    positional = Some(vec![field.value()]);
                    break;
                }
            };
            for letter in letters.chars() {
                let letter = match letter {
                    'o' => match rest.next().map(|f| f.text.as_str()) {
                        Some("nounset") => 'u',
                        Some("errexit") => 'e',
                        Some("noglob") => 'f',
                        Some("noexec") => 'n',
                        Some("history") if !on => {
                            self.hides("history", "set", call);
                            continue;
                        }
                        _ => continue,
                    },
                    other => other,
                };
                self.state.options.retain(|c| c != letter);
                if on {
                    self.state.options.push(letter);
                }
            }
        }
        if let Some(mut values) = positional {
            values.extend(rest.map(Field::value));
            self.state.positional = Rc::new(values);
        }
        Outcome::success()
    }

    fn shopt(&mut self, call: &Call<'_>) -> Outcome {
        let on = call.arguments().iter().any(|f| f.text == "-s");
        let names = call.arguments().iter().filter(|f| !f.text.starts_with('-'));
        let list = Rc::make_mut(&mut self.state.switches);
        for field in names {
            list.retain(|n| *n != field.text);
            if on {
                list.push(field.text.clone());
            }
        }
        Outcome::success()
    }

    fn shift(&mut self, call: &Call<'_>) -> Outcome {
        let n = call.arguments().first().and_then(|f| f.text.parse::<usize>().ok()).unwrap_or(1);
        let rest = self.state.positional.iter().skip(n).cloned().collect();
        self.state.positional = Rc::new(rest);
        Outcome::silent()
    }

    fn define_alias(&mut self, call: &Call<'_>) -> Outcome {
        for field in call.arguments() {
            if let Some((name, text)) = field.text.split_once('=') {
                Rc::make_mut(&mut self.state.aliases).insert(name.to_owned(), text.to_owned());
            }
        }
        Outcome::success()
    }

    /// The action runs later, in this shell: it is judged where it is set.
    fn trap(&mut self, call: &Call<'_>) -> Outcome {
        let words: Vec<&Field> =
            call.arguments().iter().filter(|f| !matches!(f.text.as_str(), "--" | "-p" | "-l")).collect();
        let Some(action) = words.first() else { return Outcome::silent() };
        if words.len() < 2 || action.text == "-" || action.text.is_empty() {
            return Outcome::silent();
        }
        let mut child = self.fork();
        child.state.ambient = child.state.ambient.with(tag::IN_TRAP);
        if words.iter().skip(1).any(|w| w.text == "DEBUG") {
            child.state.ambient = child.state.ambient.with(tag::EVERY_COMMAND);
        }
        let action = (*action).clone();
        child.opaque_or_text(&action, &Rc::from("trap"));
        Outcome::success()
    }

    fn read_builtin(&mut self, call: &Call<'_>) -> Outcome {
        let mut names: Vec<String> = Vec::new();
        let mut array = None;
        let mut words = call.arguments().iter();
        while let Some(field) = words.next() {
            match field.text.as_str() {
                "-a" => array = words.next().map(|f| f.text.clone()),
                "-d" | "-i" | "-n" | "-N" | "-p" | "-t" | "-u" => drop(words.next()),
                text if text.starts_with('-') && text.ends_with('a') => {
                    array = words.next().map(|f| f.text.clone())
                }
                text if text.starts_with('-') => {
                    if text.ends_with(['d', 'n', 'N', 'p', 't', 'u', 'i']) {
                        words.next();
                    }
                }
                text => names.push(text.to_owned()),
            }
        }
        let input = call.stdin.clone();
        let tags = input.tags;
        let line = input.text.as_deref().map(|t| t.lines().next().unwrap_or("").to_owned());
        let Some(line) = line else {
            for name in names.iter().chain(array.iter()) {
                self.state.set(name, Value::unknown(tags));
            }
            if names.is_empty() && array.is_none() {
                self.state.set("REPLY", Value::unknown(tags));
            }
            return Outcome::silent();
        };
        // `IFS=: read …` holds for this call
        let own = call.environment.iter().rev().find(|(n, _)| n == "IFS").map(|(_, v)| v.clone());
        let separators =
            own.or_else(|| self.state.scalar("IFS")).map_or_else(|| " \t\n".to_owned(), |v| v.text);
        let value = |text: &str| Value { text: text.to_owned(), tags };
        if let Some(array) = array {
            let parts = line.split(|c| separators.contains(c)).filter(|p| !p.is_empty());
            let elements = parts.enumerate().map(|(i, p)| (i.to_string(), value(p))).collect();
            self.state.set_array(&array, elements);
            return Outcome::silent();
        }
        if names.is_empty() {
            names.push("REPLY".to_owned());
        }
        let mut rest = line.trim_matches(|c: char| separators.contains(c) && c.is_whitespace());
        let last = names.len().saturating_sub(1);
        for (i, name) in names.iter().enumerate() {
            let (part, tail) = match rest.find(|c| separators.contains(c)) {
                Some(at) if i < last => {
                    let (a, b) = rest.split_at(at);
                    (a, b.trim_start_matches(|c| separators.contains(c)))
                }
                Some(_) | None => (rest, ""),
            };
            self.state.set(name, value(part));
            rest = tail;
        }
        Outcome::silent()
    }

    fn mapfile(&mut self, call: &Call<'_>) -> Outcome {
        let mut name = "MAPFILE".to_owned();
        let mut words = call.arguments().iter();
        while let Some(field) = words.next() {
            match field.text.as_str() {
                "-C" => {
                    if let Some(code) = words.next() {
                        let mut child = self.fork();
                        child.opaque_or_text(code, &Rc::from("mapfile"));
                    }
                }
                "-d" | "-n" | "-O" | "-s" | "-u" | "-c" => drop(words.next()),
                text if text.starts_with('-') => {}
                text => name = text.to_owned(),
            }
        }
        match call.stdin.text.clone() {
            Some(text) => {
                let tags = call.stdin.tags;
                let lines = text.lines().take(512).enumerate();
                let elements =
                    lines.map(|(i, l)| (i.to_string(), Value { text: l.to_owned(), tags })).collect();
                self.state.set_array(&name, elements);
            }
            None => self.state.set(&name, Value::unknown(call.stdin.tags)),
        }
        Outcome::silent()
    }

    /// `printf -v NAME …` sets a variable (and evaluates a subscript); else it prints.
    fn printf(&mut self, call: &Call<'_>) -> Outcome {
        let words = call.arguments();
        let tags = words.iter().fold(TagSet::EMPTY, |t, f| t.union(f.tags));
        let first = words.first().map(|f| f.text.as_str());
        let (name, rest) = match first {
            Some("-v") => (words.get(1), words.get(2..).unwrap_or(&[])),
            Some("--") => (None, words.get(1..).unwrap_or(&[])),
            _ => (None, words),
        };
        let text = crate::effects::print::printf(rest);
        if let Some(name) = name {
            let key = name.value();
            let span = name.span;
            Expander { state: &mut self.state, host: self.core }.host_checks_subscript(&key, span);
            let value = text.map_or_else(|| Value::unknown(tags), |text| Value { text, tags });
            self.set_variable(&key.text, value, span);
            return Outcome::success();
        }
        let mut data = Data { text, ..Data::unknown(tags.with(tag::FROM_LITERAL)) };
        if rest.first().is_some_and(|f| f.text.contains("\\x") || f.text.contains("\\1")) {
            data.tags = data.tags.with(tag::FROM_DECODED);
        }
        Outcome { data, status: Status::Success }
    }

    fn let_builtin(&mut self, call: &Call<'_>) -> Outcome {
        for field in call.arguments() {
            let span = field.span;
            let text = field.text.clone();
            crate::canonical::arithmetic::evaluate(
                &mut Expander { state: &mut self.state, host: self.core },
                &text,
                span,
            );
        }
        Outcome::silent()
    }

    /// A bound on nested evaluations that builtins start.
    pub fn limit_doubt(&mut self, what: &str, call: &Call<'_>) {
        self.core.doubt(UnknownKind::Limit, what, call.span);
    }
}
