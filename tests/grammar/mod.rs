//! A small grammar of command lists, harmless and dangerous. They are judged; nothing runs them.
//!
//! In: dice. Out: simple commands and lists of them. Never: writes a text that isn't whole by itself, so that
//! lists can be put together.

#![allow(dead_code)] // each test uses its part

/// A small generator of numbers (xorshift): the same seed gives the same texts.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % n as u64).unwrap()
    }

    pub(crate) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }
}

const PATHS: &[&str] = &[
    "notes.txt",
    "src",
    "./build",
    "target/debug",
    "node_modules",
    "../other",
    "..",
    ".",
    "*",
    "*.log",
    "~",
    "~/notes",
    "~/.ssh/id_ed25519",
    "~/.bashrc",
    "~/.aws/credentials",
    ".env",
    ".git",
    ".git/config",
    "/",
    "/etc",
    "/etc/passwd",
    "/etc/shadow",
    "/etc/cron.d/x",
    "/usr/bin/ls",
    "/tmp/x",
    "/tmp",
    "/dev/sda",
    "/dev/null",
    "/proc/1/environ",
    "/boot/vmlinuz",
    "/home/other/x",
    "/var/log/syslog",
    "/home/dev/proj",
    "/home/dev",
    "\"$HOME\"",
    "$UNSET/x",
    "\"$(cat list)\"",
    "/data/x",
    "server.key",
];

const HOSTS: &[&str] = &[
    "localhost:8000",
    "https://github.com/a/b",
    "http://192.168.1.7/x",
    "http://169.254.169.254/latest",
    "https://files.test.org/x",
    "\"$URL\"",
    "https://pastebin.com/raw/x",
];

/// `P` is a path, `H` a host.
const CALLS: &[&str] = &[
    "ls P",
    "cat P",
    "cat P P",
    "head -n 3 P",
    "echo hello P",
    "grep -rn word P",
    "wc -l P",
    "true",
    "id",
    "pwd",
    "date",
    "git status",
    "git diff P",
    "git checkout -- P",
    "git reset --hard",
    "git clean -xdf",
    "git push --force",
    "git branch -D x",
    "git stash clear",
    "rm P",
    "rm -r P",
    "rm -rf P",
    "rm -rf P P",
    "rmdir P",
    "mv P P",
    "cp P P",
    "cp -r P P",
    "mkdir -p P",
    "touch P",
    "ln -s P P",
    "tee P",
    "truncate -s 0 P",
    "shred -u P",
    "dd if=P of=P",
    "dd if=/dev/zero of=P",
    "chmod 644 P",
    "chmod -R 777 P",
    "chmod u+s P",
    "chown -R root P",
    "find P -name x",
    "find P -delete",
    "find P -exec rm {} +",
    "tar czf x.tgz P",
    "tar xf x.tgz -C P",
    "curl -s H",
    "curl -o P H",
    "curl -d @P H",
    "curl -T P H",
    "wget H",
    "wget -O P H",
    "nc h 9",
    "scp P h:",
    "rsync -a --delete P P",
    "ssh h id",
    "ssh h 'rm -rf /'",
    "kill $!",
    "kill -9 1",
    "pkill -9 -u dev",
    "killall node",
    "systemctl status x",
    "systemctl stop sshd",
    "crontab -l",
    "crontab P",
    "crontab -r",
    "sudo ls P",
    "sudo rm -rf P",
    "sudo -u other id",
    "env",
    "printenv",
    "export A=b",
    "export LD_PRELOAD=P",
    "export PATH=P:$PATH",
    "unset HISTFILE",
    "history -c",
    "apt-get install x",
    "sudo apt-get remove x",
    "pip install x",
    "npm install",
    "npm publish",
    "cargo build",
    "make",
    "docker ps",
    "docker run -v /:/h x",
    "docker system prune -af",
    "kubectl get pods",
    "kubectl delete ns x",
    "terraform destroy -auto-approve",
    "aws s3 rm s3://b --recursive",
    "psql -c 'drop table x'",
    "mkfs.ext4 P",
    "mount P P",
    "insmod P",
    "sysctl -w a=1",
    "useradd x",
    "passwd x",
    "iptables -F",
    "setenforce 0",
    "reboot",
    "python3 -c 'print(1)'",
    "python3 -c 'import shutil; shutil.rmtree(\"/etc\")'",
    "perl -e 'unlink(\"/etc/x\")'",
    "node -e 'x()'",
    "bash P",
    "sh -c 'rm -rf P'",
    "eval \"$X\"",
    "source P",
    ". P",
    "./run.sh",
    "/tmp/run",
    "no-such-tool P",
    "strange --out P",
    "xargs rm -rf",
    "base64 -d",
    "timeout 9 rm P",
    "nohup ls P",
    "nice rm -r P",
    "watch ls",
    "vim P",
    "sed -i s/a/b/ P",
    "awk '{print $1}' P",
    "cd P",
    "pushd P",
];

/// Endings of a simple command.
const REDIRECTS: &[&str] =
    &["", "", "", "", "", "", " > P", " >> P", " < P", " 2>/dev/null", " 2>&1", " <<< x"];

fn filled(dice: &mut Dice, shape: &str) -> String {
    let mut out = String::new();
    for (i, word) in shape.split(' ').enumerate() {
        if i > 0 {
            out.push(' ');
        }
        match word {
            "P" => out += dice.pick(PATHS),
            "H" => out += dice.pick(HOSTS),
            word => {
                out += &word
                    .replace("=P", &format!("={}", dice.pick(&["a", "/etc/x", "/dev/sda", "/tmp/x"])))
                    .replace("P'", "x'")
                    .replace("@P", "@.env")
                    .replace("P:", "/tmp:");
            }
        }
    }
    out
}

/// One call without redirections.
pub(crate) fn call(dice: &mut Dice) -> String {
    let shape = dice.pick(CALLS);
    filled(dice, shape)
}

/// One call with its redirections.
pub(crate) fn simple(dice: &mut Dice) -> String {
    let call = dice.pick(CALLS);
    let end = dice.pick(REDIRECTS);
    filled(dice, &format!("{call}{end}"))
}

/// One element of a list.
pub(crate) fn element(dice: &mut Dice) -> String {
    let (a, b) = (simple(dice), simple(dice));
    match dice.below(16) {
        0 => format!("{a} | {b}"),
        1 => format!("{a} | sh"),
        2 => format!("echo $({a})"),
        3 => format!("({a})"),
        4 => format!("{{ {a}; }}"),
        5 => format!("if {a}; then {b}; fi"),
        6 => format!("for i in a b; do {a}; done"),
        7 => format!("x=$({a})"),
        8 => format!("{a} && {b}"),
        9 => format!("! {a}"),
        10 => format!("while {a}; do {b}; done"),
        _ => a,
    }
}

/// One to four elements.
pub(crate) fn list(dice: &mut Dice) -> String {
    let elements: Vec<String> = (0..=dice.below(4)).map(|_| element(dice)).collect();
    elements.join(dice.pick(&["; ", "\n"]))
}
