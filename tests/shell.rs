//! agent-sh beside the real bash: the same call gives the same status, output and messages.
//!
//! In: the built program and /bin/bash, /bin/dash. Out: a verdict per table of cases.
//! Never: needs more than a Debian's tools; what can't run here says so.

// a test program: what is not there may stop it
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::wildcard_enum_match_arm,
    clippy::format_collect,
    clippy::format_push_string
)]

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Command, Stdio};

const AGENT_SH: &str = env!("CARGO_BIN_EXE_agent-sh");

/// One call: arguments, standard input, files `(name, content)`.
struct Call<'a> {
    args: &'a [&'a str],
    input: &'a str,
    files: &'a [(&'a str, &'a str)],
    env: &'a [(&'a str, &'a str)],
    /// mode of the folder that holds the files and is the working directory
    mode: u32,
}

impl Default for Call<'_> {
    fn default() -> Self {
        Self { args: &[], input: "", files: &[], env: &[], mode: 0o755 }
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    /// exit status, or the signal negated
    status: i32,
    stdout: String,
    stderr: String,
}

fn run(shell: &str, name: &str, call: &Call<'_>) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    for (file, content) in call.files {
        std::fs::write(folder.path().join(file), content).unwrap();
        std::fs::set_permissions(folder.path().join(file), std::fs::Permissions::from_mode(0o644)).unwrap();
    }
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(call.mode)).unwrap();
    let mut command = Command::new(shell);
    command.arg0(name).args(call.args).current_dir(folder.path()).env_clear();
    command.env("PATH", "/usr/bin:/bin").env("HOME", folder.path()).env("LC_ALL", "C.UTF-8");
    command.envs(call.env.iter().copied());
    finish(&mut command, call.input, folder.path())
}

/// openpty(3) gives descriptors that every child inherits: no other child starts meanwhile.
static TERMINAL: std::sync::RwLock<()> = std::sync::RwLock::new(());

fn finish(command: &mut Command, input: &str, folder: &Path) -> Outcome {
    use std::io::Write as _;
    let _nobody_s = TERMINAL.read().unwrap_or_else(std::sync::PoisonError::into_inner);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| {
        String::from_utf8_lossy(bytes)
            .replace(&*folder.to_string_lossy(), "DIR")
            .replace(AGENT_SH, "AGENT_SH")
    };
    let status = output.status.code().unwrap_or_else(|| -output.status.signal().unwrap_or(0));
    Outcome { status, stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

/// Both outcomes must be equal; gives it back.
fn same(name: &str, call: &Call<'_>) -> Outcome {
    let reference = if name.ends_with("bash") { "/bin/bash" } else { "/bin/dash" };
    let (theirs, ours) = (run(reference, name, call), run(AGENT_SH, name, call));
    assert_eq!(ours, theirs, "{name} {:?} {:?}", call.args, call.files);
    ours
}

#[test]
fn command_strings_run_as_in_bash() {
    let probe =
        "echo \"$0|$*|$#|$-|$BASH_EXECUTION_STRING\"; shopt -q login_shell && echo login; echo $SHELLOPTS";
    for args in [
        &["-c", probe][..],
        &["-c", probe, "name", "a b", ""],
        &["-lc", probe],
        &["-l", "-c", probe],
        &["-c", "-l", probe],
        &["--login", "-c", probe, "n"],
        &["-euxo", "pipefail", "-c", probe],
        &["-coO", "pipefail", "extglob", probe, "n", "x"],
        &["-O", "extglob", "-c", probe, "--", "A"],
        &["+O", "extglob", "-c", probe],
        &["-x", "+x", "-c", probe],
        &["--norc", "--noprofile", "-c", probe],
        &["--posix", "-c", probe],
        &["-o", "posix", "-c", probe],
        &["--rcfile", "/dev/null", "-c", probe],
        &["-r", "-c", probe],
        &["-c", "--", probe],
        &["-c", "-", probe],
        &["+c", probe],
        &["-s", "-c", probe, "n"],
        &["-n", "-c", probe],
        &["-D", "-c", "echo $\"x\""],
        &["-vc", "echo a\necho b"],
        &["-tc", "echo a\necho b"],
        &["-c", "exit 7"],
        &["-c", "kill -TERM $$"],
        &["-c", "kill -PIPE $$"],
        &["-c", "nosuchcommand_zz"],
        &["-c", "if then"],
        &["-c", "cat <<E\nabc"],
        &["-c", "yes | head -n 1; echo ${PIPESTATUS[@]}"],
        &["-c", "grep -E 'Sig(Ign|Blk|Cgt)' /proc/self/status; trap"],
        &["-c", "ls /proc/self/fd | wc -l"],
        &["-c", "echo $SHLVL $_; env | sort"],
        &["-c", ""],
        &["-c"],
        &["-Z"],
        &["--nosuch", "-c", probe],
        &["-e", "--norc", "-c", probe],
        &["--rcfile"],
        &["-o", "nosuch", "-c", probe],
        &["--version"],
        &["--help"],
    ] {
        same("bash", &Call { args, ..Call::default() });
        same("-bash", &Call { args, ..Call::default() });
    }
}

#[test]
fn sh_and_dash_get_dash_s_grammar() {
    let probe = "echo \"$0|$*|$#|$-\"";
    for args in [
        &["-c", probe][..],
        &["-ec", probe, "n", "x"],
        &["-c", "-u", "--", probe],
        &["-o", "errexit", "-c", probe],
        &["-lc", probe],
        &["--version"],
        &["-p", "-c", probe],
        &["-c"],
        &["-c", "nosuchcommand_zz"],
        &["-c", "if then"],
    ] {
        same("dash", &Call { args, ..Call::default() });
        if std::fs::canonicalize("/bin/sh").is_ok_and(|path| path.ends_with("dash")) {
            same("sh", &Call { args, ..Call::default() });
        } else {
            println!("SKIPPED: sh is not dash here");
        }
    }
}

#[test]
fn environment_and_argument_bytes_arrive() {
    let call = Call {
        args: &["-c", "env | sort; echo \"$_\""],
        env: &[("odd-name", "1"), ("_", "/x/y"), ("E", "")],
        ..Call::default()
    };
    same("bash", &call);
    same("odd name, as bash", &Call { args: &["-c", "echo $0"], ..Call::default() });
    // bytes that are no UTF-8, in the environment and in the text
    let of = |shell: &str| {
        let launch = "J=$'\\xff\\xfe' exec -a bash \"$0\" -c $'printf %s \\xff\\x80\"$J\" | od -An -tx1'";
        let folder = tempfile::tempdir().unwrap();
        finish(Command::new("/bin/bash").args(["-c", launch, shell]), "", folder.path())
    };
    assert_eq!(of(AGENT_SH), of("/bin/bash"));
    assert_eq!(of(AGENT_SH).stdout, " ff 80 ff fe\n");
}

const WHOLE: &str = "echo \"$0 ${BASH_SOURCE[0]} $1 $- ${FUNCNAME[0]} $LINENO\"\nf() { nosuch_zz; caller; }\nf\n[[ ${BASH_SOURCE[0]} == \"$0\" ]] && echo main\nread a; echo \"got $a\"\nexit 4\n";

#[test]
fn scripts_that_only_root_can_change_are_as_in_bash_to_the_byte() {
    if !nix::unistd::geteuid().is_root() {
        println!("SKIPPED: needs to be root, whose scripts run from their own path by default");
        return;
    }
    for (args, script) in [
        (&["x.sh", "p q"][..], WHOLE),
        (&["./x.sh"], WHOLE),
        (&["--", "x.sh", "--", "-c"], WHOLE),
        (&["-x", "x.sh"], WHOLE),
        (&["-n", "x.sh"], "echo no"),
        (&["-n", "x.sh"], "if then"),
        (&["-v", "x.sh"], "echo a # b\n"),
        (&["--pretty-print", "x.sh"], "if true;then echo a;fi\n"),
        (&["-O", "extglob", "x.sh"], "echo @(x|y).sh\n"),
        (&["x.sh"], "shopt -s expand_aliases\nalias e=echo\ne a\n"),
        (&["x.sh"], "cat <<E\nabc"),
        (&["x.sh"], ""),
        (&["x.sh"], "kill -KILL $$"),
        (&["x.sh"], "{ bash -c 'kill -KILL $$'; } 2>/dev/null"),
        (&["x.sh"], "echo a\0b\n"),
        (&["x.sh"], "\0\n"),
        (&["x.sh"], "#!/bin/sh\necho \"$(basename \"$0\")\"; ls /proc/self/fd | wc -l\n"),
        (&["missing.sh"], ""),
        (&["."], ""),
        (&["/bin/true"], ""),
        (&["grep"], ""),
    ] {
        same("bash", &Call { args, files: &[("x.sh", script)], input: "line\nmore\n", ..Call::default() });
    }
}

#[test]
fn scripts_that_others_could_exchange_run_from_memory_with_name_and_lines_right() {
    let open = |args, script| {
        same(
            "bash",
            &Call { args, files: &[("x.sh", script)], input: "line\n", mode: 0o777, ..Call::default() },
        )
    };
    for (args, script) in [
        (&["x.sh", "p q"][..], "echo \"$0 $1 $# $LINENO\"\nnosuch_zz\nread a; echo \"got $a\"; exit 4\n"),
        (&["-eux", "--", "x.sh", "-c"], "echo \"$0 $*\"\nfalse\necho no\n"),
        (&["--posix", "x.sh"], "echo \"$0\"; set -o | grep posix\n"),
        (&["x.sh"], "shopt -s expand_aliases\nalias e=echo\ne a\n"),
        (&["-n", "x.sh"], "echo no\n"),
        (&["--pretty-print", "x.sh"], "if true;then echo a;fi\n"),
        (&["x.sh"], "[[ ${BASH_SOURCE[0]} == \"$0\" ]] && echo main\n"),
    ] {
        open(args, script);
    }
    let long = format!("{}echo \"${{#PATH}} $#\"\n", ": some words that do nothing\n".repeat(9000));
    open(&["x.sh", "a"], &long);
    // too long for a command string: the name stays the script's own
    open(&["x.sh", "a"], &format!("{long}echo \"$0 $1 $LINENO\"; f() {{ return 3; }}; f; exit\n"));
    // what is not as in bash, so that it is known
    let call = Call {
        args: &["x.sh"],
        files: &[("x.sh", "echo ${BASH_SOURCE[0]}\n")],
        mode: 0o777,
        ..Call::default()
    };
    let got = run(AGENT_SH, "bash", &call);
    assert!(got.stdout.starts_with("/dev/fd/"));
    assert!(got.stderr.starts_with("agent-sh: note: x.sh runs from a sealed copy"), "{}", got.stderr);
    let call = Call {
        args: &["x.sh"],
        files: &[("x.sh", "f() { nosuch_zz; }\nf\n")],
        mode: 0o777,
        ..Call::default()
    };
    assert_eq!(run(AGENT_SH, "bash", &call).stderr, "environment: line 1: nosuch_zz: command not found\n");
}

#[test]
fn a_script_in_memory_can_t_be_exchanged_while_it_runs() {
    let script =
        format!("printf 'echo exchanged\\n' >> x.sh\n{}echo judged\n", ": some words\n".repeat(12_000));
    let call = Call { args: &["x.sh"], files: &[("x.sh", &script)], mode: 0o777, ..Call::default() };
    assert_eq!(run(AGENT_SH, "bash", &call).stdout, "judged\n");
}

#[test]
fn standard_input_is_a_script_and_its_rest_is_read_by_it() {
    for (args, input) in [
        (&[][..], "echo from stdin; exit 3\n"),
        (&["-s", "a", "b"], "echo \"$0 $1 $2 $# $-\"\n"),
        (&["-s", "--", "-x"], "echo $1\n"),
        (&["-"], "echo dash\n"),
        (&["-x"], "echo a\nnosuch_zz\n"),
        (&[], "read a\nsome text\necho \"got $a\"\n"),
        (&[], "cat\nrest 1\nrest 2\n"),
        (&[], "cat <<E\nx\nE\nbash -c 'read l; echo sub $l'\ndata for it\necho end\n"),
        (&[], "exec cat\nsecond\n"),
        (&[], "echo 'unfinished\n"),
        (&[], "echo a\0b\n"),
        (&[], ""),
        (&["-n"], "echo no\n"),
        (&["-t"], "echo a\necho b\n"),
    ] {
        same("bash", &Call { args, input, ..Call::default() });
        same("dash", &Call { args: &["-s", "x"], input: "echo \"$0 $1\"\n", ..Call::default() });
    }
}

#[test]
fn closed_and_further_descriptors_stay_as_they_are() {
    let list = "for n in 0 1 2 3 4 5 6; do [ -e /proc/$$/fd/$n ] && echo \"$n $(readlink /proc/$$/fd/$n)\"; done >&3 2>/dev/null; echo x; nosuch_zz";
    for redirections in
        ["3>&1", "3>&1 <&-", "3>&1 2>&-", "3>&1 1>&-", "3>&1 0<&- 1>&- 2>&-", "3>&1 4</etc/passwd 0<&-"]
    {
        let launch = format!("exec -a bash \"$0\" -c \"$1\" {redirections}");
        let of = |shell: &str| {
            let folder = tempfile::tempdir().unwrap();
            let mut command = Command::new("/bin/bash");
            command
                .args(["-c", &launch, shell, list])
                .current_dir(folder.path())
                .env_clear()
                .env("PATH", "/usr/bin:/bin");
            let outcome = finish(&mut command, "", folder.path());
            // numbers of pipes differ from run to run
            let names: Vec<String> =
                outcome.stdout.lines().map(|line| line.split('[').next().unwrap().to_owned()).collect();
            (outcome.status, names, outcome.stderr)
        };
        assert_eq!(of(AGENT_SH), of("/bin/bash"), "{redirections}");
    }
}

#[test]
fn a_pipe_s_descriptor_as_script_keeps_its_name() {
    let of = |shell: &str| {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("/bin/bash");
        command.args([
            "-c",
            "exec -a bash \"$0\" <(printf 'echo $0 ${BASH_SOURCE[0]}; read a; echo $a; nosuch_zz')",
            shell,
        ]);
        finish(&mut command, "line\n", folder.path())
    };
    assert_eq!(of(AGENT_SH), of("/bin/bash"));
}

#[test]
fn startup_variables_work() {
    let files = &[("be", "echo from $0\n"), ("rc", "echo rc\n")][..];
    for args in [
        &["-c", "echo main"][..],
        &["be"],
        &["-n", "be"],
        &["missing"],
        &["--rcfile", "rc", "-ic", "echo main"],
    ] {
        let call = Call { args, files, env: &[("BASH_ENV", "be")], ..Call::default() };
        if args == ["missing"] {
            // a file that was not there is only ever read (-n), so BASH_ENV does not run either
            assert_eq!(run(AGENT_SH, "bash", &call).status, 127);
        } else if args.contains(&"-ic") {
            assert_eq!(run(AGENT_SH, "bash", &call).stdout, run("/bin/bash", "bash", &call).stdout);
        } else {
            same("bash", &call);
        }
    }
}

#[test]
fn a_refused_text_is_shown_and_nothing_runs() {
    // the project's own policy, which may only tighten
    let rule = r#"
        schema = 1
        [[rule]]
        id = "project.forbidden"
        family = "destructive"
        source = { tier = "manual", ref = "test" }
        confidence = 1.0
        when = { effect = "write", target = ["**/forbidden"] }
        verdict = "deny"
        reason = "writes what the project forbids"
        instead = "leave it alone"
        hits = ["echo x > forbidden"]
        misses = ["echo forbidden"]
    "#;
    let text = "touch made\necho x > forbidden; echo no";
    let files = &[(".agent-sh.toml", rule), ("x.sh", text)][..];
    for (name, args, input) in [
        ("bash", &["-lc", text][..], ""),
        ("sh", &[], text),
        ("bash", &["-s", "a"], text),
        ("bash", &["x.sh"], ""),
    ] {
        let told = run(AGENT_SH, name, &Call { args, input, files, ..Call::default() });
        assert_eq!((told.status, told.stdout.as_str()), (126, ""), "{}", told.stderr);
        let lines: Vec<&str> = told.stderr.lines().collect();
        assert_eq!(lines[0], "agent-sh: denied: writes what the project forbids [project.forbidden]");
        assert_eq!(lines[1], "  line 2: echo x > forbidden; echo no");
        assert!(lines[2].trim_start().starts_with('^'), "{}", told.stderr);
        assert!(
            told.stderr.contains("\ninstead: leave it alone\nnote: the text arrived intact"),
            "{}",
            told.stderr
        );
    }
}

#[test]
fn sessions_are_refused_with_a_way_out() {
    let refused = Outcome {
        status: 126,
        stdout: String::new(),
        stderr:
            "agent-sh: denied: an interactive shell can't be judged beforehand; give the command with -c, \
                 as a script file, or on standard input without a terminal\n\
                 note: the text arrived intact and nothing was run; \
                 do not rewrite or obfuscate it to try again, it is judged by what it does\n"
                .to_owned(),
    };
    assert_eq!(
        run(AGENT_SH, "bash", &Call { args: &["-i"], input: "echo no\n", ..Call::default() }),
        refused
    );
    let alone = TERMINAL.write().unwrap_or_else(std::sync::PoisonError::into_inner);
    let terminal = nix::pty::openpty(None, None).unwrap();
    let output = Command::new(AGENT_SH).arg0("bash").stdin(terminal.slave).output().unwrap();
    drop((terminal.master, alone));
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(126), &b""[..]));
    assert_eq!(String::from_utf8_lossy(&output.stderr), refused.stderr);
}
