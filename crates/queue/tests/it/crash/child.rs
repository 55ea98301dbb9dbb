//! The process that is killed.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::time::Duration;

use leasehold_core::{Clock, SystemClock, Timestamp};
use leasehold_embedded::Store as Folder;
use leasehold_queue::store::embedded::EmbeddedStore;
use leasehold_queue::store::{Change, PartitionId, PartitionStore, Pick, Store};
use leasehold_queue::{Item, ItemId, ItemIds};

use super::{FOLDER, PARTITIONS, Random, SEED, START};

/// Items that a partition is filled to before more is taken out than put in.
const LIVE: usize = 300;

/// Works on all partitions at once, for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the process that the crash tests kill"]
async fn child_that_is_killed() {
    // Run by itself it has nothing to do.
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let number = |name| std::env::var(name).expect("its parent says").parse::<u64>().expect("a number");
    let store = EmbeddedStore::open(Folder::open(folder).expect("opens")).expect("opens");
    let mut workers = tokio::task::JoinSet::new();
    for partition in 0..PARTITIONS {
        let handle = store.partition(&partition_id(partition));
        let random = Random::new(number(SEED) ^ u64::from(partition));
        workers
            .spawn(async move { Worker::start(partition, handle, random, number(START)).await.run().await });
    }
    let ended = workers.join_next().await;
    panic!("a worker ended: {ended:?}");
}

pub(super) fn partition_id(number: u32) -> PartitionId {
    PartitionId { queue: "crash".parse().expect("a name"), number }
}

/// Says a line at once: another process reads it, also when this one is killed right after.
fn say(word: &str, partition: u32, verb: &str, numbers: &[u64]) {
    let mut line = format!("{word} {partition} {verb}");
    numbers.iter().for_each(|number| write!(line, " {number}").expect("a string takes everything"));
    println!("{line}");
}

struct Worker {
    partition: u32,
    handle: Box<dyn PartitionStore>,
    random: Random,
    ids: ItemIds,
    next: u64,
    /// The items that are here, by what their payload says.
    numbers: HashMap<ItemId, u64>,
    held: Vec<ItemId>,
}

impl Worker {
    async fn start(partition: u32, mut handle: Box<dyn PartitionStore>, random: Random, next: u64) -> Self {
        let opened = handle.open().await.expect("opens");
        let here = handle.list(false, ItemId::MIN, usize::MAX, usize::MAX).await.expect("lists").items;
        let held = here.iter().filter(|item| item.is_leased).map(|item| item.id).collect();
        let numbers = here.iter().map(|item| (item.id, number_of(item))).collect();
        let ids = ItemIds::after(&opened, SystemClock.now()).expect("ids");
        Worker { partition, handle, random, ids, next, numbers, held }
    }

    async fn run(mut self) {
        loop {
            match self.random.below(6) {
                0 | 1 if self.numbers.len() < LIVE => self.produce().await,
                0 | 2 => self.lease().await,
                3 => self.give_back().await,
                _ => self.complete().await,
            }
        }
    }

    async fn produce(&mut self) {
        let mut items = Vec::new();
        for _ in 0..=self.random.below(20) {
            items.push(item(self.ids.next(), self.next));
            self.next += 1;
        }
        let numbers: Vec<_> = items.iter().map(number_of).collect();
        say("try", self.partition, "produce", &numbers);
        self.handle.produce(&items).await.expect("produces");
        say("did", self.partition, "produce", &numbers);
        self.numbers.extend(items.iter().map(|item| (item.id, number_of(item))));
    }

    async fn lease(&mut self) {
        let limit = NonZeroUsize::new(1 + self.random.below(20) as usize).expect("is not zero");
        let ready = self.handle.next_ready(limit, SystemClock.now()).await.expect("looks");
        if ready.is_empty() {
            return;
        }
        let deadline = SystemClock.now().saturating_add(Duration::from_secs(3_600));
        let numbers: Vec<_> = ready.iter().map(|ready| self.numbers[&ready.id]).collect();
        let picks: Vec<_> = ready.iter().map(|ready| Pick { id: ready.id, deadline }).collect();
        say("try", self.partition, "lease", &numbers);
        let leased = self.handle.lease(&picks).await.expect("leases");
        say("did", self.partition, "lease", &leased.iter().map(number_of).collect::<Vec<_>>());
        self.held.extend(leased.iter().map(|item| item.id));
    }

    fn take_held(&mut self) -> Vec<ItemId> {
        let len = self.held.len().min(1 + self.random.below(20) as usize);
        self.held.drain(..len).collect()
    }

    async fn complete(&mut self) {
        let ids = self.take_held();
        if ids.is_empty() {
            return;
        }
        let numbers: Vec<_> = ids.iter().map(|id| self.numbers[id]).collect();
        let changes: Vec<_> = ids.iter().map(|id| Change::Complete { id: *id }).collect();
        say("try", self.partition, "complete", &numbers);
        self.handle.change(&[&changes]).await.expect("completes");
        say("did", self.partition, "complete", &numbers);
        self.numbers.retain(|id, _| !ids.contains(id));
    }

    /// To the tail, under new ids.
    async fn give_back(&mut self) {
        let ids = self.take_held();
        if ids.is_empty() {
            return;
        }
        let numbers: Vec<_> = ids.iter().map(|id| self.numbers[id]).collect();
        let mut changes = Vec::new();
        for id in &ids {
            let new_id = self.ids.next();
            changes.push(Change::Return { id: *id, new_id });
            let number = self.numbers.remove(id).expect("is here");
            self.numbers.insert(new_id, number);
        }
        say("try", self.partition, "return", &numbers);
        self.handle.change(&[&changes]).await.expect("returns");
        say("did", self.partition, "return", &numbers);
    }
}

fn item(id: ItemId, number: u64) -> Item {
    let now = SystemClock.now();
    Item {
        id,
        source_id: number.is_multiple_of(3).then(|| format!("source {number}")),
        is_leased: false,
        lease_deadline: None,
        expire_deadline: Timestamp::EPOCH,
        enqueue_at: None,
        created_at: now,
        attempts: 0,
        max_attempts: 0,
        reference: String::new(),
        encoding: String::new(),
        kind: "crash".to_owned(),
        payload: format!("{number} {}", "x".repeat(100)).into(),
    }
}

pub(super) fn number_of(item: &Item) -> u64 {
    let text = std::str::from_utf8(&item.payload).expect("is text");
    text.split(' ').next().and_then(|number| number.parse().ok()).expect("begins with its number")
}
