use leasehold_core::{Fence, Key, LockId, LockRecord, Timestamp};

use crate::lock::LockInfo;

/// What of a hold is shown beyond its hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// Nothing.
    Hashes,
    /// The key.
    Key,
    /// The key and the lock id, with which the hold can be ended.
    Raw,
}

impl LockInfo {
    /// A hold for the wire.
    pub fn of(record: &LockRecord, shown: Shown) -> Self {
        let (with_key, with_lock_id) = (shown != Shown::Hashes, shown == Shown::Raw);
        LockInfo {
            key_hash: record.key.key_hash().to_string(),
            lock_id_hash: record.lock_id.lock_id_hash().to_string(),
            expires_at_ms: record.expires_at.as_millis(),
            acquired_at_ms: record.acquired_at.as_millis(),
            fence: record.fence.to_string(),
            key: if with_key { record.key.as_str().to_owned() } else { String::new() },
            lock_id: if with_lock_id { record.lock_id.as_str().to_owned() } else { String::new() },
        }
    }
}

/// Only of a hold that was shown raw.
impl TryFrom<&LockInfo> for LockRecord {
    type Error = leasehold_core::Error;

    fn try_from(info: &LockInfo) -> leasehold_core::Result<Self> {
        Ok(LockRecord {
            key: Key::parse(&info.key)?,
            lock_id: LockId::parse(&info.lock_id)?,
            expires_at: Timestamp::from_millis(info.expires_at_ms),
            acquired_at: Timestamp::from_millis(info.acquired_at_ms),
            fence: Fence::parse(&info.fence)?,
        })
    }
}
