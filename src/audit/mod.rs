//! The record: one event for each decision, written before anything runs.
//!
//! In: a warrant (or a refusal) and its event. Out: [`Logged`], or why there is no record.
//! Never: waits longer than the policy says; never lets a command run unrecorded where the policy
//! demands a record (INVARIANT(I3)).

use std::fmt;
use std::time::{Duration, Instant, SystemTime};

use crate::decision::Warrant;

pub mod chain;
mod channel;
pub mod event;
mod journal;
mod json;
mod mask;
pub mod settings;
mod syslog;

pub use channel::Trouble;
pub use event::{Event, Facts, Outcome, Subject};
pub use settings::{AuditPolicy, Demand, Fallback};

/// Where a record can go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    Syslog,
    Journal,
    File,
    /// The file or line of [`AuditPolicy::fallback`].
    Fallback,
}

impl Channel {
    pub fn name(self) -> &'static str {
        match self {
            Self::Syslog => "syslog",
            Self::Journal => "journal",
            Self::File => "file",
            Self::Fallback => "fallback",
        }
    }
}

/// What became of one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// The channels that took it.
    pub taken: Vec<Channel>,
    /// The channels that did not, and why.
    pub failed: Vec<(Channel, Trouble)>,
}

impl Receipt {
    /// Whether a channel that the policy names took the event; the fallback is none.
    pub fn is_recorded(&self) -> bool {
        self.taken.iter().any(|c| matches!(c, Channel::Syslog | Channel::Journal | Channel::File))
    }
}

/// A record that the policy demands could not be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditError {
    pub receipt: Receipt,
}

impl fmt::Display for AuditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the policy demands a record, and none could be written")?;
        for (channel, trouble) in &self.receipt.failed {
            write!(f, "; {}: {trouble}", channel.name())?;
        }
        f.write_str("; start the log service, or set another channel in the policy's audit section")
    }
}

impl std::error::Error for AuditError {}

/// A command that may run and is in the record. Made by [`record`] alone, consumed by confinement.
///
/// ```compile_fail,E0451
/// let receipt = agent_sh::audit::Receipt::default();
/// fn warrant() -> agent_sh::decision::Warrant { unreachable!() }
/// let forged = agent_sh::audit::Logged { receipt, _warrant: warrant() };
/// ```
#[derive(Debug)]
pub struct Logged {
    receipt: Receipt,
    /// Kept, so that it can't be spent twice.
    _warrant: Warrant,
}

impl Logged {
    pub fn receipt(&self) -> &Receipt {
        &self.receipt
    }
}

/// Records a command that may run. The warrant is spent, whatever comes of it.
///
/// # Errors
/// No channel took the event, and the policy demands a record: the command must not run.
pub fn record(warrant: Warrant, event: &Event, policy: &AuditPolicy) -> Result<Logged, AuditError> {
    let receipt = deliver(event, policy);
    match policy.demand {
        Demand::Required if !receipt.is_recorded() => Err(AuditError { receipt }),
        Demand::Required | Demand::BestEffort => Ok(Logged { receipt, _warrant: warrant }),
    }
}

/// Records a command that will not run.
pub fn record_refusal(event: &Event, policy: &AuditPolicy) -> Receipt {
    deliver(event, policy)
}

fn deliver(event: &Event, policy: &AuditPolicy) -> Receipt {
    let deadline = Instant::now() + Duration::from_millis(u64::from(policy.wait_ms));
    let mut receipt = Receipt::default();
    let mut note = |channel, result| match result {
        Ok(()) => receipt.taken.push(channel),
        Err(trouble) => receipt.failed.push((channel, trouble)),
    };
    let append = |path, folder| {
        let object = json::encode(event, SystemTime::now());
        chain::append(path, &object, folder, deadline)
    };
    // the file first: what the log service gets then names the line's place in the file's chain
    let mut linked = None;
    if let Some(file) = &policy.file {
        let result = append(file, channel::Folder::MustExist);
        note(Channel::File, result.map(|link| linked = Some(event.linked(&link))));
    }
    let event = linked.as_ref().unwrap_or(event);
    if let Some((channel, result)) = to_log_service(event, policy, deadline) {
        note(channel, result);
    }
    if !receipt.is_recorded() {
        let result = match &policy.fallback {
            Fallback::Nothing => return receipt,
            Fallback::File(path) => append(path, channel::Folder::Make).map(drop),
            Fallback::Stderr => {
                channel::complain(format!("agent-sh: not recorded: {}\n", syslog::headline(event)).as_bytes())
            }
        };
        match result {
            Ok(()) => receipt.taken.push(Channel::Fallback),
            Err(trouble) => receipt.failed.push((Channel::Fallback, trouble)),
        }
    }
    receipt
}

/// The first socket that takes the event: those of the policy in order, then journald's own, which speaks a
/// protocol of its own wherever it stands (its copy of `/dev/log` would take RFC 5424's header for text).
fn to_log_service(
    event: &Event,
    policy: &AuditPolicy,
    deadline: Instant,
) -> Option<(Channel, Result<(), Trouble>)> {
    let journal = policy.journal.as_ref();
    let left = journal.filter(|journal| !policy.syslog.contains(journal));
    let mut last = (!policy.syslog.is_empty()).then_some((Channel::Syslog, Err(Trouble::Missing)));
    for socket in policy.syslog.iter().chain(left) {
        if std::fs::symlink_metadata(socket).is_err() {
            continue;
        }
        let (channel, sent) = if journal == Some(socket) {
            (Channel::Journal, Ok(journal::encode(event)))
        } else {
            (Channel::Syslog, syslog::encode(event, &policy.facility).ok_or(Trouble::TooLong))
        };
        match sent.and_then(|line| channel::send(socket, &line, deadline)) {
            Ok(()) => return Some((channel, Ok(()))),
            Err(trouble) => last = Some((channel, Err(trouble))),
        }
    }
    last
}

#[cfg(test)]
mod tests;
