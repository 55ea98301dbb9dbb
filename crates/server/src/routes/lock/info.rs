use leasehold_api::lock::LockInfo;
use leasehold_locks::LockRecord;

/// A hold for the wire: hashes always, key and lock id only where they were asked for.
pub(super) fn info(record: &LockRecord, with_key: bool, with_lock_id: bool) -> LockInfo {
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
