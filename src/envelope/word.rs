//! One word of shell text whose value is known without running anything: literals, quoted or not.
//!
//! In: text at a word's beginning. Out: where the word ends and what the shell makes of it (bash manual,
//! "Quoting"). Never: takes a word for literal in which something expands, or whose end is not certain.

/// Characters that stand for themselves outside quotes, wherever they stand in an argument.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | ':' | '@' | '%' | '+' | ',' | '-')
}

/// Characters that end a word.
fn ends_word(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')')
}

/// Reads the literal word that `text` begins with: its length in bytes and its value. `None` where there is
/// none, or it is not literal.
pub fn literal(text: &str) -> Option<(usize, String)> {
    let mut value = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = match c {
            '\'' => {
                let (inner, after) = rest.get(1..)?.split_once('\'')?;
                value.push_str(inner);
                after
            }
            '"' => double(rest.get(1..)?, &mut value)?,
            '\\' => {
                let next = rest.get(1..)?.chars().next()?;
                // a backslash and a newline are a line that goes on
                if next != '\n' {
                    value.push(next);
                }
                rest.get(1 + next.len_utf8()..)?
            }
            c if is_plain(c) => {
                value.push(c);
                rest.get(1..)?
            }
            c if ends_word(c) => break,
            _ => return None,
        };
    }
    let length = text.len() - rest.len();
    (length > 0).then_some((length, value))
}

/// The inside of double quotes, up to and with the closing one.
fn double<'t>(text: &'t str, value: &mut String) -> Option<&'t str> {
    let mut rest = text;
    loop {
        let stop = rest.find(['"', '\\', '$', '`'])?;
        value.push_str(rest.get(..stop)?);
        rest = rest.get(stop..)?;
        match rest.chars().next()? {
            '"' => return rest.get(1..),
            '\\' => {
                let next = rest.get(1..)?.chars().next()?;
                match next {
                    '\n' => {}
                    '$' | '`' | '"' | '\\' => value.push(next),
                    other => value.extend(['\\', other]),
                }
                rest = rest.get(1 + next.len_utf8()..)?;
            }
            // `$` or a backquote: something expands
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_words_are_decoded_as_bash_does() {
        for (text, expected) in [
            ("'a b' rest", Some((5, "a b"))),
            ("''", Some((2, ""))),
            (r#"'it'"'"'s'; x"#, Some((10, "it's"))),
            (r"'it'\''s'", Some((9, "it's"))),
            (r#""a \"b\" \x \\ \$ \`""#, Some((21, "a \"b\" \\x \\ $ `"))),
            ("\"a\\\nb\"", Some((6, "ab"))),
            ("a\\\nb c", Some((4, "ab"))),
            ("/tmp/claude-12ab-cwd\n", Some((20, "/tmp/claude-12ab-cwd"))),
            ("'a\r\x01\u{7f}\u{10ff80}'", Some((10, "a\r\x01\u{7f}\u{10ff80}"))),
            ("'open", None),
            ("\"open", None),
            ("\"a $x\"", None),
            ("\"a `x`\"", None),
            ("\"a$\"", None),
            ("$'a'", None),
            ("~/x", None),
            ("a*", None),
            ("a{b,c}", None),
            ("a#b", None),
            ("a=b", None),
            ("a\\", None),
            ("", None),
            (" a", None),
            ("\u{e9}", None),
        ] {
            let expected = expected.map(|(length, value)| (length, value.to_owned()));
            assert_eq!(literal(text), expected, "{text:?}");
        }
    }
}
