//! Whether a text that a wrapper pastes among its own lines stays in its place.
//!
//! In: the text, what closes it, the whole. Out: yes or no. Never: yes where bash could read the closer, or
//! anything behind it, as part of the text, or end the text before it.

use crate::envelope::shape::Joint;
use crate::syntax::bounds::Limits;
use crate::syntax::grammar::{self, Dialect, Fault};
use crate::syntax::read::{Second, read};

/// Whether `text`, followed by its closer, is closed there and nowhere else. Then the wrapper is what it is
/// with any other such text in that place, and the text is a script of its own.
///
/// The text must be one by itself, and the closer must be the first thing in it that has no place: were the
/// text open at its end (a quote, a here-document, a brace), the closer would belong to it; had the text
/// closed the wrapper, the error would come earlier.
pub fn stands(text: &str, joint: Joint, whole: &str) -> bool {
    // a line that goes on, even where (in a comment) it doesn't
    if text.ends_with('\\') {
        return false;
    }
    let limits = Limits::default();
    if grammar::parse(text, Dialect::Bash, &limits).error.is_some() {
        return false;
    }
    // the second: no here-document begins behind it
    if !["", "\n"].iter().all(|line| closes(text, &[joint.between, line].concat(), joint.closer, &limits)) {
        return false;
    }
    // and the whole is what it should be, for every parser that reads it
    let whole = read(whole, Dialect::Bash, &limits);
    whole.error.is_none()
        // it depends on an option how these are read, and the text may turn it on
        && !whole.facts.has_extended_pattern
        && !matches!(whole.second, Second::Differ(_))
}

/// Whether the closer is where reading stops.
fn closes(text: &str, between: &str, closer: &str, limits: &Limits) -> bool {
    let whole = [text, between, closer].concat();
    grammar::parse(&whole, Dialect::Bash, limits).error.is_some_and(|error| {
        error.offset == text.len() + between.len() && !matches!(error.fault, Fault::Bound(_))
    })
}

/// Whether bash, given this text, prints a syntax error and runs nothing of it.
pub fn runs_nothing(text: &str) -> bool {
    read(text, Dialect::Bash, &Limits::default()).runs_nothing()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBSHELL: Joint = Joint { between: "\n", closer: ")" };
    const BRACES: Joint = Joint { between: "; ", closer: "}" };

    fn in_subshell(text: &str) -> bool {
        stands(text, SUBSHELL, &format!("(\n:\n{text}\n)\nx=$?"))
    }

    #[test]
    fn a_text_that_is_whole_stands() {
        for text in [
            "echo a",
            "",
            "# note",
            "echo a # note",
            "sleep 1 &",
            "cat <<E\na\nE",
            "for i in 1; do\n echo $i\ndone",
            "case a in a) b;; esac",
            "echo ')' \")\" \\)",
            "f() { a; }\nf",
            "a | b && c",
            "x=(1 2)",
        ] {
            assert!(in_subshell(text), "{text:?}");
        }
        assert!(stands("echo }", BRACES, "{ echo }; }; x=$?"));
    }

    #[test]
    fn a_text_that_closes_the_wrapper_or_is_open_at_its_end_does_not() {
        for text in [
            "true )\n( echo",
            "true\n)\necho x\n(",
            "echo 'a",
            "echo \"a",
            "echo `a",
            "echo $(a",
            "echo ${a",
            "cat <<E",
            "cat <<E\na",
            "cat <<'E'\n)\nE ",
            "echo \\",
            "# note \\",
            "{ echo",
            "if a; then b",
            "case a in",
            "case a in a",
            "( echo",
            "a &&",
            "a |",
            "f()",
            "x=(1",
            "[[ a",
            "(( 1",
            "echo !(a)",
        ] {
            assert!(!in_subshell(text), "{text:?}");
        }
        for text in ["true; }; echo x; { false", "echo a # note", "cat <<E\nE", "cat <<E", "a\n", "a &"] {
            assert!(!stands(text, BRACES, &format!("{{ {text}; }}; x=$?")), "{text:?}");
        }
    }
}
