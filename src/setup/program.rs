//! Programs on this machine: agent-sh beside us, a client on the search path, the shell that a script names.
//!
//! In: names, `PATH`. Out: paths. Never: takes a file for agent-sh that does not carry its mark.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::invocation::shell::{MARKER, ShellName, program};

/// How much of a file is searched for the mark; notes lie in the first pages.
const HEAD: u64 = 16 << 10;

/// agent-sh: the one beside this program, else the installed one.
///
/// # Errors
/// There is none, in words.
pub fn agent_sh() -> Result<PathBuf, String> {
    let own = std::env::current_exe().ok().and_then(|own| own.parent().map(|folder| folder.join("agent-sh")));
    let places = own.into_iter().chain(["/usr/bin/agent-sh", "/usr/local/bin/agent-sh"].map(PathBuf::from));
    let found = places.filter(|path| is_agent_sh(path)).find_map(|path| path.canonicalize().ok());
    found.ok_or_else(|| {
        "no agent-sh beside agent-shctl nor in /usr/bin; install both in one folder".to_owned()
    })
}

/// Whether a file is an agent-sh, under whatever name.
pub fn is_agent_sh(path: &Path) -> bool {
    let Ok(file) = std::fs::File::open(path) else { return false };
    if !file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0) {
        return false;
    }
    let mut head = Vec::new();
    file.take(HEAD).read_to_end(&mut head).is_ok() && memchr::memmem::find(&head, MARKER).is_some()
}

/// The first executable file of a name on a search path that is no launcher of ours. A name with a slash is a path.
pub fn on_path(name: &OsStr, path: &OsStr) -> Option<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        return Some(PathBuf::from(name));
    }
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| is_program(file) && !is_launcher(file))
}

fn is_program(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// In every launcher, so that none takes another for the client.
pub const LAUNCHER_MARK: &str = "# made by agent-shctl install; agent-shctl uninstall removes it";

/// Whether a file is a launcher that `install` made.
pub fn is_launcher(file: &Path) -> bool {
    let mut head = Vec::new();
    let Ok(file) = std::fs::File::open(file) else { return false };
    file.take(256).read_to_end(&mut head).is_ok()
        && memchr::memmem::find(&head, LAUNCHER_MARK.as_bytes()).is_some()
}

/// What the first line of a script says, where that is a shell: its name and the words before the script's path.
pub fn shell_of_script(path: &Path) -> Option<(ShellName, Vec<OsString>)> {
    let mut head = Vec::new();
    std::fs::File::open(path).ok()?.take(256).read_to_end(&mut head).ok()?;
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let first = words.next()?;
    let by_env = program(first) == b"env";
    let named =
        if by_env { words.find(|word| !word.starts_with(b"-") && !word.contains(&b'='))? } else { first };
    // the kernel hands over the rest of the line as one word
    let rest: Vec<&[u8]> = words.collect();
    let rest =
        if rest.is_empty() { Vec::new() } else { vec![OsStr::from_bytes(&rest.join(&b' ')).to_owned()] };
    Some((ShellName::of(named)?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, set_permissions, write};

    #[test]
    fn scripts_say_their_shell() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        for (text, expected) in [
            ("#!/bin/sh\n", Some((ShellName::Sh, vec![]))),
            ("#! /usr/bin/env bash\nx", Some((ShellName::Bash, vec![]))),
            ("#!/usr/bin/env -S bash -e\n", Some((ShellName::Bash, vec!["-e"]))),
            ("#!/bin/bash -eu\n", Some((ShellName::Bash, vec!["-eu"]))),
            ("#!/usr/bin/env node\n", None),
            ("\x7fELF", None),
            ("#!\n", None),
        ] {
            write(&path, text).unwrap();
            let expected =
                expected.map(|(shell, words)| (shell, words.iter().map(OsString::from).collect::<Vec<_>>()));
            assert_eq!(shell_of_script(&path), expected, "{text:?}");
        }
    }

    #[test]
    fn launchers_are_left_out_and_files_that_can_t_be_run() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        for (at, mode) in [(&one, 0o755), (&two, 0o755)] {
            std::fs::create_dir(at).unwrap();
            write(at.join("x"), "").unwrap();
            set_permissions(at.join("x"), Permissions::from_mode(mode)).unwrap();
        }
        let path = std::env::join_paths([&one, &two]).unwrap();
        assert_eq!(on_path(OsStr::new("x"), &path), Some(one.join("x")));
        set_permissions(one.join("x"), Permissions::from_mode(0o644)).unwrap();
        assert_eq!(on_path(OsStr::new("x"), &path), Some(two.join("x")));
        set_permissions(one.join("x"), Permissions::from_mode(0o755)).unwrap();
        write(one.join("x"), format!("#!/bin/sh\n{LAUNCHER_MARK}\n")).unwrap();
        assert_eq!(on_path(OsStr::new("x"), &path), Some(two.join("x")));
        assert!(!is_agent_sh(&two.join("x")));
    }
}
