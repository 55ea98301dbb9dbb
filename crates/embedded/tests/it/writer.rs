//! What the one writer promises: commits are shared, failures are not.

use std::sync::Arc;
use std::sync::mpsc;

use leasehold_embedded::faults::Faults;
use leasehold_embedded::{Error, Result, Store, Written};
use redb::{ReadableTableMetadata, TableDefinition, WriteTransaction};
use tempfile::TempDir;
use tokio::task::JoinSet;

const NUMBERS: TableDefinition<'_, u64, u64> = TableDefinition::new("test.numbers");

fn open() -> (Store, Faults, TempDir) {
    let (folder, faults) = (tempfile::tempdir().expect("temporary folder"), Faults::none());
    let store = Store::open_with_faults(folder.path(), &faults).expect("opens");
    store.write_blocking(|write| put(write, 0)).expect("makes the table");
    (store, faults, folder)
}

fn put(write: &WriteTransaction, number: u64) -> Result<Written<u64>, redb::Error> {
    write.open_table(NUMBERS)?.insert(number, number)?;
    Ok(Written::Changed(number))
}

fn has(store: &Store, number: u64) -> bool {
    store.read(|read| Ok(read.open_table(NUMBERS)?.get(number)?.is_some())).expect("reads")
}

/// Keeps the writer busy until it is told to go on, so that what is sent meanwhile makes one batch.
async fn hold(store: &Store) -> mpsc::Sender<()> {
    let (go_on, told) = mpsc::channel();
    let (begun, has_begun) = tokio::sync::oneshot::channel();
    let mut begun = Some(begun);
    let told = parking_lot::Mutex::new(told);
    let job = move |_: &WriteTransaction| {
        if let Some(begun) = begun.take() {
            begun.send(()).expect("the test waits");
            told.lock().recv().expect("the test goes on");
        }
        Ok(Written::Nothing(()))
    };
    store.submit(job, |_| ()).await.expect("is taken");
    has_begun.await.expect("begins");
    go_on
}

/// Sends jobs that wait together behind one that is under way, and answers what became of each.
async fn together<T: Send + 'static>(
    store: &Store,
    jobs: Vec<impl FnMut(&WriteTransaction) -> Result<Written<T>, redb::Error> + Send + 'static>,
) -> Vec<Result<T>> {
    let go_on = hold(store).await;
    let mut answers = Vec::new();
    for job in jobs {
        let (answer, answered) = tokio::sync::oneshot::channel();
        store.submit(job, |outcome| drop(answer.send(outcome))).await.expect("is taken");
        answers.push(answered);
    }
    go_on.send(()).expect("the writer waits");
    let mut outcomes = Vec::new();
    for answered in answers {
        outcomes.push(answered.await.expect("is settled"));
    }
    outcomes
}

#[tokio::test]
async fn jobs_that_wait_together_share_one_sync() {
    let (store, faults, _folder) = open();
    let before = faults.syncs();
    let jobs = (1..=100).map(|number| move |write: &WriteTransaction| put(write, number)).collect();
    let outcomes = together(&store, jobs).await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert_eq!(faults.syncs() - before, 1);
    assert!((1..=100).all(|number| has(&store, number)));
}

#[tokio::test]
async fn jobs_that_write_nothing_do_not_wait_for_the_disk() {
    let (store, faults, _folder) = open();
    let before = faults.syncs();
    let count = store.write(|write| Ok(Written::Nothing(write.open_table(NUMBERS)?.len()?))).await;
    assert_eq!(count.expect("reads"), 1);
    assert_eq!(faults.syncs(), before);
}

#[tokio::test]
async fn job_that_takes_its_writes_back_leaves_its_neighbours_alone() {
    let (store, _faults, _folder) = open();
    let jobs = (1..=9).map(|number| {
        move |write: &WriteTransaction| match (put(write, number)?, number) {
            (_, 4) => Ok(Written::Undo(number)),
            (_, 6) => panic!("job {number} is broken"),
            (_, 8) => Err(redb::Error::ValueTooLarge(number as usize)),
            (written, _) => Ok(written),
        }
    });
    let outcomes = together(&store, jobs.collect()).await;
    for (number, outcome) in (1..=9).zip(outcomes) {
        match number {
            6 | 8 => assert_eq!(outcome.expect_err("failed").code(), "embedded.not_written"),
            _ => assert_eq!(outcome.expect("is answered"), number),
        }
        assert_eq!(has(&store, number), ![4, 6, 8].contains(&number), "{number}");
    }
}

#[tokio::test]
async fn write_that_nobody_waits_for_any_more_is_not_begun() {
    let (store, _faults, _folder) = open();
    let go_on = hold(&store).await;
    let abandoned = tokio::time::timeout(std::time::Duration::ZERO, store.write(|write| put(write, 1))).await;
    abandoned.expect_err("the writer is busy");
    store.submit(|write| put(write, 2), drop).await.expect("is taken");
    go_on.send(()).expect("the writer waits");
    store.write(|write| put(write, 3)).await.expect("writes");
    assert_eq!([1, 2, 3].map(|number| has(&store, number)), [false, true, true]);
}

#[tokio::test(flavor = "multi_thread")]
async fn full_disk_fails_writes_until_there_is_room_again() {
    let (store, faults, _folder) = open();
    faults.set_full(true);
    for number in 1..20 {
        let failed = store.write(move |write| put(write, number)).await.expect_err("the disk is full");
        assert!(
            matches!(failed, Error::NotWritten(_) | Error::Indeterminate(_) | Error::Closed { .. }),
            "{failed:?}"
        );
    }
    faults.set_full(false);
    // The file is left alone for a while after each failure.
    while store.write(|write| put(write, 100)).await.is_err() {
        tokio::task::yield_now().await;
    }
    assert!(has(&store, 0) && has(&store, 100));
    store.check().expect("healthy");
    store.write(|write| put(write, 101)).await.expect("goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_sync_leaves_the_outcome_unknown_and_the_file_usable() {
    let (store, faults, _folder) = open();
    faults.set_unsynced(true);
    let failed = store.write(|write| put(write, 1)).await.expect_err("the sync failed");
    assert_eq!(failed.code(), "embedded.indeterminate", "{failed:?}");
    faults.set_unsynced(false);
    while store.write(|write| put(write, 2)).await.is_err() {
        tokio::task::yield_now().await;
    }
    assert!(has(&store, 0) && has(&store, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn unreadable_disk_is_noticed_by_readers_alone_and_opened_again() {
    let (store, faults, folder) = open();
    let many = |write: &WriteTransaction| (0..50_000).try_for_each(|number| put(write, number).map(drop));
    store.write(move |write| many(write).map(Written::Changed)).await.expect("writes");
    drop(store);
    let store = Store::open_with_faults(folder.path(), &faults).expect("opens");
    let read = || store.read(|read| Ok(read.open_table(NUMBERS)?.get(25_000)?.is_some()));
    faults.set_unreadable(true);
    assert_eq!(read().expect_err("the page is on the disk alone").code(), "embedded.engine");
    faults.set_unreadable(false);
    while read().is_err() {
        tokio::task::yield_now().await;
    }
    assert!(has(&store, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_last_handle_waits_for_writes_under_way() {
    let (store, _faults, folder) = open();
    let store = Arc::new(store);
    let mut writes = JoinSet::new();
    for number in 1..=200 {
        let store = store.clone();
        writes.spawn(async move { store.submit(move |write| put(write, number), drop).await });
    }
    while let Some(taken) = writes.join_next().await {
        taken.expect("does not panic").expect("is taken");
    }
    drop(store);
    let store = Store::open(folder.path()).expect("the folder is free");
    assert!((0..=200).all(|number| has(&store, number)));
}
