//! Compiles `policy/` into Rust source: static tables that cost nothing at start.
//!
//! In: `policy/**/*.toml`. Out: `$OUT_DIR/policy.rs`, included by `src/policy/embedded.rs`.
//! Never: lets a policy with an error through; the message names file, line and column.

#[allow(dead_code, unreachable_pub)]
#[path = "src/act.rs"]
mod act;
#[allow(dead_code, unreachable_pub)]
#[path = "src/score.rs"]
mod score;
#[allow(dead_code, unreachable_pub)]
#[path = "src/text.rs"]
mod text;
#[allow(dead_code, unreachable_pub)]
#[path = "src/verdict.rs"]
mod verdict;

/// The part of the library's policy floor that needs nothing but the modules above, serde and toml.
#[allow(dead_code, unreachable_pub, unused_imports)]
#[path = "src/policy"]
mod policy {
    pub mod catalogue;
    pub mod compile;
    pub mod fields;
    pub mod keep;
    pub mod settings;
    pub mod shapes;
    pub mod sieve;
    pub mod sought;
    pub mod source;
    pub mod tables;
    pub mod temper;
    pub mod values;
    pub mod words;
}

#[path = "build/emit.rs"]
mod emit;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use policy::compile::{Compiled, Compiler};
use policy::fields::{FIELDS, is_optional};
use policy::settings::{Change, Rights, apply};
use policy::shapes::{read_commands, read_file};
use policy::source::{PolicyError, Source};
use policy::temper::Temper;

/// A file below `policy/`.
struct File {
    /// `policy/rules/a.toml`
    path: String,
    /// `embedded rules/a.toml`
    label: String,
    text: String,
}

fn main() -> ExitCode {
    match build() {
        Ok(doubts) => {
            let mut out = std::io::stdout().lock();
            for line in doubts.iter().filter_map(|doubt| doubt.to_string().lines().next().map(str::to_owned))
            {
                let _ = writeln!(out, "cargo::warning={line}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            let mut out = std::io::stdout().lock();
            for line in error.lines() {
                let _ = writeln!(out, "cargo::error={line}");
            }
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<Vec<PolicyError>, String> {
    // The folder, so that a new file counts. The sources of this program cargo knows.
    let _ = writeln!(std::io::stdout().lock(), "cargo::rerun-if-changed=policy");
    let files = read_files()?;
    let show = |error: PolicyError| error.to_string();
    let (temper, changes) = read_base(&files).map_err(show)?;
    // Once to learn the names of the tags, then with their numbers in the order of the names.
    let first = read_tables(&files, &[]).map_err(show)?;
    let mut tags = first.tables.tags.to_vec();
    tags.sort_unstable();
    let compiled = read_tables(&files, &tags).map_err(show)?;
    let source = emit::policy(&compiled.tables, &temper, &changes, &version(&files));
    let folder = std::env::var("OUT_DIR").map_err(|error| error.to_string())?;
    std::fs::write(Path::new(&folder).join("policy.rs"), source).map_err(|error| error.to_string())?;
    Ok(first.doubts)
}

/// All policy files, sorted by path.
fn read_files() -> Result<Vec<File>, String> {
    let mut paths = Vec::new();
    collect(Path::new("policy"), &mut paths)?;
    paths.sort();
    let files = paths.into_iter().map(|path| {
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let path = path.to_str().ok_or("policy: a file's name is not UTF-8")?.to_owned();
        let label = format!("embedded {}", path.strip_prefix("policy/").unwrap_or(&path));
        Ok(File { path, label, text })
    });
    files.collect()
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|end| end == "toml") {
            paths.push(path);
        }
    }
    Ok(())
}

fn read_base(files: &[File]) -> Result<(Temper, Vec<Change>), PolicyError> {
    const PATH: &str = "policy/base.toml";
    let file = files.iter().find(|file| file.path == PATH);
    let file = file.ok_or_else(|| PolicyError::file(PATH, "the file is missing"))?;
    let source = Source::new(&file.path, &file.label, &file.text);
    let shape = read_file(&source)?;
    let (temper, changes) = apply(&source, &shape.settings, Rights::Root, &Temper::BLANK)?;
    for (place, field) in FIELDS.iter().enumerate() {
        if !is_optional(field) && !changes.iter().any(|change| change.field == place) {
            return Err(source.problem(0..0, format!("`{}` is missing", field.key)));
        }
    }
    Ok((temper, changes))
}

fn read_tables(files: &[File], tags: &[&str]) -> Result<Compiled, PolicyError> {
    let mut compiler = Compiler::after(tags);
    let mut others = Vec::new();
    for file in files.iter().filter(|file| file.path != "policy/base.toml") {
        let source = Source::new(&file.path, &file.label, &file.text);
        if file.path.starts_with("policy/commands/") {
            compiler.add_commands(&source, read_commands(&source)?)?;
        } else if !file.path.starts_with("policy/profiles/") {
            others.push(source);
        }
    }
    for source in &others {
        let shape = read_file(source)?;
        if let Some((key, _)) = shape.settings.first() {
            return Err(source.problem(key.span(), "settings stand in base.toml"));
        }
        if !shape.overrides.is_empty() || !shape.commands.is_empty() {
            return Err(
                source.problem(0..0, "overrides are for other layers, and commands stand in commands/")
            );
        }
        compiler.add_rest(source, &shape)?;
    }
    Ok(compiler.finish())
}

/// The first twelve hexadecimal digits of a digest over all names and texts.
fn version(files: &[File]) -> String {
    use sha2::{Digest as _, Sha256};
    let mut digest = Sha256::new();
    for part in files.iter().flat_map(|file| [&file.path, &file.text]) {
        digest.update(part.len().to_le_bytes());
        digest.update(part);
    }
    let mut version = String::new();
    for byte in digest.finalize().iter().take(6) {
        let _ = write!(version, "{byte:02x}");
    }
    version
}
