//! What is measured besides the ways: blame, location and comparison, against truths that were made.
//!
//! In: a [`Scene`], payloads. Out: [`Study`]. Never: a truth that is taken from what is measured.

use std::path::Path;

use crate::fidelity::bench::scene::{Scene, leave};
use crate::fidelity::bench::tally::Share;
use crate::fidelity::bench::trial::{Launch, Outcome, run};
use crate::fidelity::bench::way::End;
use crate::fidelity::bench::wrap::{self, Wrap};
use crate::fidelity::blame::{Evidence, Who, blame};
use crate::fidelity::compare::{Meaning, Slow, compare};
use crate::fidelity::locate::{first, observed};
use crate::fidelity::payload::Payload;
use crate::invocation::context::Dialect;

/// Failures of each kind that are made for attribution.
const EACH: usize = 60;

/// Faults that leave a text in the hands of the next hop as it is sent.
const FAULTS: [(&str, Wrap); 9] = [
    ("trim", wrap::trimmed),
    ("join-and", wrap::lines_and),
    ("join-space", wrap::lines_space),
    ("backslashes-halved", wrap::backslashes_halved),
    ("escapes-read", wrap::escapes_read),
    ("ascii-only", wrap::ascii_only),
    ("html", wrap::html),
    ("returns", wrap::returns),
    ("json-template", wrap::json_template),
];

/// The sums.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Study {
    /// Faults put in, and those found at their hop.
    pub injected: u64,
    pub located: u64,
    /// Rewrites that do the same, and the beginnings of those called different.
    pub equivalent: u64,
    pub divergent: Vec<Vec<u8>>,
    /// For each truth and verdict: how often.
    pub blamed: Vec<(Who, Who, u64)>,
    /// Failures blamed on somebody else: the truth, the verdict, the beginning of the text.
    pub misjudged: Vec<(Who, Who, Vec<u8>)>,
}

impl Study {
    /// Cohen's kappa; 0 where it would be below.
    pub fn kappa(&self) -> Share {
        let kinds = [Who::Model, Who::Path, Who::Nested, Who::Unknown];
        let sum = |is: &dyn Fn(Who, Who) -> bool| -> u64 {
            self.blamed.iter().filter(|(t, v, _)| is(*t, *v)).map(|(_, _, n)| n).sum()
        };
        let all = sum(&|_, _| true);
        let agreed = sum(&|t, v| t == v);
        let chance: u64 = kinds.iter().map(|k| sum(&|t, _| t == *k) * sum(&|_, v| v == *k)).sum();
        Share((agreed * all).saturating_sub(chance), (all * all).saturating_sub(chance))
    }

    pub fn failures(&self) -> u64 {
        self.blamed.iter().map(|(_, _, n)| n).sum()
    }

    fn judge(&mut self, truth: Who, evidence: &Evidence) {
        let verdict = blame(evidence).who;
        if verdict != truth {
            self.misjudged.push((truth, verdict, evidence.meant.iter().copied().take(80).collect()));
        }
        match self.blamed.iter_mut().find(|(t, v, _)| (*t, *v) == (truth, verdict)) {
            Some((_, _, n)) => *n += 1,
            None => self.blamed.push((truth, verdict, 1)),
        }
    }
}

/// Makes the truths and measures.
pub fn study(scene: &Scene, payloads: &[Payload]) -> std::io::Result<Study> {
    let mut study = Study::default();
    locate(payloads, &mut study);
    rewrites(scene, payloads, &mut study)?;
    by_path(scene, payloads, &mut study)?;
    for (truth, makers) in [(Who::Model, MODEL), (Who::Nested, NESTED)] {
        for number in 0..EACH {
            let Some(maker) = makers.get(number % makers.len()) else { continue };
            let text = wrap::replaced(maker.as_bytes(), b"NUMBER", number.to_string().as_bytes());
            let (outcome, stderr) = fail(scene, &text)?;
            if outcome.status == Some(0) {
                // no failure on this machine: nobody is to blame
                continue;
            }
            let hops = ["hook", "shell"].map(|name| (name.to_owned(), Some(text.clone())));
            let evidence = Evidence {
                meant: text.clone(),
                hops: hops.to_vec(),
                status: outcome.status,
                stderr,
                nested: Vec::new(),
            };
            study.judge(truth, &evidence);
        }
    }
    Ok(study)
}

/// Hops of which one changes the text, at every place in turn.
fn locate(payloads: &[Payload], study: &mut Study) {
    for (number, payload) in payloads.iter().enumerate() {
        let text = payload.with(b"/tmp/p");
        for (name, fault) in FAULTS {
            let Some(changed) = fault(&text).filter(|changed| *changed != text) else { continue };
            let (count, at) = (2 + number % 4, number % (2 + number % 4));
            let seen: Vec<(String, Option<Vec<u8>>)> = (0..count)
                .map(|hop| {
                    (format!("{name}-{hop}"), Some(if hop < at { text.clone() } else { changed.clone() }))
                })
                .collect();
            study.injected += 1;
            let found = observed(&text, &seen);
            study.located += u64::from(first(&found).is_some_and(|location| location.hop == at + 1));
        }
    }
}

/// Rewrites that keep the meaning; each counts only if it does the same here.
fn rewrites(scene: &Scene, payloads: &[Payload], study: &mut Study) -> std::io::Result<()> {
    type Rewrite = fn(&[u8]) -> Vec<u8>;
    const REWRITES: [Rewrite; 4] = [
        |text| [text, b"\n"].concat(),
        |text| [b"\n\n", text].concat(),
        |text| [text, b"\n# done"].concat(),
        |text| [b"# first\n", text].concat(),
    ];
    for payload in payloads.iter().filter(|p| p.text.len() < 4096) {
        let (case, _) = scene.case()?;
        let text = payload.with(case.join("prb").as_os_str().as_encoded_bytes());
        let meant = run(&bash(&text), &case, End::Exit);
        leave(&case);
        for rewrite in REWRITES {
            let (case, _) = scene.case()?;
            let text = payload.with(case.join("prb").as_os_str().as_encoded_bytes());
            let other = rewrite(&text);
            let got = run(&bash(&other), &case, End::Exit);
            leave(&case);
            if got.is_like(&meant) && got.status == meant.status {
                study.equivalent += 1;
                let verdict = compare(&text, &other, Dialect::Bash, Slow::Allowed);
                if verdict == Meaning::Different {
                    study.divergent.push(other.into_iter().take(80).collect());
                }
            }
        }
    }
    Ok(())
}

fn bash(text: &[u8]) -> Launch {
    Launch { words: vec![b"bash".to_vec(), b"-c".to_vec(), text.to_vec()], ..Launch::default() }
}

/// Calls that fail because a hop changed them.
fn by_path(scene: &Scene, payloads: &[Payload], study: &mut Study) -> std::io::Result<()> {
    let mut made = 0;
    for payload in payloads.iter().filter(|p| p.text.len() < 4096) {
        for (name, fault) in FAULTS {
            if made == EACH {
                return Ok(());
            }
            let text = payload.with(b"/bin/true");
            let Some(changed) = fault(&text).filter(|changed| *changed != text) else { continue };
            let (outcome, stderr) = fail(scene, &changed)?;
            if outcome.status == Some(0) {
                continue;
            }
            made += 1;
            let hops = vec![
                ("hook".to_owned(), Some(text.clone())),
                (name.to_owned(), Some(changed.clone())),
                ("shell".to_owned(), Some(changed)),
            ];
            let evidence = Evidence { meant: text, hops, status: outcome.status, stderr, nested: Vec::new() };
            study.judge(Who::Path, &evidence);
        }
    }
    Ok(())
}

/// Runs a text and gives what it said.
fn fail(scene: &Scene, text: &[u8]) -> std::io::Result<(Outcome, String)> {
    let (case, _) = scene.case()?;
    let outcome = run(&bash(text), &case, End::Exit);
    let said = read_error(&case);
    leave(&case);
    Ok((outcome, said))
}

fn read_error(case: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(case.join("error")).unwrap_or_default()).into_owned()
}

/// Texts that fail by what is written in them, or by the machine.
const MODEL: &[&str] = &[
    "cat /nowhere/NUMBER",
    "if test NUMBER; then echo NUMBER",
    "no-such-program-NUMBER --help",
    "test NUMBER -eq 1000",
    "printf 'NUMBER\\n' | grep -q nothing",
    "set -u; echo \"$no_such_variable_NUMBER\"",
    "cd /nowhere/NUMBER && ls",
    "for k in NUMBER; do echo $k",
    "echo \"NUMBER",
    "mkdir /proc/NUMBER/x",
    "exit 3 # NUMBER",
    "ls --no-such-option-NUMBER",
    "python3 -c 'import no_such_module_NUMBER'",
    "git -C /nowhere/NUMBER status",
    "cp /nowhere/a-NUMBER /nowhere/b",
];

/// Texts in which an inner shell or language gets something else than was written for it.
const NESTED: &[&str] = &[
    "bash -c \"echo it's NUMBER\"",
    "sh -c \"printf '%s\\n' don't-NUMBER\"",
    "bash -c 'echo \"NUMBER'",
    "python3 -c \"print(\"a NUMBER\")\"",
    "perl -e \"print \"a NUMBER b\";\"",
    "awk \"BEGIN { print \"x NUMBER y\" }\"",
    "printf 'a\\n' | sed \"s/a/$(printf 'b/c/NUMBER')/\"",
    "env bash -c \"if true; then echo 'NUMBER\"",
    "dash -c 'echo $((NUMBER +))'",
    "printf x | xargs -I@ sh -c \"echo 'NUMBER @\"",
    "bash -c \"for k in 1; do echo NUMBER\"",
    "python3 -c \"x = {'a': NUMBER\"",
    "sh -c \"echo (NUMBER)\"",
    "awk 'BEGIN { print NUMBER '",
    "bash -c 'cat <(echo NUMBER'",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kappa_is_cohen_s() {
        let study = |blamed: &[(Who, Who, u64)]| Study { blamed: blamed.to_vec(), ..Study::default() };
        // the textbook's table: 20, 5, 10, 15
        let (a, b) = (Who::Model, Who::Path);
        assert_eq!(study(&[(a, a, 20), (a, b, 5), (b, a, 10), (b, b, 15)]).kappa().to_string(), "0.4000");
        assert_eq!(study(&[(a, a, 3), (b, b, 3)]).kappa().to_string(), "1.0000");
        assert_eq!(study(&[(a, b, 3), (b, a, 3)]).kappa().to_string(), "0.0000");
    }
}
