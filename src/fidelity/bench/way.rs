//! The ways over which texts are sent: real programs on this machine, as senders use them.
//!
//! In: nothing. Out: [`WAYS`]. Never: a way that is careful: those are the channels, by which the bench repairs.

use crate::fidelity::bench::wrap::{self, Wrap};

/// One way. In words, input and file, `{t}` stands for the text as the sender wraps it, `{case}` for the folder of
/// the trial, `{n}` for its number, `{ssh}` for the options of ssh, `{server}` for the bench's own tmux.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub name: &'static str,
    pub group: &'static str,
    /// Programs that have to be there; `root`, `sshd` and `tmux` also mean user and daemons.
    pub needs: &'static [&'static str],
    pub wrap: Wrap,
    pub words: &'static [&'static str],
    pub input: Option<&'static str>,
    /// Content of `{case}/file`.
    pub file: Option<&'static str>,
    /// Commands before it, and after it, that are no part of what is sent.
    pub before: Option<&'static [&'static str]>,
    pub after: &'static [&'static [&'static str]],
    /// Whether the text makes its last line a sentinel, since what runs it is another process.
    pub end: End,
    /// The channel that repairs it, and its target; else a stub goes the same way.
    pub repair: Option<(&'static str, &'static str)>,
    pub home: Home,
}

/// The home whose start-up files a way's shells read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Home {
    /// The bench's folder, by HOME.
    #[default]
    Bench,
    /// A login to root's, whatever HOME says. It is hidden by an empty one in a mount namespace: what root's start-up
    /// files do is not what is measured, and a shell that is stopped amid them would leave their locks behind.
    Login,
}

/// How it is known that a trial has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The process ends.
    Exit,
    /// The file `{case}/end` is there.
    Sentinel,
    /// Nothing says it: when no probe has been called for a while.
    Quiet,
}

const fn way(name: &'static str, group: &'static str, wrap: Wrap, words: &'static [&'static str]) -> Way {
    Way {
        name,
        group,
        needs: &[],
        wrap,
        words,
        input: None,
        file: None,
        before: None,
        after: &[],
        end: End::Exit,
        repair: None,
        home: Home::Bench,
    }
}

impl Way {
    const fn needs(self, needs: &'static [&'static str]) -> Self {
        Self { needs, ..self }
    }
    const fn input(self, input: &'static str) -> Self {
        Self { input: Some(input), ..self }
    }
    const fn file(self, file: &'static str) -> Self {
        Self { file: Some(file), ..self }
    }
    const fn repair(self, channel: &'static str, to: &'static str) -> Self {
        Self { repair: Some((channel, to)), ..self }
    }
    const fn tmux(self, after: &'static [&'static [&'static str]]) -> Self {
        Self {
            needs: &["tmux"],
            before: Some(&[
                "tmux",
                "{server}",
                "new-session",
                "-d",
                "-x",
                "200",
                "-s",
                "{n}",
                "exec bash --norc --noprofile -i",
            ]),
            after,
            end: End::Sentinel,
            ..self
        }
    }
    const fn login(self, needs: &'static [&'static str]) -> Self {
        Self { needs, home: Home::Login, ..self }
    }
    const fn end(self, end: End) -> Self {
        Self { end, ..self }
    }
}

const BASH: &[&str] = &["bash", "-c", "{t}"];
const TYPED: &str = "{t}\n: >{case}/end\nexit\n";

/// All ways, by group.
pub const WAYS: &[Way] = &[
    way("bash-c", "shell", wrap::none, BASH),
    way("bash-lc", "shell", wrap::none, &["bash", "-lc", "{t}"]),
    way("bash-ic", "shell", wrap::none, &["bash", "--norc", "-ic", "{t}"]),
    way("bash-posix", "shell", wrap::none, &["bash", "--posix", "-c", "{t}"]),
    way("dash-c", "shell", wrap::none, &["dash", "-c", "{t}"]).needs(&["dash"]),
    way("busybox-sh", "shell", wrap::none, &["busybox", "sh", "-c", "{t}"]).needs(&["busybox"]),
    way("zsh-c", "shell", wrap::none, &["zsh", "-c", "{t}"]).needs(&["zsh"]),
    way("mksh-c", "shell", wrap::none, &["mksh", "-c", "{t}"]).needs(&["mksh"]),
    way("bash-s", "shell", wrap::none, &["bash", "-s"]).input("{t}"),
    way("script-file", "shell", wrap::none, &["bash", "{case}/file"]).file("{t}"),
    way("env", "vector", wrap::none, &["env", "bash", "-c", "{t}"]),
    way("nice", "vector", wrap::none, &["nice", "bash", "-c", "{t}"]),
    way("timeout", "vector", wrap::none, &["timeout", "20", "bash", "-c", "{t}"]),
    way("setsid", "vector", wrap::none, &["setsid", "-w", "bash", "-c", "{t}"]),
    way("nohup", "vector", wrap::none, &["nohup", "bash", "-c", "{t}"]),
    way("sudo-argv", "vector", wrap::none, &["sudo", "-n", "bash", "-c", "{t}"])
        .needs(&["sudo", "root"])
        .repair("sudo", "root"),
    way("runuser-argv", "vector", wrap::none, &["runuser", "-u", "root", "--", "bash", "-c", "{t}"])
        .needs(&["runuser", "root"]),
    way("eval", "wrapper", wrap::eval, BASH),
    way("append-null", "wrapper", wrap::null_input, BASH),
    way("eval-append-null", "wrapper", wrap::eval_null_input, BASH),
    way("braces", "wrapper", wrap::braces, BASH),
    way("braces-lines", "wrapper", wrap::braces_lines, BASH),
    way("subshell-lines", "wrapper", wrap::subshell, BASH),
    way("cd-and", "wrapper", wrap::after_cd, BASH),
    way("suffix-status", "wrapper", wrap::with_status, BASH),
    way("trim", "wrapper", wrap::trimmed, BASH),
    way("join-and", "wrapper", wrap::lines_and, BASH),
    way("join-space", "wrapper", wrap::lines_space, BASH),
    way("quotation-naive", "wrapper", wrap::bash_quotation, BASH),
    way("apostrophes-naive", "wrapper", wrap::bash_apostrophes, BASH),
    way("quotation-escaped", "wrapper", wrap::bash_quotation_escaped, BASH),
    way("quotation-all", "wrapper", wrap::bash_quotation_all, BASH),
    way("json-as-quotes", "wrapper", wrap::bash_json, BASH),
    way("quoted", "wrapper", wrap::bash_quoted, BASH),
    way("marks-escaped", "wrapper", wrap::marks_escaped, BASH),
    way("backslashes-halved", "wrapper", wrap::backslashes_halved, BASH),
    way("su-c", "remote", wrap::none, &["su", "root", "-c", "{t}"])
        .needs(&["su", "root"])
        .repair("su", "root"),
    way("su-login", "remote", wrap::none, &["su", "-", "root", "-c", "{t}"])
        .login(&["su", "root", "mounts"])
        .repair("su", "- root"),
    way("sudo-i-cmd", "remote", wrap::none, &["sudo", "-n", "-i", "{t}"])
        .login(&["sudo", "root", "mounts"])
        .repair("sudo-i", "root"),
    way("sudo-i-bash-c", "remote", wrap::none, &["sudo", "-n", "-i", "bash", "-c", "{t}"])
        .login(&["sudo", "root", "mounts"])
        .repair("sudo-i", "root"),
    way("sudo-s-cmd", "remote", wrap::none, &["sudo", "-n", "-s", "{t}"])
        .needs(&["sudo", "root"])
        .repair("sudo", "root"),
    way("ssh", "remote", wrap::none, &["ssh", "{ssh}", "{t}"]).needs(&["sshd"]).repair("ssh", "{ssh}"),
    way("ssh-argv", "remote", wrap::none, &["ssh", "{ssh}", "bash", "-c", "{t}"])
        .needs(&["sshd"])
        .repair("ssh", "{ssh}"),
    way("ssh-apostrophes", "remote", wrap::bash_apostrophes, &["ssh", "{ssh}", "{t}"])
        .needs(&["sshd"])
        .repair("ssh", "{ssh}"),
    way("ssh-quotation", "remote", wrap::bash_quotation, &["ssh", "{ssh}", "{t}"])
        .needs(&["sshd"])
        .repair("ssh", "{ssh}"),
    way("ssh-stdin", "remote", wrap::none, &["ssh", "{ssh}", "bash -s"])
        .needs(&["sshd"])
        .input("{t}")
        .repair("ssh", "{ssh}"),
    way("env-S", "reparse", wrap::bash_apostrophes, &["env", "-S", "{t}"]),
    way("env-S-quotation", "reparse", wrap::bash_quotation_all, &["env", "-S", "{t}"]),
    way("xargs", "reparse", wrap::none, &["xargs", "bash", "-c"]).input("{t}").repair("xargs", ""),
    way("xargs-I", "reparse", wrap::none, &["xargs", "-I", "{}", "bash", "-c", "{}"])
        .input("{t}\n")
        .repair("xargs", ""),
    way("xargs-0", "reparse", wrap::none, &["xargs", "-0", "bash", "-c"]).input("{t}\0").repair("xargs", ""),
    way("xargs-lines", "reparse", wrap::none, &["xargs", "-d", "\n", "-n", "1", "bash", "-c"])
        .input("{t}\n")
        .repair("xargs", ""),
    way(
        "find-exec",
        "reparse",
        wrap::none,
        &["find", "/", "-maxdepth", "0", "-exec", "bash", "-c", "{t}", ";"],
    )
    .repair("find", ""),
    way("parallel", "reparse", wrap::none, &["parallel", "--will-cite", ":::", "{t}"])
        .needs(&["parallel"])
        .repair("parallel", ""),
    way("flock-c", "reparse", wrap::none, &["flock", "{case}/lock", "-c", "{t}"]).needs(&["flock"]),
    way("script-c", "reparse", wrap::none, &["script", "-qec", "{t}", "/dev/null"]).needs(&["script"]),
    way("make-recipe", "reparse", wrap::recipe, &["make", "-s", "-f", "{case}/file", "all"])
        .needs(&["make"])
        .file("{t}")
        .repair("make", ""),
    way("make-lines", "reparse", wrap::recipe_lines, &["make", "-s", "-f", "{case}/file", "all"])
        .needs(&["make"])
        .file("{t}")
        .repair("make", ""),
    way("tmux-run-shell", "reparse", wrap::none, &["tmux", "{server}", "run-shell", "{t}"]).needs(&["tmux"]),
    way("tmux-window", "reparse", wrap::none, &["tmux", "{server}", "new-window", "{t}"])
        .needs(&["tmux"])
        .end(End::Quiet),
    way(
        "pty-readline",
        "terminal",
        wrap::none,
        &["script", "-qec", "HISTFILE= exec bash --norc --noprofile -i", "/dev/null"],
    )
    .needs(&["script"])
    .input(TYPED)
    .end(End::Sentinel),
    way(
        "pty-noediting",
        "terminal",
        wrap::none,
        &["script", "-qec", "HISTFILE= exec bash --norc --noprofile --noediting -i", "/dev/null"],
    )
    .needs(&["script"])
    .input(TYPED)
    .end(End::Sentinel),
    way(
        "tmux-keys",
        "terminal",
        wrap::none,
        &["tmux", "{server}", "send-keys", "-t", "{n}", "-l", "--", "{t}"],
    )
    .tmux(&[&["tmux", "{server}", "send-keys", "-t", "{n}", "Enter", ": >{case}/end", "Enter"]]),
    way("tmux-paste", "terminal", wrap::typed, &["tmux", "{server}", "load-buffer", "-b", "{n}", "-"])
        .input("{t}")
        .tmux(&[
            &["tmux", "{server}", "paste-buffer", "-b", "{n}", "-d", "-t", "{n}"],
            &["tmux", "{server}", "send-keys", "-t", "{n}", ": >{case}/end", "Enter"],
        ]),
    way("json-template", "format", wrap::json_template, BASH),
    way("json-template-escaped", "format", wrap::json_template_escaped, BASH),
    way("json-twice", "format", wrap::json_twice, BASH),
    way("returns", "format", wrap::returns, BASH),
    way("escapes-read", "format", wrap::escapes_read, BASH),
    way("ascii-only", "format", wrap::ascii_only, BASH),
    way("html", "format", wrap::html, BASH),
];

/// Fills a piece of a way's words with what stands for itself.
pub fn fill(piece: &str, text: &[u8], case: &str, number: &str) -> Vec<u8> {
    let piece = piece.replace("{case}", case).replace("{n}", number);
    match piece.split_once("{t}") {
        Some((before, after)) => [before.as_bytes(), text, after.as_bytes()].concat(),
        None => piece.into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fidelity::channel::name::Channel;

    #[test]
    fn ways_have_their_own_names_and_channels_that_there_are() {
        let mut names: Vec<_> = WAYS.iter().map(|w| w.name).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(WAYS.iter().filter_map(|w| w.repair).all(|(c, _)| Channel::named(c).is_some()));
    }

    #[test]
    fn the_text_is_put_in_as_bytes() {
        assert_eq!(fill("{t}\n: >{case}/end", b"\xff{n}", "/c", "7"), b"\xff{n}\n: >/c/end");
    }
}
