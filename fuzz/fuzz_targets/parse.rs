//! Reading: any bytes give a tree or an error, the same each time, and a bounded tree.
#![no_main]

use agent_sh::syntax::grammar::Dialect;
use agent_sh::syntax::bounds::Limits;
use agent_sh::syntax::read::read;
use agent_sh::text::{judged, raw};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = judged(data);
    assert_eq!(raw(&text), data);
    let limits = Limits { bytes: 1 << 16, depth: 80, second: 1 << 10 };
    for dialect in [Dialect::Bash, Dialect::Posix] {
        let reading = read(&text, dialect, &limits);
        assert!(reading.error.is_none_or(|error| error.offset <= text.len()));
        assert_eq!(format!("{:?}", reading.script), format!("{:?}", read(&text, dialect, &limits).script));
    }
});
