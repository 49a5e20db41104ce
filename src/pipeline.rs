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
use crate::invocation::source::{Source, SourceError, reserve_standard_descriptors};
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
    let (source, decision) = judge(&invocation, &temper);
    let text = source.text(&invocation);
    let resolved = joined::resolve(&decision);
    let Some(warrant) = decision.leave(resolved, temper.enforcement) else {
        joined::record_refusal(&invocation, text, &decision);
        return Err(End::Denied(refusal::message(&judged(text), &decision)));
    };
    let argv = source.place(&invocation).map_err(End::unreadable)?;
    let logged = joined::record(warrant, &invocation, text, &decision);
    let confined = joined::confine(logged, &invocation, &decision);
    let program = invocation.shell.path;
    Err(End::Exec(match exec(confined, Call { program, argv: named(argv, invocation.shell.name), environ: invocation.environ }) {
        Ok(never) => match never {},
        Err(error) => error,
    }))
}

/// The text and what is thought of it. What has no text is decided here.
fn judge(invocation: &Invocation, temper: &Temper) -> (Source, Decision) {
    if let Form::Unclear(why) = invocation.line.form {
        return (Source::Nothing, Decision::refused(why));
    }
    if invocation.is_session() {
        return (Source::Nothing, match temper.sessions {
            Sessions::Refuse => Decision::refused(SESSION),
            Sessions::Pass => noted("an interactive shell, unmediated"),
        });
    }
    match Source::read(invocation, &temper.limits) {
        Err(error) => (Source::Nothing, Decision::refused(error.to_string())),
        Ok(source @ (Source::Nothing | Source::Unreadable)) => (source, noted("there is no text to run")),
        Ok(source) => {
            let only_reads = invocation.line.only_reads() && invocation.startup.is_empty();
            let decision = if only_reads {
                noted("the text is read, not run")
            } else {
                joined::verify(&judged(source.text(invocation)), &invocation.context(), &invocation.startup)
            };
            (source, decision)
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
    fn unreadable(error: SourceError) -> Self {
        Self::Denied(refusal::message("", &Decision::refused(error.to_string())))
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

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied(message) => f.write_str(message),
            Self::NoShell(error) => writeln!(f, "agent-sh: {error}"),
            Self::Exec(error) => writeln!(f, "agent-sh: {error}"),
        }
    }
}
