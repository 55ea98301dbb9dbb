//! Clients that work at the same time: every answer fits one order.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::dice::{Dice, asked_for, seed};
use super::faulty::Fault;
use super::linearizability::{Answer, Call, Kind, Listed, NEVER, Operation, is_linearizable};
use super::served::{LATE, MINUTE, PATIENCE, Served, name, new_item};
use crate::{
    CompleteRequest, Engine, Error, ExtendRequest, Item, ItemId, LeaseRequest, ListItems, ProduceRequest,
    QueueName, RetryItem, RetryRequest,
};

/// Histories of one run; `LEASEHOLD_HISTORIES` asks for more.
const HISTORIES: u64 = 24;
const CLIENTS: u64 = 5;
const CALLS_PER_CLIENT: u64 = 12;
/// How often the clock moves at most; a slow store must not make a history longer.
const ADVANCES_MAX: u32 = 8;

/// Clients that produce, lease, complete, give back, extend and list, while leases run out under them.
pub async fn concurrent_history_is_linearizable(served: &mut Served) {
    let seeds = seeds(served);
    histories_are_linearizable(served, seeds, false).await;
}

/// The same while the store fails and loses answers: what is answered is true, and what is unknown may be either.
pub async fn concurrent_history_over_a_failing_store_is_linearizable(served: &mut Served) {
    let seeds = seeds(served);
    histories_are_linearizable(served, seeds, true).await;
}

fn seeds(served: &Served) -> Range<u64> {
    let first = seed("LEASEHOLD_HISTORY_SEED") % 1_000_000_007;
    first..first + asked_for("LEASEHOLD_HISTORIES").unwrap_or(HISTORIES / u64::from(served.shortened()))
}

/// Records a history for each seed, and looks for an order that explains it. How many calls there were.
pub async fn histories_are_linearizable(served: &mut Served, seeds: Range<u64>, failing: bool) -> usize {
    eprintln!("histories {seeds:?}");
    let (mut calls_len, mut takes) = (0, 0);
    for seed in seeds {
        let start = served.now();
        let calls = record(served, seed, failing).await;
        assert!(
            is_linearizable(&calls, start),
            "LEASEHOLD_HISTORY_SEED={seed}: no order explains {calls:#?}"
        );
        calls_len += calls.len();
        takes += calls.iter().filter(|call| matches!(call.operation, Operation::Take { .. })).count();
    }
    assert!(takes > 0, "nothing was leased");
    calls_len
}

/// Lets clients loose on a queue of their own, and asks in the end what is left.
async fn record(served: &Served, seed: u64, failing: bool) -> Vec<Call> {
    let queue = format!("history-{seed}");
    served.create(&queue).await;
    let recorder = Arc::new(Recorder::default());
    let mut clients = tokio::task::JoinSet::new();
    for number in 0..CLIENTS {
        let client = Client {
            engine: served.engine.clone(),
            queue: name(&queue),
            number,
            dice: Dice(seed * CLIENTS + number),
            recorder: recorder.clone(),
            ids: Vec::new(),
        };
        clients.spawn(client.run());
    }
    let mut dice = Dice(seed + 7_777);
    let (mut advances, mut looks) = (0, 0);
    while !clients.is_empty() {
        if failing && served.faults.len() < 2 && dice.chance(30) {
            break_something(served, &mut dice, &mut looks);
        }
        if advances < ADVANCES_MAX && dice.chance(8) {
            advance(served, &recorder);
            advances += 1;
        }
        if let Ok(Some(ended)) = tokio::time::timeout(Duration::from_millis(1), clients.join_next()).await {
            ended.expect("no client panics");
        }
    }
    served.faults.heal();
    served.engine.reload(&name(&queue)).await.expect("reload");
    for _ in 0..3 {
        advance(served, &recorder);
    }
    served
        .until(|| async {
            let stats = served.partition_stats(&queue).await;
            stats.failures == 0 && stats.counts.leased == 0
        })
        .await;
    let left = recorder.list(&served.engine, &name(&queue)).await.expect("the partition is well");
    if !left.is_empty() {
        // All of it can be had at once: nothing is promised to anyone who is gone.
        let leased = served.lease(&queue, 1_000).await;
        assert!(leased.items.iter().map(|item| item.id).eq(left), "seed {seed}: {leased:?}");
    }
    served.engine.delete_queue(&name(&queue)).await.expect("delete");
    let mut calls = std::mem::take(&mut *recorder.calls.lock());
    calls.sort_by_key(|call| call.started);
    calls
}

fn advance(served: &Served, recorder: &Recorder) {
    let started = recorder.tick();
    served.advance(MINUTE + LATE);
    recorder.record(started, Operation::Advance { now: served.now() });
}

/// Maximum number of failing looks at what became of a write. Each write is settled then: a lease of unknown outcome has no
/// place in the order.
const LOOKS_MAX: usize = 2;

fn break_something(served: &Served, dice: &mut Dice, looks: &mut usize) {
    let faults = [Fault::Unavailable, Fault::LostAnswer, Fault::LostAnswer, Fault::LostRequest];
    let operations =
        ["produce", "lease", "change", "requeue", "fetch", "headers", "next_ready", "due", "open"];
    let operation = operations[dice.index(operations.len())];
    if ["fetch", "headers"].contains(&operation) {
        *looks += 1;
        if *looks > LOOKS_MAX {
            return;
        }
    }
    served.faults.once(operation, faults[dice.index(faults.len())]);
}

struct Client {
    engine: Engine,
    queue: QueueName,
    number: u64,
    dice: Dice,
    recorder: Arc<Recorder>,
    /// What it was given lately, held or not.
    ids: Vec<ItemId>,
}

impl Client {
    async fn run(mut self) {
        for call in 0..CALLS_PER_CLIENT {
            match self.dice.roll(20) {
                0..6 => self.produce(call).await,
                6..12 => self.lease().await,
                12 => drop(self.recorder.list(&self.engine, &self.queue).await),
                _ if self.ids.is_empty() => self.lease().await,
                choice => self.change(choice).await,
            }
        }
    }

    async fn produce(&mut self, call: u64) {
        let payloads: Vec<String> =
            (0..=self.dice.roll(2)).map(|number| format!("{}.{call}.{number}", self.number)).collect();
        let items = payloads.iter().map(|payload| new_item(payload)).collect();
        let request = ProduceRequest { queue: self.queue.clone(), timeout: PATIENCE, items };
        let started = self.recorder.tick();
        match self.engine.produce(request).await {
            Ok(produced) => self.recorder.record(started, Operation::Produce { payloads, ids: produced.ids }),
            Err(Error::Indeterminate { .. }) => {
                self.recorder.never(started, Operation::Produce { payloads, ids: Vec::new() });
            }
            Err(error) => panic!("no partition took the items in {PATIENCE:?}: {error}"),
        }
    }

    async fn lease(&mut self) {
        let request = LeaseRequest {
            queue: self.queue.clone(),
            client_id: format!("client-{}", self.number),
            batch_size: 1 + i64::try_from(self.dice.roll(2)).expect("fits"),
            timeout: Duration::from_millis(15),
            lease_timeout: None,
        };
        let started = self.recorder.tick();
        match self.engine.lease(request).await {
            Ok(leased) => {
                self.ids.extend(leased.items.iter().map(|item| item.id));
                let taken = leased.items.into_iter().map(|item| Operation::Take {
                    payload: payload(&item),
                    id: item.id,
                    deadline: item.lease_deadline.expect("a leased item has a deadline"),
                });
                self.recorder.record_all(started, taken.collect());
            }
            // A lease that found nothing in time says nothing: it may have been too late to be served.
            Err(Error::LeaseTimeout | Error::LeaseUnavailable) => {}
            Err(error) => panic!("the store answers in time: {error}"),
        }
    }

    /// Most ids are held; some were given up, or are over.
    async fn change(&mut self, choice: u64) {
        let mut ids = vec![self.pick()];
        if self.dice.chance(40) && !self.ids.is_empty() {
            ids.push(self.pick());
        }
        ids.dedup();
        let (queue, partition) = (self.queue.clone(), 0);
        let given = ids.iter().map(|id| (*id).into()).collect();
        let started = self.recorder.tick();
        let (kind, answer) = match choice {
            13..16 => {
                let request = CompleteRequest { queue, partition, timeout: PATIENCE, ids: given };
                (Kind::Complete, self.engine.complete(request).await)
            }
            16..19 => {
                let items = ids.iter().map(|id| RetryItem { id: (*id).into(), retry_at: None, dead: false });
                let request = RetryRequest { queue, partition, items: items.collect() };
                (Kind::Retry, self.engine.retry(request).await)
            }
            _ => {
                let lease_timeout = Some(2 * MINUTE);
                let request =
                    ExtendRequest { queue, partition, timeout: PATIENCE, ids: given, lease_timeout };
                match self.engine.extend(request).await {
                    Ok(extended) => (Kind::Extend(Some(extended.lease_deadline)), Ok(())),
                    Err(error) => (Kind::Extend(None), Err(error)),
                }
            }
        };
        if matches!(kind, Kind::Extend(_)) || self.dice.chance(20) {
            self.ids.extend(&ids);
        }
        let answered = |answer| Operation::Change { ids: ids.clone(), kind, answer };
        match answer {
            Ok(()) => self.recorder.record(started, answered(Answer::Done)),
            Err(Error::ItemNotFound { id }) => self.recorder.record(started, answered(Answer::Missing(id))),
            Err(Error::NotLeased { id, .. }) => self.recorder.record(started, answered(Answer::NotHeld(id))),
            Err(Error::Indeterminate { .. }) => self.recorder.never(started, answered(Answer::Done)),
            // Nothing was done, which the rest of the history would show to be a lie.
            Err(Error::PartitionFailing { .. } | Error::Storage(_)) => self.ids.extend(&ids),
            Err(error) => panic!("{error}"),
        }
    }

    fn pick(&mut self) -> ItemId {
        let at = self.dice.index(self.ids.len());
        self.ids.swap_remove(at)
    }
}

/// Calls in the order of a counter that all clients share.
#[derive(Default)]
struct Recorder {
    now: AtomicU64,
    calls: Mutex<Vec<Call>>,
}

impl Recorder {
    fn tick(&self) -> u64 {
        self.now.fetch_add(1, Ordering::SeqCst)
    }

    fn record(&self, started: u64, operation: Operation) {
        self.record_all(started, vec![operation]);
    }

    fn record_all(&self, started: u64, operations: Vec<Operation>) {
        let ended = self.tick();
        let calls = operations.into_iter().map(|operation| Call { started, ended, operation });
        self.calls.lock().extend(calls);
    }

    fn never(&self, started: u64, operation: Operation) {
        self.calls.lock().push(Call { started, ended: NEVER, operation });
    }

    /// The ids, unless the partition is failing.
    async fn list(&self, engine: &Engine, queue: &QueueName) -> Option<Vec<ItemId>> {
        let started = self.tick();
        let list = ListItems { queue, partition: 0, pivot: "", limit: 0 };
        match engine.list_items(list).await {
            Ok(items) => {
                let listed =
                    |item: &Item| Listed { payload: payload(item), id: item.id, is_leased: item.is_leased };
                let ids = items.iter().map(|item| item.id).collect();
                let items = items.iter().map(listed).collect();
                self.record(started, Operation::List { items });
                Some(ids)
            }
            Err(Error::PartitionFailing { .. } | Error::Storage(_)) => None,
            Err(error) => panic!("{error}"),
        }
    }
}

fn payload(item: &Item) -> String {
    String::from_utf8_lossy(&item.payload).into_owned()
}
