use std::time::Duration;

use leasehold_core::Key;

use super::super::rules;
use super::lookup::{self, Found};
use super::{RedisBackend, script};
use crate::Result;

/// How long a hold must be over before it is cleaned up.
const LONG_OVER: Duration = Duration::from_secs(2);

pub(super) async fn is_locked(backend: &RedisBackend, key: &Key) -> Result<bool> {
    let Some(found) = lookup::of_key(backend, "is_locked", key).await? else { return Ok(false) };
    if rules::live(&found.record, found.read_at) {
        return Ok(true);
    }
    if backend.cleanup_in_is_locked && found.read_at.saturating_since(found.record.expires_at) > LONG_OVER {
        clean_up(backend, key, &found).await;
    }
    Ok(false)
}

/// Never changes the answer: the entry does no harm, and the next one who asks tries again.
async fn clean_up(backend: &RedisBackend, key: &Key, found: &Found) {
    let (lock, index) = (backend.space.lock(key), backend.space.index(&found.record.lock_id));
    let arguments = [found.record.lock_id.as_str(), &LONG_OVER.as_millis().to_string()];
    let keys = [lock.as_str(), index.as_str()];
    let cleaned = script::CLEANUP.run(&backend.connection, backend.deadline(), &keys, &arguments).await;
    if let Err(failure) = cleaned {
        tracing::debug!(key_hash = %key.key_hash(), ?failure, "an ended hold could not be cleaned up");
    }
}
