//! Tests of `fidelity::blame`.

use super::*;

fn evidence(meant: &str, hops: &[Option<&str>], status: i32, stderr: &str) -> Evidence {
    Evidence {
        meant: meant.as_bytes().to_vec(),
        hops: hops
            .iter()
            .enumerate()
            .map(|(at, text)| (format!("h{at}"), text.map(|text| text.as_bytes().to_vec())))
            .collect(),
        status: Some(status),
        stderr: stderr.to_owned(),
        nested: Vec::new(),
    }
}

#[test]
fn the_evidence_decides() {
    for (meant, hops, stderr, who) in [
        ("grep '\\\\a'", &[Some("grep '\\\\a'"), Some("grep '\\a'")][..], "", Who::Path),
        ("ls", &[None], "", Who::Unknown),
        ("ls", &[], "", Who::Unknown),
        ("ls", &[Some("ls"), None], "ls: x", Who::Unknown),
        (
            "if then",
            &[Some("if then")],
            "bash: -c: line 1: syntax error near unexpected token `then'",
            Who::Model,
        ),
        ("nosuch", &[Some("nosuch")], "bash: line 1: nosuch: command not found", Who::Model),
        (
            "cat <<E\nx\nE",
            &[Some("cat <<E\nx\nE")],
            "bash: line 9: syntax error: unexpected end of file",
            Who::Path,
        ),
        ("echo a", &[Some("echo a")], "bash: line 1: syntax error near unexpected token `}'", Who::Path),
        ("jq \".a | b(\"", &[Some("jq \".a | b(\"")], "jq: error: syntax error, unexpected end", Who::Nested),
        (
            "bash -c \"for i in 1; do echo $i\"",
            &[Some("bash -c \"for i in 1; do echo $i\"")],
            "bash: -c: line 2: syntax error: unexpected end of file",
            Who::Nested,
        ),
        (
            "python3 -c 'print(\"a)'",
            &[Some("python3 -c 'print(\"a)'")],
            "  File \"<string>\", line 1\nSyntaxError: unterminated string literal",
            Who::Nested,
        ),
        ("cat /nosuch", &[Some("cat /nosuch")], "cat: /nosuch: No such file or directory", Who::Model),
        ("grep x f", &[Some("grep x f")], "grep: f: No such file or directory", Who::Model),
    ] {
        let found = blame(&evidence(meant, hops, 1, stderr));
        assert_eq!(found.who, who, "{meant}: {found:?}");
        assert!(!found.reasons.is_empty());
    }
}

#[test]
fn a_probe_s_vector_shows_what_a_nested_program_got() {
    let mut given = evidence("ssh h 'echo a'", &[Some("ssh h 'echo a'")], 0, "");
    given.nested = vec![vec![b"/usr/bin/ssh".to_vec(), b"h".to_vec(), b"echo".to_vec(), b"a".to_vec()]];
    assert_eq!(blame(&given).who, Who::Nested);
    given.nested = vec![vec![b"ssh".to_vec(), b"h".to_vec(), b"echo a".to_vec()]];
    assert_eq!(blame(&given).who, Who::Model);
}
