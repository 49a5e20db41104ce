//! Points in time as the record writes them, and as people ask for them.
//!
//! In: RFC 3339 times, ages ("30m"), dates. Out: UTC with microseconds, so that texts compare as times do.
//! Never: guesses a time zone; what has none is UTC.

use time::format_description::BorrowedFormatItem;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, Duration, OffsetDateTime, UtcOffset};

const STAMP: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]Z");
const DAY: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");

/// A time in the record's own form; none where it is no RFC 3339 time.
pub fn normal(text: &str) -> Option<String> {
    if is_normal(text) {
        return Some(text.to_owned());
    }
    stamp(OffsetDateTime::parse(text, &Rfc3339).ok()?)
}

/// `2026-11-30T13:20:00.000000Z`.
fn is_normal(text: &str) -> bool {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00.000000Z";
    text.len() == SHAPE.len()
        && text.bytes().zip(SHAPE).all(|(b, s)| if *s == b'0' { b.is_ascii_digit() } else { b == *s })
}

fn stamp(time: OffsetDateTime) -> Option<String> {
    time.to_offset(UtcOffset::UTC).format(STAMP).ok()
}

/// What a person asks for: an age (`90s`, `30m`, `2h`, `7d`), a day, an RFC 3339 time.
pub fn asked(text: &str, now: OffsetDateTime) -> Option<String> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "s" => Some(1),
        "m" => Some(60),
        "h" => Some(3600),
        "d" => Some(86_400),
        _ => None,
    };
    if let (Some(seconds), Ok(number)) = (seconds, number.parse::<u32>()) {
        return stamp(now.checked_sub(Duration::seconds(i64::from(number) * seconds))?);
    }
    if let Ok(day) = Date::parse(text, DAY) {
        return stamp(day.midnight().assume_utc());
    }
    normal(text)
}

/// Now, in the record's form.
pub fn now() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}

/// Seconds since 1970; 0 where the text is no time.
pub fn seconds(text: &str) -> i64 {
    OffsetDateTime::parse(text, &Rfc3339).map_or(0, OffsetDateTime::unix_timestamp)
}

/// The record's form of a number of microseconds since 1970, as journald counts.
pub fn from_micros(micros: i128) -> Option<String> {
    stamp(OffsetDateTime::from_unix_timestamp_nanos(micros.checked_mul(1000)?).ok()?)
}

/// The record's form of seconds since 1970.
pub fn from_seconds(seconds: i64) -> Option<String> {
    stamp(OffsetDateTime::from_unix_timestamp(seconds).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_ask_for_becomes_a_time() {
        let now = OffsetDateTime::from_unix_timestamp(1_796_040_000).unwrap();
        let cases = [
            ("90s", Some("2026-11-30T11:58:30.000000Z")),
            ("30m", Some("2026-11-30T11:30:00.000000Z")),
            ("7d", Some("2026-11-23T12:00:00.000000Z")),
            ("2026-11-29", Some("2026-11-29T00:00:00.000000Z")),
            ("2026-11-29T10:00:00+02:00", Some("2026-11-29T08:00:00.000000Z")),
            ("yesterday", None),
            ("", None),
            ("-5m", None),
            ("é", None),
        ];
        for (text, expected) in cases {
            assert_eq!(asked(text, now).as_deref(), expected, "{text}");
        }
    }
}
