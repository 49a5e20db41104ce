//! Code that the real shell runs before the text: start-up files; and the environment, directory and
//! user as a judgement gets them.
//!
//! In: the command line and the raw environment. Out: [`Startup`] entries, in the shell's order.
//! Never: expands or reads the files; lists rather one too many than one too few.

use std::collections::HashMap;
use std::ffi::{CStr, CString};

use super::form::{CommandLine, Form};
use super::shell::Flavor;

/// A file that runs before the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Startup {
    pub origin: Origin,
    /// As named: `~/` stands for the home, a variable's value is still to be expanded by the shell.
    pub path: String,
}

/// Who decides which file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// the machine's: /etc/profile, /etc/zsh/zshenv …
    Machine,
    /// the user's: `~/.bash_profile`, `~/.bashrc`, `~/.zshenv` …
    User,
    /// `BASH_ENV`, `ENV`, `ZDOTDIR`: the caller, in the environment
    Variable(&'static str),
    /// `--rcfile`, `--init-file`: the caller, in the arguments
    Argument,
}

/// What the shell would run first (bash manual, "Bash Startup Files"; dash(1); zsh manual, "Startup/
/// Shutdown Files").
pub fn list(flavor: Flavor, line: &CommandLine, name: Option<&[u8]>, environ: &[CString]) -> Vec<Startup> {
    let mut files = Files { environ, list: Vec::new() };
    if matches!(line.form, Form::Inert(_) | Form::Unclear(_)) {
        return files.list;
    }
    let name = name.unwrap_or_default();
    let login = line.has('l') || name.starts_with(b"-");
    match flavor {
        Flavor::Bash => bash(&mut files, line, name, login),
        Flavor::Dash | Flavor::Busybox | Flavor::Other => {
            if login {
                files.named(Origin::Machine, "/etc/profile");
                files.named(Origin::User, "~/.profile");
            }
            // busybox and ksh read ENV in every interactive shell, older ksh always
            if line.has('i') || flavor == Flavor::Other {
                files.variable("ENV");
            }
        }
        Flavor::Zsh => zsh(&mut files, line, login),
    }
    files.list
}

struct Files<'a> {
    environ: &'a [CString],
    list: Vec<Startup>,
}

impl Files<'_> {
    fn named(&mut self, origin: Origin, path: &str) {
        self.list.push(Startup { origin, path: path.to_owned() });
    }

    fn variable(&mut self, name: &'static str) {
        if let Some(value) = value(self.environ, name).filter(|value| !value.is_empty()) {
            self.list.push(Startup { origin: Origin::Variable(name), path: value });
        }
    }
}

/// shell.c, `run_startup_files`.
fn bash(files: &mut Files<'_>, line: &CommandLine, name: &[u8], login: bool) {
    let base = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let as_sh = base.strip_prefix(b"-").unwrap_or(base) == b"sh";
    let interactive = line.has('i');
    if login && !line.named("noprofile") {
        files.named(Origin::Machine, "/etc/profile");
        for path in ["~/.bash_profile", "~/.bash_login", "~/.profile"] {
            files.named(Origin::User, path);
        }
    }
    if interactive && !line.named("norc") && !as_sh {
        files.named(Origin::Machine, "/etc/bash.bashrc");
        if line.rcfile.is_none() {
            files.named(Origin::User, "~/.bashrc");
        }
    }
    let by_network = by_network(files.environ) && line.has('c') && !interactive;
    if by_network && !login && !as_sh && !line.named("norc") {
        files.named(Origin::User, "~/.bashrc");
    }
    if line.has('p') || line.only_reads() && !line.named("pretty-print") {
        return;
    }
    if interactive {
        files.variable("ENV");
    } else if !as_sh {
        // with POSIXLY_CORRECT or SHELLOPTS=posix it would not be read; listing it is safe
        files.variable("BASH_ENV");
    }
}

/// Whether bash takes a command string for one that sshd or rshd sent to a top-level shell, and reads
/// `~/.bashrc` (`SSH_SOURCE_BASHRC`, set by Debian and Red Hat; a socket as standard input does it anywhere).
pub fn by_network(environ: &[CString]) -> bool {
    use nix::sys::stat::{SFlag, fstat};
    let socket = fstat(std::io::stdin())
        .is_ok_and(|stat| stat.st_mode & SFlag::S_IFMT.bits() == SFlag::S_IFSOCK.bits());
    let by_ssh = ["SSH_CLIENT", "SSH2_CLIENT"].iter().any(|name| value(environ, name).is_some());
    let top = value(environ, "SHLVL").is_none_or(|level| level.trim().parse::<i64>().unwrap_or(0) < 1);
    (socket || by_ssh) && top
}

fn zsh(files: &mut Files<'_>, line: &CommandLine, login: bool) {
    files.named(Origin::Machine, "/etc/zsh/zshenv");
    let folder = value(files.environ, "ZDOTDIR").filter(|folder| !folder.is_empty());
    let mut names = vec![".zshenv"];
    if login {
        names.extend([".zprofile", ".zlogin"]);
    }
    if line.has('i') {
        names.push(".zshrc");
    }
    if line.has('f') {
        return;
    }
    for name in names {
        match &folder {
            Some(folder) => files
                .list
                .push(Startup { origin: Origin::Variable("ZDOTDIR"), path: format!("{folder}/{name}") }),
            None => files.named(Origin::User, &format!("~/{name}")),
        }
    }
}

/// The last value of a variable, as judged text; shells keep the last of equal names.
fn value(environ: &[CString], name: &str) -> Option<String> {
    environ.iter().rev().find_map(|entry| {
        let rest = entry.as_bytes().strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        Some(crate::text::judged(rest).into_owned())
    })
}

/// The environment as judged text; entries without `=` are no variables to any shell.
pub fn environment(environ: &[CString]) -> HashMap<String, String> {
    environ
        .iter()
        .filter_map(|entry| {
            let entry = crate::text::judged(CStr::to_bytes(entry));
            entry.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()))
        })
        .collect()
}

/// The working directory's path; empty where it has none (it was deleted).
pub fn directory() -> String {
    use std::os::unix::ffi::OsStrExt as _;
    std::env::current_dir()
        .map(|path| crate::text::judged(path.as_os_str().as_bytes()).into_owned())
        .unwrap_or_default()
}

/// Name and home of a user in /etc/passwd; empty where there is none. Read once.
pub fn user(uid: u32) -> (String, String) {
    static KNOWN: std::sync::OnceLock<(u32, (String, String))> = std::sync::OnceLock::new();
    let (known, names) = KNOWN.get_or_init(|| (uid, look_up(uid)));
    if *known == uid { names.clone() } else { look_up(uid) }
}

fn look_up(uid: u32) -> (String, String) {
    let table = std::fs::read("/etc/passwd").unwrap_or_default();
    let table = crate::text::judged(&table).into_owned();
    table
        .lines()
        .find_map(|line| match line.split(':').collect::<Vec<_>>().as_slice() {
            [name, _, id, _, _, home, ..] if id.parse() == Ok(uid) => {
                Some(((*name).to_owned(), (*home).to_owned()))
            }
            _ => None,
        })
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(words: &str, environ: &[&str]) -> Vec<String> {
        let argv: Vec<&[u8]> = words.split(' ').map(str::as_bytes).collect();
        let environ: Vec<CString> = environ.iter().map(|entry| CString::new(*entry).unwrap()).collect();
        let line = crate::invocation::bash::read(&argv);
        list(Flavor::Bash, &line, argv.first().copied(), &environ).into_iter().map(|file| file.path).collect()
    }

    #[test]
    fn bash_env_is_listed_where_bash_reads_it() {
        let env = ["BASH_ENV=/x", "ENV=/y"];
        for (words, files) in [
            ("bash -c S", vec!["/x"]),
            ("bash F", vec!["/x"]),
            ("bash -pc S", vec![]),
            ("bash -n F", vec![]),
            ("bash --pretty-print F", vec!["/x"]),
            ("sh -c S", vec![]),
            ("bash --version", vec![]),
            ("bash --norc -ic S", vec!["/y"]),
            ("bash -lc S", vec!["/etc/profile", "~/.bash_profile", "~/.bash_login", "~/.profile", "/x"]),
            ("bash --noprofile -lc S", vec!["/x"]),
        ] {
            assert_eq!(listed(words, &env), files, "{words}");
        }
    }

    #[test]
    fn the_last_of_equal_names_counts() {
        assert_eq!(listed("bash -c S", &["BASH_ENV=/a", "odd", "BASH_ENV=/b"]), ["/b"]);
        let map = environment(&[
            CString::new("A=1").unwrap(),
            CString::new("odd").unwrap(),
            CString::new("A=2=3").unwrap(),
        ]);
        assert_eq!(map.get("A").map(String::as_str), Some("2=3"));
        assert_eq!(map.len(), 1);
    }
}
