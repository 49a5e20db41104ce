//! What the envelope floor calls the model's text is what bash evaluates.
//!
//! `ENVELOPE_BODIES` says how many bodies each client wraps (scripts/envelopes: 10,000).

// a test program: what is not there may stop it
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::cast_possible_truncation,
    clippy::too_many_lines,
    clippy::format_collect,
    clippy::format_push_string
)]

#[path = "envelope/attackers.rs"]
mod attackers;
#[path = "envelope/bodies.rs"]
mod bodies;
#[path = "envelope/clients.rs"]
mod clients;
#[path = "envelope/probe.rs"]
mod probe;
#[path = "envelope/recorded.rs"]
mod recorded;

use agent_sh::envelope::{self, Envelope, Scope};
use agent_sh::invocation::context::Context;
use agent_sh::text::{judged, raw};
use bodies::{Dice, body, tame, wounded};
use clients::{CLIENTS, Call, Client};
use probe::Place;

/// Whether this client is looked at: `ENVELOPE_CLIENT` names one by its number.
fn is_asked(number: usize) -> bool {
    std::env::var("ENVELOPE_CLIENT")
        .ok()
        .and_then(|asked| asked.parse().ok())
        .is_none_or(|asked: usize| asked == number)
}

fn count() -> usize {
    std::env::var("ENVELOPE_BODIES").ok().and_then(|count| count.parse().ok()).unwrap_or(200)
}

fn context(call: &Call) -> Context {
    let arguments = call.arguments.iter().map(|word| judged(word).into_owned()).collect();
    Context { arguments, cwd: "/".to_owned(), home: "/home/u".to_owned(), ..Context::default() }
}

/// What is said of a call: the form, and the model's text where it is judged by itself.
fn said(call: &Call) -> (&'static str, Option<Vec<u8>>) {
    let text = judged(&call.text);
    let envelope: Envelope<'_> = envelope::read(&text, &context(call), Vec::new);
    let apart = matches!(envelope.scope, Scope::Apart(_));
    (envelope.form, apart.then(|| raw(&envelope.command).into_owned()))
}

fn shown(bytes: &[u8]) -> String {
    agent_sh::text::escape_bytes(bytes)
}

#[test]
fn a_quoted_text_is_what_bash_evaluates_and_nothing_else_is_taken_for_it() {
    let folder = tempfile::tempdir().unwrap();
    for (number, client) in
        CLIENTS.iter().enumerate().filter(|(number, client)| !client.pastes && is_asked(*number))
    {
        let mut dice = Dice::new(number as u64 + 1);
        let mut calls = Vec::new();
        let (mut known, mut wounds) = (0, 0);
        for _ in 0..count() {
            let body = body(&mut dice);
            let call = (client.wrap)(&body);
            let (form, text) = said(&call);
            // JSON's quoting is no shell's: where something would expand in it, nothing is said
            let certain = client.form != "user-eval";
            if certain {
                assert_eq!((form, text.as_ref()), (client.form, Some(&body)), "{}", shown(&call.text));
            }
            let broken = Call { text: wounded(&call.text, &mut dice), ..call.clone() };
            for (call, wound) in [(call, 0), (broken, 1)] {
                if let (_, Some(text)) = said(&call) {
                    known += 1;
                    wounds += wound;
                    calls.push((call, text));
                }
            }
        }
        // `builtin eval --` evaluates nothing, either
        let nothing: [&[u8]; 2] = [b"", b"--"];
        let only: Vec<Call> = calls.iter().map(|(call, _)| call.clone()).collect();
        for ((call, text), got) in calls.iter().zip(probe::evaluated(&only, folder.path())) {
            assert_eq!(
                got,
                if nothing.contains(&text.as_slice()) && client.form == "state-eval" {
                    vec![]
                } else {
                    vec![text.clone()]
                },
                "{}",
                shown(&call.text)
            );
        }
        assert!(known >= count() / 8, "{known} of {} for client {number}", count());
        println!(
            "client {number} ({}): {known} texts as bash evaluates them, {wounds} of them in wounded wrappers",
            client.form
        );
    }
}

#[test]
fn a_pasted_text_is_taken_for_itself_only_where_bash_does_so() {
    let folder = tempfile::tempdir().unwrap();
    for (number, client) in
        CLIENTS.iter().enumerate().filter(|(number, client)| client.pastes && is_asked(*number))
    {
        let mut dice = Dice::new(number as u64 + 101);
        let bodies: Vec<Vec<u8>> = (0..count()).map(|_| body(&mut dice)).collect();
        let apart: Vec<Vec<u8>> = bodies.iter().filter_map(|body| taken(client, body)).collect();
        let mut refused = 0;
        for (text, place) in apart.iter().zip(probe::places(&apart, client.form, folder.path())) {
            assert_ne!(
                place,
                Place::Other,
                "{}: bash does not take this for a text of its own: {}",
                client.form,
                shown(text)
            );
            refused += usize::from(place == Place::Refused);
        }
        let mut tame_ones = 0;
        for _ in 0..count() {
            let text = tame(&mut dice);
            let note = client.form == "braces" && text.ends_with(b"note");
            let here = client.form == "braces" && text.ends_with(b"EOF");
            if !(note || here) {
                assert_eq!(taken(client, &text).as_ref(), Some(&text), "{}: {}", client.form, shown(&text));
                tame_ones += 1;
            }
        }
        assert!(apart.len() >= count() / 10, "{} of {}", apart.len(), count());
        println!(
            "client {number} ({}): {} of {} wild texts ({refused} malformed for bash) and {tame_ones} of {tame_ones} tame ones stand by themselves",
            client.form,
            apart.len(),
            bodies.len()
        );
    }
}

/// The text, where it is judged by itself; whether or not, it is known which bytes are the model's.
fn taken(client: &Client, body: &[u8]) -> Option<Vec<u8>> {
    let call = (client.wrap)(body);
    let text = judged(&call.text);
    let envelope = envelope::read(&text, &context(&call), Vec::new);
    if envelope.form == client.form {
        assert_eq!(raw(&envelope.command), body, "{}", shown(&call.text));
    } else {
        assert!(!matches!(envelope.scope, Scope::Apart(_)), "{}: {}", envelope.form, shown(&call.text));
    }
    said(&call).1
}
