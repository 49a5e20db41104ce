//! Where twins run: an empty folder, a probe that notes its arguments, nothing of the caller's.
//!
//! In: a twin. Out: whether bash gave its programs exactly what was meant. Never: runs a judged text.

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use agent_sh::invocation::context::Context;

use super::compose::Case;

/// A temporary folder with the probe in it; one run at a time.
pub(crate) struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    /// `None` where there is no bash.
    pub(crate) fn new() -> Option<Self> {
        if !std::path::Path::new("/bin/bash").exists() {
            return None;
        }
        let stage = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        std::fs::create_dir(stage.programs()).expect("a folder");
        let probe = PathBuf::from(stage.programs()).join("probe");
        // one write a call, so that lines of processes that run at the same time stay whole
        let log = stage.folder.path().join("log");
        let text = format!(
            "#!/bin/sh\ns=\nfor a; do s=\"$s[$a]\"; done\nprintf '%s\\n' \"$s\" >> '{}'\n",
            log.display()
        );
        std::fs::write(&probe, text).expect("written");
        std::fs::set_permissions(&probe, std::fs::Permissions::from_mode(0o755)).expect("executable");
        Some(stage)
    }

    pub(crate) fn programs(&self) -> String {
        self.folder.path().join("bin").to_string_lossy().into_owned()
    }

    /// The home of the twin, where nothing is.
    pub(crate) fn home(&self) -> String {
        self.folder.path().join("h").to_string_lossy().into_owned()
    }

    /// Whether bash calls the probe with exactly the arguments that are meant.
    pub(crate) fn proves(&self, twin: &Case) -> bool {
        let home = self.home();
        let log = self.folder.path().join("log");
        drop(std::fs::remove_dir_all(&home));
        drop(std::fs::remove_file(&log));
        std::fs::create_dir(&home).expect("a folder");
        let ran = Command::new("timeout")
            .args(["-k", "1", "2", "bash", "-c", &twin.text])
            .env_clear()
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", self.programs()))
            .env("HOME", &home)
            .env("LANG", "C.UTF-8")
            .current_dir(&home)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if ran.is_err() {
            return false;
        }
        let mut got: Vec<String> =
            std::fs::read_to_string(&log).unwrap_or_default().lines().map(str::to_owned).collect();
        let mut meant: Vec<String> =
            twin.argvs.iter().map(|argv| argv.iter().map(|a| format!("[{a}]")).collect()).collect();
        got.sort();
        got.dedup();
        meant.sort();
        meant.dedup();
        got == meant
    }
}

/// What the judge is told: an ordinary user in a project.
pub(crate) fn context() -> Context {
    let pairs = [
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("HOME", "/home/dev"),
        ("USER", "dev"),
        ("LANG", "C.UTF-8"),
        ("PWD", "/home/dev/proj"),
    ];
    Context {
        cwd: "/home/dev/proj".to_owned(),
        home: "/home/dev".to_owned(),
        user: "dev".to_owned(),
        uid: 1000,
        workspace: Some("/home/dev/proj".to_owned()),
        environment: pairs
            .iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
            .collect::<HashMap<_, _>>()
            .into(),
        arguments: vec!["bash".to_owned()],
        options: "hBc".to_owned(),
        ..Context::default()
    }
}
