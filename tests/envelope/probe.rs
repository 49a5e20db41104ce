//! What bash itself makes of a text: one bash for many texts, in which the words that would run the model's
//! text say what they were given instead.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::clients::Call;

/// Prints, for each call, `call`, then what came to eval, to `builtin eval` last and to exec.
const EVALUATED: &str = r#"
eval() { builtin printf 'got\0%s\0' "$1" >&9; builtin return 1; }
exec() { builtin printf 'got\0%s\0' "$3" >&9; builtin exit; }
dump_bash_state() { :; }
builtin() {
    case $1 in
    eval) shift; [[ $1 == -- ]] && shift; [[ -z $1 ]] || command printf 'got\0%s\0' "$1" >&9 ;;
    exit) command exit ;;
    *) command "$@" ;;
    esac
}
while IFS= read -r -d '' text && IFS= read -r -d '' count; do
    arguments=()
    while ((count-- > 0)); do IFS= read -r -d '' one; arguments+=("$one"); done
    command printf 'call\0' >&9
    ( set -- "${arguments[@]:1}"; command eval "$text" ) 3</dev/null 4>/dev/null >/dev/null 2>&1 </dev/null
done
"#;

/// Prints, for each text, whether bash takes it for a script, and how bash reads it in its place: once as it is,
/// once with a further command on the line behind it.
const STANDS: &str = r#"
first=$'\n'": first"$'\n' last=$'\n'": last"$'\n'
while IFS= read -r -d '' text; do
    "$BASH" -n -c -- "$text" 2>/dev/null >/dev/null </dev/null
    printf '%s\0' "$?"
    for end in "$between$close" "$between$last$close"; do
        ( PATH=/nonexistent; eval "f() $open$first$text$end" >/dev/null 2>&1 </dev/null; declare -f f )
        printf '\0'
    done
done
"#;

/// Runs `script` with the items on a file as standard input; gives what it writes on descriptor 9 or 1.
fn bash(script: &str, items: &[u8], folder: &Path, variables: &[(&str, &str)]) -> Vec<Vec<u8>> {
    let (input, output) = (folder.join("items"), folder.join("answers"));
    std::fs::write(&input, items).unwrap();
    let mut command = Command::new("/bin/bash");
    command
        .args(["--norc", "--noprofile", "-c", &format!("exec 9>\"$answers\" >&9\n{script}")])
        .env_clear()
        .env("answers", &output)
        .env("HOME", folder)
        .env("LC_ALL", "C")
        .env("PATH", "/usr/bin:/bin")
        .envs(variables.iter().copied())
        .current_dir(folder)
        .stdin(std::fs::File::open(&input).unwrap())
        .stderr(Stdio::null());
    assert!(command.status().unwrap().code().is_some(), "bash was killed");
    let answers = std::fs::read(&output).unwrap();
    let mut parts: Vec<Vec<u8>> = answers.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
    parts.pop();
    parts
}

/// For each call, the texts that bash evaluates.
pub(crate) fn evaluated(calls: &[Call], folder: &Path) -> Vec<Vec<Vec<u8>>> {
    let mut items = Vec::new();
    for call in calls {
        items.write_all(&call.text).unwrap();
        write!(items, "\0{}\0", call.arguments.len()).unwrap();
        for argument in &call.arguments {
            items.write_all(argument).unwrap();
            items.push(0);
        }
    }
    let mut out: Vec<Vec<Vec<u8>>> = Vec::new();
    let mut parts = bash(EVALUATED, &items, folder, &[]).into_iter();
    while let Some(part) = parts.next() {
        match part.as_slice() {
            b"call" => out.push(Vec::new()),
            b"got" => out.last_mut().unwrap().push(parts.next().unwrap()),
            other => panic!("{}", String::from_utf8_lossy(other)),
        }
    }
    assert_eq!(out.len(), calls.len(), "bash did not come to the end");
    out
}

/// What bash thinks of a pasted text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// it is a script of its own there
    Own,
    /// nothing of it runs, wrapped or not: it is malformed
    Refused,
    /// it is something else
    Other,
}

/// For each text, what bash takes it for in a subshell or in braces.
pub(crate) fn places(texts: &[Vec<u8>], form: &str, folder: &Path) -> Vec<Place> {
    let items: Vec<u8> = texts.iter().flat_map(|text| text.iter().copied().chain([0])).collect();
    let variables: &[(&str, &str)] = match form {
        "subshell" => &[("open", "("), ("between", "\n"), ("close", ")")],
        _ => &[("open", "{"), ("between", "; "), ("close", "}")],
    };
    let answers = bash(STANDS, &items, folder, variables);
    assert_eq!(answers.len(), texts.len() * 3, "bash did not come to the end");
    let place = |answer: &[Vec<u8>]| match (answer[0].as_slice(), &answer[1], &answer[2]) {
        (b"0", as_it_is, followed) if is_followed(as_it_is, followed) => Place::Own,
        (b"0", ..) => Place::Other,
        (_, as_it_is, followed) if as_it_is.is_empty() && followed.is_empty() => Place::Refused,
        _ => Place::Other,
    };
    answers.chunks(3).map(place).collect()
}

/// Whether the one reading is the other with a last command of its own.
fn is_followed(as_it_is: &[u8], followed: &[u8]) -> bool {
    let lines = |text: &[u8]| -> Vec<String> {
        // what follows a command in the background is printed on its line
        let text = String::from_utf8_lossy(text).replace(" & : last", " &\n: last");
        // the subshell's own parentheses stand on the lines of its first and last command
        let bare = |line: &str| {
            let line = line.trim_matches([' ', '\t']);
            let line = line.strip_prefix("( ").unwrap_or(line);
            line.trim_end_matches([')', ';', ' ', '\t']).to_owned()
        };
        text.split('\n').map(bare).filter(|line| !line.is_empty()).collect()
    };
    let (as_it_is, mut followed) = (lines(as_it_is), lines(followed));
    let Some(at) = followed.len().checked_sub(2) else { return false };
    followed.remove(at) == ": last" && followed == as_it_is && as_it_is.iter().any(|line| line == ": first")
}
