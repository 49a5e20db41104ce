//! The reference judge: verdicts recomputed from the policy's text alone, beside those of the judge.
//!
//! In: generated commands, the effects that `verify` found. Out: both judges agree.
//! Never: uses the judge's tables, matching or sum; what it shares is the effects' words.

// a test program: what is not there may stop it
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::wildcard_enum_match_arm,
    clippy::format_collect,
    clippy::format_push_string,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::float_arithmetic
)]

mod grammar;
mod stand;

mod reference {
    pub(crate) mod scorer;
}

use agent_sh::world::Machine;
use grammar::{Dice, list};
use reference::scorer::Scorer;

#[test]
fn a_judge_from_the_policy_s_text_alone_agrees() {
    let (judge, context) = (stand::judge(), stand::context());
    let scorer = Scorer::read(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("policy"));
    let mut dice = Dice::new(stand::number("SEED", 3) as u64);
    let mut verdicts = std::collections::BTreeMap::new();
    for _ in 0..stand::number("N", 2_500) {
        let text = list(&mut dice);
        let decision = judge.verify(&text, &context, &Machine);
        let reference = scorer.judge(&decision, judge.policy());
        let s = decision.signals;
        let views = [s.structure, s.semantics, s.paths, s.patterns].map(|p| u32::from(p.get()));
        let mut rules: Vec<String> = decision.findings.iter().map(|f| f.rule.to_string()).collect();
        rules.sort();
        assert_eq!((reference.views, &reference.rules), (views, &rules), "{text}");
        assert_eq!(
            (reference.score, reference.verdict),
            (u32::from(decision.score.get()), decision.verdict.name()),
            "{text}"
        );
        *verdicts.entry(decision.verdict.name()).or_insert(0_usize) += 1;
    }
    println!("agreed on {verdicts:?}");
    assert!(verdicts.len() == 3 && verdicts.values().all(|n| *n > 100), "{verdicts:?}");
}
