//! What was done to a text, told from both sides: the first place where they part, and the kind of change.
//!
//! In: what was meant, what was received. Out: [`Divergence`]. Never: names a cause that does not explain
//! every byte where one that does was found.

use crate::fidelity::change;
use crate::fidelity::encode;
use crate::fidelity::step::{Cargo, Known, Takes};
use crate::text;

/// Kinds of change, in the words of the design.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mechanism {
    /// quotes or backslashes are gone
    QuoteConsumption,
    /// quotes or backslashes were added
    QuoteAddition,
    /// somebody expanded `$`, backquotes, `%` or patterns on the way
    ReExpansion,
    Truncation,
    /// words or lines were joined or split
    ArityChange,
    /// blanks, tabs or newlines, without joining words
    Whitespace,
    CarriageReturn,
    Encoding,
    /// the text is there, with something around it
    Context,
    /// the other side can't take it: too long, zero bytes
    SizeRefusal,
    /// the other side reports an error and runs nothing
    Rejection,
    Unobserved,
    /// none of these
    Other,
}

impl Mechanism {
    pub const ALL: &'static [Self] = &[
        Self::QuoteConsumption,
        Self::QuoteAddition,
        Self::ReExpansion,
        Self::Truncation,
        Self::ArityChange,
        Self::Whitespace,
        Self::CarriageReturn,
        Self::Encoding,
        Self::Context,
        Self::SizeRefusal,
        Self::Rejection,
        Self::Unobserved,
        Self::Other,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::QuoteConsumption => "quote-consumption",
            Self::QuoteAddition => "quote-addition",
            Self::ReExpansion => "re-expansion",
            Self::Truncation => "truncation",
            Self::ArityChange => "arity-change",
            Self::Whitespace => "whitespace",
            Self::CarriageReturn => "carriage-return",
            Self::Encoding => "encoding",
            Self::Context => "context",
            Self::SizeRefusal => "size-refusal",
            Self::Rejection => "rejected",
            Self::Unobserved => "unobserved",
            Self::Other => "other",
        }
    }
}

/// Where and how two texts part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    pub mechanism: Mechanism,
    /// The change that explains every byte, by its step's name (`halve-backslashes`), or what is seen.
    pub detail: &'static str,
    /// The first byte that differs, in both texts the same.
    pub at: usize,
    /// Lines that show both sides: the place, escaped, with a caret under it.
    pub meant: Excerpt,
    pub received: Excerpt,
}

/// One side's text round the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Escaped; at most [`ROUND`] bytes of the text on each side.
    pub shown: String,
    /// Columns before the caret.
    pub caret: usize,
}

/// Bytes of context on each side of the place.
pub const ROUND: usize = 40;

/// The changes that are tried as they are, by the kind that they are of.
const TRIED: &[(Mechanism, &[&str])] = &[
    (
        Mechanism::QuoteConsumption,
        &["halve-backslashes", "drop-backslashes", "drop-quotes", "drop-apostrophes"],
    ),
    (Mechanism::Whitespace, &["trim-newline", "add-newline", "trim-end", "trim", "trim-lines", "squeeze"]),
    (Mechanism::Whitespace, &["expand-tabs", "drop-tabs"]),
    (Mechanism::CarriageReturn, &["crlf", "strip-cr"]),
    (Mechanism::Truncation, &["first-line"]),
    (Mechanism::ArityChange, &["join-space"]),
    (
        Mechanism::QuoteAddition,
        &["bang", "double-backslashes", "html", "sq", "dq", "json", "printf-q", "shlex"],
    ),
    (
        Mechanism::QuoteAddition,
        &["shell-quote-182", "shell-quote-183", "percent", "dollar", "sq-naive", "dq-naive"],
    ),
    (Mechanism::QuoteConsumption, &["unescape", "swap-quotes"]),
    (Mechanism::Encoding, &["smart-quotes", "plain-quotes", "ascii", "lossy", "latin1", "bom", "base64"]),
    (Mechanism::Context, &["paste-marks"]),
    (Mechanism::ArityChange, &["drop-comments", "drop-fence"]),
    (Mechanism::ReExpansion, &["expand"]),
];

/// Says what happened between two texts that differ.
pub fn diagnose(meant: &[u8], received: &[u8]) -> Divergence {
    let at = meant.iter().zip(received).take_while(|(a, b)| a == b).count();
    let (mechanism, detail) = explained(meant, received)
        .or_else(|| embedded(meant, received))
        .unwrap_or_else(|| seen(meant, received, at));
    Divergence { mechanism, detail, at, meant: excerpt(meant, at), received: excerpt(received, at) }
}

/// A known change that makes one of the other, to the byte.
pub fn explained(meant: &[u8], received: &[u8]) -> Option<(Mechanism, &'static str)> {
    tried(meant, &|made| made == received)
}

/// A known change after which what was meant stands, as it is or quoted, within a text that nobody knows.
pub fn embedded(meant: &[u8], received: &[u8]) -> Option<(Mechanism, &'static str)> {
    // a piece of a few bytes is a piece of many texts
    let holds = |piece: &[u8]| piece.len() >= 12 && memchr::memmem::find(received, piece).is_some();
    if received.len() <= meant.len() || holds(meant) {
        return None;
    }
    tried(meant, &|made| {
        let quoted = |apostrophe: &[u8]| encode::replace(made, b"'", apostrophe);
        made != meant && (holds(made) || holds(&quoted(b"'\\''")) || holds(&quoted(b"'\"'\"'")))
    })
}

/// The first known change whose result is such.
fn tried(meant: &[u8], is: &dyn Fn(&[u8]) -> bool) -> Option<(Mechanism, &'static str)> {
    // a change of a long text would be made for nothing: most are no longer than this
    if meant.len() > 64 << 10 {
        return None;
    }
    for (mechanism, names) in TRIED {
        for name in *names {
            if let Some(known) = find(name)
                && made(known, meant).is_some_and(|made| is(&made))
            {
                return Some((*mechanism, known.name));
            }
        }
    }
    None
}

fn find(name: &str) -> Option<&'static Known> {
    change::STEPS
        .iter()
        .chain(encode::STEPS)
        .find(|known| known.name == name && known.takes == Takes::Nothing)
}

fn made(known: &Known, text: &[u8]) -> Option<Vec<u8>> {
    (known.run)(Cargo::text(text.to_vec()), "").ok()?.into_text().ok().map(|(text, _)| text)
}

/// What can be said without an exact explanation, the most telling first.
fn seen(meant: &[u8], received: &[u8], at: usize) -> (Mechanism, &'static str) {
    let without = |text: &[u8], drop: &[u8]| -> Vec<u8> {
        text.iter().copied().filter(|byte| !drop.contains(byte)).collect()
    };
    let alike = |drop: &[u8]| without(meant, drop) == without(received, drop);
    let shorter = received.len() < meant.len();
    if received.is_empty() {
        return (Mechanism::Truncation, "nothing is left");
    }
    if shorter && meant.starts_with(received) {
        return (Mechanism::Truncation, "the end is missing");
    }
    if shorter && meant.ends_with(received) {
        return (Mechanism::Truncation, "the beginning is missing");
    }
    if !shorter && !meant.is_empty() && memchr::memmem::find(received, meant).is_some() {
        return (Mechanism::Context, "something stands around it");
    }
    if alike(b"\r") || alike(b"\r\n") {
        return (Mechanism::CarriageReturn, "carriage returns");
    }
    if alike(b"\n ") && meant.contains(&b'\n') && lines(meant) != lines(received) {
        return (Mechanism::ArityChange, "lines were joined or split");
    }
    if alike(b" \t\n") {
        return (Mechanism::Whitespace, "white space");
    }
    if alike(b"\\") || alike(b"\\'\"") {
        return if shorter {
            (Mechanism::QuoteConsumption, "backslashes or quotes are missing")
        } else {
            (Mechanism::QuoteAddition, "backslashes or quotes were added")
        };
    }
    if alike(b"\\'\" \t\n") {
        return (Mechanism::ArityChange, "quotes and white space");
    }
    if at > 0 && !meant.is_ascii() && same_ascii(meant, received) {
        return (Mechanism::Encoding, "characters outside ASCII");
    }
    let live =
        |text: &[u8]| text.iter().filter(|byte| matches!(byte, b'$' | b'`' | b'%' | b'*' | b'~')).count();
    if live(received) < live(meant) {
        return (Mechanism::ReExpansion, "what was to be expanded is gone");
    }
    (Mechanism::Other, "no known change")
}

fn lines(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text.trim_ascii_end()).count()
}

fn same_ascii(one: &[u8], other: &[u8]) -> bool {
    one.iter()
        .filter(|byte| byte.is_ascii())
        .eq(other.iter().filter(|byte| byte.is_ascii() && **byte != b'?'))
}

/// The text round a place, escaped for one line.
pub fn excerpt(bytes: &[u8], at: usize) -> Excerpt {
    let start = at.saturating_sub(ROUND);
    let before = text::escape_bytes(bytes.get(start..at.min(bytes.len())).unwrap_or_default());
    let after = text::escape_bytes(bytes.get(at..bytes.len().min(at + ROUND)).unwrap_or_default());
    let lead = if start > 0 { "…" } else { "" };
    let trail = if at + ROUND < bytes.len() { "…" } else { "" };
    Excerpt {
        caret: lead.chars().count() + before.chars().count(),
        shown: format!("{lead}{before}{after}{trail}"),
    }
}

impl Divergence {
    /// Both sides, each with a caret under the first place that differs; four lines.
    pub fn sides(&self) -> String {
        let side = |name: &str, excerpt: &Excerpt| {
            format!("  {name}: {}\n  {}^\n", excerpt.shown, " ".repeat(name.len() + 2 + excerpt.caret))
        };
        side("meant   ", &self.meant) + &side("received", &self.received)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_told() {
        for (meant, received, mechanism, detail) in [
            (r"grep 'a\\b'", r"grep 'a\b'", Mechanism::QuoteConsumption, "halve-backslashes"),
            ("echo \"a\"", "echo a", Mechanism::QuoteConsumption, "drop-quotes"),
            ("echo 'a' \"b\"", "echo a b", Mechanism::QuoteConsumption, "backslashes or quotes are missing"),
            ("jq '.a != 1'", r"jq '.a \!= 1'", Mechanism::QuoteAddition, "bang"),
            ("a\n", "a", Mechanism::Whitespace, "trim-newline"),
            ("a\nb", "a", Mechanism::Truncation, "first-line"),
            ("abc", "ab", Mechanism::Truncation, "the end is missing"),
            ("abc", "bc", Mechanism::Truncation, "the beginning is missing"),
            ("a\nb", "a b", Mechanism::ArityChange, "join-space"),
            ("a\n  b\nc", "a b\nc", Mechanism::ArityChange, "lines were joined or split"),
            ("a\nb", "a\r\nb", Mechanism::CarriageReturn, "crlf"),
            ("echo $HOME x", "echo  x", Mechanism::ReExpansion, "expand"),
            ("echo $HOME x", "echo /root x", Mechanism::ReExpansion, "what was to be expanded is gone"),
            ("echo 'a'", "echo \u{2019}a\u{2019}", Mechanism::Encoding, "smart-quotes"),
            ("echo \u{e9}", "echo ?", Mechanism::Encoding, "characters outside ASCII"),
            ("a b", "{ a b; }", Mechanism::Context, "something stands around it"),
            ("a  b", "a b", Mechanism::Whitespace, "squeeze"),
            ("ls", "id", Mechanism::Other, "no known change"),
            ("ls", "", Mechanism::Truncation, "nothing is left"),
        ] {
            let found = diagnose(meant.as_bytes(), received.as_bytes());
            assert_eq!((found.mechanism, found.detail), (mechanism, detail), "{meant:?} {received:?}");
        }
    }

    #[test]
    fn the_caret_stands_under_the_first_byte_that_differs() {
        let found = diagnose(b"printf 'a\\\\b\n'", b"printf 'a\\b\n'");
        assert_eq!(found.at, 10);
        assert_eq!(
            found.sides(),
            format!(
                "  meant   : printf 'a\\\\\\\\b\\n'\n{0}^\n  received: printf 'a\\\\b\\n'\n{0}^\n",
                " ".repeat(23)
            )
        );
        let long = [vec![b'a'; 100], b"\x1bx".to_vec(), vec![b'b'; 100]].concat();
        let shown = excerpt(&long, 100);
        assert!(shown.shown.starts_with('…') && shown.shown.ends_with('…') && !shown.shown.contains('\x1b'));
        assert_eq!(shown.shown.chars().nth(shown.caret), Some('\\'));
    }
}
