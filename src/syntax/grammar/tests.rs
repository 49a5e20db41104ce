//! Texts and the trees they read as. Expected values are written out; the difficult ones were run in bash.

use crate::syntax::bounds::{Bound, Limits};
use crate::syntax::grammar::{Dialect, Fault, parse};
use crate::syntax::render;

fn read(text: &str) -> String {
    let parsed = parse(text, Dialect::Bash, &Limits::default());
    match parsed.error {
        None => render::script(&parsed.script),
        Some(error) => format!("{} ERROR {error}", render::script(&parsed.script)).trim_start().to_owned(),
    }
}

fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(read(text), *expected, "reading {text:?}");
    }
}

#[test]
fn commands_are_read() {
    check(&[
        ("", ""),
        ("echo hi", "[echo hi]"),
        ("a; b & c\nd", "[a] [b] & [c] [d]"),
        ("a && b || c | d |& e", "[a] && [b] || [c] | [d 2>&1] | [e]"),
        ("! a | b", "! [a] | [b]"),
        ("if a; then b; elif c; then d; else e; fi >f", "if [a] then [b] elif [c] then [d] else [e] fi >f"),
        ("for x in a b; do c; done", "for x in a b do [c] done"),
        ("for x; do c; done", "for x in - do [c] done"),
        ("for x do c; done", "for x in - do [c] done"),
        ("for x in a; { c; }", "for x in a do [c] done"),
        ("for ((i=0; i<3; i++)); do c; done", "for ((\"i=0\";\" i<3\";\" i++\")) do [c] done"),
        ("select x in a; do c; done", "select x in a do [c] done"),
        ("while a; do b; done; until c; do d; done", "while [a] do [b] done until [c] do [d] done"),
        (
            "case $x in a|b) c;; (d) ;& e) f;;& *) g; esac",
            "case ${x} in a|b) [c] ;; d)  ;& e) [f] ;;& *) [g] ;; esac",
        ),
        (
            "f() { a; }; function g { b; }; function h () (c)",
            "function f { [a] } function g { [b] } function h ( [c] )",
        ),
        ("(a; b) >f 2>&1; { c; }", "( [a] [b] ) >f 2>&1 { [c] }"),
        ("coproc cat; coproc N { a; }", "coproc - [cat] coproc N { [a] }"),
        ("(( x = 1 )); (( $(id) ))", "((\" x = 1 \")) ((\" \"\"$( [id] )\"\" \"))"),
        ("[[ -f a && ( $x == b* || ! c ) ]]", "[[ (-f a && (${x} == b* || ! -n c)) ]]"),
        ("[[ a =~ ^(b|c d)$ ]] && e", "[[ a =~ ^(b|c d)$ ]] && [e]"),
        ("[[ -n $(id) ]]", "[[ -n $( [id] ) ]]"),
        ("if in; then in; fi", "if [in] then [in] fi"),
        ("{(id)}", "{ ( [id] ) }"),
        ("if (a) then b; fi", "if ( [a] ) then [b] fi"),
    ]);
}

#[test]
fn words_are_read() {
    check(&[
        ("a 'b c' \"d $e\" f\\ g", "[a 'b c' \"d \"\"${e}\" f\\' 'g]"),
        ("a '' \"\" $'\\x41\\n\\'' $\"b\"", "[a '' \"\" $'A\n'' \"b\"]"),
        ("$(a $(b)) `c \\`d\\``", "[$( [a $( [b] )] ) $( [c $( [d] )] )]"),
        ("a \"$(b \"c\")\" \"`d \\\"e\\\"`\"", "[a \"$( [b \"c\"] )\" \"$( [d \"e\"] )\"]"),
        ("a ~ ~/b ~u/c a~ x=~/d", "[a {~} {~}/b {~u}/c a~ x={~}/d]"),
        ("x=~/a:~b:c; y=1 z", "[x={~}/a:{~b}:c] [y=1 z]"),
        (
            "a ${b:-c d} ${b-'}'} ${#b} ${b##*/} ${b%.c} ${!b} ${b[1]} ${#b[@]} ${!b[@]} ${!b*}",
            "[a ${b:-c d} ${b-'}'} ${#b} ${b##*/} ${b%.c} ${!b} ${b[\"1\"]} ${#b[\"@\"]} ${!b[\"@\"]@names} ${!b@names}]",
        ),
        (
            "a ${b/c/d} ${b//c} ${b:1:2} ${b^^} ${b,} ${b@Q} ${#} $# $? ${10} $10",
            "[a ${b/c/d} ${b//c} ${b:\"1\":\"2\"} ${b^^} ${b,} ${b@Q} ${#} ${#} ${?} ${10} ${1}0]",
        ),
        (
            "a \"${b:-'}'}\" \"${c:-\"d e\"}\" \"${x:-$(id)}\"",
            "[a \"${b:-\"'}'\"}\" \"${c:-\"d e\"}\" \"${x:-\"$( [id] )\"}\"]",
        ),
        ("a $((1 + $b)) $[2] \"$((c))\"", "[a $((\"1 + \"\"${b}\")) $((\"2\")) \"$((\"c\"))\"]"),
        ("a <(b) >(c) d<(e)", "[a <( [b] ) >( [c] ) d<( [e] )]"),
        ("fi<(b) <((c); d)", "[fi<( [b] ) <( ( [c] ) [d] )]"),
        ("a !(b|c) @(d) x+(e f)", "[a !(b|c) @(d) x+(e f)]"),
        ("a=1 b+=2 c[0]=3 d=(x [1]=y \"z\")", "[a=1 b+=2 c[\"0\"]=3 d=(x [\"1\"]=y \"z\")]"),
        ("declare -a x=(1 2) y=3", "[declare -a y=3 x=(1 2)]"),
        ("FOO-BAR=x", "[FOO-BAR=x]"),
        ("a$ $ \"$\"", "[a$ $ \"$\"]"),
        ("a ${b!c}", "[a ${b!c}]"),
        ("a ${b[}; id", "[a ${b[}] [id]"),
        ("a !(${b-) c", "[a !($(  BROKEN ${b- )) c]"),
        ("a $((${b))", "[a $((\"$(  BROKEN ${b )\"))]"),
        ("a $((b) c $(d) ) e", "[a $(  BROKEN (b) c $(d)  ) e]"),
        ("ec\\\nho $\\\n(id) i\\\nf", "[echo $( [id] ) if]"),
        ("i\\\nf a; then b; fi", "if [a] then [b] fi"),
        ("a[ x ]y b", "[a[ x ]y b]"),
        (
            "if i[ -n \"${P}\" ]; then \\\n\tb; \\\n\tc --d ${P}; \\\nelse \\\n\te; \\\nfi",
            "if [i[ -n \"${P}\" ]] then [b] [c --d ${P}] else [e] fi",
        ),
        ("echo a#b #c\nd", "[echo a#b] [d]"),
    ]);
}

#[test]
fn redirects_are_read() {
    check(&[
        (
            "a >b 2>>c <d <>e >|f 3<&0 >&2 2>&- &>g &>>h >&i 1>&j",
            "[a >b 2>>c <d <>e >|f 3<&0 >&2 2>&- &>g &>>h &>i 1&>j]",
        ),
        ("exec {fd}>x 2>y; a {b}", "[exec {fd}>x 2>y] [a {b}]"),
        ("ls &>f -la", "[ls -la &>f]"),
        ("a >&-b c; >& -d", "[a b c >&-] [d >&-]"),
        ("if a; then&>b; fi", "if [a] then [&>b] fi"),
        ("a >b()", "ERROR line 1, column 5: unexpected operator or reserved word"),
        ("99999999999>x", "[99999999999 >x]"),
        ("a <<<\"$b\" < <(c)", "[a <<<\"${b}\" <<( [c] )]"),
        ("cat <<E >f\na $b\nE\nc", "[cat <<\"a \"\"${b}\"\"\n\" >f] [c]"),
        ("cat <<'E'\na $b\nE", "[cat <<'a $b\n']"),
        ("cat <<-E\n\ta\n\tE\nb", "[cat <<'a\n'] [b]"),
        ("a <<A; b <<B\n1\nA\n2\nB\nc", "[a <<'1\n'] [b <<'2\n'] [c]"),
        ("cat <<E\nabc", "[cat <<'abc']"),
        ("cat <<E\nx\\\nE\nE\nb", "[cat <<\"xE\n\"] [b]"),
        ("while a; do b; done <<E\nx\nE", "while [a] do [b] done <<'x\n'"),
        ("a $(cat <<E\nx\nE\n) b", "[a $( [cat <<'x\n'] ) b]"),
        ("a $(cat <<E\nx\nE) b\nc", "[a $( [cat <<'x\n'] ) b] [c]"),
        ("cat <<E\n$(if then)\nE\nb", "[cat <<\"$(  BROKEN $(if then)\n )\"] [b]"),
        ("cat <<\"E F\"\n`id`\nE F", "[cat <<'`id`\n']"),
        ("sh <<E &&\na\nE\nb", "[sh <<'a\n'] && [b]"),
    ]);
}

#[test]
fn known_misreadings_of_other_parsers_are_none_here() {
    check(&[
        ("echo a\r# ; id", "[echo a\r#] [id]"),
        ("echo a\u{a0}# ; id", "[echo a\u{a0}#] [id]"),
        ("echo a\u{b}# ; id", "[echo a\u{b}#] [id]"),
        ("((echo a); (id))", "( ( [echo a] ) ( [id] ) )"),
        ("echo $((echo a); (id))", "[echo $( ( [echo a] ) ( [id] ) )]"),
        ("x=`echo \\`id\\``", "[x=$( [echo $( [id] )] )]"),
        ("time -- id", "[id]"),
        ("time -p -- id", "[id]"),
        ("time time id", "[id]"),
        ("! time id", "! [id]"),
        ("a | time id", "[a] | [time id]"),
        ("!(id)", "! ( [id] )"),
        ("x=$(echo a  # )\nid)", "[x=$( [echo a] [id] )]"),
        ("$(case a in b) c;; esac)", "[$( case a in b) [c] ;; esac )]"),
        ("+() { id; }", "function + { [id] }"),
        ("> if", "[>if]"),
    ]);
}

#[test]
fn commands_before_a_syntax_error_are_kept() {
    check(&[
        ("id\nif then", "[id] ERROR line 2, column 4: command is missing here"),
        ("id; if then", "ERROR line 1, column 8: command is missing here"),
        ("a `id\nif then`; x", "[a $( [id] BROKEN id\nif then )] [x]"),
        ("a $(if then)", "ERROR line 1, column 8: command is missing here"),
        ("a 'b", "ERROR line 1, column 3: the text ends, but ' is missing"),
        ("a | | b", "ERROR line 1, column 5: unexpected operator or reserved word"),
        ("a;;b", "ERROR line 1, column 2: unexpected operator or reserved word"),
        ("a )", "ERROR line 1, column 3: unexpected operator or reserved word"),
        ("(a", "ERROR line 1, column 3: the text ends, but ) is missing"),
        ("[[ a == a ]] id", "ERROR line 1, column 14: unexpected operator or reserved word"),
        ("f() id", "ERROR line 1, column 5: function body is missing here"),
    ]);
}

#[test]
fn dash_reads_its_own_grammar() {
    let cases = [
        ("ls &>f", "[ls] & [>f]"),
        ("[[ a ]]; function b; time c", "[[[ a ]]] [function b] [time c]"),
        ("echo $'a'", "[echo $'a']"),
        ("((a))", "( ( [a] ) )"),
        ("a {b}>c", "[a {b} >c]"),
        ("f() id", "function f [id]"),
    ];
    for (text, expected) in cases {
        let parsed = parse(text, Dialect::Posix, &Limits::default());
        assert_eq!(parsed.error, None, "{text}");
        assert_eq!(render::script(&parsed.script), expected, "{text}");
    }
}

#[test]
fn deep_nesting_is_a_bound_and_not_a_crash() {
    for opening in [
        "$(",
        "(",
        "((",
        "{ ",
        "\"$(",
        "${x:-",
        "if ",
        "[[ ( ",
        "<(",
        "$((",
        "a=(",
        "f() { ",
        "case a in a) ",
    ] {
        let text = opening.repeat(10_000);
        let parsed = parse(&text, Dialect::Bash, &Limits::default());
        assert!(parsed.error.is_some(), "{opening}");
        assert!(parsed.script.items.is_empty(), "{opening}");
    }
    let parsed =
        parse(&format!("{}id{}", "$(".repeat(100), ")".repeat(100)), Dialect::Bash, &Limits::default());
    assert_eq!(parsed.error.map(|e| e.fault), Some(Fault::Bound(Bound::Depth)));
    let documents = "cat <<E\n".repeat(10_000);
    assert_eq!(parse(&documents, Dialect::Bash, &Limits::default()).error, None);
}

#[test]
fn spans_are_bytes_of_the_outer_text() {
    let text = "\u{e9} $(id a) <<E\n\u{e9}$(x)\nE";
    let parsed = parse(text, Dialect::Bash, &Limits::default());
    let rendered = format!("{:?}", parsed.script);
    assert!(rendered.contains("Span { start: 3, end: 10 }"), "{rendered}");
    let at = text.rfind("x)").map_or(0, |at| at);
    assert!(rendered.contains(&format!("Span {{ start: {at}, end: {} }}", at + 1)), "{rendered}");
}
