//! The whole walk on one screen: a command that has passed every floor becomes the real shell.
//!
//! In: the raw vectors of `main`. Out: an exit status, if nothing was executed: 126 denied, 127 no shell,
//! 125 agent-sh itself failed. Never: writes to standard output.

mod joined;
pub mod refusal;

use std::convert::Infallible;
use std::ffi::CString;
use std::fmt;

use crate::decision::Decision;
use crate::exec::{Call, ExecError, exec};
use crate::invocation::Invocation;
use crate::invocation::form::Form;
use crate::invocation::shell::{self, NoShell};
use crate::invocation::memory::reserve_standard_descriptors;
use crate::invocation::source::{Source, SourceError};
use crate::text::judged;
use joined::{Sessions, Temper};

const SESSION: &str = "an interactive shell can't be judged beforehand; \
                       give the command with -c, as a script file, or on standard input without a terminal";

/// Why the walk ended without an exec.
#[derive(Debug)]
enum End {
    /// What to say.
    Denied(String),
    NoShell(NoShell),
    Exec(ExecError),
}

/// Judges, records, confines and becomes the real shell. `argv` and `environ` are as the kernel gave them.
pub fn run(argv: Vec<CString>, environ: Vec<CString>) -> u8 {
    reserve_standard_descriptors();
    let end = match walk(argv, environ) {
        Ok(never) => match never {},
        Err(end) => end,
    };
    // standard error may be closed or full: the status says enough
    drop(std::io::Write::write_all(&mut std::io::stderr(), end.to_string().as_bytes()));
    end.status()
}

fn walk(argv: Vec<CString>, environ: Vec<CString>) -> Result<Infallible, End> {
    let temper = joined::temper();
    let shell = shell::find(argv.first().map_or(b"", |name| name.as_bytes()), temper.candidates)?;
    let invocation = Invocation::read(argv, environ, shell);
    let source = source(&invocation, &temper)?;
    let decision = judge(&invocation, &source, &temper);
    let text = source.text(&invocation);
    let resolved = joined::resolve(&decision);
    let Some(warrant) = decision.leave(resolved, temper.enforcement) else {
        return Err(End::denied(&invocation, text, &decision));
    };
    let argv = source.place(&invocation).map_err(|error| End::unreadable(&invocation, &error))?;
    let logged = joined::record(warrant, &invocation, text, &decision);
    let confined = joined::confine(logged, &invocation, &decision);
    let argv = named(argv, invocation.shell.name);
    Ok(exec(confined, Call { program: invocation.shell.path, argv, environ: invocation.environ })?)
}

/// The text. One that can't be read whole is not run in observe mode either: part of it may be gone.
fn source(invocation: &Invocation, temper: &Temper) -> Result<Source, End> {
    if invocation.is_session() {
        return Ok(Source::Nothing);
    }
    Source::read(invocation, &temper.limits).map_err(|error| End::unreadable(invocation, &error))
}

/// What is thought of it. What has no text is decided here.
fn judge(invocation: &Invocation, source: &Source, temper: &Temper) -> Decision {
    if let Form::Unclear(why) = invocation.line.form {
        return Decision::refused(why);
    }
    match (source, temper.sessions) {
        (Source::Nothing, Sessions::Refuse) if invocation.is_session() => Decision::refused(SESSION),
        (Source::Nothing, Sessions::Pass) if invocation.is_session() => noted("an interactive shell, unmediated"),
        (Source::Nothing, _) if matches!(invocation.line.form, Form::Inert(_)) => noted("prints and exits"),
        (Source::Nothing | Source::Unreadable | Source::Argument { .. } | Source::Script { .. } | Source::Input { .. }, _) => {
            // with -n nothing of the text runs, but start-up files may
            let text = if invocation.line.only_reads() { &[] } else { source.text(invocation) };
            joined::verify(&judged(text), &invocation.context(), &invocation.startup)
        }
    }
}

fn noted(note: &str) -> Decision {
    Decision { notes: vec![note.to_owned()], ..Decision::default() }
}

/// Called by our own name, the real shell is told the place where programs expect it: `$0`, `$BASH` and
/// its messages are then what they would be without us.
fn named(mut argv: Vec<CString>, name: shell::ShellName) -> Vec<CString> {
    let own = |word: &CString| shell::program(word.as_bytes()) == b"agent-sh";
    if let Some(word) = argv.first_mut().filter(|word| own(word)) {
        let login = word.as_bytes().starts_with(b"-");
        let place = if login { format!("-{}", name.name()) } else { name.place().to_owned() };
        *word = CString::new(place).unwrap_or_default();
    }
    argv
}

impl End {
    /// Records the refusal and words it.
    fn denied(invocation: &Invocation, text: &[u8], decision: &Decision) -> Self {
        joined::record_refusal(invocation, text, decision);
        Self::Denied(refusal::message(&judged(text), decision))
    }

    fn unreadable(invocation: &Invocation, error: &SourceError) -> Self {
        Self::denied(invocation, b"", &Decision::refused(error.to_string()))
    }

    fn status(&self) -> u8 {
        match self {
            Self::Denied(_) => 126,
            Self::NoShell(_) => 127,
            Self::Exec(error) => error.status(),
        }
    }
}

impl From<NoShell> for End {
    fn from(error: NoShell) -> Self {
        Self::NoShell(error)
    }
}

impl From<ExecError> for End {
    fn from(error: ExecError) -> Self {
        Self::Exec(error)
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied(message) => f.write_str(message),
            Self::NoShell(error) => writeln!(f, "agent-sh: {error}"),
            Self::Exec(error) => writeln!(f, "agent-sh: {error}"),
        }
    }
}
