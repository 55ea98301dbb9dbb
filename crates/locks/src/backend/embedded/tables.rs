//! What is in the file: holds by key, keys by lock id, and counters that outlive both.

use leasehold_core::{Fence, Key, LockId, LockRecord, Timestamp};
use leasehold_embedded::{Store, Written};
use redb::{Error, ReadableTable, Table, TableDefinition, WriteTransaction};

/// Lock id, end, beginning (both in milliseconds), fence.
pub(super) type Hold<'a> = (&'a str, i64, i64, u64);

pub(super) const HOLDS: TableDefinition<'_, &str, Hold<'static>> = TableDefinition::new("locks.holds");
pub(super) const KEYS: TableDefinition<'_, &str, &str> = TableDefinition::new("locks.keys_by_lock_id");
pub(super) const FENCES: TableDefinition<'_, &str, u64> = TableDefinition::new("locks.fences");

/// Makes the tables, so that reading never finds one missing.
pub(super) fn create(store: &Store) -> leasehold_embedded::Result<()> {
    store.write_blocking(|write| Tables::open(write).map(|_| Written::Changed(())))
}

/// A hold as it was read; `None` if it is not one of ours, which only a damaged file can hold.
pub(super) fn decode(key: &str, (lock_id, expires_at, acquired_at, fence): Hold<'_>) -> Option<LockRecord> {
    Some(LockRecord {
        key: Key::parse(key).ok()?,
        lock_id: LockId::parse(lock_id).ok()?,
        expires_at: Timestamp::from_millis(expires_at),
        acquired_at: Timestamp::from_millis(acquired_at),
        fence: Fence::from_counter(fence).ok()?,
    })
}

/// The tables within one write transaction: what is put is found by the next command of the same batch.
pub(super) struct Tables<'a> {
    holds: Table<'a, &'static str, Hold<'static>>,
    keys: Table<'a, &'static str, &'static str>,
    fences: Table<'a, &'static str, u64>,
}

impl<'a> Tables<'a> {
    pub(super) fn open(write: &'a WriteTransaction) -> Result<Self, Error> {
        Ok(Tables {
            holds: write.open_table(HOLDS)?,
            keys: write.open_table(KEYS)?,
            fences: write.open_table(FENCES)?,
        })
    }

    pub(super) fn of_key(&self, key: &str) -> Result<Option<LockRecord>, Error> {
        Ok(self.holds.get(key)?.and_then(|found| decode(key, found.value())))
    }

    pub(super) fn of_lock_id(&self, lock_id: &LockId) -> Result<Option<LockRecord>, Error> {
        match self.keys.get(lock_id.as_str())? {
            Some(key) => self.of_key(key.value()),
            None => Ok(None),
        }
    }

    pub(super) fn last_fence(&self, key: &Key) -> Result<Option<Fence>, Error> {
        // One that stands beyond the last fence stays beyond it; beginning anew would let old holders in.
        let last = self.fences.get(key.as_str())?.map(|fence| fence.value().min(Fence::MAX.as_u64()));
        Ok(last.and_then(|fence| Fence::from_counter(fence).ok()))
    }

    /// Replaces the key's hold, if there is one, and the one that the lock id stood for: both have ended.
    pub(super) fn put(&mut self, record: &LockRecord) -> Result<(), Error> {
        let (key, lock_id) = (record.key.as_str(), record.lock_id.as_str());
        let hold =
            (lock_id, record.expires_at.as_millis(), record.acquired_at.as_millis(), record.fence.as_u64());
        let replaced = self.holds.insert(key, hold)?.map(|old| old.value().0.to_owned());
        if let Some(old) = replaced.filter(|old| old != lock_id) {
            self.keys.remove(old.as_str())?;
        }
        let earlier = self.keys.insert(lock_id, key)?.map(|old| old.value().to_owned());
        if let Some(earlier) = earlier.filter(|earlier| earlier != key) {
            self.holds.remove(earlier.as_str())?;
        }
        self.fences.insert(key, record.fence.as_u64())?;
        Ok(())
    }

    /// Ends a hold; its fence stays.
    pub(super) fn remove(&mut self, record: &LockRecord) -> Result<(), Error> {
        self.holds.remove(record.key.as_str())?;
        self.keys.remove(record.lock_id.as_str())?;
        Ok(())
    }
}
