//! The tags that code sets, with their names in policy files and output.
//!
//! In: nothing. Out: [`tag`]. Never: does anything. `build.rs` includes this file too.

use super::Tag;

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
    /// the package manager's own list of what there is is fetched anew
    PACKAGE_LIST = "package-list",
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
    /// files that would be taken away are only read (`gzip -c`)
    READS_ONLY = "reads-only",
    /// something is made beside the file, which stays (`gzip -k`, `cp -b`)
    BESIDE = "beside",
    /// what is named is made (`install -d`)
    CREATES = "creates",
    /// a link by name, not a second name of the file itself
    SYMBOLIC = "symbolic",
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
    /// looks for files of keys wherever they lie
    SEARCHES_KEYS = "searches-keys",
    /// what was picked from a listing by a name that many programs have (`grep node`)
    BROAD_NAME = "broad-name",
    /// variables of the environment were picked by a name that says secret
    PICKS_SECRET = "picks-secret",
}
