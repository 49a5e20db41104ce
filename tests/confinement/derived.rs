//! The ruleset that follows from effects, with the real kernel.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::stage::{NOBODY, Stage, User, exists, is_here, seen};

const USERS: [User; 2] = [User::Root, User::Nobody];

fn stages() -> impl Iterator<Item = Stage> {
    USERS.into_iter().filter_map(Stage::set)
}

fn derived(bounds: &Value, grants: &Value) -> Value {
    json!({ "level": "derived", "bounds": bounds, "grants": grants })
}

fn reader() -> Value {
    derived(&json!({}), &json!([]))
}

/// A process outside, of the trial's user.
pub(super) struct Victim(pub(super) Child);

impl Victim {
    pub(super) fn of(user: User) -> Self {
        use std::os::unix::process::CommandExt as _;
        let mut command = Command::new("sleep");
        command.arg("300").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if user == User::Nobody && nix::unistd::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        Self(command.spawn().unwrap())
    }

    pub(super) fn lives(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_reader_writes_nowhere_and_reaches_nobody() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    for mut stage in stages() {
        let mut victim = Victim::of(stage.user);
        let (id, project) = (victim.0.id(), stage.at("home/project"));
        stage.settings = reader();
        let seen = stage.run("cat file ~/.bashrc | wc -l; echo n >/dev/null; echo e >&2; kill -0 $$; sleep 9 & kill $!; wait; cat <(echo sub)");
        assert_eq!(seen.out, "2\nsub\n", "{seen:?}");
        assert!(seen.state.starts_with("landlock abi=") && seen.state.contains(" derived"), "{}", seen.state);
        for script in [
            "echo x > new".to_owned(),
            "echo x >> file".to_owned(),
            "rm file".to_owned(),
            "mkdir d".to_owned(),
            "mv file g".to_owned(),
            "ln -s file l".to_owned(),
            "truncate -s 0 file".to_owned(),
            "mktemp".to_owned(),
            "echo x > /dev/shm/agent-sh-$$".to_owned(),
            "echo x > ~/.cache/new".to_owned(),
            "cat ~/.ssh/id_ed25519".to_owned(),
            format!("exec 3<>/dev/tcp/127.0.0.1/{port}"),
            format!("kill {id}"),
            format!("bash -c 'kill {id}'"),
        ] {
            let seen = stage.run(&script);
            assert_ne!(seen.status, Some(0), "{script} as {:?}: {seen:?}", stage.user);
        }
        assert!(victim.lives());
        let names: Vec<_> = std::fs::read_dir(&project).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["file"]);
        assert_eq!(std::fs::read_to_string(project.join("file")).unwrap(), "plain\n");
    }
}

#[test]
fn a_writer_gets_its_target_and_nothing_beside_it() {
    for mut stage in stages() {
        for name in ["a", "b", "folder/x"] {
            let path = stage.at("home/project").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "old\n").unwrap();
        }
        let set = Command::new("chown")
            .args(["-R", &format!("--reference={}", stage.at("home").display())])
            .arg(stage.at("home/project"))
            .status();
        assert!(set.unwrap().success());
        for (grants, script, works) in [
            (json!([["write", "a"]]), "echo new > a && cat a", true),
            (json!([["write", "a"]]), "echo new > b", false),
            (json!([["write", "a"]]), "rm a", false),
            (json!([["write", "a"]]), "echo x > /tmp/agent-sh-test-$$", false),
            (json!([["write", "a"], ["temporary"]]), "f=$(mktemp) && echo x > $f && rm $f", true),
            (json!([["put", "a"]]), "sed -i s/o/u/ a", true),
            (json!([["put", "a"]]), "echo x > ~/.bashrc", false),
            (json!([["put", "folder"]]), "cp a folder && rm folder/a", true),
            (json!([["put", "folder"]]), "echo x > b", false),
            (json!([["remove", "folder/x"]]), "rm folder/x", true),
            (json!([["remove", "folder/x"]]), "echo x > folder/y", false),
            (json!([["remove", "folder/x"]]), "rm b", false),
            (json!([["place", "~/.npm/**"]]), "echo x > ~/.npm/y", true),
        ] {
            let mut grants = grants;
            for grant in grants.as_array_mut().unwrap() {
                if let Some(name) = grant[1].as_str().filter(|name| !name.starts_with('~')).map(str::to_owned)
                {
                    grant[1] = json!(stage.at("home/project").join(name));
                }
            }
            stage.settings = derived(&json!({}), &grants);
            let seen = stage.run(script);
            assert_eq!(seen.status == Some(0), works, "{grants} {script} as {:?}: {seen:?}", stage.user);
        }
    }
}

#[test]
fn connections_go_to_the_ports_of_the_effects() {
    let (known, other) =
        (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
    for mut stage in stages() {
        for (ports, to, works) in [
            (json!([port(&known)]), port(&known), true),
            (json!([port(&known)]), port(&other), false),
            (json!("any"), port(&other), true),
            (json!(null), port(&known), false),
        ] {
            stage.settings = derived(&json!({ "ports": ports }), &json!([]));
            let seen = stage.run(&format!("exec 3<>/dev/tcp/127.0.0.1/{to}"));
            assert_eq!(seen.status == Some(0), works, "{ports} {to}: {seen:?}");
        }
    }
}

#[test]
fn signals_go_out_only_where_the_effects_say_so() {
    for mut stage in stages() {
        for (signals, works) in [("own", false), ("any", true)] {
            let victim = Victim::of(stage.user);
            stage.settings = derived(&json!({ "signals": signals }), &json!([]));
            let seen = stage.run(&format!("kill {}", victim.0.id()));
            assert_eq!(seen.status == Some(0), works, "{signals}: {seen:?}");
        }
    }
}

#[test]
fn each_abi_holds_what_it_can_of_the_effects() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    for mut stage in stages() {
        for abi in 1..=7 {
            let mut victim = Victim::of(stage.user);
            stage.settings = reader();
            stage.settings["abi"] = json!(abi);
            stage.settings["depth"] = json!(3);
            let id = victim.0.id();
            let seen = stage.run(&format!(
                "cat file; echo x > new; rm file; (exec 3<>/dev/tcp/127.0.0.1/{port}) && echo connected; kill {id} && echo killed"
            ));
            assert!(seen.state.starts_with(&format!("landlock abi={abi} ")), "{}", seen.state);
            let expected = match abi {
                1..=3 => "plain\nconnected\nkilled\n",
                4 | 5 => "plain\nkilled\n",
                _ => "plain\n",
            };
            assert_eq!(seen.out, expected, "abi {abi}: {seen:?}");
            if abi < 6 {
                // the signal was sent; it dies of it when it gets to run
                victim.0.wait().unwrap();
            } else {
                assert!(victim.lives(), "abi {abi}");
            }
            assert!(
                !exists(&stage.at("home/project/new")) && exists(&stage.at("home/project/file")),
                "abi {abi}"
            );
        }
    }
}

#[test]
fn two_hundred_nested_shells_keep_the_effects_layer() {
    for level in ["derived", "strict"] {
        for mut stage in stages() {
            stage.settings = reader();
            stage.settings["level"] = json!(level);
            stage.settings["depth"] = json!(200);
            let output = stage.command("cat file; echo x > new || echo held").output().unwrap();
            let err = String::from_utf8_lossy(&output.stderr).into_owned();
            let states: Vec<&str> = err.lines().filter_map(|line| line.strip_prefix("STATE ")).collect();
            assert_eq!(states.len(), 201);
            assert!(states[0].starts_with("landlock") && states[0].contains("derived"), "{:?}", states[0]);
            assert!(states[1..].iter().all(|state| *state == "joined"), "{states:?}");
            assert_eq!(seen(&output).out, "plain\nheld\n");
        }
    }
}

#[test]
fn without_landlock_a_derived_command_runs_and_the_record_says_so() {
    for mut stage in stages() {
        stage.settings = reader();
        stage.settings["abi"] = json!(0);
        let seen = stage.run("echo x > new && cat new");
        assert_eq!((seen.state.as_str(), seen.out.as_str()), ("none: newest-abi is 0", "x\n"));
    }
}

#[test]
fn a_user_namespace_makes_no_difference() {
    if !is_here("unshare") {
        return;
    }
    let Some(mut stage) = Stage::set(User::Nobody) else { return };
    stage.settings = reader();
    let inner = stage.command("cat file; id -u; echo x > new || echo held; (unshare -Ur sh -c 'echo x > new') 2>/dev/null || echo held");
    let mut settings: Value = serde_json::from_str(
        inner
            .get_envs()
            .find(|(name, _)| *name == "AGENT_SH_TEST_TRIAL")
            .unwrap()
            .1
            .unwrap()
            .to_str()
            .unwrap(),
    )
    .unwrap();
    // the namespace's root is nobody outside
    settings["uid"] = Value::Null;
    let mut outer = Command::new("setpriv");
    outer.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "unshare", "-Ur"]);
    if !nix::unistd::geteuid().is_root() {
        outer = Command::new("unshare");
        outer.arg("-Ur");
    }
    outer.arg(inner.get_program()).args(inner.get_args()).env("AGENT_SH_TEST_TRIAL", settings.to_string());
    outer.env("HOME", stage.at("home")).current_dir(stage.at("home/project")).stdin(Stdio::null());
    let output = outer.output().unwrap();
    let seen = seen(&output);
    if seen.state.is_empty() && seen.err.contains("unshare") {
        eprintln!("SKIPPED: no user namespaces here; this test did not run: {}", seen.err);
        return;
    }
    assert_eq!(seen.out, "plain\n0\nheld\nheld\n", "{seen:?}");
    assert!(seen.state.contains(" derived"), "{}", seen.state);
}
