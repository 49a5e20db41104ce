//! `agent-shctl judge --argv-jsonl`: whole calls of a shell, one JSON object a line.
//!
//! In: lines `{"id","argv_b64","cwd"?,"env"?}`. Out: lines with verdict, client, envelope, the model's text.
//! Never: runs a call; stops at a broken line: it says which, judges the others, and exits with 2.

use std::collections::HashMap;
use std::ffi::{CString, OsStr};
use std::io::{BufRead as _, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::process::ExitCode;

use data_encoding::BASE64;
use serde::Deserialize;

use crate::cli::context::{own_environment, policy_in_force};
use crate::cli::judge::open;
use crate::decision::Decision;
use crate::envelope::{self, Envelope};
use crate::invocation::Invocation;
use crate::invocation::context::{Dialect, Input};
use crate::invocation::form::Form;
use crate::invocation::shell::{Flavor, RealShell, ShellName};
use crate::pipeline::{joined, shipped};
use crate::text::{escape, judged, raw};
use crate::verify::Judge;
use crate::world::{Machine, World as _};

/// One line.
#[derive(Debug, Deserialize)]
struct Line {
    id: serde_json::Value,
    /// The argument vector, entry 0 included, each in base64.
    argv_b64: Vec<String>,
    cwd: Option<String>,
    env: Option<HashMap<String, String>>,
}

/// What stands between calls.
struct Bench<'b> {
    judge: Judge,
    own: HashMap<String, String>,
    options: &'b clap::ArgMatches,
}

pub fn run(path: &str, options: &clap::ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    use anyhow::Context as _;
    let bench = Bench { judge: Judge::new(policy_in_force()?), own: own_environment(), options };
    let mut status = ExitCode::SUCCESS;
    for (number, line) in open(path)?.split(b'\n').enumerate() {
        let line = line.with_context(|| format!("{path}:{}: cannot read", number + 1))?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        match bench.answer(&line) {
            Ok(answer) => writeln!(out, "{answer}")?,
            Err(error) => {
                // what is answered so far comes first
                out.flush()?;
                let error = format!("agent-shctl: {}:{}: {}\n", escape(path), number + 1, escape(&error));
                drop(std::io::stderr().write_all(error.as_bytes()));
                status = ExitCode::from(2);
            }
        }
    }
    Ok(status)
}

impl Bench<'_> {
    fn answer(&self, line: &[u8]) -> Result<serde_json::Value, String> {
        let line: Line = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let argv = words(&line.argv_b64)?;
        let environ = environ(line.env.as_ref().unwrap_or(&self.own))?;
        let shell = shell(argv.first().map_or(&b""[..], |name| name.as_bytes()));
        let invocation = Invocation::read(argv, environ, shell);
        let mut context = invocation.context();
        // nothing is known of the caller's descriptors
        context.input = Input::Unknown;
        let option = |name: &str| self.options.get_one::<String>(name).cloned();
        context.cwd = line.cwd.or_else(|| option("cwd")).unwrap_or(context.cwd);
        context.home = option("home").unwrap_or(context.home);
        context.workspace = option("workspace");
        let script;
        let text = match invocation.line.form {
            Form::Command { text } => judged(invocation.word(text)),
            Form::Script { file } => {
                script = self.script(invocation.word(file), &context.cwd)?;
                let shown = || judged(invocation.word(file)).into_owned();
                context.source = (invocation.dialect() == Dialect::Bash).then(shown);
                judged(&script)
            }
            Form::Input { .. } | Form::Inert(_) | Form::Unclear(_) => judged(b""),
        };
        let envelope = match invocation.line.form {
            Form::Command { .. } => envelope::read(&text, &context, Vec::new),
            Form::Script { .. } => named("script", &context.environment),
            Form::Input { .. } => named("input", &context.environment),
            Form::Inert(_) | Form::Unclear(_) => named("none", &context.environment),
        };
        let decision = match invocation.line.form {
            Form::Unclear(why) => Decision::refused(why),
            Form::Script { file } => {
                let path = std::path::Path::new(&context.cwd).join(OsStr::from_bytes(invocation.word(file)));
                let words = invocation.argv.get(file..).unwrap_or_default();
                match shipped::line(path.as_os_str().as_bytes(), words) {
                    Some(call) => self.judge.verify(&judged(&call), &context, &Machine),
                    None => joined::verify_script(&text, &context, self.judge.policy(), &Machine),
                }
            }
            Form::Command { .. } | Form::Input { .. } | Form::Inert(_) if invocation.line.only_reads() => {
                self.judge.verify("", &context, &Machine)
            }
            Form::Command { .. } | Form::Input { .. } | Form::Inert(_) => {
                self.judge.verify_call(&text, &envelope, &context, &Machine)
            }
        };
        let by_model = envelope.by_model().map(|text| BASE64.encode(&raw(text)));
        Ok(serde_json::json!({
            "id": line.id,
            "verdict": decision.verdict.name(),
            "score": decision.score.to_string(),
            "rules": decision.findings.iter().map(|f| &*f.rule).collect::<Vec<_>>(),
            "framework": envelope.framework,
            "envelope": envelope.form,
            "text_b64": by_model,
        }))
    }

    /// A script's content; empty where it isn't there: then nothing runs.
    fn script(&self, name: &[u8], cwd: &str) -> Result<Vec<u8>, String> {
        let name = judged(name);
        let path = if name.starts_with('/') { name.into_owned() } else { format!("{cwd}/{name}") };
        let limit = usize::try_from(self.judge.policy().temper().limits.file_bytes).unwrap_or(usize::MAX);
        match Machine.content(&path, limit) {
            Some(content) => Ok(content),
            None if Machine.meta(&path).is_none() => Ok(Vec::new()),
            None => Err(format!("the script {path} cannot be read whole (at most {limit} bytes)")),
        }
    }
}

/// A call without a command string: its text is in a file or comes later.
fn named(form: &'static str, environment: &HashMap<String, String>) -> Envelope<'static> {
    let framework = envelope::framework::by_environment(environment);
    Envelope { form, framework, author: envelope::Author::Client, ..Envelope::bare("") }
}

fn words(argv: &[String]) -> Result<Vec<CString>, String> {
    let word = |(number, word): (usize, &String)| {
        let bytes =
            BASE64.decode(word.as_bytes()).ok().ok_or_else(|| format!("argv_b64[{number}] is not base64"))?;
        CString::new(bytes)
            .map_err(|_| format!("argv_b64[{number}] holds a zero byte, which no argument can"))
    };
    argv.iter().enumerate().map(word).collect()
}

fn environ<S: std::hash::BuildHasher>(
    variables: &HashMap<String, String, S>,
) -> Result<Vec<CString>, String> {
    let entry = |(name, value): (&String, &String)| {
        CString::new(raw(&format!("{name}={value}")).into_owned())
            .map_err(|_| format!("the variable {} holds a zero byte, which none can", escape(name)))
    };
    variables.iter().map(entry).collect()
}

/// The shell that such a name means, as it usually is: this machine's own may be another.
fn shell(name: &[u8]) -> RealShell {
    let name = ShellName::of(name).unwrap_or(ShellName::Bash);
    let flavor = match name {
        ShellName::Bash => Flavor::Bash,
        ShellName::Sh | ShellName::Dash => Flavor::Dash,
        ShellName::Zsh => Flavor::Zsh,
    };
    RealShell { name, flavor, path: CString::default() }
}
