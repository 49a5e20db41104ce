//! Channels for real: each one that this machine has carries hostile texts to bash, which writes down what it got.

// a test program: what is not there may stop it
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use agent_sh::fidelity::bench::scene::Scene;
use agent_sh::fidelity::channel::name::{Channel, StdinPolicy, Step};
use agent_sh::fidelity::channel::path;
use agent_sh::fidelity::channel::stage;

/// Arguments that something on some way would change.
const WORDS: [&[u8]; 24] = [
    b"a\\\\b\\c",
    b"it's \"x\"",
    b"$HOME ${x} $$ $(id) `id`",
    b"!x a!b !!",
    b"%d 100% \\%",
    b"a\nb\n",
    b"\ttab\t",
    b" lead and trail ",
    b"",
    b"{} {} +",
    b";",
    b"*?[a-z]{a,b}~",
    b"caf\xe9 \xff\xfe",
    "h\u{e9} \u{1F680} \u{2028}".as_bytes(),
    b"\r\n",
    b"\x01\x04\x1a\x7f\x1b[0m",
    b"-c -- -x",
    b"#c",
    b"<&3 >x |y &",
    b"EOF\nEOF\n",
    b"^a~b",
    b"@x $@ $<",
    b"(a) (echo x|base64 -d|bash)",
    b"\\",
];

fn quoted(word: &[u8]) -> Vec<u8> {
    let mut out = b"'".to_vec();
    for byte in word {
        if *byte == b'\'' { out.extend_from_slice(b"'\\''") } else { out.push(*byte) }
    }
    out.push(b'\'');
    out
}

/// A text that writes its words, each ended by a null byte, to a file.
fn text(out: &Path, words: &[&[u8]]) -> Vec<u8> {
    let mut text = b"set -- ".to_vec();
    for word in words {
        text.append(&mut quoted(word));
        text.push(b' ');
    }
    // a second line, an empty standard input, and a name that is there only when all is written
    let out = out.display();
    text.extend_from_slice(
        format!("\ncat; printf '%s\\0' \"$@\" >{out}.part\nmv {out}.part {out}").as_bytes(),
    );
    text
}

fn steps(scene: &Scene, names: &str) -> Vec<Step> {
    let step = |name: &str| {
        let channel = Channel::named(name).unwrap();
        let to = match channel.target() {
            "HOST" => Some(scene.ssh().join(" ")),
            "USER" => Some("root".to_owned()),
            "PANE" => Some(format!("{} typing", scene.server().join(" "))),
            _ => None,
        };
        Step { channel, to: to.map(String::into_bytes) }
    };
    names.split(',').map(step).collect()
}

fn is_there(program: &str) -> bool {
    let path = std::env::var("PATH").unwrap_or_default();
    path.split(':').any(|folder| Path::new(folder).join(program).exists())
}

/// Delivers, and gives what arrived.
fn carried(scene: &Scene, names: &str, number: usize, words: &[&[u8]]) -> Vec<u8> {
    let (case, _) = scene.case().unwrap();
    let out = case.join(format!("out{number}"));
    let text = text(&out, words);
    let place = case.join("s").display().to_string();
    let rendering = path::render(&text, &steps(scene, names), StdinPolicy::Null, &place)
        .unwrap_or_else(|refusal| panic!("{names}: {refusal}"));
    let laid = stage::lay(&rendering, None).unwrap();
    let (mut command, input) = laid.command();
    command.env_remove("TMUX").stdout(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    if let (Some(mut pipe), Some(bytes)) = (child.stdin.take(), input) {
        let _ = pipe.write_all(bytes);
    }
    child.wait().unwrap();
    let limit = Instant::now() + Duration::from_secs(10);
    while !out.exists() && Instant::now() < limit {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::fs::read(&out).unwrap_or_default()
}

#[test]
fn every_channel_of_this_machine_carries_hostile_texts_unchanged() {
    let scene = Scene::open().unwrap();
    let is_root = nix::unistd::geteuid().is_root();
    let server = scene.server();
    let has_tmux = std::process::Command::new("tmux")
        .args(server)
        .args(["new-session", "-d", "-s", "typing", "exec bash --norc --noprofile -i"])
        .status()
        .is_ok_and(|s| s.success());
    let words: Vec<u8> = WORDS.iter().flat_map(|w| [*w, b"\0"].concat()).collect();
    let mut tried = 0;
    for (number, (names, need)) in [
        ("argv", "bash"),
        ("script", "bash"),
        ("stub", "bash"),
        ("memfd", "bash"),
        ("stdin", "bash"),
        ("env", "bash"),
        ("base64", "base64"),
        ("make", "make"),
        ("xargs", "xargs"),
        ("find", "find"),
        ("parallel", "parallel"),
        ("pty", "script"),
        ("su", "su"),
        ("sudo", "sudo"),
        ("sudo-i", "sudo"),
        ("ssh", "ssh"),
        ("tmux", "tmux"),
        ("su,base64", "su"),
        ("ssh,su,base64", "ssh"),
        ("ssh,make", "ssh"),
        ("make,stub", "make"),
        ("xargs,find,make", "make"),
        ("env,su,stdin", "su"),
        ("sudo,su,xargs,argv", "sudo"),
    ]
    .into_iter()
    .enumerate()
    {
        let user = names.contains("su") && !is_root;
        let daemon = (names.contains("ssh") && !scene.ssh().iter().any(|w| w.ends_with("@127.0.0.1")))
            || (names.contains("ssh") && !Path::new("/usr/sbin/sshd").exists())
            || (names.contains("tmux") && !has_tmux);
        if !is_there(need) || user || daemon {
            println!(
                "SKIPPED {names}: it needs {need} (and root for su and sudo); scripts/iec-setup installs it"
            );
            continue;
        }
        assert_eq!(carried(&scene, names, number, &WORDS), words, "{names}");
        tried += 1;
    }
    println!("{tried} ways carried {} hostile words each", WORDS.len());
    assert!(tried >= 9);
}

#[test]
fn a_text_of_two_hundred_kilobytes_goes_by_what_has_room_for_it() {
    let scene = Scene::open().unwrap();
    let long = vec![b'\''; 150_000];
    for names in ["script", "stub", "memfd", "stdin", "make", "find"] {
        let need = names.split(',').next().unwrap();
        if matches!(need, "make" | "find") && !is_there(need) {
            println!("SKIPPED {names}: not installed");
            continue;
        }
        let got = carried(&scene, names, 0, &[&long[..40_000]]);
        assert_eq!(got.len(), 40_001, "{names}");
    }
    let refused = path::render(&long, &steps(&scene, "argv"), StdinPolicy::Null, "/tmp/x").unwrap_err();
    assert_eq!(
        refused.to_string(),
        "hop 1 (argv): 150000 bytes, of which it carries 131071; nothing was started; use the channel script, stub, memfd or stdin"
    );
}
