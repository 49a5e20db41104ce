//! One change of one file, done to a text and undone from it.
//!
//! In: a [`What`] and a file's content. Out: the new content. Never: touches the disk.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::json;

/// A change of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Absolute.
    pub file: String,
    pub what: What,
}

/// What is changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// An item of an array in JSON settings.
    Item { path: Vec<String>, item: Value },
    /// A key in JSON settings, and the value that it had.
    Key { path: Vec<String>, value: Value, old: Option<Value> },
    /// Lines at the end of a text file.
    Lines(String),
    /// A file of our own.
    File { text: String, executable: bool },
    /// A symbolic link of our own.
    Link(String),
}

/// What became of a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Done {
    /// It holds the change already.
    Already,
    /// The new text, and the change with what it replaced.
    Text(String, What),
}

impl What {
    /// Does the change; `None` stands for a file that isn't there.
    ///
    /// # Errors
    /// The file holds something that this change can't go with.
    pub fn apply(&self, text: Option<&str>) -> Result<Done, String> {
        let now = text.unwrap_or("");
        Ok(match self {
            Self::Item { path, item } => match json::append(now, path, item)? {
                Some(new) => Done::Text(new, self.clone()),
                None => Done::Already,
            },
            Self::Key { path, value, .. } => match json::set(now, path, value)? {
                Some((new, old)) => {
                    Done::Text(new, Self::Key { path: path.clone(), value: value.clone(), old })
                }
                None => Done::Already,
            },
            Self::Lines(lines) if now.contains(lines.as_str()) => Done::Already,
            Self::Lines(lines) => {
                let end = if now.is_empty() || now.ends_with('\n') { "" } else { "\n" };
                Done::Text(format!("{now}{end}{lines}"), self.clone())
            }
            Self::File { text: own, .. } => match text {
                Some(text) if text == own => Done::Already,
                Some(_) => return Err("is there already and is not ours; move it away".to_owned()),
                None => Done::Text(own.clone(), self.clone()),
            },
            Self::Link(_) => return Err("is no text".to_owned()),
        })
    }

    /// Takes the change out of a text that was edited since; `None`: it isn't in it.
    pub fn undo(&self, text: &str) -> Option<String> {
        match self {
            Self::Item { path, item } => json::remove(text, path, item),
            Self::Key { path, value, old } => json::unset(text, path, value, old.as_ref()),
            Self::Lines(lines) => text.contains(lines.as_str()).then(|| text.replacen(lines.as_str(), "", 1)),
            Self::File { .. } | Self::Link(_) => None,
        }
    }

    /// For people.
    pub fn describe(&self) -> String {
        match self {
            Self::Item { path, item } => format!("add to {}: {item}", path.join(".")),
            Self::Key { path, value, .. } => format!("set {} = {value}", path.join(".")),
            Self::Lines(lines) => format!("add {} lines at the end", lines.lines().count()),
            Self::File { executable: true, .. } => "make this program".to_owned(),
            Self::File { .. } => "make this file".to_owned(),
            Self::Link(target) => format!("link to {target}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_added_once_and_taken_out_again() {
        let lines = What::Lines("# a\nb\n".to_owned());
        for (text, expected) in [(None, "# a\nb\n"), (Some("x\n"), "x\n# a\nb\n"), (Some("x"), "x\n# a\nb\n")]
        {
            assert_eq!(lines.apply(text), Ok(Done::Text(expected.to_owned(), lines.clone())));
        }
        assert_eq!(lines.apply(Some("# a\nb\ny")), Ok(Done::Already));
        assert_eq!(lines.undo("x\n# a\nb\ny\n").as_deref(), Some("x\ny\n"));
        assert_eq!(lines.undo("x\n"), None);
    }

    #[test]
    fn a_file_that_is_not_ours_is_not_replaced() {
        let file = What::File { text: "ours".to_owned(), executable: false };
        assert_eq!(file.apply(Some("ours")), Ok(Done::Already));
        assert!(file.apply(Some("theirs")).is_err());
    }
}
