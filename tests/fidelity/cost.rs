//! What an arrival with an intent costs, in real store folders with a thousand records that are another text's.
//!
//! In full, optimised (`scripts/iec-check --release`), P99 must be at most 100 microseconds for a shell that the client
//! starts itself; so must be that of each text's least time where a wrapper stands between.

use std::cell::Cell;
use std::time::{Duration, Instant};

use agent_sh::fidelity::arrival::{Arrived, Given, pair_in};
use agent_sh::fidelity::intent::{Meant, record_in};
use agent_sh::fidelity::payload;
use agent_sh::fidelity::process::{Line, Process};
use agent_sh::fidelity::store::Store;
use agent_sh::invocation::context::Dialect;
use agent_sh::invocation::process::Lineage;

use crate::measures::is_full;

const STORED: usize = 1000;

/// Processor time of this thread: what others do on this machine does not count.
fn own_time() -> Duration {
    nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap().into()
}

/// A shell so many steps below the framework.
struct Shell {
    own: Process,
    host: Process,
    steps: usize,
}

impl Line for Shell {
    fn pid(&self) -> u32 {
        self.own.pid
    }

    fn own(&self) -> Option<Process> {
        Some(self.own)
    }

    fn above(&self, ends: &dyn Fn(Process) -> bool) -> Vec<Process> {
        // looking for those above costs what it costs
        let above = Cell::new(0);
        let is_last = |process| {
            above.set(above.get() + 1);
            ends(process) || above.get() == self.steps
        };
        assert!(!Lineage::default().above(&is_last).is_empty());
        vec![self.host]
    }
}

struct Stand {
    store: Store,
    host: Process,
    /// each shell is a process of its own below the framework
    shells: u32,
}

impl Stand {
    fn new(folder: &std::path::Path) -> Self {
        let store = Store::make_at(&folder.join("agent-sh/intents")).unwrap();
        let stand = Self { store, host: Process::own().unwrap(), shells: 1 << 30 };
        (0..STORED)
            .for_each(|at| stand.mean(format!("printf '%s\\n' stored-{at} | tee out-{at}").as_bytes()));
        stand
    }

    fn mean(&self, text: &[u8]) {
        record_in(&self.store, self.host, &Meant { framework: "t", call: None, cwd: b"/", text }).unwrap();
    }

    /// Processor time and time of the clock of one arrival.
    fn arrive(&mut self, text: &[u8], steps: usize) -> (Duration, Duration) {
        self.mean(text);
        self.shells += 1;
        let (shell, host) = (Process { pid: self.shells, start: 1 }, self.host);
        let line = Shell { own: shell, host, steps };
        let stores = [self.store.clone()];
        let arrived = Arrived { text, body: text, dialect: Dialect::Bash };
        let (clock, start) = (Instant::now(), own_time());
        let arrival = pair_in(&stores, &arrived, &Given::default(), &line);
        let times = (own_time().saturating_sub(start), clock.elapsed());
        assert_eq!(arrival.outcome.name(), "same");
        times
    }
}

/// Median and P99 of processor time, said with those of the clock.
fn said(what: &str, mut times: Vec<(Duration, Duration)>) -> Duration {
    let at = |times: &[Duration], share: usize| times[times.len() * share / 100];
    times.sort_unstable();
    let own: Vec<Duration> = times.iter().map(|(own, _)| *own).collect();
    let mut clock: Vec<Duration> = times.iter().map(|(_, clock)| *clock).collect();
    clock.sort_unstable();
    println!(
        "arrival with an intent, {STORED} others stored, {what} ({} times, {}): median {:?}, p99 {:?}; by the clock {:?}, {:?}",
        own.len(),
        if cfg!(debug_assertions) { "not as released" } else { "optimised" },
        at(&own, 50),
        at(&own, 99),
        at(&clock, 50),
        at(&clock, 99)
    );
    at(&own, 99)
}

#[test]
fn an_arrival_with_an_intent_costs_little() {
    let folder = tempfile::tempdir().unwrap();
    let payloads = payload::own().unwrap();
    let rounds = if is_full() { 8 } else { 1 };
    // a client starts its shell itself, or by a wrapper
    let both = [1, 2].map(|steps| {
        let mut times = Vec::new();
        for round in 0..rounds {
            let mut stand = Stand::new(&folder.path().join(format!("{steps}-{round}")));
            times.extend(payloads.iter().map(|payload| stand.arrive(&payload.with(b"/tmp/probe"), steps)));
        }
        // what else this machine does falls on one round or another
        let least =
            (0..payloads.len()).filter_map(|at| times.iter().skip(at).step_by(payloads.len()).min().copied());
        let least =
            said(&format!("our own texts, {steps} below the client, each one's least"), least.collect());
        (said(&format!("our own texts, {steps} below the client"), times), least)
    });
    for bytes in [131_054, 199_983] {
        let mut stand = Stand::new(&folder.path().join(bytes.to_string()));
        let texts = (0..200).map(|at| format!("echo {at:04} {}", "a".repeat(bytes - 10)));
        let late = said(
            &format!("texts of {bytes} bytes"),
            texts.map(|text| stand.arrive(text.as_bytes(), 1)).collect(),
        );
        assert!(late < Duration::from_millis(20), "{late:?}");
    }
    assert!(both.iter().all(|(late, _)| *late < Duration::from_millis(20)), "{both:?}");
    if !cfg!(debug_assertions) && is_full() {
        assert!(both[0].0 <= Duration::from_micros(100), "{both:?}");
        assert!(both.iter().all(|(_, least)| *least <= Duration::from_micros(100)), "{both:?}");
    }
}
