//! The channels by which a command text can be handed on, by name.
//!
//! In: a name. Out: a [`Channel`], a [`Step`] of a way. Never: renders anything.

use std::fmt;

/// One way to hand a text on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    Argv,
    Script,
    Stub,
    Memfd,
    Stdin,
    Environment,
    Base64,
    Ssh,
    Su,
    Sudo,
    SudoLogin,
    Podman,
    Docker,
    Kubectl,
    Tmux,
    Screen,
    Pty,
    Cron,
    At,
    Make,
    Xargs,
    Find,
    Parallel,
    Dockerfile,
    Json,
    Yaml,
    PowerShell,
    PowerShellNative,
    Msys,
    Cmd,
}

impl Channel {
    pub const ALL: [Self; 30] = [
        Self::Argv,
        Self::Script,
        Self::Stub,
        Self::Memfd,
        Self::Stdin,
        Self::Environment,
        Self::Base64,
        Self::Ssh,
        Self::Su,
        Self::Sudo,
        Self::SudoLogin,
        Self::Podman,
        Self::Docker,
        Self::Kubectl,
        Self::Tmux,
        Self::Screen,
        Self::Pty,
        Self::Cron,
        Self::At,
        Self::Make,
        Self::Xargs,
        Self::Find,
        Self::Parallel,
        Self::Dockerfile,
        Self::Json,
        Self::Yaml,
        Self::PowerShell,
        Self::PowerShellNative,
        Self::Msys,
        Self::Cmd,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Argv => "argv",
            Self::Script => "script",
            Self::Stub => "stub",
            Self::Memfd => "memfd",
            Self::Stdin => "stdin",
            Self::Environment => "env",
            Self::Base64 => "base64",
            Self::Ssh => "ssh",
            Self::Su => "su",
            Self::Sudo => "sudo",
            Self::SudoLogin => "sudo-i",
            Self::Podman => "podman",
            Self::Docker => "docker",
            Self::Kubectl => "kubectl",
            Self::Tmux => "tmux",
            Self::Screen => "screen",
            Self::Pty => "pty",
            Self::Cron => "cron",
            Self::At => "at",
            Self::Make => "make",
            Self::Xargs => "xargs",
            Self::Find => "find",
            Self::Parallel => "parallel",
            Self::Dockerfile => "dockerfile",
            Self::Json => "json",
            Self::Yaml => "yaml",
            Self::PowerShell => "powershell",
            Self::PowerShellNative => "powershell-native",
            Self::Msys => "msys",
            Self::Cmd => "cmd",
        }
    }

    /// The channel of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|c| c.name() == name)
    }

    /// What has to be said about where it goes; empty where nothing can be.
    pub fn target(self) -> &'static str {
        match self {
            Self::Ssh => "HOST",
            Self::Su | Self::Sudo | Self::SudoLogin => "USER",
            Self::Podman | Self::Docker => "CONTAINER",
            Self::Kubectl => "POD",
            Self::Tmux => "PANE",
            Self::Screen => "SESSION",
            Self::Cron | Self::At => "TIME",
            Self::Argv
            | Self::Script
            | Self::Stub
            | Self::Memfd
            | Self::Stdin
            | Self::Environment
            | Self::Base64
            | Self::Pty
            | Self::Make
            | Self::Xargs
            | Self::Find
            | Self::Parallel
            | Self::Dockerfile
            | Self::Json
            | Self::Yaml
            | Self::PowerShell
            | Self::PowerShellNative
            | Self::Msys
            | Self::Cmd => "",
        }
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A channel and where it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub channel: Channel,
    /// Host, user, container, pane, time: see [`Channel::target`].
    pub to: Option<Vec<u8>>,
}

/// What the delivered command finds on its standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StdinPolicy {
    /// What the caller of the outermost hop has there.
    Keep,
    /// Nothing, whatever the hops have.
    Null,
}

/// Whether files laid here can be read where the text is received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    SameFiles,
    OtherFiles,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_channel_is_found_by_its_name_and_by_no_other() {
        let mut names: Vec<_> = Channel::ALL.iter().map(|c| c.name()).collect();
        for channel in Channel::ALL {
            assert_eq!(Channel::named(channel.name()), Some(channel));
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Channel::ALL.len());
        assert_eq!(Channel::named("SSH"), None);
    }
}
