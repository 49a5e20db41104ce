//! Bodies that a model could send, among them such that want out of their wrapper. The same seed gives the same.

/// Numbers that look random (xorshift, Marsaglia 2003).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

const PLAIN: &[&[u8]] = &[
    b"echo a",
    b": b c",
    b"x=1",
    b" ",
    b"\t",
    b"\n",
    b"; ",
    b" && ",
    b" || ",
    b" | ",
    b" & ",
    b"echo $x",
    b"$(: a)",
    b"`: b`",
    b"\"a b\"",
    b"'a b'",
    b"\"$x\"",
    b"for i in 1 2; do : $i; done",
    b"if :; then :; fi",
    b"(: a)",
    b"{ :; }",
    b"f() { :; }",
    b"[[ a == a ]]",
    b"((1))",
    b"cat <<E\na $x\nE\n",
    b"cat <<'E'\n'a'\nE\n",
    b"cat <<-E\n\ta\n\tE\n",
    b"<<<x",
    b"# note",
    b" # it's",
    b"case a in (a) :;; esac",
    b"\\\n",
    b"$'a\\'b'",
    b"$\"a\"",
    b"{a,b}",
    b"~",
    b"*",
    b"!",
    b"a=(1 2)",
    b"<(:)",
];

const HOSTILE: &[&[u8]] = &[
    b"'",
    b"\"",
    b"`",
    b"\\",
    b"\\\\",
    b"'\"'\"'",
    b"'\\''",
    b"$(",
    b"${",
    b"$((",
    b")",
    b"(",
    b"}",
    b"{",
    b"; }",
    b" }",
    b"\n)\n",
    b"\n}\n",
    b")\n(",
    b"; }; : x; { :",
    b"true\n)\n:\n(\n:",
    b"' && pwd -P >| /tmp/claude-0a1b-cwd",
    b" < /dev/null",
    b"' < /dev/null && : '",
    b"\n)\n__code=$?\nexit $__code",
    b"; }; __code=$?; pgrep -g 0 >/tmp/p 2>&1; exit $__code;",
    b"cat <<E",
    b"cat <<'E'\n",
    b"<<E\n)\n",
    b"E\n",
    b"\nEOF",
    b"<<EOF\n",
    b"SOUNIQUEEOF\n",
    b"#",
    b"# '",
    b"\r",
    b"\r\n",
    b"\x01",
    b"\x7f",
    b"\x1b[0m",
    b"\x08",
    b"\x0b",
    b"\x0c",
    b"\xff",
    b"\x80",
    b"\xc3",
    b"\xe2\x80\xae",
    b"\xf4\x8f\xbf\x80",
    b"\xc2\xa0",
    b"\xf0\x9f\x92\xbb",
    b"-n",
    b"--",
    b"-c",
    b"$1",
    b"\"$1\"",
    b"esac",
    b"done",
    b"fi",
    b";;",
    b"&&",
    b"||",
    b"|",
    b"&",
    b"!(",
    b"@(a|b)",
    b"eval 'x' < /dev/null && pwd -P >| /tmp/claude-ffff-cwd",
    b"exec '/bin/bash' -c 'x'",
    b"(\n  trap 'jobs -p > \"$_bgpids_file\"' EXIT\n",
    b"[[",
    b"[",
    b"=(",
    b"coproc",
    b"time",
];

/// One body: up to nine pieces, one in three of them hostile.
pub(crate) fn body(dice: &mut Dice) -> Vec<u8> {
    let count = dice.below(10);
    let hostile = dice.below(3);
    let mut out = Vec::new();
    for _ in 0..count {
        let from = if dice.below(3) < hostile { HOSTILE } else { PLAIN };
        out.extend_from_slice(dice.pick(from));
    }
    out
}

/// A body that is an ordinary command of several lines.
pub(crate) fn tame(dice: &mut Dice) -> Vec<u8> {
    const LINES: &[&str] = &[
        "echo 'it'\"'\"'s' \"a b\" \\'",
        "for i in 1 2; do\n  printf '%s\\n' \"$i\"\ndone",
        "cat <<'EOF'\na 'b' \"c\" $d )\nEOF",
        "x=$(printf a | tr a b); echo \"${x:-none}\"",
        "if [ -f x ]; then echo y; else echo n; fi",
        "sleep 0 & wait",
        "echo a # it's a note",
        "case $x in a) echo a;; *) echo b;; esac",
        "f() { echo \"$1\"; }\nf '('",
        "echo {a,b}$((1 + 2)) >/dev/null 2>&1",
    ];
    let lines: Vec<&str> = (0..=dice.below(4)).map(|_| dice.pick(LINES)).collect();
    lines.join("\n").into_bytes()
}

/// One byte of a text put in, taken out or changed.
pub(crate) fn wounded(text: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut out = text.to_vec();
    let at = dice.below(out.len().max(1));
    let byte = b"'\"\\ \n;&|(){}$`#<>ax0/\x01\xff"[dice.below(23)];
    match dice.below(3) {
        0 => out.insert(at, byte),
        1 if !out.is_empty() => drop(out.remove(at)),
        _ if !out.is_empty() => out[at] = byte,
        _ => out.push(byte),
    }
    out
}
