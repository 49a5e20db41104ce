//! A call: which function, alias, builtin or program an argument vector means.
//!
//! In: a [`Call`]. Out: its [`Outcome`]. Never: takes an unknown name for a harmless one.

use std::rc::Rc;

use crate::act::{Class, Kind, TagSet, UnknownKind, tag};
use crate::canonical::operation::quote;
use crate::canonical::state::{Defined, State};
use crate::canonical::value::{Data, Field, HOLE, Value};
use crate::effects::core::By;
use crate::effects::model::Target;
use crate::effects::walk::{Frame, Outcome, Walk};
use crate::policy::tables::{Command, Is};
use crate::text::Span;

/// One command with its expanded words.
#[derive(Clone, Copy, Debug)]
pub struct Call<'c> {
    pub argv: &'c [Field],
    pub stdin: &'c Data,
    pub environment: &'c [(String, Value)],
    pub span: Span,
}

impl Call<'_> {
    /// The words after the first.
    pub fn arguments(&self) -> &[Field] {
        self.argv.get(1..).unwrap_or(&[])
    }
}

/// `"$(tool --print root)/bin/tool"`: only the folder is unknown, and it comes from no doubtful place.
fn is_named(head: &Field) -> bool {
    let base = head.text.rsplit('/').next().unwrap_or_default();
    head.text.contains('/') && !base.is_empty() && !base.contains(HOLE) && !is_doubtful(head)
}

/// Characters that nobody sees: a name with them is not the one that it looks like.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

fn is_doubtful(head: &Field) -> bool {
    let tags =
        [tag::FROM_NETWORK, tag::FROM_DECODED, tag::FROM_STDIN, tag::FROM_ENVIRONMENT, tag::OBFUSCATED];
    tags.iter().any(|t| head.tags.has(*t))
}

/// Programs that wrappers are put in front of, and whose names are no verbs: `e init`, `tool install`,
/// `app kill` have subcommands of their own.
/// Words before a wrapped command: a subcommand, a folder, an environment's name.
const SUBCOMMANDS: usize = 3;

const WRAPPED: &[&str] = &[
    "git",
    "rm",
    "cp",
    "mv",
    "dd",
    "cat",
    "tar",
    "chmod",
    "chown",
    "shred",
    "sh",
    "bash",
    "zsh",
    "dash",
    "sudo",
    "doas",
    "curl",
    "wget",
    "ssh",
    "scp",
    "rsync",
    "nc",
    "ncat",
    "socat",
    "python",
    "python3",
    "perl",
    "ruby",
    "node",
    "npm",
    "npx",
    "pnpm",
    "yarn",
    "pip",
    "pip3",
    "uv",
    "cargo",
    "docker",
    "podman",
    "kubectl",
    "helm",
    "terraform",
    "aws",
    "gcloud",
    "az",
    "gh",
    "psql",
    "mysql",
    "systemctl",
    "crontab",
    "mkfs",
    "xargs",
];

/// Words that mean something else where a command begins.
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "select",
    "function", "time", "coproc", "in",
];

/// Deepest nesting of commands that run commands.
const NESTED: u16 = 48;

/// Deepest nesting of function calls that is walked.
const CALLS: u16 = 24;

impl Walk<'_, '_> {
    /// Finds out what the first word means, and calls that.
    pub fn call(&mut self, call: &Call<'_>) -> Outcome {
        let Some(head) = call.argv.first() else { return Outcome::success() };
        if self.core.nested >= NESTED {
            self.core.doubt(UnknownKind::Limit, "commands in commands", call.span);
            return Outcome::prints(Data::unknown(TagSet::of(tag::FROM_UNKNOWN)));
        }
        self.core.nested += 1;
        let outcome = self.call_of(head, call);
        self.core.nested -= 1;
        outcome
    }

    fn call_of(&mut self, head: &Field, call: &Call<'_>) -> Outcome {
        self.note_canonical(call);
        for (name, value) in call.environment {
            self.injected(name, value, call.span, crate::effects::inject::Setting::Command);
        }
        if head.text.contains(is_invisible) {
            return self.unknown_program(call, head);
        }
        if head.has_hole() && !is_named(head) && !self.is_of_workspace(head) {
            return self.unknown_program(call, head);
        }
        let name = head.text.as_str();
        if let Some(text) = self.state.aliases.get(name).cloned()
            && !self.calling.iter().any(|c| c.name == name)
        {
            // only some shells expand aliases in a script
            let mut other = self.fork();
            let expanded = other.alias(name, &text, call);
            let state = other.state;
            let plain = self.defined(name, head, call);
            self.state.join(state);
            return plain.or(&expanded);
        }
        self.defined(name, head, call)
    }

    /// A function, builtin or program, each that the name may be.
    fn defined(&mut self, name: &str, head: &Field, call: &Call<'_>) -> Outcome {
        let Some(definitions) = self.state.functions.get(name).cloned() else {
            return self.not_function(name, head, call);
        };
        match definitions.as_slice() {
            [Some(function)] => return self.function(function, call),
            [None] | [] => return self.not_function(name, head, call),
            _ => {}
        }
        let mut all: Option<(Outcome, State)> = None;
        for definition in definitions {
            let mut one = self.fork();
            let outcome = match definition {
                Some(function) => one.function(&function, call),
                None => one.not_function(name, head, call),
            };
            let mut state = one.state;
            all = Some(match all {
                None => (outcome, state),
                Some((so_far, before)) => {
                    state.join(before);
                    (so_far.or(&outcome), state)
                }
            });
        }
        let Some((outcome, state)) = all else { return Outcome::silent() };
        self.state = state;
        outcome
    }

    fn not_function(&mut self, name: &str, head: &Field, call: &Call<'_>) -> Outcome {
        if let Some(outcome) = self.builtin(name, call) {
            return outcome;
        }
        self.program(call, head)
    }

    fn note_canonical(&mut self, call: &Call<'_>) {
        // quoting makes words longer, a hole is shown in fewer bytes
        let least: usize = call.argv.iter().take(64).map(|field| field.text.len().min(400) / 2).sum();
        if !self.core.has_room(least) {
            return;
        }
        let mut line = String::new();
        for (i, field) in call.argv.iter().enumerate().take(64) {
            if i > 0 {
                line.push(' ');
            }
            let text = crate::text::prefix(&field.text, 400);
            // a program of this name, not the shell's own word nor an assignment
            let meant = i == 0 && (RESERVED.contains(&text) || text.contains('='));
            if meant {
                line.push('\\');
            }
            line.push_str(&quote(text));
        }
        let line = if line.contains(HOLE) { line.replace(HOLE, "…") } else { line };
        self.core.canonical(&line);
    }

    /// `for t in tests/*; do "$t"`: one of the workspace's own programs, whichever.
    fn is_of_workspace(&mut self, head: &Field) -> bool {
        head.text.contains('/')
            && !head.text.starts_with(HOLE)
            && !is_doubtful(head)
            && self.path_target(head).classes.has(Class::Workspace)
    }

    /// A command whose name is only known at run time.
    fn unknown_program(&mut self, call: &Call<'_>, head: &Field) -> Outcome {
        self.core.doubt(UnknownKind::Program, &head.text, call.span);
        let target = Target { written: head.text.replace(HOLE, "…").into(), ..Target::default() };
        let tags = self.state.ambient.union(head.tags).with(tag::OPAQUE);
        self.core.emit(Kind::Code, target, tags, By::new(&Rc::from("shell"), call.span));
        self.suspect_arguments(call, "shell");
        Outcome::prints(Data::unknown(TagSet::of(tag::FROM_UNKNOWN)))
    }

    fn alias(&mut self, name: &str, text: &str, call: &Call<'_>) -> Outcome {
        let mut line = text.to_owned();
        for field in call.arguments() {
            line.push(' ');
            line.push_str(&quote(&field.text));
        }
        self.calling.push(Frame { name: name.to_owned(), state: self.state.clone() });
        let outcome = self.text(&line, call.span);
        self.calling.pop();
        outcome
    }

    fn function(&mut self, defined: &Defined, call: &Call<'_>) -> Outcome {
        let function = &defined.function;
        let own = self.calling.iter().filter(|c| c.name == function.name).count();
        let spreads = self.state.ambient.has(tag::IN_BACKGROUND) || self.state.ambient.has(tag::IN_PIPELINE);
        if own > 0 && spreads {
            let tags = self.state.ambient.with(tag::SELF_CALLING);
            self.core.emit(Kind::Exhaust, Target::default(), tags, By::new(&Rc::from("shell"), call.span));
        }
        if own > 2 || self.state.calls >= CALLS || !self.core.spend(call.span) {
            return Outcome::prints(Data::unknown(TagSet::of(tag::FROM_UNKNOWN)));
        }
        let positional = call.arguments().iter().map(Field::value).collect();
        let saved = std::mem::replace(&mut self.state.positional, Rc::new(positional));
        let ambient = self.state.ambient;
        self.state.ambient = ambient.with(tag::IN_FUNCTION);
        let locals = std::mem::take(&mut self.state.locals);
        self.state.returns = self.state.returns.saturating_add(1);
        for (name, value) in call.environment {
            self.state.localize(name);
            self.state.set(name, value.clone());
        }
        self.state.calls += 1;
        if own > 1
            && let Some(outer) = self.calling.iter().rev().find(|c| c.name == function.name)
        {
            // it may call itself any number of times
            self.state.widen(&outer.state);
        }
        self.calling.push(Frame { name: function.name.clone(), state: self.state.clone() });
        let outcome = self.returning(|walk| walk.command(&function.body));
        self.calling.pop();
        self.state.calls = self.state.calls.saturating_sub(1);
        self.state.ambient = ambient;
        self.state.positional = saved;
        self.state.returns = self.state.returns.saturating_sub(1);
        let own = std::mem::replace(&mut self.state.locals, locals);
        self.state.restore(&own);
        outcome
    }

    /// A program: described by the policy, or a file that is run, or unknown.
    fn program(&mut self, call: &Call<'_>, head: &Field) -> Outcome {
        if let Some(path) = self.planted(call, head) {
            let mut argv = vec![path];
            argv.extend_from_slice(call.arguments());
            return self.program(&Call { argv: &argv, ..*call }, argv.first().unwrap_or(head));
        }
        let base = head.text.rsplit('/').next().unwrap_or(&head.text);
        // zsh's `=name` is the program of that name
        let base = base.strip_prefix('=').filter(|b| !b.is_empty()).unwrap_or(base);
        let program: Rc<str> = Rc::from(base);
        let mut described = self.core.policy.command(base);
        let mut run = None;
        if head.text.contains('/') {
            let target = self.path_target(head);
            if self.is_not_executable(&target) {
                // execve(2) says EACCES, for root too: nothing runs
                return Outcome::silent();
            }
            let system = target.classes.has(Class::PathFolder);
            if let Some(goal) = self.linked_program(&target, base) {
                // `ln -s /bin/sh ./x; ./x -c …`: a program under another name
                let mut argv = vec![Field { text: goal, ..head.clone() }];
                argv.extend_from_slice(call.arguments());
                return self.program(&Call { argv: &argv, ..*call }, argv.first().unwrap_or(head));
            }
            // `./script` is somebody's script, not script(1)
            let starts_shell = |s: &&Command| s.effects.iter().any(|r| r.is == Is::Effect(Kind::Shell));
            if !system && !head.text.contains("bin/") {
                described = described.filter(|s| !starts_shell(s));
            }
            if !system || described.is_none() {
                run = self.run_program_file(call, head, target);
            }
        }
        if let (None, Some(sub)) = (described, base.strip_prefix("git-"))
            && let Some(spec) =
                self.core.policy.command("git").filter(|g| g.subcommands.iter().any(|(n, _)| *n == sub))
        {
            // git's own folder of programs: `git-clean` is `git clean`
            let mut argv = vec![Field::known("git", head.span), Field::known(sub, head.span)];
            argv.extend_from_slice(call.arguments());
            return self.described(spec, &Call { argv: &argv, ..*call }, &Rc::from("git"));
        }
        match described {
            Some(spec) => self.described(spec, call, &program),
            None if run.is_some() => {
                self.suspect_input(call, &program);
                run.unwrap_or_else(Outcome::silent)
            }
            None => self.undescribed(call, &program),
        }
    }

    /// A program of this name that the script itself has put into a folder of PATH.
    fn planted(&mut self, call: &Call<'_>, head: &Field) -> Option<Field> {
        if self.state.written.is_empty() || head.text.contains('/') || head.text.is_empty() {
            return None;
        }
        // without a link or a mount that leads elsewhere, a path in a folder of PATH ends in the name itself
        let direct = self.state.links.is_empty() && self.state.mounts.is_empty();
        if direct && !self.state.written.has_name(&head.text) {
            return None;
        }
        let own = call.environment.iter().rev().find(|(n, _)| n == "PATH").map(|(_, v)| v.clone());
        let path = own.or_else(|| self.state.scalar("PATH"))?;
        path.text.split(':').take(8).find_map(|folder| {
            let folder = if folder.is_empty() { "." } else { folder };
            let file = Field { text: format!("{folder}/{}", head.text), ..head.clone() };
            let place = self.resolved(&file);
            self.state.written.has(&place).then_some(file)
        })
    }

    /// The system's program that a path of another name leads to.
    fn linked_program(&self, target: &Target, base: &str) -> Option<String> {
        let name = target.resolved.rsplit('/').next()?;
        let known = target.classes.has(Class::PathFolder) && name != base;
        let plain = !base.starts_with(name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'));
        (known
            && plain
            && self.core.policy.command(base).is_none()
            && self.core.policy.command(name).is_some())
        .then(|| target.resolved.to_string())
    }

    fn undescribed(&mut self, call: &Call<'_>, program: &Rc<str>) -> Outcome {
        self.core.doubt(UnknownKind::Description, program, call.span);
        let target =
            Target { written: Rc::clone(program), resolved: Rc::clone(program), ..Target::default() };
        let tags = self.state.ambient.union(call.argv.first().map(|f| f.tags).unwrap_or_default());
        self.core.emit(Kind::Unknown, target, tags, By::new(program, call.span));
        // `python3 -m name`
        self.imported(program, call.span);
        // perhaps a wrapper that runs what follows
        let words = call.arguments();
        let dashes = words.iter().position(|word| word.text == "--");
        let from = dashes.map_or(0, |at| at + 1);
        let known = |word: &Field| WRAPPED.contains(&word.text.as_str());
        let begins = words.iter().skip(from).take(SUBCOMMANDS).position(known);
        // `direnv hook bash` is about a shell, and starts none
        let takes = |inner: &&[Field]| begins == Some(0) || inner.len() > 1;
        if let Some(inner) = begins.and_then(|at| words.get(from + at..)).filter(takes) {
            let mut child = self.fork();
            child.call(&Call { argv: inner, ..*call });
        }
        let tags = self.suspect_arguments(call, program);
        self.suspect_input(call, program);
        let mut tags =
            tags.union(call.stdin.tags).minus(TagSet::of(tag::FROM_STDIN).with(tag::SHELL_SETTINGS));
        if crate::effects::shells::prints_settings(call) {
            tags = tags.with(tag::SHELL_SETTINGS);
        }
        Outcome::prints(Data::unknown(tags))
    }
}
