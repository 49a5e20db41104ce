//! Canonical form: what a text that is known whole comes to is stable: judged again it comes to itself.
#![no_main]

use std::collections::BTreeSet;

use agent_sh::invocation::context::Context;
use agent_sh::policy::Policy;
use agent_sh::text::judged;
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
    let words: Vec<&str> = text.split_whitespace().take(12).collect();
    // one simple command: what else it holds stays within its words
    let text = format!("echo {}", words.join(" "));
    if text.contains(['|', '&', ';', '<', '>', '(', ')', '`', '\u{10FE00}', '…', '=']) {
        return;
    }
    let context = Context { cwd: "/w".to_owned(), home: "/home/u".to_owned(), uid: 1000, ..Context::default() };
    JUDGE.with(|judge| {
        let one = judge.verify(&text, &context, &Nowhere);
        if one.canonical.contains('…') || !one.unknowns.is_empty() || one.canonical.len() > 4000 {
            return;
        }
        let two = judge.verify(&one.canonical, &context, &Nowhere);
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
        assert_eq!(lines(&one.canonical), lines(&two.canonical), "{text:?}");
    });
});
