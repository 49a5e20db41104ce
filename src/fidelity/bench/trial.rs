//! One text sent over one way, or by a channel, and what came of it.
//!
//! In: a [`Scene`], a way or rendering, a text. Out: an [`Outcome`]. Never: waits longer than its limit.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::RwLock;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::fidelity::bench::counter;
use crate::fidelity::bench::scene::Scene;
use crate::fidelity::bench::way::{End, Home, Way, fill};

/// Held for writing while a program is written, for reading until a child has become its program: between fork and
/// exec it has all that is open here, and a file that somebody has open to write to can't be executed (ETXTBSY).
pub static WRITING: RwLock<()> = RwLock::new(());

const LIMIT: Duration = Duration::from_secs(8);
/// A terminal that has not come to the sentinel by then hangs.
const TERMINAL: Duration = Duration::from_secs(3);
const QUIET: Duration = Duration::from_millis(400);
const PAUSE: Duration = Duration::from_millis(2);

/// What a text did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Each call of the probe, see [`counter`].
    pub calls: Vec<Vec<u8>>,
    /// None where it was not started, or stopped.
    pub status: Option<i32>,
    /// Whether anything was said on standard error.
    pub complained: bool,
}

impl Outcome {
    /// Whether the same calls were made. Parts of a text that run at the same time have no order.
    pub fn is_like(&self, other: &Self) -> bool {
        if self.calls == other.calls {
            return true;
        }
        let sorted = |calls: &[Vec<u8>]| {
            let mut calls = calls.to_vec();
            calls.sort();
            calls
        };
        sorted(&self.calls) == sorted(&other.calls)
    }
}

/// What is started.
#[derive(Debug, Default)]
pub struct Launch {
    pub words: Vec<Vec<u8>>,
    pub input: Option<Vec<u8>>,
    pub environment: Vec<(Vec<u8>, Vec<u8>)>,
    pub home: Home,
}

/// In front of a login: see [`Home::Login`].
const HIDDEN: [&str; 7] =
    ["unshare", "-m", "--", "sh", "-c", "mount -t tmpfs -o mode=0700 empty ~root && exec \"$@\"", "sh"];

impl Launch {
    fn words(&self) -> impl Iterator<Item = &OsStr> {
        let before = match self.home {
            Home::Bench => &[][..],
            Home::Login => &HIDDEN,
        };
        before.iter().map(OsStr::new).chain(self.words.iter().map(|word| OsStr::from_bytes(word)))
    }
}

/// Expands the words of a way that stand for several.
pub fn expand(scene: &Scene, words: &[&str], (text, case, number): (&[u8], &Path, &str)) -> Vec<Vec<u8>> {
    let case = case.display().to_string();
    let several = |list: Vec<String>| list.into_iter().map(String::into_bytes).collect();
    words
        .iter()
        .flat_map(|word| match *word {
            "{ssh}" => several(scene.ssh()),
            "{server}" => several(scene.server()),
            word => vec![fill(word, text, &case, number)],
        })
        .collect()
}

/// Sends a text over a way, in a folder that was made for it.
pub fn send(scene: &Scene, way: &Way, text: &[u8], (case, number): (&Path, &str)) -> Outcome {
    let Some(sent) = (way.wrap)(text) else { return Outcome { complained: true, ..Outcome::default() } };
    let place = (sent.as_slice(), case, number);
    let shown = case.display().to_string();
    if let Some(file) = way.file
        && std::fs::write(case.join("file"), fill(file, &sent, &shown, number)).is_err()
    {
        return Outcome::default();
    }
    let plain = |words| Launch { words: expand(scene, words, place), ..Launch::default() };
    if let Some(before) = way.before {
        run(&plain(before), case, End::Exit);
    }
    let input = way.input.map(|input| fill(input, &sent, &shown, number));
    let launch = Launch { input, home: way.home, ..plain(way.words) };
    let mut outcome = run(&launch, case, if way.after.is_empty() { way.end } else { End::Exit });
    for after in way.after {
        run(&plain(after), case, End::Exit);
    }
    if !way.after.is_empty() {
        wait_for_end(case, Instant::now() + TERMINAL);
        run(&plain(&["tmux", "{server}", "kill-session", "-t", "{n}"]), case, End::Exit);
        outcome.status = case.join("end").exists().then_some(0);
        outcome.calls = counter::calls(case).unwrap_or_default();
    }
    outcome
}

/// Starts one call and waits for its end.
pub fn run(launch: &Launch, case: &Path, end: End) -> Outcome {
    let refused = Outcome { complained: true, ..Outcome::default() };
    let error = case.join("error");
    let Ok(error_file) = File::options().create(true).append(true).open(&error) else { return refused };
    let said = error_file.metadata().map_or(0, |m| m.len());
    let os = |word: &Vec<u8>| OsStr::from_bytes(word).to_owned();
    let mut words = launch.words();
    let mut command = Command::new(words.next().unwrap_or_default());
    command
        .args(words)
        .envs(launch.environment.iter().map(|(name, value)| (os(name), os(value))))
        .env_remove("TMUX")
        // the user's start-up files are not what is measured
        .env("HOME", case.parent().unwrap_or(case))
        .current_dir(case)
        .stdin(if launch.input.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::null())
        .stderr(error_file)
        .process_group(0);
    let spawned = {
        let _lock = WRITING.read();
        command.spawn()
    };
    let Ok(mut child) = spawned else { return refused };
    if let (Some(mut pipe), Some(bytes)) = (child.stdin.take(), launch.input.clone()) {
        // a receiver that does not read must not keep us
        std::thread::spawn(move || drop(pipe.write_all(&bytes)));
    }
    let status = wait(&mut child, case, end);
    let _ = killpg(Pid::from_raw(i32::try_from(child.id()).unwrap_or(0)), Signal::SIGKILL);
    drop(child.wait());
    Outcome {
        calls: counter::calls(case).unwrap_or_default(),
        status,
        complained: error.metadata().is_ok_and(|m| m.len() > said),
    }
}

fn wait(child: &mut Child, case: &Path, end: End) -> Option<i32> {
    let limit = Instant::now() + if end == End::Sentinel { TERMINAL } else { LIMIT };
    let mut status = None;
    while Instant::now() < limit {
        if let Ok(Some(ended)) = child.try_wait() {
            status = ended.code();
            break;
        }
        std::thread::sleep(PAUSE);
    }
    match end {
        End::Exit => status,
        End::Sentinel => status.filter(|_| case.join("end").exists()),
        End::Quiet => {
            let (mut before, mut since) = (usize::MAX, Instant::now());
            while since.elapsed() < QUIET {
                let now = counter::calls(case).map_or(0, |c| c.len());
                if now != before {
                    (before, since) = (now, Instant::now());
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            status
        }
    }
}

fn wait_for_end(case: &Path, limit: Instant) {
    while Instant::now() < limit && !case.join("end").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
}
