//! The canonical form is stable: judged again, a fully known command comes to the same form and the same effects.
//!
//! In: generated simple commands, plain and in disguise. Out: equal forms, kinds and targets.
//! Never: runs them.

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
    clippy::format_push_string
)]

mod grammar;
mod stand;

mod folding {
    pub(crate) mod texts;
}

use std::collections::BTreeSet;

use agent_sh::decision::{Coverage, Decision};
use agent_sh::world::Machine;
use grammar::{Dice, call};

/// Each command once: what a wrapper runs has a line of its own, and has it again when that line is judged.
fn lines(decision: &Decision) -> BTreeSet<String> {
    decision.canonical.lines().map(str::to_owned).collect()
}

fn deeds(decision: &Decision) -> BTreeSet<(String, String)> {
    decision.effects.iter().map(|e| (e.kind.name().to_owned(), e.target.resolved.to_string())).collect()
}

#[test]
fn the_canonical_form_of_a_known_command_is_stable() {
    let (judge, context) = (stand::judge(), stand::context());
    let mut dice = Dice::new(stand::number("SEED", 7) as u64);
    let (mut known, total) = (0, stand::number("N", 2_000));
    for i in 0..total {
        // folded words as arguments of a program that only prints them, and calls of all kinds
        let text =
            if i % 2 == 0 { folding::texts::text(&mut dice).replace("probe", "ls") } else { call(&mut dice) };
        let one = judge.verify(&text, &context, &Machine);
        if one.coverage == Coverage::Partial
            || one.canonical.contains('…')
            || one.canonical.lines().any(|l| l.len() > 380)
        {
            continue;
        }
        known += 1;
        let two = judge.verify(&one.canonical, &context, &Machine);
        assert_eq!(lines(&one), lines(&two), "{text}");
        let three = judge.verify(&two.canonical, &context, &Machine);
        assert_eq!(lines(&two), lines(&three), "{text}");
        assert_eq!(deeds(&two), deeds(&three), "{text}");
        if one.canonical.lines().count() == 1 && i % 2 == 1 {
            assert_eq!(deeds(&one), deeds(&two), "{text}");
        }
    }
    println!("{known} of {total} known whole");
    assert!(known * 2 > total);
}
