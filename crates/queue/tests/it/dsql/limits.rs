//! The limits of a transaction, as the engine's callers meet them.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use leasehold_dsql_sim::rules::Level;
use leasehold_queue::store::dsql::{Config as StoreConfig, DsqlQueues};
use leasehold_queue::{
    CompleteRequest, Config, Engine, Error, ImportItem, ItemId, LeaseRequest, Limits, NamedStore, Namespace,
    NewItem, ProduceRequest, QueueChange, QueueName, Refusal, RetryItem, RetryRequest,
};

use super::fixture::Fixture;

const PATIENCE: Duration = Duration::from_secs(60);

/// An engine that would take more than the store does, with one queue.
struct Jobs {
    engine: Engine,
    queue: QueueName,
    _fixture: Fixture,
}

impl Jobs {
    async fn start() -> Self {
        let fixture = Fixture::start(Level::L2025_05).await;
        let limits = Limits { produce_items_max: 5_000, lease_items_max: 5_000, complete_items_max: 5_000 };
        let stores =
            vec![NamedStore { name: "dsql".to_owned(), affinity: 1.0, store: Arc::new(fixture.store()) }];
        let queues = Arc::new(DsqlQueues::new(fixture.pool(), &StoreConfig::default()));
        let config = Config { limits, storage_timeout: PATIENCE, ..Config::default() };
        let engine = Engine::new(config, queues, stores);
        let queue: QueueName = "jobs".parse().expect("a name");
        let change = QueueChange {
            lease_timeout: Duration::from_secs(600),
            expire_timeout: Duration::from_secs(3_600),
            requested_partitions: 1,
            ..QueueChange::default()
        };
        engine.create_queue(queue.clone(), Namespace::default(), change).await.expect("created");
        Jobs { engine, queue, _fixture: fixture }
    }

    async fn produce(&self, len: usize, bytes: usize) -> Result<(), Error> {
        let item = NewItem { payload: Bytes::from(vec![7; bytes]), ..NewItem::default() };
        let items = vec![item; len];
        let request = ProduceRequest { queue: self.queue.clone(), timeout: PATIENCE, items };
        self.engine.produce(request).await.map(drop)
    }

    async fn lease(&self, batch_size: i64) -> Vec<ItemId> {
        let request = LeaseRequest {
            queue: self.queue.clone(),
            client_id: "c".to_owned(),
            batch_size,
            timeout: PATIENCE,
            lease_timeout: None,
        };
        let leased = self.engine.lease(request).await.expect("leased");
        leased.items.iter().map(|item| item.id).collect()
    }

    async fn complete(&self, ids: &[ItemId]) -> Result<(), Error> {
        let ids = ids.iter().map(|id| (*id).into()).collect();
        self.engine
            .complete(CompleteRequest { queue: self.queue.clone(), partition: 0, timeout: PATIENCE, ids })
            .await
    }

    async fn retry(&self, ids: &[ItemId]) -> Result<(), Error> {
        let item = |id: &ItemId| RetryItem { id: (*id).into(), retry_at: None, dead: false };
        let items = ids.iter().map(item).collect();
        self.engine.retry(RetryRequest { queue: self.queue.clone(), partition: 0, items }).await
    }
}

fn is_refused(answer: Result<(), Error>, wanted: &str) {
    match answer {
        Err(Error::Refused(Refusal::StoreLimit { unit, .. })) => assert_eq!(unit, wanted),
        other => panic!("{wanted}: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn request_that_does_not_fit_is_refused_and_those_beside_it_are_not() {
    let jobs = Jobs::start().await;
    let (many, large, heavy, fine) = tokio::join!(
        jobs.produce(1_001, 1),
        jobs.produce(1, 2 << 20),
        jobs.produce(10, 900 << 10),
        jobs.produce(1_000, 1)
    );
    is_refused(many, "items");
    is_refused(large, "bytes in one item");
    is_refused(heavy, "bytes in one request");
    fine.expect("it fits");
    jobs.produce(1_000, 1).await.expect("it fits");
    let mut leased = jobs.lease(5_000).await;
    assert_eq!(leased.len(), 1_000, "as many as fit into one write");
    leased.extend(jobs.lease(5_000).await);
    is_refused(jobs.complete(&leased[..1_001]).await, "items");
    is_refused(jobs.retry(&leased[..1_001]).await, "items");
    jobs.complete(&leased[..1_000]).await.expect("it fits");
    jobs.retry(&leased[1_000..]).await.expect("it fits");
    assert_eq!(jobs.lease(5_000).await.len(), 1_000, "retried, and nothing else is left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn requests_that_fit_one_by_one_are_not_put_into_one_write() {
    let jobs = Jobs::start().await;
    let (a, b, c, d) = tokio::join!(
        jobs.produce(5, 1_000_000),
        jobs.produce(5, 1_000_000),
        jobs.produce(5, 1_000_000),
        jobs.produce(900, 1),
    );
    for answer in [a, b, c, d] {
        answer.expect("it fits");
    }
}

/// Payloads are not written again: 20 MB of them go back in one transaction.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn items_of_any_size_go_back_together() {
    let jobs = Jobs::start().await;
    for _ in 0..4 {
        jobs.produce(5, 1_000_000).await.expect("it fits");
    }
    // More than one answer holds.
    let leased = [jobs.lease(10).await, jobs.lease(10).await].concat();
    assert_eq!(leased.len(), 20);
    jobs.retry(&leased).await.expect("small rows");
    let again = [jobs.lease(10).await, jobs.lease(10).await].concat();
    assert_eq!(again.len(), 20);
    jobs.complete(&again).await.expect("all of them");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test dsql"]
async fn imports_and_deletions_take_as_many_transactions_as_they_need() {
    let jobs = Jobs::start().await;
    let items: Vec<_> = (0..2_500)
        .map(|number| ImportItem { source_id: Some(format!("s{number}")), ..ImportItem::default() })
        .collect();
    let imported = jobs.engine.import_items(&jobs.queue, 0, items.clone()).await.expect("imported");
    let again = jobs.engine.import_items(&jobs.queue, 0, items).await.expect("all are known");
    assert!(imported.iter().map(|item| item.id).eq(again.iter().map(|item| item.id)));
    let ids: Vec<_> = imported.iter().map(|item| item.id.into()).collect();
    jobs.engine.delete_items(&jobs.queue, 0, ids).await.expect("deleted");
    let stats = jobs.engine.stats(&jobs.queue).await.expect("stats");
    assert_eq!(stats.partitions[0].counts.ready, 0);
    let large = ImportItem { payload: Bytes::from(vec![7; 2 << 20]), ..ImportItem::default() };
    let refused = jobs.engine.import_items(&jobs.queue, 0, vec![large]).await.map(drop);
    is_refused(refused, "bytes in one item");
}
