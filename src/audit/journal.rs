//! journald's native form: `KEY=value` lines in one datagram (systemd's `JOURNAL_NATIVE_PROTOCOL`).
//!
//! In: an event. Out: the datagram.
//! Never: needs the protocol's binary form, since no field of an event holds a newline.

use std::fmt::Write as _;

use super::event::{Event, Value};
use super::syslog::{headline, priority};

/// Encodes an event for `/run/systemd/journal/socket`.
pub(super) fn encode(event: &Event) -> Vec<u8> {
    let mut out = format!("MESSAGE={}\nPRIORITY={}\n", headline(event), priority(event));
    out.push_str("SYSLOG_IDENTIFIER=agent-sh\n");
    for (name, value) in event.fields() {
        let value = match value {
            Value::Text(text) => text.clone(),
            Value::Number(number) => number.to_string(),
        };
        let _ = writeln!(out, "AGENT_SH_{}={value}", name.to_ascii_uppercase());
    }
    let _ = writeln!(out, "AGENT_SH_TEXT={}", event.text(event.limit));
    out.into_bytes()
}
