use std::sync::LazyLock;
use std::time::Duration;

use leasehold_core::{Error as Invalid, Fence, Timestamp, Ttl};
use redis::Value;

use super::entry::{integer, key_json, text};
use super::errors::{Effect, malformed};
use super::{RedisBackend, script};
use crate::{AcquireOutcome, AcquireRequest, Error, Grant, Result};

const OPERATION: &str = "acquire";
/// The last fence that may be handed out, as the script takes it.
static FENCE_MAX: LazyLock<String> = LazyLock::new(|| Fence::MAX.as_u64().to_string());

pub(super) async fn acquire(backend: &RedisBackend, request: &AcquireRequest) -> Result<AcquireOutcome> {
    let key = &request.key;
    backend.reserved_keys.admit(key)?;
    let (lock, index, fence) =
        (backend.space.lock(key), backend.space.index(&request.lock_id), backend.space.fence(key));
    let keys = [lock.as_str(), index.as_str(), fence.as_str()];
    let arguments =
        [request.lock_id.as_str(), &ttl_millis(request.ttl)?, script::TOLERANCE, &key_json(key), &FENCE_MAX];
    let reply = script::ACQUIRE
        .run(&backend.connection, backend.deadline(), &keys, &arguments)
        .await
        .map_err(|failure| failure.into_error_of_key(OPERATION, Effect::Writes, key.key_hash()))?;
    let Value::Array(reply) = reply else { return Err(malformed(OPERATION)) };
    match (reply.first().and_then(integer), &reply[..]) {
        (Some(1), [_, fence, expires_at]) => {
            let fence = text(fence).and_then(|text| Fence::parse(text).ok());
            let (Some(fence), Some(expires_at)) = (fence, integer(expires_at)) else {
                return Err(malformed(OPERATION));
            };
            let expires_at = Timestamp::from_millis(expires_at);
            Ok(AcquireOutcome::Acquired(Grant { lock_id: request.lock_id, fence, expires_at }))
        }
        (Some(0), [_, free_in]) => {
            let free_in = integer(free_in).and_then(|millis| u64::try_from(millis).ok());
            Ok(AcquireOutcome::Held { free_in: free_in.map(Duration::from_millis) })
        }
        (Some(-1), [_]) => Err(Error::Foreign { operation: OPERATION, key_hash: key.key_hash() }),
        (Some(-2), [_]) => Err(Invalid::FenceOverflow { limit: Fence::MAX.as_u64() }.into()),
        (Some(-3), [_]) => Err(Error::LockIdInUse { lock_id_hash: request.lock_id.lock_id_hash() }),
        _ => Err(malformed(OPERATION)),
    }
}

/// Peers write times with 14 digits: the end of a hold must not have more.
const TTL_MAX: u64 = 90_000_000_000_000;

/// The ttl as scripts take it.
pub(super) fn ttl_millis(ttl: Ttl) -> Result<String> {
    match ttl.as_millis() {
        millis if millis > TTL_MAX => {
            Err(Invalid::TtlOutOfRange { min: Ttl::MIN.as_millis(), max: TTL_MAX }.into())
        }
        millis => Ok(millis.to_string()),
    }
}
