//! Calls that open files: what they do follows from the mode.
//!
//! In: path and mode. Out: acts; an object that stands for the open file.
//! Never: resolves a path.

use super::acting::made_with;
use super::call::Args;
use super::machine::Machine;
use super::value::V;
use crate::code::found::{Act, Origin, Reach, What};
use crate::code::tree::Id;

impl Machine<'_, '_> {
    /// open(path, mode); a path's own open(mode).
    pub(crate) fn open(&mut self, this: Option<&V>, args: &Args, id: Id) -> V {
        self.reach(Reach::FILES);
        let (path, mode) = match this {
            Some(of) => (of.clone(), args.slot(0, "mode")),
            None => (
                args.slot(0, "file").or_else(|| args.option("name")).unwrap_or(V::Nothing),
                args.slot(1, "mode"),
            ),
        };
        let path = match path {
            // a descriptor that is open already
            V::Number(_) => return V::object("file", vec![V::open(Origin::Unknown)]),
            V::Ref(_) | V::Function(_) | V::Bound(_) => V::open(Origin::Unknown),
            other => other,
        };
        let mode = mode.unwrap_or(V::Nothing);
        let letters = mode.as_text().map(|m| m.split(':').next().unwrap_or(m));
        let what = match letters {
            Some(m) if m.contains('a') || m.contains(">>") => What::Append,
            Some(m) if m.contains(['w', 'x', '+', '>']) || m == "c" => What::Write,
            _ => What::Read,
        };
        self.act(what, vec![path.clone()], id);
        let file = V::object("file", vec![path, mode]);
        self.callbacks(args, &file);
        file
    }

    /// awk's files; `/inet/tcp/local/host/port` is a connection.
    pub(crate) fn awk_file(&mut self, what: What, args: &Args, id: Id) -> V {
        let path = match args.at(0) {
            V::Ref(_) | V::Nothing => V::open(Origin::Unknown),
            other => other,
        };
        let shown = path.shown();
        if let Some(address) = shown.strip_prefix("/inet") {
            let mut parts = address.rsplit('/');
            let (port, host) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
            self.reach(Reach::NETWORK);
            self.act(What::Connect, vec![V::text(host), V::text(port)], id);
            return V::from(Origin::Network, host);
        }
        let detail = path.shown();
        let data = args.items.get(1).filter(|_| what == What::Write).cloned();
        self.act(what, std::iter::once(path).chain(data).collect(), id);
        V::from(Origin::File, &detail)
    }

    /// Something is written to a file whose path is known from its opening.
    pub(crate) fn file_write(&mut self, this: Option<&V>, args: &Args, id: Id) -> V {
        let data = args.at(0);
        let path = made_with(this, 0);
        if matches!(this, Some(V::Object(o)) if matches!(o.class, "file")) {
            self.give(&path, &data);
        } else if matches!(this, Some(V::Object(o)) if o.class == "path") {
            self.act(What::Write, vec![path, data], id);
        }
        V::open(Origin::Computed)
    }

    /// The data of a write whose act was noted when the file was opened.
    pub(crate) fn give(&mut self, path: &V, data: &V) {
        let (path, data) = (path.value(), data.value());
        let same =
            |a: &&mut Act| matches!(a.what, What::Write | What::Append) && a.args.first() == Some(&path);
        if let Some(act) = self.state.found.acts.iter_mut().rev().find(same)
            && act.args.len() < 64
            && !act.args.contains(&data)
        {
            act.args.push(data);
        }
    }

    /// perl: open(HANDLE, "mode", path), open(HANDLE, "<path"), open(HANDLE, "command|").
    pub(crate) fn perl_open(&mut self, args: &Args, id: Id) -> V {
        self.reach(Reach::FILES);
        let handle = args.at(0);
        let mode = args.at(1);
        let written = mode.shown();
        let trimmed = written.trim();
        let value = if args.items.len() > 2 && trimmed.contains('|') {
            let argv: Vec<V> = args.items.iter().skip(2).cloned().collect();
            let detail = args.at(2).shown();
            if argv.len() == 1 {
                self.shell(args.at(2), id);
            } else {
                self.act(What::Exec, argv, id);
            }
            V::from(Origin::Command, &detail)
        } else if args.items.len() > 2 {
            let path = args.at(2);
            self.act(mode_of(trimmed), vec![path.clone()], id);
            V::object("file", vec![path])
        } else if trimmed.contains(['|']) {
            let command = self.strip(&mode, '|');
            self.shell(command, id);
            V::from(Origin::Command, trimmed)
        } else if trimmed.starts_with(">&") || trimmed.starts_with("<&") {
            self.dup_handle(&handle, trimmed, id)
        } else {
            let what = mode_of(trimmed);
            let path = self.strip(&mode, if trimmed.starts_with('>') { '>' } else { '<' });
            self.act(what, vec![path.clone()], id);
            V::object("file", vec![path])
        };
        self.bind_handle(&handle, value, args, id);
        V::open(Origin::Computed)
    }

    /// `open(STDIN, ">&S")`: the connection S becomes a standard stream.
    fn dup_handle(&mut self, handle: &V, mode: &str, id: Id) -> V {
        let standard = matches!(handle, V::Ref(n) if matches!(&**n, "STDIN" | "STDOUT" | "STDERR"));
        let other = mode.trim_start_matches(['<', '>', '&', '=']).trim();
        let connected = self.state.found.acts.iter().any(|a| matches!(a.what, What::Connect | What::Listen));
        if standard && connected && !matches!(other, "STDIN" | "STDOUT" | "STDERR" | "1" | "2" | "0") {
            self.act(What::StreamsToNetwork, Vec::new(), id);
        }
        V::open(Origin::Unknown)
    }

    fn bind_handle(&mut self, handle: &V, value: V, args: &Args, id: Id) {
        let _ = (args, id);
        if let V::Ref(name) = handle {
            let key = if name.starts_with('$') { name.to_string() } else { format!("*{name}") };
            self.set(&key, value);
        }
    }

    /// The text without a mode's marks at its ends.
    fn strip(&mut self, text: &V, mark: char) -> V {
        match text {
            V::Text(t, b) => V::built(t.trim().trim_matches([mark, '+', '>', '<']).trim(), *b),
            V::Mixed(pieces, b) => {
                let mut pieces = pieces.to_vec();
                for piece in &mut pieces {
                    if let crate::code::found::Piece::Text(t) = piece {
                        *t = std::rc::Rc::from(t.trim_matches([mark, ' ', '+']));
                    }
                }
                V::pieces(pieces, *b)
            }
            other => other.clone(),
        }
    }

    /// ruby's open and IO.popen.
    pub(crate) fn ruby_open(&mut self, args: &Args, id: Id) -> V {
        let first = args.at(0);
        let shown = first.shown();
        if let Some(command) = shown.strip_prefix('|') {
            self.shell(V::text(command), id);
            return V::from(Origin::Command, command);
        }
        if shown.starts_with("http://") || shown.starts_with("https://") || shown.starts_with("ftp://") {
            self.reach(Reach::NETWORK);
            self.act(What::Fetch, vec![first], id);
            let given = V::from(Origin::Network, &shown);
            self.callbacks(args, &given);
            return given;
        }
        self.open(None, args, id)
    }
}

fn mode_of(mode: &str) -> What {
    if mode.starts_with(">>") || mode.starts_with("+>>") {
        What::Append
    } else if mode.starts_with('>') || mode.starts_with('+') {
        What::Write
    } else {
        What::Read
    }
}
