//! Tcl's brackets and variables: where they end.
//!
//! In: text and a place. Out: places.
//! Never: past the end of the text.

/// The brace that closes the one before `from`.
pub(super) fn matching(bytes: &[u8], from: usize) -> usize {
    let (mut depth, mut at) = (1_u32, from);
    while let Some(b) = bytes.get(at) {
        match b {
            b'\\' => at = at.saturating_add(1),
            b'{' => depth = depth.saturating_add(1),
            b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
        at = at.saturating_add(1);
    }
    bytes.len()
}

pub(super) fn closing(bytes: &[u8], from: usize) -> usize {
    let (mut depth, mut at) = (1_u32, from);
    while let Some(b) = bytes.get(at) {
        match b {
            b'\\' => at = at.saturating_add(1),
            b'{' => at = matching(bytes, at.saturating_add(1)),
            b'[' => depth = depth.saturating_add(1),
            b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
        at = at.saturating_add(1);
    }
    bytes.len()
}

/// The name after a dollar sign, and where it ends.
pub(super) fn variable(text: &str, from: usize) -> (String, usize) {
    let bytes = text.as_bytes();
    if bytes.get(from) == Some(&b'{') {
        let end = matching(bytes, from.saturating_add(1));
        return (
            text.get(from.saturating_add(1)..end).unwrap_or("").to_owned(),
            end.saturating_add(1).min(text.len()),
        );
    }
    let mut at = from;
    while bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':')) {
        at = at.saturating_add(1);
    }
    if bytes.get(at) == Some(&b'(') && at > from {
        let close =
            memchr::memchr(b')', bytes.get(at..bytes.len().min(at.saturating_add(200))).unwrap_or(b""))
                .map(|n| at.saturating_add(n).saturating_add(1));
        at = close.unwrap_or(at);
    }
    (text.get(from..at).unwrap_or("").to_owned(), at)
}
