//! socat(1): addresses such as `TCP:host:port`, `EXEC:command`, `FILE:path` say what the two ends are.
//!
//! In: the argument vector. Out: connections, listeners, files, and the programs that are tied to them.
//! Never: takes a program that talks to the network for one that does not.

use std::rc::Rc;

use crate::act::{Kind, TagSet, tag};
use crate::canonical::value::{Data, Field};
use crate::effects::arguments::parse;
use crate::effects::call::Call;
use crate::effects::core::By;
use crate::effects::fields::made;
use crate::effects::walk::{Outcome, Walk};
use crate::policy::tables::Command;

/// What one address is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum End {
    Program(String),
    Connect(String),
    Listen(String),
    File(String),
    Socket(String),
    /// tunnel devices
    Interface,
    /// standard streams, descriptors, terminals
    Own,
}

/// Reads one address; options after commas don't matter, except where a listener is bound.
fn read(text: &str) -> End {
    let (head, options) = text.split_once(',').unwrap_or((text, ""));
    let (name, rest) = head.split_once(':').unwrap_or((head, ""));
    let name = name.to_ascii_uppercase();
    let bound = options
        .split(',')
        .any(|o| o.starts_with("bind=127.") || o.starts_with("bind=localhost") || o == "bind=[::1]");
    match name.as_str() {
        "EXEC" | "SYSTEM" | "SHELL" => End::Program(rest.to_owned()),
        _ if name.starts_with("UNIX")
            || name.starts_with("ABSTRACT")
            || name == "GOPEN" && rest.rsplit('.').next() == Some("sock") =>
        {
            End::Socket(rest.to_owned())
        }
        "FILE" | "OPEN" | "GOPEN" | "CREATE" | "CREAT" | "PIPE" | "FIFO" if !rest.is_empty() => {
            End::File(rest.to_owned())
        }
        "TUN" | "INTERFACE" | "IF" => End::Interface,
        "PROXY" | "PROXY-CONNECT" | "SOCKS4" | "SOCKS4A" | "SOCKS5" | "SOCKS" => {
            End::Connect(rest.to_owned())
        }
        _ if name.ends_with("-LISTEN")
            || name.ends_with("-L")
            || name.ends_with("-RECV")
            || name.ends_with("-RECVFROM") =>
        {
            End::Listen(format!("{}:{rest}", if bound { "127.0.0.1" } else { "0.0.0.0" }))
        }
        _ if ["TCP", "UDP", "OPENSSL", "SSL", "SCTP", "DCCP", "IP", "VSOCK", "UDPLITE"]
            .iter()
            .any(|p| name.starts_with(p)) =>
        {
            End::Connect(rest.to_owned())
        }
        _ if text.starts_with(['/', '~', '.']) => End::File(head.to_owned()),
        _ => End::Own,
    }
}

impl Walk<'_, '_> {
    /// socat: both addresses, tied to each other.
    pub fn socat(&mut self, spec: &'static Command, call: &Call<'_>, program: &Rc<str>) -> Outcome {
        let parsed = parse(spec, call.arguments());
        let ends: Vec<(End, Field)> = parsed
            .operands
            .iter()
            .take(2)
            .flat_map(|f| f.text.split("!!").map(|t| (read(t), f.clone())).collect::<Vec<_>>())
            .collect();
        let networked = ends.iter().any(|(e, _)| matches!(e, End::Connect(_) | End::Listen(_)));
        let runs = ends.iter().any(|(e, _)| matches!(e, End::Program(_)));
        let mut from = TagSet::EMPTY;
        for (i, (end, field)) in ends.iter().enumerate() {
            from = from.union(self.socat_source((i, end), field, program));
        }
        if ends.iter().any(|(e, _)| *e == End::Own)
            && call.stdin.origin == crate::canonical::value::Origin::Inside
        {
            from = from.union(call.stdin.tags);
        }
        for (end, field) in &ends {
            let named = |text: &str| made(text, field);
            let mut tags = self.state.ambient.union(parsed.tags).union(field.tags);
            if runs {
                tags = tags.with(tag::RUNS_PROGRAM);
            }
            match end {
                End::Connect(peer) => {
                    let target = self.host_target(&named(peer));
                    self.core.emit(Kind::Connect, target.clone(), tags, By::new(program, field.span));
                    if !from.is_empty() {
                        self.core.emit(Kind::Send, target, tags.union(from), By::new(program, field.span));
                    }
                }
                End::Listen(place) => {
                    let target = self.named_target(Kind::Listen, &named(place));
                    self.core.emit(Kind::Listen, target, tags, By::new(program, field.span));
                }
                End::Program(text) => {
                    let mut child = self.fork();
                    if networked {
                        child.state.ambient = child.state.ambient.with(tag::STREAMS_TO_NETWORK);
                    }
                    child.opaque_or_text(&named(text), program);
                }
                End::File(_) | End::Socket(_) | End::Interface | End::Own => {}
            }
        }
        let tags = if networked { TagSet::of(tag::FROM_NETWORK) } else { from };
        Outcome::prints(Data::unknown(tags))
    }

    /// Files and local sockets: the first address is read, the second written.
    fn socat_source(&mut self, (i, end): (usize, &End), field: &Field, program: &Rc<str>) -> TagSet {
        let named = |text: &str| made(text, field);
        match end {
            End::File(path) if i == 0 => self.read_path(&named(path), program, field.span).tags,
            End::File(path) => {
                let data = Data::unknown(TagSet::of(tag::FROM_UNKNOWN));
                self.write_path(&named(path), Kind::Write, &data, By::new(program, field.span));
                TagSet::EMPTY
            }
            // a control socket is as good as what it controls
            End::Socket(path) => self.read_path(&named(path), program, field.span).tags,
            End::Interface => {
                let target = self.named_target(Kind::Kernel, field);
                self.core.emit(Kind::Kernel, target, self.state.ambient, By::new(program, field.span));
                TagSet::EMPTY
            }
            End::Program(_) | End::Connect(_) | End::Listen(_) | End::Own => TagSet::EMPTY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_socat_reads_them() {
        assert_eq!(read("exec:/bin/bash,pty,stderr"), End::Program("/bin/bash".into()));
        assert_eq!(read("TCP4:h:1"), End::Connect("h:1".into()));
        assert_eq!(read("openssl-listen:443,bind=127.0.0.1,fork"), End::Listen("127.0.0.1:443".into()));
        assert_eq!(read("TCP-L:80"), End::Listen("0.0.0.0:80".into()));
        assert_eq!(read("/etc/passwd"), End::File("/etc/passwd".into()));
        assert_eq!(read("-"), End::Own);
        assert_eq!(read("UNIX-CONNECT:/run/x.sock"), End::Socket("/run/x.sock".into()));
    }
}
