//! Scripts that are the system's, where agent-sh is the machine's sh or bash.
//!
//! Programs that are installed as scripts (`ldd`, `zgrep`) are programs like those in machine code: what they do was
//! judged, by their description, when a command named them. And dpkg's own calls pass, or nothing could be installed,
//! removed or repaired any more, agent-sh itself among it.
//!
//! In: the call, its source. Out: a note for the record, or nothing. Never: believes what a caller can say: dpkg is known
//! by the kernel's link to its program, and a script is one that root alone can change.

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::act::{Kind, TagSet, tag};
use crate::decision::{Coverage, Decision};
use crate::effects::files::INSTALLED;
use crate::effects::model::{Effect, Target};
use crate::invocation::source::{Run, Source};
use crate::invocation::startup::Origin;
use crate::invocation::{Invocation, callers};
use crate::text::{Span, judged};

/// dpkg's program.
const CALLER: &str = "/usr/bin/dpkg";
/// Where it keeps the scripts: of installed packages, and of those that are being unpacked.
const FOLDERS: [&str; 2] = ["/var/lib/dpkg/info/", "/var/lib/dpkg/tmp.ci/"];

/// The decision, if this is the system's own script.
pub(super) fn script(invocation: &Invocation, source: &Source) -> Option<Decision> {
    let Source::Script { file, run: Run::OwnPath, .. } = source else { return None };
    let path = invocation.word(*file);
    packaged(path).or_else(|| installed(path, invocation))
}

/// dpkg runs a package's script for root: what it does is installing.
fn packaged(path: &[u8]) -> Option<Decision> {
    let is_theirs = FOLDERS.iter().any(|folder| path.starts_with(folder.as_bytes()))
        && !path.windows(4).any(|piece| piece == b"/../");
    let by_root = nix::unistd::getuid().is_root() && nix::unistd::geteuid().is_root();
    let does = |kind, program: &str| Effect {
        kind,
        target: Target::default(),
        tags: TagSet::EMPTY,
        program: program.into(),
        span: Span::default(),
    };
    (by_root && is_theirs && callers::nearest() == CALLER).then(|| Decision {
        notes: vec!["a package's script, run by dpkg".to_owned()],
        effects: vec![does(Kind::Install, "dpkg")],
        ..Decision::default()
    })
}

/// A program of the system's that is a script, with nothing of the caller's that bash would run before it. What it does
/// is not looked at, so it is confined like a program of which nothing is known.
pub(crate) fn installed(path: &[u8], invocation: &Invocation) -> Option<Decision> {
    let chosen = invocation.startup.iter().any(|file| match file.origin {
        Origin::Variable(_) | Origin::Argument => true,
        Origin::Machine | Origin::User => false,
    });
    let brings = |entry: &std::ffi::CString| entry.as_bytes().starts_with(b"BASH_FUNC_");
    if chosen || invocation.environ.iter().any(brings) {
        return None;
    }
    let file = std::fs::canonicalize(Path::new(std::ffi::OsStr::from_bytes(path))).ok()?;
    let meta = std::fs::symlink_metadata(&file).ok()?;
    let name = judged(file.as_os_str().as_bytes()).into_owned();
    let is_theirs = INSTALLED.iter().any(|folder| name.starts_with(folder));
    if !is_theirs || !meta.is_file() || meta.uid() != 0 || meta.mode() & 0o022 != 0 || meta.mode() & 0o111 == 0 {
        return None;
    }
    let runs = Effect {
        kind: Kind::Execute,
        target: Target { written: name.as_str().into(), resolved: name.as_str().into(), ..Target::default() },
        tags: TagSet::of(tag::OPAQUE),
        program: name.rsplit('/').next().unwrap_or("").into(),
        span: Span::default(),
    };
    Some(Decision {
        notes: vec!["an installed program that is a script".to_owned()],
        effects: vec![runs],
        coverage: Coverage::Partial,
        ..Decision::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invocation::shell::{Flavor, RealShell, ShellName};
    use std::ffi::CString;

    fn call(environ: &[&str]) -> Invocation {
        let text = |word: &&str| CString::new(*word).unwrap();
        let shell = RealShell { path: c"/bin/bash".to_owned(), name: ShellName::Bash, flavor: Flavor::Bash };
        Invocation::read([&"bash", &"x"].map(text).to_vec(), environ.iter().map(text).collect(), shell)
    }

    #[test]
    fn the_system_s_scripts_are_programs_and_nobody_else_s_are() {
        let plain = call(&["PATH=/usr/bin"]);
        let is_script = |path: &std::path::PathBuf| {
            std::fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"#!/bin/sh"))
                && std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file())
        };
        let all = std::fs::read_dir("/usr/bin").unwrap().flatten().map(|entry| entry.path());
        if let Some(script) = all.into_iter().find(is_script) {
            let path = script.as_os_str().as_bytes();
            let decision = installed(path, &plain).unwrap();
            assert_eq!((decision.verdict, decision.coverage), (crate::verdict::Verdict::Allow, Coverage::Partial));
            for environ in [&["BASH_FUNC_ls%%=() { :; }"][..], &["BASH_ENV=/tmp/x"]] {
                assert!(installed(path, &call(environ)).is_none(), "{environ:?}");
            }
        } else {
            eprintln!("SKIPPED: /usr/bin has no script here");
        }
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("own");
        std::fs::write(&own, "#!/bin/sh\n").unwrap();
        for path in [own.as_os_str().as_bytes(), b"/usr/bin/../../etc/passwd", b"/usr/bin/no-such-file", b"/usr/bin"] {
            assert!(installed(path, &plain).is_none(), "{}", String::from_utf8_lossy(path));
        }
    }
}
