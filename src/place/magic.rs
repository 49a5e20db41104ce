//! Links of procfs that lead where their text does not say (proc(5)).
//!
//! In: an absolute path. Out: [`Magic`]. Never: looks at processes.

/// What procfs's magic links under a process are (proc(5)); they lead where their text does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Magic {
    None,
    /// `/proc` and its processes: read by name, since our own number is not the command's
    Process,
    Root,
    /// the caller's directory
    Directory,
}

/// Which magic link a path is.
pub(super) fn magic(path: &str) -> Magic {
    if path == "/proc" {
        return Magic::Process;
    }
    let Some(rest) = path.strip_prefix("/proc/") else { return Magic::None };
    let mut parts = rest.split('/');
    let process = parts.next().unwrap_or("");
    let own = process == "self" || process == "thread-self";
    if !own && !process.bytes().all(|b| b.is_ascii_digit()) {
        return Magic::None;
    }
    let last = match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (None, _, _, _) => return Magic::Process,
        (Some(name), None, _, _) | (Some("task"), Some(_), Some(name), None) => name,
        _ => return Magic::None,
    };
    match last {
        "root" => Magic::Root,
        "cwd" if own => Magic::Directory,
        _ => Magic::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_below_processes_are_known_by_name() {
        let cases = [
            ("/proc", Magic::Process),
            ("/proc/self", Magic::Process),
            ("/proc/12", Magic::Process),
            ("/proc/self/root", Magic::Root),
            ("/proc/1/task/2/root", Magic::Root),
            ("/proc/thread-self/cwd", Magic::Directory),
            ("/proc/7/cwd", Magic::None),
            ("/proc/cpuinfo", Magic::None),
            ("/process", Magic::None),
        ];
        for (path, expected) in cases {
            assert_eq!(magic(path), expected, "{path}");
        }
    }
}
