//! The whole walk on one screen: a command that has passed every floor becomes the real shell.
//!
//! In: the raw vectors of `main`. Out: an exit status, if nothing was executed: 126 denied, 127 no shell,
//! 125 agent-sh itself failed. Never: writes to standard output.

pub mod delivery;
mod hearing;
pub(crate) mod joined;
mod meant;
mod ours;
mod packaged;
pub(crate) mod shipped;
pub(crate) mod needs;
pub mod refusal;
pub(crate) mod surroundings;
pub(crate) mod terms;

use std::convert::Infallible;
use std::ffi::CString;
use std::fmt;

use crate::decision::Decision;
use crate::envelope::{self, Envelope};
use crate::exec::{Call, ExecError, exec};
use crate::fidelity::course::Course;
use crate::invocation::Invocation;
use crate::invocation::ancestry;
use crate::invocation::context::Context;
use crate::invocation::form::Form;
use crate::invocation::memory::reserve_standard_descriptors;
use crate::invocation::shell::{self, NoShell};
use crate::invocation::source::{Source, SourceError};
use crate::policy::temper::Interactive;
use crate::resolution::{Person, Settled};
use crate::text::{judged, raw};
use hearing::{Case, Hearing, Session};
use meant::Instead;

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

fn walk(mut argv: Vec<CString>, environ: Vec<CString>) -> Result<Infallible, End> {
    let hearing = Hearing::open()?;
    let temper = hearing.policy.temper();
    let given = meant::given(&mut argv, &environ)?;
    let name = argv.first().map_or(&b""[..], |name| name.as_bytes());
    let shell = shell::find(name, &terms::candidates(temper))?;
    let mut invocation = Invocation::read(argv, environ, shell);
    let session = if invocation.is_session() { Session::Unmediated } else { Session::Judged };
    let mut source = read(&invocation, session, &hearing)?;
    let mut context = Context { source: source.shown(&invocation), ..invocation.context() };
    let received = judged(source.text(&invocation)).into_owned();
    let mut envelope = taken_apart(&received, &invocation, &context, &hearing);
    let (arrival, course) = meant::weigh(&invocation, (&received, &envelope), &given, &hearing);
    let meant = arrival.meant.as_deref().map(|text| judged(text).into_owned());
    let repaired = match (&course, &meant) {
        (Course::Repair, Some(meant)) => {
            let read =
                |text: &str| Some(taken_apart(text, &invocation, &context, &hearing).command.into_owned());
            let instead = meant::instead(&invocation, (&received, &envelope), meant, &read);
            source = put(instead, source, &mut invocation).map_err(|e| unread(&hearing, &e))?;
            context = invocation.context();
            Some(judged(source.text(&invocation)).into_owned())
        }
        (Course::Run | Course::RunIfBoth | Course::Repair | Course::Refuse(_), _) => None,
    };
    let whole = repaired.as_ref().unwrap_or(&received);
    if repaired.is_some() {
        envelope = taken_apart(whole, &invocation, &context, &hearing);
    }
    let by_package = packaged::script(&invocation, &source, &hearing);
    let session = if by_package.is_some() { Session::Packaged } else { session };
    let decision =
        by_package.unwrap_or_else(|| decide((&invocation, &source), (whole, &envelope), &context, &hearing));
    let mut decision = meant::settle(decision, &course, meant.as_deref(), |meant| {
        judge(&invocation, (meant, &meant::holding(&envelope, meant)), &context, &hearing)
    });
    let shown = raw(envelope.shown());
    let as_received = raw(&received);
    let settled = match course {
        // what arrived is not what was meant: no approval of a text makes it so
        Course::Refuse(_) => Settled::held(),
        Course::Run | Course::RunIfBoth | Course::Repair => {
            let texts = (source.text(&invocation), &*shown);
            joined::settle(&decision, texts, (&invocation, envelope.form), &hearing)
        }
    };
    decision.resolution.clone_from(&settled.record);
    let case = Case {
        framework: envelope.framework,
        envelope: matches!(invocation.line.form, Form::Command { .. }).then_some(envelope.form),
        arrival: Some((&arrival, repaired.as_ref().map(|_| &*as_received))),
        course: settled.course,
        ..Case::of(&shown, &decision)
    };
    let Some(warrant) = settled.leave(&decision, &hearing.policy) else {
        return Err(held(&hearing, case, &course, &settled.person));
    };
    let argv = placed(&source, &invocation, &hearing)?;
    let confined = hearing.close(warrant, case, session, (&invocation, &context))?;
    source.note(&invocation).iter().for_each(|note| remark(note));
    Ok(exec(confined, Call { program: invocation.shell.path, argv, environ: invocation.environ })?)
}

/// The text, wherever it is; a session's is not read.
fn read(invocation: &Invocation, session: Session, hearing: &Hearing) -> Result<Source, End> {
    match session {
        Session::Unmediated => Ok(Source::Nothing),
        Session::Judged | Session::Packaged => {
            Source::read(invocation, &terms::limits(hearing.policy.temper()))
                .map_err(|error| unread(hearing, &error))
        }
    }
}

fn taken_apart<'t>(
    text: &'t str,
    invocation: &Invocation,
    context: &Context,
    hearing: &Hearing,
) -> Envelope<'t> {
    match invocation.line.form {
        Form::Command { .. } => envelope::read(text, context, || ancestry::names(&hearing.lineage)),
        Form::Script { .. } | Form::Input { .. } | Form::Inert(_) | Form::Unclear(_) => Envelope::bare(text),
    }
}

/// Puts what was meant in the place of what was received.
fn put(instead: Instead, source: Source, invocation: &mut Invocation) -> Result<Source, SourceError> {
    match instead {
        Instead::Text(text) => source.replaced(raw(&text).into_owned(), &mut invocation.argv),
        Instead::Argument(at, text) => {
            let text = CString::new(text).map_err(|_| SourceError::Zero)?;
            invocation.argv.get_mut(at).into_iter().for_each(|word| word.clone_from(&text));
            Ok(source)
        }
    }
}

/// What is thought of the call: of a program of the system for what it is called with.
fn decide(
    (invocation, source): (&Invocation, &Source),
    (text, envelope): (&str, &Envelope<'_>),
    context: &Context,
    hearing: &Hearing,
) -> Decision {
    let Some(call) = shipped::call(invocation, source) else {
        return judge(invocation, (text, envelope), context, hearing);
    };
    let call = judged(&call).into_owned();
    let envelope = Envelope::bare(&call);
    let mut decision = joined::verify(&call, &envelope, context, &hearing.policy, &hearing.world);
    decision.notes.push("a script of the system, judged as the program that it is".to_owned());
    decision
}

/// What is thought of the text. What has none is decided here.
fn judge(
    invocation: &Invocation,
    (text, envelope): (&str, &Envelope<'_>),
    context: &Context,
    hearing: &Hearing,
) -> Decision {
    let session = invocation.is_session();
    match (invocation.line.form, hearing.policy.temper().interactive) {
        (Form::Unclear(why), _) => Decision::refused(why),
        (Form::Inert(_), _) => noted("prints and exits"),
        (_, Interactive::Refuse) if session => Decision::refused(SESSION),
        (_, Interactive::Pass) if session => noted("an interactive shell, unmediated"),
        (Form::Script { .. }, _) if !invocation.line.only_reads() => {
            joined::verify_script(text, context, &hearing.policy, &hearing.world)
        }
        (Form::Command { .. } | Form::Script { .. } | Form::Input { .. }, _) => {
            // with -n nothing of the text runs, but start-up files may
            let nothing = Envelope::bare("");
            let (text, envelope) =
                if invocation.line.only_reads() { ("", &nothing) } else { (text, envelope) };
            joined::verify(text, envelope, context, &hearing.policy, &hearing.world)
        }
    }
}

fn noted(note: &str) -> Decision {
    Decision { notes: vec![note.to_owned()], ..Decision::default() }
}

/// Records the refusal and words it.
fn denied(hearing: &Hearing, case: Case<'_>, person: &Person) -> End {
    hearing.refusal(case);
    End::Denied(refusal::message(&judged(case.text), case.decision) + &refusal::way_on(person))
}

/// [`denied`], or, where only the way here is at fault, the words for that.
fn held(hearing: &Hearing, case: Case<'_>, course: &Course, person: &Person) -> End {
    match (course, case.arrival) {
        (Course::Refuse(refusal), Some((arrival, _)))
            if case.decision.notes.iter().any(|n| n == refusal.reason()) =>
        {
            hearing.refusal(case);
            End::Denied(refusal.message(arrival))
        }
        (Course::Run | Course::RunIfBoth | Course::Repair | Course::Refuse(_), _) => {
            denied(hearing, case, person)
        }
    }
}

/// A text that can't be read whole is not run in observe mode either: part of it may be gone.
fn unread(hearing: &Hearing, error: &dyn fmt::Display) -> End {
    denied(hearing, Case::of(b"", &Decision::refused(error.to_string())), &Person::NotNeeded)
}

/// Something that whoever started the command should know, though it runs.
fn remark(note: &str) {
    let line = format!("agent-sh: note: {note}\n");
    drop(std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes()));
}

/// Puts the text where the real shell will read it; gives the argument vector for it.
fn placed(source: &Source, invocation: &Invocation, hearing: &Hearing) -> Result<Vec<CString>, End> {
    let argv = source.place(invocation).map_err(|error| unread(hearing, &error))?;
    Ok(named(argv, invocation.shell.name))
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
