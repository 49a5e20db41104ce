//! The vocabulary of the judgement: what a command does ([`Kind`]), to what ([`Class`]), and how
//! ([`Tag`]). Policy files, command descriptions, effects and rules all speak these words.
//!
//! `Kind` and `Class` are closed. Tags are open: the ones that Rust code sets are [`tag`]'s constants;
//! policy files may add names of their own, which [`crate::policy`] interns behind them.

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
        /// firewall, SELinux, audit, logging: weakens the machine's guard
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
        /// sets a variable that makes other programs load or run code (LD_PRELOAD, BASH_ENV, PATH …)
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
        /// files that make something run later: start-up files, cron, units, git hooks, authorized_keys
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
        /// things that tools make again: node_modules, target, build, dist, __pycache__
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
        /// sockets that give control: docker.sock, containerd, dbus
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

/// A property of an effect. See [`tag`] for those that code sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(pub u16);

/// How many different tags a policy may name.
pub const TAG_LIMIT: usize = 512;

const TAG_WORDS: usize = TAG_LIMIT / 64;

/// A set of tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TagSet(pub [u64; TAG_WORDS]);

impl Default for TagSet {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// Combines two sets word by word.
macro_rules! wordwise {
    ($a:expr, $b:expr, $op:expr) => {{
        let ([a, b, c, d, e, f, g, h], [i, j, k, l, m, n, o, p]) = ($a, $b);
        [$op(a, i), $op(b, j), $op(c, k), $op(d, l), $op(e, m), $op(f, n), $op(g, o), $op(h, p)]
    }};
}

const fn or(a: u64, b: u64) -> u64 {
    a | b
}

const fn and(a: u64, b: u64) -> u64 {
    a & b
}

const fn and_not(a: u64, b: u64) -> u64 {
    a & !b
}

impl TagSet {
    pub const EMPTY: Self = Self([0; TAG_WORDS]);

    pub const fn of(tag: Tag) -> Self {
        let bit = 1_u64 << (tag.0 % 64);
        Self(match tag.0 / 64 {
            0 => [bit, 0, 0, 0, 0, 0, 0, 0],
            1 => [0, bit, 0, 0, 0, 0, 0, 0],
            2 => [0, 0, bit, 0, 0, 0, 0, 0],
            3 => [0, 0, 0, bit, 0, 0, 0, 0],
            4 => [0, 0, 0, 0, bit, 0, 0, 0],
            5 => [0, 0, 0, 0, 0, bit, 0, 0],
            6 => [0, 0, 0, 0, 0, 0, bit, 0],
            7 => [0, 0, 0, 0, 0, 0, 0, bit],
            _ => [0; TAG_WORDS],
        })
    }

    #[must_use]
    pub const fn with(self, tag: Tag) -> Self {
        self.union(Self::of(tag))
    }

    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(wordwise!(self.0, other.0, or))
    }

    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(wordwise!(self.0, other.0, and_not))
    }

    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(wordwise!(self.0, other.0, and))
    }

    pub const fn is_empty(self) -> bool {
        let [a, b, c, d, e, f, g, h] = self.0;
        a | b | c | d | e | f | g | h == 0
    }

    pub const fn has(self, tag: Tag) -> bool {
        !self.intersection(Self::of(tag)).is_empty()
    }

    pub const fn has_all(self, other: Self) -> bool {
        other.minus(self).is_empty()
    }

    pub const fn has_any(self, other: Self) -> bool {
        !self.intersection(other).is_empty()
    }

    /// The tags in the set, in order of their numbers.
    pub fn iter(self) -> impl Iterator<Item = Tag> {
        (0..u16::try_from(TAG_LIMIT).unwrap_or(u16::MAX)).map(Tag).filter(move |t| self.has(*t))
    }
}

/// A set of [`Class`]es.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassSet(pub u64);

impl ClassSet {
    pub const EMPTY: Self = Self(0);

    pub const fn of(class: Class) -> Self {
        Self(class.bit())
    }

    #[must_use]
    pub const fn with(self, class: Class) -> Self {
        Self(self.0 | class.bit())
    }

    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[must_use]
    pub const fn without(self, class: Class) -> Self {
        Self(self.0 & !class.bit())
    }

    pub const fn has(self, class: Class) -> bool {
        self.0 & class.bit() != 0
    }

    pub const fn has_any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub fn iter(self) -> impl Iterator<Item = Class> {
        Class::ALL.iter().copied().filter(move |c| self.has(*c))
    }
}

macro_rules! tags {
    ($($(#[$doc:meta])* $name:ident = $text:literal),+ $(,)?) => {
        /// The tags that code sets; their numbers are their places in [`tag::NAMES`].
        pub mod tag {
            use super::Tag;
            #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
            #[repr(u16)]
            enum Number { $($name),+ }
            $($(#[$doc])* pub const $name: Tag = Tag(Number::$name as u16);)+
            /// Names in policy files and output, in order of their numbers.
            pub const NAMES: &[&str] = &[$($text),+];
        }
    };
}

tags! {
    /// the effect reaches whole trees
    RECURSIVE = "recursive",
    FORCE = "force",
    /// the command acts with root's rights (sudo, su, doas, or the caller is root outside a container)
    ELEVATED = "elevated",
    // where the bytes (or the path, host, code) come from
    FROM_NETWORK = "from-network",
    FROM_DECODED = "from-decoded",
    FROM_SECRET = "from-secret",
    /// from the environment's values as a whole (env, printenv, /proc/*/environ)
    FROM_ENVIRONMENT = "from-environment",
    /// from a single variable whose name says that it is a secret (…_TOKEN, …_KEY, …PASSWORD)
    FROM_SECRET_VARIABLE = "from-secret-variable",
    /// from files of the system (passwd, uname, ps …)
    FROM_SYSTEM = "from-system",
    FROM_ACCOUNTS = "from-accounts",
    FROM_HOME = "from-home",
    FROM_WORKSPACE = "from-workspace",
    FROM_UNKNOWN = "from-unknown",
    FROM_ENDLESS = "from-endless",
    /// from text that stands in the command itself
    FROM_LITERAL = "from-literal",
    /// from the input of the whole command
    FROM_STDIN = "from-stdin",
    /// written earlier in this command (or session) with bytes from the network
    /// the path contains a variable that is unset here
    UNSET_VARIABLE = "unset-variable",
    /// some part of the target could not be determined
    UNKNOWN_TARGET = "unknown-target",
    /// the target is a glob that stands for everything in a folder
    GLOB_ALL = "glob-all",
    /// part of a glob
    GLOB = "glob",
    /// the target is exactly a root of its class
    EXACT = "exact",
    /// the path climbs out with `..`
    CLIMBS = "climbs",
    /// a link was followed to get there
    THROUGH_LINK = "through-link",
    EXISTS = "exists",
    MISSING = "missing",
    /// the file is tracked by version control and has no changes
    COMMITTED = "committed",
    /// the file has changes (or is untracked work) that would be lost
    UNCOMMITTED = "uncommitted",
    // modes
    SETUID = "setuid",
    WORLD_WRITABLE = "world-writable",
    EXECUTABLE = "executable",
    /// takes rights away
    TIGHTENS = "tightens",
    // shells and code
    INTERACTIVE = "interactive",
    /// the code was not in the text, or not readable
    OPAQUE = "opaque",
    /// had to be decoded or pieced together to be read
    OBFUSCATED = "obfuscated",
    /// the code was known and judged
    JUDGED = "judged",
    IN_SUBSTITUTION = "in-substitution",
    IN_FUNCTION = "in-function",
    IN_LOOP = "in-loop",
    IN_BACKGROUND = "in-background",
    IN_PIPELINE = "in-pipeline",
    IN_TRAP = "in-trap",
    /// happens on another machine (ssh) or in a container
    ON_REMOTE_HOST = "on-remote-host",
    IN_CONTAINER = "in-container",
    /// standard streams are tied to a network connection
    STREAMS_TO_NETWORK = "streams-to-network",
    /// the program that acts was not found in PATH
    NO_SUCH_PROGRAM = "no-such-program",
    /// the program lies in the workspace, a temporary folder, was fetched …
    PROGRAM_IN_WORKSPACE = "program-in-workspace",
    PROGRAM_IN_TEMPORARY = "program-in-temporary",
    PROGRAM_FETCHED = "program-fetched",
    PROGRAM_JUST_WRITTEN = "program-just-written",
    PROGRAM_IN_HOME = "program-in-home",
    /// looked at only: a dry run, a plan, a status
    DRY_RUN = "dry-run",
    PRODUCTION = "production",
    /// bound or meant for every interface / everybody
    PUBLIC = "public",
    ALL = "all",
    /// endless loop around the effect
    ENDLESS_LOOP = "endless-loop",
    /// calls itself
    SELF_CALLING = "self-calling",
    RAW_ADDRESS = "raw-address",
    INSECURE = "insecure",
    /// host or URL could not be determined
    UNKNOWN_HOST = "unknown-host",
    /// content to be written is known to arrange execution (a cron line, a unit, an ssh key, a sudoers rule)
    GRANTS = "grants",
    APPEND = "append",
    /// unconditional confirmation (`-y`, `--auto-approve`)
    UNATTENDED = "unattended",
    /// the caller's own child (`$!`)
    OWN = "own",
    /// the program's first operand was given by an option instead (`sed -e`)
    FIRST_GIVEN = "first-given",
    /// files that are read are changed, too (`sed -i`)
    IN_PLACE = "in-place",
    /// files that would be taken away are only read (`gzip -k`, `gzip -c`)
    READS_ONLY = "reads-only",
    /// shell text that a program prints to be evaluated: completions, hooks, variables of an agent
    SHELL_SETTINGS = "shell-settings",
    /// the word may be `host:path`
    REMOTE_SPEC = "remote-spec",
    /// a path of the host that a container sees
    HOST_MOUNT = "host-mount",
    /// the expansion needed to be pieced together by the shell's own string operations
    COMPUTED = "computed",
    // how a call is read: see policy/commands/text.toml
    LAST_GIVEN = "last-given",
    TWO_VALUES = "two-values",
    DECODES = "decodes",
    IF_ASSIGNMENT = "if-assignment",
    REMOVES_SOURCE = "removes-source",
    DELETES_EXTRA = "deletes-extra",
    SETS_MODE = "sets-mode",
    /// the words of a shell text are handed over one by one (watch -x)
    ARGV = "argv",
    /// each word of a rest of shell texts is a text of its own
    EACH = "each",
    /// ties a program to a connection (nc -e)
    RUNS_PROGRAM = "runs-program",
    /// the program runs because an option of another names it
    BY_OPTION = "by-option",
    /// names a file of machine code that is loaded
    LIBRARY = "library",
    /// the input is a list of files (cpio)
    LISTS_NAMES = "lists-names",
    /// a program that nobody describes is given this
    BY_UNKNOWN_PROGRAM = "by-unknown-program",
    /// the folder that a download is put in
    INTO_FOLDER = "into-folder",
    /// what is written gives a file its owner's rights when it is run
    PLANTS_SETUID = "plants-setuid",
    /// the word is a request's method
    HTTP_METHOD = "http-method",
    HTTP_DELETE = "http-delete",
    /// a size stands among the arguments (`truncate -s`)
    SETS_SIZE = "sets-size",
    /// more than a hundred gigabytes
    HUGE = "huge",
    /// nothing ends the writing but a full disk
    UNBOUNDED = "unbounded",
    /// runs at every command of the shell (`trap … DEBUG`)
    EVERY_COMMAND = "every-command",
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
