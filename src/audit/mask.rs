//! Masks secrets whose shape is known, for the record.
//!
//! In: judged text. Out: the same text, the secrets' tails replaced by `***`.
//! Never: changes what is judged, digested or run; never reads a text more than a few times over.

use std::borrow::Cow;

/// Stands for what was hidden.
const MASK: &str = "***";

/// Which bytes a token is made of.
#[derive(Clone, Copy)]
enum Alphabet {
    Upper,
    Word,
    /// letters, digits, `_`, `-`
    Url,
    /// letters, digits, `_`, `-`, `.`
    Dotted,
}

impl Alphabet {
    fn holds(self, b: u8) -> bool {
        match self {
            Self::Upper => b.is_ascii_uppercase() || b.is_ascii_digit(),
            Self::Word => b.is_ascii_alphanumeric() || b == b'_',
            Self::Url => b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'),
            Self::Dotted => b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'),
        }
    }
}

/// Tokens with a prefix that only they have: prefix, shortest rest, alphabet of the rest. The lengths
/// are below the issuers' own, so that a mistyped or shortened token is masked too.
const TOKENS: &[(&str, usize, Alphabet)] = &[
    ("AKIA", 12, Alphabet::Upper),
    ("ASIA", 12, Alphabet::Upper),
    ("AGE-SECRET-KEY-1", 30, Alphabet::Upper),
    ("AIza", 24, Alphabet::Url),
    ("SG.", 30, Alphabet::Dotted),
    ("dckr_pat_", 16, Alphabet::Url),
    ("dop_v1_", 30, Alphabet::Word),
    ("eyJ", 30, Alphabet::Dotted),
    ("ghp_", 16, Alphabet::Word),
    ("gho_", 16, Alphabet::Word),
    ("ghu_", 16, Alphabet::Word),
    ("ghs_", 16, Alphabet::Word),
    ("ghr_", 16, Alphabet::Word),
    ("github_pat_", 16, Alphabet::Word),
    ("glpat-", 16, Alphabet::Url),
    ("gldt-", 16, Alphabet::Url),
    ("glrt-", 16, Alphabet::Url),
    ("hf_", 20, Alphabet::Word),
    ("hvs.", 20, Alphabet::Url),
    ("npm_", 20, Alphabet::Word),
    ("pypi-", 30, Alphabet::Url),
    ("rk_live_", 16, Alphabet::Word),
    ("sk_live_", 16, Alphabet::Word),
    ("sk_test_", 16, Alphabet::Word),
    ("sk-", 16, Alphabet::Url),
    ("xapp-", 10, Alphabet::Url),
    ("xoxa-", 10, Alphabet::Url),
    ("xoxb-", 10, Alphabet::Url),
    ("xoxe-", 10, Alphabet::Url),
    ("xoxp-", 10, Alphabet::Url),
    ("xoxr-", 10, Alphabet::Url),
    ("xoxs-", 10, Alphabet::Url),
    ("ya29.", 16, Alphabet::Url),
];

/// Ends of names whose value is a secret; `-` in a name counts as `_`, case does not count.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "api_key",
    "apikey",
    "access_key",
    "secret_key",
    "private_key",
    "account_key",
    "credential",
    "credentials",
    "authorization",
];

/// Replaces the tails of known secrets; borrowed when there are none.
pub(super) fn mask(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let (mut out, mut copied, mut at) = (String::new(), 0, 0);
    while at < bytes.len() {
        match secret(bytes, at) {
            // A range that would split a character is left alone; none of the shapes makes one.
            Some((start, end)) if end > at && text.is_char_boundary(start) && text.is_char_boundary(end) => {
                out.push_str(text.get(copied..start).unwrap_or(""));
                out.push_str(MASK);
                (copied, at) = (end, end);
            }
            _ => at += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(copied..).unwrap_or(""));
    Cow::Owned(out)
}

/// The range to hide of a secret that begins (with its name or prefix) at `at`.
fn secret(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let rest = bytes.get(at..)?;
    match rest.first()? {
        b'-' if rest.starts_with(b"-----BEGIN ") => key_block(bytes, at),
        b'-' if rest.starts_with(b"-u ") || rest.starts_with(b"-u") || rest.starts_with(b"--user") => {
            user_option(bytes, at)
        }
        b':' if rest.starts_with(b"://") => user_part(bytes, at + 3),
        b'B' | b'b' if begins_word(bytes, at) && starts_without_case(rest, b"bearer ") => {
            value(bytes, at + 7, 8).map(|(start, end)| (kept(bytes, start, end), end))
        }
        b'=' | b':' => assigned(bytes, at),
        b' ' => option_value(bytes, at),
        b if b.is_ascii_alphabetic() && begins_word(bytes, at) => token(bytes, at),
        _ => None,
    }
}

fn begins_word(bytes: &[u8], at: usize) -> bool {
    at.checked_sub(1).and_then(|i| bytes.get(i)).is_none_or(|b| !b.is_ascii_alphanumeric())
}

fn starts_without_case(bytes: &[u8], prefix: &[u8]) -> bool {
    bytes.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
}

fn token(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let rest = bytes.get(at..)?;
    TOKENS.iter().find_map(|(prefix, least, alphabet)| {
        let tail = rest.strip_prefix(prefix.as_bytes())?;
        let length = tail.iter().take_while(|b| alphabet.holds(**b)).count();
        // `sk-` begins ordinary words too (`sk-learn-contrib-…`): a real one has digits.
        let digits = tail.iter().take(length).any(u8::is_ascii_digit);
        let dull = matches!(alphabet, Alphabet::Url | Alphabet::Dotted) && !digits;
        (length >= *least && !dull).then(|| (at + prefix.len(), at + prefix.len() + length))
    })
}

/// From after the BEGIN line to before the END line of a private key; to the text's end without one.
fn key_block(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    const END: &[u8] = b"KEY-----";
    let head = bytes.get(at..)?.get(..64.min(bytes.len() - at))?;
    let start = at + memchr::memmem::find(head, END)? + END.len();
    memchr::memmem::find(bytes.get(at..start)?, b"PRIVATE")?;
    let length = memchr::memmem::find(bytes.get(start..)?, b"-----END").unwrap_or(bytes.len() - start);
    (length > 0).then_some((start, start + length))
}

/// `://user:password@`, or a long user part alone (`https://TOKEN@host`).
fn user_part(bytes: &[u8], start: usize) -> Option<(usize, usize)> {
    let rest = bytes.get(start..)?;
    let ends = |b: &u8| matches!(b, b'/' | b'?' | b'#' | b'"' | b'\'') || b.is_ascii_whitespace();
    // A host's name has at most 253 bytes; a longer user part is none that a server would take.
    let authority = rest.get(..rest.iter().take(1024).position(ends).unwrap_or(rest.len().min(1024)))?;
    // a few bytes: not worth asking the processor what it can do (memchr, 40 microseconds under a hypervisor)
    let at = authority.iter().rposition(|b| *b == b'@')?;
    let user = authority.get(..at)?;
    match user.iter().position(|b| *b == b':') {
        Some(colon) if at > colon + 1 && user.get(colon + 1) != Some(&b'$') => {
            Some((start + colon + 1, start + at))
        }
        None if at >= 20 => Some((start + 4, start + at)),
        Some(_) | None => None,
    }
}

/// `-u name:password`, `--user name:password` (curl, wget); numbers are a user and a group.
fn user_option(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    if !at.checked_sub(1).and_then(|i| bytes.get(i)).is_some_and(u8::is_ascii_whitespace) {
        return None;
    }
    let name = if bytes.get(at..)?.starts_with(b"--user") { 6 } else { 2 };
    let gap = usize::from(bytes.get(at + name).is_some_and(|b| matches!(b, b' ' | b'=')));
    let (start, end) = value(bytes, at + name + gap, 3)?;
    let word = bytes.get(start..end)?;
    let colon = word.iter().position(|b| *b == b':')?;
    let numbers = word.iter().all(|b| b.is_ascii_digit() || *b == b':');
    let variable = word.get(colon + 1) == Some(&b'$') || word.get(colon + 1).is_none();
    let url = word.get(colon + 1) == Some(&b'/');
    (!numbers && !variable && !url).then_some((start + colon + 1, end))
}

/// `name=value`, `name: value`, `"name": "value"` at the sign.
fn assigned(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    if !names_secret(bytes.get(..at)?) {
        return None;
    }
    let mut start = at + 1;
    if bytes.get(at) == Some(&b':') {
        start += bytes.get(start..)?.iter().take(4).take_while(|b| **b == b' ').count();
    }
    let (mut start, mut end) = value(bytes, start, 4)?;
    // `Authorization: Basic …`: the scheme is no secret.
    for scheme in [&b"basic"[..], b"bearer", b"token", b"digest"] {
        if bytes.get(start..end).is_some_and(|v| v.eq_ignore_ascii_case(scheme)) {
            (start, end) = value(bytes, end + 1, 4)?;
            break;
        }
    }
    Some((kept(bytes, start, end), end))
}

/// `--password value` at the space.
fn option_value(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let before = bytes.get(at.saturating_sub(40)..at)?;
    let word = before.rsplit(u8::is_ascii_whitespace).next()?;
    if !word.starts_with(b"--") || !names_secret(word) {
        return None;
    }
    let (start, end) = value(bytes, at + 1, 4)?;
    (bytes.get(start) != Some(&b'-')).then(|| (kept(bytes, start, end), end))
}

/// Whether the text before a sign ends in the name of a secret.
fn names_secret(before: &[u8]) -> bool {
    let before = before.strip_suffix(b"\"").or_else(|| before.strip_suffix(b"'")).unwrap_or(before);
    NAMES.iter().any(|name| {
        let Some(tail) = before.len().checked_sub(name.len()).and_then(|i| before.get(i..)) else {
            return false;
        };
        tail.iter().zip(name.bytes()).all(|(b, n)| b.to_ascii_lowercase() == n || (*b == b'-' && n == b'_'))
    })
}

/// The word that begins at `start`, quotes left out; `None` if it is short or a variable.
fn value(bytes: &[u8], start: usize, least: usize) -> Option<(usize, usize)> {
    let quote = bytes.get(start).copied().filter(|b| matches!(b, b'"' | b'\''));
    let start = start + usize::from(quote.is_some());
    let ends = |b: &u8| match quote {
        Some(quote) => *b == quote,
        None => {
            b.is_ascii_whitespace()
                || matches!(b, b'"' | b'\'' | b';' | b'&' | b'|' | b'<' | b'>' | b')' | b',' | b'}')
        }
    };
    let rest = bytes.get(start..)?;
    let length = rest.iter().position(ends).unwrap_or(rest.len());
    (length >= least && rest.first() != Some(&b'$')).then_some((start, start + length))
}

/// Where the hidden part of a value begins: the first two characters of a long one are kept.
fn kept(bytes: &[u8], start: usize, end: usize) -> usize {
    let ascii = bytes.get(start..start + 2).is_some_and(<[u8]>::is_ascii);
    if end - start >= 12 && ascii { start + 2 } else { start }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Put together here, so that no scanner takes this file for a leak.
    fn long(prefix: &str) -> String {
        format!("{prefix}{}", "a1B2c3D4e5F6".repeat(4))
    }

    #[test]
    fn known_shapes_are_masked() {
        let jwt = format!("{}.{}.x", long("eyJ"), long("eyJ"));
        let cases = [
            (format!("echo {}", long("ghp_")), "echo ghp_***"),
            (format!("X={} y", long("github_pat_")), "X=github_pat_*** y"),
            (format!("echo AKIA{}", "Q".repeat(16)), "echo AKIA***"),
            (format!("k={}", long("sk-proj-")), "k=sk-***"),
            (format!("'{}'", long("xoxb-")), "'xoxb-***'"),
            (long("AIza"), "AIza***"),
            (long("glpat-"), "glpat-***"),
            (long("npm_"), "npm_***"),
            (jwt, "eyJ***"),
            ("PGPASSWORD=hunter22 psql".to_owned(), "PGPASSWORD=*** psql"),
            ("x --password 'correct horse'; ls".to_owned(), "x --password 'co***'; ls"),
            ("x --api-key=abcdefgh z".to_owned(), "x --api-key=*** z"),
            (r#"{"token": "abcdefgh"}"#.to_owned(), r#"{"token": "***"}"#),
            ("git clone https://bob:pw@h/x".to_owned(), "git clone https://bob:***@h/x"),
            (format!("https://{}@h/x", "t".repeat(30)), "https://tttt***@h/x"),
            ("-H 'Authorization: Basic Ym9iOnB3Cg=='".to_owned(), "-H 'Authorization: Basic Ym***'"),
            ("-H 'X: bearer abcdefghijkl'".to_owned(), "-H 'X: bearer ab***'"),
            ("curl -u bob:pw http://h".to_owned(), "curl -u bob:*** http://h"),
        ];
        for (text, expected) in cases {
            assert_eq!(mask(&text), expected, "{text}");
        }
    }

    #[test]
    fn a_private_key_is_masked_to_its_end_or_the_text_s() {
        let key = |tail: &str| format!("echo '-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blb\n{tail}'");
        let end = "-----END OPENSSH PRIVATE KEY-----";
        assert_eq!(mask(&key(end)), format!("echo '-----BEGIN OPENSSH PRIVATE KEY-----***{end}'"));
        assert_eq!(mask(&key("more")), "echo '-----BEGIN OPENSSH PRIVATE KEY-----***");
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in [
            "git log --author=bob",
            "ssh://git@github.com/x",
            "pip install sk-learn-contrib-extra-tools",
            "PASSWORD=$PASSWORD make",
            "docker run -u 1000:1000 x",
            "sort -u a:b",
            "max_tokens=4096",
            "-----BEGIN CERTIFICATE-----\nabc",
            "curl http://h:80/a@b",
            "password=",
            "\u{10ff80}token=",
        ] {
            let expected = if text == "sort -u a:b" { "sort -u a:***" } else { text };
            assert_eq!(mask(text), expected, "{text}");
        }
    }
}
