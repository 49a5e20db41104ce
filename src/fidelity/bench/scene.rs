//! What ways need around them: folders, an sshd with its own keys on loopback, a tmux server.
//!
//! In: a parent folder. Out: [`Scene`], all of which ends with it. Never: touches the user's own daemons or keys.

use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::fidelity::bench::counter;
use crate::fidelity::bench::way::Way;

/// The bench's folder and daemons.
#[derive(Debug)]
pub struct Scene {
    /// `/tmp/iXXXXX`: short, so that the probe's path has 22 bytes.
    pub folder: PathBuf,
    sshd: Option<(Child, u16)>,
    has_tmux: bool,
    trials: AtomicU32,
}

impl Scene {
    /// Makes the folder and starts the daemons that can be started.
    pub fn open() -> std::io::Result<Self> {
        let stamp = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |d| d.subsec_nanos());
        let folder = PathBuf::from(format!("/tmp/i{:05x}", (stamp ^ std::process::id()) & 0xF_FFFF));
        std::fs::create_dir(&folder)?;
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755))?;
        let mut scene = Self { folder, sshd: None, has_tmux: false, trials: AtomicU32::new(0) };
        counter::write(&scene.folder.join("prb"))?;
        scene.watch()?;
        scene.sshd = scene.start_sshd();
        scene.has_tmux = scene.start_tmux();
        Ok(scene)
    }

    /// A folder for one trial, with the probe in it.
    pub fn case(&self) -> std::io::Result<(PathBuf, String)> {
        let number = format!("{:06}", self.trials.fetch_add(1, Ordering::Relaxed));
        let folder = self.folder.join(&number);
        std::fs::create_dir(&folder)?;
        std::fs::hard_link(self.folder.join("prb"), folder.join("prb"))?;
        Ok((folder, number))
    }

    /// What a way lacks here, if anything.
    pub fn lacks(&self, way: &Way) -> Option<&'static str> {
        let there = |need: &str| match need {
            "root" => nix::unistd::geteuid().is_root(),
            "sshd" => self.sshd.is_some(),
            "tmux" => self.has_tmux,
            "mounts" => quiet(Command::new("unshare").args(["-m", "true"])).is_some(),
            program => is_there(program),
        };
        way.needs.iter().copied().find(|need| !there(need))
    }

    /// The options of ssh for the bench's own daemon, and its host.
    pub fn ssh(&self) -> Vec<String> {
        let folder = self.folder.display();
        let port = self.sshd.as_ref().map_or(0, |(_, port)| *port);
        let user = std::env::var("USER").unwrap_or_else(|_| "root".to_owned());
        format!(
            "-F none -i {folder}/user -p {port} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
             -o BatchMode=yes -o LogLevel=ERROR -o ControlMaster=auto -o ControlPath={folder}/ctl -o ControlPersist=60 {user}@127.0.0.1"
        )
        .split(' ')
        .map(str::to_owned)
        .collect()
    }

    /// The options of tmux for the bench's own server.
    pub fn server(&self) -> Vec<String> {
        vec![
            "-f".to_owned(),
            "/dev/null".to_owned(),
            "-S".to_owned(),
            self.folder.join("tmux").display().to_string(),
        ]
    }

    /// Ends the daemons and removes the folder if this process is ended before it can.
    fn watch(&self) -> std::io::Result<()> {
        const WATCH: &str = "while kill -0 $1 2>/dev/null; do sleep 1; done; [ -d $2 ] || exit 0; \
                             kill $(cat $2/sshd.pid) 2>/dev/null; timeout 5 tmux -S $2/tmux kill-server 2>/dev/null; rm -rf $2";
        let mut command = Command::new("sh");
        command.args(["-c", WATCH, "sh", &std::process::id().to_string()]).arg(&self.folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        std::os::unix::process::CommandExt::process_group(&mut command, 0).spawn().map(drop)
    }

    fn start_sshd(&self) -> Option<(Child, u16)> {
        let program =
            ["/usr/sbin/sshd", "/usr/local/sbin/sshd"].into_iter().find(|p| Path::new(p).exists())?;
        for name in ["host", "user"] {
            let key = self.folder.join(name);
            quiet(Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(key))?;
        }
        // sshd wants its folder for privilege separation
        let _ = std::fs::create_dir("/run/sshd");
        let port = TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
        let folder = self.folder.display();
        let mut command = Command::new(program);
        command.args([
            "-D",
            "-e",
            "-f",
            "/dev/null",
            "-h",
            &format!("{folder}/host"),
            "-p",
            &port.to_string(),
        ]);
        for option in [
            "ListenAddress=127.0.0.1",
            &format!("AuthorizedKeysFile={folder}/user.pub"),
            "StrictModes=no",
            "PermitRootLogin=yes",
            "UsePAM=no",
            &format!("PidFile={folder}/sshd.pid"),
            // the user's start-up files are not what is measured
            &format!("SetEnv=HOME={folder}"),
            "MaxStartups=100",
        ] {
            command.args(["-o", option]);
        }
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
        for _ in 0..50 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Some((child, port));
            }
            std::thread::sleep(Duration::from_millis(40));
        }
        None
    }

    fn start_tmux(&self) -> bool {
        let mut command = Command::new("tmux");
        command.args(self.server()).args(["new-session", "-d", "-s", "bench", "sleep 100000"]);
        quiet(command.env_remove("TMUX")).is_some()
    }
}

/// Removes a trial's folder. What a text left running in another session may still write to it; then it goes with
/// the bench's own folder.
pub fn leave(case: &Path) {
    drop(std::fs::remove_dir_all(case));
}

fn quiet(command: &mut Command) -> Option<()> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
    status.success().then_some(())
}

/// Whether PATH, or a folder of daemons, has a program.
fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).exists())
}

impl Drop for Scene {
    fn drop(&mut self) {
        if self.has_tmux {
            let mut command = Command::new("tmux");
            let _ = quiet(command.args(self.server()).arg("kill-server"));
        }
        if let Some((child, _)) = &mut self.sshd {
            let mut command = Command::new("ssh");
            let mut options = self.folder.join("ctl").into_os_string();
            options = ["ControlPath=".into(), options].into_iter().collect();
            let _ = quiet(command.args(["-O", "exit", "-o"]).arg(options).arg("127.0.0.1"));
            drop(child.kill());
            drop(child.wait());
        }
        // until what texts left running has come to an end
        for _ in 0..50 {
            match std::fs::remove_dir_all(&self.folder) {
                Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {
                    std::thread::sleep(Duration::from_millis(100));
                }
                Ok(()) | Err(_) => break,
            }
        }
    }
}
