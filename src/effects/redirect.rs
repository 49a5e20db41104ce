//! Redirections: what they read and write, and where a command's data comes from and goes to.
//!
//! In: [`Redirect`]s. Out: [`Streams`] for one command; reads are effects at once, writes once it is known
//! what is written. Never: takes `/dev/tcp` for a file.

use std::rc::Rc;

use crate::act::{Kind, TagSet, tag};
use crate::canonical::state::{Endpoint, Reach};
use crate::canonical::value::{Data, Field, Value};
use crate::effects::core::{By, Pending, Reader};
use crate::effects::model::TEMPORARY;
use crate::effects::walk::{Outcome, Walk};
use crate::syntax::tree::{Descriptor, Redirect, RedirectAction, Word};
use crate::text::Span;

/// Where a command's streams lead.
#[derive(Clone, Debug, Default)]
pub struct Streams {
    pub input: Option<Data>,
    /// Outputs by descriptor.
    pub outputs: Vec<(u32, Sink)>,
    /// Tags of the command: its streams are tied to a network peer.
    pub tags: TagSet,
    /// Descriptors above 2, kept for `exec` and compound commands.
    pub others: Vec<(u32, Endpoint)>,
}

/// A place that output goes to.
#[derive(Clone, Debug)]
pub enum Sink {
    File {
        field: Field,
        kind: Kind,
        span: Span,
    },
    Network {
        peer: String,
        span: Span,
    },
    Null,
    /// The same as this descriptor.
    Same(u32),
}

/// A file that is opened for writing.
#[derive(Clone, Copy)]
struct Opened {
    fd: u32,
    kind: Kind,
    span: Span,
}

/// `/dev/tcp/HOST/PORT` and `/dev/udp/…`, which bash itself opens as connections.
pub fn network_path(path: &str) -> Option<String> {
    let rest = path.strip_prefix("/dev/tcp/").or_else(|| path.strip_prefix("/dev/udp/"))?;
    let (host, port) = rest.split_once('/')?;
    Some(format!("{host}:{port}"))
}

impl Walk<'_, '_> {
    /// Evaluates redirections from left to right.
    pub fn redirects(&mut self, redirects: &[Redirect], span: Span) -> Streams {
        let mut streams = Streams::default();
        for redirect in redirects {
            let span = if redirect.span == Span::default() { span } else { redirect.span };
            self.redirect(redirect, span, &mut streams);
        }
        streams
    }

    fn redirect(&mut self, redirect: &Redirect, span: Span, streams: &mut Streams) {
        let number = |default: u32| match &redirect.descriptor {
            Some(Descriptor::Number(n)) => *n,
            Some(Descriptor::Variable(_)) => 10,
            None => default,
        };
        match &redirect.action {
            RedirectAction::Read(word) => self.read_from(word, number(0), span, streams),
            RedirectAction::Write(word) | RedirectAction::Clobber(word) => {
                self.write_to(word, Opened { fd: number(1), kind: Kind::Write, span }, streams);
            }
            RedirectAction::Append(word) => {
                self.write_to(word, Opened { fd: number(1), kind: Kind::Append, span }, streams);
            }
            RedirectAction::ReadWrite(word) => {
                let fd = number(0);
                let field = self.target_field(word, span);
                if let Some(peer) = network_path(&field.text) {
                    self.connect(&peer, span);
                    streams.others.push((fd, Endpoint::Network(peer)));
                } else {
                    self.write_field(field, Opened { fd, kind: Kind::Append, span }, streams);
                }
            }
            RedirectAction::WriteBoth(word) => {
                self.write_to(word, Opened { fd: 1, kind: Kind::Write, span }, streams);
                streams.outputs.push((2, Sink::Same(1)));
            }
            RedirectAction::AppendBoth(word) => {
                self.write_to(word, Opened { fd: 1, kind: Kind::Append, span }, streams);
                streams.outputs.push((2, Sink::Same(1)));
            }
            RedirectAction::DuplicateIn(word) => self.duplicate(word, number(0), span, streams),
            RedirectAction::DuplicateOut(word) => self.duplicate(word, number(1), span, streams),
            RedirectAction::HereDocument(word) => self.here(word, number(0), "", streams),
            RedirectAction::HereString(word) => self.here(word, number(0), "\n", streams),
        }
    }

    fn here(&mut self, word: &Word, fd: u32, end: &str, streams: &mut Streams) {
        let Value { mut text, tags } = self.single(word);
        text.push_str(end);
        // a file to bash before 5.1 and under its BASH_COMPAT, and to later ones if it fills a pipe
        self.core.found.calls.need(TEMPORARY);
        let data = Data::known(text).tagged(tags);
        if fd == 0 {
            streams.input = Some(data);
        } else {
            streams.others.push((fd, Endpoint::Data(data)));
        }
    }

    /// A redirection's target: one field; several or none are an error for bash.
    fn target_field(&mut self, word: &Word, span: Span) -> Field {
        let mut fields = self.fields(word);
        match (fields.pop(), fields.is_empty()) {
            (Some(field), true) => field,
            (Some(field), false) => Field { text: crate::canonical::value::HOLE.to_string(), span, ..field },
            (None, _) => Field { span, ..Field::default() },
        }
    }

    fn read_from(&mut self, word: &Word, fd: u32, span: Span, streams: &mut Streams) {
        let field = self.target_field(word, span);
        if let Some(peer) = network_path(&field.text) {
            self.connect(&peer, span);
            streams.tags = streams.tags.with(tag::STREAMS_TO_NETWORK);
            streams.input = Some(Data::unknown(TagSet::of(tag::FROM_NETWORK)));
            streams.others.push((fd, Endpoint::Network(peer)));
            return;
        }
        // a terminal is where the commands come from, as if nothing was redirected
        let terminal =
            matches!(field.text.as_str(), "/dev/tty" | "/dev/console") || field.text.starts_with("/dev/pts/");
        if terminal && fd == 0 {
            streams.input = Some(Data::inherited());
            return;
        }
        let data = self.read_path(&field, &Rc::from("<"), span);
        if fd == 0 {
            streams.input = Some(data);
        } else {
            streams.others.push((fd, Endpoint::Data(data)));
        }
    }

    fn write_to(&mut self, word: &Word, opened: Opened, streams: &mut Streams) {
        let field = self.target_field(word, opened.span);
        self.write_field(field, opened, streams);
    }

    fn write_field(&mut self, field: Field, opened: Opened, streams: &mut Streams) {
        let Opened { fd, kind, span } = opened;
        if field.text == "/dev/null" {
            streams.outputs.push((fd, Sink::Null));
            return;
        }
        if let Some(peer) = network_path(&field.text) {
            self.connect(&peer, span);
            streams.tags = streams.tags.with(tag::STREAMS_TO_NETWORK);
            streams.others.push((fd, Endpoint::Network(peer.clone())));
            streams.outputs.push((fd, Sink::Network { peer, span }));
            return;
        }
        if fd > 2 {
            let path = self.resolved(&field);
            streams.others.push((fd, Endpoint::File(path)));
        }
        streams.outputs.push((fd, Sink::File { field, kind, span }));
    }

    fn connect(&mut self, peer: &str, span: Span) {
        let target = self.host_target(&Field::known(peer, span));
        let tags = self.state.ambient;
        self.core.emit(Kind::Connect, target, tags, By::new(&Rc::from("shell"), span));
    }

    fn duplicate(&mut self, word: &Word, fd: u32, span: Span, streams: &mut Streams) {
        let value = self.single(word);
        let text = value.text.trim_end_matches('-');
        let Ok(from) = text.parse::<u32>() else {
            // `>&file` with a word that is no number writes both to the file
            if !text.is_empty() && fd == 1 {
                let field = Field { span, ..Field::from(value) };
                self.write_field(field, Opened { fd: 1, kind: Kind::Write, span }, streams);
                streams.outputs.push((2, Sink::Same(1)));
            }
            return;
        };
        let endpoint = streams
            .others
            .iter()
            .rev()
            .find(|(n, _)| *n == from)
            .map(|(_, e)| e.clone())
            .or_else(|| self.state.descriptors.get(&from).cloned());
        match endpoint {
            Some(Endpoint::Network(peer)) => {
                streams.tags = streams.tags.with(tag::STREAMS_TO_NETWORK);
                if fd == 0 {
                    streams.input = Some(Data::unknown(TagSet::of(tag::FROM_NETWORK)));
                } else {
                    streams.outputs.push((fd, Sink::Network { peer, span }));
                }
            }
            Some(endpoint @ (Endpoint::Data(_) | Endpoint::File(_))) if fd > 2 => {
                streams.others.push((fd, endpoint));
            }
            Some(Endpoint::File(path)) if fd != 0 => {
                let field = Field::known(path, span);
                streams.outputs.push((fd, Sink::File { field, kind: Kind::Append, span }));
            }
            Some(Endpoint::Data(data)) if fd == 0 => streams.input = Some(data),
            // `0<&2`: input comes from where the output goes, a terminal
            None if fd == 0 && matches!(from, 1 | 2) => streams.input = Some(Data::inherited()),
            None if fd != from => streams.outputs.push((fd, Sink::Same(from))),
            Some(Endpoint::File(_) | Endpoint::Data(_) | Endpoint::Closed) | None => {}
        }
    }

    /// Puts streams in place for a compound command.
    pub fn use_streams(&mut self, streams: &Streams) {
        if let Some(input) = &streams.input {
            self.stdin = input.clone();
        }
        if !streams.others.is_empty() {
            let table = Rc::make_mut(&mut self.state.descriptors);
            table.extend(streams.others.iter().cloned());
        }
        self.state.ambient = self.state.ambient.union(streams.tags);
    }

    /// `exec 5>file`: the files are opened, and empty; what the shell prints from here on goes to `exec >file`.
    pub fn open_streams(&mut self, streams: &Streams) -> Outcome {
        let kept = streams.outputs.iter().filter(|(fd, _)| *fd <= 2).cloned().collect();
        for (_, sink) in streams.outputs.iter().filter(|(fd, _)| *fd > 2) {
            if let Sink::File { field, kind, span } = sink {
                self.write_path(field, *kind, &Data::empty(), By::new(&Rc::from(">"), *span));
            }
        }
        let prints = streams.outputs.iter().any(|(fd, _)| *fd == 1);
        let later = if prints { Data::unknown(TagSet::of(tag::FROM_UNKNOWN)) } else { Data::empty() };
        let outcome = Outcome { data: later, ..Outcome::success() };
        self.finish_streams(&Streams { outputs: kept, ..streams.clone() }, outcome)
    }

    /// Gives a reader that waits at this path what is written to it, behind what was written before.
    fn feed(&mut self, path: &str, data: &Data) -> bool {
        let Some(pending) = self.core.pending.iter_mut().rev().find(|p| p.path == path) else { return false };
        match &mut pending.fed {
            Some(fed) => fed.append(data),
            None => pending.fed = Some(data.clone()),
        }
        true
    }

    /// Walks the readers, now that all is written that will be. What was opened and never written to here may be
    /// written by whoever inherits it.
    pub fn flush(&mut self, from: usize) {
        while self.core.pending.len() > from {
            let Some(mut pending) = self.core.pending.pop() else { return };
            let fed = pending.fed.take().filter(|data| data.text.as_deref() != Some(""));
            self.run_reader(pending, fed.unwrap_or_else(|| Data::unknown(TagSet::of(tag::FROM_UNKNOWN))));
        }
    }

    fn run_reader(&mut self, pending: Pending, stdin: Data) {
        let Pending { body, state, .. } = pending;
        let mut walk = Walk { core: self.core, state, stdin, calling: self.calling.clone() };
        match body {
            Reader::Script(script) => drop(walk.script(&script)),
            Reader::Text(text, span) => drop(walk.text(&text, span)),
            Reader::Command(command) => drop(walk.command(&command)),
        }
    }

    /// Writes what was printed to where it goes; what is left is the command's output.
    pub fn finish_streams(&mut self, streams: &Streams, outcome: Outcome) -> Outcome {
        self.state.ambient = self.state.ambient.minus(streams.tags);
        let mut kept = true;
        for (fd, sink) in &streams.outputs {
            let printed = if *fd == 1 { outcome.data.clone() } else { Data::unknown(TagSet::EMPTY) };
            match sink {
                Sink::Null => {}
                // `1>&2`: the output leaves by another way, which is the terminal or a captured stream
                Sink::Same(_) => continue,
                Sink::File { field, kind, span } => {
                    self.write_path(field, *kind, &printed, By::new(&Rc::from(">"), *span));
                }
                Sink::Network { peer, span } => {
                    let target = self.host_target(&Field::known(peer.clone(), *span));
                    let tags = self.state.ambient.union(printed.tags).with(tag::STREAMS_TO_NETWORK);
                    self.core.emit(Kind::Send, target, tags, By::new(&Rc::from("shell"), *span));
                }
            }
            kept &= *fd != 1;
        }
        let data = if kept { outcome.data } else { Data::empty() };
        Outcome { data, status: outcome.status }
    }

    /// Notes and reports that data is written to a path.
    pub fn write_path(&mut self, field: &Field, kind: Kind, data: &Data, by: By<'_>) {
        if !self.core.pending.is_empty() && self.feed(&field.text, data) {
            return;
        }
        let target = self.path_target(field);
        let mut tags = self.state.ambient.union(field.tags).union(data.tags);
        if kind == Kind::Append {
            tags = tags.with(tag::APPEND);
        }
        if data.text.as_deref().is_some_and(plants_setuid) {
            tags = tags.with(tag::PLANTS_SETUID);
        }
        let path = target.resolved.to_string();
        let tags = tags.union(self.path_tags(&target, field, kind));
        self.core.emit(kind, target, tags, by);
        let mut content = data.clone();
        if kind == Kind::Append
            && let Some(old) = self.state.written_at(&path)
        {
            let mut both = old.data.clone();
            both.append(&content);
            content = both;
        }
        self.state.note_written(&path, content, Reach::File);
    }
}

/// Text with a chmod(1) that gives a file its owner's rights: whoever runs the text later does it.
fn plants_setuid(text: &str) -> bool {
    let mut after = false;
    let words = crate::text::prefix(text, 64 * 1024).split([' ', '\t', '\n', ';', '\'', '"', '&', '|', '(']);
    for word in words.filter(|w| !w.is_empty()) {
        if after && !word.starts_with('-') {
            if crate::effects::handlers::mode::mode_tags(word).has(tag::SETUID) {
                return true;
            }
            after = false;
        }
        after |= word.rsplit('/').next() == Some("chmod");
    }
    false
}

#[cfg(test)]
mod tests {
    use super::plants_setuid;

    #[test]
    fn a_planted_chmod_is_seen() {
        for text in ["chmod 4755 /tmp/x", "#!/bin/sh\n/bin/chmod -v u+s sh; id", "a && chmod g+s y"] {
            assert!(plants_setuid(text), "{text}");
        }
        for text in ["chmod 755 x", "chmod +x a s", "echo 4755", "u+s"] {
            assert!(!plants_setuid(text), "{text}");
        }
    }
}
