use leasehold_access::Principal;
use leasehold_api::lock::{LockExtendRequest, LockExtendResponse};
use leasehold_locks::ExtendOutcome;

use super::{lock_id, ttl};
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/lock.extend`.
pub(super) async fn extend(
    services: Services,
    _caller: Principal,
    request: LockExtendRequest,
) -> Result<LockExtendResponse, Reply> {
    let lock_id = lock_id(&request.lock_id)?;
    Ok(match services.locks.extend(&lock_id, ttl(request.ttl_ms)?).await? {
        ExtendOutcome::Extended { expires_at } => {
            LockExtendResponse { ok: true, reason: String::new(), expires_at_ms: expires_at.as_millis() }
        }
        ExtendOutcome::Refused(refusal) => {
            LockExtendResponse { reason: refusal.to_string(), ..LockExtendResponse::default() }
        }
    })
}
