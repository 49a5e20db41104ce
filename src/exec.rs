//! Becomes the real shell: the only place where the agent's command is run.
//!
//! In: [`Confined`], which only a judged, recorded and confined command has, and a [`Call`]. Out: never
//! returns but for an error. Never: forks, searches PATH, or adds to the environment.

pub mod start;

use std::convert::Infallible;
use std::ffi::CString;
use std::fmt;

use nix::errno::Errno;

use crate::confine::Confined;

/// What is executed: a program's path, its arguments and environment, to the byte.
#[derive(Debug)]
pub struct Call {
    pub program: CString,
    pub argv: Vec<CString>,
    pub environ: Vec<CString>,
}

/// The kernel did not start the real shell.
#[derive(Debug, PartialEq, Eq)]
pub struct ExecError {
    program: CString,
    errno: Errno,
}

impl ExecError {
    /// 127 where the shell went away since it was found, else 125.
    pub fn status(&self) -> u8 {
        if self.errno == Errno::ENOENT { 127 } else { 125 }
    }
}

impl fmt::Display for ExecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = crate::text::escape_bytes(self.program.as_bytes());
        write!(f, "cannot become {program}: {}", self.errno.desc())
    }
}

/// One execve(2): same process, directory, descriptors, signals, limits. A command that isn't confined can't be run:
/// ```compile_fail,E0308
/// fn call() -> agent_sh::exec::Call { unreachable!() }
/// fn logged() -> agent_sh::audit::Logged { unreachable!() }
/// let _ = agent_sh::exec::exec(logged(), call());
/// ```
pub fn exec(_leave: Confined, call: Call) -> Result<Infallible, ExecError> {
    nix::unistd::execve(&call.program, &call.argv, &call.environ)
        .map_err(|errno| ExecError { program: call.program, errno })
}
