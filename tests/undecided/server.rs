//! A strict server of the chat completions protocol: it holds each request against the published schema, and
//! answers as it is told.
//!
//! In: connections on loopback. Out: answers; what was wrong with requests. Never: repairs a request.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

/// What is done with a connection whose request was read.
pub(crate) type Behaviour = Arc<dyn Fn(&mut TcpStream, &Value) + Send + Sync>;

#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) port: u16,
    behaviour: Arc<Mutex<Behaviour>>,
    /// Bodies, in order.
    pub(crate) asked: Arc<Mutex<Vec<Value>>>,
    /// What was wrong with requests.
    pub(crate) flaws: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            port: listener.local_addr().unwrap().port(),
            behaviour: Arc::new(Mutex::new(says("DENY"))),
            asked: Arc::default(),
            flaws: Arc::default(),
        };
        let serving = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                std::thread::spawn(move || serving.serve(stream));
            }
        });
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    pub(crate) fn set(&self, behaviour: Behaviour) {
        *self.behaviour.lock().unwrap() = behaviour;
    }

    pub(crate) fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    fn serve(&self, mut stream: TcpStream) {
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        match request(&stream) {
            Ok(body) => {
                self.asked.lock().unwrap().push(body.clone());
                let behaviour = self.behaviour.lock().unwrap().clone();
                behaviour(&mut stream, &body);
            }
            Err(flaw) => self.flaws.lock().unwrap().push(flaw),
        }
    }
}

/// Reads one request and says what is wrong with it.
pub(crate) fn request(stream: impl std::io::Read) -> Result<Value, String> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).map_err(|e| e.to_string())?;
    if line != "POST /v1/chat/completions HTTP/1.1\r\n" {
        return Err(format!("request line {line:?}"));
    }
    let mut headers = std::collections::BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).map_err(|e| e.to_string())?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        if headers.insert(name.to_lowercase(), value.to_owned()).is_some() {
            return Err(format!("header {name} is there twice"));
        }
    }
    let header = |name: &str| headers.get(name).map(String::as_str);
    if header("content-type") != Some("application/json") || header("accept") != Some("application/json") {
        return Err(format!("headers {headers:?}"));
    }
    if ["cookie", "referer", "transfer-encoding", "proxy-authorization"]
        .iter()
        .any(|name| header(name).is_some())
    {
        return Err(format!("headers {headers:?}"));
    }
    let length: usize = header("content-length").and_then(|n| n.parse().ok()).ok_or("no length")?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).map_err(|e| e.to_string())?;
    let body: Value = serde_json::from_slice(&body).map_err(|e| e.to_string())?;
    let schema: Value = serde_json::from_str(include_str!("chat-completions.schema.json")).unwrap();
    fits(&body, &schema, "body")?;
    if body["temperature"] != 0 || body["n"] != 1 || body["stream"] != false {
        return Err(format!("temperature, n or stream of {body}"));
    }
    Ok(body)
}

/// The words of JSON Schema that the schema uses.
fn fits(value: &Value, schema: &Value, at: &str) -> Result<(), String> {
    let fails = |what: &str| Err(format!("{at}: {what}: {value}"));
    let is = match schema["type"].as_str() {
        None => true,
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some(other) => panic!("the schema says {other}"),
    };
    if !is || schema["enum"].as_array().is_some_and(|all| !all.contains(value)) {
        return fails("type or value");
    }
    let bound = |key: &str| schema[key].as_f64();
    let size = value.as_f64();
    let length =
        value.as_str().map(|s| s.chars().count()).or(value.as_array().map(Vec::len)).map(|n| n as f64);
    for (measure, low, high) in
        [(size, "minimum", "maximum"), (length, "minLength", "maxLength"), (length, "minItems", "maxItems")]
    {
        let low = bound(low).is_some_and(|low| measure.is_some_and(|m| m < low));
        let high = bound(high).is_some_and(|high| measure.is_some_and(|m| m > high));
        if low || high {
            return fails("size");
        }
    }
    if let Some(object) = value.as_object() {
        for name in schema["required"].as_array().into_iter().flatten() {
            if !object.contains_key(name.as_str().unwrap()) {
                return fails(&format!("{name} is missing"));
            }
        }
        for (name, inner) in object {
            match schema["properties"].get(name) {
                Some(schema) => fits(inner, schema, &format!("{at}.{name}"))?,
                None if schema["additionalProperties"] == false => {
                    return fails(&format!("{name} is unknown"));
                }
                None => {}
            }
        }
    }
    for inner in value.as_array().into_iter().flatten() {
        fits(inner, &schema["items"], &format!("{at}[]"))?;
    }
    Ok(())
}

/// A whole answer as servers give it.
pub(crate) fn completion(content: &str) -> String {
    serde_json::json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": content }, "logprobs": null, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 4, "total_tokens": 104 },
    })
    .to_string()
}

pub(crate) fn http(status: &str, kind: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// Answers with these bytes.
pub(crate) fn bytes(bytes: impl Into<Vec<u8>>) -> Behaviour {
    let bytes = bytes.into();
    Arc::new(move |stream, _| drop(stream.write_all(&bytes)))
}

/// Answers with this body.
pub(crate) fn json(body: &str) -> Behaviour {
    bytes(http("200 OK", "application/json", body.as_bytes()))
}

/// Says this.
pub(crate) fn says(content: &str) -> Behaviour {
    json(&completion(content))
}
