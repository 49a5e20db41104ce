//! The envelope floor: any bytes, wrapped by any client or by none, give an envelope; a quoted text comes out as
//! it went in; a wrapper makes nothing milder.
#![no_main]

use agent_sh::envelope::{self, Scope};
use agent_sh::invocation::context::Context;
use agent_sh::policy::Policy;
use agent_sh::text::{judged, raw};
use agent_sh::verdict::Verdict;
use agent_sh::verify::Judge;
use libfuzzer_sys::fuzz_target;

#[path = "../nowhere.rs"]
mod nowhere;

use nowhere::Nowhere;

thread_local! {
    static JUDGE: Judge = Judge::new(Policy::embedded());
}

fn context() -> Context {
    let arguments = vec!["bash".to_owned()];
    Context { arguments, cwd: "/w".to_owned(), home: "/home/u".to_owned(), uid: 1000, ..Context::default() }
}

fn quoted(body: &[u8]) -> Vec<u8> {
    let inner: Vec<u8> =
        body.iter().flat_map(|b| if *b == b'\'' { b"'\"'\"'".to_vec() } else { vec![*b] }).collect();
    [b"'", inner.as_slice(), b"'"].concat()
}

fuzz_target!(|data: &[u8]| {
    let context = context();
    JUDGE.with(|judge| {
        let alone = judged(data);
        let bare = judge.verify(&alone, &context, &Nowhere).verdict;
        // as it is: perhaps a wrapper by itself, perhaps with one byte too many
        let envelope = envelope::read(&alone, &context, &Vec::new);
        judge.verify_call(&alone, &envelope, &context, &Nowhere);
        if data.contains(&0) {
            return;
        }
        for (before, after) in [
            ("eval ", " && pwd -P >| /tmp/claude-00aa-cwd"),
            ("if . '/h/.codex/shell_snapshots/a.sh' >/dev/null 2>&1; then :; fi\n\nexec '/bin/bash' -c ", ""),
        ] {
            let text = [before.as_bytes(), &quoted(data), after.as_bytes()].concat();
            let text = judged(&text);
            let envelope = envelope::read(&text, &context, &Vec::new);
            assert_eq!(&*raw(&envelope.command), data);
            assert!(matches!(envelope.scope, Scope::Apart(_)));
            let verdict = judge.verify_call(&text, &envelope, &context, &Nowhere).verdict;
            assert!(bare != Verdict::Deny || verdict == Verdict::Deny, "{text:?}");
        }
        let (before, after) = ("_bgpids_file=/tmp/b\n(\n  trap 'jobs -p > \"$_bgpids_file\"' EXIT\n", "\n)\n__code=$?\nexit $__code");
        let text = [before.as_bytes(), data, after.as_bytes()].concat();
        let text = judged(&text);
        let envelope = envelope::read(&text, &context, &Vec::new);
        assert_eq!(&*raw(&envelope.command), data);
        judge.verify_call(&text, &envelope, &context, &Nowhere);
    });
});
