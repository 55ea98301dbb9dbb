//! `leasehold doctor` on what needs no other program: folders, servers, and what is not there.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::diagnosis::diagnose;
use crate::served::Server;

#[test]
fn folder_is_looked_at_without_being_touched() {
    let parent = tempfile::tempdir().expect("temporary folder");
    let folder = parent.path().join("data");
    let path = folder.to_str().expect("is text");
    let missing = diagnose(&["--store", path]);
    assert_eq!(missing.code, 7, "{}", missing.text);
    missing.expect("warning", "store", "there is no store");
    assert!(!folder.exists(), "nothing was made");

    let server = Server::start_on(path, &[]);
    server.json(&["queue", "create", "orders"]);
    let in_use = diagnose(&["--store", path, "--endpoint", &server.endpoint]);
    assert_eq!(in_use.code, 0, "{}", in_use.text);
    in_use.expect("ok", "store", "another process has it open");
    in_use.expect("ok", "server", "so does its store");
    server.json(&["queue", "produce", "orders", "--payload", "still served"]);

    // Killed: the file is not closed.
    drop(server);
    let killed = diagnose(&["--store", path]);
    killed.expect("warning", "store", "was not closed");
    leasehold_embedded::Store::open(&folder).expect("repairs");
    let closed = diagnose(&["--store", path]);
    assert_eq!(closed.code, 0, "{}", closed.text);
    closed.expect("ok", "store", "format 1, closed");
    closed.expect("ok", "permissions", "only user");
    closed.expect("ok", "disk", "GiB are free");

    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).expect("sets");
    let open = diagnose(&["--store", path]);
    assert!(open.expect("warning", "permissions", "its mode is 755").starts_with("chmod 700"));
    fs::write(folder.join("leasehold.redb"), "not a store, and long enough to look into it").expect("writes");
    let damaged = diagnose(&["--store", path]);
    assert_eq!(damaged.code, 8, "{}", damaged.text);
    damaged.expect("problem", "store", "embedded.damaged");
    fs::write(folder.join("leasehold.redb"), "").expect("truncates");
    let empty = diagnose(&["--store", path]);
    assert!(empty.expect("problem", "store", "embedded.empty").starts_with("restore"));
    fs::remove_file(folder.join("leasehold.redb")).expect("removes");
    let missing = diagnose(&["--store", path]);
    assert_eq!(missing.code, 8, "{}", missing.text);
    assert!(missing.expect("problem", "store", "embedded.missing").contains("leasehold.id"));
}

#[test]
fn what_cannot_be_reached_is_a_finding_without_secrets() {
    for (arguments, check, words) in [
        (&["--store", "postgres://app:hunter2@127.0.0.1:1/app"][..], "reach", "txn."),
        (&["--store", "dsql://app:hunter2@127.0.0.1:1/app?sslmode=disable"], "reach", "txn."),
        (&["--store", "redis://app:hunter2@127.0.0.1:1"], "reach", "lock."),
        (&["--endpoint", "http://127.0.0.1:1"], "server", "client.connect"),
        (&["--endpoint", "http://127.0.0.1:1", "--api-key", "hunter2"], "server", "client.connect"),
    ] {
        let found = diagnose(arguments);
        assert_eq!(found.code, 8, "{arguments:?}: {}", found.text);
        assert!(!found.expect("problem", check, words).is_empty(), "{arguments:?} says what to do");
    }
    for arguments in
        [&["--store", "mysql://root:hunter2@db/x"][..], &["--store", ""], &["--store", "memory:x"]]
    {
        let refused = diagnose(arguments);
        assert_eq!(refused.code, 2, "{arguments:?}: {}", refused.text);
    }
}

#[test]
fn server_whose_store_is_away_and_one_that_shows_nothing_here_are_told_apart() {
    let unwell = Server::start_on("postgres://app:hunter2@127.0.0.1:1/app?connect_timeout=1", &[]);
    let told = diagnose(&["--endpoint", &unwell.endpoint]);
    assert_eq!(told.code, 8, "{}", told.text);
    told.expect("problem", "server", "its store does not");
    let elsewhere = Server::start_with(&["--admin-address", "127.0.0.1:0"]);
    let told = diagnose(&["--endpoint", &elsewhere.endpoint]);
    assert_eq!(told.code, 7, "{}", told.text);
    assert!(told.expect("warning", "server", "does not serve /health").contains("admin-address"));
}

#[test]
fn full_disk_of_a_server_is_a_problem_until_there_is_room() {
    let parent = tempfile::tempdir().expect("temporary folder");
    let folder = parent.path().join("data");
    let server = Server::start_on_small_disk(folder.to_str().expect("is text"), 4_096);
    server.json(&["queue", "create", "orders"]);
    let payload = "x".repeat(100_000);
    let produce = ["queue", "produce", "orders", "--payload", &payload, "--timeout", "3s"];
    // One that is well before it is full.
    assert_eq!(server.run(&produce).code, 0);
    assert_eq!(diagnose(&["--endpoint", &server.endpoint]).code, 0);
    let refused = (0..100).map(|_| server.run(&produce)).find(|ran| ran.code != 0).expect("the disk is full");
    assert_eq!(refused.code, 4, "{refused:?}");

    // The store can be read, so the partition is open again, and nobody writes: what failed before is all that shows it.
    let opened = (0..300).any(|_| server.run(&["items", "list", "orders", "--limit", "1"]).code == 0);
    assert!(opened, "it can be read");
    let full = diagnose(&["--endpoint", &server.endpoint]);
    assert_eq!(full.code, 8, "{}", full.text);
    let next = full.expect("problem", "queues", "partition 0 of queue 'orders' failed");
    assert!(next.contains("disk may be full"), "{next}");

    server.make_room();
    assert_eq!(server.run(&produce).code, 0);
    let well = diagnose(&["--endpoint", &server.endpoint]);
    assert_eq!(well.code, 0, "{}", well.text);
}
