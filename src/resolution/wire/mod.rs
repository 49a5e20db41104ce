//! What agent-sh and its adjudicator say to each other, and the adjudicator's own work.
//!
//! In: one request. Out: one reply: what each judge said, or why it said nothing that counts.
//! Never: turns doubt, delay, error, refusal or a second word into ALLOW.

pub mod chat;
mod exchange;
mod http;
mod prompt;

use std::sync::mpsc;
use std::time::{Duration, Instant};

pub use exchange::{Format, Judge, Opinion, REPLY, REQUEST, Reply, Request, Said, VERSION};
pub use http::port;

/// Asks all judges at once. Who has not answered by the deadline is counted as late; its thread ends with
/// the process.
pub fn consult(request: &Request, key: Option<&str>) -> Reply {
    let until = Instant::now() + Duration::from_millis(u64::from(request.deadline_ms));
    let late = |judge: &Judge| Opinion {
        model: judge.model.clone(),
        said: Said::Timeout,
        ms: u64::from(request.deadline_ms),
        tokens_in: 0,
        tokens_out: 0,
    };
    if request.version != VERSION {
        let opinions = request.judges.iter().map(|judge| Opinion { said: Said::Malformed, ..late(judge) });
        return Reply { opinions: opinions.collect() };
    }
    let (sender, receiver) = mpsc::channel();
    for (number, judge) in request.judges.iter().cloned().enumerate() {
        let (sender, request, key) = (sender.clone(), request.clone(), key.map(str::to_owned));
        std::thread::spawn(move || {
            let opinion = ask(&request, &judge, key.as_deref(), until);
            // the other end is gone once the deadline is over
            drop(sender.send((number, opinion)));
        });
    }
    drop(sender);
    let mut opinions: Vec<Opinion> = request.judges.iter().map(late).collect();
    while let Ok((number, opinion)) = receiver.recv_timeout(until.saturating_duration_since(Instant::now())) {
        if let Some(place) = opinions.get_mut(number) {
            *place = opinion;
        }
    }
    Reply { opinions }
}

/// Asks one judge. Where the server does not know a form, which it says before any answer, the next is tried.
fn ask(request: &Request, judge: &Judge, key: Option<&str>, until: Instant) -> Opinion {
    let began = Instant::now();
    let opinion = |(said, (tokens_in, tokens_out)): (Said, (u64, u64))| Opinion {
        model: judge.model.clone(),
        said,
        ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        tokens_in,
        tokens_out,
    };
    let Some(key) = http::key(&judge.key_file, key) else { return opinion((Said::NoKey, (0, 0))) };
    let asked = |form| {
        let body = chat::body(&judge.model, &request.evidence, form);
        let line = http::Line { judge, key: &key, ca_file: &request.ca_file, until };
        http::post(&line, &body).map_or_else(|said| (said, (0, 0)), |answer| chat::read(&answer))
    };
    let mut last = (Said::Malformed, (0, 0));
    for form in forms(request.format) {
        last = asked(*form);
        // before any answer, servers say so in these ways; the last is that of llama-cpp-python
        if !matches!(last.0, Said::Status(400 | 415 | 422 | 500 | 501)) {
            break;
        }
    }
    opinion(last)
}

/// The forms to ask for, one after the other.
fn forms(format: Format) -> &'static [chat::Form] {
    match format {
        Format::Auto => &[chat::Form::Schema, chat::Form::Object, chat::Form::Word],
        Format::Schema => &[chat::Form::Schema, chat::Form::Object],
        Format::Plain => &[chat::Form::Word],
    }
}
