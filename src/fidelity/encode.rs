//! What senders do to a text before they hand it on: the right ways, and the wrong ones that are met.
//!
//! In: one text. Out: one text. Never: repairs what a wrong way breaks.

use std::fmt::Write as _;

use crate::fidelity::step::{Known, StepError, Takes, utf8};

type Result<T> = std::result::Result<T, StepError>;

macro_rules! plain {
    ($name:literal, $about:literal, $change:expr) => {
        Known { name: $name, takes: Takes::Nothing, about: $about, run: |cargo, _| cargo.map($change) }
    };
}

pub const STEPS: &[Known] = &[
    plain!("sq", "single-quoted for a shell", |text| Ok(sq(&text))),
    plain!("sq-naive", "put between single quotes as it is", |text| Ok(between(b"'", &text, b"'"))),
    plain!("dq", "double-quoted for a shell, all four characters escaped", |text| {
        Ok(between(b"\"", &escaped(&text, b"\\\"$`"), b"\""))
    }),
    plain!("dq-naive", "put between double quotes as it is", |text| Ok(between(b"\"", &text, b"\""))),
    plain!("dq-quotes", "double-quoted, only double quotes escaped", |text| {
        Ok(between(b"\"", &escaped(&text, b"\""), b"\""))
    }),
    plain!("shlex", "quoted as Python's shlex.quote does", |text| Ok(shlex(&text))),
    plain!("printf-q", "quoted with backslashes, as bash's printf %q does for printable text", |text| {
        Ok(printf_q(&text))
    }),
    plain!("shell-quote-182", "quoted as the npm library shell-quote 1.8.2 does", |text| {
        Ok(shell_quote(&text, b"'\\"))
    }),
    plain!("shell-quote-183", "quoted as the npm library shell-quote 1.8.3 does", |text| {
        Ok(shell_quote(&text, b"'"))
    }),
    plain!("json", "as a JSON string", json),
    plain!("json-naive", "put between JSON's quotes as it is", |text| Ok(between(b"\"", &text, b"\""))),
    plain!("json-quotes", "as a JSON string, only quotes escaped", |text| {
        Ok(between(b"\"", &escaped(&text, b"\""), b"\""))
    }),
    plain!("py-repr", "as Python's repr, for ASCII", py_repr),
    plain!("base64", "base64, one line", |text| Ok(data_encoding::BASE64.encode(&text).into_bytes())),
    plain!("percent", "% as \\% (crontab)", |text| Ok(escaped(&text, b"%"))),
    plain!("dollar", "$ as $$ (make)", |text| Ok(replace(&text, b"$", b"$$"))),
    plain!("literal-block", "indented below a YAML `|`", |text| Ok(block(&text))),
    plain!("folded-block", "indented below a YAML `>`", |text| Ok(block(&text))),
    plain!("tab", "each line behind a tab (recipe)", |text| {
        Ok(between(b"\t", &replace(&text, b"\n", b"\n\t"), b""))
    }),
];

fn between(before: &[u8], text: &[u8], after: &[u8]) -> Vec<u8> {
    [before, text, after].concat()
}

/// A backslash before each of these bytes.
fn escaped(text: &[u8], which: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 8);
    for byte in text {
        if which.contains(byte) {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out
}

/// Every place of `from` becomes `to`.
pub fn replace(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    for found in memchr::memmem::find_iter(text, from) {
        out.extend_from_slice(text.get(at..found).unwrap_or_default());
        out.extend_from_slice(to);
        at = found + from.len();
    }
    out.extend_from_slice(text.get(at..).unwrap_or_default());
    out
}

/// Single quotes, each inner one as `'\''`.
pub fn sq(text: &[u8]) -> Vec<u8> {
    between(b"'", &replace(text, b"'", b"'\\''"), b"'")
}

fn shlex(text: &[u8]) -> Vec<u8> {
    let safe = |byte: &u8| byte.is_ascii_alphanumeric() || b"@%+=:,./-_".contains(byte);
    if !text.is_empty() && text.iter().all(safe) {
        return text.to_vec();
    }
    between(b"'", &replace(text, b"'", b"'\"'\"'"), b"'")
}

/// bash's `sh_backslash_quote` (lib/sh/shquote.c); texts with control characters it writes as `$'…'`.
fn printf_q(text: &[u8]) -> Vec<u8> {
    if text.is_empty() {
        return b"''".to_vec();
    }
    if text.iter().any(u8::is_ascii_control) {
        let mut out = b"$'".to_vec();
        for byte in text {
            match byte {
                b'\n' => out.extend_from_slice(b"\\n"),
                b'\t' => out.extend_from_slice(b"\\t"),
                b'\\' | b'\'' => out.extend_from_slice(&[b'\\', *byte]),
                control if control.is_ascii_control() => {
                    out.extend_from_slice(format!("\\{control:03o}").as_bytes());
                }
                other => out.push(*other),
            }
        }
        out.push(b'\'');
        return out;
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80 || b"%+-./:=@_".contains(&byte);
    let mut out = Vec::with_capacity(text.len() * 2);
    for byte in text {
        if !plain(*byte) {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out
}

/// `quote()` of shell-quote; the two versions differ in what the first branch escapes.
fn shell_quote(text: &[u8], in_single: &[u8]) -> Vec<u8> {
    let has = |bytes: &[u8]| text.iter().any(|byte| bytes.contains(byte));
    let blank = text.iter().any(u8::is_ascii_whitespace);
    if text.is_empty() {
        return b"''".to_vec();
    }
    if (blank || has(b"\"\\")) && !has(b"'") {
        return between(b"'", &escaped(text, in_single), b"'");
    }
    if blank || has(b"\"'") {
        return between(b"\"", &escaped(text, b"\"\\$`!"), b"\"");
    }
    escaped(text, b"#!\"$&'()*,:;<=>?@[\\]^`{|}")
}

fn json(text: Vec<u8>) -> Result<Vec<u8>> {
    Ok(serde_json::Value::String(utf8(text)?).to_string().into_bytes())
}

fn py_repr(text: Vec<u8>) -> Result<Vec<u8>> {
    let text = utf8(text)?;
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => out.extend(['\\', c]),
            c if c.is_ascii_control() => drop(write!(out, "\\x{:02x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push(quote);
    Ok(out.into_bytes())
}

fn block(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 16);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        if line != b"\n" {
            out.extend_from_slice(b"  ");
        }
        out.extend_from_slice(line);
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::fidelity::step::{Cargo, Step};

    fn encoded(step: &str, text: &str) -> String {
        let cargo = Step::parse(step).unwrap().apply(Cargo::text(text.as_bytes().to_vec())).unwrap();
        String::from_utf8(cargo.into_text().unwrap().0).unwrap()
    }

    #[test]
    fn texts_are_encoded_as_the_senders_do_it() {
        for (step, text, expected) in [
            ("sq", "a'b", r"'a'\''b'"),
            ("sq-naive", "a'b", "'a'b'"),
            ("dq", "a\"$x`\\", r#""a\"\$x\`\\""#),
            ("dq-quotes", "a\"$x", r#""a\"$x""#),
            ("shlex", "a/b-c", "a/b-c"),
            ("shlex", "a'b", r#"'a'"'"'b'"#),
            ("printf-q", "a b'$", r"a\ b\'\$"),
            ("printf-q", "a\nb", r"$'a\nb'"),
            ("json", "a\"\n\\", r#""a\"\n\\""#),
            ("json-naive", "a\"b", "\"a\"b\""),
            ("py-repr", "a'b", "\"a'b\""),
            ("py-repr", "a'\"\n", r#"'a\'"\n'"#),
            ("shell-quote-182", r"a \b", r"'a \\b'"),
            ("shell-quote-183", r"a \b", r"'a \b'"),
            ("shell-quote-183", "it's !", r#""it's \!""#),
            ("base64", "ab", "YWI="),
            ("percent", "date +%s", r"date +\%s"),
            ("dollar", "$x", "$$x"),
            ("literal-block", "a\n\nb", "  a\n\n  b"),
            ("tab", "a\nb", "\ta\n\tb"),
        ] {
            assert_eq!(encoded(step, text), expected, "{step} {text}");
        }
    }
}
