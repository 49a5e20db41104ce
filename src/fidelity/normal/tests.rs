//! Tests of `fidelity::normal`.

use super::*;
use crate::syntax::bounds::Limits;
use crate::syntax::grammar::{Dialect, parse};

fn normal(text: &str) -> String {
    let parsed = parse(text, Dialect::Bash, &Limits::default());
    assert_eq!(parsed.error, None, "{text}");
    of(&parsed.script)
}

#[test]
fn ways_to_write_the_same_have_one_normal_form() {
    for (one, other) in [
        ("a; b", "a\n\n# x\n  b # y\n"),
        ("echo a b", "'echo' \"a\" \\b"),
        ("echo a \\\n  b", "echo a b"),
        ("if a; then b; fi", "if a\nthen\n  b\nfi"),
        ("echo $x ${y}", "echo ${x} $y"),
        ("echo `id`", "echo $(id)"),
        ("a >f 2>&1", "a 1> f 2>& 1"),
        ("f() { a; }", "function f { a; }"),
        ("a |& b", "a 2>&1 | b"),
        ("a=\"\" b", "a= b"),
        ("ls *.txt", "ls *'.txt'"),
        ("[[ a ]]", "[[ -n a ]]"),
        ("echo \"$x\"y", "echo \"${x}y\""),
        ("git show HEAD~1", "git show 'HEAD~1'"),
        ("find . -exec rm {} \\;", "find . -exec rm '{}' ';'"),
        ("cat <<E\na\nE\n", "cat <<'E'\na\nE"),
        ("cat <<-E\n\ta\n\tE", "cat <<E\na\nE"),
    ] {
        assert_eq!(normal(one), normal(other), "{one} | {other}");
    }
}

#[test]
fn what_changes_the_commands_changes_the_normal_form() {
    for (one, other) in [
        ("echo a b", "echo 'a b'"),
        ("echo $x", "echo \"$x\""),
        ("echo $x", "echo '$x'"),
        ("echo *", "echo '*'"),
        ("echo {a,b}", "echo {a','b}"),
        ("echo {1..3}", "echo '{1..3}'"),
        ("echo [ab]", "echo '[ab]'"),
        ("echo ~", "echo '~'"),
        ("export x=$y", "export x'='$y"),
        ("echo \"\"$x", "echo $x"),
        ("echo ''", "echo"),
        ("a && b", "a; b"),
        ("a & b", "a; b"),
        ("a | b", "a; b"),
        ("! a", "a"),
        ("a=1 b", "'a=1' b"),
        ("if a; then b; fi", "'if' a; 'then' b; 'fi'"),
        ("a 2>f", "a '2' >f"),
        ("a >f", "a >>f"),
        ("(a)", "{ a; }"),
        ("case $x in a*) b;; esac", "case $x in 'a*') b;; esac"),
        ("case $x in a) b;; esac", "case $x in a) b;& esac"),
        ("[[ $x =~ a.b ]]", "[[ $x =~ 'a.b' ]]"),
        ("cat <<E\n$x\nE", "cat <<'E'\n$x\nE"),
        ("cat <<E\na\nE", "cat <<E\na\n\nE"),
        ("echo ${x:-a}", "echo ${x-a}"),
        ("echo ${x#a}", "echo ${x##a}"),
        ("echo $((1+2))", "echo $((1+3))"),
        ("while a; do b; done", "until a; do b; done"),
        ("echo a3:b", "echo ab3:"),
        ("echo '1:a'", "echo 1 :a"),
    ] {
        assert_ne!(normal(one), normal(other), "{one} | {other}");
    }
}
