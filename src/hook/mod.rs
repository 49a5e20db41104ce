//! Frameworks' pre-execution hooks: their JSON in, the same judgement, their contract out.
//!
//! In: the client's JSON on standard input. Out: its answer and exit status. Never: runs the command;
//! answers anything but a refusal to what it can't read; says "allow" where the client would ask its user.

pub mod answer;
pub mod client;
mod hearing;
pub mod request;
pub mod sample;

use std::io::{Read, Write};

use answer::{Reply, Ruling};
use client::Client;
use request::{Ask, Request};

use crate::fidelity::intent::{self, Meant};
use crate::text::raw;

/// Largest input in bytes; a longer one is refused.
const INPUT_LIMIT: u64 = 16 << 20;

/// Answers one call of a client's hook. Gives the exit status that the client's contract needs.
pub fn run(client: Client, input: &mut dyn Read, out: &mut dyn Write, errors: &mut dyn Write) -> u8 {
    let reply = answer(client, input);
    let said = out.write_all(reply.out.as_bytes()).and_then(|()| out.flush());
    // standard error may be closed: the status says enough
    drop(errors.write_all(reply.errors.as_bytes()));
    // an answer that did not arrive is no answer
    if said.is_ok() { reply.status } else { answer::BLOCKS }
}

fn answer(client: Client, input: &mut dyn Read) -> Reply {
    match read(client, input) {
        Ok(Request::Other) => answer::reply(client, &Ruling::Pass),
        Ok(Request::Shell(ask)) => {
            let ruling = hearing::hear(client, &ask);
            match ruling {
                // what is refused never arrives, and its record would stand beside those that do
                Ruling::Deny(_) => {}
                Ruling::Pass | Ruling::Ask(_) => keep_intent(client, &ask),
            }
            answer::reply(client, &ruling)
        }
        Err(why) => {
            hearing::unread(client, &why);
            answer::broken(client, &why)
        }
    }
}

fn read(client: Client, input: &mut dyn Read) -> Result<Request, String> {
    let mut bytes = Vec::new();
    input
        .take(INPUT_LIMIT + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("its input can't be read: {error}"))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > INPUT_LIMIT {
        return Err(format!("its input is longer than {INPUT_LIMIT} bytes"));
    }
    request::parse(client, &bytes)
}

/// Where the text that the model meant is kept for `fidelity`, before anything can change it on its way to
/// the shell. A record that can't be written stops nobody here: agent-sh finds none, and the policy says what
/// becomes of that (`fidelity.require-intent`).
fn keep_intent(client: Client, ask: &Ask) {
    let cwd = raw(&ask.directory);
    for text in &ask.texts {
        let call = ask.call.as_deref();
        let meant = Meant { framework: client.facts().name, call, cwd: &cwd, text: &raw(text) };
        drop(intent::record(&meant));
    }
}
