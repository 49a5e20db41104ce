//! What careless senders do to a text before they hand it on, each from public reports or common code.
//!
//! In: a text. Out: what is sent, or nothing where the sender itself would fail. Never: starts anything.

pub use crate::fidelity::encode::replace as replaced;

/// A sender's way with a text.
pub type Wrap = fn(&[u8]) -> Option<Vec<u8>>;

fn around(before: &[u8], text: &[u8], after: &[u8]) -> Vec<u8> {
    [before, text, after].concat()
}

pub fn none(text: &[u8]) -> Option<Vec<u8>> {
    Some(text.to_vec())
}

fn quoted(text: &[u8]) -> Vec<u8> {
    [b"'", &replaced(text, b"'", b"'\\''")[..], b"'"].concat()
}

pub fn eval(text: &[u8]) -> Option<Vec<u8>> {
    Some(around(b"eval ", &quoted(text), b""))
}

pub fn quote(text: &[u8]) -> Option<Vec<u8>> {
    Some(quoted(text))
}

/// `bash -c 'TEXT'` with proper quotes, as one string.
pub fn bash_quoted(text: &[u8]) -> Option<Vec<u8>> {
    Some(around(b"bash -c ", &quoted(text), b""))
}

pub fn bash_apostrophes(text: &[u8]) -> Option<Vec<u8>> {
    Some(around(b"bash -c '", text, b"'"))
}

pub fn bash_quotation(text: &[u8]) -> Option<Vec<u8>> {
    Some(around(b"bash -c \"", text, b"\""))
}

/// Only the quotation marks are escaped.
pub fn bash_quotation_escaped(text: &[u8]) -> Option<Vec<u8>> {
    bash_quotation(&replaced(text, b"\"", b"\\\""))
}

/// All that is special inside of quotation marks is escaped.
pub fn bash_quotation_all(text: &[u8]) -> Option<Vec<u8>> {
    let escaped: Vec<u8> = text
        .iter()
        .flat_map(|b| if matches!(b, b'"' | b'\\' | b'$' | b'`') { vec![b'\\', *b] } else { vec![*b] })
        .collect();
    bash_quotation(&escaped)
}

/// JSON's quotes taken for a shell's.
pub fn bash_json(text: &[u8]) -> Option<Vec<u8>> {
    let text = serde_json::to_string(std::str::from_utf8(text).ok()?).ok()?;
    Some(around(b"bash -c ", text.as_bytes(), b""))
}

pub fn null_input(text: &[u8]) -> Option<Vec<u8>> {
    Some(around(b"", text, b" < /dev/null"))
}

pub fn eval_null_input(text: &[u8]) -> Option<Vec<u8>> {
    Some(around(b"eval ", &quoted(text), b" \\< /dev/null"))
}

pub fn braces(text: &[u8]) -> Option<Vec<u8>> {
    Some(around(b"{ ", text, b"; }"))
}

pub fn braces_lines(text: &[u8]) -> Option<Vec<u8>> {
    Some(around(b"{\n", text, b"\n}"))
}

pub fn subshell(text: &[u8]) -> Option<Vec<u8>> {
    Some(around(b"(\n", text, b"\n)"))
}

pub fn after_cd(text: &[u8]) -> Option<Vec<u8>> {
    Some(around(b"cd / && ", text, b""))
}

pub fn with_status(text: &[u8]) -> Option<Vec<u8>> {
    Some(around(b"", text, b"; echo __rc=$?"))
}

pub fn trimmed(text: &[u8]) -> Option<Vec<u8>> {
    Some(text.trim_ascii().to_vec())
}

pub fn lines_and(text: &[u8]) -> Option<Vec<u8>> {
    Some(replaced(text, b"\n", b" && "))
}

pub fn lines_space(text: &[u8]) -> Option<Vec<u8>> {
    Some(replaced(text, b"\n", b" "))
}

pub fn returns(text: &[u8]) -> Option<Vec<u8>> {
    Some(replaced(text, b"\n", b"\r\n"))
}

/// A library that escapes exclamation marks inside of quotation marks.
pub fn marks_escaped(text: &[u8]) -> Option<Vec<u8>> {
    if text.contains(&b'\'') {
        let escaped: Vec<u8> = text
            .iter()
            .flat_map(
                |b| if matches!(b, b'"' | b'\\' | b'$' | b'`' | b'!') { vec![b'\\', *b] } else { vec![*b] },
            )
            .collect();
        Some(around(b"eval \"", &escaped, b"\""))
    } else {
        eval(text)
    }
}

/// One backslash of each pair is lost.
pub fn backslashes_halved(text: &[u8]) -> Option<Vec<u8>> {
    Some(replaced(text, b"\\\\", b"\\"))
}

/// `\n` and `\t` in the text become what they name.
pub fn escapes_read(text: &[u8]) -> Option<Vec<u8>> {
    Some(replaced(&replaced(text, b"\\n", b"\n"), b"\\t", b"\t"))
}

pub fn ascii_only(text: &[u8]) -> Option<Vec<u8>> {
    Some(text.iter().copied().filter(u8::is_ascii).collect())
}

pub fn html(text: &[u8]) -> Option<Vec<u8>> {
    let text = replaced(&replaced(text, b"&", b"&amp;"), b"<", b"&lt;");
    Some(replaced(&text, b">", b"&gt;"))
}

/// A template that puts the text between the quotes of a JSON string, which is then read.
pub fn json_template(text: &[u8]) -> Option<Vec<u8>> {
    read_json(text)
}

pub fn json_template_escaped(text: &[u8]) -> Option<Vec<u8>> {
    read_json(&replaced(text, b"\"", b"\\\""))
}

fn read_json(inner: &[u8]) -> Option<Vec<u8>> {
    let whole = [b"\"", inner, b"\""].concat();
    serde_json::from_slice::<String>(&whole).ok().map(String::into_bytes)
}

/// Read twice: what is in the string is read as JSON's escapes once more.
pub fn json_twice(text: &[u8]) -> Option<Vec<u8>> {
    read_json(&replaced(&replaced(text, b"\"", b"\\\""), b"\n", b"\\n"))
}

/// A recipe of a makefile, as it comes.
pub fn recipe(text: &[u8]) -> Option<Vec<u8>> {
    Some(around(b"SHELL = /bin/bash\nall:\n\t@", text, b"\n"))
}

/// Every line of it in the recipe.
pub fn recipe_lines(text: &[u8]) -> Option<Vec<u8>> {
    Some(around(b"SHELL = /bin/bash\nall:\n\t@", &replaced(text, b"\n", b"\n\t"), b"\n"))
}

/// What a line of a terminal needs at its end, and a line that says that it was read.
pub fn typed(text: &[u8]) -> Option<Vec<u8>> {
    Some(around(b"", text, b"\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_do_what_their_names_say() {
        let cases: [(Wrap, &[u8], &[u8]); 6] = [
            (eval, b"a 'b'", b"eval 'a '\\''b'\\'''"),
            (marks_escaped, b"it's !x", b"eval \"it's \\!x\""),
            (backslashes_halved, b"a\\\\b\\c", b"a\\b\\c"),
            (lines_and, b"a\nb", b"a && b"),
            (json_template, b"a\\nb", b"a\nb"),
            (html, b"a && b <c", b"a &amp;&amp; b &lt;c"),
        ];
        for (wrap, text, sent) in cases {
            assert_eq!(wrap(text).unwrap(), sent);
        }
        assert_eq!(json_template(b"\"x\""), None);
    }
}
