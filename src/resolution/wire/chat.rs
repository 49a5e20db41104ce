//! The chat completions protocol: one request's body, and what of an answer counts.
//!
//! In: evidence; a server's bytes. Out: a body; ALLOW, DENY, or why it is neither.
//! Never: finds a verdict in a text that holds more than one.

use serde::Deserialize;
use serde_json::{Value, json};

use super::exchange::Said;
use super::prompt;

/// How the answer is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// an object that a JSON schema describes, as the protocol's publisher has it
    Schema,
    /// the same as llama.cpp's servers have it
    Object,
    /// one word
    Word,
}

/// Tokens that an answer may have: an object with one word in it takes about ten.
const TOKENS: u32 = 32;

/// The request's body. Temperature 0, one answer, not in pieces.
pub fn body(model: &str, evidence: &Value, form: Form) -> Value {
    let mut body = json!({
        "model": model,
        "messages": [
            { "role": "system", "content": prompt::system(form) },
            { "role": "user", "content": prompt::user(evidence, form) },
        ],
        "temperature": 0,
        "max_tokens": TOKENS,
        "n": 1,
        "stream": false,
    });
    if let (Form::Schema | Form::Object, Some(body)) = (form, body.as_object_mut()) {
        let schema = json!({
            "type": "object",
            "properties": { "verdict": { "type": "string", "enum": ["ALLOW", "DENY"] } },
            "required": ["verdict"],
            "additionalProperties": false,
        });
        let format = match form {
            Form::Object => json!({ "type": "json_object", "schema": schema }),
            Form::Schema | Form::Word => json!({
                "type": "json_schema",
                "json_schema": { "name": "verdict", "strict": true, "schema": schema },
            }),
        };
        body.insert("response_format".to_owned(), format);
    }
    body
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
    usage: Option<Usage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    content: Option<String>,
    refusal: Option<Value>,
    tool_calls: Option<Value>,
    function_call: Option<Value>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

/// What a server's answer says, and its tokens in and out. Fields that are there twice make it malformed.
pub fn read(bytes: &[u8]) -> (Said, (u64, u64)) {
    let parsed = serde_json::from_slice::<Completion>(bytes).ok().filter(|_| has_objects(bytes));
    let Some(completion) = parsed else { return (Said::Malformed, (0, 0)) };
    let tokens = completion.usage.map_or((0, 0), |usage| (usage.prompt_tokens, usage.completion_tokens));
    let is_there = |value: &Option<Value>| value.as_ref().is_some_and(|value| !value.is_null());
    let is_empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
    if is_there(&completion.error) {
        return (Said::Malformed, tokens);
    }
    let said = match completion.choices.as_slice() {
        [choice] => {
            let message = &choice.message;
            let calls = [&message.tool_calls, &message.function_call];
            match choice.finish_reason.as_deref() {
                Some("length") => Said::CutOff,
                Some("content_filter") => Said::Refusal,
                Some("stop") if is_there(&message.refusal) => Said::Refusal,
                Some("stop") if message.role != "assistant" => Said::Malformed,
                Some("stop") if calls.into_iter().flatten().any(|v| !v.is_null() && !is_empty(v)) => {
                    Said::Malformed
                }
                Some("stop") => message.content.as_deref().map_or(Said::Empty, verdict),
                Some(_) | None => Said::Malformed,
            }
        }
        [] => Said::Empty,
        _ => Said::TwoVerdicts,
    };
    (said, tokens)
}

/// Whether answer, choices and messages are objects: serde takes an array for an object of the same fields.
fn has_objects(bytes: &[u8]) -> bool {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else { return false };
    let choices = value.get("choices").and_then(Value::as_array);
    let is_object = |choice: &Value| choice.get("message").is_some_and(Value::is_object);
    value.is_object() && choices.is_some_and(|choices| choices.iter().all(is_object))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Object {
    verdict: String,
}

/// The verdict that a model's text is. White space around it does not count; anything else does.
pub fn verdict(text: &str) -> Said {
    let text = text.trim_matches([' ', '\n', '\r', '\t']);
    // serde takes an array for an object of the same fields
    let object = text.strip_prefix('{').and_then(|_| serde_json::from_str::<Object>(text).ok());
    let word = object.map_or_else(|| text.to_owned(), |object| object.verdict);
    match word.as_str() {
        "" => Said::Empty,
        "ALLOW" => Said::Allow,
        "DENY" => Said::Deny,
        other => what_else(other),
    }
}

/// Why a text is no verdict.
fn what_else(text: &str) -> Said {
    let text = text.to_lowercase();
    match (text.contains("allow"), text.contains("deny")) {
        (true, true) => Said::TwoVerdicts,
        (true, false) | (false, true) => Said::ExtraText,
        (false, false) => {
            let declines = ["i can't", "i cannot", "i can\u{2019}t", "i'm sorry", "i am sorry", "unable to"];
            if declines.iter().any(|words| text.contains(words)) { Said::Refusal } else { Said::Doubt }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_bare_word_or_object_is_a_verdict() {
        for (text, said) in [
            ("ALLOW", Said::Allow),
            (" DENY\n", Said::Deny),
            ("{\"verdict\": \"ALLOW\"}", Said::Allow),
            ("{ \"verdict\" : \"DENY\" }\n", Said::Deny),
            ("", Said::Empty),
            ("{\"verdict\":\"\"}", Said::Empty),
            ("allow", Said::ExtraText),
            ("ALLOW.", Said::ExtraText),
            ("\u{a0}ALLOW", Said::ExtraText),
            ("ALLOW\0", Said::ExtraText),
            ("**ALLOW**", Said::ExtraText),
            ("ALLOW ALLOW", Said::ExtraText),
            ("Verdict: ALLOW", Said::ExtraText),
            ("```json\n{\"verdict\":\"ALLOW\"}\n```", Said::ExtraText),
            ("<think>fine</think>ALLOW", Said::ExtraText),
            ("ALLOW or DENY", Said::TwoVerdicts),
            ("DENY\nALLOW", Said::TwoVerdicts),
            ("{\"verdict\":\"ALLOW\",\"verdict\":\"DENY\"}", Said::TwoVerdicts),
            ("{\"verdict\":\"ALLOW\",\"verdict\":\"ALLOW\"}", Said::ExtraText),
            ("{\"verdict\":\"ALLOW\"}{\"verdict\":\"DENY\"}", Said::TwoVerdicts),
            ("{\"verdict\":\"ALLOW\",\"sure\":false}", Said::ExtraText),
            ("{\"verdict\":[\"ALLOW\"]}", Said::ExtraText),
            ("{\"verdict\":\"UNSURE\"}", Said::Doubt),
            ("[\"ALLOW\"]", Said::ExtraText),
            ("\"ALLOW\"", Said::ExtraText),
            ("NOT ALLOWED", Said::ExtraText),
            ("I'm sorry, but I can't help", Said::Refusal),
            ("maybe", Said::Doubt),
            ("АLLOW", Said::Doubt),
        ] {
            assert_eq!(verdict(text), said, "{text}");
        }
    }

    #[test]
    fn an_answer_must_be_whole_and_one() {
        let whole = r#"{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"ALLOW"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":1}}"#;
        let choice = r#"{"message":{"role":"assistant","content":"ALLOW"},"finish_reason":"stop"}"#;
        assert_eq!(read(whole.as_bytes()), (Said::Allow, (5, 1)));
        for (from, to, said) in [
            ("\"stop\"", "\"length\"", Said::CutOff),
            ("\"stop\"", "\"content_filter\"", Said::Refusal),
            ("\"stop\"", "\"tool_calls\"", Said::Malformed),
            ("\"stop\"", "null", Said::Malformed),
            ("assistant", "user", Said::Malformed),
            (
                "{\"role\":\"assistant\",\"content\":\"ALLOW\"}",
                "[\"assistant\",\"ALLOW\",null,null,null]",
                Said::Malformed,
            ),
            ("\"ALLOW\"", "null", Said::Empty),
            ("\"ALLOW\"", "[{\"type\":\"text\",\"text\":\"ALLOW\"}]", Said::Malformed),
            ("\"ALLOW\"", "\"ALLOW\",\"refusal\":\"no\"", Said::Refusal),
            ("\"ALLOW\"", "\"ALLOW\",\"refusal\":null,\"tool_calls\":[]", Said::Allow),
            ("\"ALLOW\"", "\"ALLOW\",\"tool_calls\":[{}]", Said::Malformed),
            ("\"ALLOW\"", "\"ALLOW\",\"content\":\"DENY\"", Said::Malformed),
            ("\"choices\":[", &format!("\"choices\":[{choice},"), Said::TwoVerdicts),
            ("\"id\":\"x\"", "\"error\":{\"code\":1}", Said::Malformed),
        ] {
            assert_eq!(read(whole.replacen(from, to, 1).as_bytes()).0, said, "{to}");
        }
        assert_eq!(read(b"{\"choices\":[]}").0, Said::Empty);
        assert_eq!(read(b"").0, Said::Malformed);
    }
}
