//! Calls of php that need code.
//!
//! In: the call's arguments. Out: what it gives; acts by the way.
//! Never: knows paths or policy.

use super::acting::opened;
use super::call::Args;
use super::machine::Machine;
use super::value::V;
use crate::code::found::{Origin, Reach, What};
use crate::code::meaning::{Fold, Special};
use crate::code::tree::Id;

impl Machine<'_, '_> {
    pub(crate) fn php_special(&mut self, special: Special, args: &Args, id: Id) -> V {
        match special {
            Special::PhpProcess => self.php_process(args, id),
            Special::PhpCopy => {
                let (from, to) = (args.at(0), args.at(1));
                self.reach(Reach::FILES);
                let what = if is_url(&from) { What::Download } else { What::Copy };
                self.act(what, vec![from, to], id);
                V::open(Origin::Computed)
            }
            Special::PhpPut => {
                let appends =
                    args.items.get(2).is_some_and(|v| matches!(v, V::Ref(n) if **n == *"FILE_APPEND"));
                self.reach(Reach::FILES);
                let path = unbound(args.at(0));
                self.act(
                    if appends { What::Append } else { What::Write },
                    vec![path, unbound(args.at(1))],
                    id,
                );
                V::open(Origin::Computed)
            }
            Special::PhpGet => self.php_get(args, id),
            Special::PhpStream => match args.at(0) {
                V::Object(file) if file.class == "file" => {
                    let path = file.args.first().cloned().unwrap_or(V::Nothing);
                    if let Some(data) = args
                        .items
                        .get(1)
                        .filter(|_| self.callee_is(id, "fwrite") || self.callee_is(id, "fputs"))
                    {
                        self.give(&path, data);
                    }
                    V::from(Origin::File, &path.shown())
                }
                V::Object(socket) if socket.class == "socket" => {
                    if let Some(data) = args
                        .items
                        .get(1)
                        .filter(|_| self.callee_is(id, "fwrite") || self.callee_is(id, "fputs"))
                        .cloned()
                    {
                        self.act(
                            What::Send,
                            vec![socket.args.first().cloned().unwrap_or(V::Nothing), data],
                            id,
                        );
                    }
                    V::open(Origin::Network)
                }
                other => V::Open(other.source()),
            },
            Special::PhpConnect => self.php_connect(args, id),
            Special::PhpSocketConnect => {
                self.reach(Reach::NETWORK);
                self.act(What::Connect, vec![args.at(1), args.at(2)], id);
                V::open(Origin::Computed)
            }
            Special::PhpCurlOption => {
                let (name, value) = (args.at(1), args.at(2));
                match &name {
                    V::Ref(n) if **n == *"CURLOPT_POSTFIELDS" => {
                        self.act(What::Send, vec![args.at(0), value], id);
                    }
                    V::Ref(n) if **n == *"CURLOPT_URL" => self.act(What::Fetch, vec![value], id),
                    _ => {}
                }
                V::Nothing
            }
            Special::PhpSplit => self
                .fold(Fold::Split, None, &Args::of(vec![args.at(1), args.at(0)]))
                .unwrap_or_else(|| V::Open(args.source())),
            Special::PhpChars => self
                .fold(Fold::Split, None, &Args::of(vec![args.at(0), V::text("")]))
                .unwrap_or_else(|| V::Open(args.source())),
            Special::PhpReplace => self.php_replace(args),
            _ => {
                let mut items = Vec::new();
                for (name, value) in &args.named {
                    items.push(V::text(name));
                    items.push(value.clone());
                }
                if items.is_empty() { V::list(args.items.clone()) } else { V::dict(items) }
            }
        }
    }

    /// `proc_open(command, descriptors, …)`: descriptors that are connections tie the streams.
    fn php_process(&mut self, args: &Args, id: Id) -> V {
        self.reach(Reach::PROCESSES);
        let command = args.at(0);
        if args.items.get(1).is_some_and(|v| v.source().origin == Origin::Network) {
            self.act(What::StreamsToNetwork, Vec::new(), id);
        }
        if let V::List(_) = &command {
            self.act(What::Exec, opened(&command), id);
        } else {
            self.shell(command, id);
        }
        V::object("process", vec![V::text(&args.at(0).shown())])
    }

    /// Files and URLs are read with the same functions.
    fn php_get(&mut self, args: &Args, id: Id) -> V {
        let path = unbound(args.at(0));
        let shown = path.shown();
        if self.callee_is(id, "curl_init") && args.items.is_empty() {
            return V::open(Origin::Network);
        }
        if is_url(&path) || self.callee_is(id, "curl_init") {
            self.reach(Reach::NETWORK);
            self.act(What::Fetch, vec![path], id);
            return V::from(Origin::Network, &shown);
        }
        match shown.strip_prefix("php://") {
            Some("input" | "stdin") => return V::open(Origin::Stdin),
            Some(filter) => {
                let Some((_, file)) = filter.split_once("resource=") else { return V::Nothing };
                self.act(What::Read, vec![V::text(file)], id);
                return V::from(Origin::File, file);
            }
            None => {}
        }
        if let Some((_, data)) = shown.strip_prefix("data:").and_then(|d| d.split_once(";base64,")) {
            return self
                .fold(Fold::Base64, None, &Args::of(vec![V::text(data)]))
                .map_or(V::Nothing, |v| super::fold::readable(&v));
        }
        if self.callee_is(id, "fopen") {
            return self.open(None, &Args::of(vec![path, args.at(1)]), id);
        }
        self.reach(Reach::FILES);
        self.act(What::Read, vec![path], id);
        V::from(Origin::File, &shown)
    }

    fn php_connect(&mut self, args: &Args, id: Id) -> V {
        self.reach(Reach::NETWORK);
        let (mut host, mut port) = (args.at(0), args.at(1));
        let address = host.as_text().map(|t| t.split_once("://").map_or(t, |(_, a)| a).to_owned());
        if let Some((name, number)) = address.as_deref().and_then(|a| a.rsplit_once(':')) {
            (host, port) = (V::text(name), V::text(number));
        }
        self.act(
            What::Connect,
            vec![host.clone(), if matches!(port, V::Ref(_)) { V::Nothing } else { port }],
            id,
        );
        V::object("socket", vec![host])
    }

    /// `str_replace(search, replace, subject)`, where search may be a list.
    fn php_replace(&mut self, args: &Args) -> V {
        let mut text = args.at(2);
        let to = opened(&args.at(1));
        for (n, from) in opened(&args.at(0)).iter().enumerate() {
            let with =
                to.get(n).or(to.first().filter(|_| to.len() == 1)).cloned().unwrap_or_else(|| V::text(""));
            let Some(made) =
                self.fold(Fold::Replace, None, &Args::of(vec![text.clone(), from.clone(), with]))
            else {
                return V::Open(args.source());
            };
            text = made;
        }
        text
    }
}

fn is_url(value: &V) -> bool {
    let shown = value.shown();
    ["http://", "https://", "ftp://", "ftps://"].iter().any(|p| shown.starts_with(p))
        || value.source().origin == Origin::Network
}

fn unbound(value: V) -> V {
    match value {
        V::Ref(_) | V::Function(_) | V::Bound(_) => V::open(Origin::Unknown),
        other => other,
    }
}
