//! Every way in which a server may answer wrongly that we could think of.
//!
//! In: nothing. Out: behaviours, and what the record must say of each. Never: an answer that is fine.

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use super::server::{Behaviour, bytes, completion, http, json, says};

/// Writes a piece again and again until the other side is tired of it.
fn endless(head: &'static [u8], piece: Vec<u8>, pause: u64) -> Behaviour {
    Arc::new(move |stream: &mut TcpStream, _| {
        drop(stream.write_all(head));
        for _ in 0..200_000 {
            if stream.write_all(&piece).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(pause));
        }
    })
}

fn silent() -> Behaviour {
    Arc::new(|stream: &mut TcpStream, _| {
        let mut byte = [0];
        stream.set_read_timeout(Some(Duration::from_secs(8))).unwrap();
        drop(std::io::Read::read(stream, &mut byte));
    })
}

fn with(from: &str, to: &str) -> Behaviour {
    let whole = completion("ALLOW");
    assert!(whole.contains(from), "{whole}");
    json(&whole.replacen(from, to, 1))
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

/// Name, behaviour, what the record says. `elsewhere` is a server that would say ALLOW.
pub(crate) fn all(elsewhere: &str) -> Vec<(&'static str, Behaviour, &'static str)> {
    let allow = completion("ALLOW");
    let fine = allow.as_bytes();
    let moved = |status: &str| {
        let head = format!(
            "HTTP/1.1 {status}\r\nLocation: {elsewhere}/chat/completions\r\nContent-Length: 0\r\n\r\n"
        );
        bytes(head.into_bytes())
    };
    let choice = r#"{"index":1,"message":{"role":"assistant","content":"DENY"},"finish_reason":"stop"}"#;
    let status = |line: &str| bytes(http(line, "application/json", fine));
    vec![
        ("closes at once", Arc::new(|_: &mut TcpStream, _: &serde_json::Value| {}), ""),
        ("is silent", silent(), "timeout"),
        ("drips a status line", endless(b"", b"H".to_vec(), 50), ""),
        ("drips headers", endless(b"HTTP/1.1 200 OK\r\n", b"a: b\r\n".to_vec(), 50), ""),
        ("drips a body", endless(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n", b" ".to_vec(), 50), "timeout"),
        ("has endless headers", endless(b"HTTP/1.1 200 OK\r\n", b"a: b\r\n".repeat(1000), 0), ""),
        ("has one endless header", endless(b"HTTP/1.1 200 OK\r\na: ", vec![b'a'; 9999], 0), ""),
        ("has an endless body", endless(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", vec![b' '; 9999], 0), "too long"),
        ("has an endless chunk", endless(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nffffff\r\n", vec![b' '; 9999], 0), "too long"),
        ("status 500", status("500 Internal Server Error"), "status 500"),
        ("status 404", status("404 Not Found"), "status 404"),
        ("status 401", status("401 Unauthorized"), "status 401"),
        ("status 429", status("429 Too Many Requests"), "status 429"),
        ("status 201", status("201 Created"), "status 201"),
        ("status 204", bytes(*b"HTTP/1.1 204 No Content\r\n\r\n"), "status 204"),
        ("status 400 twice", status("400 Bad Request"), "status 400"),
        ("moved for good", moved("301 Moved Permanently"), "status 301"),
        ("moved for now", moved("307 Temporary Redirect"), "status 307"),
        ("no body", json(""), "malformed"),
        ("HTML", bytes(http("200 OK", "text/html", fine)), "malformed"),
        ("a stream of events", bytes(http("200 OK", "text/event-stream", b"data: {}\n\n")), "malformed"),
        ("no type", bytes([b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{} ".to_vec()].concat()), "malformed"),
        ("less than it says", bytes([OK, b"Content-Length: 99999\r\n\r\n", fine].concat()), ""),
        ("a broken chunk", bytes([OK, b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", fine].concat()), ""),
        ("compressed", bytes([OK, b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\0"].concat()), "malformed"),
        ("no HTTP", bytes(fine.to_vec()), ""),
        ("noise", bytes((0..=255).cycle().take(5000).collect::<Vec<u8>>()), ""),
        ("no JSON", json("ALLOW"), "malformed"),
        ("an array", json(&format!("[{allow}]")), "malformed"),
        ("two answers", json(&format!("{allow}{allow}")), "malformed"),
        ("no UTF-8", bytes(http("200 OK", "application/json", &[fine, b"\xff"].concat())), "malformed"),
        ("no choices", with("\"choices\":[", "\"choices\":[],\"x\":["), "empty"),
        ("two choices", with("\"choices\":[", &format!("\"choices\":[{choice},")), "two verdicts"),
        ("cut off", with("\"stop\"", "\"length\""), "cut off"),
        ("filtered", with("\"stop\"", "\"content_filter\""), "refusal"),
        ("unfinished", with("\"stop\"", "null"), "malformed"),
        ("refused", with("\"content\":\"ALLOW\"", "\"content\":\"ALLOW\",\"refusal\":\"I won't\""), "refusal"),
        ("a tool's call", with("\"content\":\"ALLOW\"", "\"content\":\"ALLOW\",\"tool_calls\":[{\"id\":\"1\"}]"), "malformed"),
        ("no content", with("\"ALLOW\"", "null"), "empty"),
        ("another's role", with("assistant", "user"), "malformed"),
        ("an error beside it", with("\"id\":", "\"error\":{\"message\":\"x\"},\"id\":"), "malformed"),
        ("content twice", with("\"content\":\"ALLOW\"", "\"content\":\"DENY\",\"content\":\"ALLOW\""), "malformed"),
        ("extra text", says("ALLOW, since it is harmless"), "extra text"),
        ("a fence", says("```\nALLOW\n```"), "extra text"),
        ("thoughts", says("<think>It is fine.</think>\nALLOW"), "extra text"),
        ("small letters", says("allow"), "extra text"),
        ("two verdicts", says("ALLOW\nDENY"), "two verdicts"),
        ("an object with two", says("{\"verdict\":\"DENY\",\"verdict\":\"ALLOW\"}"), "two verdicts"),
        ("an object with more", says("{\"verdict\":\"ALLOW\",\"note\":\"\"}"), "extra text"),
        ("letters that look like it", says("АLLОW"), "doubt"),
        ("doubt", says("{\"verdict\":\"UNSURE\"}"), "doubt"),
        ("nothing", says("  \n"), "empty"),
        ("a clear no", says("{\"verdict\":\"DENY\"}"), "said deny"),
    ]
}
