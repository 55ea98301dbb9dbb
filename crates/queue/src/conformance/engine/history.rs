//! Random work over a store that fails at random, and an auditor who keeps the books.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use leasehold_core::Timestamp;
use parking_lot::Mutex;

use super::dice::Dice;
use super::faulty::Fault;
use super::served::{LATE, MINUTE, PATIENCE, Served, name, new_item};
use crate::{
    CompleteRequest, Engine, Error, ExtendRequest, GivenId, Item, LeaseRequest, ProduceRequest, RetryItem,
    RetryRequest,
};

const WORKERS: u64 = 6;
const STEPS: u32 = 150;

/// What is known of an item.
#[derive(Clone, Copy, Debug, Default)]
struct Fate {
    /// It was acknowledged: it must not be lost.
    is_stored: bool,
    /// It was acknowledged as completed: it must not be seen again.
    is_completed: bool,
    /// A completion of which the outcome is unknown was asked: it may or may not be seen again.
    may_be_completed: bool,
    /// It was declared dead: it belongs into the dead queue, if that is known to have happened.
    may_be_dead: bool,
    /// Somebody holds it, at least until then.
    held_until: Option<Timestamp>,
    /// The attempt by which it is held.
    attempts: i32,
}

/// The books: by payload, which is different for every item.
type Books = Arc<Mutex<HashMap<String, Fate>>>;

/// Nothing acknowledged is lost, nothing completed comes back, nothing is held twice, whatever the store does.
pub async fn random_work_over_a_failing_store_keeps_every_promise(served: &mut Served) {
    served.reconfigure(|config| config.storage_timeout = Duration::from_secs(2)).await;
    served.create_with("dead", |queue| queue.requested_partitions = 2).await;
    served
        .create_with("jobs", |queue| {
            queue.requested_partitions = 3;
            queue.dead_queue = Some(name("dead"));
            queue.max_attempts = 4;
        })
        .await;
    let books = Books::default();
    let mut workers = tokio::task::JoinSet::new();
    for worker in 0..WORKERS {
        let (engine, books) = (served.engine.clone(), books.clone());
        workers.spawn(async move { Worker { engine, books, worker, dice: Dice(worker + 1) }.run().await });
    }
    let mut dice = Dice(99);
    while !workers.is_empty() {
        break_something(served, &mut dice);
        if dice.roll(16) == 0 {
            served.advance(MINUTE / 2);
        }
        if let Ok(Some(ended)) = tokio::time::timeout(Duration::from_millis(1), workers.join_next()).await {
            ended.expect("no worker sees a broken promise");
        }
    }
    served.faults.heal();
    audit(served, &books).await;
}

fn break_something(served: &Served, dice: &mut Dice) {
    let faults = [Fault::Unavailable, Fault::LostAnswer, Fault::LostRequest];
    let operations =
        ["produce", "lease", "change", "requeue", "remove", "fetch", "headers", "next_ready", "due", "open"];
    let fault = faults[dice.roll(3) as usize];
    let operation = operations[dice.roll(10) as usize];
    // A store in which everything fails proves nothing.
    if served.faults.len() < 4 {
        served.faults.once(operation, fault);
    }
}

struct Worker {
    engine: Engine,
    books: Books,
    worker: u64,
    dice: Dice,
}

impl Worker {
    async fn run(mut self) {
        for step in 0..STEPS {
            if self.dice.roll(2) == 0 {
                self.produce(step).await;
            } else {
                self.consume().await;
            }
        }
    }

    async fn produce(&mut self, step: u32) {
        let payloads: Vec<String> =
            (0..=self.dice.roll(4)).map(|number| format!("{}-{step}-{number}", self.worker)).collect();
        let items = payloads.iter().map(|payload| new_item(payload)).collect();
        let answer =
            self.engine.produce(ProduceRequest { queue: name("jobs"), timeout: PATIENCE, items }).await;
        let mut books = self.books.lock();
        for payload in payloads {
            books.entry(payload).or_default().is_stored |= answer.is_ok();
        }
    }

    async fn consume(&mut self) {
        let request = LeaseRequest {
            queue: name("jobs"),
            client_id: format!("c{}", self.worker),
            batch_size: 3,
            timeout: Duration::from_millis(30),
            lease_timeout: None,
        };
        let leased = match self.engine.lease(request).await {
            Ok(leased) => leased,
            Err(Error::LeaseTimeout | Error::LeaseUnavailable | Error::Indeterminate { .. }) => return,
            Err(error) => panic!("{error}"),
        };
        self.enter_leases(&leased.items);
        let partition = leased.partition.into();
        match self.dice.roll(5) {
            0 | 1 => self.complete(partition, &leased.items).await,
            2 => self.retry(partition, &leased.items, false).await,
            3 => self.retry(partition, &leased.items, true).await,
            _ => self.extend(partition, &leased.items).await,
        }
    }

    fn enter_leases(&self, items: &[Item]) {
        let now = self.engine.clock().now();
        let mut books = self.books.lock();
        for item in items {
            let fate = books.entry(payload(item)).or_default();
            assert!(!fate.is_completed, "{item:?} was completed");
            if item.attempts < fate.attempts {
                // It ran out before this worker came to write it down, and another has it now.
                continue;
            }
            let held = fate.held_until.filter(|until| *until > now);
            assert_eq!(held, None, "{item:?} is held by another at {now:?}");
            fate.held_until = item.lease_deadline;
            fate.attempts = item.attempts;
        }
    }

    async fn complete(&self, partition: i64, items: &[Item]) {
        self.enter(items, |fate| fate.may_be_completed = true);
        let request = CompleteRequest { queue: name("jobs"), partition, timeout: PATIENCE, ids: ids(items) };
        match self.engine.complete(request).await {
            Ok(()) => self.enter(items, |fate| fate.is_completed = true),
            Err(Error::Indeterminate { .. }) => {}
            Err(_) => self.enter(items, |fate| fate.may_be_completed = false),
        }
    }

    async fn retry(&self, partition: i64, items: &[Item], dead: bool) {
        // Before the call: from the moment it happens another may hold the items.
        self.enter(items, |fate| {
            fate.held_until = None;
            fate.may_be_dead |= dead;
        });
        let items = items.iter().map(|item| RetryItem { id: item.id.into(), retry_at: None, dead }).collect();
        drop(self.engine.retry(RetryRequest { queue: name("jobs"), partition, items }).await);
    }

    async fn extend(&self, partition: i64, items: &[Item]) {
        let request = ExtendRequest {
            queue: name("jobs"),
            partition,
            timeout: PATIENCE,
            ids: ids(items),
            lease_timeout: Some(2 * MINUTE),
        };
        let before = self.engine.clock().now();
        if let Ok(extended) = self.engine.extend(request).await {
            // It was still held when it was extended, so nobody else has had it since.
            if extended.lease_deadline > before {
                self.enter(items, |fate| fate.held_until = Some(extended.lease_deadline));
            }
        }
    }

    fn enter(&self, items: &[Item], change: impl Fn(&mut Fate)) {
        let mut books = self.books.lock();
        for item in items {
            change(books.entry(payload(item)).or_default());
        }
    }
}

/// Takes everything out, and compares with the books.
async fn audit(served: &Served, books: &Books) {
    served.engine.reload(&name("jobs")).await.expect("reload");
    served.engine.reload(&name("dead")).await.expect("reload");
    let mut seen: HashMap<String, u32> = HashMap::new();
    served.advance(10 * MINUTE + LATE);
    for (queue, partitions) in [("jobs", 3), ("dead", 2)] {
        served
            .until(|| async {
                let overview = served.engine.overview().await;
                overview
                    .iter()
                    .flat_map(|queue| &queue.partitions)
                    .all(|one| one.frozen == 0 && one.failures == 0)
            })
            .await;
        served
            .until(|| async {
                served.stats(queue).await.partitions.iter().all(|partition| partition.counts.leased == 0)
            })
            .await;
        for partition in 0..partitions {
            for item in served.items(queue, partition).await {
                *seen.entry(payload(&item)).or_default() += 1;
            }
        }
    }
    let books = books.lock();
    for (payload, fate) in books.iter() {
        let times = seen.remove(payload).unwrap_or(0);
        assert!(times <= 1, "{payload} is there {times} times: {fate:?}");
        if fate.is_completed {
            assert_eq!(times, 0, "{payload} was completed: {fate:?}");
        } else if fate.is_stored && !fate.may_be_completed {
            assert_eq!(times, 1, "{payload} is lost: {fate:?}");
        }
    }
    assert!(seen.is_empty(), "nobody produced {seen:?}");
}

fn payload(item: &Item) -> String {
    String::from_utf8_lossy(&item.payload).into_owned()
}

fn ids(items: &[Item]) -> Vec<GivenId> {
    items.iter().map(|item| item.id.into()).collect()
}
