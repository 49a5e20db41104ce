//! RFC 5424: the event as one line with structured data. The only file that names the syslog crate,
//! which formats; its own sending blocks for ever on a full queue.
//!
//! In: an event. Out: one line of at most [`LINE_LIMIT`] bytes.
//! Never: cuts structured data; never sends.

use std::collections::BTreeMap;

use syslog::{Facility, Formatter5424, LogFormat as _, Severity};

use super::event::{Event, Outcome, Value};
use crate::text;
use crate::verdict::Verdict;

/// rsyslog's default for the longest message is 8 KiB; what is longer it cuts, wherever that falls.
pub(super) const LINE_LIMIT: usize = 8000;

/// SD-ID. 32473 is the enterprise number that RFC 5612 sets aside for such use.
const SD_ID: &str = "agent-sh@32473";

/// RFC 5424 6.2.7 wants a message type: a decision is 1.
const MESSAGE_TYPE: u32 = 1;

/// Encodes an event; if the line would be too long, the text is cut further.
pub(super) fn encode(event: &Event, facility: &str) -> Option<Vec<u8>> {
    let line = encode_with(event, facility, event.limit)?;
    let excess = line.len().saturating_sub(LINE_LIMIT);
    if excess == 0 {
        return Some(line);
    }
    // Each byte of escaped text that goes shortens the line by at least one byte.
    let shorter = event.text(event.limit).len().saturating_sub(excess + super::event::CUT.len() + 1);
    encode_with(event, facility, shorter)
}

fn encode_with(event: &Event, facility: &str, limit: usize) -> Option<Vec<u8>> {
    let formatter = Formatter5424 {
        facility: facility.parse::<Facility>().unwrap_or(Facility::LOG_AUTHPRIV),
        hostname: Some(hostname()),
        process: "agent-sh".to_owned(),
        pid: std::process::id(),
    };
    let mut parameters: BTreeMap<String, String> = event
        .fields()
        .iter()
        .map(|(name, value)| {
            let value = match value {
                Value::Text(text) => text.clone(),
                Value::Number(number) => number.to_string(),
            };
            ((*name).to_owned(), value)
        })
        .collect();
    parameters.insert("text".to_owned(), event.text(limit));
    let data = BTreeMap::from([(SD_ID.to_owned(), parameters)]);
    let mut out = Vec::with_capacity(1024);
    formatter.format(&mut out, severity(event), (MESSAGE_TYPE, data, headline(event))).ok()?;
    Some(out)
}

/// The line for people: verdict, what became of it, the text's beginning.
pub(super) fn headline(event: &Event) -> String {
    format!("{} {}: {}", event.verdict, event.outcome.name(), event.text(event.limit.min(160)))
}

fn severity(event: &Event) -> Severity {
    match (event.outcome, event.verdict) {
        (Outcome::Blocked, _) => Severity::LOG_WARNING,
        (Outcome::Observed | Outcome::Unmediated | Outcome::Asked, _)
        | (Outcome::Run | Outcome::Passed, Verdict::Warn | Verdict::Deny) => Severity::LOG_NOTICE,
        (Outcome::Run | Outcome::Passed, Verdict::Allow) => Severity::LOG_INFO,
    }
}

/// Severity as a number (RFC 5424 6.2.1).
pub(super) fn priority(event: &Event) -> u8 {
    severity(event) as u8
}

/// HOSTNAME is at most 255 bytes of printable ASCII without spaces; root may have set any bytes.
fn hostname() -> String {
    let name = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok()).unwrap_or_default();
    let sound = !name.is_empty() && name.bytes().all(|b| b.is_ascii_graphic());
    if sound { text::prefix(&name, 255).to_owned() } else { "-".to_owned() }
}
