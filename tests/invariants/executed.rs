//! INVARIANT(I1): what was judged is what is executed.
//!
//! In: random bytes as text, arguments and environment. Out: bash printed the same bytes.
//! Never: lets random bytes stand where they could be a command.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;

/// Any bytes that an argument can hold.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        proptest::collection::vec(1..=255_u8, 0..12),
        proptest::sample::select(vec![
            "$(id)",
            "`id`",
            "\n",
            "\\\n",
            "\r",
            "'",
            "\"",
            "\\",
            "; exit 3",
            "-c",
            "--",
            "é",
            "\u{10ff8a}",
            "\u{10fe00}",
            "E\n",
            "\x1b[0m",
            "=",
            "${x",
            "#!",
        ])
        .prop_map(|s| s.as_bytes().to_vec()),
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn quoted(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![b'\''];
    for byte in bytes {
        if *byte == b'\'' { out.extend_from_slice(b"'\\''") } else { out.push(*byte) }
    }
    out.push(b'\'');
    out
}

/// How the text reaches the shell.
#[derive(Clone, Copy, Debug)]
enum Way {
    Command,
    Script,
    Input,
}

/// Prints, each ended by NUL: the text's own bytes, the arguments, a variable.
fn text(inside: &[u8]) -> Vec<u8> {
    [b": ", &*quoted(inside), b"\nbuiltin printf '%s\\0' ", &*quoted(inside), b" \"$@\" \"$V\""].concat()
}

fn printed(
    way: Way,
    inside: &[u8],
    arguments: &[Vec<u8>],
    variable: &[u8],
    folder: &Path,
) -> (Option<i32>, Vec<u8>, Vec<u8>) {
    use std::io::Write as _;
    let mut text = text(inside);
    let mut command = Command::new(env!("CARGO_BIN_EXE_agent-sh"));
    command.arg0("bash").current_dir(folder).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", folder);
    command.env("LC_ALL", "C.UTF-8").env("V", OsStr::from_bytes(variable));
    match way {
        Way::Command => {
            text.extend_from_slice(b" \"$BASH_EXECUTION_STRING\"");
            command.arg("-c").arg(OsStr::from_bytes(&text)).arg("name");
        }
        Way::Script => {
            std::fs::write(folder.join("script"), &text).unwrap();
            command.arg("script");
        }
        Way::Input => drop(command.args(["-s", "--"])),
    }
    command.args(arguments.iter().map(|a| OsStr::from_bytes(a)));
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    if matches!(way, Way::Input) {
        input.write_all(&text).unwrap();
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    (output.status.code(), output.stdout, output.stderr)
}

fn expected(way: Way, inside: &[u8], arguments: &[Vec<u8>], variable: &[u8]) -> Vec<u8> {
    let own = [text(inside), b" \"$BASH_EXECUTION_STRING\"".to_vec()].concat();
    let mut words = vec![inside];
    words.extend(arguments.iter().map(Vec::as_slice));
    words.push(variable);
    if matches!(way, Way::Command) {
        words.push(&own);
    }
    words.iter().flat_map(|w| [*w, b"\0"].concat()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, max_shrink_iters: 60, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_as_it_was_judged(
        inside in bytes(),
        arguments in proptest::collection::vec(bytes(), 0..4),
        variable in bytes(),
    ) {
        if !Path::new("/bin/bash").exists() {
            println!("SKIPPED: no bash here to become");
            return Ok(());
        }
        let folder = tempfile::tempdir().unwrap();
        for way in [Way::Command, Way::Script, Way::Input] {
            let (status, out, err) = printed(way, &inside, &arguments, &variable, folder.path());
            let wanted = expected(way, &inside, &arguments, &variable);
            prop_assert!(
                status == Some(0) && out == wanted,
                "{way:?} {status:?}\n{}\n{}\n{}", out.escape_ascii(), wanted.escape_ascii(), err.escape_ascii()
            );
        }
    }
}

#[test]
fn the_environment_arrives_whole() {
    if !Path::new("/usr/bin/env").exists() {
        println!("SKIPPED: no env here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let environment: Vec<(&[u8], &[u8])> = vec![
        (b"PATH", b"/usr/bin:/bin"),
        (b"HOME", folder.path().as_os_str().as_bytes()),
        (b"odd name", b"\xff\xfe"),
        (b"a.b-c", b"line\nline"),
        (b"EMPTY", b""),
        (b"BASH_FUNC_f%%", b"() {  :\n}"),
        (b"LANG", b"C"),
    ];
    let shell = |program: &str| {
        let mut command = Command::new(program);
        command.arg0("bash").args(["-c", "exec env -0"]).current_dir(folder.path()).env_clear();
        command.envs(environment.iter().map(|(n, v)| (OsStr::from_bytes(n), OsStr::from_bytes(v))));
        let output = command.output().unwrap();
        let mut entries: Vec<Vec<u8>> = output.stdout.split(|b| *b == 0).map(<[u8]>::to_vec).collect();
        entries.sort();
        entries
    };
    assert_eq!(shell(env!("CARGO_BIN_EXE_agent-sh")), shell("/bin/bash"));
}
