//! Random operations: against the model one by one, and concurrently against the definition.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use leasehold_core::{Fence, LockId, ManualClock, Timestamp};
use parking_lot::Mutex;

use super::linearizability::{Call, Operation, is_linearizable};
use super::{Store, key, lock_id, ttl};
use crate::backend::memory::MemoryBackend;
use crate::{AcquireOutcome, AcquireRequest, ExtendRequest, LockBackend, LookupBy};

const HISTORIES: u64 = 12;
const CLIENTS: u64 = 4;
const CALLS_PER_CLIENT: usize = 11;

/// Clients that acquire, extend, release and look, while holds end under them: every answer fits one order.
pub async fn concurrent_history_is_linearizable(store: &Store) {
    for seed in seeds(HISTORIES) {
        let text = format!("history:{seed}");
        let recorder = Recorder::default();
        let mut clients = Vec::new();
        for number in 0..CLIENTS {
            clients.push((store.harness.client().await, Random(seed * CLIENTS + number + 1)));
        }
        let runs = clients.into_iter().map(|(client, random)| play(client, random, &text, &recorder));
        tokio::join!(join_all(runs), expire(store, Random(seed + 7_777), &recorder));
        let history = recorder.calls.into_inner();
        assert!(is_linearizable(&history), "seed {seed}: no order explains {history:#?}");
    }
}

async fn play(client: Arc<dyn LockBackend>, mut random: Random, text: &str, recorder: &Recorder) {
    let ids = [lock_id(), lock_id()];
    for _ in 0..CALLS_PER_CLIENT {
        let lock_id = ids[random.below(2)];
        let id = recorder.number(&lock_id);
        let started = recorder.tick();
        let operation = match random.below(8) {
            0..4 => {
                let request = AcquireRequest { key: key(text), lock_id, ttl: ttl(3_600_000) };
                let outcome = client.acquire(&request).await.expect("answers");
                Operation::Acquire { id, fence: outcome.acquired().map(|grant| grant.fence.as_u64()) }
            }
            4..6 => Operation::Release {
                id,
                done: client.release(&lock_id).await.expect("answers").is_released(),
            },
            6 => {
                let request = ExtendRequest { lock_id, ttl: ttl(3_600_000) };
                Operation::Extend {
                    id,
                    done: client.extend(&request).await.expect("answers").expires_at().is_some(),
                }
            }
            _ => Operation::IsLocked { locked: client.is_locked(&key(text)).await.expect("answers") },
        };
        recorder.record(started, operation);
    }
}

async fn expire(store: &Store, mut random: Random, recorder: &Recorder) {
    for _ in 0..3 {
        for _ in 0..random.below(20) {
            tokio::task::yield_now().await;
        }
        let started = recorder.tick();
        store.advance(Duration::from_secs(7_200)).await;
        recorder.record(started, Operation::Expire);
    }
}

/// Calls in the order of a counter that all clients share.
#[derive(Default)]
struct Recorder {
    now: AtomicU64,
    calls: Mutex<Vec<Call>>,
    ids: Mutex<Vec<LockId>>,
}

impl Recorder {
    fn tick(&self) -> u64 {
        self.now.fetch_add(1, Ordering::SeqCst)
    }

    fn record(&self, started: u64, operation: Operation) {
        let ended = self.tick();
        self.calls.lock().push(Call { started, ended, operation });
    }

    fn number(&self, lock_id: &LockId) -> usize {
        let mut ids = self.ids.lock();
        ids.iter().position(|known| known == lock_id).unwrap_or_else(|| {
            ids.push(*lock_id);
            ids.len() - 1
        })
    }
}

const SEQUENCES: u64 = 8;
const STEPS: usize = 60;

/// The same operations on this store and on memory get the same answers.
///
/// Ttls end at odd multiples of five seconds and the clock moves by ten, so that neither the tolerance nor the time the
/// test itself takes decides anything.
pub async fn random_operations_answer_as_the_model(store: &Store) {
    for seed in seeds(SEQUENCES) {
        let clock = ManualClock::new(Timestamp::from_millis(1_700_000_000_000));
        let model = MemoryBackend::with_clock(Arc::new(clock.clone()));
        let mut random = Random(seed + 1);
        let mut ids: Vec<LockId> = Vec::new();
        for step in 0..STEPS {
            let text = format!("model:{seed}:{}", random.below(3));
            let context = format!("seed {seed}, step {step}");
            let known = if ids.is_empty() { lock_id() } else { ids[random.below(ids.len())] };
            let lasting = ttl([5_000, 15_000, 35_000][random.below(3)]);
            match random.below(10) {
                0..4 => {
                    // An id again, sometimes: of this key or of another, live or ended.
                    let lock_id = if random.below(3) == 0 { known } else { lock_id() };
                    let request = AcquireRequest { key: key(&text), lock_id, ttl: lasting };
                    let ours = store.backend().acquire(&request).await;
                    let theirs = model.acquire(&request).await;
                    ids.extend(ours.iter().filter_map(|answer| answer.acquired()).map(|grant| grant.lock_id));
                    assert_eq!(fence_or_code(ours), fence_or_code(theirs), "{context}: acquire");
                }
                4..6 => {
                    let ours = store.backend().release(&known).await.expect("answers").is_released();
                    let theirs = model.release(&known).await.expect("answers").is_released();
                    assert_eq!(ours, theirs, "{context}: release");
                }
                6 => {
                    let request = ExtendRequest { lock_id: known, ttl: lasting };
                    let ours = store.backend().extend(&request).await.expect("answers").expires_at();
                    let theirs = model.extend(&request).await.expect("answers").expires_at();
                    assert_eq!(ours.is_some(), theirs.is_some(), "{context}: extend");
                }
                7 => {
                    let ours = store.backend().lookup(LookupBy::LockId(&known)).await.expect("answers");
                    let theirs = model.lookup(LookupBy::LockId(&known)).await.expect("answers");
                    let facts =
                        |record: leasehold_core::LockRecord| (record.key, record.lock_id, record.fence);
                    assert_eq!(ours.map(facts), theirs.map(facts), "{context}: lookup");
                }
                8 => {
                    let ours = store.backend().is_locked(&key(&text)).await.expect("answers");
                    assert_eq!(
                        ours,
                        model.is_locked(&key(&text)).await.expect("answers"),
                        "{context}: is_locked"
                    );
                }
                _ => {
                    store.advance(Duration::from_secs(10)).await;
                    clock.advance(Duration::from_secs(10));
                }
            }
        }
    }
}

fn fence_or_code(answer: crate::Result<AcquireOutcome>) -> Result<Option<Fence>, &'static str> {
    answer.map(|outcome| outcome.acquired().map(|grant| grant.fence)).map_err(|error| error.code())
}

/// The seeds of a run: the fixed ones, or those that follow the one a soak was given.
fn seeds(count: u64) -> impl Iterator<Item = u64> {
    let given = std::env::var("LEASEHOLD_SOAK_SEED").ok().and_then(|text| text.parse::<u64>().ok());
    let (first, count) = given.map_or((0, count), |seed| (seed % 1_000_000_007, 50 * count));
    first..first + count
}

/// A small generator whose whole state is its seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }
}
