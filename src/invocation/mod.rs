//! What the caller handed us: argument vector, environment, directory, who asks.
//!
//! In: the raw vectors of `main`. Out: [`Invocation`], and from it the [`Context`] of a judgement.
//! Never: judges, writes, or runs anything.

pub mod ancestry;
pub mod bash;
pub mod callers;
pub mod context;
pub mod dash;
pub mod form;
pub mod memory;
pub mod options;
pub mod process;
pub mod shell;
pub mod source;
pub mod startup;
pub mod trust;
pub mod zsh;

use std::ffi::CString;

use context::{Context, Dialect, Input};
use form::{CommandLine, Form};
use shell::{Flavor, RealShell};
use startup::Startup;

/// One call of the shell, as it arrived.
#[derive(Debug)]
pub struct Invocation {
    /// To the byte; entry 0 is the name we were called by.
    pub argv: Vec<CString>,
    /// To the byte and in order, odd entries included.
    pub environ: Vec<CString>,
    pub shell: RealShell,
    pub line: CommandLine,
    /// Files that the real shell runs before the text.
    pub startup: Vec<Startup>,
}

impl Invocation {
    /// Reads the argument vector as the real shell will read it.
    pub fn read(argv: Vec<CString>, environ: Vec<CString>, shell: RealShell) -> Self {
        let words: Vec<&[u8]> = argv.iter().map(CString::as_bytes).collect();
        let line = match shell.flavor {
            Flavor::Bash => bash::read(&words),
            Flavor::Dash => dash::read(&words, dash::Known::Exactly),
            Flavor::Busybox | Flavor::Other => dash::read(&words, dash::Known::Roughly),
            Flavor::Zsh => zsh::read(&words),
        };
        let startup = startup::list(shell.flavor, &line, words.first().copied(), &environ);
        Self { argv, environ, shell, line, startup }
    }

    /// The bytes of the argument at `index`; empty where there is none.
    pub fn word(&self, index: usize) -> &[u8] {
        self.argv.get(index).map_or(&[], |word| word.as_bytes())
    }

    /// Whether this is a shell that takes its commands from a person's terminal, or as if it did.
    pub fn is_session(&self) -> bool {
        matches!(self.line.form, Form::Input { .. })
            && (self.line.has('i') || nix::unistd::isatty(std::io::stdin()).unwrap_or(false))
    }

    /// What a judgement is told about this call. Reads the directory and the kind of standard input.
    pub fn context(&self) -> Context {
        let environment = startup::environment(&self.environ);
        let uid = nix::unistd::geteuid().as_raw();
        let (user, table_home) = startup::user(uid);
        let home = environment.get("HOME").filter(|home| !home.is_empty()).cloned().unwrap_or(table_home);
        Context {
            dialect: self.dialect(),
            cwd: startup::directory(),
            home,
            user,
            uid,
            workspace: None,
            environment: environment.into(),
            arguments: self.arguments(),
            options: self.line.letters.clone(),
            startup: self.named_startup(),
            source: None,
            input: input(),
        }
    }

    /// Start-up files that the caller chose; the machine's and the user's own are not the caller's text.
    fn named_startup(&self) -> Vec<String> {
        let chosen =
            |s: &&Startup| matches!(s.origin, startup::Origin::Variable(_) | startup::Origin::Argument);
        self.startup.iter().filter(chosen).map(|s| s.path.clone()).collect()
    }

    /// The grammar with which the real shell reads the text.
    pub fn dialect(&self) -> Dialect {
        match self.shell.flavor {
            Flavor::Bash if self.shell.name == shell::ShellName::Sh || self.line.named("posix") => {
                Dialect::Posix
            }
            Flavor::Bash => Dialect::Bash,
            Flavor::Dash | Flavor::Busybox | Flavor::Other => Dialect::Posix,
            Flavor::Zsh => Dialect::Zsh,
        }
    }

    /// `$0`, `$1` … as the text will see them.
    fn arguments(&self) -> Vec<String> {
        let text = |index| crate::text::judged(self.word(index)).into_owned();
        let (zero, rest) = match self.line.form {
            Form::Command { text: at } if at + 1 < self.argv.len() => (at + 1, at + 2),
            Form::Command { text: at } => (0, at + 1),
            Form::Script { file } => (file, file + 1),
            Form::Input { operands } => (0, operands),
            Form::Inert(_) | Form::Unclear(_) => (0, self.argv.len()),
        };
        std::iter::once(text(zero)).chain((rest..self.argv.len()).map(text)).collect()
    }
}

/// What standard input is at entry.
fn input() -> Input {
    use nix::sys::stat::{SFlag, fstat};
    let Ok(stat) = fstat(std::io::stdin()) else { return Input::Unknown };
    match SFlag::from_bits_truncate(stat.st_mode & SFlag::S_IFMT.bits()) {
        SFlag::S_IFREG => Input::File,
        SFlag::S_IFIFO | SFlag::S_IFSOCK => Input::Pipe,
        SFlag::S_IFCHR if nix::unistd::isatty(std::io::stdin()).unwrap_or(false) => Input::Terminal,
        // 1, 3: the null device's number, Documentation/admin-guide/devices.txt
        SFlag::S_IFCHR if stat.st_rdev == nix::sys::stat::makedev(1, 3) => Input::Null,
        _ => Input::Unknown,
    }
}
