//! Builtins of the shell: those that change the shell's state, run other commands, or hide evaluators.
//!
//! In: a name and a call. Out: `None` where the name is no builtin that is handled here (then the program's
//! description speaks). Never: leaves a string that bash would evaluate unjudged.

use std::rc::Rc;

use crate::act::{Class, ClassSet, Kind, TagSet, UnknownKind, tag};
use crate::canonical::state::Control;
use crate::canonical::value::{Data, Field, HOLE, Value};
use crate::effects::call::Call;
use crate::effects::core::By;
use crate::effects::files::FileText;
use crate::effects::model::{Effect, Extent, Target};
use crate::effects::nested::is_name;
use crate::effects::print::simulate;
use crate::effects::walk::{Outcome, Status, Walk};

impl Walk<'_, '_> {
    /// A builtin of this name; `None` where it is described as data or is none.
    pub fn builtin(&mut self, name: &str, call: &Call<'_>) -> Option<Outcome> {
        Some(match name {
            ":" | "true" | "unalias" => Outcome::success(),
            "false" => Outcome { data: Data::empty(), status: Status::Failure },
            "eval" => self.eval(call),
            "." | "source" => self.source(call),
            "command" | "builtin" => self.command_builtin(name, call),
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
            "trap" => self.trap(call),
            "read" => self.read_builtin(call),
            "mapfile" | "readarray" => self.mapfile(call),
            "printf" => self.printf(call),
            "let" => self.let_builtin(call),
            "test" | "[" => self.test_builtin(call),
            "exit" | "logout" | "return" | "break" | "continue" => self.leave(name, call),
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
                self.option_argument();
                Some(Outcome::silent())
            }
            "hash" => {
                if let [option, path, name, ..] = call.arguments()
                    && option.text == "-p"
                {
                    let (name, path) = (name.text.clone(), path.text.clone());
                    self.rename(&name, &path);
                }
                None
            }
            "type" => {
                let mut words = call.arguments().iter();
                match words.next().map(|f| f.text.as_str()) {
                    Some("-P" | "-p") => Some(place_of(words.next(), call)),
                    Some(_) | None => Some(Outcome::silent()),
                }
            }
            "enable" => self.enable(call),
            "times" | "wait" | "jobs" | "fg" | "bg" | "disown" | "umask" | "ulimit" | "help" | "caller"
            | "dirs" => Some(Outcome::silent()),
            // described as data: history -c, enable -f, complete -C, bind -x, hash -p, fc -s
            _ => None,
        }
    }

    /// `enable -f FILE …`: machine code for this shell. A name without a slash is looked for in the working folder too
    /// (`DEFAULT_LOADABLE_BUILTINS_PATH` ends in `.`), and stands for the file there.
    fn enable(&mut self, call: &Call<'_>) -> Option<Outcome> {
        let file = library(call.arguments())?;
        if file.text.contains('/') {
            return self.missing_library(&file, call);
        }
        let file = Field { text: format!("./{}", file.text), ..file };
        let target = self.path_target_for(&file, Kind::Inject);
        let tags = self.path_tags(&target, &file, Kind::Inject).union(self.state.ambient).union(file.tags);
        self.core.emit(
            Kind::Inject,
            target,
            tags.with(tag::LIBRARY),
            By::new(&Rc::from("enable"), file.span),
        );
        Some(Outcome::silent())
    }

    /// A library that is not there, asked for at the beginning of a script outside the workspace: scripts ask so whether
    /// they are installed whole. It fails; who could put the file there meanwhile could run it as well. `None` where
    /// anything before may have made it, or it stands where what a command needs is made.
    fn missing_library(&mut self, file: &Field, call: &Call<'_>) -> Option<Outcome> {
        let own = self.state.source.clone()?;
        let own = self.path_target(&Field::known(own.text.clone(), call.span)).resolved;
        let is_harmless = |effect: &Effect| {
            matches!(effect.kind, Kind::Read | Kind::List | Kind::Discover)
                // the very script that is walked
                || effect.kind == Kind::Execute && effect.target.resolved == own
        };
        let found = &self.core.found;
        let is_known = found.unknowns.is_empty() && found.calls.extent == Extent::Closed;
        if file.has_hole() || !is_known || !found.list.iter().all(is_harmless) {
            return None;
        }
        let target = self.path_target(file);
        let tags = self.path_tags(&target, file, Kind::Read);
        let others = ClassSet::of(Class::Workspace).with(Class::Temporary).with(Class::Unknown);
        let is_missing = tags.has(tag::MISSING) && matches!(self.file_text(&target), FileText::Missing);
        if !is_missing || target.classes.has_any(others) {
            return None;
        }
        self.core.doubt(UnknownKind::Description, &target.resolved, file.span);
        let tags = self.state.ambient.union(tags).union(file.tags);
        self.core.emit(Kind::Unknown, target, tags, By::new(&Rc::from("enable"), call.span));
        Some(Outcome { data: Data::empty(), status: Status::Failure })
    }

    /// `OPTARG`: any of the arguments, or the rest of one.
    fn option_argument(&mut self) {
        let most = crate::canonical::state::ALTERNATIVES;
        let words = self.state.positional.iter().filter(|v| !v.text.is_empty()).take(most);
        let scalar: Vec<Value> = words
            .map(|v| match v.text.strip_prefix('-').and_then(|t| t.get(1..)).filter(|t| !t.is_empty()) {
                Some(rest) => Value { text: rest.to_owned(), tags: v.tags },
                None => v.clone(),
            })
            .filter(|v| !v.text.starts_with('-'))
            .collect();
        if !scalar.is_empty() {
            self.state.put("OPTARG", crate::canonical::state::Variable { scalar, ..Default::default() });
        }
    }

    /// `command NAME …`, `builtin NAME …`
    fn command_builtin(&mut self, name: &str, call: &Call<'_>) -> Outcome {
        let mut rest = call.arguments();
        while let Some(word) = rest.first() {
            match word.text.as_str() {
                "-v" | "-V" | "-pv" | "-pV" => return place_of(rest.get(1), call),
                // one is as good as many, and many must not nest
                "command" | "builtin" if rest.len() > 1 => rest = rest.get(1..).unwrap_or(&[]),
                "-p" | "--" => rest = rest.get(1..).unwrap_or(&[]),
                _ => break,
            }
        }
        let inner = Call { argv: rest, ..*call };
        let Some(head) = rest.first() else { return Outcome::success() };
        // functions and aliases are passed by
        if name == "command" && head.has_hole() {
            return self.call(&inner);
        }
        match self.builtin(&head.text, &inner) {
            Some(outcome) => outcome,
            None => self.call_program(&inner),
        }
    }

    fn exec_builtin(&mut self, call: &Call<'_>) -> Outcome {
        let mut rest = call.arguments();
        while let Some(word) = rest.first() {
            match word.text.as_str() {
                "-a" => {
                    if let Some(name) = rest.get(1).filter(|n| n.text.starts_with('[')) {
                        self.hides(&name.text, "exec", call);
                    }
                    rest = rest.get(2..).unwrap_or(&[]);
                }
                text if text == "--" || is_exec_switch(text) => rest = rest.get(1..).unwrap_or(&[]),
                _ => break,
            }
        }
        let outcome = self.call(&Call { argv: rest, ..*call });
        // it stays if the program isn't there and `execfail` is on (also in `$BASHOPTS`), or somebody types to it
        let on = |names: &str| names.contains("execfail");
        let stays = self.state.option('i')
            || self.state.switches.iter().any(|name| on(name))
            || self.state.scalar("BASHOPTS").is_some_and(|v| on(&v.text))
            || rest.first().is_some_and(|f| f.text.starts_with('-'));
        if !rest.is_empty() && !stays {
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
        let old = self.state.cwd.clone();
        let target = self.path_target(&field);
        let lookups = &self.core.places.lookups;
        let here = lookups.has(&old);
        let there = lookups.meta(&target.resolved);
        // a folder that is not there: made earlier in this script, or the change fails
        let missing = here && there.is_none() && self.state.written_at(&target.resolved).is_none();
        let status = if missing && !field.has_hole() { Status::Either } else { Status::Success };
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
    pub(super) fn hides(&mut self, what: &str, program: &str, call: &Call<'_>) {
        let target = Target { written: what.into(), resolved: what.into(), ..Target::default() };
        self.core.emit(Kind::Evade, target, self.state.ambient, By::new(&Rc::from(program), call.span));
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
}

/// The file of `enable -f`, as bash's getopt reads its options.
fn library(words: &[Field]) -> Option<Field> {
    for (at, word) in words.iter().enumerate() {
        let letters = word.text.strip_prefix('-').filter(|letters| !letters.is_empty() && *letters != "-")?;
        let Some((_, attached)) = letters.split_once('f') else { continue };
        return match attached {
            "" => words.get(at + 1).cloned(),
            file => Some(Field { text: file.to_owned(), ..word.clone() }),
        };
    }
    None
}

/// `command -v NAME`: prints where a program lies; taken as found.
fn place_of(name: Option<&Field>, call: &Call<'_>) -> Outcome {
    let text = name.map(|f| f.text.as_str()).unwrap_or_default();
    let words = [Field::known(text, call.span)];
    match simulate("which", &words, &Data::empty()) {
        Some(path) => Outcome::prints(Data { text: Some(path), ..Data::unknown(TagSet::EMPTY) }),
        None => Outcome::silent(),
    }
}

/// Whether a word is a bundle of exec's own switches.
fn is_exec_switch(text: &str) -> bool {
    text.len() > 1 && text.strip_prefix('-').is_some_and(|l| l.chars().all(|c| "cla".contains(c)))
}
