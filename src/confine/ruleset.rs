//! The kernel's ruleset. The only file that names the landlock crate.
//!
//! In: open paths with rights. Out: a restricted process, or why not.
//! Never: decides what is allowed; never asks for more than the running kernel has (an older ABI holds
//! less, and the record names it).

use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, LandlockStatus, NetPort, PathBeneath, PathFd,
    RestrictSelf, RestrictSelfError, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _,
    RulesetError, Scope, make_bitflags,
};
use nix::errno::Errno;

use super::settings::{Bounds, Level, Network, Signals};

/// What the rule on a path allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rights {
    Read,
    /// Writing without reading: for trees in which something is hidden.
    Write,
    ReadWrite,
    /// Reading and writing what exists.
    Device,
    /// Writing without truncating: for files that are open for appending.
    Append,
    Truncate,
    /// Deleting only.
    Remove,
    /// Names of what lies there may be given elsewhere, as far as nothing is gained by it.
    Refer,
}

/// What the ruleset governs: all writing, and reading contents. Executing and listing are left to file
/// modes: what can't be read can't be executed either, and names are no secret. Devices are never made:
/// a node for the disk in the workspace would be the disk.
const GOVERNED: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    ReadFile | WriteFile | Truncate | Refer | RemoveDir | RemoveFile
    | MakeChar | MakeBlock | MakeDir | MakeReg | MakeSock | MakeFifo | MakeSym
});
const WRITE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    WriteFile | Truncate | Refer | RemoveDir | RemoveFile | MakeDir | MakeReg | MakeSock | MakeFifo | MakeSym
});

impl Rights {
    fn flags(self) -> BitFlags<AccessFs> {
        match self {
            Self::Read => AccessFs::ReadFile.into(),
            Self::Write => WRITE,
            Self::ReadWrite => WRITE | AccessFs::ReadFile,
            Self::Device => AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate,
            Self::Append => AccessFs::WriteFile.into(),
            Self::Truncate => AccessFs::Truncate.into(),
            Self::Refer => AccessFs::Refer.into(),
            Self::Remove => AccessFs::RemoveFile | AccessFs::RemoveDir,
        }
    }
}

/// Whether the kernel confines at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Support {
    /// With this ABI's rights.
    Abi(u8),
    /// Not, for this reason.
    Missing(&'static str),
}

/// Asks the kernel; changes nothing.
pub(super) fn support(newest: u8) -> Support {
    if newest == 0 {
        return Support::Missing("newest-abi is 0");
    }
    let Ok(status) = RestrictSelf::default().no_new_privs(false).apply() else {
        return Support::Missing("the kernel did not answer");
    };
    match status.landlock {
        LandlockStatus::NotEnabled => Support::Missing("not enabled at boot"),
        LandlockStatus::NotImplemented => Support::Missing("not in this kernel"),
        LandlockStatus::Available { effective_abi, .. } => Support::Abi((effective_abi as u8).min(newest)),
    }
}

/// Why a process could not be restricted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// 16 layers are in force already (landlock(7)).
    Full,
    Failed(Errno),
}

/// A ruleset in the making: the kernel's, or one on paper, which only says what it would be.
#[derive(Debug)]
pub(super) struct Builder {
    ink: Ink,
    supported: BitFlags<AccessFs>,
    abi: u8,
    rules: usize,
}

#[derive(Debug)]
enum Ink {
    Kernel(RulesetCreated),
    Paper(Vec<(PathBuf, Rights)>),
}

impl Builder {
    /// `bounds`: as they hold at this level.
    pub(super) fn new(level: Level, bounds: &Bounds, abi: u8) -> Result<Self, String> {
        let supported = AccessFs::from_all(ABI::from(i32::from(abi))) & GOVERNED;
        let create = || {
            let mut ruleset = Ruleset::default().handle_access(supported)?;
            let (network, scope) = (governed_ports(bounds, abi), scope(level, bounds, abi));
            if !network.is_empty() {
                ruleset = ruleset.handle_access(network)?;
            }
            if !scope.is_empty() {
                ruleset = ruleset.scope(scope)?;
            }
            let mut created = ruleset.create()?;
            if let (false, Bounds::Effects { network: Network::Ports(ports), .. }) =
                (network.is_empty(), bounds)
            {
                for port in ports {
                    created = created.add_rule(NetPort::new(*port, AccessNet::ConnectTcp))?;
                }
            }
            Ok(created)
        };
        let created = create().map_err(|e: RulesetError| e.to_string())?;
        let mut rules = 0;
        if let (4.., Bounds::Effects { network: Network::Ports(ports), .. }) = (abi, bounds) {
            rules = ports.len();
        }
        Ok(Self { ink: Ink::Kernel(created), supported, abi, rules })
    }

    /// What would be laid on a kernel that has everything.
    pub(super) fn on_paper() -> Self {
        Self { ink: Ink::Paper(Vec::new()), supported: GOVERNED, abi: u8::MAX, rules: 0 }
    }

    pub(super) fn is_on_paper(&self) -> bool {
        matches!(self.ink, Ink::Paper(_))
    }

    /// The paper's rules in the order in which they were laid.
    pub(super) fn read(self) -> Vec<(PathBuf, Rights)> {
        match self.ink {
            Ink::Kernel(_) => Vec::new(),
            Ink::Paper(rules) => rules,
        }
    }

    /// Adds one rule. Paths that can't carry one (pipes, sockets, memory) need none.
    pub(super) fn allow(&mut self, path: BorrowedFd<'_>, rights: Rights) {
        let flags = rights.flags() & self.supported;
        if flags.is_empty() {
            return;
        }
        let added = match &mut self.ink {
            Ink::Kernel(created) => created.add_rule(PathBeneath::new(path, flags)).is_ok(),
            Ink::Paper(list) => {
                let name = std::fs::read_link(format!("/proc/self/fd/{}", path.as_raw_fd()));
                name.is_ok_and(|name| {
                    list.push((name, rights));
                    true
                })
            }
        };
        self.rules += usize::from(added);
    }

    pub(super) fn rules(&self) -> usize {
        self.rules
    }

    /// Restricts the calling thread, which must be the one that calls execve(2).
    pub(super) fn restrict(self, privileges: Privileges) -> Result<(), Refusal> {
        let Ink::Kernel(mut created) = self.ink else { return Err(Refusal::Failed(Errno::EINVAL)) };
        if self.abi >= 7 {
            // what the command is refused is worth a line in the kernel's log, not only what this process is
            created = created.log_new_exec(true).map_err(|_| Refusal::Failed(Errno::EINVAL))?;
        }
        if privileges == Privileges::Kept {
            let attempt = created.try_clone().map_err(|_| Refusal::Failed(Errno::EMFILE))?;
            match outcome(attempt.no_new_privs(false).restrict_self()) {
                // Root without CAP_SYS_ADMIN: as anybody else.
                Err(Refusal::Failed(Errno::EPERM)) => {}
                Ok(()) => return Ok(()),
                Err(refusal) => return Err(refusal),
            }
        }
        outcome(created.no_new_privs(true).restrict_self())
    }
}

/// What is asked of the kernel about TCP; nothing where it may do everything or can't tell.
fn governed_ports(bounds: &Bounds, abi: u8) -> BitFlags<AccessNet> {
    match bounds {
        Bounds::Effects { network: Network::None | Network::Ports(_), .. } if abi >= 4 => {
            AccessNet::BindTcp | AccessNet::ConnectTcp
        }
        Bounds::Effects { .. } | Bounds::Policy => BitFlags::EMPTY,
    }
}

/// What stays among the command's own processes.
fn scope(level: Level, bounds: &Bounds, abi: u8) -> BitFlags<Scope> {
    if abi < 6 {
        return BitFlags::EMPTY;
    }
    let everything = Scope::AbstractUnixSocket | Scope::Signal;
    match (level, bounds) {
        (Level::Strict, _) => everything,
        (Level::Off | Level::Standard, _) | (Level::Derived, Bounds::Policy) => BitFlags::EMPTY,
        (Level::Derived, Bounds::Effects { network, signals }) => {
            let mut scope = everything;
            if *network == Network::Any {
                scope.remove(Scope::AbstractUnixSocket);
            }
            if *signals == Signals::Any {
                scope.remove(Scope::Signal);
            }
            scope
        }
    }
}

/// Whether setuid programs may still gain rights. The kernel lets only `CAP_SYS_ADMIN` keep that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Privileges {
    /// If possible.
    Kept,
    Given,
}

fn outcome(result: Result<landlock::RestrictionStatus, RulesetError>) -> Result<(), Refusal> {
    let Err(error) = result else { return Ok(()) };
    if let RulesetError::RestrictSelf(RestrictSelfError::RestrictSelfCall { source, .. }) = &error {
        let errno = Errno::from_raw(source.raw_os_error().unwrap_or(0));
        return Err(if errno == Errno::E2BIG { Refusal::Full } else { Refusal::Failed(errno) });
    }
    Err(Refusal::Failed(Errno::EPERM))
}

/// Restricts the calling thread to reading these trees and connecting to these TCP ports; nothing is
/// written, made, executed or signalled.
pub(super) fn cage(abi: u8, readable: &[&Path], ports: &[u16]) -> Result<(), RulesetError> {
    let kernel = ABI::from(i32::from(abi));
    let ruleset = Ruleset::default().handle_access(AccessFs::from_all(kernel))?;
    let ruleset = if abi >= 4 { ruleset.handle_access(AccessNet::from_all(kernel))? } else { ruleset };
    let ruleset = if abi >= 6 { ruleset.scope(Scope::from_all(ABI::V6))? } else { ruleset };
    let mut created = ruleset.create()?;
    let reading = AccessFs::ReadFile | AccessFs::ReadDir;
    for path in readable {
        if let Ok(open) = PathFd::new(path) {
            let rights = if path.is_dir() { reading } else { AccessFs::ReadFile.into() };
            created = created.add_rule(PathBeneath::new(open, rights))?;
        }
    }
    for port in ports.iter().filter(|_| abi >= 4) {
        created = created.add_rule(NetPort::new(*port, AccessNet::ConnectTcp))?;
    }
    created.restrict_self().map(drop)
}
