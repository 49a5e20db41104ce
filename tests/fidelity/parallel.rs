//! Many calls at once, each with its intent, through real agent-sh processes.

use crate::measures::is_full;
use crate::stage::Stage;

#[test]
fn parallel_calls_are_paired_without_a_mistake() {
    let stage = Stage::new();
    let count: usize = if is_full() { 1000 } else { 80 };
    let threads = 8;
    let text = |at: usize| format!("printf '%s\\\\n' call-{at} | sed 's/l-{at}/L {at}/'\n");
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (stage, text) = (&stage, &text);
            scope.spawn(move || {
                for at in (thread..count).step_by(threads) {
                    stage.mean(text(at).as_bytes());
                    let altered = at % 10 == 3;
                    let received = if altered { text(at).replace("\\\\", "\\") } else { text(at) };
                    let outcome = stage.run(&["-c", &received], b"");
                    if altered {
                        assert_eq!((outcome.status, outcome.stdout.as_str()), (126, ""), "{at}: {outcome:?}");
                        assert!(outcome.stderr.contains(&format!("call-{at} |")), "{at}: {}", outcome.stderr);
                    } else {
                        assert_eq!((outcome.status, outcome.stdout), (0, format!("calL {at}\\n")), "{at}");
                    }
                }
            });
        }
    });
    println!("parallel calls {count}, mistakes 0");
}
