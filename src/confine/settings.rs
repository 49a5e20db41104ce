//! What the policy says about confinement, and what a call brings along.
//!
//! In: nothing. Out: [`ConfinePolicy`], [`Scene`], [`Grant`], plain values.
//! Never: reads files or the environment.

use crate::audit::Demand;

/// How much is held back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Nothing.
    Off,
    /// Writes only to the workspace, temporary folders, caches and what was granted; everything
    /// readable but secrets.
    #[default]
    Standard,
    /// What follows from a command's effects ([`Bounds`]), where all of them are known; else as standard.
    Derived,
    /// As derived, and of homes only what [`ConfinePolicy::readable`] lists is readable; signals and
    /// abstract sockets stay inside.
    Strict,
}

impl Level {
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Standard => "standard",
            Self::Derived => "derived",
            Self::Strict => "strict",
        }
    }
}

/// What becomes of a command that the judge let gain rights (sudo) and whose caller is not root.
/// `no_new_privs`, which the kernel demands of such callers, makes sudo refuse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Elevation {
    /// Confined like any other; sudo fails with its own message.
    #[default]
    Confined,
    /// Runs without confinement, which the record says.
    Free,
}

/// The policy's `confine` section. Paths are absolute or begin with `~/`, which stands for each home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfinePolicy {
    pub level: Level,
    pub demand: Demand,
    pub elevation: Elevation,
    /// Writable besides the workspace.
    pub writable: Vec<String>,
    /// Writable: folders for temporary files.
    pub temporary: Vec<String>,
    /// Writable: what tools can fetch or make again. Missing ones cost nothing.
    pub caches: Vec<String>,
    /// Caches that are made (0700) if they are missing, since their tools fail without.
    pub made: Vec<String>,
    /// Devices that may be opened for writing.
    pub devices: Vec<String>,
    /// Contents that can't be read.
    pub hidden: Vec<String>,
    /// What remains readable of a home at level strict.
    pub readable: Vec<String>,
    /// agent-sh's own policy and state: unwritable, whatever lies around it.
    pub own: Vec<String>,
    /// Nothing newer than this Landlock ABI is used; 0: as if the kernel had none.
    pub newest_abi: u8,
}

/// What a call brings along. Paths are judged text (see [`crate::text`]).
#[derive(Clone, Debug, Default)]
pub struct Scene<'a> {
    /// The nearest repository, else the working directory; never a home or `/` (those are refused here too).
    pub workspace: Option<&'a str>,
    /// The caller's homes: `HOME` (which the caller chooses) and the user table's.
    pub homes: Vec<&'a str>,
    /// `TMPDIR`. Taken only if it is a place for temporary files by the policy or by its mode.
    pub temporary: Option<&'a str>,
}

/// More than the level gives, for what the judge saw in this command and allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant<'a> {
    /// A file or tree that may be read though it is hidden.
    Read(&'a str),
    /// A file or tree that may be written. For one that does not exist yet: the nearest folder that does.
    Write(&'a str),
    /// A file that is replaced by a new one of the same name: its folder may be written.
    Replace(&'a str),
    /// As [`Self::Replace`]; if it is a folder, what is put into it.
    Put(&'a str),
    /// A file or tree that is deleted, and nothing made in its place.
    Remove(&'a str),
    /// Whatever lies below a folder whose names aren't known.
    Below(&'a str),
    /// A file that gets a second name: the kernel asks for the rights that it will have there, and for the folder
    /// around it.
    Linked(&'a str),
    /// The folders for temporary files.
    Temporary,
    /// Written, in the form of the policy's lists.
    Place(&'a str),
    /// A cache, made (0700) if it is missing.
    Cache(&'a str),
    /// A folder of agent-sh's own, for its own program.
    Own(&'a str),
    /// Installs or removes software: the system's folders may be written. agent-sh's own files among
    /// them too, since a package's scripts have them all.
    System,
    /// Gains rights, see [`Elevation`].
    Elevation,
}

/// What a command needs of the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Need<'a> {
    pub grants: Vec<Grant<'a>>,
    pub bounds: Bounds,
}

/// How much of what a command needs is known. At levels off and standard it does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Bounds {
    /// Not all: the grants come on top of what the policy gives.
    #[default]
    Policy,
    /// The grants are all that is written, and this is what is reached outside of files.
    Effects { network: Network, signals: Signals },
}

/// TCP, as far as Landlock tells connections apart (ABI 4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Network {
    /// No connection is made, no port is bound.
    None,
    /// Connections to these ports only; no port is bound.
    Ports(Vec<u16>),
    Any,
}

/// Whom signals may reach (ABI 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signals {
    /// Only processes that the command started.
    Own,
    Any,
}

impl Bounds {
    /// These, if the level goes by effects.
    pub(super) fn at(&self, level: Level) -> &Self {
        match level {
            Level::Off | Level::Standard => &Self::Policy,
            Level::Derived | Level::Strict => self,
        }
    }
}

fn list(words: &str) -> Vec<String> {
    words.split_ascii_whitespace().map(str::to_owned).collect()
}

impl Default for ConfinePolicy {
    fn default() -> Self {
        Self {
            level: Level::Standard,
            demand: Demand::BestEffort,
            elevation: Elevation::Confined,
            writable: Vec::new(),
            temporary: list("/tmp /var/tmp /dev/shm"),
            caches: list(CACHES),
            made: list("~/.cache"),
            devices: list(DEVICES),
            hidden: list(HIDDEN),
            readable: list(READABLE),
            own: list(OWN),
            newest_abi: u8::MAX,
        }
    }
}

/// Caches proper. Left out on purpose: folders in PATH (`~/.cargo/bin`, `~/.local/bin`, `~/go/bin`) and
/// settings (`~/.cargo/config.toml`, `~/.gradle/init.d`), whose content runs later and elsewhere.
const CACHES: &str = "
    ~/.npm ~/.cargo/registry ~/.cargo/git ~/.cargo/.package-cache ~/.cargo/.package-cache-mutate
    ~/.cargo/.global-cache ~/go/pkg ~/.m2/repository ~/.gradle/caches ~/.gradle/daemon ~/.gradle/native
    ~/.gradle/wrapper ~/.gradle/workers ~/.ivy2/cache ~/.nuget/packages ~/.local/share/pnpm/store
    ~/.local/share/uv ~/.local/share/virtualenv ~/.local/share/virtualenvs ~/.yarn/berry ~/.bun/install/cache
    ~/.pub-cache ~/.hex ~/.cabal/packages ~/.ccache ~/.conda/pkgs ~/.bundle/cache ~/.composer/cache
    ~/.node-gyp ~/.electron ~/.terraform.d/plugin-cache ~/.julia/compiled
    /usr/local/cargo/registry /usr/local/cargo/git /usr/local/cargo/.package-cache
    /usr/local/cargo/.package-cache-mutate /usr/local/cargo/.global-cache /go/pkg";

/// Left out, since each costs every start a rule: `/dev/console` (a terminal that is a standard stream has a
/// rule anyway), `/dev/fuse` (nothing can be mounted inside), `/dev/net/tun` (its user is root).
/// `/dev/full` and `/dev/urandom` are writable and `/dev/random` is not, whatever stands here: they are
/// the signature by which a nested shell knows the layer (`probe.rs`).
const DEVICES: &str = "
    /dev/null /dev/zero /dev/tty /dev/ptmx /dev/pts /dev/kvm /dev/dri /dev/kfd /dev/nvidiactl /dev/nvidia-uvm /dev/nvidia-uvm-tools /dev/nvidia-modeset
    /dev/nvidia0 /dev/nvidia1 /dev/nvidia2 /dev/nvidia3 /dev/nvidia4 /dev/nvidia5 /dev/nvidia6 /dev/nvidia7";

const HIDDEN: &str = "
    ~/.ssh ~/.gnupg ~/.aws ~/.azure ~/.kube ~/.config/gcloud ~/.config/gh ~/.config/hub ~/.config/rclone
    ~/.config/op ~/.config/sops ~/.config/git/credentials ~/.docker/config.json ~/.netrc ~/.git-credentials
    ~/.pypirc ~/.pgpass ~/.vault-token ~/.cargo/credentials ~/.cargo/credentials.toml ~/.gem/credentials
    ~/.terraform.d/credentials.tfrc.json ~/.password-store ~/.local/share/keyrings ~/.mozilla ~/.thunderbird
    ~/.config/google-chrome ~/.config/chromium ~/.config/BraveSoftware ~/.codex/auth.json
    ~/.claude/.credentials.json ~/.gemini/oauth_creds.json ~/.qwen/oauth_creds.json";

const READABLE: &str = "
    ~/.gitconfig ~/.config/git ~/.npmrc ~/.profile ~/.bashrc ~/.bash_profile ~/.cargo ~/.rustup ~/.nvm
    ~/.volta ~/.fnm ~/.pyenv ~/.rbenv ~/.asdf ~/.local/bin ~/.local/lib ~/.local/share ~/go ~/.sdkman ~/.bun
    ~/.deno ~/.dotnet ~/.config/pip ~/.config/npm ~/.condarc ~/.m2 ~/.gradle";

const OWN: &str = "
    /etc/agent-sh /usr/lib/agent-sh /var/lib/agent-sh /var/cache/agent-sh /var/log/agent-sh
    ~/.config/agent-sh ~/.local/state/agent-sh ~/.cache/agent-sh";
