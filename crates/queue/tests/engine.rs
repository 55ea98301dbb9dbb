//! What is about the engine alone, whatever the store.

use std::sync::Arc;
use std::time::Duration;

use leasehold_queue::store::memory::{MemoryQueues, MemoryStore};
use leasehold_queue::{
    Config, Engine, LeaseRequest, NamedStore, Namespace, NewItem, ProduceRequest, QueueChange, QueueName,
    Store,
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
async fn thousand_queues_are_served() {
    let engine = engine(Arc::new(MemoryStore::new()));
    let names: Vec<QueueName> =
        (0..1_000).map(|number| format!("q{number}").parse().expect("a name")).collect();
    for name in &names {
        create(&engine, name).await;
        let items = vec![NewItem::default(); 2];
        let request = ProduceRequest { queue: name.clone(), timeout: PATIENCE, items };
        engine.produce(request).await.expect("the items are stored");
    }
    for name in &names {
        let request = LeaseRequest {
            queue: name.clone(),
            client_id: "c".to_owned(),
            batch_size: 10,
            timeout: PATIENCE,
            lease_timeout: None,
        };
        assert_eq!(engine.lease(request).await.expect("items").items.len(), 2);
    }
    let overview = engine.overview().await;
    assert_eq!(overview.len(), 1_000);
    assert!(overview.iter().all(|queue| queue.partitions[0].counts.leased == 2));
    engine.shutdown().await;
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
