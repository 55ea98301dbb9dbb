//! Looking without touching: for people and dashboards, never a right to write.

use leasehold_core::{Key, LockId, LockInfo, LockRecord};

use crate::{ListRequest, Locks, LookupBy, Result};

impl Locks {
    /// The live hold of the key; key and lock id as hashes.
    pub async fn get_by_key(&self, key: &Key) -> Result<Option<LockInfo>> {
        Ok(self.get_by_key_raw(key).await?.as_ref().map(LockInfo::from))
    }

    /// The live hold with this id; key and lock id as hashes.
    pub async fn get_by_id(&self, lock_id: &LockId) -> Result<Option<LockInfo>> {
        Ok(self.get_by_id_raw(lock_id).await?.as_ref().map(LockInfo::from))
    }

    /// The live hold of the key, with the raw lock id. Whoever has that can end the hold: keep it out of logs.
    pub async fn get_by_key_raw(&self, key: &Key) -> Result<Option<LockRecord>> {
        self.abortable("lookup", self.backend().lookup(LookupBy::Key(key))).await
    }

    /// The live hold with this id, with its raw key: keep it out of logs.
    pub async fn get_by_id_raw(&self, lock_id: &LockId) -> Result<Option<LockRecord>> {
        self.abortable("lookup", self.backend().lookup(LookupBy::LockId(lock_id))).await
    }

    /// Whether this id holds something now.
    pub async fn owns(&self, lock_id: &LockId) -> Result<bool> {
        Ok(self.get_by_id_raw(lock_id).await?.is_some())
    }

    /// A page of live holds with their raw keys, in the byte order of the keys.
    pub async fn list(&self, request: &ListRequest) -> Result<Vec<LockRecord>> {
        self.abortable("list", self.backend().list(request)).await
    }
}
