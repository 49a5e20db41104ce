//! Exceptions: what they lift, and that they let through no effect that they don't name, whatever stands
//! around the command.
//!
//! In: generated command lists, the examples of the rules, generated exceptions. Out: verdicts compared.
//! Never: runs a text.

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

use std::collections::BTreeSet;

use agent_sh::act::Kind;
use agent_sh::decision::Decision;
use agent_sh::effects;
use agent_sh::effects::model::{Effect, Effects};
use agent_sh::evidence::{Evidence, gather};
use agent_sh::place::index::Index;
use agent_sh::policy::Policy;
use agent_sh::policy::day::Day;
use agent_sh::policy::layers::Merger;
use agent_sh::policy::merged::LayerKind;
use agent_sh::policy::tables::{Lifted, SemanticClass};
use agent_sh::verdict::Verdict;
use agent_sh::verify::Judge;
use agent_sh::world::Machine;
use proptest::prelude::*;

use grammar::{Dice, list};

/// What an exception says, as the test understands it.
#[derive(Clone, Debug)]
struct Said {
    rules: Vec<String>,
    kinds: Vec<Kind>,
    under: String,
}

impl Said {
    fn policy(&self) -> Policy {
        let kinds: Vec<&str> = self.kinds.iter().map(|kind| kind.name()).collect();
        with(&format!("rule = {:?}\neffect = {:?}\nunder = {:?}\n", self.rules, kinds.join(" "), self.under))
    }

    /// Read anew from the words of the manual, without the judge's own code.
    fn names(&self, effect: &Effect) -> bool {
        let path = &*effect.target.resolved;
        let inside = path == self.under || path.starts_with(&format!("{}/", self.under));
        self.kinds.contains(&effect.kind) && inside && !path.contains('…')
    }
}

fn with(exception: &str) -> Policy {
    let mut merger = Merger::new(Day(2026, 6, 15));
    let text = format!("schema = 1\n[[exception]]\n{exception}reason = \"a test\"\n");
    merger.add(LayerKind::Root, "/p", &text).unwrap();
    merger.finish()
}

fn found(text: &str) -> Effects {
    let policy = Policy::embedded();
    let index = Index::new(policy.place_layers());
    effects::of(text, &stand::context(), (&policy, &index), &Machine)
}

fn verify(policy: Policy, text: &str) -> Decision {
    Judge::new(policy).verify(text, &stand::context(), &Machine)
}

fn rules(evidence: &Evidence) -> BTreeSet<String> {
    evidence.findings.iter().map(|finding| finding.rule.to_string()).collect()
}

const PLACES: &[&str] = &[
    "/home/dev",
    "/home/dev/proj",
    "/etc",
    "/usr",
    "/tmp",
    "/srv",
    "/home/dev/proj/build",
    "/home/dev/.ssh",
];

/// An exception that may lift much: several rules, several kinds, a wide place.
fn said(dice: &mut Dice) -> Said {
    let policy = Policy::embedded();
    let kinds: Vec<Kind> = (0..=dice.below(4)).map(|_| dice.pick(Kind::ALL)).collect();
    let bits = kinds.iter().fold(0, |bits, kind| bits | kind.bit());
    let fits = |id: &&str| {
        let rule = policy.rules().iter().find(|rule| rule.id == *id).unwrap();
        rule.lifted == Lifted::ByException
            && rule.when.iter().any(|when| when.kinds == 0 || when.kinds & bits != 0)
    };
    let able: Vec<&str> = policy.rules().iter().map(|rule| rule.id).filter(fits).collect();
    let mut rules: Vec<String> = if able.is_empty() {
        Vec::new()
    } else {
        (0..=dice.below(able.len())).map(|_| dice.pick(&able).to_owned()).collect()
    };
    if rules.is_empty() || dice.below(2) == 0 {
        rules.push(format!("class.{}", dice.pick(SemanticClass::ALL).name()));
    }
    Said { rules, kinds, under: dice.pick(PLACES).to_owned() }
}

/// A generated list, or a rule's example, or both.
fn text(dice: &mut Dice) -> String {
    let policy = Policy::embedded();
    let hits: Vec<&str> = policy.rules().iter().flat_map(|rule| rule.hits).copied().collect();
    match dice.below(3) {
        0 => list(dice),
        1 => dice.pick(&hits).to_owned(),
        _ => format!("{}\n{}", dice.pick(&hits), list(dice)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(u32::try_from(stand::number("CASES", 300)).unwrap()))]

    /// What an exception lifts is at most what the effects that it names would say: the rest of the command
    /// says as much as if it stood alone, final rules stay, and nothing gets worse.
    #[test]
    fn no_exception_lets_through_an_effect_that_it_does_not_name(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let (text, said) = (text(&mut dice), said(&mut dice));
        let policy = said.policy();
        let whole = found(&text);
        let plain = gather(&whole, &Policy::embedded());
        let excepted = gather(&whole, &policy);
        let named: Vec<Effect> = whole.list.iter().filter(|effect| said.names(effect)).cloned().collect();
        let rest = Effects {
            list: whole.list.iter().filter(|effect| !said.names(effect)).cloned().collect(),
            ..whole.clone()
        };
        let rest = gather(&rest, &Policy::embedded());
        let (a, b, c) = (rest.signals, excepted.signals, plain.signals);
        prop_assert!(a.structure == b.structure && b.structure == c.structure);
        prop_assert!(a.semantics <= b.semantics && b.semantics <= c.semantics, "{text}\n{said:?}");
        prop_assert!(a.paths <= b.paths && b.paths <= c.paths, "{text}\n{said:?}");
        prop_assert!(a.patterns <= b.patterns && b.patterns <= c.patterns, "{text}\n{said:?}");
        prop_assert_eq!(excepted.unknown, plain.unknown);
        prop_assert!(rules(&excepted).is_superset(&rules(&rest)), "{text}\n{said:?}");
        prop_assert!(rules(&plain).is_superset(&rules(&excepted)), "{text}\n{said:?}");
        for finding in plain.findings.iter().filter(|f| f.lifted == Lifted::Never || !said.rules.contains(&f.rule.to_string())) {
            prop_assert!(rules(&excepted).contains(&*finding.rule), "{text}\n{said:?}");
        }
        if named.is_empty() {
            prop_assert!(excepted.lifts.is_empty(), "{text}\n{said:?}");
            prop_assert_eq!(excepted.class, plain.class);
        }
        let (before, after) = (verify(Policy::embedded(), &text), verify(policy, &text));
        prop_assert!(after.verdict <= before.verdict, "{text}\n{said:?}");
    }
}

/// Rule or class, effect, place, and a command that is held back but for the exception.
const CASES: &[(&str, &str, &str, &str)] = &[
    ("class.destructive", "delete", "/opt/build", "rm -rf /opt/build/out"),
    ("permission.world-writable", "chmod", "/opt/share", "chmod 777 /opt/share/in"),
    ("class.destructive", "delete", "/opt/build", "find /opt/build/out -delete"),
    ("processes.stops-service", "service", "", "systemctl stop nginx"),
];

const WRAPPERS: &[&str] = &[
    "{}",
    "A=1 B='x y' {}",
    "env A=1 {}",
    "env -u PATH A=1 {}",
    "{} > /dev/null",
    "{} >/dev/null 2>&1 </dev/null",
    "nohup {}",
    "nice -n 5 {}",
    "timeout 5 {}",
    "timeout --signal=KILL 5m env -i {}",
    "setsid {}",
    "stdbuf -oL {}",
    "command {}",
    "time {}",
    "( {} )",
    "{ {}; }",
    "if true; then {}; fi",
    "for i in 1; do {}; done",
    "f() { {}; }; f",
    "true && {}",
    "{} || true",
    "{} &\nwait",
    "cd / && {}",
    "sh -c \"{}\"",
    "bash -c \"cd / && {}\" > /tmp/log 2>&1",
    "env A=1 nice timeout 5 bash -lc \"{}\"",
    "eval \"{}\"",
];

/// Openai/codex 10920, 11868, 13175 and openclaw 23276 in the trackers of others: approvals that a wrapper, a
/// redirection or a prefix loses or widens.
#[test]
fn wrappers_neither_widen_nor_narrow_an_exception() {
    for (rule, effect, place, command) in CASES {
        let place =
            if place.is_empty() { "target = \"nginx\"".to_owned() } else { format!("under = {place:?}") };
        let text = format!("rule = {rule:?}\neffect = {effect:?}\n{place}\n");
        let policy = with(&text);
        for wrapper in WRAPPERS {
            let wrapped = |inner: &str| wrapper.replace("{}", inner);
            let held = verify(Policy::embedded(), &wrapped(command));
            assert!(held.verdict >= Verdict::Warn, "{}: {held:?}", wrapped(command));
            let lifted = verify(policy, &wrapped(command));
            let harmless = verify(Policy::embedded(), &wrapped("true"));
            assert_eq!(lifted.verdict, harmless.verdict, "{}: {lifted:?}", wrapped(command));
            // another place, and another effect beside it, in the same wrapper
            for other in [
                command.replace("/opt/", "/opt/other/").replace("nginx", "postgresql"),
                format!("{command}; rm -rf /usr/lib"),
                format!("{command}; {command} && rm -rf ~"),
            ] {
                let plain = verify(Policy::embedded(), &wrapped(&other)).verdict;
                let still = verify(policy, &wrapped(&other)).verdict;
                assert!(
                    still == plain || plain == Verdict::Deny && still == Verdict::Deny,
                    "{}",
                    wrapped(&other)
                );
                assert!(still >= Verdict::Warn, "{}", wrapped(&other));
            }
        }
    }
}

#[test]
fn an_exception_holds_for_its_agent_alone_and_until_its_day() {
    let text = "rule = \"class.destructive\"\neffect = \"delete\"\nunder = \"/opt/build\"\n";
    let command = "rm -rf /opt/build/out";
    assert_eq!(verify(with(text), command).verdict, Verdict::Allow);
    assert_eq!(verify(with(&format!("{text}until = 2026-06-14\n")), command).verdict, Verdict::Warn);
    let bound = with(&format!("{text}agent = \"/usr/bin/codex\"\n"));
    assert_eq!(verify(bound, command).verdict, Verdict::Warn);
    for (callers, verdict) in [
        (&["/usr/bin/node"][..], Verdict::Warn),
        (&["/bin/bash", "/usr/bin/codex"], Verdict::Allow),
        (&["/tmp/usr/bin/codex"], Verdict::Warn),
    ] {
        let callers: Vec<String> = callers.iter().map(|&path| path.to_owned()).collect();
        assert_eq!(verify(bound.for_callers(&callers), command).verdict, verdict, "{callers:?}");
    }
}

#[test]
fn links_out_of_the_place_are_not_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("build")).unwrap();
    std::os::unix::fs::symlink("/usr", root.join("build/usr")).unwrap();
    let under = root.join("build");
    let policy = with(&format!(
        "rule = \"class.destructive\"\neffect = \"delete\"\nunder = {:?}\n",
        under.to_str().unwrap()
    ));
    for command in ["rm -rf DIR/usr/lib", "rm -rf DIR/../../../../usr/lib", "rm -rf DIR/usr/*"] {
        let command = command.replace("DIR", under.to_str().unwrap());
        assert!(verify(policy, &command).verdict >= Verdict::Warn, "{command}");
    }
}
