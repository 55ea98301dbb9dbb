//! An engine over a harness, and what cases do with it.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use leasehold_core::{Clock, ManualClock, Timestamp};
use tokio::task::JoinHandle;

use super::faulty::{Faults, FaultyQueues, FaultyStore};
use crate::conformance::{Harness, Start};
use crate::store::memory::MemoryQueues;
use crate::store::{LastOwner, PartitionId};
use crate::{
    Backoff, CompleteRequest, Config, Engine, EngineClock, Error, GivenId, Item, LeaseRequest, Leased,
    ListItems, NamedStore, Namespace, NewItem, PartitionStats, ProduceRequest, Produced, QueueChange,
    QueueInfo, QueueName, QueueStats, QueueStore, Result, RetryItem, RetryRequest,
};

/// Long enough for a loaded store; no case waits for it to pass.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);
/// How long cases wait for what must not come.
pub(super) const SHORT: Duration = Duration::from_millis(60);
pub(super) const SECOND: Duration = Duration::from_secs(1);
pub(super) const MINUTE: Duration = Duration::from_secs(60);
pub(super) const HOUR: Duration = Duration::from_secs(3600);
/// After a deadline, when what it ends has surely ended.
pub(super) const LATE: Duration = Duration::from_millis(60);

/// An engine over a store of its own, with a clock that stands still.
pub struct Served {
    harness: Option<Box<dyn Harness>>,
    pub(super) engine: Engine,
    pub(super) faults: Faults,
    hands: ManualClock,
    config: Config,
    clients: AtomicU64,
}

impl Served {
    /// Starts the harness and an engine.
    pub async fn start(start: Start) -> Self {
        let hands = ManualClock::default();
        let config = Config {
            clock: EngineClock::new(Arc::new(hands.clone())),
            backoff: Backoff { first: Duration::from_millis(20), longest: Duration::from_millis(100) },
            // Cases whose store does not answer have a time of their own.
            storage_timeout: PATIENCE,
            ..Config::default()
        };
        let harness = start().await;
        let faults = Faults::default();
        let engine = engine(&*harness, &faults, &config);
        Served { harness: Some(harness), engine, faults, hands, config, clients: AtomicU64::new(0) }
    }

    /// Ends the engine, in good time whatever the case has left behind.
    pub async fn stop(&mut self) {
        self.faults.heal();
        self.engine.shutdown().await;
    }

    /// Ends the engine and the store, and starts both anew.
    pub(super) async fn restart(&mut self) {
        self.stop().await;
        // The handles of the old engine must be gone: a store that one process owns is not opened twice.
        self.engine = Engine::new(self.config.clone(), Arc::new(MemoryQueues::default()), Vec::new());
        let harness = self.harness.take().expect("a harness is always put back");
        let harness = harness.restart().await;
        self.engine = engine(&*harness, &self.faults, &self.config);
        self.harness = Some(harness);
    }

    fn harness(&self) -> &dyn Harness {
        self.harness.as_deref().expect("a harness is always put back")
    }

    /// Whether what is stored survives a restart.
    pub(super) fn is_durable(&self) -> bool {
        self.harness().is_durable()
    }

    /// By how much the longest cases are cut short.
    pub(super) fn shortened(&self) -> u32 {
        self.harness().shortened()
    }

    /// The records of queues, past the engine.
    pub(super) fn records(&self) -> Arc<dyn QueueStore> {
        self.harness().queues()
    }

    /// Who took partition zero over last.
    pub(super) async fn last_owner(&self, queue: &str) -> LastOwner {
        let partition = PartitionId { queue: name(queue), number: 0 };
        self.harness().store().last_owner(&partition).await.expect("the store answers")
    }

    /// Another engine over the same store, as a second server would be.
    pub(super) fn second_engine(&self) -> Engine {
        engine(self.harness(), &Faults::default(), &self.config)
    }

    /// An engine with other settings, in place of the first.
    pub(super) async fn reconfigure(&mut self, change: impl FnOnce(&mut Config)) {
        self.engine.shutdown().await;
        change(&mut self.config);
        self.engine = engine(self.harness(), &self.faults, &self.config);
    }

    pub(super) fn now(&self) -> Timestamp {
        self.hands.now()
    }

    pub(super) fn after(&self, duration: Duration) -> Timestamp {
        self.now().saturating_add(duration)
    }

    pub(super) fn advance(&self, duration: Duration) {
        self.hands.advance(duration);
        self.engine.clock().notify_moved();
    }

    /// Puts the clock back, or forth, while no time passes.
    pub(super) fn jump(&self, now: Timestamp) {
        self.hands.jump(now);
        self.engine.clock().notify_moved();
    }

    pub(super) async fn create(&self, queue: &str) -> QueueInfo {
        self.create_with(queue, |_| {}).await
    }

    pub(super) async fn create_with(&self, queue: &str, set: impl FnOnce(&mut QueueChange)) -> QueueInfo {
        self.try_create(queue, set).await.expect("the queue is created")
    }

    pub(super) async fn try_create(
        &self,
        queue: &str,
        set: impl FnOnce(&mut QueueChange),
    ) -> Result<QueueInfo> {
        let mut change = queue_change();
        set(&mut change);
        self.engine.create_queue(name(queue), Namespace::default(), change).await
    }

    pub(super) async fn produce(&self, queue: &str, payloads: &[&str]) -> Produced {
        self.try_produce(queue, payloads, PATIENCE).await.expect("the items are produced")
    }

    pub(super) async fn try_produce(
        &self,
        queue: &str,
        payloads: &[&str],
        timeout: Duration,
    ) -> Result<Produced> {
        self.produce_items(queue, payloads.iter().map(|payload| new_item(payload)).collect(), timeout).await
    }

    pub(super) async fn produce_at(&self, queue: &str, payload: &str, at: Timestamp) -> Produced {
        let item = NewItem { enqueue_at: Some(at), ..new_item(payload) };
        self.produce_items(queue, vec![item], PATIENCE).await.expect("the item is produced")
    }

    pub(super) async fn produce_items(
        &self,
        queue: &str,
        items: Vec<NewItem>,
        timeout: Duration,
    ) -> Result<Produced> {
        self.engine.produce(ProduceRequest { queue: name(queue), timeout, items }).await
    }

    pub(super) async fn lease(&self, queue: &str, batch_size: i64) -> Leased {
        self.try_lease(queue, batch_size, PATIENCE).await.expect("there is something to lease")
    }

    pub(super) async fn try_lease(&self, queue: &str, batch_size: i64, timeout: Duration) -> Result<Leased> {
        let client = self.clients.fetch_add(1, Ordering::Relaxed);
        self.engine
            .lease(LeaseRequest { timeout, ..lease_request(queue, &format!("client-{client}"), batch_size) })
            .await
    }

    /// Nothing can be leased now, for whatever reason.
    pub(super) async fn assert_nothing_to_lease(&self, queue: &str) {
        let leased = self.try_lease(queue, 10, SHORT).await;
        assert!(matches!(leased, Err(Error::LeaseTimeout | Error::LeaseUnavailable)), "{leased:?}");
    }

    /// A lease that waits in the background; returns once the queue knows of it.
    pub(super) async fn waiting_lease(
        &self,
        queue: &str,
        client_id: &str,
        batch_size: i64,
    ) -> JoinHandle<Result<Leased>> {
        let before = self.stats(queue).await.lease_waiting;
        let engine = self.engine.clone();
        let request = lease_request(queue, client_id, batch_size);
        let lease = tokio::spawn(async move { engine.lease(request).await });
        self.until(|| async { self.stats(queue).await.lease_waiting > before }).await;
        lease
    }

    pub(super) async fn complete(&self, queue: &str, leased: &Leased) -> Result<()> {
        self.complete_ids(
            queue,
            leased.partition.into(),
            leased.items.iter().map(|item| item.id.into()).collect(),
        )
        .await
    }

    pub(super) async fn complete_ids(&self, queue: &str, partition: i64, ids: Vec<GivenId>) -> Result<()> {
        self.engine.complete(CompleteRequest { queue: name(queue), partition, timeout: PATIENCE, ids }).await
    }

    pub(super) async fn retry(
        &self,
        queue: &str,
        leased: &Leased,
        at: Option<Timestamp>,
        dead: bool,
    ) -> Result<()> {
        let items = leased.items.iter().map(|item| RetryItem { id: item.id.into(), retry_at: at, dead });
        let request =
            RetryRequest { queue: name(queue), partition: leased.partition.into(), items: items.collect() };
        self.engine.retry(request).await
    }

    pub(super) async fn stats(&self, queue: &str) -> QueueStats {
        self.engine.stats(&name(queue)).await.expect("stats")
    }

    /// Of partition zero.
    pub(super) async fn partition_stats(&self, queue: &str) -> PartitionStats {
        self.stats(queue).await.partitions[0]
    }

    pub(super) async fn items(&self, queue: &str, partition: i64) -> Vec<Item> {
        let queue = name(queue);
        let list = ListItems { queue: &queue, partition, pivot: "", limit: 0 };
        self.engine.list_items(list).await.expect("the items are listed")
    }

    pub(super) async fn scheduled(&self, queue: &str) -> Vec<Item> {
        let queue = name(queue);
        let list = ListItems { queue: &queue, partition: 0, pivot: "", limit: 0 };
        self.engine.list_scheduled(list).await.expect("the items are listed")
    }

    /// Waits until it is so.
    pub(super) async fn until<F: Future<Output = bool>>(&self, is_so: impl Fn() -> F) {
        let started = Instant::now();
        while !is_so().await {
            assert!(started.elapsed() < PATIENCE, "it does not happen");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Waits until a queue of one partition has failed and works again.
    pub(super) async fn until_writable(&self, queue: &str) {
        let overview = || async {
            let overviews = self.engine.overview().await;
            let found = overviews.into_iter().find(|overview| overview.name == name(queue));
            found.and_then(|overview| overview.partitions.into_iter().next())
        };
        self.until(|| async {
            overview().await.is_some_and(|found| found.last_error.is_some() && found.failures == 0)
        })
        .await;
    }

    /// Waits until a queue of one partition works and holds nothing but schedules.
    pub(super) async fn until_empty(&self, queue: &str) {
        self.until(|| async {
            let stats = self.partition_stats(queue).await;
            stats.failures == 0 && stats.counts.ready + stats.counts.leased == 0
        })
        .await;
    }

    /// Waits until so many items of a queue are ready.
    pub(super) async fn until_ready(&self, queue: &str, ready: u64) {
        self.until(|| async {
            let stats = self.stats(queue).await;
            stats.partitions.iter().map(|partition| partition.counts.ready).sum::<u64>() == ready
        })
        .await;
    }
}

fn engine(harness: &dyn Harness, faults: &Faults, config: &Config) -> Engine {
    let store = Arc::new(FaultyStore { store: harness.store(), faults: faults.clone() });
    let stores = vec![NamedStore { name: "one".to_owned(), affinity: 1.0, store }];
    let records = Arc::new(FaultyQueues { queues: harness.queues(), faults: faults.clone() });
    Engine::new(config.clone(), records, stores)
}

pub(super) fn name(queue: &str) -> QueueName {
    queue.parse().expect("a name of a case is valid")
}

/// One partition, and leases of a minute.
pub(super) fn queue_change() -> QueueChange {
    QueueChange {
        lease_timeout: MINUTE,
        expire_timeout: 24 * HOUR,
        requested_partitions: 1,
        ..QueueChange::default()
    }
}

pub(super) fn new_item(payload: &str) -> NewItem {
    NewItem { payload: payload.to_owned().into(), ..NewItem::default() }
}

pub(super) fn lease_request(queue: &str, client_id: &str, batch_size: i64) -> LeaseRequest {
    LeaseRequest {
        queue: name(queue),
        client_id: client_id.to_owned(),
        batch_size,
        timeout: PATIENCE,
        lease_timeout: None,
    }
}

pub(super) fn payloads(items: &[Item]) -> Vec<&str> {
    items.iter().map(|item| std::str::from_utf8(&item.payload).expect("payloads of cases are text")).collect()
}

/// The words of a refusal.
pub(super) fn words<T: std::fmt::Debug>(answer: Result<T>) -> String {
    answer.expect_err("it is refused").to_string()
}
