//! Which real shell agent-sh becomes, and that it never becomes itself.
//!
//! In: the built program under several names. Out: what the shell behind it says.
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

#[path = "stand/program.rs"]
mod program;

use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

const AGENT_SH: &str = env!("CARGO_BIN_EXE_agent-sh");

fn printed(command: &mut Command) -> String {
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn called_by_its_own_name_it_is_bin_bash() {
    for (name, expected) in [
        ("agent-sh", "/bin/bash /bin/bash\n"),
        ("/x/agent-sh", "/bin/bash /bin/bash\n"),
        ("-agent-sh", "-bash /bin/bash\n"),
    ] {
        let mut command = Command::new(AGENT_SH);
        command
            .arg0(name)
            .args(["-c", "echo $0 $BASH"])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("SHELL", "/bin/bash");
        assert_eq!(printed(&mut command), expected, "{name}");
    }
}

#[test]
fn the_file_s_name_decides_before_argv_0() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("dash");
    symlink(AGENT_SH, &link).unwrap();
    let mut command = Command::new(&link);
    command.arg0("-bash").args(["-c", "echo $0 ${BASH_VERSION-none}"]).env_clear();
    assert_eq!(printed(&mut command), "-bash none\n");
}

#[test]
fn it_never_becomes_itself_where_it_stands_in_place_of_bash() {
    let folder = tempfile::tempdir().unwrap();
    program::lay("/bin/bash", folder.path().join("bash"));
    let inside = |folder: &str, command: &str| {
        format!(
            "mount --make-rprivate / && {folder} mount --bind {AGENT_SH} /usr/bin/bash && \
             timeout 20 /bin/bash -c '{command}'; echo $?"
        )
    };
    let unshared = |script: &str| Command::new("unshare").args(["-m", "/bin/dash", "-c", script]).output();
    if !unshared("mount --make-rprivate / && mount -t tmpfs none /mnt").is_ok_and(|o| o.status.success()) {
        println!("SKIPPED: no mount namespaces here");
        return;
    }
    let bind = format!("mount --bind {} /usr/local/bin &&", folder.path().display());
    let found = unshared(&inside(&bind, "echo $0 alive")).unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "/bin/bash alive\n0\n");
    let none = unshared(&inside("", "echo no")).unwrap();
    assert_eq!(String::from_utf8_lossy(&none.stdout), "127\n");
    let told = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(told.starts_with("agent-sh: no real bash found; install it beside agent-sh"), "{told}");
    assert!(told.contains("/bin/bash: is agent-sh itself"), "{told}");
}
