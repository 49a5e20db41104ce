//! A command of the record, whole, and what a policy thinks of it.
//!
//! In: a record. Out: [`Past`], a decision. Never: takes a part of a text for the text.

use std::collections::HashMap;

use crate::cli::context::{Asked, context};
use crate::decision::Decision;
use crate::digest::Digest;
use crate::invocation::startup;
use crate::log::record::Record;
use crate::text::raw;
use crate::verify::Judge;
use crate::world::Machine;

/// A command of the record, whole.
#[derive(Clone, Debug)]
pub struct Past {
    pub sha256: String,
    pub time: String,
    pub text: String,
    pub cwd: String,
    pub uid: u32,
}

impl Past {
    /// `None` where the record has only a part of the text, or part of it masked.
    pub fn of(record: &Record<'_>) -> Option<Self> {
        let text =
            unescape(&record.text).filter(|text| Digest::of(&raw(text)).to_string() == record.sha256)?;
        Some(Self {
            sha256: record.sha256.to_string(),
            time: record.time.to_string(),
            text,
            cwd: unescape(&record.cwd)?,
            uid: u32::try_from(record.uid).unwrap_or(u32::MAX),
        })
    }
}

/// The inverse of [`crate::text::escape`]; `None` for what that never writes.
fn unescape(text: &str) -> Option<String> {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let kind = after.chars().next()?;
        let after = after.get(kind.len_utf8()..)?;
        rest = match kind {
            'n' | 't' | '\\' => {
                out.push(match kind {
                    'n' => '\n',
                    't' => '\t',
                    _ => '\\',
                });
                after
            }
            'x' => {
                let byte = u8::from_str_radix(after.get(..2)?, 16).ok()?;
                out.push_str(&crate::text::judged(&[byte]));
                after.get(2..)?
            }
            'u' => {
                let (number, after) = after.strip_prefix('{')?.split_once('}')?;
                out.push(char::from_u32(u32::from_str_radix(number, 16).ok()?)?);
                after
            }
            _ => return None,
        };
    }
    out.push_str(rest);
    Some(out)
}

/// Judges a command of the record where it stood. Its environment is not in the record.
pub fn verify(judge: &Judge, past: &Past) -> Decision {
    let (user, home) = startup::user(past.uid);
    let environment =
        [("HOME", &*home), ("PWD", &past.cwd), ("USER", &user), ("PATH", "/usr/local/bin:/usr/bin:/bin")];
    let environment = environment.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    let asked = Asked {
        cwd: Some(past.cwd.clone()),
        home: Some(home.clone()),
        environment: Some(environment),
        ..Asked::default()
    };
    judge.verify(&past.text, &context(asked, &HashMap::new()), &Machine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::escape;

    #[test]
    fn texts_of_the_record_come_back_to_the_byte() {
        for bytes in
            [&b"plain \\ text\n\t"[..], b"\xff\xfe", "\u{202e}é\u{1b}".as_bytes(), b"\x7f\x01\\x41\\u{41}"]
        {
            let text = crate::text::judged(bytes);
            assert_eq!(unescape(&escape(&text)).map(|t| raw(&t).into_owned()), Some(bytes.to_vec()));
        }
        for broken in ["\\", "\\z", "\\x4", "\\u41", "a\\..."] {
            assert_eq!(unescape(broken), None, "{broken}");
        }
    }
}
