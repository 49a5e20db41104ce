//! Properties of the whole floor.
//!
//! In: random layers, the files of `policy/`. Out: nothing.
//! Never: holds an example; those stand at the foot of each file.

use proptest::prelude::*;

use super::compile::Compiler;
use super::day::Day;
use super::embedded;
use super::fields::{FIELDS, Slot, Tighter};
use super::layers::Merger;
use super::merged::{LayerKind, Policy};
use super::shapes::{read_commands, read_file};
use super::source::{PolicyError, Source};
use super::temper::Temper;
use crate::score::Signals;
use crate::verdict::Permille;

fn merge(layers: &[(LayerKind, &str)]) -> Result<Policy, PolicyError> {
    let mut merger = Merger::new(Day(2026, 6, 15));
    for (kind, text) in layers {
        merger.add(*kind, "/p", &format!("schema = 1\n{text}"))?;
    }
    Ok(merger.finish())
}

/// A value that fits a field, from a number.
fn value(slot: Slot, n: u32) -> String {
    match slot {
        Slot::Permille(_) => Permille::new(u16::try_from(n % 1001).unwrap()).to_string(),
        Slot::Verdict(_) => format!("\"{}\"", ["allow", "warn", "deny"][n as usize % 3]),
        Slot::Count(_) => n.to_string(),
        Slot::Time(_) => format!("\"{}s\"", n % 1000),
        Slot::Choice(choice) => {
            let name = choice.names[n as usize % choice.names.len()];
            if ["true", "false"].contains(&name) { name.to_owned() } else { format!("\"{name}\"") }
        }
        Slot::Text(_) => format!("\"{}\"", ["bash", "auth", "/x"][n as usize % 3]),
        Slot::List(_) => ["[]", "[\"/a\"]", "[\"/a\", \"/b\"]", "[\"/b\"]"][n as usize % 4].to_owned(),
    }
}

fn text(settings: &[(usize, u32)]) -> String {
    let settings: std::collections::BTreeMap<usize, u32> = settings.iter().copied().collect();
    let lines: Vec<String> = settings
        .iter()
        .map(|(at, n)| format!("{} = {}", FIELDS[*at].key, value(FIELDS[*at].slot, *n)))
        .collect();
    lines.join("\n")
}

/// Whether no setting of `new` is looser than in `old`.
fn is_no_looser(old: &Temper, new: &Temper) -> bool {
    let (mut old, mut new) = (*old, *new);
    FIELDS.iter().all(|field| match (field.slot, field.tighter) {
        (Slot::Permille(slot), Tighter::Higher) => *slot(&mut new) >= *slot(&mut old),
        (Slot::Permille(slot), _) => *slot(&mut new) <= *slot(&mut old),
        (Slot::Verdict(slot), _) => *slot(&mut new) >= *slot(&mut old),
        (Slot::Count(slot), Tighter::Higher) => *slot(&mut new) >= *slot(&mut old),
        (Slot::Time(slot), Tighter::Lower) => *slot(&mut new) <= *slot(&mut old),
        (Slot::Count(slot) | Slot::Time(slot), _) => *slot(&mut new) == *slot(&mut old),
        (Slot::Choice(choice), _) => (choice.get)(&new) >= (choice.get)(&old),
        (Slot::Text(slot), _) => *slot(&mut new) == *slot(&mut old),
        (Slot::List(slot), Tighter::More) => slot(&mut old).iter().all(|item| slot(&mut new).contains(item)),
        (Slot::List(slot), Tighter::Fewer) => slot(&mut new).iter().all(|item| slot(&mut old).contains(item)),
        (Slot::List(slot), _) => *slot(&mut new) == *slot(&mut old),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// INVARIANT(I6)
    #[test]
    fn no_layer_below_root_relaxes(
        root in proptest::collection::vec((0..FIELDS.len(), any::<u32>()), 0..12),
        user in proptest::collection::vec((0..FIELDS.len(), any::<u32>()), 0..3),
        signals in any::<[u16; 4]>(),
    ) {
        let root = text(&root);
        if let Ok(before) = merge(&[(LayerKind::Root, &root)])
            && let Ok(after) = merge(&[(LayerKind::Root, &root), (LayerKind::Project, &text(&user))])
        {
            let (old, new) = (before.temper(), after.temper());
            prop_assert!(is_no_looser(old, new));
            let [structure, semantics, paths, patterns] = signals.map(|n| Permille::new(n % 1001));
            let signals = Signals { structure, semantics, paths, patterns };
            let verdict = |temper: &Temper| temper.thresholds().verdict(signals.total(temper.weights));
            prop_assert!(verdict(new) >= verdict(old));
        }
    }

    #[test]
    fn no_text_makes_a_panic(text in "\\PC*", kind in 0..2) {
        let kind = if kind == 0 { LayerKind::Root } else { LayerKind::Project };
        prop_assert!(merge(&[(kind, &text)]).is_ok_and(|_| text.trim().is_empty() || text.contains('#')) || merge(&[(kind, &text)]).is_err());
    }

    #[test]
    fn no_tokens_make_a_panic(words in proptest::collection::vec(prop_oneof![
        Just("[[rule]]\n"), Just("[[place]]\n"), Just("[command.x]\n"), Just("[["), Just("]]"), Just("{"), Just("}"),
        Just("["), Just("]"), Just("\n"), Just("="), Just("\""), Just("'''"), Just("when"), Just("id = \"a\"\n"),
        Just("operands = [\"read...\"]\n"), Just("until = 2026-01-01\n"), Just("a.b.c"), Just("1e9"), Just("\\u0000"),
        Just("class = \"secret\"\n"), Just("patterns = []\n"), Just("mode"), Just(","), Just("é"), Just("\0"),
    ], 0..30)) {
        let _ = merge(&[(LayerKind::Root, &words.concat())]);
    }
}

/// A folder of policy files, by path below it.
fn files(folder: &std::path::Path, all: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, all);
        } else if path.extension().is_some_and(|end| end == "toml") {
            let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("policy");
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            all.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn the_embedded_tables_are_what_the_files_say() {
    let mut all = Vec::new();
    files(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("policy"), &mut all);
    all.sort();
    all.retain(|(name, _)| name != "base.toml");
    let mut compiler = Compiler::after(embedded::TABLES.tags);
    for rest in [false, true] {
        for (name, text) in &all {
            let label = format!("embedded {name}");
            let source = Source::new(name, &label, text);
            if name.starts_with("commands/") == rest {
                continue;
            }
            if rest {
                compiler.add_rest(&source, &read_file(&source).unwrap()).unwrap();
            } else {
                compiler.add_commands(&source, read_commands(&source).unwrap()).unwrap();
            }
        }
    }
    let made = format!("{:#?}", compiler.finish().tables);
    let embedded = format!("{:#?}", embedded::TABLES);
    let difference = made.lines().zip(embedded.lines()).find(|(made, embedded)| made != embedded);
    assert_eq!((difference, made.len()), (None, embedded.len()));
}
