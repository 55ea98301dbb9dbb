use leasehold_access::Principal;
use leasehold_api::lock::{LockAcquireRequest, LockAcquireResponse};
use leasehold_core::Key;
use leasehold_locks::{AcquireOptions, Error, Retry};

use super::{lock_id, request_timeout, ttl};
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/lock.acquire`: contention is an answer; with a `requestTimeout` it comes only once that has passed. A
/// client that goes away while it waits leaves the line.
pub(super) async fn acquire(
    services: Services,
    _caller: Principal,
    request: LockAcquireRequest,
) -> Result<LockAcquireResponse, Reply> {
    let key = Key::parse(&request.key)?;
    let options = AcquireOptions {
        ttl: ttl(request.ttl_ms)?,
        timeout: request_timeout(&request.request_timeout)?,
        retry: Retry { retries_max: u32::MAX, ..Retry::default() },
        lock_id: (!request.lock_id.is_empty()).then(|| lock_id(&request.lock_id)).transpose()?,
    };
    match services.locks.acquire(&key, &options).await {
        Ok(guard) => {
            let grant = guard.forget();
            Ok(LockAcquireResponse {
                ok: true,
                reason: String::new(),
                lock_id: grant.lock_id.as_str().to_owned(),
                expires_at_ms: grant.expires_at.as_millis(),
                fence: grant.fence.to_string(),
            })
        }
        Err(Error::AcquisitionTimeout { .. }) => {
            Ok(LockAcquireResponse { reason: "locked".to_owned(), ..LockAcquireResponse::default() })
        }
        Err(error) => Err(error.into()),
    }
}
