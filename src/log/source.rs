//! Where records lie: a file (ours or rsyslog's), its rotated elder brothers, or journald.
//!
//! In: what was asked for, what the machine has. Out: lines, oldest first; with following, those that come.
//! Never: writes.

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Where records are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// JSON lines or rsyslog's file; `-` is standard input.
    File(PathBuf),
    Journal,
}

/// The file that the packaged rsyslog snippet writes.
pub const PACKAGED: &str = "/var/log/agent-sh/agent-sh.log";

/// No record can be read.
#[derive(Debug)]
pub enum SourceError {
    /// Neither a file nor journald.
    Nowhere,
    Unreadable(PathBuf, std::io::Error),
    Journal(std::io::Error),
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nowhere => write!(
                f,
                "found no records: the policy names no audit file, there is no {PACKAGED}, and journalctl is \
                 not here; name a file with --file, or set `file` in the policy's [audit] section"
            ),
            Self::Unreadable(path, error) => {
                write!(f, "cannot read {}: {error}", crate::text::escape(&path.to_string_lossy()))
            }
            Self::Journal(error) => write!(f, "cannot run journalctl: {error}"),
        }
    }
}

impl std::error::Error for SourceError {}

/// Whether to wait for what comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    Once,
    Follow,
}

impl Source {
    /// What was asked for, else the policy's file, the packaged one, journald.
    ///
    /// # Errors
    /// There is none of them.
    pub fn find(asked: Option<&str>, policy: &str) -> Result<Self, SourceError> {
        if let Some(path) = asked {
            return Ok(Self::File(PathBuf::from(path)));
        }
        let here = |path: &str| !path.is_empty() && Path::new(path).exists();
        if let Some(path) = [policy, PACKAGED].into_iter().find(|path| here(path)) {
            return Ok(Self::File(PathBuf::from(path)));
        }
        let journal = Path::new("/run/systemd/journal").is_dir() && here("/usr/bin/journalctl");
        if journal { Ok(Self::Journal) } else { Err(SourceError::Nowhere) }
    }

    /// Calls `each` with each line until it says to stop.
    ///
    /// # Errors
    /// Nothing can be read.
    pub fn lines(
        &self,
        patience: Patience,
        each: &mut dyn FnMut(&str) -> std::io::Result<()>,
    ) -> Result<std::io::Result<()>, SourceError> {
        match self {
            Self::File(path) if path.as_os_str() == "-" => {
                let result = feed(&mut std::io::stdin().lock(), each);
                result.map_err(|e| SourceError::Unreadable(path.clone(), e))
            }
            Self::File(path) => self::file(path, patience, each),
            Self::Journal => journal(patience, each),
        }
    }
}

/// Feeds whole lines; the inner error is the taker's.
fn feed(
    input: &mut dyn BufRead,
    each: &mut dyn FnMut(&str) -> std::io::Result<()>,
) -> std::io::Result<std::io::Result<()>> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            return Ok(Ok(()));
        }
        if let Err(error) = each(&String::from_utf8_lossy(&line)) {
            return Ok(Err(error));
        }
    }
}

fn file(
    path: &Path,
    patience: Patience,
    each: &mut dyn FnMut(&str) -> std::io::Result<()>,
) -> Result<std::io::Result<()>, SourceError> {
    let cannot = |error| SourceError::Unreadable(path.to_owned(), error);
    let mut reader = BufReader::with_capacity(1 << 16, File::open(path).map_err(cannot)?);
    let (mut number, mut place) = (reader.get_ref().metadata().map_err(cannot)?.ino(), 0);
    // a line without its end is being written: it is kept until the rest comes
    let mut line = Vec::new();
    loop {
        match reader.read_until(b'\n', &mut line).map_err(cannot)? {
            0 => match patience {
                Patience::Once => {
                    return Ok(if line.is_empty() { Ok(()) } else { each(&String::from_utf8_lossy(&line)) });
                }
                Patience::Follow => std::thread::sleep(Duration::from_millis(200)),
            },
            count => place += count as u64,
        }
        if line.ends_with(b"\n") {
            if let Err(error) = each(&String::from_utf8_lossy(&line)) {
                return Ok(Err(error));
            }
            line.clear();
        } else if patience == Patience::Follow {
            match std::fs::metadata(path) {
                // rotated: the new file from its start
                Ok(now) if now.ino() != number => {
                    reader = BufReader::with_capacity(1 << 16, File::open(path).map_err(cannot)?);
                    (number, place) = (now.ino(), 0);
                    line.clear();
                }
                Ok(now) if now.size() < place => {
                    reader.seek(SeekFrom::Start(0)).map_err(cannot)?;
                    place = 0;
                    line.clear();
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(cannot(error)),
            }
        }
    }
}

/// Ends the child with its reader.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn journal(
    patience: Patience,
    each: &mut dyn FnMut(&str) -> std::io::Result<()>,
) -> Result<std::io::Result<()>, SourceError> {
    let mut command = Command::new("/usr/bin/journalctl");
    command.args(["--output=json", "--all", "--no-pager", "--identifier=agent-sh"]);
    if patience == Patience::Follow {
        command.args(["--follow", "--lines=all"]);
    }
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(SourceError::Journal)?;
    let mut child = Ended(child);
    let Some(output) = child.0.stdout.take() else { return Ok(Ok(())) };
    feed(&mut BufReader::new(output), each).map_err(SourceError::Journal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_followed_file_goes_on_after_rotation() {
        use std::io::Write as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, "one\ntw").unwrap();
        let source = Source::File(path.clone());
        let writer = std::thread::spawn(move || {
            let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
            std::thread::sleep(Duration::from_millis(300));
            file.write_all(b"o\n").unwrap();
            std::thread::sleep(Duration::from_millis(600));
            std::fs::rename(&path, path.with_extension("1")).unwrap();
            std::fs::write(&path, "three\n").unwrap();
        });
        let mut seen = Vec::new();
        let end = source.lines(Patience::Follow, &mut |line| {
            seen.push(line.to_owned());
            if seen.len() == 3 { Err(ErrorKind::BrokenPipe.into()) } else { Ok(()) }
        });
        assert!(end.unwrap().is_err());
        assert_eq!(seen, ["one\n", "two\n", "three\n"]);
        writer.join().unwrap();
    }

    #[test]
    fn a_missing_file_is_named() {
        let source = Source::find(Some("/nonexistent/log"), "").unwrap();
        let error = source.lines(Patience::Once, &mut |_| Ok(())).unwrap_err();
        assert_eq!(error.to_string(), "cannot read /nonexistent/log: No such file or directory (os error 2)");
    }
}
