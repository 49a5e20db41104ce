//! A record's name, which says all that pairing needs, and the folder in which it lies.
//!
//! In: entries, names. Out: the same again. Never: touches a file.

use std::borrow::Cow;

use crate::digest::Digest;
use crate::fidelity::process::{Process, Sighting};

/// Bytes of a text up to which its digest costs little; longer ones are told apart by their bytes.
pub const LONG: usize = 8 << 10;

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Pending,
    /// a text arrived for it
    Claimed {
        by: Sighting,
        /// digest of what arrived
        received: Digest,
    },
}

/// A record's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The framework's process; 0-0 where it is not known.
    pub host: Process,
    pub digest: Digest,
    /// Key of the call's name, see [`crate::fidelity::intent::call_key`].
    pub call: Option<String>,
    /// When it was recorded, in milliseconds since 1970.
    pub time: u64,
    /// Bytes of the text.
    pub length: usize,
    pub state: State,
}

/// Where a record that is to come lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shelf {
    /// of texts of at most [`LONG`] bytes: by their digest's first byte
    Short(Digest),
    Long,
}

/// Folder of the used records.
pub(super) const USED: &str = "used";

impl Shelf {
    fn digest(self) -> Option<Digest> {
        match self {
            Self::Short(digest) => Some(digest),
            Self::Long => None,
        }
    }

    pub(super) fn name(self) -> Cow<'static, str> {
        match self {
            Self::Short(digest) => format!("{:02x}", digest.first()).into(),
            Self::Long => "long".into(),
        }
    }
}

/// Which records are looked for. Names of many are looked at: this is less than to read each.
#[derive(Debug)]
pub(super) struct Wanted {
    /// Digits of the digests of what arrived.
    digests: Vec<[u8; 64]>,
    /// Numbers of processes, each as a sighting begins.
    pids: Vec<String>,
}

impl Wanted {
    pub(super) fn new(shelves: &[Shelf], pids: &[u32]) -> Self {
        let mut digests: Vec<Digest> = shelves.iter().filter_map(|shelf| shelf.digest()).collect();
        digests.dedup();
        Self {
            digests: digests.iter().map(Digest::hex).collect(),
            pids: pids.iter().map(|pid| format!("{pid}-")).collect(),
        }
    }

    fn is_digest(&self, digits: Option<&[u8]>) -> bool {
        digits.is_some_and(|digits| self.digests.iter().any(|digest| digest == digits))
    }

    /// Whether it is a record of one of the texts.
    pub(super) fn is_to_come(&self, name: &str) -> bool {
        self.is_digest(name.as_bytes().get(2..66))
    }

    /// Whether one of the texts was meant or arrived, or one of the processes used it.
    pub(super) fn is_used(&self, name: &str) -> bool {
        // from the end, where there is less to go over: the file's own number and process, what arrived, who used it
        let mut parts = name.as_bytes().rsplit(|byte| *byte == b'.').skip(2);
        let (received, by) = (parts.next(), parts.next());
        self.is_to_come(name)
            || self.is_digest(received)
            || by.is_some_and(|by| self.pids.iter().any(|pid| by.starts_with(pid.as_bytes())))
    }
}

impl Entry {
    /// `p.DIGEST.TIME.LENGTH.CALL` or `c.DIGEST.TIME.LENGTH.CALL.SIGHTING.DIGEST`. The store puts two parts behind it,
    /// a process and a number, that make it the file's own.
    pub(super) fn name(&self) -> String {
        let Self { digest, time, length, .. } = self;
        let call = self.call.as_deref().unwrap_or("-");
        match self.state {
            State::Pending => format!("p.{digest}.{time}.{length}.{call}"),
            State::Claimed { by, received } => format!("c.{digest}.{time}.{length}.{call}.{by}.{received}"),
        }
    }

    pub(super) fn shelf(&self) -> Shelf {
        if self.length > LONG { Shelf::Long } else { Shelf::Short(self.digest) }
    }

    pub(super) fn parse(host: Process, name: &str) -> Option<Self> {
        let mut parts = name.split('.');
        let kind = parts.next()?;
        let digest = Digest::parse(parts.next()?.as_bytes())?;
        let time = parts.next()?.parse().ok()?;
        let length = parts.next()?.parse().ok()?;
        let call = parts.next().map(|call| (call != "-").then(|| call.to_owned()))?;
        let state = match kind {
            "p" => State::Pending,
            "c" => State::Claimed {
                by: Sighting::parse(parts.next()?)?,
                received: Digest::parse(parts.next()?.as_bytes())?,
            },
            _ => return None,
        };
        Some(Self { host, digest, call, time, length, state })
    }
}
