//! What is about the engine alone, whatever the store.

use std::error::Error as StdError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use leasehold_queue::store::memory::{MemoryQueues, MemoryStore};
use leasehold_queue::{
    Backoff, Config, DeadQueueRule, Engine, Error, LeaseRequest, NamedStore, Namespace, NewItem,
    ProduceRequest, QueueChange, QueueInfo, QueueName, QueueStore, RetryItem, RetryRequest, Store,
    StoreError, UnknownStores,
};

const PATIENCE: Duration = Duration::from_secs(20);

fn engine(store: Arc<dyn Store>) -> Engine {
    let stores = vec![NamedStore { name: "memory".to_owned(), affinity: 1.0, store }];
    Engine::new(Config::default(), Arc::new(MemoryQueues::default()), stores)
}

async fn create(engine: &Engine, name: &QueueName) {
    let change = QueueChange {
        lease_timeout: Duration::from_secs(60),
        expire_timeout: Duration::from_secs(3600),
        requested_partitions: 1,
        ..QueueChange::default()
    };
    engine.create_queue(name.clone(), Namespace::default(), change).await.expect("the queue is created");
}

#[tokio::test]
async fn tasks_end_when_the_last_handle_is_dropped() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    let engine = engine(store);
    for number in 0..10 {
        create(&engine, &format!("q{number}").parse().expect("a name")).await;
    }
    assert!(tasks() >= before + 20, "a router and a partition each");
    drop(engine);
    tokio::time::timeout(PATIENCE, async {
        while tasks() > before {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("no task is left behind");
}

#[tokio::test]
async fn queue_on_a_store_of_an_unknown_name_is_refused_unless_there_is_only_one() {
    let records = Arc::new(MemoryQueues::default());
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let over = |name: &str, unknown_stores| {
        let stores = vec![NamedStore { name: name.to_owned(), affinity: 1.0, store: store.clone() }];
        Engine::new(Config { unknown_stores, ..Config::default() }, records.clone(), stores)
    };
    let queue: QueueName = "q".parse().expect("a name");
    let theirs = over("theirs", UnknownStores::Refused);
    create(&theirs, &queue).await;
    theirs.shutdown().await;

    let produce =
        || ProduceRequest { queue: queue.clone(), timeout: PATIENCE, items: vec![NewItem::default()] };
    let refusing = over("ours", UnknownStores::Refused);
    let refused = refusing.produce(produce()).await.expect_err("it may be anywhere");
    assert!(matches!(refused, Error::StoreUnknown { .. }), "{refused}");
    refusing.shutdown().await;
    let taking = over("ours", UnknownStores::First);
    taking.produce(produce()).await.expect("it can only be here");
    taking.shutdown().await;
    let kept = records.get(&queue).await.expect("answers").expect("is there");
    assert_eq!(kept.partitions[0].store, "theirs", "the record is left as it was");
}

#[tokio::test]
async fn new_partitions_have_the_name_that_records_give_to_the_only_store() {
    let records = Arc::new(MemoryQueues::default());
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let over = |name: &str, unknown_stores| {
        let stores = vec![NamedStore { name: name.to_owned(), affinity: 1.0, store: store.clone() }];
        Engine::new(Config { unknown_stores, ..Config::default() }, records.clone(), stores)
    };
    let created_over = async |engine: Engine, queue: &str| {
        let queue: QueueName = queue.parse().expect("a name");
        create(&engine, &queue).await;
        engine.shutdown().await;
        let kept = records.get(&queue).await.expect("answers").expect("is there");
        kept.partitions[0].store.clone()
    };
    assert_eq!(created_over(over("ours", UnknownStores::First), "a").await, "ours", "no record names it");
    assert_eq!(created_over(over("theirs", UnknownStores::Refused), "b").await, "theirs");
    assert_eq!(created_over(over("ours", UnknownStores::First), "c").await, "theirs");
    assert_eq!(created_over(over("ours", UnknownStores::Refused), "d").await, "ours");
}

/// Lets items go once the test allows it.
#[derive(Debug, Default)]
struct Gate(AtomicBool);

#[async_trait::async_trait]
impl DeadQueueRule for Gate {
    async fn may_deliver(
        &self,
        queue: &QueueInfo,
        dead_queue: &QueueInfo,
    ) -> Result<bool, Box<dyn StdError + Send + Sync>> {
        assert_eq!((queue.name.as_str(), dead_queue.name.as_str()), ("q", "dead"));
        Ok(self.0.load(Ordering::SeqCst))
    }
}

#[tokio::test]
async fn dead_items_stay_until_they_may_be_delivered() {
    let gate = Arc::new(Gate::default());
    let backoff = Backoff { first: Duration::from_millis(1), longest: Duration::from_millis(10) };
    let config = Config { dead_queue_rule: Some(gate.clone()), backoff, ..Config::default() };
    let store = Arc::new(MemoryStore::new());
    let stores = vec![NamedStore { name: "memory".to_owned(), affinity: 1.0, store }];
    let engine = Engine::new(config, Arc::new(MemoryQueues::default()), stores);
    let name = |queue: &str| -> QueueName { queue.parse().expect("a name") };
    create(&engine, &name("dead")).await;
    create(&engine, &name("q")).await;
    let change = QueueChange { dead_queue: Some(name("dead")), ..QueueChange::default() };
    engine.update_queue(&name("q"), change).await.expect("updates");
    let items = vec![NewItem::default()];
    engine.produce(ProduceRequest { queue: name("q"), timeout: PATIENCE, items }).await.expect("is stored");
    let lease = |queue: &str| LeaseRequest {
        queue: name(queue),
        client_id: "c".to_owned(),
        batch_size: 1,
        timeout: PATIENCE,
        lease_timeout: None,
    };
    let id = engine.lease(lease("q")).await.expect("leases").items[0].id;
    let items = vec![RetryItem { id: id.into(), retry_at: None, dead: true }];
    engine.retry(RetryRequest { queue: name("q"), partition: 0, items }).await.expect("dies");
    let told = async {
        loop {
            let overview = engine.overview().await;
            let errors =
                overview.iter().flat_map(|queue| &queue.partitions).filter_map(|one| one.last_error.as_ref());
            if errors.into_iter().any(|error| error.message.contains("it is in another namespace")) {
                break overview;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let overview = tokio::time::timeout(PATIENCE, told).await.expect("the queue says why");
    let in_dead =
        overview.iter().filter(|queue| queue.name == name("dead")).flat_map(|queue| &queue.partitions);
    assert_eq!(in_dead.map(|one| one.counts.ready).sum::<u64>(), 0, "{overview:?}");
    gate.0.store(true, Ordering::SeqCst);
    engine.lease(lease("dead")).await.expect("arrives at the next try");
}

#[tokio::test]
async fn partitions_are_spread_over_stores_by_their_weight() {
    let stores: Vec<(MemoryStore, f64)> = vec![(MemoryStore::new(), 3.0), (MemoryStore::new(), 1.0)];
    let named = stores.iter().enumerate().map(|(number, (store, affinity))| NamedStore {
        name: format!("store {number}"),
        affinity: *affinity,
        store: Arc::new(store.clone()),
    });
    let engine = Engine::new(Config::default(), Arc::new(MemoryQueues::default()), named.collect());
    let queue: QueueName = "q".parse().expect("a name");
    let change = QueueChange {
        lease_timeout: Duration::from_secs(60),
        expire_timeout: Duration::from_secs(3600),
        requested_partitions: 4,
        ..QueueChange::default()
    };
    let created = engine.create_queue(queue.clone(), Namespace::default(), change).await.expect("is created");
    let places: Vec<&str> = created.partitions.iter().map(|partition| partition.store.as_str()).collect();
    assert_eq!(places, ["store 0", "store 0", "store 0", "store 1"]);
    for _ in 0..4 {
        let items = vec![NewItem::default()];
        engine
            .produce(ProduceRequest { queue: queue.clone(), timeout: PATIENCE, items })
            .await
            .expect("is stored");
    }
    engine.shutdown().await;
    for (number, ready) in [(0, [1, 0]), (3, [0, 1])] {
        let partition = leasehold_queue::store::PartitionId { queue: queue.clone(), number };
        for ((store, _), ready) in stores.iter().zip(ready) {
            let opened = store.partition(&partition).open().await.expect("opens");
            assert_eq!(opened.counts.ready, ready, "partition {number}");
        }
    }
}

/// Records that answer once what was read before the queue was deleted.
struct ReadBefore {
    records: MemoryQueues,
    earlier: std::sync::Mutex<Option<QueueInfo>>,
}

#[async_trait]
impl QueueStore for ReadBefore {
    async fn get(&self, name: &QueueName) -> Result<Option<QueueInfo>, StoreError> {
        let earlier = self.earlier.lock().expect("no holder panicked").take();
        if earlier.is_some() { Ok(earlier) } else { self.records.get(name).await }
    }

    async fn add(&self, info: &QueueInfo) -> Result<bool, StoreError> {
        self.records.add(info).await
    }

    async fn replace(&self, info: &QueueInfo) -> Result<bool, StoreError> {
        self.records.replace(info).await
    }

    async fn list(
        &self,
        namespace: Option<&Namespace>,
        pivot: &str,
        limit: usize,
    ) -> Result<Vec<QueueInfo>, StoreError> {
        self.records.list(namespace, pivot, limit).await
    }

    async fn delete(&self, info: &QueueInfo) -> Result<bool, StoreError> {
        self.records.delete(info).await
    }
}

/// No step spans records and partitions that are in different places, so the record is read behind the take-over.
#[tokio::test]
async fn deleted_queue_stores_nothing_although_its_record_is_in_another_place() {
    let (store, records) = (MemoryStore::new(), MemoryQueues::new());
    let over = |records: Arc<dyn QueueStore>| {
        let store = NamedStore { name: "m".to_owned(), affinity: 1.0, store: Arc::new(store.clone()) };
        Engine::new(Config::default(), records, vec![store])
    };
    let queue: QueueName = "q".parse().expect("a name");
    let produce = async |engine: &Engine| {
        let items = vec![NewItem::default()];
        engine.produce(ProduceRequest { queue: queue.clone(), timeout: PATIENCE, items }).await
    };
    let one = over(Arc::new(records.clone()));
    create(&one, &queue).await;
    let earlier = records.get(&queue).await.expect("answers");
    one.delete_queue(&queue).await.expect("deleted");
    for is_created_again in [false, true] {
        if is_created_again {
            create(&one, &queue).await;
        }
        let read_before =
            ReadBefore { records: records.clone(), earlier: std::sync::Mutex::new(earlier.clone()) };
        let late = over(Arc::new(read_before));
        let refused = produce(&late).await.expect_err("the queue was deleted");
        assert!(matches!(refused, Error::QueueNotFound { .. }), "{refused}");
        late.shutdown().await;
    }
    one.reload(&queue).await.expect("the late one took its partition");
    assert_eq!(one.stats(&queue).await.expect("stats").partitions[0].counts.ready, 0);
    let serving = over(Arc::new(records.clone()));
    produce(&serving).await.expect("it serves");
    one.delete_queue(&queue).await.expect("deleted");
    let refused = produce(&serving).await.expect_err("the queue was deleted");
    assert!(matches!(refused, Error::QueueNotFound { .. }), "{refused}");
    serving.shutdown().await;
    one.shutdown().await;
}
