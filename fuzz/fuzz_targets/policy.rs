//! Policy files: any text as root's and as the project's layer gives a policy or an error, and the project's never
//! relaxes (INVARIANT(I6)).
#![no_main]

use agent_sh::policy::PolicyError;
use agent_sh::policy::day::Day;
use agent_sh::policy::layers::Merger;
use agent_sh::policy::merged::{LayerKind, Policy};
use agent_sh::verdict::Verdict;
use libfuzzer_sys::fuzz_target;

fn merged(kind: LayerKind, text: &str) -> Result<Policy, PolicyError> {
    let mut merger = Merger::new(Day(2026, 6, 15));
    merger.add(kind, "/p", text)?;
    Ok(merger.finish())
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let text = format!("schema = 1\n{text}");
    for kind in [LayerKind::Root, LayerKind::Project] {
        match merged(kind, &text) {
            Ok(policy) if kind == LayerKind::Project => {
                let (old, new) = (Policy::embedded(), policy);
                assert!(new.temper().thresholds().warn <= old.temper().thresholds().warn);
                assert!(new.temper().thresholds().deny <= old.temper().thresholds().deny);
                for rule in old.rules() {
                    let kept = new.rules().iter().find(|other| other.id == rule.id).map(|other| other.verdict);
                    assert!(kept.is_some_and(|verdict: Verdict| verdict >= rule.verdict), "{}", rule.id);
                }
            }
            Ok(_) => {}
            Err(error) => assert!(!error.to_string().contains('\x1b')),
        }
    }
});
