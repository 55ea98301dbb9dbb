use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use leasehold_core::{Fence, Key, LockId, LockRecord};

/// The holds and the counters, with an index for each way they are looked for. A hold that nobody released stays until
/// its key is acquired again: there are never more holds than counters.
#[derive(Debug, Default)]
pub(super) struct Holds {
    by_key: BTreeMap<Key, LockRecord>,
    by_lock_id: HashMap<LockId, Key>,
    /// Never shrinks: a fence outlives its hold.
    last_fences: HashMap<Key, Fence>,
}

impl Holds {
    pub(super) fn of_key(&self, key: &Key) -> Option<&LockRecord> {
        self.by_key.get(key)
    }

    pub(super) fn of_lock_id(&self, lock_id: &LockId) -> Option<&LockRecord> {
        self.by_key.get(self.by_lock_id.get(lock_id)?)
    }

    pub(super) fn last_fence(&self, key: &Key) -> Option<Fence> {
        self.last_fences.get(key).copied()
    }

    #[cfg(feature = "conformance")]
    pub(super) fn count_to(&mut self, key: &Key, fence: Fence) {
        self.last_fences.insert(key.clone(), fence);
    }

    /// All holds whose keys come after this one, in order.
    pub(super) fn after(&self, key: Option<&Key>) -> impl Iterator<Item = &LockRecord> {
        let from = key.map_or(Bound::Unbounded, Bound::Excluded);
        self.by_key.range::<Key, _>((from, Bound::Unbounded)).map(|(_, held)| held)
    }

    /// Replaces the key's hold, if there is one, and the one that the lock id stood for: both have ended.
    pub(super) fn put(&mut self, record: LockRecord) {
        self.remove(&record.key);
        if let Some(earlier) = self.by_lock_id.get(&record.lock_id).cloned() {
            self.remove(&earlier);
        }
        self.by_lock_id.insert(record.lock_id, record.key.clone());
        self.last_fences.insert(record.key.clone(), record.fence);
        self.by_key.insert(record.key.clone(), record);
    }

    pub(super) fn remove(&mut self, key: &Key) {
        if let Some(ended) = self.by_key.remove(key) {
            self.by_lock_id.remove(&ended.lock_id);
        }
    }
}
