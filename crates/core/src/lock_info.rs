//! What can be told about a hold.

use crate::{Fence, Key, KeyHash, LockId, Timestamp};

/// A hold as the store keeps it, with the raw key and lock id. For raw lookups and for backends; whoever has
/// it can end the hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockRecord {
    /// What is held.
    pub key: Key,
    /// The right to the hold.
    pub lock_id: LockId,
    /// When it ends unless extended.
    pub expires_at: Timestamp,
    /// When it began.
    pub acquired_at: Timestamp,
    /// Its place in the key's history.
    pub fence: Fence,
}

/// A hold as anyone may see it: hashes stand for key and lock id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockInfo {
    /// Stands for the key.
    pub key_hash: KeyHash,
    /// Stands for the lock id.
    pub lock_id_hash: KeyHash,
    /// When the hold ends unless extended.
    pub expires_at: Timestamp,
    /// When it began.
    pub acquired_at: Timestamp,
    /// Its place in the key's history.
    pub fence: Fence,
}

impl From<&LockRecord> for LockInfo {
    fn from(record: &LockRecord) -> Self {
        Self {
            key_hash: record.key.key_hash(),
            lock_id_hash: record.lock_id.lock_id_hash(),
            expires_at: record.expires_at,
            acquired_at: record.acquired_at,
            fence: record.fence,
        }
    }
}
