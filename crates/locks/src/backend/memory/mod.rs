//! Locks in the memory of this process: the reference that every other backend is compared with.

mod holds;

use std::sync::Arc;

use async_trait::async_trait;
use leasehold_core::{Clock, Key, LockId, LockRecord, SystemClock, TIME_TOLERANCE, Timestamp};
use parking_lot::Mutex;

use self::holds::Holds;
use super::rules::{self, Decision};
use super::{Capabilities, LockBackend, TimeAuthority};
use crate::{
    AcquireOutcome, AcquireRequest, ExtendOutcome, ExtendRequest, ListRequest, LookupBy, ReleaseOutcome,
    Result, Watch, WatchHub,
};

/// Locks that live and end with this process.
#[derive(Debug)]
pub struct MemoryBackend {
    holds: Mutex<Holds>,
    clock: Arc<dyn Clock>,
    hub: WatchHub,
}

impl Default for MemoryBackend {
    fn default() -> Self {
        MemoryBackend::with_clock(Arc::new(SystemClock))
    }
}

impl MemoryBackend {
    /// Judged by this clock.
    pub fn with_clock(clock: Arc<dyn Clock>) -> Self {
        MemoryBackend { holds: Mutex::default(), clock, hub: WatchHub::default() }
    }

    /// As if the last hold of the key had had this fence.
    #[cfg(feature = "conformance")]
    pub fn count_to(&self, key: &Key, fence: leasehold_core::Fence) {
        self.holds.lock().count_to(key, fence);
    }

    /// Whole milliseconds, as every store of the contract counts them.
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.clock.now().as_millis())
    }
}

#[async_trait]
impl LockBackend for MemoryBackend {
    async fn acquire(&self, request: &AcquireRequest) -> Result<AcquireOutcome> {
        let mut holds = self.holds.lock();
        let now = self.now();
        let (found, of_lock_id) = (holds.of_key(&request.key), holds.of_lock_id(&request.lock_id));
        let decision = rules::acquire(request, found, of_lock_id, holds.last_fence(&request.key), now)?;
        Ok(match decision {
            Decision::Answer(outcome) => outcome,
            Decision::Write(record) => {
                let grant = rules::grant(&record);
                holds.put(record);
                AcquireOutcome::Acquired(grant)
            }
        })
    }

    async fn extend(&self, request: &ExtendRequest) -> Result<ExtendOutcome> {
        let mut holds = self.holds.lock();
        let now = self.now();
        let found = holds.of_lock_id(&request.lock_id).cloned();
        if let Some(refusal) = rules::refusal(&request.lock_id, found.as_ref(), now) {
            return Ok(ExtendOutcome::Refused(refusal));
        }
        let expires_at = now.saturating_add(request.ttl.as_duration());
        holds.put(LockRecord { expires_at, ..found.expect("what is not refused was found") });
        Ok(ExtendOutcome::Extended { expires_at })
    }

    async fn release(&self, lock_id: &LockId) -> Result<ReleaseOutcome> {
        let mut holds = self.holds.lock();
        let found = holds.of_lock_id(lock_id);
        if let Some(refusal) = rules::refusal(lock_id, found, self.now()) {
            return Ok(ReleaseOutcome::Refused(refusal));
        }
        let key = found.expect("what is not refused was found").key.clone();
        holds.remove(&key);
        drop(holds);
        self.hub.freed(key.key_hash());
        Ok(ReleaseOutcome::Released)
    }

    async fn is_locked(&self, key: &Key) -> Result<bool> {
        let now = self.now();
        Ok(self.holds.lock().of_key(key).is_some_and(|held| rules::live(held, now)))
    }

    async fn lookup(&self, by: LookupBy<'_>) -> Result<Option<LockRecord>> {
        let (holds, now) = (self.holds.lock(), self.now());
        let found = match by {
            LookupBy::Key(key) => holds.of_key(key),
            LookupBy::LockId(lock_id) => holds.of_lock_id(lock_id),
        };
        Ok(found.filter(|held| rules::live(held, now)).cloned())
    }

    async fn list(&self, request: &ListRequest) -> Result<Vec<LockRecord>> {
        let (holds, now) = (self.holds.lock(), self.now());
        let live = holds.after(request.after.as_ref()).filter(|held| rules::live(held, now));
        Ok(live.take(request.page_len()).cloned().collect())
    }

    async fn watch(&self, key: &Key) -> Watch {
        self.hub.watch(key.key_hash())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            backend: "memory",
            time_authority: TimeAuthority::Server,
            tolerance: TIME_TOLERANCE,
            durable: false,
        }
    }
}
