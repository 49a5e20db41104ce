//! Grants against time, boot, directory, owner and each other.

use super::*;

fn store(owner: Owner) -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let uid = Uid::effective().as_raw();
    let root = folder.path().to_path_buf();
    (folder, Store { home: root.join("home"), uid, owner, root, root_owner: uid })
}

fn key(n: u8) -> Key {
    Key::parse(&format!("{n:02x}").repeat(32)).unwrap()
}

fn now() -> Now {
    Now { time: 1_000_000, boot: "b".to_owned(), directory: Some((1, 2)) }
}

fn grant(times: Times) -> Grant {
    Grant {
        key: key(7).text().to_owned(),
        times,
        made: now().time,
        expires: now().time + 60,
        boot: Some("b".to_owned()),
        directory: None,
        by: 0,
        text: "rm x".to_owned(),
    }
}

#[test]
fn once_means_once_and_often_means_until_it_expires() {
    for owner in [Owner::User, Owner::Root] {
        let (_folder, store) = store(owner);
        assert_eq!(store.leave(&key(7), &now()), None);
        store.grant(&grant(Times::Once)).unwrap();
        assert_eq!(store.grants(now().time), [grant(Times::Once)]);
        assert_eq!(store.leave(&key(8), &now()), None);
        assert_eq!(store.leave(&key(7), &now()), Some(grant(Times::Once)));
        assert_eq!(store.leave(&key(7), &now()), None);
        store.grant(&grant(Times::Often)).unwrap();
        for _ in 0..3 {
            assert_eq!(store.leave(&key(7), &now()), Some(grant(Times::Often)));
        }
        assert_eq!(store.leave(&key(7), &Now { time: now().time + 60, ..now() }), None);
    }
}

#[test]
fn another_time_boot_or_directory_gets_no_leave_and_uses_nothing_up() {
    let (_folder, store) = store(Owner::User);
    store.grant(&Grant { directory: Some((1, 2)), ..grant(Times::Once) }).unwrap();
    for other in [
        Now { time: now().time + 60, ..now() },
        Now { time: now().time - 301, ..now() },
        Now { boot: "c".to_owned(), ..now() },
        Now { directory: Some((1, 3)), ..now() },
        Now { directory: None, ..now() },
    ] {
        assert_eq!(store.leave(&key(7), &other), None, "{other:?}");
    }
    assert!(store.leave(&key(7), &now()).is_some());
    store.grant(&Grant { boot: None, ..grant(Times::Once) }).unwrap();
    assert!(store.leave(&key(7), &Now { boot: "c".to_owned(), ..now() }).is_some());
}

#[test]
fn where_root_s_alone_count_the_user_s_do_not() {
    let (_folder, store) = store(Owner::User);
    store.grant(&grant(Times::Often)).unwrap();
    let strict = Store { owner: Owner::Root, ..store.clone() };
    assert_eq!(strict.leave(&key(7), &now()), None);
    strict.grant(&grant(Times::Once)).unwrap();
    assert!(strict.leave(&key(7), &now()).is_some());
    strict.grant(&grant(Times::Often)).unwrap();
    // a file in root's folder that isn't root's: the user put it there
    let foreign = Store { root_owner: strict.root_owner + 1, ..strict };
    assert_eq!(foreign.leave(&key(7), &now()), None);
    assert_eq!(foreign.grants(now().time), []);
}

#[test]
fn a_grant_under_another_name_or_with_more_in_it_is_none() {
    let (_folder, store) = store(Owner::User);
    store.grant(&grant(Times::Often)).unwrap();
    let path = store.own_path();
    std::fs::copy(path.join(key(7).text()), path.join(key(9).text())).unwrap();
    assert_eq!(store.leave(&key(9), &now()), None);
    let text = String::from_utf8(json(&grant(Times::Often)).unwrap()).unwrap();
    for broken in [text.replace('{', "{\"x\":1,"), text.replace("often", "always"), String::new(), text + "x"]
    {
        std::fs::write(path.join(key(7).text()), broken).unwrap();
        assert_eq!(store.leave(&key(7), &now()), None);
    }
}

#[test]
fn of_fifty_attempts_one_is_let_through() {
    let (_folder, store) = store(Owner::User);
    for _ in 0..10 {
        store.grant(&grant(Times::Once)).unwrap();
        let let_through: usize = std::thread::scope(|scope| {
            let all: Vec<_> =
                (0..50).map(|_| scope.spawn(|| store.leave(&key(7), &now()).is_some())).collect();
            all.into_iter().map(|attempt| usize::from(attempt.join().unwrap())).sum()
        });
        assert_eq!(let_through, 1);
    }
}

#[test]
fn questions_are_kept_for_their_time_and_are_not_many() {
    let (_folder, store) = store(Owner::User);
    let question = |n: u8| Question {
        key: key(n).text().to_owned(),
        text: "rm x".to_owned(),
        arguments: Vec::new(),
        cwd: "/w".to_owned(),
        directory: None,
        caller: "/bin/a".to_owned(),
        verdict: "warn".to_owned(),
        evidence: Vec::new(),
        asked: 1_000 + u64::from(n),
    };
    assert_eq!(store.questions(1_000, 60), []);
    (0..80).for_each(|n| store.ask(&question(n)).unwrap());
    assert_eq!(store.questions(1_079, 3_600).len(), 64);
    assert_eq!(store.questions(1_079 + 3_600, 3_600), []);
    let last = store.questions(1_079, 3_600).pop().unwrap();
    assert!(store.is_open(&Key::parse(&last.key).unwrap()));
    assert!(store.forget(&last.key) && !store.forget(&last.key));
    assert!(!store.is_watched());
    let watch = store.watch().unwrap();
    assert!(store.is_watched());
    drop(watch);
    assert!(!store.is_watched());
}

#[test]
fn what_is_revoked_is_gone() {
    let (_folder, store) = store(Owner::User);
    store.grant(&grant(Times::Often)).unwrap();
    assert_eq!(store.revoke(&key(8).code(), now().time), 0);
    assert_eq!(store.revoke(&key(7).code(), now().time), 1);
    assert_eq!(store.leave(&key(7), &now()), None);
}
