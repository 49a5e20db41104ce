//! JSON lines: the event as one line of JSON.
//!
//! In: an event and the time. Out: one line with its newline.
//! Never: opens or writes a file.

use std::time::{Duration, SystemTime};

use serde_json::{Map, Value as Json};

use super::event::{Event, Value};
use crate::policy::day::Day;

/// Encodes an event as one line.
pub(super) fn encode(event: &Event, now: SystemTime) -> Vec<u8> {
    let mut object = Map::new();
    object.insert("time".to_owned(), Json::String(rfc3339(now)));
    for (name, value) in event.fields() {
        let value = match value {
            Value::Text(text) => Json::String(text.clone()),
            Value::Number(number) => Json::from(*number),
        };
        object.insert((*name).to_owned(), value);
    }
    object.insert("text".to_owned(), Json::String(event.text(event.limit)));
    let mut out = Json::Object(object).to_string().into_bytes();
    out.push(b'\n');
    out
}

/// UTC with microseconds (RFC 3339 5.6); times before 1970 count as 1970.
fn rfc3339(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let Day(year, month, day) = Day::after(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let micros = since.subsec_micros();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc() {
        let cases = [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_400, "2000-02-29T00:00:00.000000Z"),
            (1_764_499_199, "2025-11-30T10:39:59.000000Z"),
            (4_107_542_399, "2100-02-28T23:59:59.000000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000000Z"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(rfc3339(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
    }
}
