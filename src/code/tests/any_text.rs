//! Random and hostile text of every language: never a panic, never long.

use super::*;
use proptest::prelude::*;

/// Pieces of source text of all languages, so that random texts get past the first token.
const PIECES: &[&str] = &[
    "import os\n",
    "os.system(",
    "'a'",
    "\"b\"",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "\n",
    "\n  ",
    " ",
    ";",
    ",",
    ".",
    "=",
    "==",
    "=>",
    "->",
    "::",
    "$x",
    "@y",
    "%h",
    "#{",
    "${",
    "`",
    "f'{",
    "'''",
    "\"\"\"",
    "<<EOT\n",
    "EOT\n",
    "<<~'A'",
    "/",
    "//",
    "/*",
    "*/",
    "--[[",
    "]]",
    "--",
    "\\",
    "\\x41",
    "def f(a):",
    "function f(a) {",
    "sub {",
    "do |x|",
    "end",
    "if",
    "else",
    "for x in",
    "for (",
    "while 1",
    "return ",
    "lambda x: ",
    "x = ",
    "x += ",
    "x",
    "[::-1]",
    "eval",
    "exec ",
    "require('child_process')",
    "system ",
    "print ",
    "> ",
    "| ",
    "getline ",
    "s/a/b/e",
    "tr/a-z/b-za/",
    "q(",
    "qw(",
    "%x(",
    "<?php ",
    "?>",
    "\u{e9}",
    "\u{10ff80}",
    "0x41",
    "12",
    "..",
    "...",
    "**",
    "*",
    "&",
    "?",
    ":",
    "!",
    "set x ",
    "exec ls",
    "$(shell ",
    "a:\n\t",
    ".shell ",
    "\\! ",
    ":!",
    "global/",
    "append x ",
    "getattr(",
    "__import__(",
    "chr(",
    "join(",
    "map(",
    "async ",
    "await ",
    "new ",
    "class A",
    "=begin\n",
    "=cut\n",
    "__END__",
    "|",
    "||",
    "a.b.c",
    "x[0]",
    "h{k}",
    "-e ",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn pieces_of_code_never_panic(parts in prop::collection::vec(prop::sample::select(PIECES), 0..60)) {
        let text = parts.concat();
        for (_, lang) in Lang::ALL {
            let found = look(*lang, &text);
            for act in &found.acts {
                prop_assert!(act.span.start <= act.span.end);
            }
        }
    }

    #[test]
    fn random_text_never_panics(text in "\\PC{0,200}") {
        for (_, lang) in Lang::ALL {
            look(*lang, &text);
        }
    }
}

#[test]
fn deep_and_long_text_is_cut_not_followed() {
    let hostile = [
        "(",
        "[",
        "{",
        "f(",
        "a.",
        "a[",
        "-",
        "not ",
        "!",
        "x=",
        "x=[x];",
        "x=x+x;",
        "x+",
        "if a:\n ",
        "lambda x:",
        "\"${",
        "f'{",
        "`${",
        "[[",
        "$x->{",
        "do |x| ",
        "function(){",
        "sub {",
        "x = 'a'*9;",
        "s/",
        "\\",
        "<<A\n",
        "q(",
        "/[",
        "'",
        "$(shell ",
        "a=b ? ",
    ];
    for piece in hostile {
        let text = piece.repeat(60_000 / piece.len());
        for (name, lang) in Lang::ALL {
            let start = std::time::Instant::now();
            look(*lang, &text);
            assert!(start.elapsed().as_secs() < 5, "{name}: {piece} takes {:?}", start.elapsed());
        }
    }
}
