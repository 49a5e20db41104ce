//! Whole commands under agent-sh's own judgement, whose programs are others than the judge took them for.

use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::derived::Victim;
use super::stage::{NOBODY, Stage, User, exists};

/// Judged read-only; each calls a program that is exchanged.
const READERS: [&str; 52] = [
    "ls",
    "ls -la",
    "cat file",
    "grep -rn plain .",
    "egrep a file",
    "find . -name '*.rs'",
    "head -5 file",
    "tail -n 3 file",
    "wc -l file",
    "uniq -c file",
    "cut -d: -f1 file",
    "tr a b < file",
    "awk '{print $1}' file",
    "sed -n 1,3p file",
    "du -sh .",
    "df -h",
    "stat file",
    "file file",
    "ps aux",
    "id",
    "whoami",
    "uname -a",
    "date",
    "diff file file",
    "cmp file file",
    "comm file file",
    "nl file",
    "od -c file",
    "rev file",
    "basename a/b",
    "dirname a/b",
    "readlink -f file",
    "realpath file",
    "md5sum file",
    "sha256sum file",
    "base64 file",
    "seq 3",
    "tree .",
    "nproc",
    "free -m",
    "uptime",
    "groups",
    "find . -type f | xargs wc -l",
    "jq . file",
    "rg plain",
    "strings file",
    "column -t file",
    "fold -w 20 file",
    "paste file file",
    "timeout 5 ls",
    "env ls",
    "find . -type f -exec cat {} +",
];

/// What stands in PATH under every name: writes where it can, connects, kills.
const HOSTILE: &str = r#"#!/bin/bash
for place in "$T_PROJECT" "$T_HOME" "$T_OUTSIDE" /tmp /var/tmp /dev/shm; do echo x > "$place/marker-$T_VICTIM"; done
echo x >> "$T_PROJECT/file"
echo x > "$T_HOME/.cache/marker-$T_VICTIM"
exec 3<>"/dev/tcp/127.0.0.1/$T_PORT"
kill -9 "$T_VICTIM"
exit 0
"#;

struct Trap {
    stage: Stage,
    listener: TcpListener,
    victim: Victim,
    path: PathBuf,
}

impl Trap {
    fn set(user: User) -> Option<Self> {
        let stage = Stage::set(user)?;
        let path = stage.at("bin");
        std::fs::create_dir(&path).unwrap();
        let words =
            READERS.iter().chain(&WRITERS).flat_map(|text| text.split([' ', '|'])).filter(|w| !w.is_empty());
        for name in words.filter(|word| word.bytes().all(|b| b.is_ascii_alphanumeric())) {
            let mut file = std::fs::File::create(path.join(name)).unwrap();
            file.write_all(HOSTILE.as_bytes()).unwrap();
            file.set_permissions(std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        // these pass on to what they are given, so that the inner program is the exchanged one
        for name in ["env", "timeout", "xargs"] {
            let _ = std::fs::remove_file(path.join(name));
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let victim = Victim::of(user);
        Some(Self { stage, listener, victim, path })
    }

    fn run(&self, program: &str, text: &str) -> Output {
        let mut command = Command::new(program);
        command
            .args(["-c", text])
            .current_dir(self.stage.at("home/project"))
            .env_clear()
            .stdin(Stdio::null());
        command
            .env("PATH", format!("{}:/usr/bin:/bin", self.path.display()))
            .env("HOME", self.stage.at("home"));
        for (name, place) in [("T_PROJECT", "home/project"), ("T_HOME", "home"), ("T_OUTSIDE", "outside")] {
            command.env(name, self.stage.at(place));
        }
        command.env("T_PORT", self.listener.local_addr().unwrap().port().to_string());
        command.env("T_VICTIM", self.victim.0.id().to_string());
        if self.stage.user == User::Nobody && nix::unistd::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.output().unwrap()
    }

    /// What the exchanged program achieved.
    fn harm(&mut self) -> Vec<String> {
        let marker = format!("marker-{}", self.victim.0.id());
        let places = ["home/project", "home", "outside", "home/.cache"].map(|place| self.stage.at(place));
        let shared = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from);
        let mut harm: Vec<String> = places
            .iter()
            .chain(&shared)
            .filter(|place| exists(&place.join(&marker)))
            .map(|place| format!("wrote to {}", place.display()))
            .collect();
        for place in shared {
            let _ = std::fs::remove_file(place.join(&marker));
        }
        if std::fs::read_to_string(self.stage.at("home/project/file")).unwrap() != "plain\n" {
            harm.push("changed the file".to_owned());
        }
        if self.listener.accept().is_ok() {
            harm.push("connected".to_owned());
        }
        if !self.victim.lives() {
            harm.push("killed".to_owned());
        }
        harm
    }
}

#[test]
fn readers_whose_program_was_exchanged_change_nothing_and_reach_nobody() {
    for user in [User::Root, User::Nobody] {
        let Some(mut trap) = Trap::set(user) else { continue };
        for text in READERS {
            let output = trap.run(env!("CARGO_BIN_EXE_agent-sh"), text);
            let err = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_ne!(output.status.code(), Some(126), "refused, so that nothing is shown: {text}: {err}");
            assert!(
                err.contains("ermission denied") || err.contains("not permitted"),
                "not called? {text}: {err}"
            );
            assert_eq!(trap.harm(), Vec::<String>::new(), "{text} as {user:?}: {err}");
        }
        // the trap works: without agent-sh everything happens
        let _ = trap.run("/bin/bash", "ls");
        // a killed process is gone, and a connection there, a little later
        std::thread::sleep(std::time::Duration::from_millis(500));
        assert_eq!(trap.harm().len(), 10, "{:?}", trap.harm());
    }
}

const WRITERS: [&str; 3] = ["tee known < file", "cp file known", "touch known"];

#[test]
fn writers_whose_program_was_exchanged_reach_their_target_alone() {
    for user in [User::Root, User::Nobody] {
        let Some(mut trap) = Trap::set(user) else { continue };
        let known = trap.stage.at("home/project/known");
        std::fs::copy(trap.stage.at("home/project/file"), &known).unwrap();
        let set = Command::new("chown").arg("--reference").args([&trap.stage.at("home"), &known]).status();
        assert!(set.unwrap().success());
        for text in WRITERS {
            let output = trap.run(env!("CARGO_BIN_EXE_agent-sh"), text);
            let err = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_ne!(output.status.code(), Some(126), "{text}: {err}");
            let harm: Vec<String> = trap.harm().into_iter().filter(|what| !is_temporary(what)).collect();
            assert_eq!(harm, Vec::<String>::new(), "{text} as {user:?}: {err}");
        }
    }
}

fn is_temporary(what: &str) -> bool {
    what.strip_prefix("wrote to ")
        .is_some_and(|place| ["/tmp", "/var/tmp", "/dev/shm"].map(Path::new).contains(&Path::new(place)))
}

#[test]
fn what_the_shell_and_its_tools_need_for_themselves_is_there() {
    let Some(stage) = Stage::set(User::Nobody) else { return };
    for (text, expected) in [
        ("cat <<EOF | wc -c\n$(seq 60000)\nEOF", "348894\n"),
        ("wc -c <<< \"$(seq 60000)\"", "348894\n"),
        ("seq 200000 | sort -S 100K -r | head -1", "99999\n"),
        ("seq 100000 | tac | head -1", "100000\n"),
        ("cat <(echo sub) | tee /dev/null", "sub\n"),
        ("sed -i s/plain/new/ file && cat file", "new\n"),
        ("mkdir -p a/b && echo x > a/b/c && cp -r a d && mv d e && find e -type f | sort", "e/b/c\n"),
        ("gzip -k file && zcat file.gz && rm file.gz && ls", "new\na\ne\nfile\n"),
        ("tar cf t.tar a && rm -r a && tar xf t.tar && cat a/b/c", "x\n"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agent-sh"));
        command.args(["-c", text]).current_dir(stage.at("home/project")).env_clear().stdin(Stdio::null());
        command.env("PATH", "/usr/bin:/bin").env("HOME", stage.at("home"));
        if nix::unistd::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        let output = command.output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{text}: {output:?}");
    }
}
