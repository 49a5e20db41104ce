//! Tests of `fidelity::store`.

use super::*;
use crate::fidelity::intent::record_in;
use std::os::unix::fs::{PermissionsExt as _, symlink};

const HOST: Process = Process { pid: 0, start: 0 };

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::make_at(&folder.path().join("run/agent-sh/intents")).unwrap();
    (folder, store)
}

fn meant<'a>(text: &'a [u8], call: Option<&'a str>) -> Meant<'a> {
    Meant { framework: "test", call, cwd: b"/x\xff", text }
}

#[test]
fn a_record_is_kept_to_the_byte_and_is_private() {
    let (_folder, store) = store();
    for text in [&b"echo '\xff\xfe'\nx\n\n"[..], b"", b"{\"v\":1}\n"] {
        let digest = record_in(&store, HOST, &meant(text, Some("toolu_1/../x"))).unwrap();
        let found = store.of(HOST).into_iter().find(|found| found.entry.digest == digest).unwrap();
        assert_eq!(Store::text(&found).as_deref(), Some(text));
        assert_eq!(std::fs::metadata(&found.path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::metadata(store.room(HOST)).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(
            found.entry.call.as_deref(),
            Some(crate::fidelity::intent::call_key("toolu_1/../x").as_str())
        );
    }
}

#[test]
fn a_folder_that_others_can_reach_or_a_link_is_no_store() {
    let folder = tempfile::tempdir().unwrap();
    let open = folder.path().join("a/b/open");
    std::fs::create_dir_all(&open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o750)).unwrap();
    assert_eq!(Store::make_at(&open).unwrap_err(), StoreError::NoPlace);
    // where only the runtime folder is there, the rest is made
    let runtime = tempfile::tempdir().unwrap();
    std::fs::set_permissions(runtime.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    assert!(Store::make_at(&runtime.path().join("agent-sh/intents")).is_ok());
    assert_eq!(
        Store::make_at(std::path::Path::new("/run/nosuch/agent-sh/intents")).unwrap_err(),
        StoreError::NoPlace
    );
    let (_other, store) = store();
    let link = folder.path().join("a/b/link");
    symlink(&store.folder, &link).unwrap();
    assert_eq!(Store::make_at(&link).unwrap_err(), StoreError::NoPlace);
}

#[test]
fn a_record_that_is_not_what_its_name_says_gives_no_text() {
    let (folder, store) = store();
    record_in(&store, HOST, &meant(b"echo one", None)).unwrap();
    let found = store.of(HOST).remove(0);
    let forged = std::fs::read(&found.path).unwrap();
    std::fs::write(&found.path, [&forged[..], b"x"].concat()).unwrap();
    assert_eq!(Store::text(&found), None, "another text");
    std::fs::write(&found.path, &forged).unwrap();
    std::fs::set_permissions(&found.path, std::fs::Permissions::from_mode(0o622)).unwrap();
    assert_eq!(Store::text(&found), None, "others may have written it");
    std::fs::remove_file(&found.path).unwrap();
    std::fs::write(folder.path().join("elsewhere"), &forged).unwrap();
    symlink(folder.path().join("elsewhere"), &found.path).unwrap();
    assert_eq!(Store::text(&found), None, "a link");
    for name in ["p.x.1.-", "q", "c.x", "t.1.2", "p", ".."] {
        assert_eq!(Entry::parse(HOST, name), None, "{name}");
    }
}

#[test]
fn a_record_is_claimed_once() {
    let (_folder, store) = store();
    record_in(&store, HOST, &meant(b"echo one", None)).unwrap();
    let found = store.of(HOST).remove(0);
    let by = Sighting { pid: 7, tick: 9 };
    let received = Digest::of(b"echo two");
    assert_eq!(Store::claim(&found, by, received), Claim::Taken);
    assert_eq!(Store::claim(&found, by, received), Claim::Gone);
    let used = store.of(HOST).remove(0);
    assert_eq!(used.entry.state, State::Claimed { by, received });
    assert_eq!(Store::text(&used).as_deref(), Some(&b"echo one"[..]));
}

#[test]
fn a_thousand_writers_lose_nothing_and_read_no_half_record() {
    let (_folder, store) = store();
    std::thread::scope(|scope| {
        for thread in 0..20_u32 {
            let store = &store;
            scope.spawn(move || {
                for at in 0..50_u32 {
                    let text = format!("echo {thread} {at} {}", "x".repeat(2000));
                    record_in(store, HOST, &meant(text.as_bytes(), None)).unwrap();
                    if at % 25 == 0 {
                        assert!(store.of(HOST).iter().all(|found| Store::text(found).is_some()));
                    }
                }
            });
        }
    });
    let mut digests: Vec<_> = store.of(HOST).into_iter().map(|found| found.entry.digest).collect();
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), 1000);
}

#[test]
fn the_oldest_of_too_many_and_the_too_old_go() {
    let (_folder, store) = store();
    for (text, time) in [("old", 1), ("new", now())] {
        let entry = Entry {
            host: HOST,
            digest: Digest::of(text.as_bytes()),
            call: None,
            time,
            length: text.len(),
            state: State::Pending,
        };
        store.put(&entry, &meant(text.as_bytes(), None)).unwrap();
    }
    store.sweep(HOST);
    let left: Vec<_> = store.of(HOST).into_iter().map(|found| found.entry.digest).collect();
    assert_eq!(left, [Digest::of(b"new")]);
}

#[test]
fn a_dead_framework_s_folder_goes_when_nothing_in_it_is_still_to_come() {
    let (_folder, store) = store();
    let dead = Process { pid: u32::MAX, start: 5 };
    let entry = Entry {
        host: dead,
        digest: Digest::of(b"x"),
        call: None,
        time: now() - FRESH - 1,
        length: 1,
        state: State::Pending,
    };
    store.put(&entry, &meant(b"x", None)).unwrap();
    assert!(store.has(dead));
    let own = Process::own().unwrap();
    record_in(&store, own, &meant(b"y", None)).unwrap();
    store.sweep(own);
    assert!(!store.has(dead));
}
