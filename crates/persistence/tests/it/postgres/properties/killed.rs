//! Property 6: integrity under failures. A server of its own that is killed, as by a power cut, and comes back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use leasehold_persistence::{
    Blob, Config, Database, Error, NamespaceBy, NamespaceId, NamespaceRecord, Namespaces, PageSize, Queue,
    QueueType, Schema,
};
use leasehold_testkit::postgres::{Cluster, Settings};
use leasehold_txn::{ConnectionString, Dialect, Pool};
use tokio_postgres::{Client, NoTls};

async fn open(cluster: &Cluster) -> Database {
    let connection = ConnectionString::parse(&cluster.url("postgres")).expect("a URL");
    let pool = Pool::new(leasehold_txn::Config::new(connection).dialect(Dialect::POSTGRES).size_max(8));
    let pool = pool.expect("a pool");
    Schema::of(pool.dialect()).apply(&pool).await.expect("the tables");
    Database::open(pool, Config::new(Dialect::POSTGRES)).await.expect("a database")
}

async fn outside(cluster: &Cluster) -> Client {
    let (client, connection) =
        tokio_postgres::connect(&cluster.url("postgres"), NoTls).await.expect("connects");
    tokio::spawn(connection);
    client
}

fn record(mark: u8) -> NamespaceRecord {
    let id = NamespaceId::from_bytes([mark; 16]);
    NamespaceRecord::new(id, format!("namespace {mark}"), Blob::proto3(vec![mark]), false).expect("a record")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn transaction_that_was_open_when_the_server_was_killed_is_absent() {
    let cluster = Cluster::start(Settings::durable()).expect("a server");
    let namespaces = Namespaces::new(open(&cluster).await);
    namespaces.create(&record(1)).await.expect("a namespace");

    // Holds up the next one in the middle of its transaction.
    let holder = outside(&cluster).await;
    holder.batch_execute("BEGIN; SELECT FROM namespace_metadata FOR UPDATE").await.expect("a lock");
    let stuck = namespaces.clone();
    let stuck = tokio::spawn(async move { stuck.create(&record(2)).await });
    let watcher = outside(&cluster).await;
    let waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted";
    while watcher.query_one(waiting, &[]).await.expect("a count").get::<_, i64>(0) == 0 {}
    tokio::task::block_in_place(|| cluster.kill()).expect("killed");

    let error = stuck.await.expect("no panic").expect_err("the server is gone");
    assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
    assert!(!error.may_have_been_committed(), "COMMIT was not sent");
    let error = namespaces.create(&record(3)).await.expect_err("the server is gone");
    assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");

    tokio::task::block_in_place(|| cluster.restart()).expect("restarted");
    assert_eq!(namespaces.get(NamespaceBy::Name("namespace 1")).await.expect("it").record, record(1));
    assert!(matches!(namespaces.get(NamespaceBy::Name("namespace 2")).await, Err(Error::NamespaceNotFound)));
    assert_eq!(namespaces.notification_version().await.expect("a version"), 2);
    assert_eq!(namespaces.create(&record(2)).await.expect("a namespace"), 2);
}

/// What one writer was told.
#[derive(Default)]
struct Told {
    enqueued: Vec<(i64, u8)>,
    created: Vec<(i64, u8)>,
    unknown: u64,
}

async fn write_until(stop: &AtomicBool, database: Database, marks: std::ops::Range<u8>) -> Told {
    let queue = Queue::new(database.clone(), QueueType::NAMESPACE_REPLICATION);
    let (namespaces, mut told) = (Namespaces::new(database), Told::default());
    for mark in marks {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        match queue.enqueue(&Blob::proto3(vec![mark])).await {
            Ok(id) => told.enqueued.push((id, mark)),
            Err(error) => told.unknown += u64::from(error.may_have_been_committed()),
        }
        match namespaces.create(&record(mark)).await {
            Ok(version) => told.created.push((version, mark)),
            Err(error) => told.unknown += u64::from(error.may_have_been_committed()),
        }
    }
    told
}

/// Four write while the server is killed under them. What was answered is there; what was not is whole or absent, and no
/// more of it is there than was said to be open.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn what_was_answered_survives_and_the_rest_is_whole_or_absent() {
    for round in 0..3_u64 {
        let cluster = Cluster::start(Settings::durable()).expect("a server");
        let database = open(&cluster).await;
        let queue = Queue::new(database.clone(), QueueType::NAMESPACE_REPLICATION);
        queue.init(&Blob::proto3(vec![])).await.expect("a queue");
        let stop = Arc::new(AtomicBool::new(false));
        let writers: Vec<_> = (0..4_u8)
            .map(|writer| {
                let (stop, database) = (Arc::clone(&stop), database.clone());
                tokio::spawn(
                    async move { write_until(&stop, database, writer * 50..(writer + 1) * 50).await },
                )
            })
            .collect();
        let (watcher, written) = (outside(&cluster).await, "SELECT count(*) FROM queue");
        let enough = i64::try_from(10 + round * 15).expect("a few");
        while watcher.query_one(written, &[]).await.expect("a count").get::<_, i64>(0) < enough {}
        tokio::task::block_in_place(|| cluster.kill()).expect("killed");
        stop.store(true, Ordering::Relaxed);
        let mut all = Vec::new();
        for writer in writers {
            let told = tokio::time::timeout(Duration::from_secs(60), writer).await;
            all.push(told.expect("an answer in time").expect("no panic"));
        }
        tokio::task::block_in_place(|| cluster.restart()).expect("restarted");

        let messages = queue.read(-1, PageSize::MAX).await.expect("messages");
        let ids: Vec<i64> = messages.iter().map(|message| message.id).collect();
        assert_eq!(ids, (0..).take(ids.len()).collect::<Vec<_>>(), "no hole");
        let namespaces = Namespaces::new(database.clone());
        let listed = namespaces.list(PageSize::MAX, None).await.expect("namespaces").items;
        let version = namespaces.notification_version().await.expect("a version");
        assert_eq!(version, listed.len() as i64 + 1, "a namespace and its version come together");
        for Told { enqueued, created, .. } in &all {
            for (id, mark) in enqueued {
                assert_eq!(messages[usize::try_from(*id).expect("an id")].blob.data(), [*mark]);
            }
            for (version, mark) in created {
                let found = listed.iter().find(|namespace| namespace.notification_version == *version);
                assert_eq!(found.expect("a namespace").record, record(*mark));
            }
        }
        let answered: usize = all.iter().map(|told| told.enqueued.len() + told.created.len()).sum();
        let unknown: u64 = all.iter().map(|told| told.unknown).sum();
        let stored = messages.len() + listed.len();
        assert!((answered..=answered + unknown as usize).contains(&stored), "{answered} {unknown} {stored}");
    }
}
