//! One recorded event in each of the forms that keep it, as a line of JSON.
//!
//! In: a line of our own file, of rsyslog's file (RFC 5424) or of `journalctl -o json`. Out: a line of JSON
//! in our own file's shape, or none: not ours. Never: trusts a line to be whole.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::when;

/// The SD-ID of our events (see `audit::syslog`).
const ELEMENT: &str = "[agent-sh@32473 ";
/// Fields that are numbers in our own file.
const NUMBERS: [&str; 7] = ["uid", "gid", "pid", "ppid", "length", "micros", "seq"];

/// A line of any of the three forms.
pub fn own(line: &str) -> Option<Cow<'_, str>> {
    let line = line.trim_end_matches('\n');
    if line.starts_with('{') {
        if line.contains("\"__REALTIME_TIMESTAMP\"") {
            return journal(line).map(Cow::Owned);
        }
        return line.contains("\"verdict\":").then_some(Cow::Borrowed(line));
    }
    syslog(line).map(Cow::Owned)
}

fn put(object: &mut Map<String, Value>, name: &str, value: String) {
    let number = NUMBERS.contains(&name).then(|| value.parse::<u64>().ok()).flatten();
    object.insert(name.to_owned(), number.map_or(Value::String(value), Value::from));
}

/// `[<PRI>]1 TIME HOST agent-sh PID MSGID [agent-sh@32473 name="value" …] message`
fn syslog(line: &str) -> Option<String> {
    let at = line.find(ELEMENT)?;
    let (head, rest) = line.split_at_checked(at)?;
    let mut words = head.split(' ');
    let first = words.next()?;
    // with a priority the version follows, without one rsyslog's file starts with the time
    let time = if first.ends_with(">1") { words.next()? } else { first };
    let mut object = Map::new();
    object.insert("time".to_owned(), Value::String(when::normal(time)?));
    object.insert("host".to_owned(), Value::String(words.next()?.to_owned()));
    let mut rest = rest.strip_prefix(ELEMENT)?;
    loop {
        let (name, after) = rest.split_once("=\"")?;
        let (value, after) = quoted(after)?;
        put(&mut object, name, value);
        match after.strip_prefix(' ') {
            Some(next) => rest = next,
            None => return after.starts_with(']').then(|| Value::Object(object).to_string()),
        }
    }
}

/// RFC 5424 6.3.3: `"`, `\` and `]` are escaped with a backslash. Gives the value and what follows its quote.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut rest = text;
    loop {
        let at = rest.find(['"', '\\'])?;
        let (before, after) = rest.split_at_checked(at)?;
        value.push_str(before);
        let (mark, after) = after.split_at_checked(1)?;
        if mark == "\"" {
            return Some((value, after));
        }
        let next = after.chars().next()?;
        if !matches!(next, '"' | '\\' | ']') {
            value.push('\\');
        }
        value.push(next);
        rest = after.strip_prefix(next)?;
    }
}

/// What `journalctl -o json` prints.
fn journal(line: &str) -> Option<String> {
    let entry: Map<String, Value> = serde_json::from_str(line).ok()?;
    let text = |name: &str| entry.get(name).and_then(Value::as_str);
    let mut object = Map::new();
    let micros = text("__REALTIME_TIMESTAMP")?.parse().ok()?;
    object.insert("time".to_owned(), Value::String(when::from_micros(micros)?));
    object.insert("host".to_owned(), Value::String(text("_HOSTNAME").unwrap_or("").to_owned()));
    for (name, value) in &entry {
        if let (Some(name), Some(value)) = (name.strip_prefix("AGENT_SH_"), value.as_str()) {
            put(&mut object, &name.to_ascii_lowercase(), value.to_owned());
        }
    }
    object.contains_key("verdict").then(|| Value::Object(object).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(line: &str) -> Map<String, Value> {
        serde_json::from_str(&own(line).unwrap()).unwrap()
    }

    #[test]
    fn a_syslog_line_gives_its_fields_back() {
        let line = "<84>1 2026-11-30T14:00:00.5+01:00 box agent-sh 7 1 [agent-sh@32473 cwd=\"/a\\]b\" \
                    text=\"echo \\\"x\\\" \\\\n\" uid=\"1000\" verdict=\"deny\"] DENY blocked: echo";
        for line in [line, line.strip_prefix("<84>1 ").unwrap()] {
            let fields = fields(line);
            assert_eq!(fields["time"], "2026-11-30T13:00:00.500000Z");
            assert_eq!(fields["host"], "box");
            assert_eq!(fields["cwd"], "/a]b");
            assert_eq!(fields["text"], "echo \"x\" \\n");
            assert_eq!(fields["uid"], 1000);
        }
    }

    #[test]
    fn a_journal_entry_gives_its_fields_back() {
        let line = "{\"__REALTIME_TIMESTAMP\":\"1796040000000001\",\"_HOSTNAME\":\"box\",\
                    \"AGENT_SH_VERDICT\":\"allow\",\"AGENT_SH_PID\":\"7\",\"MESSAGE\":\"x\"}";
        let fields = fields(line);
        assert_eq!(fields["time"], "2026-11-30T12:00:00.000001Z");
        assert_eq!(fields["pid"], 7);
        assert!(!fields.contains_key("message"));
    }

    #[test]
    fn what_is_not_ours_or_not_whole_is_no_event() {
        for line in [
            "",
            "Nov 30 13:00:00 box sshd[1]: hello",
            "<84>1 2026-11-30T14:00:00Z box agent-sh 7 1 [agent-sh@32473 verdict=\"de",
            "<84>1 never box agent-sh 7 1 [agent-sh@32473 verdict=\"deny\"] x",
            "{\"__REALTIME_TIMESTAMP\":\"1\"}",
            "{}",
        ] {
            assert_eq!(own(line), None, "{line}");
        }
    }
}
