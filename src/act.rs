//! The vocabulary of the judgement: what a command does ([`Kind`]), to what ([`Class`]), and how
//! ([`Tag`]). Policy files, command descriptions, effects and rules all speak these words.
//!
//! `Kind` and `Class` are closed. Tags are open: the ones that Rust code sets are [`tag`]'s constants;
//! policy files may add names of their own, which [`crate::policy`] interns behind them.

#[path = "act/sets.rs"]
mod sets;
#[path = "act/tags.rs"]
mod tags;

pub use sets::{ClassSet, TAG_LIMIT, Tag, TagSet};
pub use tags::tag;

/// Declares an enum whose variants have policy names.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $name { $($(#[$doc])* $variant),+ }

        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// Name in policy files and output.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }

            /// The inverse of [`Self::name`].
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some($name::$variant),)+ _ => None }
            }

            /// This word's bit in a set.
            pub const fn bit(self) -> u64 {
                1 << (self as u8)
            }
        }
    };
}

words! {
    /// What an effect is.
    Kind {
        /// reads a file's content
        Read = "read",
        /// lists a folder or looks at metadata
        List = "list",
        /// replaces or changes a file's content
        Write = "write",
        /// adds to a file
        Append = "append",
        /// makes a new, empty thing (mkdir, touch, mkfifo)
        Create = "create",
        /// removes a file or tree
        Delete = "delete",
        /// takes a file away from its place (mv's source)
        Move = "move",
        /// makes a link; the target is the link's place, a second effect of kind `link-to` names what it points to
        Link = "link",
        LinkTo = "link-to",
        Chmod = "chmod",
        Chown = "chown",
        Mount = "mount",
        /// makes a file system, partitions or wipes a device
        Format = "format",
        /// runs a program file (target: the file)
        Execute = "execute",
        /// runs code of some language whose text is not (fully) known; tags say where it comes from
        Code = "code",
        /// starts a shell (or an interpreter's prompt) without a command: leaves mediation
        Shell = "shell",
        /// takes bytes from the network (target: host)
        Fetch = "fetch",
        /// gives bytes to the network (target: host)
        Send = "send",
        /// opens a raw connection (target: host)
        Connect = "connect",
        /// waits for connections
        Listen = "listen",
        /// sends a signal to a process
        Signal = "signal",
        /// starts, stops, enables, masks a service (target: its name)
        Service = "service",
        /// halts, reboots, suspends
        Power = "power",
        /// kernel: modules, sysctl, kexec, tracing
        Kernel = "kernel",
        /// users, groups, passwords
        Account = "account",
        /// acts with another user's rights (target: the user)
        Privilege = "privilege",
        /// installs software
        Install = "install",
        /// removes software
        Uninstall = "uninstall",
        /// firewall, `SELinux`, audit, logging: weakens the machine's guard
        Guard = "guard",
        /// destroys work in version control (uncommitted changes, branches, stashes, history)
        Discard = "discard",
        /// rewrites or destroys what others share (push --force, remote branch deletion)
        Overwrite = "overwrite",
        /// changes state of a remote or shared service (cloud, cluster, database), see tags
        Remote = "remote",
        /// publishes something (npm publish, push, docker push)
        Publish = "publish",
        /// arranges that something runs later (cron, at, systemd timer)
        Schedule = "schedule",
        /// sets a variable that makes other programs load or run code (`LD_PRELOAD`, `BASH_ENV`, PATH …)
        Inject = "inject",
        /// prints a secret or the environment to the command's output
        Disclose = "disclose",
        /// uses up the machine: fork bombs, endless writers
        Exhaust = "exhaust",
        /// hides traces: history, logs, timestamps
        Evade = "evade",
        /// looks at accounts, network, processes, as an intruder would
        Discover = "discover",
        /// runs a container or virtual machine
        Container = "container",
        /// debugs or reads another process's memory
        Trace = "trace",
        /// records keys, screen, traffic
        Capture = "capture",
        /// programs whose description is not known (target: the program's name)
        Unknown = "unknown",
    }
}

words! {
    /// What a target is. A path may be of several classes.
    Class {
        /// `/` itself, or the first level below it as a whole
        Root = "root",
        /// the operating system's files: /usr, /bin, /lib, /opt, /var/lib …
        System = "system",
        /// /etc
        Config = "config",
        Boot = "boot",
        /// block devices
        Device = "device",
        /// /proc, /sys: kernel settings and memory
        Kernel = "kernel",
        /// credentials of any kind
        Secret = "secret",
        /// password and account databases: shadow, sudoers, passwd
        Account = "account",
        /// files that make something run later: start-up files, cron, units, git hooks, `authorized_keys`
        Persistence = "persistence",
        /// inside the user's home
        Home = "home",
        /// the user's home as a whole (or a folder that holds it)
        HomeRoot = "home-root",
        /// another user's home
        OtherHome = "other-home",
        Workspace = "workspace",
        /// the workspace as a whole
        WorkspaceRoot = "workspace-root",
        /// a folder that holds the workspace
        WorkspaceParent = "workspace-parent",
        /// things that tools make again: `node_modules`, target, build, dist, `__pycache__`
        Generated = "generated",
        Temporary = "temporary",
        Cache = "cache",
        Log = "log",
        /// inside .git
        Vcs = "vcs",
        /// settings of agents and editors that decide what they may run
        AgentConfig = "agent-config",
        /// agent-sh's own policy and state
        OwnState = "own-state",
        /// /dev/null, /dev/stdout, ttys, fds
        Null = "null",
        /// endless or random devices: /dev/zero, /dev/urandom
        Endless = "endless",
        /// sockets that give control: `docker.sock`, containerd, dbus
        ControlSocket = "control-socket",
        /// shell and tool history files
        History = "history",
        /// removable and other mounts: /mnt, /media, /srv
        Mounted = "mounted",
        /// a place that could not be determined
        Unknown = "unknown",
        /// hosts: this machine
        Loopback = "loopback",
        /// hosts: private address ranges
        PrivateNet = "private-net",
        /// hosts: cloud metadata services
        Metadata = "metadata",
        /// hosts: everything else
        Internet = "internet",
        /// hosts: places that people use to collect stolen data or tunnel (paste bins, webhooks, tunnels)
        DropSite = "drop-site",
        /// hosts: well-known code hosts and package registries
        KnownHost = "known-host",
        /// processes: the caller's own children ($!, %1)
        OwnProcess = "own-process",
        /// processes: given by number or name
        OtherProcess = "other-process",
        /// processes: init, all of them, system daemons, the shell itself or its parent
        CoreProcess = "core-process",
        /// none of the known places (/app, /data, /repo …), and not in the workspace
        Outside = "outside",
        /// executables' folders in PATH
        PathFolder = "path-folder",
        /// files with executable code that lie in the workspace or a temporary folder
        Script = "script",
        /// documents a person made: Documents, Desktop, Pictures …
        Personal = "personal",
    }
}

words! {
    /// What kind of thing could not be determined.
    UnknownKind {
        /// the text could not be parsed
        Syntax = "syntax",
        /// the two parsers read different commands
        Disagreement = "disagreement",
        /// a bound was reached
        Limit = "limit",
        /// the program's name is not known before it runs
        Program = "program",
        /// a program without description
        Description = "description",
        /// code in another language that could not be read
        Code = "code",
        Target = "target",
        /// a variable's value
        Value = "value",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_room_in_their_sets() {
        assert!(Kind::ALL.len() <= 64 && Class::ALL.len() <= 64 && tag::NAMES.len() <= TAG_LIMIT);
    }

    #[test]
    fn tag_sets_hold_what_was_put_in() {
        let set = TagSet::of(tag::FORCE).with(Tag(200));
        assert_eq!(set.iter().collect::<Vec<_>>(), vec![tag::FORCE, Tag(200)]);
        assert!(set.has_all(TagSet::of(Tag(200))) && !set.has(tag::RECURSIVE));
    }
}
