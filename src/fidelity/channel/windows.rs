//! Renderers for receivers on Windows, checked against models of the receivers (nothing is run there).
//!
//! In: an [`Order`]. Out: a [`Rendering`]; and the way back: Microsoft's argument rules, PowerShell 5.1's joining,
//! MSYS2's reading, each written from its description. Never: claims more than the models say.

use crate::fidelity::channel::capsule;
use crate::fidelity::channel::domain::{Refusal, Why};
use crate::fidelity::channel::name::Channel;
use crate::fidelity::channel::rendering::{Order, Rendering};

/// Most UTF-16 units of a command line (`CreateProcessW`), without its null.
const COMMAND_LINE: usize = 32_766;
/// Most characters of a line of cmd.exe.
const CMD_LINE: usize = 8_191;
const ENCODED: &str = "powershell.exe -NoProfile -NonInteractive -EncodedCommand ";
const MSYS: &str = "bash.exe -c ";
const CMD: &str = "cmd.exe /d /v:off /s /c \"";

fn document(channel: Channel, line: String, limit: usize) -> Result<Rendering, Refusal> {
    let units = line.encode_utf16().count();
    if units > limit {
        let why = Why::Size(units, limit);
        return Err(Refusal::new(channel, why, "write a script file there and start that"));
    }
    Ok(Rendering::of_document(line.into_bytes()))
}

fn unicode<'a>(channel: Channel, order: &Order<'a>) -> Result<&'a str, Refusal> {
    std::str::from_utf8(order.text)
        .map_err(|_| Refusal::new(channel, Why::NotUnicode, "write a script file there and start that"))
}

/// A PowerShell script as base64 of UTF-16LE.
pub fn powershell(order: &Order<'_>) -> Result<Rendering, Refusal> {
    let text = unicode(Channel::PowerShell, order)?;
    let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let line = format!("{ENCODED}{}", data_encoding::BASE64.encode(&bytes));
    document(Channel::PowerShell, line, COMMAND_LINE)
}

/// `"` becomes `\"`, backslashes before one are doubled (the rule of the C run time).
fn escaped(text: &str) -> (String, usize) {
    let mut out = String::with_capacity(text.len() + 8);
    let mut slashes = 0;
    for c in text.chars() {
        if c == '"' {
            out.extend(std::iter::repeat_n('\\', slashes + 1));
        }
        slashes = if c == '\\' { slashes + 1 } else { 0 };
        out.push(c);
    }
    (out, slashes)
}

/// One argument of the C run time's rule, in quotes.
fn quoted(text: &str) -> String {
    let (inner, slashes) = escaped(text);
    format!("\"{inner}{}\"", "\\".repeat(slashes))
}

/// A PowerShell literal that PowerShell 5.1 hands to a native program as one argument equal to the text.
pub fn native(order: &Order<'_>) -> Result<Rendering, Refusal> {
    let text = unicode(Channel::PowerShellNative, order)?;
    let value =
        if text.is_empty() || text.chars().any(char::is_whitespace) { quoted(text) } else { escaped(text).0 };
    let literal: String =
        value.chars().flat_map(|c| std::iter::repeat_n(c, if is_apostrophe(c) { 2 } else { 1 })).collect();
    document(Channel::PowerShellNative, format!("'{literal}'"), COMMAND_LINE)
}

/// PowerShell ends a literal at a typographic apostrophe too.
fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2018}' | '\u{2019}' | '\u{201A}' | '\u{201B}')
}

/// A command line for an MSYS2 bash. Its reader takes other backslashes than the C run time writes.
pub fn msys(order: &Order<'_>) -> Result<Rendering, Refusal> {
    let text = unicode(Channel::Msys, order)?;
    if text.contains("\\\\") {
        return Err(Refusal::new(
            Channel::Msys,
            Why::Holds("two backslashes in a row"),
            "write a script file there and start that",
        ));
    }
    document(Channel::Msys, format!("{MSYS}{}", quoted(text)), COMMAND_LINE)
}

/// A line of cmd.exe, which is handed on as it is or not at all.
pub fn cmd(order: &Order<'_>) -> Result<Rendering, Refusal> {
    let text = unicode(Channel::Cmd, order)?;
    let held = if text.contains('%') {
        Some("a percent sign")
    } else if text.contains('!') {
        Some("an exclamation mark")
    } else if text.matches('"').count() % 2 == 1 {
        Some("an odd number of quotation marks")
    } else {
        None
    };
    if let Some(what) = held {
        return Err(Refusal::new(
            Channel::Cmd,
            Why::Holds(what),
            "write a .cmd file there, or use powershell",
        ));
    }
    document(Channel::Cmd, format!("{CMD}{text}\""), CMD_LINE)
}

/// What the model of the receiver reads.
pub fn decode(channel: Channel, document: &[u8]) -> Option<Vec<u8>> {
    let line = std::str::from_utf8(document).ok()?;
    let text = match channel.name() {
        "powershell" => encoded_command(line.strip_prefix(ENCODED)?)?,
        "powershell-native" => {
            let joined = joined_by_powershell(&literal(line)?);
            match c_runtime(&format!("x {joined}")).as_slice() {
                [_, one] => one.clone(),
                _ => return None,
            }
        }
        "msys" => msys_argument(line.strip_prefix(MSYS)?)?,
        "cmd" => {
            let inner = line.strip_prefix(CMD)?.strip_suffix('"')?;
            if inner.contains(['\n', '\r', '%', '!']) {
                return None;
            }
            inner.to_owned()
        }
        _ => return None,
    };
    Some(text.into_bytes())
}

fn encoded_command(body: &str) -> Option<String> {
    let bytes = capsule::unpack(body.as_bytes())?;
    let units: Vec<u16> = bytes
        .chunks(2)
        .map(|pair| match pair {
            [low, high] => Some(u16::from(*low) | (u16::from(*high) << 8)),
            _ => None,
        })
        .collect::<Option<_>>()?;
    String::from_utf16(&units).ok()
}

/// The value of a PowerShell literal in apostrophes.
fn literal(text: &str) -> Option<String> {
    let mut chars = text.strip_prefix('\'')?.chars().peekable();
    let mut out = String::new();
    while let Some(c) = chars.next() {
        if is_apostrophe(c) {
            match chars.next() {
                // the second of a pair is the one that is kept
                Some(second) if is_apostrophe(second) => out.push(second),
                Some(_) => return None,
                None => return Some(out),
            }
        } else {
            out.push(c);
        }
    }
    None
}

/// How PowerShell 5.1 puts an argument into a command line: quotes around it where white space stands outside of
/// quotes that no backslash precedes, nothing else.
fn joined_by_powershell(argument: &str) -> String {
    let (mut inside, mut before, mut needs) = (false, ' ', argument.is_empty());
    for c in argument.chars() {
        if c == '"' && before != '\\' {
            inside = !inside;
        } else if c.is_whitespace() && !inside {
            needs = true;
        }
        before = c;
    }
    if needs { format!("\"{argument}\"") } else { argument.to_owned() }
}

/// `CommandLineToArgvW` after the program's name: 2n backslashes and a quote are n and a border, 2n+1 are n and a quote.
fn c_runtime(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut word: Option<String> = None;
    let (mut slashes, mut inside) = (0usize, false);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\\' {
            slashes += 1;
            word.get_or_insert_default();
            continue;
        }
        let kept = if c == '"' { slashes / 2 } else { slashes };
        let odd = slashes % 2 == 1;
        slashes = 0;
        if kept > 0 {
            word.get_or_insert_default().extend(std::iter::repeat_n('\\', kept));
        }
        match c {
            '"' if odd => word.get_or_insert_default().push('"'),
            '"' if inside && chars.peek() == Some(&'"') => {
                chars.next();
                word.get_or_insert_default().push('"');
            }
            '"' => {
                inside = !inside;
                word.get_or_insert_default();
            }
            ' ' | '\t' if !inside => out.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    if slashes > 0 {
        word.get_or_insert_default().extend(std::iter::repeat_n('\\', slashes));
    }
    out.extend(word);
    out
}

/// MSYS2's reader of a quoted argument: a backslash before a quote or a backslash is dropped.
fn msys_argument(text: &str) -> Option<String> {
    let mut chars = text.strip_prefix('"')?.chars().peekable();
    let mut out = String::new();
    while let Some(c) = chars.next() {
        match c {
            '"' => return chars.next().is_none().then_some(out),
            '\\' if matches!(chars.peek(), Some('"' | '\\')) => out.extend(chars.next()),
            c => out.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fidelity::channel::name::{Reach, StdinPolicy};
    use crate::fidelity::channel::rendering::Form;

    fn order(text: &[u8]) -> Order<'_> {
        Order { text, to: None, stdin: StdinPolicy::Null, reach: Reach::OtherFiles, place: b"/x" }
    }

    fn line(rendering: &Rendering) -> String {
        let Form::Document(bytes) = &rendering.form else { panic!() };
        String::from_utf8(bytes.clone()).unwrap()
    }

    #[test]
    fn the_models_read_the_documented_examples() {
        // Microsoft's table of command lines and the arguments they give
        for (text, words) in [
            (r#"x "a b c" d e"#, vec!["x", "a b c", "d", "e"]),
            (r#"x "ab\"c" "\\" d"#, vec!["x", "ab\"c", "\\", "d"]),
            (r#"x a\\\b d"e f"g h"#, vec!["x", r"a\\\b", "de fg", "h"]),
            (r#"x a\\\"b c d"#, vec!["x", r#"a\"b"#, "c", "d"]),
            (r#"x a\\\\"b c" d e"#, vec!["x", r"a\\b c", "d", "e"]),
            (r#"x a"b"" c d"#, vec!["x", "ab\" c d"]),
        ] {
            assert_eq!(c_runtime(text), words, "{text}");
        }
        assert_eq!(joined_by_powershell("a b"), "\"a b\"");
        assert_eq!(joined_by_powershell("\"a b\""), "\"a b\"");
    }

    #[test]
    fn what_would_be_changed_is_refused() {
        assert_eq!(msys(&order(b"a\\\\b")).unwrap_err().why, Why::Holds("two backslashes in a row"));
        for text in ["echo %PATH%", "echo hi!", "echo \"x"] {
            assert!(matches!(cmd(&order(text.as_bytes())).unwrap_err().why, Why::Holds(_)), "{text}");
        }
        assert_eq!(line(&powershell(&order("é".as_bytes())).unwrap()), format!("{ENCODED}6QA="));
        assert_eq!(line(&native(&order(b"a \"b\\")).unwrap()), r#"'"a \"b\\"'"#);
    }

    proptest! {
        #[test]
        fn every_text_is_read_again_or_refused(text in "[a-z \"'\\\\\u{2019}$`%!\\n\u{e9}\u{1F680}]{0,40}") {
            type Maker = fn(&Order<'_>) -> Result<Rendering, Refusal>;
            let makers: [(Channel, Maker); 4] = [
                (Channel::PowerShell, powershell),
                (Channel::PowerShellNative, native),
                (Channel::Msys, msys),
                (Channel::Cmd, cmd),
            ];
            for (channel, maker) in makers {
                match maker(&order(text.as_bytes())) {
                    Ok(r) => {
                        if channel != Channel::Cmd || !text.contains(['\n', '\r']) {
                            prop_assert_eq!(decode(channel, line(&r).as_bytes()).unwrap(), text.as_bytes(), "{}", channel);
                        }
                    }
                    Err(refusal) => prop_assert!(matches!(channel, Channel::Msys | Channel::Cmd), "{}", refusal),
                }
            }
        }
    }
}
