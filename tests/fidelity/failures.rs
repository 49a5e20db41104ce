//! Who is to blame: failures that were made on purpose, run by bash, and told apart by their evidence alone.

use std::process::Command;

use agent_sh::fidelity::blame::{Evidence, Who, blame};
use agent_sh::fidelity::hop::Path;

struct Failure {
    truth: Who,
    meant: String,
    /// what the last hop received; the first one always received what was meant
    received: String,
    /// what bash was given in the end
    run: String,
}

const WORDS: &[&str] = &["alpha", "report-7", "x.y"];

fn model() -> Vec<Failure> {
    let texts = [
        "if true; then echo W",
        "echo 'W",
        "for x in W; echo $x; done",
        "echo $(date W",
        "echo \"W",
        "{ echo W",
        "echo W | | cat",
        "nosuchprogram-W --all",
        "cat /nosuch/W",
        "ls -l /nosuch-W",
        "cd /nosuch/W && ls",
        "grep pattern /nosuch/W",
        "sort /nosuch/W | head -n 1; exit 2",
        "ls --nosuch-option-W",
        "sort --bogus-W /etc/passwd",
        "head -n W /etc/passwd",
        "test W = other",
        "./W.sh --now",
        "python3 -c 'raise RuntimeError(\"W\")'",
        "bash -c 'exit 4' # W",
    ];
    let all = texts.iter().flat_map(|text| WORDS.iter().map(|word| text.replace('W', word)));
    all.map(|text| Failure { truth: Who::Model, received: text.clone(), run: text.clone(), meant: text })
        .collect()
}

fn path() -> Vec<Failure> {
    let texts = [
        "grep -c '^root\\\\|W' /etc/passwd",
        "printf '%s\\n' \"W one\" 'two  W' | sed 's/\\(W\\)/<\\1>/'",
        "cat <<'E' | wc -l\nit's W\n$HOME\nE\n",
        "awk 'BEGIN { x = \"W\"; if (x != \"y\") print x }'",
        "echo W\necho \"second $USER\"",
        "python3 -c 'print(\"W\\n\")'",
    ];
    let faults = [
        "halve-backslashes",
        "drop-quotes",
        "join-space",
        "first-line",
        "bang",
        "expand",
        "html",
        "trim-newline",
        "smart-quotes",
        "truncate:18",
    ];
    let mut out = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        for fault in faults {
            let text = text.replace('W', WORDS[at % WORDS.len()]);
            let toml =
                format!("name='f'\n[[hop]]\nname='f'\nvia='file'\nsend=['{{text}}']\nreceive=['{fault}']\n");
            let Some(changed) =
                Path::parse(&toml).unwrap().trace(text.as_bytes())[0].text().map(<[u8]>::to_vec)
            else {
                continue;
            };
            let changed = String::from_utf8_lossy(&changed).into_owned();
            if changed != text {
                out.push(Failure { truth: Who::Path, meant: text, received: changed.clone(), run: changed });
            }
        }
    }
    // a wrapper behind the last record
    for (word, wrap) in WORDS.iter().zip(["{ T; }", "( T )", "if true; then T; fi"]) {
        for text in ["echo W # a note", "cat <<E\nW\nE", "ls /tmp # W", "echo W | cat # the end"] {
            let text = text.replace('W', word);
            let run = wrap.replace('T', &text);
            out.push(Failure { truth: Who::Path, received: text.clone(), meant: text, run });
        }
    }
    out
}

fn nested() -> Vec<Failure> {
    let texts = [
        "bash -c 'echo \"W'",
        "bash -c 'if true; then echo W'",
        "bash -c \"for i in W; do echo $i\"",
        "sh -c 'echo $(W'",
        "sh -c 'case W in a) echo'",
        "bash -c \"v=W; test $v = W\"",
        "python3 -c 'print(\"W)'",
        "python3 -c 'def f(:\n  return \"W\"'",
        "python3 -c \"print('W'\"",
        "awk '{ print \"W\"'",
        "awk 'BEGIN { if (W { print } }'",
        "awk \"BEGIN { print \\\"W\" /dev/null",
        "echo W | sed 's/a/b'",
        "echo W | sed 's/W/x/q9'",
        "echo W | sed 'y/ab/c/'",
        "perl -e 'print \"W'",
        "perl -e 'if (1 { print \"W\" }'",
        "echo W | grep -E '(W'",
        "echo W | grep '\\(W'",
        "echo \"it's W\" | xargs echo",
    ];
    let all = texts.iter().flat_map(|text| WORDS.iter().map(|word| text.replace('W', word)));
    all.map(|text| Failure { truth: Who::Nested, received: text.clone(), run: text.clone(), meant: text })
        .collect()
}

fn judged(failure: &Failure, folder: &std::path::Path) -> (Who, String) {
    let output = Command::new("timeout")
        .args(["5", "bash", "-c", &failure.run])
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", "C")
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let evidence = Evidence {
        meant: failure.meant.clone().into_bytes(),
        hops: vec![
            ("client".to_owned(), Some(failure.meant.clone().into_bytes())),
            ("transport".to_owned(), Some(failure.received.clone().into_bytes())),
        ],
        status: output.status.code(),
        stderr: stderr.clone(),
        nested: Vec::new(),
    };
    (blame(&evidence).who, stderr)
}

#[test]
fn blame_agrees_with_how_failures_were_made() {
    let folder = tempfile::tempdir().unwrap();
    let failures: Vec<Failure> = [model(), path(), nested()].into_iter().flatten().collect();
    let kinds = [Who::Model, Who::Path, Who::Nested];
    let (mut right, mut wrong) = (0, Vec::new());
    let mut said = [0_usize; 3];
    let mut truths = [0_usize; 3];
    let place = |who: Who| kinds.iter().position(|kind| *kind == who);
    for failure in &failures {
        let (who, stderr) = judged(failure, folder.path());
        truths[place(failure.truth).unwrap()] += 1;
        if let Some(at) = place(who) {
            said[at] += 1;
        }
        if who == failure.truth {
            right += 1;
        } else {
            wrong.push(format!(
                "{:?}, said {who:?}: {:?}\n   {}",
                failure.truth,
                failure.run,
                stderr.trim_end()
            ));
        }
    }
    // Cohen's kappa in thousandths: (observed - expected) / (1 - expected)
    let all = failures.len();
    let expected: usize = (0..3).map(|at| said[at] * truths[at]).sum();
    let kappa = 1000 * (right * all - expected) / (all * all - expected);
    println!(
        "failures {all} ({truths:?}), attributed rightly {right}, kappa {}.{:03}",
        kappa / 1000,
        kappa % 1000
    );
    println!("{}", wrong.join("\n"));
    assert!(all >= 150 && kappa >= 900, "kappa {kappa}\n{}", wrong.join("\n"));
}
