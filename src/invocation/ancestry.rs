//! The processes above this one, by name: which client it is that calls.
//!
//! In: a lineage, `/proc`. Out: names, nearest first. Never: fails: what can't be read ends the list.

use super::process::{self, Lineage};

/// How far up it is looked: client, its runtime, a supervisor, and some shells between.
const LEVELS: usize = 8;

/// Programs that run another: that one's name says more.
const INTERPRETERS: &[&[u8]] = &[b"node", b"bun", b"deno", b"ruby", b"perl", b"env", b"uv", b"uvx"];

/// Programs that are no client and not an interpreter of one: a script that the kernel started bears its own name
/// (execve(2)), so that a process of this name has nothing more to say, and its arguments need not be read.
const SHELLS: &[&str] = &["bash", "sh", "dash", "zsh", "ash", "ksh", "mksh", "fish"];

/// The names of the processes above, an interpreter's script after the interpreter. Names are untrusted.
/// Each process is looked at when its name is asked for.
pub fn names(lineage: &Lineage) -> impl Iterator<Item = String> {
    lineage.processes().take_while(|(pid, _)| *pid > 1).take(LEVELS).flat_map(|(pid, stat)| {
        if SHELLS.contains(&&*stat.name) {
            return vec![stat.name];
        }
        let line = process::head(&format!("/proc/{pid}/cmdline"));
        programs(&line).into_iter().map(|name| crate::text::judged(name).into_owned()).collect::<Vec<_>>()
    })
}

/// The program of a command line, and the script where it is an interpreter; names without folders and
/// endings.
fn programs(line: &[u8]) -> Vec<&[u8]> {
    let mut words = line.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    let Some(first) = words.next().map(name) else { return Vec::new() };
    let mut out = vec![first];
    if INTERPRETERS.contains(&first) || first.starts_with(b"python") {
        out.extend(words.find(|word| !word.starts_with(b"-")).map(name));
    }
    out
}

fn name(word: &[u8]) -> &[u8] {
    let base = super::shell::program(word);
    let end = [&b".js"[..], b".mjs", b".py", b":"].into_iter().find_map(|end| base.strip_suffix(end));
    end.unwrap_or(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_counts_besides_its_interpreter() {
        for (line, expected) in [
            (&b"/usr/bin/python3.11\0-u\0/opt/bin/aider\0--yes\0"[..], vec!["python3.11", "aider"]),
            (b"node\0/opt/gemini/dist/gemini.js\0", vec!["node", "gemini"]),
            (b"claude\0", vec!["claude"]),
            (b"-bash\0", vec!["bash"]),
            (b"sshd: user@pts/0\0", vec!["0"]),
            (b"", vec![]),
        ] {
            let got: Vec<_> =
                programs(line).into_iter().map(|n| String::from_utf8_lossy(n).into_owned()).collect();
            assert_eq!(got, expected);
        }
    }
}
