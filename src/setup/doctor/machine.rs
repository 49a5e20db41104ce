//! What holds for every agent: the programs, the policy, Landlock, namespaces, the record's channels.
//!
//! In: places, the policy. Out: lines of a [`Chart`]. Never: asks the environment what to believe.

use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;
use std::process::{Command, Stdio};

use super::Chart;
use crate::policy::Policy;
use crate::policy::temper::{Enforcement, Interactive, Level, Switch, Unsettled};
use crate::setup::plan::Places;

pub(super) fn look(places: &Places, policy: &Result<Policy, String>, chart: &mut Chart) {
    program(&places.agent_sh, chart);
    match policy {
        Ok(policy) => temper(policy, chart),
        Err(error) => chart.bad("policy", error.clone(), "correct it: nothing runs until then"),
    }
    landlock(policy.as_ref().ok(), chart);
    namespaces(places, chart);
    channels(policy.as_ref().ok(), chart);
}

/// Who could put another program in agent-sh's place.
fn program(path: &Path, chart: &mut Chart) {
    let shown = path.display().to_string();
    let loose = path.ancestors().find_map(|part| {
        let meta = std::fs::metadata(part).ok()?;
        let sticky = meta.is_dir() && meta.mode() & 0o1000 != 0;
        let foreign = meta.uid() != 0;
        (foreign || meta.mode() & 0o022 != 0 && !sticky).then(|| part.display().to_string())
    });
    match loose {
        None => chart.good("program", shown),
        Some(part) => chart.note(
            "program",
            format!("{shown}; others than root can change {part}"),
            "install agent-sh and agent-shctl as root, in /usr/bin",
        ),
    }
}

fn temper(policy: &Policy, chart: &mut Chart) {
    let temper = policy.temper();
    let version = format!("version {}, mode {}", policy.version(), temper.mode.name());
    if temper.enforcement == Enforcement::Observe {
        chart.bad(
            "policy",
            format!("{version}, observes only: nothing is held back"),
            "set enforcement = \"enforce\" in /etc/agent-sh/policy.d",
        );
    } else {
        chart.good("policy", version);
    }
    if temper.warn == Unsettled::Run {
        chart.note("undecided", "commands that nobody settles run", "set warn = \"block\" to hold them back");
    }
    if temper.interactive == Interactive::Pass {
        chart.note("sessions", "shells that stay open run unjudged", "set interactive = \"refuse\"");
    }
}

fn landlock(policy: Option<&Policy>, chart: &mut Chart) {
    let confine = policy.map(|policy| policy.temper().confine);
    if confine.is_some_and(|confine| confine.level == Level::Off) {
        chart.note("confinement", "switched off by the policy", "set confine.level = \"derived\"");
        return;
    }
    let advice = "use a kernel of 5.13 or newer with landlock in its lsm= list; set confine.required = true to run nothing without it";
    match std::fs::read_to_string("/sys/kernel/security/lsm") {
        Ok(list) if list.split(',').any(|name| name.trim() == "landlock") => {
            chart.good("confinement", "Landlock");
        }
        Ok(_) if confine.is_some_and(|confine| confine.required == Switch::On) => {
            chart.bad(
                "confinement",
                "the kernel has no Landlock, and the policy demands it: nothing runs",
                advice,
            );
        }
        Ok(_) => chart.note("confinement", "the kernel has no Landlock: commands run unconfined", advice),
        Err(_) => chart.note(
            "confinement",
            "whether the kernel has Landlock can't be looked at here",
            "see the record's confinement field",
        ),
    }
}

fn namespaces(places: &Places, chart: &mut Chart) {
    let mut command = Command::new(&places.agent_shctl);
    command.args(["run", "--as", "cursor", "--", "/usr/bin/env", "true"]).stdin(Stdio::null());
    match command.output() {
        Ok(output) if output.status.success() => {
            chart.good("namespaces", "agent-sh can be bound over /bin/bash");
        }
        Ok(output) => {
            let told = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            chart.note(
                "namespaces",
                told,
                "clients with a built-in /bin/bash or /bin/sh can't be started by `run`",
            );
        }
        Err(error) => {
            chart.bad("namespaces", format!("agent-shctl could not be started: {error}"), "install it anew");
        }
    }
}

fn channels(policy: Option<&Policy>, chart: &mut Chart) {
    let Some(audit) = policy.map(|policy| policy.temper().audit) else { return };
    let is_socket = |path: &Path| std::fs::metadata(path).is_ok_and(|meta| meta.file_type().is_socket());
    let socket = audit.sockets.iter().find(|path| is_socket(Path::new(path)));
    let journal = Path::new("/run/systemd/journal/socket").exists();
    let found = match (audit.syslog, socket, journal, audit.file) {
        (Switch::On, Some(socket), ..) => (*socket).to_owned(),
        (Switch::On, None, true, _) => "journald".to_owned(),
        (_, _, _, file) => file.to_owned(),
    };
    if !found.is_empty() {
        chart.good("record", format!("goes to {found}"));
    } else if audit.required == Switch::On {
        chart.bad(
            "record",
            "no log takes records, and the policy demands them: nothing runs",
            "start a log service, or set audit.file",
        );
    } else {
        chart.note(
            "record",
            "no log takes records",
            "start rsyslogd or journald, or set audit.file in /etc/agent-sh/policy.d",
        );
    }
}
