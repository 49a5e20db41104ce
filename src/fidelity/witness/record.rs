//! What a probe saw of one call.
//!
//! In: the files of probes. Out: [`Record`]s by time. Never: takes a record that is not whole.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// One call of a shell or program that was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub v: u8,
    /// Nanoseconds since 1970.
    pub t_ns: u64,
    pub pid: u32,
    pub uid: u32,
    pub argv_b64: Vec<String>,
    pub cwd: String,
    pub source: Source,
    /// The text that the shell would have run; absent where there is none or it was too long.
    pub text_b64: Option<String>,
    /// Standard input, where it was read.
    pub stdin_b64: Option<String>,
    /// Whether the end of standard input was seen.
    pub stdin_whole: bool,
    /// Parents, the nearest first.
    pub ancestors: Vec<Ancestor>,
}

/// Where the text of a call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The argument of `-c`.
    Argument,
    File,
    Stdin,
    /// No shell: the argument vector is all.
    Vector,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Argument => "-c",
            Self::File => "file",
            Self::Stdin => "stdin",
            Self::Vector => "argv",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ancestor {
    pub pid: u32,
    /// The kernel's name of it.
    pub comm: String,
    /// The beginning of its command line, escaped.
    pub head: String,
}

impl Record {
    fn bytes(field: &str) -> Option<Vec<u8>> {
        data_encoding::BASE64.decode(field.as_bytes()).ok()
    }

    pub fn argv(&self) -> Vec<Vec<u8>> {
        self.argv_b64.iter().filter_map(|w| Self::bytes(w)).collect()
    }

    /// The text, or for a program that is no shell its arguments ended by null bytes.
    pub fn text(&self) -> Option<Vec<u8>> {
        match (&self.text_b64, self.source) {
            (Some(text), _) => Self::bytes(text),
            (None, Source::Vector) => {
                Some(self.argv().iter().skip(1).flat_map(|w| [w.as_slice(), b"\0"].concat()).collect())
            }
            (None, Source::Argument | Source::File | Source::Stdin) => None,
        }
    }

    /// The program's name as it was called.
    pub fn name(&self) -> Vec<u8> {
        let first = self.argv().into_iter().next().unwrap_or_default();
        let name = first.rsplit(|b| *b == b'/').next().unwrap_or_default();
        name.strip_prefix(b"-").unwrap_or(name).to_vec()
    }

    /// Lays the record down, whole or not at all.
    pub fn write(&self, folder: &Path) -> std::io::Result<()> {
        let name = format!("{:020}-{}", self.t_ns, self.pid);
        let (draft, path) = (folder.join(format!("{name}.draft")), folder.join(format!("{name}.json")));
        let text = serde_json::to_vec(self)?;
        let mut file = std::fs::File::options().write(true).create_new(true).open(&draft)?;
        std::io::Write::write_all(&mut file, &text)?;
        std::fs::rename(draft, path)
    }
}

/// All records of a folder, by time. A draft that was never finished makes the whole uncertain: an error.
pub fn read_all(folder: &Path) -> std::io::Result<Vec<Record>> {
    let mut names: Vec<_> =
        std::fs::read_dir(folder)?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
    names.sort();
    names.iter().map(|path| Ok(serde_json::from_slice(&std::fs::read(path)?)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut record = Record {
            v: 1,
            t_ns: 5,
            pid: 7,
            uid: 0,
            argv_b64: vec!["LWJhc2g=".to_owned()],
            cwd: "/".to_owned(),
            source: Source::Argument,
            text_b64: Some("eA==".to_owned()),
            stdin_b64: None,
            stdin_whole: true,
            ancestors: vec![],
        };
        record.write(folder.path()).unwrap();
        record.t_ns = 4;
        record.write(folder.path()).unwrap();
        let read = read_all(folder.path()).unwrap();
        assert_eq!(read.iter().map(|r| r.t_ns).collect::<Vec<_>>(), [4, 5]);
        assert_eq!((read[0].text().unwrap(), read[0].name()), (b"x".to_vec(), b"bash".to_vec()));
        std::fs::write(folder.path().join("9.draft"), "{").unwrap();
        assert!(read_all(folder.path()).is_err());
    }
}
