//! Scripts of packages, where agent-sh is the machine's sh: what dpkg or rpm calls passes, and what that calls, or
//! nothing could be installed, removed or repaired any more, agent-sh itself among it.
//!
//! In: the call, its source. Out: a note for the record, or nothing. Never: believes a name: the package manager
//! and the script's interpreter are known by the kernel's links to their programs, and the script is one that root
//! alone can change. What the installation may do was judged when somebody asked for it.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::hearing::Hearing;
use super::terms;
use crate::act::{Kind, TagSet};
use crate::decision::Decision;
use crate::effects::model::{Effect, Target};
use crate::invocation::Invocation;
use crate::invocation::callers::{self, Caller};
use crate::invocation::process::head;
use crate::invocation::shell::{Candidates, ShellName};
use crate::invocation::source::{Run, Source};
use crate::text::Span;

/// Programs that run packages' scripts; by the second name one that replaces itself at the time.
const MANAGERS: [&str; 7] = [
    "/usr/bin/dpkg",
    "/usr/bin/dpkg (deleted)",
    "/usr/bin/rpm",
    "/usr/bin/rpm (deleted)",
    "/usr/bin/dnf5",
    "/usr/bin/microdnf",
    "/usr/bin/zypper",
];
/// The same, where they are scripts themselves.
const MANAGING: [&[u8]; 3] = [b"/usr/bin/dnf", b"/usr/bin/dnf-3", b"/usr/bin/yum"];
/// Where scripts are kept, or put for the call: the beginnings of their paths.
const PLACES: [&str; 3] = ["/var/lib/dpkg/info/", "/var/lib/dpkg/tmp.ci/", "/var/tmp/rpm-tmp."];
/// A script that asks questions becomes this program, which calls it again (debconf-devel(7)).
const FRONTEND: &[u8] = b"/usr/share/debconf/frontend";
/// What the managers set for their scripts (dpkg(1); rpm's `_install_script_path`). No proof; without it there is no
/// need to look further.
const HINTS: [&[u8]; 2] = [b"DPKG_MAINTSCRIPT_NAME=", b"PATH=/sbin:/bin:/usr/sbin:/usr/bin"];

/// The decision, if this is a package's script run for root, or something called by one: what it does is installing.
pub(super) fn script(invocation: &Invocation, source: &Source, hearing: &Hearing) -> Option<Decision> {
    let by_root = nix::unistd::getuid().is_root() && nix::unistd::geteuid().is_root();
    let itself = match source {
        Source::Script { file, run: Run::OwnPath, .. } => is_theirs(invocation.word(*file)),
        Source::Script { .. }
        | Source::Argument { .. }
        | Source::Input { .. }
        | Source::Nothing
        | Source::Unreadable => false,
    };
    let hint = |entry: &CString| HINTS.iter().any(|hint| entry.as_bytes().starts_with(hint));
    if !by_root || !(itself || invocation.environ.iter().any(hint)) {
        return None;
    }
    let (above, shells) = (callers::above(&hearing.lineage), &terms::candidates(hearing.policy.temper()));
    if itself && managed(&above, shells) {
        return Some(installing("a package's script, run by the package manager"));
    }
    let below = (1..=above.len()).any(|at| {
        let (under, over) = above.split_at(at);
        under.last().is_some_and(|caller| runs(caller, &is_theirs, shells)) && managed(over, shells)
    });
    below.then(|| installing("called by a package's script that the package manager runs"))
}

/// Whether the nearest of these is a package manager, or debconf's program between it and its script.
fn managed(above: &[Caller], shells: &Candidates) -> bool {
    let manages = |caller: Option<&Caller>| {
        caller.is_some_and(|c| {
            MANAGERS.contains(&&*c.program) || runs(c, &|path| MANAGING.contains(&path), shells)
        })
    };
    let asks = above.first().is_some_and(|caller| runs(caller, &|path| path == FRONTEND, shells));
    manages(above.first()) || asks && manages(above.get(1))
}

fn is_theirs(path: &[u8]) -> bool {
    let name = PLACES.iter().find_map(|place| path.strip_prefix(place.as_bytes()));
    name.is_some_and(|name| !name.contains(&b'/'))
}

/// Whether the process is what the kernel makes of a script's first line: the interpreter, its one option, the
/// script. Words alone prove nothing: `make SCRIPT` and `sh -c TEXT SCRIPT` name it too.
fn runs(caller: &Caller, wanted: &dyn Fn(&[u8]) -> bool, shells: &Candidates) -> bool {
    let words = caller.words.get(1..).unwrap_or_default();
    let found = words.iter().take(2).find(|word| wanted(word));
    let Some((path, (interpreter, option))) = found.and_then(|path| Some((path, first_line(path)?))) else {
        return false;
    };
    let as_started = match &*option {
        [] => words.first() == Some(path),
        option => words.first().is_some_and(|word| word == option) && words.get(1) == Some(path),
    };
    let named =
        |file: &Path| std::fs::canonicalize(file).is_ok_and(|file| file == Path::new(&caller.program));
    // where agent-sh stands in the interpreter's place, it has become one of the real ones
    let real = ShellName::of(&interpreter).map_or(&[][..], |name| shells.of(name));
    as_started
        && (named(Path::new(OsStr::from_bytes(&interpreter)))
            || real.iter().any(|path| named(Path::new(path))))
}

/// Interpreter and option of a script (execve(2): one option, whatever is in it).
fn first_line(script: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let text = head(std::str::from_utf8(script).ok()?);
    let line = text.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?.trim_ascii();
    let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    let (interpreter, option) = line.split_at_checked(end)?;
    Some((interpreter.to_vec(), option.trim_ascii().to_vec()))
}

fn installing(note: &str) -> Decision {
    let installs = Effect {
        kind: Kind::Install,
        target: Target::default(),
        tags: TagSet::EMPTY,
        program: "package".into(),
        span: Span::default(),
    };
    Decision { notes: vec![note.to_owned()], effects: vec![installs], ..Decision::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{canonicalize, write};

    const SHELLS: Candidates = Candidates {
        default: ShellName::Bash,
        bash: &["/bin/bash"],
        sh: &["/bin/dash", "/bin/bash"],
        dash: &["/bin/dash"],
        zsh: &[],
    };

    #[test]
    fn only_what_the_kernel_makes_of_a_script_counts_as_running_it() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("x.postinst");
        let path = script.to_str().unwrap();
        let wanted = |word: &[u8]| word == path.as_bytes();
        let bash = canonicalize("/bin/bash").unwrap().to_str().unwrap().to_owned();
        let of = |program: &str, words: &[&str]| Caller {
            program: program.to_owned(),
            words: words.iter().map(|word| word.as_bytes().to_vec()).collect(),
        };
        let run = |caller: &Caller| runs(caller, &wanted, &SHELLS);
        write(&script, "#!/bin/bash\nset -e\n").unwrap();
        assert!(run(&of(&bash, &["/bin/bash", path, "configure"])));
        for caller in [
            of("/usr/bin/make", &["make", path]),
            of(&bash, &["bash", "-c", "make", path]),
            of(&bash, &["bash", "-c", path]),
            of(&bash, &["bash", "-x", path]),
            of(&bash, &["bash", "other", path]),
            of(&bash, &["bash"]),
            of(&format!("{bash} (deleted)"), &["bash", path]),
        ] {
            assert!(!run(&caller), "{caller:?}");
        }
        write(&script, "#! /bin/bash -e \nx\n").unwrap();
        assert!(run(&of(&bash, &["/bin/bash", "-e", path])));
        assert!(!run(&of(&bash, &["/bin/bash", path])));
        assert!(!run(&of(&bash, &["/bin/bash", "-c", path])));
        write(&script, "#!/bin/sh\nx\n").unwrap();
        // agent-sh in the place of sh has become bash
        assert!(run(&of(&bash, &["/bin/sh", path])));
        write(&script, "no script\n").unwrap();
        assert!(!run(&of(&bash, &["/bin/bash", path])));
    }

    #[test]
    fn scripts_are_those_in_the_managers_places_themselves() {
        for (path, theirs) in [
            ("/var/lib/dpkg/info/cron.postinst", true),
            ("/var/lib/dpkg/tmp.ci/preinst", true),
            ("/var/lib/dpkg/info/../../../../tmp/x", false),
            ("/var/tmp/rpm-tmp.aB3xYz", true),
            ("/var/tmp/rpm-tmp.x/../y", false),
            ("/var/lib/dpkg/informal", false),
            ("/tmp/var/lib/dpkg/info/x", false),
        ] {
            assert_eq!(is_theirs(path.as_bytes()), theirs, "{path}");
        }
    }

    #[test]
    fn only_debconf_may_stand_between_a_manager_and_its_script() {
        let at = |program: &str| Caller { program: program.to_owned(), words: Vec::new() };
        assert!(managed(&[at("/usr/bin/dpkg"), at("/usr/bin/apt-get")], &SHELLS));
        assert!(managed(&[at("/usr/bin/dpkg (deleted)")], &SHELLS));
        assert!(!managed(&[at("/usr/bin/perl"), at("/usr/bin/dpkg")], &SHELLS));
        assert!(!managed(&[], &SHELLS));
    }
}
