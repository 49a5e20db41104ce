//! One POST over HTTP or HTTPS. The only file that names the HTTP and TLS crates.
//!
//! In: an endpoint, a key, a body, a deadline. Out: the bytes of an answer of status 200, or why not.
//! Never: follows a redirect, uses a proxy, keeps a connection, or reads more than its bound.

use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use super::exchange::{Judge, Said};

/// Largest answer, in bytes.
const ANSWER: u64 = 256 << 10;
/// Largest key and largest file of certificates, in bytes.
const KEY: u64 = 8 << 10;
const CERTIFICATES: u64 = 4 << 20;

/// Where systems keep the certificates that they trust.
pub(crate) const SYSTEM: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// How a judge is reached.
pub(super) struct Line<'a> {
    pub(super) judge: &'a Judge,
    pub(super) key: &'a str,
    pub(super) ca_file: &'a str,
    pub(super) until: Instant,
}

/// The TCP port of an endpoint's URL; `None` for what is none.
pub fn port(endpoint: &str) -> Option<u16> {
    let (rest, default) = match endpoint.split_once("://")? {
        ("http", rest) => (rest, 80),
        ("https", rest) => (rest, 443),
        _ => return None,
    };
    let host = rest.split(['/', '?', '#']).next()?;
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    match host.rsplit_once(':') {
        Some((_, port)) if !port.contains(']') => port.parse().ok(),
        Some(_) | None => Some(default),
    }
}

/// The key: of the file, or the one that the adjudicator's own environment has; empty: none is sent.
pub(super) fn key(file: &str, own: Option<&str>) -> Option<String> {
    let text = match (file, own) {
        ("", None) => return Some(String::new()),
        ("", Some(key)) => key.to_owned(),
        (path, _) => String::from_utf8(bounded(path, KEY)?).ok()?,
    };
    let key = text.trim();
    (!key.is_empty() && key.bytes().all(|b| b.is_ascii_graphic())).then(|| key.to_owned())
}

fn bounded(path: &str, limit: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(limit + 1).read_to_end(&mut bytes).ok()?;
    (u64::try_from(bytes.len()).ok()? <= limit).then_some(bytes)
}

/// Sends the body and reads the answer.
pub(super) fn post(line: &Line<'_>, body: &Value) -> Result<Vec<u8>, Said> {
    let left = line.until.saturating_duration_since(Instant::now());
    if left < Duration::from_millis(1) {
        return Err(Said::Timeout);
    }
    let url = format!("{}/chat/completions", line.judge.endpoint.trim_end_matches('/'));
    let tls = if url.starts_with("https://") { Some(tls(line.ca_file)?) } else { None };
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(left))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(None)
        .http_status_as_error(false)
        .max_idle_connections(0)
        .user_agent(concat!("agent-sh/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls.unwrap_or_default())
        .build();
    let mut request = config.new_agent().post(&url).header("Accept", "application/json");
    if !line.key.is_empty() {
        request = request.header("Authorization", format!("Bearer {}", line.key));
    }
    let bytes = body.to_string().into_bytes();
    let mut answer =
        request.content_type("application/json").send(&bytes[..]).map_err(|error| said(&error))?;
    let status = answer.status().as_u16();
    if status != 200 {
        return Err(Said::Status(status));
    }
    let kind = answer.headers().get("content-type").and_then(|value| value.to_str().ok()).unwrap_or("");
    if kind.split(';').next().unwrap_or("").trim() != "application/json" {
        return Err(Said::Malformed);
    }
    answer.body_mut().with_config().limit(ANSWER).read_to_vec().map_err(|error| said(&error))
}

/// Trust in the policy's certificates, or the system's.
fn tls(ca_file: &str) -> Result<TlsConfig, Said> {
    let pem = if ca_file.is_empty() {
        SYSTEM.iter().find_map(|path| bounded(path, CERTIFICATES))
    } else {
        bounded(ca_file, CERTIFICATES)
    };
    let certificate = |item: Result<PemItem<'static>, ureq::Error>| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        Ok(_) | Err(_) => None,
    };
    let trusted: Vec<Certificate<'static>> =
        parse_pem(&pem.ok_or(Said::Tls)?).filter_map(certificate).collect();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = TlsConfig::builder().root_certs(RootCerts::from(trusted));
    Ok(builder.unversioned_rustls_crypto_provider(provider).build())
}

/// An error in our words. The library's list of errors is open.
#[expect(clippy::wildcard_enum_match_arm, reason = "ureq::Error is non-exhaustive")]
fn said(error: &ureq::Error) -> Said {
    match error {
        ureq::Error::Timeout(_) => Said::Timeout,
        ureq::Error::Io(error)
            if error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<rustls::Error>) =>
        {
            Said::Tls
        }
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) | ureq::Error::Pem(_) => Said::Tls,
        ureq::Error::Io(_) | ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => Said::Unreachable,
        ureq::Error::BodyExceedsLimit(_) => Said::TooLong,
        _ => Said::Malformed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_those_of_the_url() {
        for (url, expected) in [
            ("http://127.0.0.1:8000/v1", Some(8000)),
            ("https://api.example.org/v1", Some(443)),
            ("http://[::1]/v1", Some(80)),
            ("http://[::1]:81", Some(81)),
            ("http://a:b@host:82/x:9", Some(82)),
            ("ftp://host", None),
            ("host", None),
            ("http://host:99999", None),
        ] {
            assert_eq!(port(url), expected, "{url}");
        }
    }

    #[test]
    fn keys_are_one_line_of_plain_characters() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        let path = file.to_str().unwrap();
        for (text, expected) in [("abc\n", Some("abc")), ("", None), ("a\nb", None), ("a\u{e9}", None)] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(key(path, Some("other")).as_deref(), expected, "{text}");
        }
        assert_eq!(key("/nonexistent", Some("other")), None);
        assert_eq!((key("", None).as_deref(), key("", Some("k")).as_deref()), (Some(""), Some("k")));
    }
}
