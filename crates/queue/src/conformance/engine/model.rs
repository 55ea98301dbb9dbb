//! Random requests of every kind, answered by the engine and by a reference that knows nothing of it.

use std::time::Duration;

use leasehold_core::Timestamp;

use super::dice::{Dice, asked_for, seed};
use super::reference::{DELAY, Fate, Kept, Reference};
use super::served::{HOUR, MINUTE, PATIENCE, SECOND, Served, lease_request, name};
use crate::{
    ClearRequest, CompleteRequest, Error, ExtendRequest, GivenId, ImportItem, Item, ItemId, LeaseRequest,
    NewItem, QueueChange, Result, RetryItem, RetryRequest,
};

/// Steps of one run; `LEASEHOLD_MODEL_STEPS` asks for more.
const STEPS: u64 = 1_000;
/// The queue that is worked with, and the one its dead go to.
const QUEUES: [&str; 2] = ["jobs", "dead"];
const DEAD: usize = 1;
/// Longer than the engine needs to follow the clock.
const FOLLOWS: Duration = Duration::from_secs(30);

/// Every answer, every list and every figure is the reference's, with a dead queue.
pub async fn random_requests_answer_as_the_reference(served: &mut Served) {
    let steps = steps(served);
    requests_answer_as_the_reference(served, seed("LEASEHOLD_MODEL_SEED"), steps, true).await;
}

/// The same where the dead are deleted, until an update names a dead queue.
pub async fn random_requests_without_a_dead_queue_answer_as_the_reference(served: &mut Served) {
    let steps = steps(served);
    requests_answer_as_the_reference(served, seed("LEASEHOLD_MODEL_SEED"), steps, false).await;
}

fn steps(served: &Served) -> u64 {
    asked_for("LEASEHOLD_MODEL_STEPS").unwrap_or(STEPS / u64::from(served.shortened()))
}

/// So many requests, the same for the same seed.
pub async fn requests_answer_as_the_reference(
    served: &mut Served,
    seed: u64,
    steps: u64,
    has_dead_queue: bool,
) {
    eprintln!("LEASEHOLD_MODEL_SEED={seed} LEASEHOLD_MODEL_STEPS={steps}");
    Run::start(served, seed, has_dead_queue).await.run(steps).await;
}

struct Run<'a> {
    served: &'a mut Served,
    queues: [Reference; 2],
    dice: Dice,
    seed: u64,
    /// Ids that were seen lately, live or not, by queue.
    known: [Vec<ItemId>; 2],
    /// The largest id that the owner has seen, by queue.
    id_max: [ItemId; 2],
    payloads: u64,
}

impl<'a> Run<'a> {
    async fn start(served: &'a mut Served, seed: u64, has_dead_queue: bool) -> Self {
        served.reconfigure(|config| config.reclaim_delay = DELAY).await;
        let reference = |has_dead_queue| Reference {
            items: Vec::new(),
            lease_timeout: MINUTE,
            expire_timeout: HOUR,
            max_attempts: 0,
            has_dead_queue,
        };
        let queues = [reference(has_dead_queue), reference(false)];
        for (queue, reference) in [(DEAD, &queues[DEAD]), (0, &queues[0])] {
            let expire_timeout = reference.expire_timeout;
            served
                .create_with(QUEUES[queue], |change| {
                    change.expire_timeout = expire_timeout;
                    change.dead_queue = reference.has_dead_queue.then(|| name(QUEUES[DEAD]));
                })
                .await;
        }
        let known = [Vec::new(), Vec::new()];
        let id_max = [ItemId::MIN; 2];
        Run { served, queues, dice: Dice(seed), seed, known, id_max, payloads: 0 }
    }

    async fn run(mut self, steps: u64) {
        for step in 0..steps {
            let queue = if self.dice.chance(80) { 0 } else { DEAD };
            let what = self.step(queue).await;
            let context =
                format!("LEASEHOLD_MODEL_SEED={}, step {step}, {what} of {}", self.seed, QUEUES[queue]);
            self.compare(&context).await;
        }
    }

    /// One request; what it was.
    async fn step(&mut self, queue: usize) -> String {
        match self.dice.roll(100) {
            0..18 => self.produce(queue).await,
            18..38 => self.lease(queue).await,
            38..48 => self.complete(queue).await,
            48..62 => self.retry(queue).await,
            62..67 => self.extend(queue).await,
            67..72 => self.import(queue).await,
            72..75 => self.delete(queue).await,
            75 => self.clear(queue).await,
            76..79 => self.update(queue).await,
            79 => self.reload(queue).await,
            80 => self.restart().await,
            _ => self.advance(),
        }
    }

    async fn produce(&mut self, queue: usize) -> String {
        let now = self.served.now();
        let items: Vec<NewItem> = (0..=self.dice.roll(4))
            .map(|_| {
                let payload = self.payload();
                let enqueue_at = self.dice.chance(30).then(|| self.some_time());
                NewItem { enqueue_at, kind: "k".into(), reference: "r".into(), encoding: "e".into(), payload }
            })
            .collect();
        let produced = self.served.produce_items(QUEUES[queue], items.clone(), PATIENCE).await;
        let produced = produced.expect("the items are produced");
        assert_eq!((produced.partition, produced.ids.len()), (0, items.len()));
        self.see_new(queue, &produced.ids);
        self.queues[queue].produce(&items, &produced.ids, now);
        format!("produce {items:?}")
    }

    async fn lease(&mut self, queue: usize) -> String {
        let batch_size = 1 + self.dice.roll(5);
        let lease_timeout = self.dice.chance(30).then(|| self.some_duration(90 * MINUTE));
        let request = LeaseRequest {
            lease_timeout,
            timeout: Duration::from_millis(11),
            ..lease_request(QUEUES[queue], "c", i64::try_from(batch_size).expect("fits"))
        };
        let what = format!("lease {batch_size} for {lease_timeout:?}");
        let reference = &mut self.queues[queue];
        if lease_timeout.is_some_and(|timeout| timeout > reference.expire_timeout || timeout.is_zero()) {
            let refused = self.served.engine.lease(request).await;
            assert!(refused.is_err_and(|error| error.to_string().starts_with("lease timeout is invalid")));
            return what;
        }
        let batch_size = usize::try_from(batch_size).expect("fits");
        let expected = reference.lease(batch_size, lease_timeout, self.served.now());
        let request = match expected.is_empty() {
            true => request,
            // Something is there: a store that takes long must not look like an empty queue.
            false => LeaseRequest { timeout: PATIENCE, ..request },
        };
        match self.served.engine.lease(request).await {
            Ok(leased) => assert_eq!(leased.items, expected, "seed {}: {what}", self.seed),
            Err(Error::LeaseTimeout | Error::LeaseUnavailable) => {
                assert_eq!(expected, [], "seed {}: {what}", self.seed);
            }
            Err(error) => panic!("seed {}: {what}: {error}", self.seed),
        }
        self.see(queue, expected.iter().map(|item| item.id));
        what
    }

    async fn complete(&mut self, queue: usize) -> String {
        let ids = self.some_ids(queue);
        let request =
            CompleteRequest { queue: name(QUEUES[queue]), partition: 0, timeout: PATIENCE, ids: ids.clone() };
        let answer = self.served.engine.complete(request).await;
        let changes: Vec<_> = ids.into_iter().map(|id| (id, Fate::Complete)).collect();
        self.changed(queue, "completed", &changes, answer)
    }

    async fn retry(&mut self, queue: usize) -> String {
        let mut changes = Vec::new();
        for id in self.some_ids(queue) {
            let fate = match self.dice.roll(4) {
                0 => Fate::Dead,
                1 => Fate::Retry(Some(self.some_time())),
                _ => Fate::Retry(None),
            };
            changes.push((id, fate));
        }
        let item = |(id, fate): &(GivenId, Fate)| {
            let retry_at = if let Fate::Retry(at) = fate { *at } else { None };
            RetryItem { id: id.clone(), retry_at, dead: matches!(fate, Fate::Dead) }
        };
        let items = changes.iter().map(item).collect();
        let answer =
            self.served.engine.retry(RetryRequest { queue: name(QUEUES[queue]), partition: 0, items }).await;
        self.changed(queue, "retried", &changes, answer)
    }

    async fn extend(&mut self, queue: usize) -> String {
        let ids = self.some_ids(queue);
        let lease_timeout = self.dice.chance(50).then(|| self.some_duration(MINUTE));
        let reference = &self.queues[queue];
        let timeout = lease_timeout.unwrap_or(reference.lease_timeout);
        if timeout.is_zero() || timeout > reference.expire_timeout {
            return "nothing".to_owned();
        }
        let request = ExtendRequest {
            queue: name(QUEUES[queue]),
            partition: 0,
            timeout: PATIENCE,
            ids: ids.clone(),
            lease_timeout,
        };
        let deadline = self.served.after(timeout);
        let answer = self.served.engine.extend(request).await;
        if let Ok(extended) = &answer {
            assert_eq!(extended.lease_deadline, deadline, "seed {}", self.seed);
        }
        let changes: Vec<_> = ids.into_iter().map(|id| (id, Fate::Extend(deadline))).collect();
        self.changed(queue, "extended", &changes, answer.map(drop))
    }

    /// Compares the answer, and lets the reference follow.
    fn changed(
        &mut self,
        queue: usize,
        verb: &str,
        changes: &[(GivenId, Fate)],
        answer: Result<()>,
    ) -> String {
        let what = format!("{verb} {changes:?}");
        let now = self.served.now();
        let expected = self.queues[queue].change(verb, changes, now);
        match (expected, answer) {
            (Ok(dead), Ok(())) => self.died(queue, dead),
            (Err(expected), Err(error)) => {
                assert_eq!(error.to_string(), expected, "seed {}: {what}", self.seed);
            }
            (expected, answer) => panic!("seed {}: {what}: {answer:?}, not {expected:?}", self.seed),
        }
        what
    }

    fn died(&mut self, queue: usize, dead: Vec<Kept>) {
        if self.queues[queue].has_dead_queue {
            let now = self.served.now();
            self.queues[DEAD].bury(dead, now);
        }
    }

    async fn import(&mut self, queue: usize) -> String {
        let items: Vec<ImportItem> = (0..=self.dice.roll(3))
            .map(|_| ImportItem {
                source_id: self.dice.chance(60).then(|| format!("source {}", self.dice.roll(12))),
                is_leased: self.dice.chance(40),
                lease_deadline: self.dice.chance(80).then(|| self.some_time()),
                expire_deadline: self.dice.chance(70).then(|| self.some_time()),
                attempts: i32::try_from(self.dice.roll(4)).expect("fits"),
                max_attempts: 7,
                payload: self.payload(),
                ..ImportItem::default()
            })
            .collect();
        let now = self.served.now();
        let imported = self.served.engine.import_items(&name(QUEUES[queue]), 0, items.clone()).await;
        let imported = imported.expect("the items are imported");
        let ids: Vec<ItemId> = imported.iter().map(|item| item.id).collect();
        let expected = self.queues[queue].import(&items, &ids, now);
        assert_eq!(imported, expected, "seed {}", self.seed);
        let stored =
            |item: &&Item| self.queues[queue].items.iter().any(|kept| kept.item.payload == item.payload);
        let new: Vec<ItemId> = imported.iter().filter(stored).map(|item| item.id).collect();
        self.see_new(queue, &new);
        format!("import {items:?}")
    }

    async fn delete(&mut self, queue: usize) -> String {
        let ids: Vec<ItemId> = self.some_ids(queue).into_iter().filter_map(|id| id.parsed().ok()).collect();
        if ids.is_empty() {
            return "nothing".to_owned();
        }
        let given = ids.iter().map(|id| (*id).into()).collect();
        let removed = self.served.engine.delete_items(&name(QUEUES[queue]), 0, given).await;
        let expected = self.queues[queue].remove(|item| ids.contains(&item.id));
        assert_eq!(removed.expect("the items are deleted"), expected, "seed {}", self.seed);
        format!("delete {ids:?}")
    }

    async fn clear(&mut self, queue: usize) -> String {
        let mut flag = || self.dice.chance(50);
        let request = ClearRequest { queue: flag(), destructive: flag(), scheduled: flag() };
        let answer = self.served.engine.clear(&name(QUEUES[queue]), request).await;
        if !request.queue && !request.scheduled {
            assert!(answer.is_err_and(|error| error.to_string().starts_with("invalid clear request")));
            return "nothing".to_owned();
        }
        let expected = self.queues[queue].remove(|item| match (item.enqueue_at, item.is_leased) {
            (Some(_), _) => request.scheduled,
            (None, false) => request.queue,
            (None, true) => request.queue && request.destructive,
        });
        assert_eq!(answer.expect("the queue is cleared"), expected, "seed {}", self.seed);
        format!("{request:?}")
    }

    async fn update(&mut self, queue: usize) -> String {
        let change = QueueChange {
            lease_timeout: [Duration::ZERO, 10 * SECOND, MINUTE][self.dice.index(3)],
            expire_timeout: [Duration::ZERO, 3 * MINUTE, HOUR][self.dice.index(3)],
            max_attempts: i64::try_from(self.dice.roll(4)).expect("fits"),
            dead_queue: (queue != DEAD && self.dice.chance(60)).then(|| name(QUEUES[DEAD])),
            ..QueueChange::default()
        };
        self.served
            .engine
            .update_queue(&name(QUEUES[queue]), change.clone())
            .await
            .expect("the update is good");
        let reference = &mut self.queues[queue];
        if !change.lease_timeout.is_zero() {
            reference.lease_timeout = change.lease_timeout;
        }
        if !change.expire_timeout.is_zero() {
            reference.expire_timeout = change.expire_timeout;
        }
        reference.max_attempts = i32::try_from(change.max_attempts).expect("fits");
        reference.has_dead_queue = change.dead_queue.is_some();
        format!("update {change:?}")
    }

    async fn reload(&mut self, queue: usize) -> String {
        self.served.engine.reload(&name(QUEUES[queue])).await.expect("reload");
        "reload".to_owned()
    }

    /// A new engine over the same store; where that outlives its process, over the store opened anew.
    async fn restart(&mut self) -> String {
        if self.served.is_durable() && self.dice.chance(50) {
            self.served.restart().await;
        } else {
            self.served.reconfigure(|_| {}).await;
        }
        // A new owner knows of no ids but those that are stored.
        self.id_max = self
            .queues
            .each_ref()
            .map(|queue| queue.items.iter().map(|kept| kept.item.id).max().unwrap_or(ItemId::MIN));
        "restart".to_owned()
    }

    /// To just before, at or after an instant that matters, or anywhere.
    fn advance(&mut self) -> String {
        let now = self.served.now();
        let ahead: Vec<Timestamp> = self
            .queues
            .iter()
            .flat_map(Reference::instants)
            .flat_map(|at| [at, at.saturating_add(DELAY)])
            .filter(|at| *at > now)
            .collect();
        let micro = Duration::from_micros(1);
        let to = match ahead.is_empty() || self.dice.chance(40) {
            true => now.saturating_add(self.some_duration(MINUTE)),
            false => {
                let at = ahead[self.dice.index(ahead.len())];
                [at.saturating_sub(micro), at, at.saturating_add(micro)][self.dice.index(3)]
            }
        };
        self.served.advance(to.saturating_since(now));
        format!("advance by {:?}", to.saturating_since(now))
    }

    fn payload(&mut self) -> bytes::Bytes {
        self.payloads += 1;
        format!("payload {}", self.payloads).into()
    }

    fn some_duration(&mut self, longest: Duration) -> Duration {
        let longest = u64::try_from(longest.as_millis()).expect("fits");
        Duration::from_millis(self.dice.roll(longest))
    }

    /// Mostly ahead, sometimes at the very edge of being later than now.
    fn some_time(&mut self) -> Timestamp {
        let now = self.served.now();
        match self.dice.roll(10) {
            0 => now.saturating_sub(SECOND),
            1 => now.saturating_add(Duration::from_millis(99)),
            2 => now.saturating_add(Duration::from_millis(100)),
            _ => now.saturating_add(self.some_duration(2 * MINUTE)),
        }
    }

    /// Mostly one or more that are held; some that are not, are unknown, twice there, or none.
    fn some_ids(&mut self, queue: usize) -> Vec<GivenId> {
        let held: Vec<ItemId> = self.queues[queue]
            .items
            .iter()
            .filter(|kept| kept.item.is_leased)
            .map(|kept| kept.item.id)
            .collect();
        let mut ids: Vec<GivenId> = Vec::new();
        for _ in 0..=self.dice.roll(3) {
            let known = &self.known[queue];
            ids.push(match self.dice.roll(20) {
                0 => GivenId::from("no id"),
                1..4 if !known.is_empty() => known[self.dice.index(known.len())].into(),
                _ if !held.is_empty() => held[self.dice.index(held.len())].into(),
                _ => ItemId::from_bytes([1; 20]).into(),
            });
        }
        ids
    }

    /// Ids of newcomers are larger than all before, and rise.
    fn see_new(&mut self, queue: usize, ids: &[ItemId]) {
        for id in ids {
            assert!(*id > self.id_max[queue], "seed {}: {id} is not at the tail", self.seed);
            self.id_max[queue] = *id;
        }
        self.see(queue, ids.iter().copied());
    }

    fn see(&mut self, queue: usize, ids: impl IntoIterator<Item = ItemId>) {
        let known = &mut self.known[queue];
        known.extend(ids);
        let old = known.len().saturating_sub(200);
        known.drain(..old);
    }

    /// Lets time act on the reference, and waits until the engine has come there too.
    async fn compare(&mut self, context: &str) {
        let now = self.served.now();
        let dead = self.queues[0].live(now);
        self.died(0, dead);
        drop(self.queues[DEAD].live(now));
        let started = std::time::Instant::now();
        loop {
            let mut difference = None;
            for queue in [0, DEAD] {
                difference = difference.or(self.difference(queue).await.err());
            }
            let Some(difference) = difference else {
                return;
            };
            assert!(started.elapsed() < FOLLOWS, "{context}: {difference}");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    async fn difference(&mut self, queue: usize) -> std::result::Result<(), String> {
        let text = QUEUES[queue];
        let mut listed = self.served.items(text, 0).await;
        let scheduled = self.served.scheduled(text).await;
        let stats = self.served.partition_stats(text).await;
        let reference = &self.queues[queue];
        let (age, left) = reference.averages(self.served.now());
        let figures = (reference.counts(), age, left, 0);
        let seen = (stats.counts, stats.average_age, stats.average_lease_left, stats.failures);
        if seen != figures {
            return Err(format!("{text} counts {seen:?} instead of {figures:?}"));
        }
        let is_scheduled = |kept: &&Kept| kept.item.enqueue_at.is_some();
        let expected: Vec<&Item> =
            reference.items.iter().filter(is_scheduled).map(|kept| &kept.item).collect();
        if !scheduled.iter().eq(expected.iter().copied()) {
            return Err(format!("{text} has scheduled {scheduled:#?} instead of {expected:#?}"));
        }
        self.adopt(queue, &mut listed)
    }

    /// Compares what is not scheduled; newcomers get the ids under which they are listed.
    fn adopt(&mut self, queue: usize, listed: &mut [Item]) -> std::result::Result<(), String> {
        let reference = &self.queues[queue];
        let (new, mut here): (Vec<Kept>, Vec<Kept>) = reference
            .items
            .iter()
            .filter(|kept| kept.item.enqueue_at.is_none())
            .cloned()
            .partition(|kept| kept.is_new);
        // The dead arrive among other newcomers in any order; those keep theirs.
        let place = |kept: &Kept| listed.iter().position(|item| item.payload == kept.item.payload);
        let mut sorted = new.clone();
        sorted.sort_by_key(place);
        let staying = |kept: &&Kept| !kept.has_moved;
        let payloads = |kept: &Kept| kept.item.payload.clone();
        let keeps_order =
            new.iter().filter(staying).map(payloads).eq(sorted.iter().filter(staying).map(payloads));
        let mut id_max = self.id_max[queue];
        let mut ids = Vec::new();
        for (kept, item) in sorted.iter_mut().zip(listed.iter().skip(here.len())) {
            if item.id <= id_max {
                return Err(format!("{} is not at the tail: {item:?}", item.id));
            }
            id_max = item.id;
            ids.push(item.id);
            kept.item.id = item.id;
            if kept.has_moved && kept.item.source_id.is_none() {
                kept.item.source_id.clone_from(&item.source_id);
            }
        }
        here.append(&mut sorted);
        let expected: Vec<&Item> = here.iter().map(|kept| &kept.item).collect();
        if !keeps_order || !listed.iter().eq(expected.iter().copied()) {
            return Err(format!("{} has {listed:#?} instead of {expected:#?}", QUEUES[queue]));
        }
        let reference = &mut self.queues[queue];
        reference.items.retain(|kept| kept.item.enqueue_at.is_some());
        reference.items.extend(here.into_iter().map(|kept| Kept { is_new: false, has_moved: false, ..kept }));
        reference.items.sort_by_key(|kept| kept.item.id);
        self.see_new(queue, &ids);
        Ok(())
    }
}
