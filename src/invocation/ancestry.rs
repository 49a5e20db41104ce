//! The processes above this one, by name: which client it is that calls.
//!
//! In: `/proc`. Out: names, nearest first. Never: fails: what can't be read ends the list.

/// How far up it is looked: client, its runtime, a supervisor, and some shells between.
const LEVELS: usize = 8;

/// Bytes of a command line that are looked at.
const HEAD: usize = 1024;

/// Programs that run another: that one's name says more.
const INTERPRETERS: &[&[u8]] = &[b"node", b"bun", b"deno", b"ruby", b"perl", b"env", b"uv", b"uvx"];

/// The names of the processes above, an interpreter's script after the interpreter. Names are untrusted.
pub fn names() -> Vec<String> {
    let mut names = Vec::new();
    let mut process = nix::unistd::getppid().as_raw();
    for _ in 0..LEVELS {
        if process <= 1 {
            break;
        }
        let line = read(&format!("/proc/{process}/cmdline"));
        names.extend(programs(&line).into_iter().map(|name| crate::text::judged(name).into_owned()));
        let Some(parent) = parent(&read(&format!("/proc/{process}/stat"))) else { break };
        process = parent;
    }
    names
}

/// The kernel gives all that is asked for at once: one call, not one for each doubling of a buffer.
fn read(path: &str) -> Vec<u8> {
    use std::io::Read as _;
    let mut room = [0; HEAD];
    let count = std::fs::File::open(path).and_then(|mut file| file.read(&mut room)).unwrap_or(0);
    room.get(..count).unwrap_or_default().to_vec()
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

/// The fourth field of `/proc/PID/stat` (proc(5)); the second, a name in parentheses, may hold anything.
fn parent(stat: &[u8]) -> Option<i32> {
    let behind = stat.rsplitn(2, |byte| *byte == b')').next()?;
    std::str::from_utf8(behind).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
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

    #[test]
    fn a_name_with_parentheses_does_not_hide_the_parent() {
        assert_eq!(parent(b"42 (a) S 7 (b) S 41 42 42"), Some(41));
        assert_eq!(parent(b"42 (a b) S 41 42"), Some(41));
        assert_eq!(parent(b""), None);
    }
}
