//! No text makes the judge overflow, run long or die: nesting, size, odd bytes.
//!
//! In: texts that grow. Out: a verdict for each, in bounded time on the stack that a program has.
//! Never: runs any of them.

// a test program: what is not there may stop it
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::wildcard_enum_match_arm,
    clippy::format_collect,
    clippy::format_push_string,
    clippy::too_many_lines
)]

mod stand;

use std::time::Duration;

use agent_sh::verdict::Verdict;
use stand::verify;

/// What Linux gives a program's main thread.
const STACK: usize = 8 << 20;
const DEEP: usize = 10_000;

/// Time that this thread has worked; the machine may be busy with other things.
fn worked() -> Duration {
    nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap().into()
}

/// Judges on a program's stack; how long it took.
fn timed(text: String) -> (Verdict, Duration) {
    let thread = std::thread::Builder::new().stack_size(STACK);
    let run = move || {
        let start = worked();
        (verify(&text).verdict, worked().saturating_sub(start))
    };
    thread.spawn(run).unwrap().join().unwrap()
}

/// Time that a debug build may take for a text of ten thousand parts. Past it, it must at least be linear: what is
/// a list of commands takes its time.
const SOON: Duration = Duration::from_secs(2);

/// Whether a text of so many parts is judged soon or in linear time.
fn ends(text: &dyn Fn(usize) -> String) -> Result<(), String> {
    let (verdict, took) = timed(text(DEEP));
    if took < SOON {
        return Ok(());
    }
    let (_, half) = timed(text(DEEP / 2));
    let shown: String = text(DEEP).chars().take(40).collect();
    if took < half * 3 && took < SOON * 15 {
        Ok(())
    } else {
        Err(format!("{shown:?}: {verdict}, {half:?} then {took:?}"))
    }
}

#[test]
fn ten_thousand_of_everything_that_nests() {
    let mut slow = Vec::new();
    for (open, middle, close) in [
        ("$(", "id", ")"),
        ("x $(", "id", ")"),
        ("\"$(", "id", ")\""),
        ("(", "id", ")"),
        ("( ", "id", " )"),
        ("((", "1", "))"),
        ("$((", "1", "))"),
        ("$((1+", "1", "))"),
        ("[[ ( ", "-e x", " ) ]]"),
        ("{ ", "id;", " }"),
        ("{", "a,b", "}"),
        ("{a,", "b", "}"),
        ("echo {a,", "b", "}"),
        ("'", "x", "'"),
        ("\"", "x", "\""),
        ("$'", "x", "'"),
        ("\\", "x", "\\"),
        ("`", "id", "`"),
        ("\\`", "id", "\\`"),
        ("<(", "id", ")"),
        ("cat <(", "id", ")"),
        ("${x:-", "y", "}"),
        ("echo ${x:-", "y", "}"),
        ("\"${x:-", "y", "}\""),
        ("${x[", "0", "]}"),
        ("x[", "0", "]=1"),
        ("if ", "id", "; then id; fi"),
        ("if true; then ", "id", "; fi"),
        ("while ", "id", "; do id; done"),
        ("for i in a; do ", "id", "; done"),
        ("case x in x) ", "id", ";; esac"),
        ("f() { ", "id", "; }"),
        ("f() ", "{ id; }", ""),
        ("! ", "id", ""),
        ("time ", "id", ""),
        ("coproc ", "id", ""),
        ("a=", "b", ""),
        ("a=b ", "id", ""),
        ("eval ", "id", ""),
        ("sudo ", "id", ""),
        ("env ", "id", ""),
        ("command ", "id", ""),
        ("xargs ", "id", ""),
        ("sh -c '", "id", "'"),
        ("id | ", "id", ""),
        ("id && ", "id", ""),
        ("id; ", "id", ""),
        ("id & ", "id", ""),
        ("id\n", "id", ""),
        ("cat <<E\n", "x", "\nE\n"),
        ("cat <<E; ", "x", "\nE"),
        ("cat <<E $(", "x", ")\nE"),
        ("cat <<< ", "x", ""),
        ("> x ", "id", ""),
        ("< x ", "id", ""),
        ("2>&1 ", "id", ""),
        ("~/", "x", ""),
        ("../", "x", ""),
        ("*", "x", ""),
        ("[", "x", "]"),
        ("?(", "x", ")"),
        ("ls @(", "x", ")"),
        ("# ", "x", ""),
        ("a(", "x", ")"),
        ("a=(", "x", ")"),
        ("python3 -c '(", "x", ")'"),
        ("jq '[", "x", "]'"),
        ("alias a=b; ", "a", ""),
        ("function f { ", "f", "; }"),
        ("select x in y; do ", "id", "; done"),
        ("until ", "id", "; do :; done"),
    ] {
        slow.extend(ends(&|n| format!("{}{middle}{}", open.repeat(n), close.repeat(n))).err());
        slow.extend(ends(&|n| open.repeat(n)).err());
    }
    assert!(slow.is_empty(), "{slow:#?}");
}

#[test]
fn deep_code_in_other_languages_ends() {
    let mut slow = Vec::new();
    for (before, open, middle, close, after) in [
        ("python3 -c '", "(", "1", ")", "'"),
        ("python3 -c '", "f(", "1", ")", "'"),
        ("python3 -c '", "[", "1", "]", "'"),
        ("python3 -c '", "-", "1", "", "'"),
        ("python3 -c '", "not ", "1", "", "'"),
        ("python3 -c '", "if 1: ", "x", "", "'"),
        ("python3 -c '", "lambda: ", "x", "", "'"),
        ("python3 -c '", "a.", "b", "", "'"),
        ("python3 -c '", "1+", "1", "", "'"),
        ("python3 -c '", "f\"{", "x", "}\"", "'"),
        ("node -e '", "{", "x", "}", "'"),
        ("node -e '", "`${", "x", "}`", "'"),
        ("node -e '", "!", "x", "", "'"),
        ("node -e '", "a?", "b", ":c", "'"),
        ("node -e '", "function(){", "b", "}", "'"),
        ("perl -e '", "{", "x", "}", "'"),
        ("perl -e '", "q(", "x", ")", "'"),
        ("perl -e '", "\\", "x", "", "'"),
        ("ruby -e '", "begin ", "x", " end", "'"),
        ("ruby -e '", "\"#{", "x", "}\"", "'"),
        ("php -r '", "(", "x", ");", "'"),
        ("lua -e '", "do ", "x()", " end", "'"),
        ("lua -e '", "[", "x", "]", "'"),
        ("awk '", "{", "x", "}", "'"),
        ("awk '", "(", "x", ")", "'"),
        ("tclsh <<'E'\n", "[", "x", "]", "\nE"),
        ("tclsh <<'E'\n", "{", "x", "}", "\nE"),
        ("sed '", "{", "p", "}", "'"),
        ("Rscript -e '", "(", "x", ")", "'"),
        ("jq '", "(", ".", ")", "'"),
        ("emacs --batch --eval '", "(", "x", ")", "'"),
        ("sqlite3 x '", "(", "x", ")", "'"),
        ("vim -c '", "if 1|", "x", "|endif", "'"),
        ("vim -c '", "exe \"", "x", "\"", "'"),
        ("make -f - <<'E'\n", "$(", "x", ")", "\nE"),
        ("make -f - <<'E'\na:\n\t", "$(", "x", ")", "\nE"),
        ("gdb -batch -ex '", "python ", "x", "", "'"),
        ("find . ", "\\( ", "-name x", " \\)", ""),
        ("expr ", "\\( ", "1", " \\)", ""),
        ("test ", "\\( ", "1", " \\)", ""),
        ("test ", "! ", "1", "", ""),
        ("tar --to-command='", "sh -c ", "x", "", "' -xf x"),
        ("ssh h ", "sh -c ", "x", "", ""),
    ] {
        let text = |n| format!("{before}{}{middle}{}{after}", open.repeat(n), close.repeat(n));
        slow.extend(ends(&text).err());
    }
    assert!(slow.is_empty(), "{slow:#?}");
}

#[test]
fn large_texts_end_and_time_grows_with_the_text() {
    let here = |bytes: usize| {
        format!("cat > notes.txt <<'E'\n{}E\n", "some words of a document\n".repeat(bytes / 25))
    };
    let list = |bytes: usize| "id;".repeat(bytes / 3);
    let lines = |bytes: usize| "echo \"$HOME\" | grep x\n".repeat(bytes / 22);
    let word = |bytes: usize| format!("echo {}", "x".repeat(bytes));
    let words = |bytes: usize| format!("echo{}", " x".repeat(bytes / 2));
    let quoted = |bytes: usize| format!("echo{}", " 'a'\"b\"\\c".repeat(bytes / 9));
    let assigned = |bytes: usize| "x=$x:y;".repeat(bytes / 7);
    let piped = |bytes: usize| format!("cat x{}", " | cat".repeat(bytes / 6));
    let brackets = |bytes: usize| format!("ls {}", "[".repeat(bytes));
    let python = |bytes: usize| format!("python3 - <<'E'\n{}E\n", "x = f(1, 'a')\n".repeat(bytes / 14));
    let joined = |bytes: usize| (0..bytes / 20).map(|n| format!("test a && v{n:06}=b\n")).collect::<String>();
    let named = |bytes: usize| (0..bytes / 20).map(|n| format!("make x{n:06} | tee l\n")).collect::<String>();
    let decoded = |bytes: usize| format!("echo {} | base64 -d | sh", "aWQ7".repeat(bytes / 4));
    let shapes: [(&str, &dyn Fn(usize) -> String); 13] = [
        ("here-document", &here),
        ("list", &list),
        ("lines", &lines),
        ("word", &word),
        ("words", &words),
        ("quoted", &quoted),
        ("assigned", &assigned),
        ("piped", &piped),
        ("brackets", &brackets),
        ("python", &python),
        ("decoded", &decoded),
        ("joined", &joined),
        ("named", &named),
    ];
    for (name, shape) in shapes {
        // the better of two is nearer to the work itself
        let best = |bytes: usize| (0..2).map(|_| timed(shape(bytes)).1).min().unwrap();
        let (half, whole) = (best(128 << 10), best(256 << 10));
        println!("{name:14} 128 KiB {half:?}, 256 KiB {whole:?}");
        assert!(whole < Duration::from_secs(10), "{name}: {whole:?}");
        assert!(whole < half * 3 || whole < Duration::from_millis(60), "{name}: {half:?}, then {whole:?}");
    }
}

#[test]
fn odd_bytes_are_judged_like_any() {
    let words = ["", "id", "'", "\"", "$", "rm -rf ", "\\", "<<E\n", "${x", "$((", "`"];
    for byte in 0..=255_u8 {
        for before in words {
            for after in words {
                let bytes = [before.as_bytes(), &[byte], after.as_bytes()].concat();
                drop(verify(&agent_sh::text::judged(&bytes)));
            }
        }
    }
    for bytes in [
        &b"\xff\xfe\x00"[..],
        b"echo \xed\xa0\x80 > \xc3",
        b"\xf4\x90\x80\x80",
        "\u{10FE00} \u{10FFFF}".as_bytes(),
    ] {
        drop(verify(&agent_sh::text::judged(bytes)));
    }
}

#[test]
fn a_text_that_a_limit_cuts_is_never_allowed() {
    for text in [format!("{}rm -rf /{}", "$(".repeat(DEEP), ")".repeat(DEEP)), "(".repeat(DEEP)] {
        assert_ne!(timed(text).0, Verdict::Allow);
    }
    let large = format!("echo {}", "x".repeat(9 << 20));
    assert_ne!(timed(large).0, Verdict::Allow);
}
