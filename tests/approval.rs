//! A person's approval, through the real programs: once, for a time, for whom and where; and a confined agent
//! that tries to approve itself.
//!
//! In: a mount namespace with a policy, script(1) for terminals. Out: what ran. Never: touches the machine's
//! own policy or homes.

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
    clippy::format_push_string,
    clippy::too_many_lines,
    clippy::zombie_processes,
    clippy::similar_names,
    clippy::single_element_loop,
    clippy::cast_possible_truncation,
    clippy::doc_markdown,
    clippy::duration_suboptimal_units
)]

#[path = "undecided/stage.rs"]
#[allow(dead_code)]
mod stage;

#[path = "stand/program.rs"]
mod program;

use std::path::Path;
use std::time::{Duration, Instant};

use stage::{AGENT_SHCTL, ASKED, Stage, USER, code};

const TEXT: &str = "mkdir asked";

/// Whether the command ran: its folder is there, and is taken away.
fn ran(stage: &Stage, cwd: &Path) -> bool {
    let _ = stage;
    std::fs::remove_dir(cwd.join("asked")).is_ok()
}

#[test]
fn an_approved_command_runs_once() {
    let Some(stage) = Stage::set(ASKED) else { return };
    let cwd = stage.project(USER);
    let held = stage.shell(USER, TEXT);
    assert_eq!(held.status, Some(126), "{held:?}");
    let line = held.err.lines().find(|line| line.starts_with("approval: ")).unwrap();
    assert!(line.contains("ask your user") && line.contains(&code(&held)), "{line}");
    assert_eq!(stage.record()["resolution"], "nobody to ask");
    let listed = stage.command(USER, &cwd, AGENT_SHCTL).arg("pending").output().unwrap();
    assert!(String::from_utf8_lossy(&listed.stdout).contains(&code(&held)));
    let no = stage.person(USER, &format!("{AGENT_SHCTL} approve {}", code(&held)), "n\n");
    assert!(no.out.contains("mkdir asked") && no.out.contains("not approved"), "{no:?}");
    assert_eq!(stage.shell(USER, TEXT).status, Some(126));
    let yes = stage.approve(USER, &code(&held), "");
    assert!(yes.out.contains("approved"), "{yes:?}");
    let free = stage.shell(USER, TEXT);
    assert_eq!((free.status, ran(&stage, &cwd)), (Some(0), true), "{free:?}");
    assert!(stage.record()["resolution"].as_str().unwrap().starts_with("approved "), "{}", stage.record());
    assert_eq!(stage.shell(USER, TEXT).status, Some(126));
    assert!(!ran(&stage, &cwd));
}

#[test]
fn fifty_attempts_at_once_are_let_through_once() {
    let Some(stage) = Stage::set(ASKED) else { return };
    let text = "mkdir -p asked; echo x >> count";
    let held = stage.shell(USER, text);
    assert!(stage.approve(USER, &code(&held), "").out.contains("approved"));
    let cwd = stage.project(USER);
    let children: Vec<_> = (0..50)
        .map(|_| {
            stage
                .command(USER, &cwd, stage::AGENT_SH)
                .args(["-c", text])
                .stderr(std::process::Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    let fine =
        children.into_iter().map(|mut child| child.wait().unwrap()).filter(std::process::ExitStatus::success);
    assert_eq!(fine.count(), 1);
    assert_eq!(std::fs::read_to_string(cwd.join("count")).unwrap(), "x\n");
}

#[test]
fn another_directory_user_byte_argument_caller_or_policy_is_refused() {
    let Some(stage) = Stage::set(ASKED) else { return };
    let cwd = stage.project(USER);
    let held = stage.shell(USER, TEXT);
    assert!(stage.approve(USER, &code(&held), "--for 1h").out.contains("approved"));
    assert_eq!((stage.shell(USER, TEXT).status, ran(&stage, &cwd)), (Some(0), true));
    let sub = cwd.join("sub");
    std::fs::create_dir(&sub).unwrap();
    std::os::unix::fs::chown(&sub, Some(USER), Some(USER)).unwrap();
    let refused = |what: &str, seen: stage::Seen| assert_eq!(seen.status, Some(126), "{what}: {seen:?}");
    refused("directory", stage.shell_in(USER, &sub, TEXT));
    refused("byte", stage.shell(USER, "mkdir asked "));
    refused("user", stage.shell_in(0, &cwd, TEXT));
    let with = |more: &[&str]| stage.command(USER, &cwd, stage::AGENT_SH).args(more).output().unwrap().into();
    refused("argument", with(&["-c", TEXT, "x"]));
    refused("option", with(&["-ec", TEXT]));
    let nested = format!("{} -c '{TEXT}'; true", stage::AGENT_SH);
    refused(
        "another caller",
        stage
            .command(USER, &cwd, "/bin/dash")
            .args(["-c", &format!("{nested}; exit 126")])
            .output()
            .unwrap()
            .into(),
    );
    assert!(!ran(&stage, &cwd));
    assert_eq!((stage.shell(USER, TEXT).status, ran(&stage, &cwd)), (Some(0), true));
    stage.policy(&ASKED.replace("[[rule]]", "mode = \"strict\"\n[[rule]]"));
    refused("policy", stage.shell(USER, TEXT));
    stage.policy(ASKED);
    assert_eq!((stage.shell(USER, TEXT).status, ran(&stage, &cwd)), (Some(0), true));
    let revoked = stage.command(USER, &cwd, AGENT_SHCTL).args(["revoke", &code(&held)]).status().unwrap();
    assert!(revoked.success());
    refused("revoked", stage.shell(USER, TEXT));
}

#[test]
fn the_same_bytes_with_another_environment_that_does_another_thing_are_refused() {
    let Some(stage) = Stage::set(ASKED) else { return };
    let cwd = stage.project(USER);
    let call = |place: &str| -> stage::Seen {
        let text = "mkdir -p \"$WHERE/asked\"";
        stage
            .command(USER, &cwd, stage::AGENT_SH)
            .env("WHERE", place)
            .args(["-c", text])
            .output()
            .unwrap()
            .into()
    };
    let held = call(".");
    assert!(stage.approve(USER, &code(&held), "--for 1h").out.contains("approved"));
    assert_eq!((call(".").status, ran(&stage, &cwd)), (Some(0), true));
    assert_eq!(call("..").status, Some(126));
}

#[test]
fn approvals_expire_and_same_directory_means_the_very_same() {
    let Some(stage) = Stage::set(ASKED) else { return };
    let cwd = stage.project(USER);
    let held = stage.shell(USER, TEXT);
    assert!(stage.approve(USER, &code(&held), "--for 8s").out.contains("approved"));
    assert_eq!((stage.shell(USER, TEXT).status, ran(&stage, &cwd)), (Some(0), true));
    std::thread::sleep(Duration::from_secs(8));
    assert_eq!(stage.shell(USER, TEXT).status, Some(126));
    assert!(stage.approve(USER, &code(&held), "--for 1h --same-directory").out.contains("approved"));
    assert_eq!((stage.shell(USER, TEXT).status, ran(&stage, &cwd)), (Some(0), true));
    std::fs::rename(&cwd, cwd.with_extension("old")).unwrap();
    std::fs::create_dir(&cwd).unwrap();
    std::os::unix::fs::chown(&cwd, Some(USER), Some(USER)).unwrap();
    assert_eq!(stage.shell(USER, TEXT).status, Some(126));
}

#[test]
fn a_person_who_watches_is_waited_for_and_without_one_the_answer_comes_at_once() {
    let Some(stage) = Stage::set(ASKED) else { return };
    stage.asked("[approval]\nwait = \"20s\"");
    let cwd = stage.project(USER);
    let began = Instant::now();
    assert_eq!(stage.shell(USER, TEXT).status, Some(126));
    assert!(began.elapsed() < Duration::from_secs(10), "no terminal, nobody watches: {:?}", began.elapsed());
    // one that watches, and allows what comes
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            use std::io::Write as _;
            let mut command = stage.command(USER, &cwd, "script");
            command.args(["-qec", &format!("{AGENT_SHCTL} watch"), "/dev/null"]);
            command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
            let mut child = command.spawn().unwrap();
            let mut input = child.stdin.take().unwrap();
            std::thread::sleep(Duration::from_secs(2));
            for key in ["e", "a", "r"] {
                drop(input.write_all(key.as_bytes()));
                std::thread::sleep(Duration::from_secs(2));
            }
            drop(input.write_all(b"q"));
            std::thread::sleep(Duration::from_millis(500));
            drop(input);
            String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout).into_owned()
        });
        std::thread::sleep(Duration::from_millis(1_000));
        let allowed = stage.shell(USER, TEXT);
        assert_eq!((allowed.status, ran(&stage, &cwd)), (Some(0), true), "{allowed:?}");
        assert!(allowed.err.contains("waiting 20s for a person"), "{allowed:?}");
        let began = Instant::now();
        assert_eq!(stage.shell(USER, "mkdir asked2").status, Some(126));
        assert!(began.elapsed() < Duration::from_secs(15), "a refusal ends the wait: {:?}", began.elapsed());
        let screen = watcher.join().unwrap();
        assert!(screen.contains("mkdir asked") && screen.contains("is to be asked about"), "{screen}");
    });
}

#[test]
fn only_root_s_approvals_count_where_root_says_so() {
    let Some(stage) = Stage::set(ASKED) else { return };
    stage.asked("[approval]\nstore = \"root\"");
    let cwd = stage.project(USER);
    let held = stage.shell(USER, TEXT);
    let own = stage.approve(USER, &code(&held), "");
    assert!(own.out.contains("only root's approvals count"), "{own:?}");
    // what the user writes there does not count
    let given = stage.approve(0, &code(&held), "--user stage --for 1h");
    assert!(given.out.contains("approved"), "{given:?}");
    let folder = stage.at(&format!("var/agent-sh/approvals/{USER}"));
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    assert_eq!((stage.shell(USER, TEXT).status, ran(&stage, &cwd)), (Some(0), true));
    let copy = file.with_extension("copy");
    for text in [format!("cp {0} {1}; rm -f {0}; mv {1} {0}", file.display(), copy.display())] {
        let done = stage.command(USER, &cwd, "/bin/sh").args(["-c", &text]).status().unwrap();
        assert!(done.success(), "the user owns the folder, so that approvals can be used up");
    }
    assert_eq!(stage.shell(USER, TEXT).status, Some(126), "a copy is the user's");
    // once, and a second name kept aside
    let held = stage.shell(USER, TEXT);
    assert!(stage.approve(0, &code(&held), "--user stage").out.contains("approved"));
    let kept = format!("ln {} {}", file.display(), copy.display());
    let linked = stage.command(USER, &cwd, "/bin/sh").args(["-c", &kept]).status().unwrap().success();
    let first = stage.shell(USER, TEXT);
    if linked {
        assert_eq!(first.status, Some(126), "a file with a second name gives no leave");
    } else {
        assert_eq!((first.status, ran(&stage, &cwd)), (Some(0), true), "the kernel protects hard links");
    }
    assert_eq!(stage.shell(USER, TEXT).status, Some(126));
}

#[test]
fn a_denied_command_is_a_person_s_to_allow_only_where_root_says_so_and_no_rule_is_final() {
    let denies = ASKED.replace("verdict    = \"warn\"", "verdict    = \"deny\"");
    let Some(stage) = Stage::set(&denies) else { return };
    let cwd = stage.project(USER);
    let last = |seen: &stage::Seen| seen.err.lines().last().unwrap_or("").to_owned();
    let held = stage.shell(USER, TEXT);
    assert!(last(&held).starts_with("approval: nobody can allow this"), "{held:?}");
    let covers = denies.replace("[audit]", "[approval]\ncovers = \"denied\"\n[audit]");
    stage.policy(&covers);
    let held = stage.shell(USER, TEXT);
    assert!(stage.approve(USER, &code(&held), "").out.contains("approved"));
    assert_eq!((stage.shell(USER, TEXT).status, ran(&stage, &cwd)), (Some(0), true));
    stage.policy(&covers.replace("reason ", "final = true\nreason "));
    for text in [TEXT, "rm -rf /etc/ssh", "CTL approve K7QX-2M"] {
        let held = stage.shell(USER, &text.replace("CTL", AGENT_SHCTL));
        assert!(last(&held).starts_with("approval: nobody can allow this"), "{held:?}");
    }
}

/// Ways in which a confined agent tries to approve itself. CODE, CTL, STORE and KEY stand for what they say; all
/// run in the agent's shell, first judged, then by a program that the judge can't read, held by the kernel alone.
const WAYS: &[&str] = &[
    "CTL approve CODE",
    "yes | CTL approve CODE",
    "script -qec 'CTL approve CODE' /dev/null <<< y",
    "script -qec 'CTL watch' /dev/null <<< aaaq",
    "setsid -c CTL approve CODE",
    "cp CTL ./innocent && ./innocent approve CODE",
    "python3 -c 'import pty; pty.spawn([\"CTL\", \"approve\", \"CODE\"])' <<< y",
    "mkdir -p STORE/granted && cp forged STORE/granted/KEY",
    "cat forged > STORE/granted/KEY",
    "python3 -c 'open(\"STORE/granted/KEY\", \"w\").write(open(\"forged\").read())'",
    "perl -e 'open F, \">\", \"STORE/granted/KEY\"; print F `cat forged`'",
    "ln forged STORE/granted/KEY",
    "ln -s $PWD/forged STORE/granted/KEY",
    "mv forged STORE/granted/KEY",
    "mv STORE STORE.old && mkdir -p STORE/granted && cp forged STORE/granted/KEY",
    "mv ~/.local ~/.old && mkdir -p STORE/granted && cp forged STORE/granted/KEY",
    "tar cf x.tar --transform 's|forged|KEY|' forged; tar xf x.tar -C STORE/granted",
    "unshare -rm sh -c 'mount --bind . STORE/granted; cp forged STORE/granted/KEY; sleep 0.1'",
    "cp forged /proc/self/root/STORE/granted/KEY",
    "ln -s STORE/granted here; cp forged here/KEY",
    "HOME=$PWD CTL approve CODE",
    "install -D -m 600 forged STORE/granted/KEY",
    "dd if=forged of=STORE/granted/KEY",
    "sed -n 'wSTORE/granted/KEY' forged",
    "rsync forged STORE/granted/KEY || cpio -p STORE/granted <<< forged",
    "nsenter -t 1 -m cp $PWD/forged STORE/granted/KEY",
];

#[test]
fn a_confined_agent_that_tries_to_approve_itself_fails() {
    let Some(stage) = Stage::set(ASKED) else { return };
    let cwd = stage.project(USER);
    let held = stage.shell(USER, TEXT);
    // a true grant, as a person would have given it, taken out of the store
    assert!(stage.approve(USER, &code(&held), "--for 1h").out.contains("approved"));
    let store = stage.home(USER).join(".local/state/agent-sh/approvals");
    let grant = std::fs::read_dir(store.join("granted")).unwrap().next().unwrap().unwrap().path();
    let key = grant.file_name().unwrap().to_str().unwrap().to_owned();
    let forged = std::fs::read(&grant).unwrap();
    std::fs::remove_file(&grant).unwrap();
    // a program that the judge knows nothing of: a shell under another name
    program::lay("/bin/bash", cwd.join("opaque"));
    let mut judged = 0;
    for way in WAYS {
        std::fs::write(cwd.join("forged"), &forged).unwrap();
        std::os::unix::fs::chown(cwd.join("forged"), Some(USER), Some(USER)).unwrap();
        let code = code(&stage.shell(USER, TEXT));
        let text = way
            .replace("CTL", AGENT_SHCTL)
            .replace("CODE", &code)
            .replace("/STORE", store.to_str().unwrap())
            .replace("STORE", store.to_str().unwrap())
            .replace("KEY", &key);
        // by the judge
        judged += usize::from(stage.shell(USER, &text).status == Some(126));
        assert_eq!(stage.shell(USER, TEXT).status, Some(126), "{way}");
        // and by the kernel alone: a script whose text the judge is made to let through
        std::fs::write(cwd.join("list.txt"), format!("echo > began\n{text}\n")).unwrap();
        std::fs::write(cwd.join("forged"), &forged).unwrap();
        let seen = stage.shell(USER, "timeout 10 ./opaque list.txt");
        assert!(std::fs::remove_file(cwd.join("began")).is_ok(), "it did not even run: {seen:?}");
        assert_eq!(stage.shell(USER, TEXT).status, Some(126), "confined: {way}");
        assert!(!grant.exists(), "confined: {way}");
    }
    println!("{judged} of {} ways are denied by the judge, the others fail at the kernel", WAYS.len());
    assert!(judged >= 20, "{judged}");
}
