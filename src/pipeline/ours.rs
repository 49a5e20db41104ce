//! The client's own hook, where the client starts it by its shell and that is agent-sh: the one program that may
//! write down what was meant, which no confined command may.
//!
//! In: the text that runs. Out: the folder of intents, for a text that is nothing but our hook. Never: for a text with
//! anything beside it, or a program that somebody other than root could have put there.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::fidelity::store::Store;
use crate::syntax::bounds::Limits;
use crate::syntax::grammar::{self, Dialect};
use crate::syntax::tree::{Command, End, Item, Join, Pipeline, Simple, Status};
use crate::text::{judged, raw};

/// The folder to which the hook writes; made where it is missing.
pub(super) fn intents(text: &str) -> Option<String> {
    // before anything is parsed: nearly every text is another
    if !text.contains("agent-shctl") || text.len() > 4096 {
        return None;
    }
    let program = hook(text)?;
    let store = is_root_s(&program).then(Store::make)?.ok()?;
    Some(judged(store.folder().as_os_str().as_bytes()).into_owned())
}

/// The program of a text that is `PROGRAM hook CLIENT`, alone or with `|| exit 2` behind it.
fn hook(text: &str) -> Option<PathBuf> {
    let parsed = grammar::parse(text, Dialect::Bash, &Limits::default());
    let ([Item { first, rest, ends: End::Sequential }], None) = (&*parsed.script.items, &parsed.error) else {
        return None;
    };
    let words = words(first)?;
    let [program, hook, client] = words.as_slice() else { return None };
    let known = hook == "hook" && is_name(client) && program.starts_with('/');
    let blocks = match rest.as_slice() {
        [] => true,
        [(Join::Or, second)] => self::words(second)? == ["exit", "2"],
        _ => false,
    };
    (known && blocks).then(|| PathBuf::from(OsStr::from_bytes(&raw(program))))
}

/// The words of a command that has nothing else.
fn words(pipeline: &Pipeline) -> Option<Vec<String>> {
    let Pipeline { commands, status: Status::AsIs } = pipeline else { return None };
    let [Command::Simple(Simple { assignments, words, declared, redirects, .. })] = commands.as_slice()
    else {
        return None;
    };
    if !assignments.is_empty() || !declared.is_empty() || !redirects.is_empty() {
        return None;
    }
    words.iter().map(crate::syntax::tree::Word::literal).collect()
}

/// A client's name; one that nobody has is refused by the hook itself.
fn is_name(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

/// Whether root alone can change which program this path names.
fn is_root_s(path: &Path) -> bool {
    let Ok(path) = std::fs::canonicalize(path) else { return false };
    let kept =
        |path: &Path| std::fs::metadata(path).is_ok_and(|meta| meta.uid() == 0 && meta.mode() & 0o022 == 0);
    path.file_name().is_some_and(|name| name == "agent-shctl") && path.ancestors().all(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_hook_and_nothing_beside_it_is_ours() {
        for (text, is_ours) in [
            ("/usr/bin/agent-shctl hook gemini", true),
            ("'/usr/bin/agent-shctl' hook codex || exit 2", true),
            ("/usr/bin/agent-shctl hook --help=x", false),
            ("agent-shctl hook codex", false),
            ("/usr/bin/agent-shctl hook codex; id", false),
            ("/usr/bin/agent-shctl hook codex && id", false),
            ("/usr/bin/agent-shctl hook codex || id", false),
            ("/usr/bin/agent-shctl hook codex &", false),
            ("id | /usr/bin/agent-shctl hook codex", false),
            ("LD_PRELOAD=/tmp/x /usr/bin/agent-shctl hook codex", false),
            ("/usr/bin/agent-shctl hook codex >/tmp/x", false),
            ("/usr/bin/agent-shctl hook codex <<<'{}'", false),
            ("/usr/bin/agent-shctl hook \"$x\"", false),
            ("/usr/bin/agent-shctl judge codex", false),
        ] {
            assert_eq!(hook(text).is_some(), is_ours, "{text}");
        }
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("agent-shctl");
        std::fs::write(&program, "").unwrap();
        assert!(!is_root_s(&program), "{program:?} lies where others may write");
    }
}
