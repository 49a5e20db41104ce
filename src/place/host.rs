//! Hosts and URLs: what a network peer is.
//!
//! In: a URL, `host:port`, `user@host:path` or address as written. Out: [`Peer`] and its classes.
//! Never: connects or asks a name server; takes a name that it can't read for a harmless one.

use std::net::IpAddr;

use super::address;
use super::index::Index;
use super::pattern;
use super::resolve::UNKNOWN;
use crate::act::{Class, ClassSet};
use crate::policy::catalogue::Peer as Pattern;
use crate::policy::sought::Marks;

/// What a peer's text names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peer {
    Host(Endpoint),
    /// `file:` and `unix:` URLs: a path on this machine
    Path(String),
    /// empty, or the host is not known
    Unknown,
}

/// A host and where on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// Lower case; empty where none is written.
    pub scheme: String,
    /// Before the `@`; empty where none is written.
    pub user: String,
    /// Lower case, without a final dot or brackets; may hold `…`.
    pub host: String,
    pub port: Option<u16>,
    /// Without query; empty or begins with a slash (for `host:path` as written).
    pub path: String,
    /// The address, where the host is no name.
    pub address: Option<IpAddr>,
}

/// Reads a peer.
pub fn read(text: &str) -> Peer {
    let text = text.trim();
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) if is_scheme(scheme) => (scheme.to_ascii_lowercase(), rest),
        Some(_) | None => match local_path(text) {
            Some(path) => return Peer::Path(path),
            None => (String::new(), text.strip_prefix("//").unwrap_or(text)),
        },
    };
    if matches!(scheme.as_str(), "file" | "unix" | "npipe") {
        let path = rest.strip_prefix("localhost").unwrap_or(rest);
        return Peer::Path(decode(path.split(['?', '#']).next().unwrap_or(path)));
    }
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let path = path.split(['?', '#']).next().unwrap_or("");
    let (user, place) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (host, port, more) = host_and_port(place);
    let host = decode(host).to_lowercase();
    let host = host.trim_end_matches('.').trim_matches(['[', ']']).to_owned();
    if host.is_empty() || host.chars().all(|c| c == UNKNOWN) {
        return Peer::Unknown;
    }
    let address = address::read(&host);
    let path = if more.is_empty() { path.to_owned() } else { format!("{more}{path}") };
    Peer::Host(Endpoint { scheme, user: user.to_owned(), host, port, path, address })
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// `file:/x`, `unix:/x`: one slash is enough.
fn local_path(text: &str) -> Option<String> {
    let rest = text.strip_prefix("file:").or_else(|| text.strip_prefix("unix:"))?;
    Some(decode(rest))
}

/// Host, port, and what follows the colon if it is no port (`host:path` of scp and git).
fn host_and_port(place: &str) -> (&str, Option<u16>, &str) {
    if let Some(inner) = place.strip_prefix('[') {
        let (host, rest) = inner.split_once(']').unwrap_or((inner, ""));
        return (host, rest.strip_prefix(':').and_then(|port| port.parse().ok()), "");
    }
    // more than one colon: an IPv6 address without brackets, or `host:path:with:colons`
    if place.matches(':').count() > 1 && address::read(place).is_some() {
        return (place, None, "");
    }
    match place.split_once(':') {
        Some((host, port)) if port.is_empty() || port.bytes().all(|b| b.is_ascii_digit()) => {
            (host, port.parse().ok(), "")
        }
        Some((host, path)) => (host, None, path),
        None => (place, None, ""),
    }
}

/// Percent-encoding removed, as curl does with hosts.
fn decode(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        let (byte, next) = match (first, more) {
            (b'%', [high, low, after @ ..]) => match (hex(*high), hex(*low)) {
                (Some(high), Some(low)) => (high * 16 + low, after),
                _ => (b'%', more),
            },
            (byte, _) => (*byte, more),
        };
        out.push(byte);
        rest = next;
    }
    crate::text::judged(&out).into_owned()
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// A peer as a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// The host, a local path, or the text where neither is known.
    pub name: String,
    pub classes: ClassSet,
    pub peer: Peer,
}

/// Reads a peer and classifies it.
pub fn look(text: &str, index: &Index) -> Host {
    let peer = read(text);
    let name = match &peer {
        Peer::Host(endpoint) => endpoint.host.clone(),
        Peer::Path(path) => path.clone(),
        Peer::Unknown => text.to_owned(),
    };
    Host { name, classes: classify(&peer, index), peer }
}

/// Classes of a peer. A host is at least one of loopback, private-net, metadata, internet, unknown.
pub fn classify(peer: &Peer, index: &Index) -> ClassSet {
    match peer {
        Peer::Host(endpoint) => classify_endpoint(endpoint, index),
        Peer::Path(_) => ClassSet::EMPTY,
        Peer::Unknown => ClassSet::of(Class::Unknown),
    }
}

fn classify_endpoint(endpoint: &Endpoint, index: &Index) -> ClassSet {
    let host = endpoint.host.as_str();
    let mut found = ClassSet::EMPTY;
    let marks = Marks::of(host);
    for places in index.catalogues() {
        let mut of_layer = ClassSet::EMPTY;
        for peer in places.hosts.iter().filter(|peer| marks.has_all(peer.needs)) {
            let except = |other: &Pattern| {
                other.place == peer.place && marks.has_all(other.needs) && matches(other, endpoint)
            };
            if !of_layer.has(peer.class) && matches(peer, endpoint) && !places.host_excepts.iter().any(except)
            {
                of_layer = of_layer.with(peer.class);
            }
        }
        found = found.union(of_layer);
    }
    if host.contains(UNKNOWN) {
        found = found.with(Class::Unknown);
    }
    if let Some(address) = endpoint.address {
        return found.with(address::class(address));
    }
    if let Some(address) = address::embedded(host) {
        // the service's owner learns of it too, so it is both
        return found.with(address::class(address)).with(Class::Internet);
    }
    if found.has_any(ClassSet::of(Class::Metadata).with(Class::Loopback).with(Class::PrivateNet)) {
        return found;
    }
    found.with(if is_private_name(endpoint) { Class::PrivateNet } else { Class::Internet })
}

/// Whether a `host:` pattern names the endpoint: `host:name`, `host:**.name` (the name itself and all below
/// it), either with `/path` patterns behind.
fn matches(pattern: &Pattern, endpoint: &Endpoint) -> bool {
    let host = endpoint.host.as_str();
    let fits = match pattern.name.strip_prefix("**.") {
        Some(domain) => {
            host.strip_suffix(domain).is_some_and(|front| front.is_empty() || front.ends_with(['.', UNKNOWN]))
        }
        None => pattern::component(pattern.name, host),
    };
    fits && pattern.path.is_none_or(|path| pattern::path(path, endpoint.path.trim_start_matches('/')))
}

/// Names that no public server answers: single labels, and top levels that are kept for private use.
fn is_private_name(endpoint: &Endpoint) -> bool {
    // buckets are named like hosts
    if matches!(
        endpoint.scheme.as_str(),
        "s3" | "gs" | "az" | "abfs" | "abfss" | "wasbs" | "oss" | "b2" | "r2" | "ipfs"
    ) {
        return false;
    }
    let host = endpoint.host.as_str();
    let top = host.rsplit('.').next().unwrap_or(host);
    let private = [
        "local",
        "localhost",
        "localdomain",
        "internal",
        "intranet",
        "lan",
        "home",
        "corp",
        "private",
        "test",
        "arpa",
        "svc",
        "consul",
        "docker",
        "onprem",
    ];
    (!host.contains('.') && !host.contains(UNKNOWN)) || private.contains(&top)
}

#[cfg(test)]
mod tests {
    use super::super::tree::places;
    use super::*;

    #[test]
    fn peers_are_read_as_programs_read_them() {
        let cases = [
            ("https://Example.COM./a/b?c#d", "https", "", "example.com", None, "/a/b"),
            ("http://localhost@evil.org:81/", "http", "localhost", "evil.org", Some(81), "/"),
            ("http://a@b@c/", "http", "a@b", "c", None, "/"),
            ("host:8080", "", "", "host", Some(8080), ""),
            ("git@github.com:a/b.git", "", "git", "github.com", None, "a/b.git"),
            ("host:~/dir:x", "", "", "host", None, "~/dir:x"),
            ("http://[::1]:9/x", "http", "", "::1", Some(9), "/x"),
            ("::1", "", "", "::1", None, ""),
            ("http://%31%32%37.0.0.1/", "http", "", "127.0.0.1", None, "/"),
            ("example.com/path", "", "", "example.com", None, "/path"),
            ("http://evil.org\\@good.org/", "http", "", "evil.org", None, "\\@good.org/"),
        ];
        for (text, scheme, user, host, port, path) in cases {
            let Peer::Host(found) = read(text) else { panic!("{text}") };
            let parts = (&*found.scheme, &*found.user, &*found.host, found.port, &*found.path);
            assert_eq!(parts, (scheme, user, host, port, path), "{text}");
        }
        assert_eq!(read("file:///etc/pass%77d"), Peer::Path("/etc/passwd".to_owned()));
        assert_eq!(read("unix:/run/x.sock"), Peer::Path("/run/x.sock".to_owned()));
        for text in ["", "…", "…/x", "https://…/x", "http:///x"] {
            assert_eq!(read(text), Peer::Unknown, "{text}");
        }
    }

    #[test]
    fn hosts_have_their_classes() {
        let index = Index::new([places(include_str!("../../policy/hosts.toml"))]);
        let cases = [
            ("http://localhost:3000/", "loopback"),
            ("app.localhost", "loopback"),
            ("0x7f.1", "loopback"),
            ("http://169.254.169.254/latest/meta-data/", "metadata"),
            ("http://metadata.google.internal/", "metadata"),
            ("db:5432", "private-net"),
            ("printer.local", "private-net"),
            ("192.168.1.4", "private-net"),
            ("host.docker.internal", "private-net"),
            ("https://example.com", "internet"),
            ("https://x.ngrok-free.app/a", "internet drop-site"),
            ("https://webhook.site/abc", "internet drop-site"),
            ("https://….oast.fun/x", "internet drop-site unknown"),
            ("https://discord.com/api/webhooks/1/x", "internet drop-site"),
            ("https://discord.com/channels", "internet"),
            ("git@github.com:a/b", "internet known-host"),
            ("https://notgithub.com/", "internet"),
            ("https://gist.githubusercontent.com/x", "internet"),
            ("s3://bucket/x", "internet"),
        ];
        for (text, expected) in cases {
            let mut found: Vec<&str> = classify(&read(text), &index).iter().map(Class::name).collect();
            let mut wanted: Vec<&str> = expected.split(' ').collect();
            found.sort_unstable();
            wanted.sort_unstable();
            assert_eq!(found, wanted, "{text}");
        }
    }
}
