//! Who is to blame, a second time: failures that a grammar makes, for measuring and never for mending.
//!
//! The truth is known from how a failure was made, and each has its counterpart that succeeds: the same text before
//! one thing was done to it. What is measured with this file may be printed; the code is mended by the programs' own
//! lists of messages and by the cases of `failures.rs`.

use std::path::Path as Folder;
use std::process::{Command, Stdio};

use agent_sh::fidelity::blame::{Evidence, Who, blame};
use agent_sh::fidelity::hop::Path;

use crate::measures::{Chance, is_full};

struct Failure {
    meant: String,
    hops: Vec<(String, Option<Vec<u8>>)>,
    /// what bash is given in the end
    run: String,
}

fn pick<'a>(chance: &mut Chance, of: &[&'a str]) -> &'a str {
    of[chance.below(of.len())]
}

const NOUNS: &[&str] = &["invoice", "build-12", "src/main", "v2.0", "kettle", "north_wind", "a7"];

/// Commands that succeed, with quotes, backslashes, lines and expansions in them.
const PIECES: &[&str] = &[
    "printf '%s\\n' \"NOUN one\" 'two  NOUN'",
    "echo 'NOUN.txt' | grep -c 'NOUN\\.txt$'",
    "for f in NOUN b; do echo \"<$f>\"; done",
    "if [ \"NOUN\" = 'NOUN' ]; then echo same; fi",
    "case NOUN in *[!a-z]*) echo mixed ;; *) echo plain ;; esac",
    "cat <<'END'\nit's NOUN\n\"$HOME\" \\n\nEND",
    "cat <<END\nNOUN ${UNSET:-none} \"\nEND",
    "n=$((3 * 4)); echo \"$n NOUN\"",
    "[[ NOUN == N* || -n NOUN ]] && echo 'it matches'",
    "list=('NOUN x' \"y\"); echo \"${#list[@]}\"",
    "say() { printf '%s|' \"$@\"; }; say NOUN 'b c'",
    "echo NOUN | sed 's/\\(.\\)$/\\1!/'",
    "while read -r w; do echo \"$w\"; done < <(printf 'NOUN\\n')",
    "awk 'BEGIN { x = \"NOUN\"; if (x != \"\") print x }'",
    "test -d / && echo \"NOUN \\\"quoted\\\"\"",
    "python3 -c 'print(\"NOUN\\n\".strip())'",
    "x=`echo NOUN`; echo \"${x%%.*}\"",
];

fn valid(chance: &mut Chance) -> String {
    let count = 1 + chance.below(3);
    let mut out = String::new();
    for at in 0..count {
        let piece = pick(chance, PIECES).replace("NOUN", pick(chance, NOUNS));
        // only a line's end may stand behind a here-document
        let joint = if out.ends_with("END") { "\n" } else { pick(chance, &["\n", "; ", " && "]) };
        out.push_str(if at == 0 { "" } else { joint });
        out.push_str(&piece);
    }
    out
}

/// What fails when it runs: TOOL, FILE, FLAG and NAME are filled in.
const RUNTIME: &[&str] = &[
    "TOOL /absent/FILE",
    "TOOL FLAG /etc/passwd",
    "NAME --version",
    "./NAME.sh",
    "/opt/NAME/bin/run now",
    "cd /absent/FILE",
    "echo x > /absent/FILE",
    "cat < /absent/FILE",
    "set -u; echo \"$NAME\"",
    "echo $((7 / 0))",
    "test FILE = other",
    "[ -e /absent/FILE ]",
    "[ FILE -gt 3 ]",
    "(exit 7)",
    "false",
    "kill -0 999999",
    "source /absent/FILE",
    "printf '%d\\n' FILE",
    "unset -f NAME; NAME",
    "readonly q=1; q=2",
    "diff /etc/passwd /etc/group >/dev/null",
    "timeout 0.05 sleep 2",
    "python3 -c 'import NAME'",
    "python3 -c 'raise ValueError(\"FILE\")'",
    "python3 -c 'print({}[\"FILE\"])'",
    "python3 -c 'import sys; sys.exit(\"FILE is wrong\")'",
    "python3 /absent/FILE.py",
    "perl -e 'die \"FILE\\n\"'",
    "perl -MNAME -e 1",
    "node -e 'throw new Error(\"FILE\")'",
    "node -e 'process.exit(3)'",
    "node /absent/FILE.js",
    "awk 'BEGIN { exit 4 }'",
    "awk '{ print }' /absent/FILE",
    "sed -n 1p /absent/FILE",
    "jq . /absent/FILE",
    "echo '\"FILE\"' | jq .key",
    "bash -c 'exit 5'",
    "bash -c 'cat /absent/FILE'",
    "bash -c 'NAME --now'",
    "bash /absent/FILE.sh",
    "sh -c 'ls /absent/FILE'",
    "sh -c 'NAME; exit 9'",
    "dash -c 'cd /absent/FILE'",
    "zsh -fc 'NAME -x'",
    "busybox sh -c 'cat /absent/FILE'",
    "find /absent/FILE -name x",
    "echo /absent/FILE | xargs cat",
    "env -u NAME false",
    "make -f /absent/FILE",
    "tar -xf /absent/FILE.tar",
    "git -C / show NAME",
];
const TOOLS: &[&str] =
    &["cat", "ls", "head -n 2", "wc -l", "sort", "stat", "md5sum", "grep -n x", "cp -t /tmp"];
const FLAGS: &[&str] = &["--absent-flag", "--no-such=1", "--zzz"];
const NAMES: &[&str] = &["frobnicate", "kubectx9", "Deploy_It", "qwertz"];

fn fails_running(chance: &mut Chance) -> (String, String) {
    let mut piece = pick(chance, RUNTIME).to_owned();
    for (hole, words) in [("TOOL", TOOLS), ("FLAG", FLAGS), ("NAME", NAMES), ("FILE", NOUNS)] {
        piece = piece.replace(hole, pick(chance, words));
    }
    let before = valid(chance);
    let text = if chance.below(2) == 0 { piece } else { format!("{before}\n{piece}") };
    (before, text)
}

/// A valid text of which something that its grammar needs is gone, or stands twice.
fn fails_reading(chance: &mut Chance) -> (String, String) {
    let text = valid(chance);
    let parts: &[&str] = &["done", "fi", "esac", "}", "'", "\"", ")", "]]", "then", "do", ";;", "(", "`"];
    let part = pick(chance, parts);
    let places: Vec<usize> = text.match_indices(part).map(|(at, _)| at).collect();
    let changed = match places.get(chance.below(places.len())) {
        Some(at) if chance.below(3) > 0 => format!("{}{}", &text[..*at], &text[at + part.len()..]),
        _ => format!(
            "{text}{}",
            pick(chance, &["\n)", " | | wc", "\nfi", "\n;; esac", " &&", "; }", "\ndone"])
        ),
    };
    (text, changed)
}

/// An interpreter, and programs for it that succeed.
const PROGRAMS: &[(&str, &[&str])] = &[
    (
        "bash -c",
        &[
            "for i in 1 2; do echo \"$i NOUN\"; done",
            "if true; then echo \"NOUN\"; fi",
            "f() { echo NOUN; }; f",
        ],
    ),
    ("sh -c", &["case NOUN in a) echo a ;; *) echo b ;; esac", "echo \"$((1 + 2)) NOUN\"", "{ echo NOUN; }"]),
    ("dash -c", &["while false; do echo NOUN; done", "(echo \"NOUN\")", "x=$(echo NOUN); echo \"$x\""]),
    ("busybox sh -c", &["if true; then echo NOUN; fi", "for i in NOUN; do echo \"$i\"; done"]),
    ("zsh -fc", &["for i in NOUN; do echo \"$i\"; done", "if true; then echo NOUN; fi"]),
    ("mksh -c", &["for i in NOUN; do echo \"$i\"; done", "if true; then echo \"NOUN\"; fi"]),
    (
        "python3 -c",
        &[
            "for i in [1, 2]:\n    print(i, \"NOUN\")",
            "print({\"a\": [\"NOUN\"]})",
            "x = (1 + 2) * 3\nprint(x)",
        ],
    ),
    (
        "perl -e",
        &[
            "my %h = (a => \"NOUN\"); print $h{a};",
            "if (1 > 0) { print \"NOUN\" }",
            "print join(\"-\", (1, 2));",
        ],
    ),
    ("node -e", &["console.log([1, 2].map(x => x + \"NOUN\"))", "if (true) { console.log(\"NOUN\") }"]),
    ("awk", &["BEGIN { x = \"NOUN\"; if (x) { print x } }", "BEGIN { print (1 + 2) \"NOUN\" }"]),
    ("sed -n", &["s/a\\(b\\)/[\\1]/p", "/a/{p;}", "y/abc/xyz/"]),
    ("jq -n", &["{a: [1, 2], b: \"NOUN\"}", "[1, 2] | map(. + 1)"]),
    ("grep -cE", &["(a|b)*", "[x]|^$|a{1,2}|"]),
    ("tclsh <<<", &["puts [expr {1 + 2}]"]),
];
const BROKEN: &[&str] =
    &["(", ")", "{", "}", "[", "]", "\"", "then", "do", "done", "fi", "esac", "/", ":", "\\)", "="];

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A program within the text of which something is gone; or one that is quoted as if nothing in it were special.
fn fails_within(chance: &mut Chance) -> (String, String) {
    let (interpreter, programs) = PROGRAMS[chance.below(PROGRAMS.len())];
    let program = pick(chance, programs).replace("NOUN", pick(chance, NOUNS));
    let before = if chance.below(3) == 0 { valid(chance) + "\n" } else { String::new() };
    let before =
        before + pick(chance, &["", "", "env K=1 ", "timeout 9 ", "nice ", "cd / && ", "echo ab | "]);
    let good = format!("{before}{interpreter} {}", quoted(&program));
    if program.contains('"') && chance.below(4) == 0 {
        return (good, format!("{before}{interpreter} \"{program}\""));
    }
    let part = pick(chance, BROKEN);
    let places: Vec<usize> = program.match_indices(part).map(|(at, _)| at).collect();
    let Some(at) = places.get(chance.below(places.len())) else { return (good.clone(), good) };
    let broken = format!("{}{}", &program[..*at], &program[at + part.len()..]);
    (good, format!("{before}{interpreter} {}", quoted(&broken)))
}

const FAULTS: &[&str] = &[
    "halve-backslashes",
    "drop-backslashes",
    "drop-quotes",
    "drop-apostrophes",
    "swap-quotes",
    "join-space",
    "first-line",
    "bang",
    "expand",
    "html",
    "smart-quotes",
    "truncate:30",
    "at-most:40",
    "unescape",
    "crlf",
    "words', 'join",
];

/// What wrappers put around a text that is recorded before them.
const AROUND: &[(&str, &str)] = &[("{ ", "; }"), ("(", ")"), ("if true; then ", "; fi"), ("(cd / && ", ")")];

fn fails_by_path(chance: &mut Chance) -> Option<(String, Failure)> {
    let meant = valid(chance);
    if chance.below(6) == 0 {
        let text =
            format!("{meant}{}", pick(chance, &[" # so far", "\ncat <<END\nx\nEND", "\n# the end", " &"]));
        let (head, tail) = AROUND[chance.below(AROUND.len())];
        let run = format!("{head}{text}{tail}");
        let hops = observed(&[("hook", &text), ("shell", &text)]);
        return Some((text.clone(), Failure { meant: text, hops, run }));
    }
    let fault = FAULTS[chance.below(FAULTS.len())];
    let toml = format!("name='f'\n[[hop]]\nname='f'\nvia='file'\nsend=['{{text}}']\nreceive=['{fault}']\n");
    let path = Path::parse(&toml).unwrap();
    let run = String::from_utf8_lossy(path.trace(meant.as_bytes())[0].text()?).into_owned();
    if run == meant {
        return None;
    }
    let mut hops = observed(&[("hook", &meant), ("tool", &meant), ("transport", &run), ("shell", &run)]);
    if chance.below(3) == 0 {
        hops[3].1 = None;
    }
    Some((meant.clone(), Failure { meant, hops, run }))
}

fn observed(hops: &[(&str, &str)]) -> Vec<(String, Option<Vec<u8>>)> {
    hops.iter().map(|(name, text)| ((*name).to_owned(), Some(text.as_bytes().to_vec()))).collect()
}

/// A text that nobody changed on its way; one in five has something done to it that changes nothing.
fn unchanged(chance: &mut Chance, meant: String) -> Failure {
    let body = quoted(&meant);
    let run = match chance.below(10) {
        0 => format!("{meant}\n"),
        1 => format!(
            "shopt -u extglob 2>/dev/null || true && eval {body} < /dev/null && pwd -P >| /tmp/claude-77aa-cwd"
        ),
        _ => meant.clone(),
    };
    let hops = observed(&[("hook", &meant), ("shell", &run)]);
    Failure { meant, hops, run }
}

fn run(text: &str, folder: &Folder) -> (Option<i32>, String) {
    let output = Command::new("timeout")
        .args(["5", "bash", "-c", text])
        .current_dir(folder)
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("LC_ALL", "C"), ("HOME", "/nonexistent")])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The next failure of a kind: its counterpart succeeds, it fails, and what it is said to be can be seen.
fn next(chance: &mut Chance, truth: Who, folder: &Folder) -> Option<(Failure, i32, String)> {
    let (good, failure) = match truth {
        Who::Path => fails_by_path(chance)?,
        Who::Nested => {
            let (good, text) = fails_within(chance);
            (good, unchanged(chance, text))
        }
        _ => {
            let reading = chance.below(3) == 0;
            let (good, text) = if reading { fails_reading(chance) } else { fails_running(chance) };
            let rejected = !Command::new("bash")
                .args(["-n", "-c", &text])
                .stderr(Stdio::null())
                .status()
                .unwrap()
                .success();
            if rejected != reading {
                return None;
            }
            (good, unchanged(chance, text))
        }
    };
    if run(&good, folder).0 != Some(0) {
        return None;
    }
    let (status, stderr) = run(&failure.run, folder);
    // 124 and 137: it hung; who never says anything within is not to be told from a text that fails
    let silent = truth == Who::Nested && stderr.is_empty();
    status.filter(|status| !matches!(status, 0 | 137) && !silent).map(|status| (failure, status, stderr))
}

#[test]
fn blame_agrees_with_how_unseen_failures_were_made() {
    let folder = tempfile::tempdir().unwrap();
    let each = if is_full() { 120 } else { 30 };
    let kinds = [Who::Model, Who::Path, Who::Nested];
    let (mut truths, mut said, mut right, mut all) = ([0_usize; 3], [0_usize; 3], 0, 0);
    let mut wrong = Vec::new();
    for (at, truth) in kinds.into_iter().enumerate() {
        let mut chance = Chance(2026 + at as u64);
        let made = std::iter::from_fn(|| Some(next(&mut chance, truth, folder.path())))
            .take(each * 60)
            .flatten()
            .take(each);
        for (failure, status, stderr) in made {
            let evidence = Evidence {
                meant: failure.meant.into_bytes(),
                hops: failure.hops,
                status: Some(status),
                stderr,
                nested: Vec::new(),
            };
            let who = blame(&evidence).who;
            all += 1;
            truths[at] += 1;
            if let Some(verdict) = kinds.iter().position(|kind| *kind == who) {
                said[verdict] += 1;
            }
            right += usize::from(who == truth);
            if who != truth {
                wrong.push(format!(
                    "{truth:?}, said {who:?}: {:?}\n   {}",
                    failure.run,
                    evidence.stderr.trim_end()
                ));
            }
        }
    }
    // Cohen's kappa in thousandths: (observed - expected) / (1 - expected)
    let expected: usize = (0..3).map(|at| said[at] * truths[at]).sum();
    let kappa = 1000 * (right * all - expected) / (all * all - expected);
    println!(
        "unseen failures {all} ({truths:?}), attributed rightly {right}, kappa {}.{:03}",
        kappa / 1000,
        kappa % 1000
    );
    println!("{}", wrong.join("\n"));
    assert!(all >= each * 3 && kappa >= 900, "kappa {kappa}\n{}", wrong.join("\n"));
}
