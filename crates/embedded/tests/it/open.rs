//! What opening a folder promises, seen from outside.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use leasehold_embedded::{Store, Written};
use redb::TableDefinition;

const NUMBERS: TableDefinition<'_, &str, u64> = TableDefinition::new("test.numbers");

#[test]
fn folder_and_file_are_private_to_their_owner() {
    let parent = tempfile::tempdir().expect("temporary folder");
    let folder = parent.path().join("deep/data");
    let _store = Store::open(&folder).expect("creates missing folders");
    let mode = |path: &std::path::Path| fs::metadata(path).expect("exists").permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(&folder.join("leasehold.redb")), 0o600);
}

#[test]
fn committed_values_survive_reopening() {
    let folder = tempfile::tempdir().expect("temporary folder");
    {
        let store = Store::open(folder.path()).expect("opens");
        let written = store.write_blocking(|write| {
            write.open_table(NUMBERS)?.insert("seven", 7)?;
            Ok(Written::Changed(()))
        });
        written.expect("commits");
    }
    let store = Store::open(folder.path()).expect("opens again");
    let seven = store.read(|read| Ok(read.open_table(NUMBERS)?.get("seven")?.map(|seven| seven.value())));
    assert_eq!(seven.expect("reads"), Some(7));
    store.check().expect("healthy");
}

#[test]
fn second_opener_is_told_that_the_folder_is_in_use() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let first = Store::open(folder.path()).expect("opens");
    let refused = Store::open(folder.path()).expect_err("one owner at a time");
    assert_eq!(refused.code(), "embedded.in_use");
    assert!(refused.to_string().contains("in use"), "{refused}");
    drop(first);
    Store::open(folder.path()).expect("free again once the first owner is gone");
}

#[test]
fn path_to_a_file_is_refused_and_the_file_is_kept() {
    let parent = tempfile::tempdir().expect("temporary folder");
    let path = parent.path().join("notes.txt");
    fs::write(&path, "mine").expect("writes");
    let refused = Store::open(&path).expect_err("a file is not a folder");
    assert_eq!(refused.code(), "embedded.not_a_folder");
    assert_eq!(fs::read(&path).expect("reads"), b"mine");
}

#[test]
fn foreign_file_is_refused_and_kept() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("leasehold.redb");
    let foreign = vec![b'x'; 8192];
    fs::write(&path, &foreign).expect("writes");
    let refused = Store::open(folder.path()).expect_err("not a store");
    assert_eq!(refused.code(), "embedded.damaged", "{refused}");
    assert_eq!(fs::read(&path).expect("reads"), foreign);
}
