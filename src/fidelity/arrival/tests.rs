//! Tests of `fidelity::arrival`.

use super::*;
use crate::fidelity::intent::{Meant, record_in};
use crate::fidelity::store::KEPT_USED;

const HOST: Process = Process { pid: 100, start: 1 };
const OTHER: Process = Process { pid: 200, start: 2 };
const SHELL: Process = Process { pid: 300, start: 3 };

/// Processes that are not there: this one first, then those above it.
struct Fixed(Vec<Process>);

impl Line for Fixed {
    fn pid(&self) -> u32 {
        self.0.first().map_or(0, |own| own.pid)
    }

    fn own(&self) -> Option<Process> {
        self.0.first().copied()
    }

    fn above(&self, _: &dyn Fn(Process) -> bool) -> Vec<Process> {
        self.0.iter().skip(1).copied().collect()
    }
}

/// Where there are no records, nobody needs to know.
struct Unseen;

impl Line for Unseen {
    fn pid(&self) -> u32 {
        panic!("asked for")
    }

    fn own(&self) -> Option<Process> {
        panic!("asked for")
    }

    fn above(&self, _: &dyn Fn(Process) -> bool) -> Vec<Process> {
        panic!("asked for")
    }
}

struct Stand {
    _folder: tempfile::TempDir,
    store: Store,
}

impl Stand {
    fn new(texts: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::make_at(&folder.path().join("a/b/intents")).unwrap();
        let stand = Self { _folder: folder, store };
        for text in texts {
            stand.mean(HOST, text, None);
        }
        stand
    }

    fn mean(&self, host: Process, text: &str, call: Option<&str>) {
        let meant = Meant { framework: "test", call, cwd: b"/", text: text.as_bytes() };
        record_in(&self.store, host, &meant).unwrap();
    }

    fn arrive_as(&self, text: &str, body: &str, given: &Given, line: &[Process]) -> Arrival {
        let arrived = Arrived { text: text.as_bytes(), body: body.as_bytes(), dialect: Dialect::Bash };
        pair_in(std::slice::from_ref(&self.store), &arrived, given, &Fixed(line.to_vec()))
    }

    fn arrive(&self, text: &str) -> Arrival {
        self.arrive_as(text, text, &Given::default(), &[SHELL, HOST])
    }
}

fn named(arrival: &Arrival) -> (&'static str, Option<By>) {
    (arrival.outcome.name(), arrival.by)
}

#[test]
fn an_equal_text_is_paired_once_and_again_when_it_is_retried() {
    let stand = Stand::new(&["echo a"]);
    assert_eq!(named(&stand.arrive("echo a")), ("same", Some(By::Digest)));
    // a second shell of the framework's with the same text, no hook in between
    let later = [Process { pid: 301, start: 9 }, HOST];
    let retry = stand.arrive_as("echo a", "echo a", &Given::default(), &later);
    assert_eq!(named(&retry), ("same", Some(By::Again)));
}

#[test]
fn what_is_in_a_known_wrapper_is_compared_without_it() {
    let stand = Stand::new(&["echo a"]);
    let arrival = stand.arrive_as("eval 'echo a' && pwd", "echo a", &Given::default(), &[SHELL, HOST]);
    assert_eq!(named(&arrival), ("same", Some(By::Digest)));
    let stand = Stand::new(&["echo 'a\\\\b'"]);
    let arrival = stand.arrive_as("eval …", "echo 'a\\b'", &Given::default(), &[SHELL, HOST]);
    assert_eq!(named(&arrival), ("diverged", Some(By::Process)));
    assert_eq!(arrival.meant.as_deref(), Some(&b"echo 'a\\\\b'"[..]));
}

#[test]
fn a_changed_text_stays_changed_when_it_is_retried() {
    let stand = Stand::new(&["grep 'a\\\\b' x"]);
    for (pid, by) in [(300, By::Process), (301, By::Again), (302, By::Again)] {
        let line = [Process { pid, start: 3 }, HOST];
        let arrival = stand.arrive_as("grep 'a\\b' x", "grep 'a\\b' x", &Given::default(), &line);
        assert_eq!(named(&arrival), ("diverged", Some(by)), "{pid}");
        assert_eq!(arrival.meant.as_deref(), Some(&b"grep 'a\\\\b' x"[..]));
    }
}

#[test]
fn other_bytes_of_the_same_meaning_are_equivalent() {
    let stand = Stand::new(&["echo a\n"]);
    let arrival = stand.arrive("echo a");
    assert_eq!(named(&arrival), ("equivalent", Some(By::Process)));
    assert_eq!(arrival.meant.as_deref(), Some(&b"echo a\n"[..]));
}

#[test]
fn two_that_could_be_meant_are_ambiguous_and_nothing_is_used_up() {
    let stand = Stand::new(&["git log -n 5 a", "git log -n 5 b"]);
    assert_eq!(named(&stand.arrive("git log -n 5 c")), ("ambiguous", None));
    assert_eq!(named(&stand.arrive("git log -n 5 b")), ("same", Some(By::Digest)));
    // one is left, so it is that
    let line = [Process { pid: 301, start: 3 }, HOST];
    let arrival = stand.arrive_as("git log -n 5 c", "git log -n 5 c", &Given::default(), &line);
    assert_eq!(named(&arrival), ("diverged", Some(By::Process)));
}

#[test]
fn a_shell_within_a_paired_command_is_no_call_of_the_framework() {
    let stand = Stand::new(&["make", "rm x"]);
    assert_eq!(named(&stand.arrive("make")), ("same", Some(By::Digest)));
    let line = [Process { pid: 400, start: 4 }, SHELL, HOST];
    assert_eq!(named(&stand.arrive_as("rm x", "rm x", &Given::default(), &line)), ("within", None));
    // also where the shell replaced itself
    assert_eq!(named(&stand.arrive("rm y")), ("within", None));
    let line = [Process { pid: 401, start: 4 }, HOST];
    assert_eq!(named(&stand.arrive_as("rm x", "rm x", &Given::default(), &line)), ("same", Some(By::Digest)));
}

#[test]
fn another_framework_s_record_pairs_by_equal_text_only() {
    let stand = Stand::new(&[]);
    stand.mean(OTHER, "git log -n 5 a", None);
    assert_eq!(named(&stand.arrive("git log -n 5 b")), ("unknown", None));
    assert_eq!(named(&stand.arrive("git log -n 5 a")), ("same", Some(By::Digest)));
    // once the own framework has records, others' are not looked at
    stand.mean(OTHER, "ls other", None);
    stand.mean(HOST, "make", None);
    assert_eq!(named(&stand.arrive("ls other")), ("unknown", None));
}

#[test]
fn what_the_caller_names_must_be_there_and_be_it() {
    let digest = |text: &str| Given { digest: Some(Digest::of(text.as_bytes())), call: None };
    let call = |name: &str| Given { digest: None, call: Some(name.to_owned()) };
    let line = [SHELL, HOST];
    let stand = Stand::new(&["ls"]);
    stand.mean(HOST, "make", Some("toolu_1"));
    for (text, given, expected) in [
        ("echo a", digest("echo a"), ("same", Some(By::GivenDigest))),
        ("echo a", digest("echo b"), ("missing", None)),
        ("lz", digest("ls"), ("diverged", Some(By::GivenDigest))),
        ("make", call("toolu_2"), ("missing", None)),
        ("make it", call("toolu_1"), ("diverged", Some(By::GivenCall))),
    ] {
        let arrival = stand.arrive_as(text, text, &given, &line);
        assert_eq!(named(&arrival), expected, "{text} {given:?}");
        // each shell is another process
        for found in stand.store.of(HOST) {
            if let State::Claimed { .. } = found.entry.state {
                Store::claim(&found, Sighting { pid: 1, tick: 1 }, Digest::of(b"x"));
            }
        }
    }
    let none = Given::default();
    let arrived = Arrived { text: b"x", body: b"x", dialect: Dialect::Bash };
    for (given, expected) in [
        (none, Outcome::Unknown),
        (digest("y"), Outcome::Missing),
        (digest("x"), Outcome::Same),
        (call("y"), Outcome::Missing),
    ] {
        assert_eq!(pair_in(&[], &arrived, &given, &Unseen).outcome, expected, "{given:?}");
    }
}

#[test]
fn a_record_whose_text_is_not_what_its_name_says_pairs_with_nothing_that_differs() {
    let stand = Stand::new(&["git log -n 5 a"]);
    let file = stand.store.of(HOST).remove(0).path;
    let mut bytes = std::fs::read(&file).unwrap();
    bytes.extend_from_slice(b"; id");
    std::fs::write(&file, bytes).unwrap();
    assert_eq!(named(&stand.arrive("git log -n 5 b")), ("unknown", None));
    let given = Given { digest: Some(Digest::of(b"git log -n 5 a")), call: None };
    let arrival = stand.arrive_as("git log", "git log", &given, &[SHELL, HOST]);
    assert_eq!((named(&arrival), arrival.meant), (("missing", Some(By::GivenDigest)), None));
}

#[test]
fn a_forged_record_grants_nothing_it_only_says_what_is_compared() {
    let stand = Stand::new(&["rm -rf /"]);
    let arrival = stand.arrive("rm  -rf /");
    assert_eq!(arrival.outcome, Outcome::Equivalent(Arbiter::Trees));
    assert_eq!(arrival.meant.as_deref(), Some(&b"rm -rf /"[..]), "and that is judged, too");
}

#[test]
fn a_dead_record_is_no_candidate() {
    let stand = Stand::new(&[]);
    let meant = Meant { framework: "t", call: None, cwd: b"/", text: b"git log -n 5 a" };
    let entry = Entry {
        host: HOST,
        digest: Digest::of(meant.text),
        call: None,
        time: now() - FRESH - 1,
        length: meant.text.len(),
        state: State::Pending,
    };
    stand.store.put(&entry, &meant).unwrap();
    assert_eq!(named(&stand.arrive("git log -n 5 b")), ("unknown", None));
    assert_eq!(named(&stand.arrive("git log -n 5 a")), ("same", Some(By::Digest)), "an equal text always is");
}

#[test]
fn parallel_calls_pair_without_a_mistake() {
    let stand = Stand::new(&[]);
    let text = |at: u32| format!("printf '%s\\\\n' {at} | sed 's/{at}/x/'\n");
    let altered = |at: u32| text(at).replace("\\\\", "\\");
    std::thread::scope(|scope| {
        for thread in 0..8_u32 {
            let stand = &stand;
            scope.spawn(move || {
                for at in (thread * 40)..(thread * 40 + 40) {
                    stand.mean(HOST, &text(at), None);
                    let line = [Process { pid: 1000 + at, start: 3 }, HOST];
                    let received = if at % 10 == 0 { altered(at) } else { text(at) };
                    let arrival = stand.arrive_as(&received, &received, &Given::default(), &line);
                    if at % 10 == 0 {
                        assert_eq!(arrival.outcome.name(), "diverged", "{at}");
                        assert_eq!(arrival.meant, Some(text(at).into_bytes()), "{at}");
                    } else {
                        assert_eq!(named(&arrival), ("same", Some(By::Digest)), "{at}");
                    }
                }
            });
        }
    });
    let left = stand.store.of(HOST).into_iter().filter(|found| found.entry.state == State::Pending).count();
    assert_eq!(left, 0);
}

#[test]
fn used_records_do_not_pile_up_but_changed_ones_stay_known() {
    let stand = Stand::new(&["grep 'a\\\\b' x"]);
    // processes of these numbers are not there
    let line = |at: u32| [Process { pid: (1 << 30) + at, start: 3 }, HOST];
    let changed = "grep 'a\\b' x";
    assert_eq!(named(&stand.arrive_as(changed, changed, &Given::default(), &line(0))).0, "diverged");
    for at in 1..60 {
        let text = format!("echo {at}");
        stand.mean(HOST, &text, None);
        let arrival = stand.arrive_as("wrapped", &text, &Given::default(), &line(at));
        assert_eq!(named(&arrival), ("same", Some(By::Digest)), "{at}");
    }
    assert!(stand.store.of(HOST).len() <= KEPT_USED + 3, "{}", stand.store.of(HOST).len());
    let again = stand.arrive_as(changed, changed, &Given::default(), &line(99));
    assert_eq!(named(&again), ("diverged", Some(By::Again)));
    let retry = stand.arrive_as("wrapped", "echo 59", &Given::default(), &line(100));
    assert_eq!(named(&retry), ("same", Some(By::Again)));
}

#[test]
fn a_wrapper_that_hands_the_text_on_once_more_hides_no_change() {
    let stand = Stand::new(&["printf '%s' 'a\\\\b'"]);
    let text = "printf '%s' 'a\\\\b'";
    assert_eq!(named(&stand.arrive_as("exec …", text, &Given::default(), &[SHELL, HOST])).0, "same");
    let inner = [Process { pid: 301, start: 4 }, SHELL, HOST];
    for (text, outcome) in [
        (text, "within"),
        ("printf '%s' 'a\\\\b'\n", "within"),
        ("echo other", "within"),
        ("printf '%s' 'a\\b'", "diverged"),
    ] {
        let arrival = stand.arrive_as(text, text, &Given::default(), &inner);
        assert_eq!(arrival.outcome.name(), outcome, "{text}");
        assert_eq!(arrival.meant.is_some(), outcome == "diverged");
    }
}
