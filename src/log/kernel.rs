//! What the kernel refused: Landlock's denials in the audit log (audit.log, kern.log), since Linux 6.15.
//!
//! In: lines of the audit log. Out: [`Refusal`]s with the process whose confinement it was.
//! Never: guesses a denial from an exit status.

use std::collections::HashMap;

/// One access that Landlock refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Seconds since 1970 with milliseconds, as the kernel writes them.
    pub time: String,
    /// What was refused: `fs.write_file`, `net.connect_tcp` …
    pub blockers: String,
    /// The path or port, where the kernel names one.
    pub object: String,
    /// The process that confined itself: the command's own pid. None where its line is gone.
    pub pid: Option<u64>,
    /// The program at that time.
    pub comm: String,
}

/// Reads the audit log's lines in order.
#[derive(Debug, Default)]
pub struct Reader {
    /// Denials in the order in which they came, with their domains.
    denied: Vec<(String, Refusal)>,
    /// Each domain's process and program.
    domains: HashMap<String, (Option<u64>, String)>,
}

/// Files that the kernel's audit records end up in.
pub const FILES: [&str; 2] = ["/var/log/audit/audit.log", "/var/log/kern.log"];

impl Reader {
    pub fn line(&mut self, line: &str) {
        let is = |name: &str, number: &str| line.contains(name) || line.contains(number);
        let (Some(domain), Some(time)) = (field(line, "domain="), time(line)) else { return };
        if is("type=LANDLOCK_ACCESS", "type=1423 ") {
            let object = ["path=", "dest=", "src=", "ino=", "opid="]
                .iter()
                .find_map(|name| field(line, name).map(|value| format!("{name}{value}")));
            let refusal = Refusal {
                time: time.to_owned(),
                blockers: field(line, "blockers=").unwrap_or_default(),
                object: object.unwrap_or_default(),
                pid: None,
                comm: String::new(),
            };
            if !is_probe(&refusal) {
                self.denied.push((domain, refusal));
            }
        } else if is("type=LANDLOCK_DOMAIN", "type=1424 ") && line.contains("status=allocated") {
            let pid = field(line, "pid=").and_then(|pid| pid.parse().ok());
            self.domains.insert(domain, (pid, field(line, "comm=").unwrap_or_default()));
        }
    }

    /// All denials, oldest first.
    pub fn end(self) -> Vec<Refusal> {
        let domains = self.domains;
        let named = |(domain, refusal): (String, Refusal)| match domains.get(&domain) {
            Some((pid, comm)) => Refusal { pid: *pid, comm: comm.clone(), ..refusal },
            None => refusal,
        };
        self.denied.into_iter().map(named).collect()
    }
}

/// What a nested shell opens to see whether it is confined already (`confine/probe.rs`): once for each.
fn is_probe(refusal: &Refusal) -> bool {
    let of_process = |path: &str| {
        let number = path.strip_prefix("path=/proc/").and_then(|rest| rest.strip_suffix("/comm"));
        number.is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()))
    };
    refusal.blockers == "fs.write_file"
        && (refusal.object == "path=/dev/random" || of_process(&refusal.object))
}

/// `audit(1796040000.123:45)`
fn time(line: &str) -> Option<&str> {
    line.split_once("audit(")?.1.split_once(':').map(|(time, _)| time)
}

/// A field's value: a word, or in quotes; the kernel writes what would need escaping in hexadecimal.
fn field(line: &str, name: &str) -> Option<String> {
    let at = line.match_indices(name).map(|(at, _)| at).find(|at| {
        at.checked_sub(1).and_then(|before| line.as_bytes().get(before)).is_none_or(|b| *b == b' ')
    })?;
    let rest = line.get(at.checked_add(name.len())?..)?;
    let value = if let Some(rest) = rest.strip_prefix('"') {
        rest.split('"').next()?.to_owned()
    } else {
        let word = rest.split([' ', '\n']).next()?;
        decoded(name, word).unwrap_or_else(|| word.to_owned())
    };
    Some(crate::text::escape(&value))
}

fn decoded(name: &str, word: &str) -> Option<String> {
    let untrusted = matches!(name, "path=" | "comm=");
    let bytes = data_encoding::HEXUPPER.decode(word.as_bytes()).ok().filter(|_| untrusted)?;
    Some(crate::text::judged(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denial_is_joined_with_the_process_that_confined_itself() {
        let mut reader = Reader::default();
        // the forms of the kernel's Documentation/admin-guide/LSM/landlock.rst
        for line in [
            "type=LANDLOCK_ACCESS msg=audit(1796040000.100:30): domain=1a6fdc66f blockers=fs.write_file path=\"/etc/x\" dev=\"vda2\" ino=351",
            "[ 1.2] audit: type=1424 audit(1796040000.100:30): domain=1a6fdc66f status=allocated mode=enforcing pid=300 uid=0 exe=\"/bin/agent-sh\" comm=\"agent-sh\"",
            "type=LANDLOCK_ACCESS msg=audit(1796040000.200:31): domain=77 blockers=net.connect_tcp daddr=127.0.0.1 dest=80",
            "type=LANDLOCK_ACCESS msg=audit(1796040000.300:32): domain=1a6fdc66f blockers=fs.read_file path=2F612062",
            "type=LANDLOCK_ACCESS msg=audit(1796040000.300:33): domain=1a6fdc66f blockers=fs.write_file path=\"/dev/random\" dev=\"devtmpfs\" ino=9",
            "type=LANDLOCK_ACCESS msg=audit(1796040000.300:34): domain=1a6fdc66f blockers=fs.write_file path=\"/proc/71/comm\" dev=\"proc\" ino=9",
            "type=SYSCALL msg=audit(1796040000.300:32): arch=c000003e",
        ] {
            reader.line(line);
        }
        let known = |time: &str, blockers: &str, object: &str| Refusal {
            time: time.to_owned(),
            blockers: blockers.to_owned(),
            object: object.to_owned(),
            pid: Some(300),
            comm: "agent-sh".to_owned(),
        };
        let net = Refusal {
            pid: None,
            comm: String::new(),
            ..known("1796040000.200", "net.connect_tcp", "dest=80")
        };
        assert_eq!(
            reader.end(),
            [
                known("1796040000.100", "fs.write_file", "path=/etc/x"),
                net,
                known("1796040000.300", "fs.read_file", "path=/a b")
            ]
        );
    }
}
