//! Scripts of packages, where agent-sh is the machine's sh: dpkg's own calls pass, or nothing could be
//! installed, removed or repaired any more, agent-sh itself among it.
//!
//! In: the call, its source. Out: a note for the record, or nothing. Never: believes what a caller can say:
//! dpkg is known by the kernel's link to its program, and the script is one that root alone can change.
//! What the installation may do was judged when somebody asked for it.

use crate::act::{Kind, TagSet};
use crate::decision::Decision;
use crate::effects::model::{Effect, Target};
use crate::invocation::Invocation;
use crate::invocation::callers;
use crate::invocation::source::{Run, Source};
use crate::text::Span;

/// dpkg's program.
const CALLER: &str = "/usr/bin/dpkg";
/// Where it keeps the scripts: of installed packages, and of those that are being unpacked.
const FOLDERS: [&str; 2] = ["/var/lib/dpkg/info/", "/var/lib/dpkg/tmp.ci/"];

/// The decision, if this is dpkg running a package's script for root: what it does is installing.
pub(super) fn script(invocation: &Invocation, source: &Source) -> Option<Decision> {
    let Source::Script { file, run: Run::OwnPath, .. } = source else { return None };
    let path = invocation.word(*file);
    let is_theirs = FOLDERS.iter().any(|folder| path.starts_with(folder.as_bytes()))
        && !path.windows(4).any(|piece| piece == b"/../");
    let by_root = nix::unistd::getuid().is_root() && nix::unistd::geteuid().is_root();
    (by_root && is_theirs && callers::nearest() == CALLER).then(installing)
}

fn installing() -> Decision {
    let installs = Effect {
        kind: Kind::Install,
        target: Target::default(),
        tags: TagSet::EMPTY,
        program: "dpkg".into(),
        span: Span::default(),
    };
    Decision {
        notes: vec!["a package's script, run by dpkg".to_owned()],
        effects: vec![installs],
        ..Decision::default()
    }
}
