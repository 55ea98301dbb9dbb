//! Random operations, answered by the store and by the reference in memory.

use std::time::Duration;

use leasehold_core::Timestamp;

use super::line::{Line, START, limit};
use crate::conformance::Start;
use crate::store::memory::MemoryStore;
use crate::store::{Change, Opened, PartitionStore, Pick, Ready, Store, Takeover};
use crate::{Item, ItemId};

/// Steps of one run; `LEASEHOLD_MODEL_STEPS` asks for more.
const STEPS: u32 = 1_500;

/// A small generator: the run can be repeated from its seed, on every store alike.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(bound.max(1)).expect("fits")).expect("fits")
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// Every answer is the reference's, and in the end everything stored is.
pub async fn random_operations_answer_as_the_model(start: Start) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seed = number("LEASEHOLD_MODEL_SEED").unwrap_or(0x5eed_0f1e_a5e0 + u64::from(std::process::id()));
    run_steps(start, seed, number("LEASEHOLD_MODEL_STEPS")).await;
}

/// So many steps, or as many as a test has the time for.
pub async fn run_steps(start: Start, seed: u64, steps: Option<u64>) {
    let mut run = Run::start(start, seed).await;
    let steps = steps.unwrap_or(u64::from(STEPS / run.line.harness.shortened()));
    eprintln!("seed {seed}, {steps} steps");
    for step in 0..steps {
        run.step().await.unwrap_or_else(|difference| panic!("seed {seed}, step {step}: {difference}"));
    }
    run.compare_everything()
        .await
        .unwrap_or_else(|difference| panic!("seed {seed}, at the end: {difference}"));
}

struct Run {
    line: Line,
    model: Box<dyn PartitionStore>,
    random: Random,
    now: Timestamp,
    /// Ids that were handed out lately, live or not.
    known: Vec<ItemId>,
}

/// Asks both, and compares.
macro_rules! both {
    ($run:ident, $($call:tt)+) => {{
        let stored = $run.line.owner.$($call)+.await.map_err(|error| format!("{error:?}"))?;
        let expected = $run.model.$($call)+.await.expect("the model answers");
        if stored != expected {
            return Err(format!("{}: {stored:?} instead of {expected:?}", stringify!($($call)+)));
        }
        expected
    }};
}

/// Where a next page begins is the store's own business.
macro_rules! both_listed {
    ($run:ident, $scheduled:expr, $pivot:expr, $limit:expr) => {{
        let stored = $run.line.owner.list($scheduled, $pivot, $limit, usize::MAX).await;
        let stored = stored.map_err(|error| format!("{error:?}"))?.items;
        let expected =
            $run.model.list($scheduled, $pivot, $limit, usize::MAX).await.expect("the model answers");
        if stored != expected.items {
            return Err(format!("list: {stored:?} instead of {expected:?}"));
        }
    }};
}

impl Run {
    async fn start(start: Start, seed: u64) -> Self {
        let mut model = MemoryStore::new().partition(&Line::partition());
        model.open().await.expect("open");
        let random = Random(seed.max(1));
        Run { line: Line::start(start).await, model, random, now: START, known: Vec::new() }
    }

    fn some_id(&mut self) -> ItemId {
        match self.known.len() {
            0 => self.line.id(),
            len => self.known[self.random.below(len)],
        }
    }

    fn soon(&mut self) -> Timestamp {
        let millis = u64::try_from(self.random.below(20_000)).expect("fits");
        self.now.saturating_add(Duration::from_millis(millis))
    }

    fn remember(&mut self, id: ItemId) {
        if self.known.len() >= 400 {
            let forgotten = self.random.below(400);
            self.known.swap_remove(forgotten);
        }
        self.known.push(id);
    }

    fn new_item(&mut self) -> Item {
        let mut item = self.line.item("of the model");
        item.created_at = self.now;
        item.expire_deadline = self.soon();
        if self.random.chance(5) {
            item.expire_deadline = Timestamp::EPOCH;
        }
        if self.random.chance(15) {
            item.enqueue_at = Some(self.soon());
        } else if self.random.chance(15) {
            (item.is_leased, item.attempts, item.lease_deadline) = (true, 1, Some(self.soon()));
        }
        if self.random.chance(20) {
            item.source_id = Some(format!("source {}", self.random.below(40)));
        }
        item.payload = vec![b'x'; self.random.below(300)].into();
        item
    }

    fn change(&mut self) -> Change {
        let id = self.some_id();
        match self.random.below(10) {
            0..4 => Change::Complete { id },
            4..6 => {
                let new_id = self.line.id();
                self.remember(new_id);
                Change::Return { id, new_id }
            }
            6 => Change::Schedule { id, at: self.soon() },
            7 => Change::Expire { id, at: self.now },
            _ => Change::Extend { id, deadline: self.soon() },
        }
    }

    async fn step(&mut self) -> Result<(), String> {
        if self.random.chance(30) {
            let passed = u64::try_from(self.random.below(3_000)).expect("fits");
            self.now = self.now.saturating_add(Duration::from_millis(passed));
        }
        let now = self.now;
        match self.random.below(100) {
            0..30 => {
                let len = 1 + self.random.below(8);
                let items: Vec<_> = (0..len).map(|_| self.new_item()).collect();
                for item in &items {
                    self.remember(item.id);
                }
                both!(self, produce(&items));
            }
            30..55 => {
                let wanted = limit(1 + self.random.below(6));
                let ready = both!(self, next_ready(wanted, now));
                let mut picks = Vec::new();
                for Ready { id, .. } in ready {
                    picks.push(Pick { id, deadline: self.soon() });
                }
                if self.random.chance(10) {
                    let stray = self.some_id();
                    if picks.iter().all(|pick| pick.id != stray) {
                        picks.push(Pick { id: stray, deadline: self.soon() });
                    }
                }
                if !picks.is_empty() {
                    both!(self, lease(&picks));
                }
            }
            55..80 => {
                let mut requests = Vec::new();
                for _ in 0..=self.random.below(4) {
                    let mut request = Vec::new();
                    for _ in 0..=self.random.below(3) {
                        request.push(self.change());
                    }
                    requests.push(request);
                }
                let requests: Vec<&[Change]> = requests.iter().map(Vec::as_slice).collect();
                both!(self, change(&requests));
            }
            80..92 => {
                let max_attempts = u32::try_from(self.random.below(3)).expect("fits");
                let wanted = limit(1 + self.random.below(20));
                let due = both!(self, due(now, max_attempts, wanted));
                let mut moves = Vec::new();
                let mut dying = Vec::new();
                for due in due {
                    match due.action {
                        crate::store::DueAction::Die => dying.push(due.id),
                        _ => {
                            let new_id = self.line.id();
                            self.remember(new_id);
                            moves.push((due.id, new_id));
                        }
                    }
                }
                if !moves.is_empty() {
                    both!(self, requeue(&moves));
                }
                if !dying.is_empty() {
                    both!(self, fetch(&dying));
                    both!(self, remove(&dying));
                }
            }
            92..95 => {
                let ids = [self.some_id(), self.some_id()];
                both!(self, remove(&ids));
            }
            95 => {
                let flags = (self.random.chance(30), self.random.chance(30), self.random.chance(30));
                both!(self, clear(flags.0, flags.1, flags.2, ItemId::MIN));
            }
            96 => {
                let here = |opened: Opened| Opened { takeover: Takeover::default(), ..opened };
                let stored = self.line.owner.open().await.map_err(|error| format!("{error:?}"))?;
                let expected = self.model.open().await.expect("the model answers");
                if here(stored) != here(expected) {
                    return Err(format!("open: {stored:?} instead of {expected:?}"));
                }
            }
            _ => self.compare_everything().await?,
        }
        Ok(())
    }

    async fn compare_everything(&mut self) -> Result<(), String> {
        let now = self.now;
        both!(self, deadlines());
        both!(self, stats(now));
        let pivot = self.some_id();
        both_listed!(self, false, pivot, 50);
        both_listed!(self, false, ItemId::MIN, 100_000);
        both_listed!(self, true, ItemId::MIN, 100_000);
        both!(self, next_ready(limit(100_000), now));
        Ok(())
    }
}
