//! Words that a description takes for mere data, though they name a shell, an account file or a secret.
//!
//! In: a described call that was carried out. Out: effects on what such words name. Never: looks at words that
//! are text by their nature (messages, patterns, what is printed), or that were carried out already.

use std::rc::Rc;

use crate::act::{Class, Kind, tag};
use crate::canonical::value::Field;
use crate::code::mention::shells_in;
use crate::effects::core::By;
use crate::effects::fields::made;
use crate::effects::interpret::{Doing, is_path_kind};
use crate::effects::model::Effect;
use crate::effects::shells::is_shell;
use crate::effects::suspect::{is_library, is_output, path_in};
use crate::effects::walk::Walk;
use crate::policy::tables::{Is, Output, Role, Style};

/// Programs whose free words are messages to people or models.
const MESSAGES: &[&str] = &[
    "git",
    "gh",
    "glab",
    "jj",
    "logger",
    "notify-send",
    "zenity",
    "claude",
    "codex",
    "gemini",
    "aider",
    "llm",
    "tldr",
    "wall",
];

/// Programs that are told where keys and settings lie.
const USES_KEYS: &[&str] = &[
    "ssh",
    "scp",
    "sftp",
    "ssh-add",
    "ssh-keygen",
    "ssh-copy-id",
    "ssh-agent",
    "rsync",
    "aws",
    "gcloud",
    "gsutil",
    "az",
    "kubectl",
    "helm",
    "k9s",
    "docker",
    "podman",
    "docker-compose",
    "gpg",
    "gpg2",
    "age",
    "sops",
    "openssl",
    "ansible",
    "ansible-playbook",
    "terraform",
    "tofu",
    "pulumi",
    "npm",
    "pip",
    "mysql",
    "psql",
    "rclone",
    "restic",
    "borg",
    "vault",
    "curl",
    "wget",
    "mosh",
    "autossh",
    "sshfs",
    "test",
    "[",
    "systemctl",
    "certbot",
    "nginx",
    "chezmoi",
];

fn is_mere(roles: &[Role]) -> bool {
    roles.iter().all(|r| matches!(r.is, Is::Data | Is::Tag))
}

impl Walk<'_, '_> {
    /// Looks at the words that had no effect. `before`: how many effects there were when the call began.
    pub fn afterthought(&mut self, doing: &Doing<'_>, before: usize) {
        let spec = doing.spec;
        if spec.output == Output::Arguments || spec.style == Style::Plain {
            return;
        }
        if MESSAGES.contains(&&*doing.program) {
            return self.whole_accounts(doing);
        }
        let new = self.core.found.list.get(before..).unwrap_or(&[]);
        // an account's shell is a setting of the account
        if new.iter().any(|e| e.kind == Kind::Account) {
            return;
        }
        self.implicit(doing);
        let words = own_words(doing);
        let mut option = "";
        for word in words {
            let name =
                word.text.split_once('=').filter(|(n, _)| n.starts_with('-')).map_or(option, |(n, _)| n);
            let carried = is_carried_out(doing, word);
            if !carried && !is_pattern(doing, word) && word.text.len() < 4096 {
                self.afterthought_of(name, word, doing);
            } else if carried && (!is_mere_reader(spec.origin) || name == "--kubeconfig") {
                self.written_shells(word, doing);
            }
            option = if word.text.starts_with('-') { word.text.as_str() } else { "" };
        }
    }

    fn afterthought_of(&mut self, option: &str, word: &Field, doing: &Doing<'_>) {
        let at_edge = |line: &String| {
            let before = word.text.find(line.as_str()).and_then(|at| word.text.get(..at)).unwrap_or("");
            let opened = before.trim_end().ends_with(['!', '|', ';', '(', '{']);
            before.is_empty()
                || opened
                || before.ends_with(['!', '|', '=', '(', '{', ';', ',', ':', '`', '\'', '"', '/', '.'])
                || before.ends_with("exec ")
                || before.starts_with('-')
        };
        if option.starts_with('-') && word.text.contains(' ') {
            self.inner_accounts(word, doing);
        }
        let named =
            if self.only_names_shell(option, word, doing) { Vec::new() } else { shells_in(&word.text) };
        for line in named.iter().filter(|l| at_edge(l)) {
            let mut child = self.fork();
            child.state.ambient = doing.tags;
            child.text(line, word.span);
        }
        self.written_shells(word, doing);
        self.library(word, doing);
        let Some(path) = path_in(&word.text).filter(|p| p.len() < 512 && !p.contains([' ', '\n'])) else {
            return;
        };
        let part = made(path, word);
        let target = self.path_target(&part);
        let given = word.text.contains("file://") || word.text.starts_with('@');
        let secret = target.classes.has(Class::Secret) && !target.classes.has(Class::Workspace);
        let keeps = target.classes.has(Class::Persistence)
            && (target.classes.has(Class::Config) || target.classes.has(Class::System));
        let kind = if is_output(option) && (target.classes.has(Class::Account) || secret || keeps) {
            Kind::Write
        } else if target.classes.has(Class::Account)
            || secret && (given || !USES_KEYS.contains(&&*doing.program))
        {
            Kind::Read
        } else {
            return;
        };
        let tags = doing
            .tags
            .union(word.tags)
            .union(self.path_tags(&target, &part, kind))
            .with(tag::BY_UNKNOWN_PROGRAM);
        self.core.emit(kind, target, tags, By::new(&Rc::clone(&doing.program), word.span));
    }
}

impl Walk<'_, '_> {
    /// `shellcheck -s /bin/bash`, `apt-get install /bin/bash`, `docker run --entrypoint /bin/sh`: the path of a
    /// shell as a dialect, a package, or a program inside a container, which the container's reading judges.
    fn only_names_shell(&self, option: &str, word: &Field, doing: &Doing<'_>) -> bool {
        let value = word.text.rsplit('=').next().unwrap_or(&word.text);
        let alone = value.starts_with('/') && is_shell(value.rsplit('/').next().unwrap_or(""));
        let dialect = matches!(option, "-s" | "--shell" | "-ln") && is_mere_reader(doing.spec.origin);
        let own = |e: &Effect| e.kind == Kind::Install && e.program == doing.program;
        // asked last: it goes through all that was found so far
        let installs = || self.core.found.list.iter().any(own);
        alone && (dialect || doing.spec.origin.contains("commands/containers") || installs())
    }

    /// A file that the script itself has written, and that starts a shell.
    fn written_shells(&mut self, word: &Field, doing: &Doing<'_>) {
        if self.state.written.is_empty() {
            return;
        }
        let Some(path) = path_in(&word.text).or(Some(&*word.text)).filter(|p| p.len() < 512) else { return };
        let part = made(path, word);
        let target = self.path_target(&part);
        let inside = implicit_files(&doing.program).iter().map(|name| format!("{}/{name}", target.resolved));
        for path in inside.chain([target.resolved.to_string()]) {
            if let Some(text) = self.state.written_at(&path).and_then(|w| w.data.whole().map(str::to_owned)) {
                self.shells_of(&text, word, &doing.program);
            }
        }
    }

    /// Files that a program reads in its folder without being told.
    pub fn implicit(&mut self, doing: &Doing<'_>) {
        for name in implicit_files(&doing.program) {
            let field = Field::known(*name, doing.call.span);
            self.written_shells(&field, doing);
        }
    }

    /// `x=/tmp/lib.so` given to a program that links nothing: it would be loaded.
    fn library(&mut self, word: &Field, doing: &Doing<'_>) {
        let path = word.text.rsplit(['=', ' ', ',']).next().unwrap_or(&word.text);
        let named = is_library(path);
        if !named
            || !path.contains('/')
            || is_mere_reader(doing.spec.origin)
            || doing.spec.origin.contains("commands/build")
        {
            return;
        }
        let part = made(path, word);
        let target = self.path_target(&part);
        if target.classes.has(Class::System) || target.classes.has(Class::Workspace) {
            return;
        }
        let tags = doing.tags.union(word.tags).with(tag::LIBRARY);
        self.core.emit(Kind::Inject, target, tags, By::new(&Rc::clone(&doing.program), word.span));
    }

    /// `git diff /dev/null /etc/shadow`: a word that is nothing but an account file, and no message.
    fn whole_accounts(&mut self, doing: &Doing<'_>) {
        let mut option = "";
        for word in own_words(doing) {
            let message = option.starts_with('-') && !matches!(option, "--" | "--no-index");
            if word.text.starts_with('/') && !message && !is_carried_out(doing, word) {
                let target = self.path_target(word);
                if target.classes.has(Class::Account) {
                    let tags = doing.tags.union(word.tags).with(tag::BY_UNKNOWN_PROGRAM);
                    self.core.emit(Kind::Read, target, tags, By::new(&Rc::clone(&doing.program), word.span));
                }
            }
            option = word.text.as_str();
        }
    }

    /// `-c 'Include /etc/shadow'`: an account file in a directive.
    fn inner_accounts(&mut self, word: &Field, doing: &Doing<'_>) {
        for path in
            word.text.split([' ', '\t', '"', '\'']).filter(|p| p.starts_with('/') && p.len() < 256).take(8)
        {
            let part = made(path, word);
            let target = self.path_target(&part);
            if target.classes.has(Class::Account) {
                let tags = doing.tags.union(word.tags).with(tag::BY_UNKNOWN_PROGRAM);
                self.core.emit(Kind::Read, target, tags, By::new(&Rc::clone(&doing.program), word.span));
            }
        }
    }
}

/// Files that a program reads by itself, and that hold commands.
fn implicit_files(program: &str) -> &'static [&'static str] {
    match program {
        "npm" | "npx" | "yarn" | "pnpm" | "bun" => &["package.json"],
        "cmake" | "ctest" => &["CMakeLists.txt"],
        "make" | "gmake" => &["Makefile", "makefile", "GNUmakefile"],
        "rake" => &["Rakefile"],
        "cargo" => &["build.rs"],
        "composer" => &["composer.json"],
        "pip" | "pip3" | "easy_install" | "uv" => &["setup.py"],
        _ => &[],
    }
}

/// Whether a description is of a file that holds programs which only look at or move what they are given.
fn is_mere_reader(origin: &str) -> bool {
    [
        "commands/files",
        "commands/text",
        "commands/search",
        "commands/archives",
        "commands/editors",
        "commands/git",
        "commands/forges",
        "commands/checks",
        "commands/containers",
        "commands/orchestration",
        "commands/cloud",
        "commands/agents",
        "commands/disk",
    ]
    .iter()
    .any(|name| origin.contains(name))
}

/// The program's own words: those of a command that it runs are judged with that command.
fn own_words<'c>(doing: &Doing<'c>) -> &'c [Field] {
    let words = doing.call.argv.get(1..).unwrap_or(&[]);
    let runs = doing.parsed.meant.iter().find(|m| m.roles.iter().any(|r| r.is == Is::Command));
    let Some(first) = runs.map(|m| &m.field) else { return words };
    let end = words.iter().position(|w| w == first).unwrap_or(0);
    words.get(..end).unwrap_or(&[])
}

/// Whether some role has acted on the word, or on the value in it.
fn is_carried_out(doing: &Doing<'_>, word: &Field) -> bool {
    doing.parsed.meant.iter().any(|m| {
        let reached = |r: &Role| match r.is {
            Is::Effect(kind) => is_path_kind(kind) && !word.text.starts_with('@') && !is_schemed(&word.text),
            Is::Code(_)
            | Is::CodeFile(_)
            | Is::Command
            | Is::ShellText
            | Is::SendData
            | Is::SendFile
            | Is::Chdir => true,
            Is::Data | Is::Tag | Is::Assignment | Is::User | Is::Peer => false,
        };
        let glued =
            word.text.starts_with('-') && !m.field.text.is_empty() && word.text.ends_with(&m.field.text);
        (glued || m.field.text == word.text) && m.roles.iter().any(reached)
    })
}

/// `man:/etc/x`: a path behind a name, which the program takes off; a URL is none.
fn is_schemed(text: &str) -> bool {
    text.contains(":/") && !text.contains("://")
}

/// Whether a word is a pattern: the first operand, or an option's value in its place, of what prints its input.
fn is_pattern(doing: &Doing<'_>, word: &Field) -> bool {
    let first = doing.spec.operands.first.first().is_some_and(|r| is_mere(r));
    let given = |m: &crate::effects::arguments::Meant| {
        m.field.text == word.text && m.roles.iter().any(|r| r.is == Is::Tag && r.tags.has(tag::FIRST_GIVEN))
    };
    let given = doing.parsed.meant.iter().any(given);
    doing.spec.output == Output::Through
        && (given || first && doing.parsed.operands.first().is_some_and(|o| o == word))
}
