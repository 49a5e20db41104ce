//! Calls that real clients made, where a folder with recordings of them stands beside this one.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

fn recordings() -> Option<Vec<PathBuf>> {
    let folder = ["../shared/agents/fixtures", "../../shared/agents/fixtures"];
    let folder = folder.iter().map(PathBuf::from).find(|folder| folder.is_dir())?;
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| {
        path.extension().is_some_and(|end| end == "jsonl") && !path.ends_with("hook-inputs.jsonl")
    });
    files.sort();
    Some(files)
}

#[test]
fn recorded_calls_of_real_clients_are_understood_and_pass() {
    let Some(files) = recordings() else {
        println!("SKIPPED: no recordings of clients beside this folder");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (mut lines, mut wanted) = (String::new(), HashMap::new());
    for file in files {
        for line in std::fs::read_to_string(file).unwrap().lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            for (number, record) in case["records"].as_array().unwrap().iter().enumerate() {
                let id = format!("{}/{}/{number}", case["client"], case["case"]);
                lines += &json!({"id": id, "argv_b64": record["argv_b64"], "env": record["env"]}).to_string();
                lines.push('\n');
                // where the client itself changed the text, what it sent
                let text = if case["intact_after_envelope"] == true {
                    &case["intended_b64"]
                } else {
                    &record["inner_b64"]
                };
                wanted.insert(id, (case["main_record"] == number).then(|| text.clone()));
            }
        }
    }
    let input = folder.path().join("calls");
    std::fs::write(&input, lines).unwrap();
    let asked = Command::new(env!("CARGO_BIN_EXE_agent-shctl"))
        .args(["judge", "--cwd", "/tmp", "--argv-jsonl"])
        .arg(&input)
        .output()
        .unwrap();
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    let (mut passed, mut texts, mut own, mut scripts) = (0, 0, 0, 0);
    for line in String::from_utf8(asked.stdout).unwrap().lines() {
        let answer: Value = serde_json::from_str(line).unwrap();
        let id = answer["id"].as_str().unwrap();
        if answer["envelope"] == "script" {
            // a file of the machine where it was recorded, or of this one: no client's text
            scripts += 1;
            continue;
        }
        assert_eq!(answer["verdict"], "allow", "{answer}");
        passed += 1;
        match &wanted[id] {
            Some(_) if answer["text_b64"].is_null() => own += 1,
            Some(text) => {
                assert_eq!(&answer["text_b64"], text, "{answer}");
                texts += 1;
            }
            None => {}
        }
    }
    assert!(texts > 150, "{texts}");
    println!(
        "{passed} recorded calls pass; {texts} texts recovered byte for byte, {own} a client's own call; {scripts} script files not looked at"
    );
}

#[test]
fn broken_lines_are_named_and_the_others_judged() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("calls");
    let lines = [
        r#"{"id":1,"argv_b64":["YmFzaA==","LWM=","ZWNobyBhAGI="]}"#,
        r#"{"id":2,"argv_b64":["YmFzaA==","LWM=","ZWNobyBhcg=="],"env":{}}"#,
        "not json",
        "",
        r#"{"id":3,"argv_b64":["*"]}"#,
        r#"{"id":4}"#,
        r#"{"id":5,"argv_b64":[]}"#,
        r#"{"id":6,"argv_b64":["c2g=","LWM=","LS0=","cm0gLXJmIH4="],"env":{"HOME":"/home/u"}}"#,
    ];
    std::fs::write(&input, lines.join("\n")).unwrap();
    let asked = Command::new(env!("CARGO_BIN_EXE_agent-shctl"))
        .args(["judge", "--argv-jsonl"])
        .arg(&input)
        .output()
        .unwrap();
    assert_eq!(asked.status.code(), Some(2));
    let errors = String::from_utf8(asked.stderr).unwrap();
    for (line, what) in
        [(1, "zero byte"), (3, "expected"), (5, "argv_b64[0] is not base64"), (6, "missing field `argv_b64`")]
    {
        let place = format!("calls:{line}: ");
        assert!(
            errors.lines().any(|error| error.contains(&place) && error.contains(what)),
            "{line}: {errors}"
        );
    }
    let out = String::from_utf8(asked.stdout).unwrap();
    let answers: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let short: Vec<(i64, &str, &str)> = answers
        .iter()
        .map(|a| (a["id"].as_i64().unwrap(), a["verdict"].as_str().unwrap(), a["envelope"].as_str().unwrap()))
        .collect();
    assert_eq!(short, [(2, "allow", "bare"), (5, "allow", "input"), (6, "deny", "bare")]);
    assert_eq!(answers[2]["text_b64"], "cm0gLXJmIH4=");
}
