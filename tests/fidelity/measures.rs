//! What the comparison, the location and the attribution are worth, measured against truths by construction:
//! where a fault was put in, what bash did with a probe in the text.
//!
//! Small here; `scripts/iec-check` sets AGENT_SH_IEC=full.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use agent_sh::fidelity::compare::{Meaning, Slow, compare};
use agent_sh::fidelity::hop::Path;
use agent_sh::fidelity::locate::{Extent, Finding, first, follow};
use agent_sh::fidelity::payload::{self, Payload};
use agent_sh::invocation::context::Dialect;

pub(crate) fn is_full() -> bool {
    std::env::var("AGENT_SH_IEC").is_ok_and(|v| v == "full")
}

/// A generator without a dependency: `SplitMix64`.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % u64::try_from(bound.max(1)).unwrap()).unwrap()
    }
}

const FAULTS: &[&str] = &[
    "trim-end",
    "trim-newline",
    "halve-backslashes",
    "double-backslashes",
    "drop-backslashes",
    "bang",
    "crlf",
    "expand-tabs",
    "squeeze",
    "join-space",
    "first-line",
    "drop-quotes",
    "drop-apostrophes",
    "swap-quotes",
    "unescape",
    "html",
    "smart-quotes",
    "ascii",
    "lossy",
    "latin1",
    "bom",
    "expand",
    "trim-lines",
    "drop-comments",
    "suffix: < /dev/null",
    "truncate:20",
    "at-most:30",
    "json-string",
    "xargs-line",
    "env-s",
    "cron-line",
    "make-recipe",
    "tmux-keys",
    "yaml-plain",
    "words",
];

#[test]
fn injected_faults_are_located_at_their_hop() {
    let ready = Path::ready().unwrap();
    let clean: Vec<_> = [
        "direct",
        "script-file",
        "ssh-quoted",
        "su",
        "json",
        "base64",
        "xargs-null",
        "env-s-quoted",
        "podman-exec",
        "claude-code",
    ]
    .iter()
    .map(|name| ready.iter().find(|path| path.name == *name).unwrap().hops[0].clone())
    .collect();
    let payloads = payload::own().unwrap();
    let mut chance = Chance(5);
    let (mut injected, mut located, mut both) = (0, 0, 0);
    let wanted = if is_full() { 4000 } else { 400 };
    for _ in 0..wanted * 6 {
        let text = payloads[chance.below(payloads.len())].with(b"/p");
        let fault = FAULTS[chance.below(FAULTS.len())];
        let join = if fault == "words" || fault == "env-s" { ", 'join'" } else { "" };
        let parsed = Path::parse(&format!(
            "name='f'\n[[hop]]\nname='fault'\nvia='file'\nsend=['{{text}}']\nreceive=[\"{fault}\"{join}]\n"
        ));
        let hop = parsed.unwrap().hops.remove(0);
        if hop.deliver(&text).is(&text) {
            continue;
        }
        let fitting: Vec<_> = clean.iter().filter(|hop| hop.deliver(&text).is(&text)).cloned().collect();
        let count = 2 + chance.below(4);
        let mut hops: Vec<_> = (0..count).map(|_| fitting[chance.below(fitting.len())].clone()).collect();
        let at = chance.below(count + 1);
        hops.insert(at, hop.clone());
        let path = Path { name: "made".to_owned(), about: String::new(), hops };
        injected += 1;
        located +=
            usize::from(first(&follow(&path, &text, Extent::First)).is_some_and(|found| found.hop == at + 1));
        // a second fault behind the first is hidden from the first pass, not from the second
        let mut hops = path.hops.clone();
        hops.push(hop);
        let two = Path { hops, ..path };
        let found = follow(&two, &text, Extent::All);
        let changed: Vec<usize> =
            found.iter().filter(|l| l.finding != Finding::Same).map(|l| l.hop).collect();
        both += usize::from(changed == [at + 1, count + 2]);
        if injected == wanted {
            break;
        }
    }
    println!("faults injected {injected}, located {located}, pairs found by --all {both}");
    assert!(injected >= 200 && located == injected && both == injected);
}

/// Runs texts with a probe in them and nothing else in PATH than what our own texts call.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let probe = folder.path().join("probe");
        let out = folder.path().join("out");
        std::fs::write(&probe, format!("#!/bin/dash\nprintf '%s\\0' \"$#\" \"$@\" >>{}\n", out.display()))
            .unwrap();
        std::fs::set_permissions(&probe, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::create_dir(folder.path().join("bin")).unwrap();
        for name in ["cat", "bash", "env", "xargs"] {
            for from in ["/usr/bin", "/bin"] {
                let from = PathBuf::from(from).join(name);
                if from.exists() {
                    drop(symlink(from, folder.path().join("bin").join(name)));
                }
            }
        }
        Self { folder }
    }

    fn probe(&self) -> Vec<u8> {
        self.folder.path().join("probe").into_os_string().into_encoded_bytes()
    }

    /// What the probe saw, and the status; `None` where it did not end.
    fn run(&self, text: &[u8]) -> Option<(Vec<u8>, Option<i32>)> {
        let out = self.folder.path().join("out");
        drop(std::fs::remove_file(&out));
        let (script, work) = (self.folder.path().join("script"), self.folder.path().join("work"));
        drop(std::fs::remove_dir_all(&work));
        std::fs::create_dir(&work).unwrap();
        std::fs::write(&script, text).unwrap();
        let mut child = Command::new("/usr/bin/timeout")
            .args(["-s", "KILL", "5", "/bin/bash"])
            .arg(&script)
            .current_dir(&work)
            .env_clear()
            .env("PATH", self.folder.path().join("bin"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let status = child.wait().unwrap();
        let seen = std::fs::read(&out).unwrap_or_default();
        (status.code() != Some(137)).then_some((seen, status.code()))
    }
}

/// One small change somewhere in a text.
fn mutated(text: &[u8], chance: &mut Chance) -> Vec<u8> {
    let at = chance.below(text.len());
    let mut out = text.to_vec();
    let put: &[&[u8]] =
        &[b"'", b"\"", b"\\", b"$", b" ", b"\n", b";", b"#", b"*", b"x", b"&", b"|", b"`", b"{", b"!"];
    match chance.below(6) {
        0 => drop(out.remove(at)),
        1 => drop(out.splice(at..at, put[chance.below(put.len())].iter().copied())),
        2 => out[at] = put[chance.below(put.len())][0],
        3 => out.swap(at, (at + 1).min(text.len() - 1)),
        4 => {
            let end = (at + 1 + chance.below(6)).min(out.len());
            drop(out.drain(at..end));
        }
        _ => {
            let pairs: &[(&str, &str)] = &[
                ("&&", ";"),
                ("; ", " && "),
                ("'", "\""),
                ("\"", "'"),
                ("\\", ""),
                ("\\\\", "\\"),
                ("\n", " "),
                ("$", ""),
                ("\"$", "$"),
                ("  ", " "),
                ("||", "|"),
                ("|", "||"),
                ("!", "\\!"),
                ("{", "("),
                ("-", "_"),
            ];
            let (from, to) = pairs[chance.below(pairs.len())];
            let places: Vec<usize> = out
                .windows(from.len())
                .enumerate()
                .filter(|(_, w)| *w == from.as_bytes())
                .map(|(i, _)| i)
                .collect();
            if let Some(place) = places.get(chance.below(places.len())) {
                drop(out.splice(*place..*place + from.len(), to.bytes()));
            }
        }
    }
    out
}

/// Our texts whose runs are the same each time.
fn steady() -> Vec<Payload> {
    let unfit = ["background", "process", "mapfile"];
    payload::own()
        .unwrap()
        .into_iter()
        .filter(|p| !unfit.contains(&p.name.as_str()) && p.text.len() < 3000)
        .collect()
}

#[test]
fn changes_that_bash_carries_out_differently_are_never_called_equal() {
    let bench = Bench::new();
    let payloads = steady();
    let probe = bench.probe();
    let place = memchr::memmem::Finder::new(&probe);
    let mut chance = Chance(if is_full() { 20_261_130 } else { 7 });
    let wanted = if is_full() { 1500 } else { 120 };
    let (mut changing, mut equivalent, mut missed) = (0, 0, Vec::new());
    let mut runs = 0;
    while changing < wanted && runs < wanted * 8 {
        runs += 1;
        let text = payloads[chance.below(payloads.len())].with(&probe);
        let mutant = mutated(&text, &mut chance);
        // the probe itself must stay what it is: another program's name is a trivial change
        if mutant == text || place.find(&mutant).is_none() {
            continue;
        }
        let (Some(before), Some(after)) = (bench.run(&text), bench.run(&mutant)) else { continue };
        let meaning = compare(&text, &mutant, Dialect::Bash, Slow::Allowed);
        if before == after {
            equivalent += usize::from(meaning != Meaning::Different);
            continue;
        }
        if bench.run(&text) != Some(before) {
            continue;
        }
        changing += 1;
        if meaning != Meaning::Different {
            missed.push(format!(
                "{:?}\n{:?}\n{meaning:?}",
                String::from_utf8_lossy(&text),
                String::from_utf8_lossy(&mutant)
            ));
        }
    }
    println!(
        "mutants {runs}: execution-changing {changing}, called equal {}; others equal {equivalent}",
        missed.len()
    );
    assert!(changing >= wanted && missed.is_empty(), "{changing} {}", missed.join("\n\n"));
}

/// A text that means the same, by a rule that leaves the meaning alone wherever it applies.
fn rewritten(text: &str, chance: &mut Chance) -> Option<String> {
    let lines: Vec<&str> = text.split('\n').collect();
    let single = lines.len() == 1;
    let bare = |text: &str| !text.contains(['\'', '"', '\\', '`', '#', '<', '\n']) && !text.contains("$(");
    let blanks: Vec<usize> = text.match_indices(' ').map(|(at, _)| at).collect();
    Some(match chance.below(9) {
        0 => format!("{text}\n"),
        1 => format!("\n\n{text}"),
        2 => format!("# what it does\n{text}"),
        3 if single && !text.contains('#') => format!("{text} # so"),
        4 => format!("  {text}"),
        // any blank of a text without quotes stands between words
        5 if bare(text) && !blanks.is_empty() => {
            let at = blanks[chance.below(blanks.len())];
            format!("{}   {}", &text[..at], &text[at + 1..])
        }
        6 if bare(text) && !blanks.is_empty() => {
            let at = blanks[chance.below(blanks.len())];
            format!("{} \\\n    {}", &text[..at], &text[at + 1..])
        }
        7 if bare(text) && text.contains("; ") => text.replacen("; ", "\n", 1),
        8 => {
            // the first argument of the first command, if it is a plain word
            let (head, rest) = text.split_once(' ')?;
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
            let whole =
                end > 0 && rest[end..].chars().next().is_none_or(|c| c == ' ' || c == '\n' || c == ';');
            let reserved = ["if", "for", "while", "until", "case", "{", "("];
            if !whole || !head.starts_with('/') || reserved.contains(&head) {
                return None;
            }
            format!("{head} '{}'{}", &rest[..end], &rest[end..])
        }
        _ => return None,
    })
}

#[test]
fn rewrites_of_the_same_meaning_are_rarely_called_different() {
    let bench = Bench::new();
    let payloads = steady();
    let probe = bench.probe();
    let mut chance = Chance(if is_full() { 314 } else { 15 });
    let wanted = if is_full() { 1000 } else { 100 };
    let (mut rewrites, mut flagged) = (0, Vec::new());
    for _ in 0..wanted * 10 {
        let text = payloads[chance.below(payloads.len())].with(&probe);
        // a text that looks at its own lines is not the same after a rewrite
        let Ok(text) = String::from_utf8(text) else { continue };
        if text.contains("LINENO") {
            continue;
        }
        let Some(other) = rewritten(&text, &mut chance) else { continue };
        // proven by bash, too
        let (Some(before), Some(after)) = (bench.run(text.as_bytes()), bench.run(other.as_bytes())) else {
            continue;
        };
        if before != after {
            continue;
        }
        rewrites += 1;
        if compare(text.as_bytes(), other.as_bytes(), Dialect::Bash, Slow::Allowed) == Meaning::Different {
            flagged.push(format!("{text:?} {other:?}"));
        }
        if rewrites == wanted {
            break;
        }
    }
    println!("rewrites {rewrites}, called divergent {}", flagged.len());
    assert!(rewrites >= wanted && flagged.len() * 100 <= rewrites, "{}", flagged.join("\n"));
}
