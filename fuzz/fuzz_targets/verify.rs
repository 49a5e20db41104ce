//! The judge: any bytes give a decision, the same each time; what is shown of it is plain; more is never milder.
#![no_main]

use std::time::{Duration, Instant};

use agent_sh::cli::explain;
use agent_sh::invocation::context::Context;
use agent_sh::pipeline::refusal;
use agent_sh::policy::Policy;
use agent_sh::text::judged;
use agent_sh::verdict::Verdict;
use agent_sh::verify::Judge;
use libfuzzer_sys::fuzz_target;

#[path = "../nowhere.rs"]
mod nowhere;

use nowhere::Nowhere;

thread_local! {
    static JUDGE: Judge = Judge::new(Policy::embedded());
}

fuzz_target!(|data: &[u8]| {
    let text = judged(data);
    let context = Context { cwd: "/w".to_owned(), home: "/home/u".to_owned(), uid: 1000, ..Context::default() };
    JUDGE.with(|judge| {
        let start = Instant::now();
        let decision = judge.verify(&text, &context, &Nowhere);
        assert!(start.elapsed() < Duration::from_secs(5), "slow");
        let plain = |shown: &str| !shown.chars().any(|c| c.is_control() && c != '\n');
        assert!(plain(&explain::object(&decision, judge).to_string()));
        assert!(plain(&refusal::message(&text, &decision)));
        let before = format!("rm -rf /etc\n{text}");
        assert_eq!(judge.verify(&before, &context, &Nowhere).verdict, Verdict::Deny, "{text:?}");
    });
});
