//! The same text by a channel that can't change it, to where a way leads.
//!
//! In: a way, a text. Out: an outcome, or the refusal. Never: another text than the one that was meant.

use std::path::Path;

use crate::fidelity::bench::scene::Scene;
use crate::fidelity::bench::trial::{self, Launch, Outcome};
use crate::fidelity::bench::way::{End, Way};
use crate::fidelity::channel::domain::Refusal;
use crate::fidelity::channel::local::owned;
use crate::fidelity::channel::name::{Channel, StdinPolicy, Step};
use crate::fidelity::channel::path;
use crate::fidelity::channel::rendering::{Form, Input, Mode, Rendering};

/// What came of a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repair {
    Done(Outcome),
    /// Before anything was started.
    Refused(Refusal),
    /// A fault of the bench.
    Failed,
}

/// The steps of a way's repair; a stub, where it goes the same way as the text did.
pub fn steps(scene: &Scene, way: &Way) -> Vec<Step> {
    let (name, to) = way.repair.unwrap_or(("stub", ""));
    let to = to.replace("{ssh}", &scene.ssh().join(" "));
    let channel = Channel::named(name).unwrap_or(Channel::Stub);
    vec![Step { channel, to: (!to.is_empty()).then(|| to.into_bytes()) }]
}

/// What the channel makes of the text; nothing is started.
pub fn render(scene: &Scene, way: &Way, text: &[u8], case: &Path) -> Result<Rendering, Refusal> {
    let place = case.join("s").display().to_string();
    path::render(text, &steps(scene, way), StdinPolicy::Null, &place)
}

/// Renders, lays and starts.
pub fn repair(scene: &Scene, way: &Way, text: &[u8], (case, number): (&Path, &str)) -> Repair {
    let rendering = match render(scene, way, text, case) {
        Ok(rendering) => rendering,
        Err(refusal) => return Repair::Refused(refusal),
    };
    if lay(&rendering).is_err() {
        return Repair::Failed;
    }
    let words = match &rendering.form {
        Form::Words(words) => words.clone(),
        Form::Text(text) => owned(&[b"sh", b"-c", text]),
        Form::Document(_) => return Repair::Failed,
    };
    if way.repair.is_none() {
        // the one word goes where the text went
        let line = words.first().cloned().unwrap_or_default();
        return Repair::Done(trial::send(scene, way, &line, (case, number)));
    }
    let input = match rendering.input {
        Input::Bytes(bytes) => Some(bytes),
        Input::Inherit | Input::Null => None,
    };
    let launch = Launch { words, input, environment: rendering.environment, home: way.home };
    Repair::Done(trial::run(&launch, case, End::Exit))
}

fn lay(rendering: &Rendering) -> std::io::Result<()> {
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::PermissionsExt as _;
    let _lock = trial::WRITING.write();
    for file in &rendering.files {
        let path = Path::new(std::ffi::OsStr::from_bytes(&file.path));
        std::fs::write(path, &file.bytes)?;
        let bits = if file.mode == Mode::Program { 0o755 } else { 0o644 };
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(bits))?;
    }
    Ok(())
}
