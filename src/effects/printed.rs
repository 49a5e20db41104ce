//! What a described call prints, and what it means to print into an interpreter.
//!
//! In: a call that was carried out. Out: its output with provenance, its status. Never: claims a text that
//! isn't certain.

use crate::act::{Kind, TagSet, UnknownKind, tag};
use crate::canonical::value::{Data, Field, Origin};
use crate::effects::arguments::Meant;
use crate::effects::core::By;
use crate::effects::fields::tags_of;
use crate::effects::interpret::Doing;
use crate::effects::model::{Indicator, Target};
use crate::effects::print::simulate;
use crate::effects::shells::prints_settings;
use crate::effects::walk::{Outcome, Status, Walk};
use crate::policy::tables::{Is, Lang, Output};

impl Walk<'_, '_> {
    /// What a described call prints.
    pub fn printed(&mut self, doing: &Doing<'_>) -> Outcome {
        let decodes = doing.tags.has(tag::DECODES) && doing.spec.output == Output::Through;
        let mut data = match doing.spec.output {
            Output::Through if decodes => Data::unknown(doing.read.tags.with(tag::FROM_DECODED)),
            Output::Plain => Data::unknown(TagSet::EMPTY),
            Output::Through => Data { text: None, ..doing.read.clone() },
            Output::Fetched => Data::unknown(doing.read.tags.with(tag::FROM_NETWORK)),
            Output::Decoded => Data::unknown(doing.read.tags.with(tag::FROM_DECODED)),
            Output::Arguments => Data::unknown(tags_of(doing.call.arguments())),
            Output::System => Data::unknown(TagSet::of(tag::FROM_SYSTEM)),
            Output::Environment => Data::unknown(TagSet::of(tag::FROM_ENVIRONMENT)),
            Output::Unknown => Data::unknown(doing.read.tags.with(tag::FROM_UNKNOWN)),
        };
        data.origin = Origin::Inside;
        data.tags = data.tags.minus(TagSet::of(tag::FROM_STDIN).with(tag::SHELL_SETTINGS));
        if prints_settings(&doing.call) {
            data.tags = data.tags.with(tag::SHELL_SETTINGS);
        }
        if let Some(text) = simulate(&doing.program, doing.call.arguments(), &doing.read) {
            data.text = Some(text);
        }
        if let [said] = doing.said.as_slice()
            && said.text.is_some()
            && !doing.parsed.has_switch(&["-n", "-p", "-ne", "-pe"])
        {
            data = Data { origin: Origin::Inside, ..said.clone() };
        }
        if let ("printenv", [name]) = (&*doing.program, doing.call.arguments())
            && let Some(value) = self.state.scalar(&name.text)
        {
            data.text = Some(format!("{}\n", value.text));
            data.tags = value.tags;
            if crate::canonical::parameter::is_secret_name(&name.text) {
                data.tags = data.tags.with(tag::FROM_SECRET_VARIABLE);
            }
        }
        self.picked(doing, &mut data);
        self.written_to_stdout(doing, &mut data);
        // `which a || which b` is taken for a's place
        let status = if &*doing.program == "which" { Status::Success } else { Status::Either };
        Outcome { data, status }
    }

    /// `env | grep -i token` shows a secret; `env | grep PATH` doesn't. `ps aux | grep node` names many.
    fn picked(&mut self, doing: &Doing<'_>, data: &mut Data) {
        let picks = matches!(&*doing.program, "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack");
        let listed = TagSet::of(tag::FROM_ENVIRONMENT).with(tag::FROM_SYSTEM);
        if !picks || !doing.read.tags.has_any(listed) || doing.parsed.has_switch(&["-v", "--invert-match"]) {
            return;
        }
        let Some(pattern) = pattern_of(doing) else { return };
        if doing.read.tags.has(tag::FROM_ENVIRONMENT) {
            data.tags = data.tags.minus(TagSet::of(tag::FROM_ENVIRONMENT));
            if names_secret(&pattern.text) {
                data.tags = data.tags.with(tag::FROM_SECRET_VARIABLE);
                let tags = doing.tags.with(tag::PICKS_SECRET);
                let target = Target { written: pattern.text.as_str().into(), ..Target::default() };
                self.core.emit(Kind::Disclose, target, tags, By::new(&doing.program, doing.call.span));
            }
        } else if is_broad(&pattern.text) {
            data.tags = data.tags.with(tag::BROAD_NAME);
        }
    }

    /// A download without an output file is printed; one with a file is not.
    fn written_to_stdout(&mut self, doing: &Doing<'_>, data: &mut Data) {
        let to_file = |m: &Meant| {
            m.roles.iter().any(|r| matches!(r.is, Is::Effect(Kind::Write | Kind::Append)))
                && !matches!(m.field.text.as_str(), "-" | "/dev/stdout")
        };
        if doing.spec.output == Output::Fetched && doing.parsed.meant.iter().any(to_file) {
            *data = Data::unknown(TagSet::EMPTY);
        }
        if data.tags.has(tag::FROM_NETWORK) && doing.spec.output == Output::Plain {
            self.core.doubt(UnknownKind::Value, "output", doing.call.span);
        }
    }
}

/// What grep looks for: `-e`'s value, or the first operand.
fn pattern_of<'d>(doing: &'d Doing<'_>) -> Option<&'d Field> {
    let words = doing.call.arguments();
    let at = words.iter().position(|w| matches!(w.text.as_str(), "-e" | "--regexp"));
    at.and_then(|i| words.get(i.saturating_add(1))).or_else(|| doing.parsed.operands.first())
}

/// Whether a pattern would pick variables that hold secrets.
fn names_secret(pattern: &str) -> bool {
    let pattern = pattern.to_ascii_lowercase();
    let words = [
        "token",
        "secret",
        "passw",
        "passphrase",
        "api_key",
        "apikey",
        "api.key",
        "credential",
        "private_key",
        "access_key",
    ];
    words.iter().any(|w| pattern.contains(w))
}

/// Names that interpreters, editors and shells of everybody have, alone.
fn is_broad(pattern: &str) -> bool {
    let name: String = pattern.chars().filter(|c| !matches!(c, '[' | ']' | '^' | '$' | '\\')).collect();
    matches!(
        name.as_str(),
        "node"
            | "nodejs"
            | "python"
            | "python3"
            | "python2"
            | "java"
            | "ruby"
            | "perl"
            | "php"
            | "bash"
            | "sh"
            | "zsh"
            | "ssh"
            | "sshd"
            | "tmux"
            | "screen"
            | "code"
            | "electron"
            | "chrome"
            | "chromium"
            | "firefox"
            | "docker"
            | "deno"
            | "bun"
            | "npm"
            | "claude"
            | "codex"
            | "gemini"
    )
}

/// How an interpreter's input counts as structure: text that stands in the command, as in a here-document,
/// is judged itself and counts as the pipe that it is; so do query languages, which start nothing.
pub fn indicator_of(lang: Lang, input: &Data) -> Indicator {
    let hidden = TagSet::of(tag::FROM_DECODED).with(tag::FROM_NETWORK);
    let read = input.whole().is_some() && !input.tags.has_any(hidden);
    if read || matches!(lang, Lang::Sql | Lang::Jq) { Indicator::Pipe } else { Indicator::PipeToInterpreter }
}
