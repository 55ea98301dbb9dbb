//! Partitions that hang while they are opened.

use std::sync::Arc;

use leasehold_queue::store::PartitionId;
use leasehold_queue::store::postgres::{Config as StoreConfig, PostgresQueues, PostgresStore, items_table};
use leasehold_queue::{
    Config, Engine, NamedStore, Namespace, NewItem, ProduceRequest, QueueChange, QueueName,
};
use leasehold_txn::{ConnectionString, Pool};

use super::fixture::{Fixture, PATIENCE, session};

const SESSIONS: &str = "opens that hang";
const PARTITIONS: u32 = 9;

/// An engine with fewer connections than partitions.
fn engine(fixture: &Fixture) -> Engine {
    let connection = ConnectionString::parse(&fixture.url).expect("url");
    let settings = leasehold_txn::Config::new(connection).size_max(3).application_name(SESSIONS);
    let pool = Pool::new(settings).expect("pool");
    let store = Arc::new(PostgresStore::new(pool.clone(), StoreConfig::default()));
    let stores = vec![NamedStore { name: "one".to_owned(), affinity: 1.0, store }];
    let config = Config { storage_timeout: PATIENCE, ..Config::default() };
    Engine::new(config, Arc::new(PostgresQueues::new(pool, &StoreConfig::default())), stores)
}

async fn create(engine: &Engine, name: &str, partitions: u32) -> QueueName {
    let name: QueueName = name.parse().expect("a name");
    let change = QueueChange {
        lease_timeout: PATIENCE,
        expire_timeout: PATIENCE,
        requested_partitions: partitions.into(),
        ..QueueChange::default()
    };
    engine.create_queue(name.clone(), Namespace::default(), change).await.expect("created");
    name
}

async fn produce(engine: &Engine, queue: &QueueName) {
    let request = ProduceRequest { queue: queue.clone(), timeout: PATIENCE, items: vec![NewItem::default()] };
    engine.produce(request).await.expect("it is stored");
}

/// They wait in the database, a few of them, and not on the connections of other queues.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn opens_that_hang_keep_no_other_queue_waiting() {
    let fixture = Fixture::start().await;
    let first = engine(&fixture);
    let many = create(&first, "many", PARTITIONS).await;
    let open = create(&first, "open", 1).await;
    let closed = create(&first, "closed", 1).await;
    first.shutdown().await;

    let engine = engine(&fixture);
    produce(&engine, &open).await;
    let locking = session(&fixture.url).await;
    locking.batch_execute("BEGIN").await.expect("begins");
    for number in 0..PARTITIONS {
        let table = items_table(&PartitionId { queue: many.clone(), number });
        let lock = format!("LOCK TABLE \"{table}\" IN ACCESS EXCLUSIVE MODE");
        locking.batch_execute(&lock).await.expect("locks");
    }
    let hanging = tokio::spawn({
        let (engine, many) = (engine.clone(), many.clone());
        async move { engine.stats(&many).await }
    });
    let waiting = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = '{SESSIONS}' AND wait_event_type = 'Lock'"
    );
    fixture.until(&waiting, 3).await;
    produce(&engine, &open).await;
    produce(&engine, &closed).await;
    assert_eq!(fixture.number(&waiting).await, 3, "the others wait for their turn");
    locking.batch_execute("ROLLBACK").await.expect("ends");
    let stats = hanging.await.expect("it ends").expect("stats");
    assert!(stats.partitions.iter().all(|partition| partition.failures == 0), "{stats:?}");
    engine.shutdown().await;
}
