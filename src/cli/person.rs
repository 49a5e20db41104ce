//! The person at the terminal: who may decide, and where the questions and approvals of a user lie.
//!
//! In: the process, its terminal, the policy. Out: [`Desk`], or why nothing is decided here. Never: takes
//! for a person what is part of a confined command or has no terminal of its own.

use std::os::fd::AsFd as _;

use anyhow::{Context as _, bail, ensure};
use clap::{Arg, ArgMatches};
use nix::sys::stat::{SFlag, fstat};

use crate::cli::context::policy_in_force;
use crate::confine::{self, Inside};
use crate::invocation::startup;
use crate::policy::Policy;
use crate::resolution::approval::{Now, Store};
use crate::resolution::code::Code;

/// One user's questions and approvals, and the policy that holds here.
#[derive(Debug)]
pub struct Desk {
    pub store: Store,
    pub policy: Policy,
    /// Whose they are.
    pub uid: u32,
}

impl Desk {
    /// How long questions and unused approvals last, in seconds.
    pub fn lifetime(&self) -> u64 {
        u64::from(self.policy.temper().approval.lifetime / 1000)
    }
}

/// The option that names a user.
pub fn user_option() -> Arg {
    Arg::new("user").long("user").value_name("NAME").help("the commands of this user; for root")
}

/// The option or operand that names a code.
pub fn code(options: &ArgMatches) -> anyhow::Result<Code> {
    let text = options.get_one::<String>("code").map_or("", String::as_str);
    Code::parse(text).with_context(|| {
        format!(
            "`{}` is no code; codes look like K7QX-2M, see agent-shctl pending",
            crate::text::escape(text)
        )
    })
}

/// The desk of the calling user, or of `--user`.
pub fn desk(options: &ArgMatches) -> anyhow::Result<Desk> {
    let own = nix::unistd::geteuid();
    let policy = policy_in_force()?;
    let (uid, home) = match options.get_one::<String>("user") {
        None => (own.as_raw(), startup::user(own.as_raw()).1),
        Some(name) => {
            ensure!(own.is_root(), "--user is root's; run it as root");
            let user = nix::unistd::User::from_name(name).ok().flatten();
            let user = user.with_context(|| format!("no user `{}`", crate::text::escape(name)))?;
            (user.uid.as_raw(), startup::user(user.uid.as_raw()).1)
        }
    };
    let store = Store::of(uid, &home, policy.temper().approval.store);
    let store =
        store.with_context(|| format!("user {uid} has no home in the user table, so nothing is kept"))?;
    Ok(Desk { store, policy, uid })
}

/// Makes sure that a person decides: outside every confined command, in the foreground of a terminal that
/// is theirs.
pub fn decides() -> anyhow::Result<()> {
    if confine::inside() == Inside::Yes {
        bail!(
            "this is part of a confined command, which decides nothing; a person does, in a terminal of their own"
        );
    }
    let input = std::io::stdin();
    let terminal = "approvals are a person's: run it in a terminal, not in a script or through an agent";
    ensure!(nix::unistd::isatty(&input).unwrap_or(false), "standard input is no terminal; {terminal}");
    let status = fstat(&input).context("the terminal can't be looked at")?;
    let own = nix::unistd::geteuid();
    let is_device = SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT == SFlag::S_IFCHR;
    ensure!(
        is_device && (own.is_root() || status.st_uid == own.as_raw()),
        "the terminal belongs to user {}; {terminal}",
        status.st_uid
    );
    let foreground = nix::unistd::tcgetpgrp(input.as_fd()).ok();
    ensure!(
        foreground == Some(nix::unistd::getpgrp()),
        "the terminal is not this process's, or it is not in its foreground; {terminal}"
    );
    Ok(())
}

/// Whether only root's approvals count, and we aren't root.
pub fn ensure_counts(desk: &Desk) -> anyhow::Result<()> {
    use crate::policy::temper::undecided::Store as Owner;
    match desk.policy.temper().approval.store {
        Owner::Root if !nix::unistd::geteuid().is_root() => {
            let name = startup::user(desk.uid).0;
            bail!(
                "the policy says that only root's approvals count (approval.store = \"root\"); run it as root with --user {}",
                crate::text::escape(&name)
            )
        }
        Owner::Root | Owner::User => Ok(()),
    }
}

/// Seconds since 1970.
pub fn now() -> u64 {
    Now::here().time
}
