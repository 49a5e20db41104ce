//! Clients that are running already: one that was started without agent-sh keeps the shells that it found then.
//!
//! In: an agent, `/proc`. Out: lines of a [`Chart`]. Never: ends a process.

use std::path::Path;

use super::Chart;
use crate::setup::agents::{Agent, Reach};

pub(super) fn look(agent: &Agent, chart: &mut Chart) {
    let Ok(entries) = std::fs::read_dir("/proc") else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let folder = entry.path();
        let Some(words) = words(&folder.join("cmdline")) else { continue };
        if !is_client(agent, &words) || pid == std::process::id() {
            continue;
        }
        // another user's can't be looked at
        let (Some(environment), Ok(mounts)) =
            (self::words(&folder.join("environ")), std::fs::read_to_string(folder.join("mountinfo")))
        else {
            continue;
        };
        if reached(agent, &environment, &mounts) {
            chart.good("running", format!("process {pid} was started with agent-sh"));
        } else {
            let advice = format!("end it (kill {pid}) and start {} again", agent.name);
            chart.bad(
                "running",
                format!("process {pid} was started without agent-sh in the place of its shells"),
                advice,
            );
        }
    }
}

fn words(file: &Path) -> Option<Vec<String>> {
    let bytes = std::fs::read(file).ok()?;
    let words = bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    Some(words.map(|word| String::from_utf8_lossy(word).into_owned()).collect())
}

/// The program itself, a script of that name behind its interpreter, or a helper that the client leaves running.
fn is_client(agent: &Agent, words: &[String]) -> bool {
    let base = |word: &String| {
        Path::new(word).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let names: Vec<String> = words.iter().take(2).map(base).collect();
    let own = names.iter().any(|name| agent.programs.contains(&name.as_str()));
    // `agent-shctl run -- CLIENT` itself becomes the client
    let ours = names.first().is_some_and(|name| name == "agent-shctl" || name == "agent-sh");
    let daemon =
        words.iter().any(|word| agent.programs.iter().any(|name| word.contains(&format!("{name}-hub"))));
    !ours && (own || daemon)
}

fn reached(agent: &Agent, environment: &[String], mounts: &str) -> bool {
    let shims = |word: &String| word.starts_with("PATH=") && word.contains("/agent-sh/shim");
    match agent.reach {
        Reach::Places(_) => mounts.lines().any(|line| line.contains(" tmpfs agent-sh ")),
        Reach::Path => environment.iter().any(shims),
        Reach::Hook => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::agents::named;

    fn is(agent: &str, line: &str) -> bool {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        is_client(named(agent).unwrap(), &words)
    }

    #[test]
    fn clients_are_told_by_their_program_or_script() {
        assert!(is("claude-code", "/usr/local/bin/claude -p x"));
        assert!(is("gemini", "node /usr/lib/node_modules/.bin/gemini --yolo"));
        assert!(is("cline", "node /opt/x/server.js cline-hub-daemon"));
        assert!(!is("cline", "vi cline.md"));
        assert!(!is("claude-code", "agent-shctl doctor claude"));
        assert!(!is("gemini", "tail -f gemini"));
    }

    #[test]
    fn a_client_with_built_in_paths_needs_the_namespace() {
        let agent = named("cline").unwrap();
        let path = vec!["PATH=/usr/lib/agent-sh/shim:/bin".to_owned()];
        assert!(!reached(agent, &path, "24 1 0:1 / / rw - ext4 /dev/x rw"));
        assert!(reached(agent, &[], "24 1 0:1 / /usr/lib/agent-sh ro - tmpfs agent-sh ro"));
        assert!(reached(named("qwen").unwrap(), &path, ""));
    }
}
