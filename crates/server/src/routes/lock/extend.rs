use leasehold_access::{Permission, Principal};
use leasehold_api::lock::{LockExtendRequest, LockExtendResponse};
use leasehold_locks::ExtendOutcome;
use leasehold_queue::DEFAULT_NAMESPACE;

use super::{lock_id, ttl};
use crate::reply::Reply;
use crate::services::Services;

/// `POST /v1/lock.extend`.
pub(super) async fn extend(
    services: Services,
    caller: Principal,
    request: LockExtendRequest,
) -> Result<LockExtendResponse, Reply> {
    services.access.authorise(&caller, DEFAULT_NAMESPACE, Permission::LockHold).await?;
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
