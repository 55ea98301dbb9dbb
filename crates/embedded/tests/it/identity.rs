//! A store that was lost is never replaced by a new one, whose fences would begin again.

use std::fs;
use std::path::{Path, PathBuf};

use leasehold_embedded::faults::Faults;
use leasehold_embedded::{Result, Store, Written};
use redb::{Database, TableDefinition, WriteTransaction};

const NUMBERS: TableDefinition<'_, &str, u64> = TableDefinition::new("test.numbers");

fn file(folder: &Path) -> PathBuf {
    folder.join("leasehold.redb")
}

fn marker(folder: &Path) -> PathBuf {
    folder.join("leasehold.id")
}

fn put(write: &WriteTransaction, number: u64) -> Result<Written<()>, redb::Error> {
    write.open_table(NUMBERS)?.insert("number", number)?;
    Ok(Written::Changed(()))
}

fn number(store: &Store) -> u64 {
    let read =
        |read: &redb::ReadTransaction| Ok(read.open_table(NUMBERS)?.get("number")?.expect("was put").value());
    store.read(read).expect("reads")
}

/// A closed store with a number in it.
fn closed(number: u64) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("temporary folder");
    let store = Store::open(folder.path()).expect("creates");
    store.write_blocking(move |write| put(write, number)).expect("writes");
    folder
}

/// The store is refused with this code and a cure, and the folder is left as it is.
fn refused(folder: &Path, code: &str, cure: &str) {
    let names = || {
        let entries = fs::read_dir(folder).expect("lists");
        let mut names: Vec<_> = entries.map(|entry| entry.expect("lists").file_name()).collect();
        names.sort();
        names
    };
    let before = (names(), fs::read(file(folder)).ok());
    let refused = Store::open(folder).expect_err("no store is created");
    assert_eq!(refused.code(), code, "{refused}");
    assert!(refused.to_string().contains(cure), "{refused}");
    assert!(before == (names(), fs::read(file(folder)).ok()), "the folder was changed");
}

#[test]
fn store_without_its_file_is_not_created_again() {
    let folder = closed(8);
    fs::remove_file(file(folder.path())).expect("removes");
    refused(folder.path(), "embedded.missing", "Restore the file from a backup");
    fs::remove_file(marker(folder.path())).expect("removes");
    Store::open(folder.path()).expect("creates an empty one, as the message says");
}

#[test]
fn empty_file_is_not_filled_with_a_new_store() {
    let folder = closed(8);
    fs::write(file(folder.path()), "").expect("truncates");
    refused(folder.path(), "embedded.empty", "Restore the file from a backup");
    fs::remove_file(marker(folder.path())).expect("removes");
    refused(folder.path(), "embedded.empty", "delete it and");
}

#[test]
fn file_of_another_store_is_refused_until_the_marker_is_deleted() {
    let (folder, other) = (closed(8), closed(9));
    fs::copy(file(other.path()), file(folder.path())).expect("copies");
    let refused = Store::open(folder.path()).expect_err("is another store");
    assert_eq!(refused.code(), "embedded.replaced", "{refused}");
    assert!(refused.to_string().contains("Put the right file back"), "{refused}");
    fs::remove_file(marker(folder.path())).expect("removes");
    assert_eq!(number(&Store::open(folder.path()).expect("is accepted")), 9);
}

#[test]
fn copy_of_the_file_alone_is_the_same_store() {
    let (folder, copy) = (closed(8), tempfile::tempdir().expect("temporary folder"));
    fs::copy(file(folder.path()), file(copy.path())).expect("copies");
    assert_eq!(number(&Store::open(copy.path()).expect("opens")), 8);
    let id = |folder: &tempfile::TempDir| fs::read(marker(folder.path())).expect("has a marker");
    assert_eq!(id(&folder), id(&copy));
}

#[test]
fn store_of_a_release_without_ids_is_adopted_with_all_that_is_in_it() {
    let folder = tempfile::tempdir().expect("temporary folder");
    {
        const ABOUT: TableDefinition<'_, &str, u32> = TableDefinition::new("leasehold.about");
        let database = Database::create(file(folder.path())).expect("creates");
        let write = database.begin_write().expect("begins");
        write.open_table(ABOUT).expect("opens").insert("format", 1).expect("inserts");
        put(&write, 8).expect("writes");
        write.commit().expect("commits");
    }
    assert_eq!(number(&Store::open(folder.path()).expect("adopts")), 8);
    assert_eq!(number(&Store::open(folder.path()).expect("opens again")), 8);
    fs::remove_file(file(folder.path())).expect("removes");
    refused(folder.path(), "embedded.missing", "leasehold.id");
}

#[test]
fn half_created_store_is_created_again() {
    let folder = tempfile::tempdir().expect("temporary folder");
    fs::write(folder.path().join("leasehold.redb.new"), "half a store").expect("writes");
    let store = Store::open(folder.path()).expect("creates");
    store.write_blocking(|write| put(write, 1)).expect("writes");
}

#[test]
fn store_that_must_exist_is_never_created() {
    let parent = tempfile::tempdir().expect("temporary folder");
    for folder in [parent.path().join("missing"), parent.path().to_owned()] {
        let refused = Store::open_existing(&folder).expect_err("there is none");
        assert_eq!(refused.code(), "embedded.absent", "{refused}");
        assert!(!file(&folder).exists() && !marker(&folder).exists());
    }
    assert!(!parent.path().join("missing").exists());
    drop(Store::open(parent.path()).expect("creates"));
    Store::open_existing(parent.path()).expect("there is one");
}

#[test]
fn deleted_file_fails_writes_and_the_check_until_it_is_back() {
    let folder = closed(8);
    let store = Store::open(folder.path()).expect("opens");
    let elsewhere = folder.path().join("elsewhere");
    fs::rename(file(folder.path()), &elsewhere).expect("moves");
    let failed = store.write_blocking(|write| put(write, 9)).expect_err("the file is lost");
    assert_eq!(failed.code(), "embedded.not_written", "{failed:?}");
    assert_eq!(store.check().expect_err("the file is lost").code(), "embedded.lost");
    assert!(!file(folder.path()).exists(), "nothing was created in its place");
    // Another file in its place is no better.
    fs::copy(&elsewhere, file(folder.path())).expect("copies");
    let failed = store.write_blocking(|write| put(write, 9)).expect_err("it is another file");
    assert_eq!(failed.code(), "embedded.not_written", "{failed:?}");
    assert_eq!(store.check().expect_err("it is another file").code(), "embedded.lost");
    let refused = Store::open(folder.path()).expect_err("the folder is still owned");
    assert_eq!(refused.code(), "embedded.in_use");

    fs::rename(&elsewhere, file(folder.path())).expect("moves");
    store.check().expect("is back");
    assert_eq!(number(&store), 8);
    store.write_blocking(|write| put(write, 10)).expect("goes on");
}

#[test]
fn write_into_a_file_that_is_deleted_meanwhile_is_unknown() {
    let folder = closed(8);
    let store = Store::open(folder.path()).expect("opens");
    let path = file(folder.path());
    let failed = store.write_blocking(move |write| {
        fs::remove_file(&path)?;
        put(write, 9)
    });
    assert_eq!(failed.expect_err("the file is lost").code(), "embedded.indeterminate");
}

#[test]
fn file_that_is_lost_is_not_created_when_the_disk_fails_as_well() {
    let (folder, faults) = (tempfile::tempdir().expect("temporary folder"), Faults::none());
    let store = Store::open_with_faults(folder.path(), &faults).expect("creates");
    store.write_blocking(|write| put(write, 8)).expect("writes");
    let path = file(folder.path());
    faults.fail_next_sync();
    let failed = store.write_blocking(move |write| {
        fs::remove_file(&path)?;
        put(write, 9)
    });
    assert_eq!(failed.expect_err("the sync failed").code(), "embedded.indeterminate");
    store.write_blocking(|write| put(write, 10)).expect_err("there is no file");
    store.check().expect_err("there is no file");
    assert!(!file(folder.path()).exists(), "nothing was created in its place");
}
