//! What `install` changed, so that `uninstall` puts it back: one entry for each file, the first content kept.
//!
//! In: changes for an agent. Out: changed files, and a folder of state that goes away with the last agent.
//! Never: writes a file in two pieces; loses a file's earlier content, mode or link.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::change::{Change, Done, What};
use crate::digest::Digest;

/// Everything that was changed in one scope (a home, or the system).
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Ledger {
    entries: Vec<Entry>,
    /// Folders that were made, outermost first.
    folders: Vec<PathBuf>,
    #[serde(skip)]
    state: PathBuf,
}

/// One file.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    file: String,
    /// The name of the kept content in `backup/`; none: the file was not there.
    before: Option<String>,
    /// SHA-256 of what we left; empty for links.
    after: String,
    /// Somebody else changed the file between two of our changes.
    mixed: bool,
    changes: Vec<Made>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Made {
    agents: Vec<String>,
    what: What,
}

/// What became of one change, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub file: String,
    pub what: String,
}

/// Whether the disk is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    Real,
    /// say what would be done
    Dry,
}

fn fails(path: &Path) -> impl Fn(std::io::Error) -> anyhow::Error + '_ {
    move |error| anyhow::anyhow!("{}: {error}", crate::text::escape(&path.to_string_lossy()))
}

impl Ledger {
    /// Reads the ledger in a folder of state; empty where there is none.
    ///
    /// # Errors
    /// It is there and can't be read.
    pub fn open(state: &Path) -> anyhow::Result<Self> {
        let path = state.join("ledger.json");
        let mut ledger: Self = match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| anyhow::anyhow!("{}: {error}; move it away", path.display()))?,
            Err(error) if error.kind() == ErrorKind::NotFound => Self::default(),
            Err(error) => return Err(fails(&path)(error)),
        };
        state.clone_into(&mut ledger.state);
        Ok(ledger)
    }

    /// The agents that something was changed for.
    pub fn agents(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .entries
            .iter()
            .flat_map(|e| &e.changes)
            .flat_map(|made| &made.agents)
            .map(String::as_str)
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The changes made for an agent.
    pub fn changes(&self, agent: &str) -> Vec<Change> {
        let of = |entry: &Entry| {
            let own = entry.changes.iter().filter(|made| made.agents.iter().any(|name| name == agent));
            own.map(|made| Change { file: entry.file.clone(), what: made.what.clone() }).collect::<Vec<_>>()
        };
        self.entries.iter().flat_map(of).collect()
    }

    /// Does one change for an agent.
    ///
    /// # Errors
    /// The file can't be read, changed or written. Earlier changes stay, and stay in the ledger.
    pub fn make(&mut self, agent: &str, change: &Change, run: Run) -> anyhow::Result<Option<Note>> {
        let note = Note { file: change.file.clone(), what: change.what.describe() };
        let path = PathBuf::from(&change.file);
        if let What::Link(target) = &change.what {
            return self.make_link(agent, change, target, run).map(|made| made.then_some(note));
        }
        let now = read(&path)?;
        let text = now.as_deref().map(std::str::from_utf8).transpose();
        let text = text.map_err(|_| anyhow::anyhow!("{} is not UTF-8; it stays as it is", path.display()))?;
        let done = change.what.apply(text).map_err(|why| anyhow::anyhow!("{} {why}", path.display()))?;
        let Done::Text(new, what) = done else {
            self.share(agent, change);
            return if run == Run::Real { self.save().map(|()| None) } else { Ok(None) };
        };
        if run == Run::Dry {
            return Ok(Some(note));
        }
        let at = self.entry(&change.file, now.as_deref())?;
        if let Some(entry) = self.entries.get_mut(at) {
            entry.mixed |=
                !entry.changes.is_empty() && now.as_deref().is_none_or(|now| digest(now) != entry.after);
            entry.after = digest(new.as_bytes());
            entry.changes.push(Made { agents: vec![agent.to_owned()], what: what.clone() });
        }
        // first the ledger: a change that is in it and not on the disk is harmless
        self.make_folders(&path)?;
        self.save()?;
        let executable = matches!(what, What::File { executable: true, .. });
        write(&path, new.as_bytes(), if executable { 0o755 } else { 0o644 })?;
        Ok(Some(note))
    }

    /// Takes an agent's changes back.
    ///
    /// # Errors
    /// A file can't be read or written.
    pub fn take_back(&mut self, agent: &str, run: Run) -> anyhow::Result<Vec<Note>> {
        let mut notes = Vec::new();
        let mut kept = Vec::new();
        for mut entry in std::mem::take(&mut self.entries) {
            let (mine, others): (Vec<Made>, Vec<Made>) =
                entry.changes.into_iter().partition(|made| made.agents == [agent]);
            entry.changes = others;
            for made in &mut entry.changes {
                made.agents.retain(|name| name != agent);
            }
            if !mine.is_empty() {
                let what = put_back(&self.state, &mut entry, &mine, run)?;
                notes.push(Note { file: entry.file.clone(), what: what.to_owned() });
            }
            if !entry.changes.is_empty() {
                kept.push(entry);
            }
        }
        self.entries = kept;
        if run == Run::Real {
            self.save()?;
        }
        Ok(notes)
    }

    fn make_link(&mut self, agent: &str, change: &Change, target: &str, run: Run) -> anyhow::Result<bool> {
        let path = PathBuf::from(&change.file);
        match fs::read_link(&path) {
            Ok(now) if now == Path::new(target) => {
                self.share(agent, change);
                if run == Run::Real {
                    self.save()?;
                }
                return Ok(false);
            }
            _ if fs::symlink_metadata(&path).is_ok() => {
                anyhow::bail!("{} is there already and is not ours; move it away", path.display())
            }
            _ => {}
        }
        if run == Run::Real {
            let at = self.entry(&change.file, None)?;
            if let Some(entry) = self.entries.get_mut(at) {
                entry.changes.push(Made { agents: vec![agent.to_owned()], what: change.what.clone() });
            }
            self.make_folders(&path)?;
            self.save()?;
            symlink(target, &path).map_err(fails(&path))?;
        }
        Ok(true)
    }

    /// A change that is there already is shared with the agents that it was made for.
    fn share(&mut self, agent: &str, change: &Change) {
        let same = |a: &What| match (a, &change.what) {
            (What::Key { path, value, .. }, What::Key { path: p, value: v, .. }) => path == p && value == v,
            (a, b) => a == b,
        };
        let entry = self.entries.iter_mut().find(|entry| entry.file == change.file);
        let made = entry.and_then(|entry| entry.changes.iter_mut().find(|made| same(&made.what)));
        if let Some(made) = made
            && !made.agents.iter().any(|name| name == agent)
        {
            made.agents.push(agent.to_owned());
        }
    }

    /// The place of a file's entry; a new one keeps the content.
    fn entry(&mut self, file: &str, now: Option<&[u8]>) -> anyhow::Result<usize> {
        if let Some(at) = self.entries.iter().position(|entry| entry.file == file) {
            return Ok(at);
        }
        let before = match now {
            None => None,
            Some(bytes) => {
                let name = digest(file.as_bytes());
                let path = self.state.join("backup").join(&name);
                self.make_folders(&path)?;
                write(&path, bytes, 0o600)?;
                Some(name)
            }
        };
        let entry =
            Entry { file: file.to_owned(), before, after: String::new(), mixed: false, changes: Vec::new() };
        self.entries.push(entry);
        Ok(self.entries.len() - 1)
    }

    /// Makes the folders above a path and notes those that were not there.
    fn make_folders(&mut self, path: &Path) -> anyhow::Result<()> {
        let above: Vec<&Path> = path.ancestors().skip(1).collect();
        for folder in above.into_iter().rev().filter(|folder| !folder.as_os_str().is_empty()) {
            match fs::create_dir(folder) {
                Ok(()) => self.folders.push(folder.to_owned()),
                Err(_) if folder.is_dir() => {}
                Err(error) => return Err(fails(folder)(error)),
            }
        }
        Ok(())
    }

    /// Writes the ledger, or removes it and every folder that was made once nothing is in it.
    fn save(&mut self) -> anyhow::Result<()> {
        let path = self.state.join("ledger.json");
        if !self.entries.is_empty() {
            self.make_folders(&path)?;
            return write(&path, &serde_json::to_vec_pretty(self)?, 0o600);
        }
        for gone in [&path, &self.state.join("backup")] {
            let removed = if gone.is_dir() { fs::remove_dir_all(gone) } else { fs::remove_file(gone) };
            removed
                .or_else(|error| if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) })
                .map_err(fails(gone))?;
        }
        for folder in self.folders.drain(..).rev() {
            // one that holds something of somebody else's stays
            drop(fs::remove_dir(folder));
        }
        Ok(())
    }
}

/// Restores the kept content where the file is as we left it, else takes out our own changes alone.
fn put_back(state: &Path, entry: &mut Entry, mine: &[Made], run: Run) -> anyhow::Result<&'static str> {
    let path = PathBuf::from(&entry.file);
    if let [Made { what: What::Link(target), .. }] = mine {
        let ours = fs::read_link(&path).is_ok_and(|now| now == Path::new(target));
        if ours && run == Run::Real {
            fs::remove_file(&path).map_err(fails(&path))?;
        }
        return Ok(if ours { "link removed" } else { "is not our link any more and stays" });
    }
    let Some(now) = read(&path)? else { return Ok("is gone already") };
    let untouched = digest(&now) == entry.after && !entry.mixed;
    if untouched && entry.changes.is_empty() {
        if run == Run::Real {
            match &entry.before {
                Some(name) => {
                    let kept = state.join("backup").join(name);
                    write(&path, &fs::read(&kept).map_err(fails(&kept))?, 0o644)?;
                }
                None => fs::remove_file(&path).map_err(fails(&path))?,
            }
        }
        return Ok(if entry.before.is_some() { "put back as it was" } else { "removed" });
    }
    let mut text =
        String::from_utf8(now).map_err(|_| anyhow::anyhow!("{} is not UTF-8 any more", path.display()))?;
    for made in mine.iter().rev() {
        text = made.what.undo(&text).unwrap_or(text);
    }
    if run == Run::Real {
        entry.after = digest(text.as_bytes());
        write(&path, text.as_bytes(), 0o644)?;
    }
    Ok("was changed since; our part was taken out")
}

fn read(path: &Path) -> anyhow::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(fails(path)(error)),
    }
}

/// Replaces a file's content at once; through a link to it, and with the mode that it has.
fn write(path: &Path, bytes: &[u8], mode: u32) -> anyhow::Result<()> {
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mode = fs::metadata(path).map_or(mode, |meta| meta.permissions().mode() & 0o7777);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".agent-sh-{}", std::process::id()));
    let beside = path.with_file_name(name);
    let put = || {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&beside)?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    };
    put().map_err(|error| {
        drop(fs::remove_file(&beside));
        fails(path)(error)
    })
}

fn digest(bytes: &[u8]) -> String {
    Digest::of(bytes).to_string()
}
