//! Properties of the record: any bytes give exactly one line, which reads back as the same fields.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

use proptest::prelude::*;

use super::event::Value;
use super::*;
use crate::decision::Decision;
use crate::verdict::Verdict;

/// An RFC 5424 line, read strictly: printable US-ASCII header, one structured element, the message.
fn parse(line: &str) -> Option<(Vec<&str>, BTreeMap<String, String>, &str)> {
    let rest = line.strip_prefix('<')?;
    let (priority, rest) = rest.split_once('>')?;
    priority.parse::<u8>().ok().filter(|p| *p <= 191)?;
    let mut rest = rest.strip_prefix("1 ")?;
    let mut header = vec![priority];
    for _ in 0..5 {
        let (field, after) = rest.split_once(' ')?;
        (!field.is_empty() && field.bytes().all(|b| b.is_ascii_graphic())).then_some(())?;
        header.push(field);
        rest = after;
    }
    rest = rest.strip_prefix("[agent-sh@32473")?;
    let mut parameters = BTreeMap::new();
    loop {
        if let Some(message) = rest.strip_prefix("] ") {
            return Some((header, parameters, message));
        }
        let (name, after) = rest.strip_prefix(' ')?.split_once("=\"")?;
        let (mut value, mut chars) = (String::new(), after.char_indices());
        let end = loop {
            match chars.next()? {
                (at, '"') => break at,
                (_, ']') => return None,
                (_, '\\') => match chars.next()?.1 {
                    c @ ('"' | '\\' | ']') => value.push(c),
                    c => value.extend(['\\', c]),
                },
                (_, c) => value.push(c),
            }
        };
        parameters.insert(name.to_owned(), value);
        rest = after.get(end + 1..)?;
    }
}

fn expected(event: &Event) -> BTreeMap<String, String> {
    let mut out: BTreeMap<String, String> = event
        .fields()
        .iter()
        .map(|(name, value)| match value {
            Value::Text(text) => ((*name).to_owned(), text.clone()),
            Value::Number(number) => ((*name).to_owned(), number.to_string()),
        })
        .collect();
    out.insert("text".to_owned(), event.text(event.limit));
    out
}

/// No byte that a terminal, a log or a reader of lines could take for more than text.
fn is_one_line(line: &str) -> bool {
    !line.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202e}' | '\u{feff}'))
}

fn event_of(text: &[u8], cwd: &[u8], parent: &[u8], note: &str) -> Event {
    let subject =
        Subject { uid: 0, gid: 0, pid: 7, ppid: 6, parent: crate::text::judged(parent).into_owned() };
    let cwd = crate::text::judged(cwd);
    let facts = Facts {
        outcome: Outcome::Run,
        subject: &subject,
        framework: Some(note),
        envelope: Some(note),
        cwd: &cwd,
        text,
        policy: note,
        micros: 1,
        confinement: note,
    };
    let decision = Decision { verdict: Verdict::Allow, notes: vec![note.to_owned()], ..Decision::default() };
    Event::new(&decision, &facts, 2048)
}

/// Bytes as an attacker would choose them: the signs of every encoding, line ends, odd Unicode.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        any::<Vec<u8>>(),
        proptest::sample::select(vec![
            "\n",
            "\r\n",
            "\"",
            "]",
            "\\",
            "\\n",
            "<13>",
            "<86>1 ",
            "\u{2028}",
            "\u{85}",
            "\u{202e}",
            "\0",
            "\x1b[2K",
            "[agent-sh@32473 verdict=\"allow\"]",
            "\nMESSAGE=",
            "{\"verdict\":",
            "\u{10ff8a}",
            "é",
        ])
        .prop_map(|s| s.as_bytes().to_vec()),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_give_one_line_that_reads_back(text in hostile(), cwd in hostile(), parent in hostile()) {
        let note = crate::text::judged(&parent).into_owned();
        let event = event_of(&text, &cwd, &parent, &note);
        let line = String::from_utf8(syslog::encode(&event, "user").unwrap()).unwrap();
        prop_assert!(is_one_line(&line) && line.len() <= syslog::LINE_LIMIT, "{line:?}");
        let (_, parameters, message) = parse(&line).unwrap();
        let mut expected = expected(&event);
        if parameters["text"] != expected["text"] {
            // Cut further to fit: the same beginning and the mark.
            let kept = parameters["text"].strip_suffix(event::CUT).unwrap();
            prop_assert!(expected["text"].starts_with(kept));
            expected.insert("text".to_owned(), parameters["text"].clone());
        }
        prop_assert_eq!(parameters, expected);
        prop_assert!(message.starts_with("ALLOW run: "));

        let line = String::from_utf8(json::encode(&event, SystemTime::UNIX_EPOCH)).unwrap();
        prop_assert!(line.ends_with('\n') && is_one_line(line.trim_end_matches('\n')), "{line:?}");
        let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&line).unwrap();
        prop_assert_eq!(object["cwd"].as_str().map(str::to_owned), super::tests::expected(&event).remove("cwd"));

        let entry = String::from_utf8(journal::encode(&event)).unwrap();
        for line in entry.lines() {
            let (name, _) = line.split_once('=').unwrap();
            prop_assert!(is_one_line(line) && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_'));
        }
        prop_assert_eq!(entry.lines().count(), 3 + event.fields().len() + 1);
    }

    #[test]
    fn masking_takes_any_text(text in hostile()) {
        let text = crate::text::judged(&text).into_owned();
        prop_assert!(mask::mask(&text).len() <= text.len() + 3 * text.len());
    }
}

fn policy() -> AuditPolicy {
    AuditPolicy { syslog: Vec::new(), journal: None, ..AuditPolicy::default() }
}

fn warrant() -> crate::decision::Warrant {
    Decision::default().warrant(Verdict::Allow).unwrap()
}

#[test]
fn a_demanded_record_that_fails_gives_no_leave_to_run() {
    let event = event_of(b"ls", b"/", b"sh", "");
    let missing = AuditPolicy {
        demand: Demand::Required,
        syslog: vec![PathBuf::from("/nonexistent/log")],
        file: Some(PathBuf::from("/nonexistent/audit.jsonl")),
        ..policy()
    };
    let error = record(warrant(), &event, &missing).unwrap_err();
    assert_eq!(
        error.receipt.failed,
        vec![(Channel::File, Trouble::Missing), (Channel::Syslog, Trouble::Missing)]
    );
    assert!(error.to_string().contains("file: does not exist; syslog: does not exist"));
    let relaxed = AuditPolicy { demand: Demand::BestEffort, ..missing };
    assert_eq!(record(warrant(), &event, &relaxed).unwrap().receipt().taken, vec![]);
}

#[test]
fn the_fallback_takes_what_no_channel_took() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state/audit.jsonl");
    let policy = AuditPolicy { fallback: Fallback::File(file.clone()), ..policy() };
    let event = event_of(b"ls", b"/", b"sh", "");
    let receipt = record_refusal(&event, &policy);
    assert_eq!(receipt.taken, vec![Channel::Fallback]);
    assert!(!receipt.is_recorded());
    assert_eq!(record_refusal(&event, &policy).taken, vec![Channel::Fallback]);
    assert_eq!(std::fs::read_to_string(file).unwrap().lines().count(), 2);
}

#[test]
fn a_pipe_in_the_file_s_place_holds_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("audit.jsonl");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let reader = std::fs::OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
    let policy = AuditPolicy { file: Some(pipe), ..policy() };
    let receipt = record_refusal(&event_of(b"ls", b"/", b"sh", ""), &policy);
    assert_eq!(receipt.failed, vec![(Channel::File, Trouble::Unfit)]);
    drop(reader);
}

#[test]
fn a_full_queue_holds_a_command_no_longer_than_the_policy_says() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("log");
    let receiver = std::os::unix::net::UnixDatagram::bind(&socket).unwrap();
    let policy = AuditPolicy { syslog: vec![socket], wait_ms: 40, ..policy() };
    let event = event_of(b"ls", b"/", b"sh", "");
    let mut last = Receipt::default();
    for _ in 0..2000 {
        let start = std::time::Instant::now();
        last = record_refusal(&event, &policy);
        assert!(start.elapsed() < std::time::Duration::from_millis(400));
        if !last.is_recorded() {
            break;
        }
    }
    assert_eq!(last.failed, vec![(Channel::Syslog, Trouble::Full)]);
    drop(receiver);
    assert_eq!(record_refusal(&event, &policy).failed, vec![(Channel::Syslog, Trouble::Deserted)]);
}
